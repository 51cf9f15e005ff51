"""King keeps a single arm: who holds the throne."""

from bestbefore.keep import king
from bestbefore.memory import Moment, count, empty_memory, expire

MOMENT = Moment(now=99, window=99, arrivals=99, slack=0.0, coin=0.0)


def settle(memory, arrival, pulls, total):
    return king.admit(memory, arrival, pulls, total, MOMENT)


def test_the_arm_given_takes_the_throne_and_the_old_king_is_gone():
    memory = empty_memory(1)
    assert settle(memory, 1, 10, 9.0) == 0
    assert settle(memory, 2, 20, 1.0) == 0
    assert (memory.arrival[0], memory.pulls[0], memory.total[0]) == (2, 20, 1.0)


def test_an_arm_without_pulls_can_be_seated():
    """The first of all has nobody to fight."""
    memory = empty_memory(1)
    assert settle(memory, 5, 0, 0.0) == 0
    assert memory.arrival[0] == 5


def test_when_the_king_expires_nothing_is_left():
    """Why one arm stored is not enough in a sliding window (Lemma E.1)."""
    memory = empty_memory(1)
    settle(memory, 1, 10, 9.0)
    expire(memory, 2)
    assert count(memory) == 0


def test_only_one_slot_is_ever_used():
    memory = empty_memory(3)
    for arrival in range(1, 6):
        settle(memory, arrival, 1, 1.0)
    assert memory.arrival.tolist() == [5, 0, 0]
