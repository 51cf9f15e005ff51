"""Fifo keeps the newest m arms."""

from hypothesis import given
from hypothesis import strategies as st

from bestbefore.keep import fifo
from bestbefore.memory import Moment, empty_memory, expire

MOMENT = Moment(now=99, window=99, arrivals=99, slack=0.0, coin=0.0)


def settle(memory, arrival, pulls, total):
    return fifo.admit(memory, arrival, pulls, total, MOMENT)


def stored(memory):
    return sorted(arrival for arrival in memory.arrival.tolist() if arrival)


@given(st.integers(1, 6), st.integers(1, 30))
def test_after_any_number_of_arrivals_the_newest_m_are_stored(slots, arms):
    memory = empty_memory(slots)
    for arrival in range(1, arms + 1):
        settle(memory, arrival, 1, 1.0)
    assert stored(memory) == list(range(max(arms - slots, 0) + 1, arms + 1))


@given(st.integers(1, 5), st.permutations(range(1, 13)))
def test_order_does_not_matter_the_newest_m_of_those_settled_stay(slots, order):
    """An arm settled late, when m newer ones stand already, is let go itself."""
    memory = empty_memory(slots)
    for settled, arrival in enumerate(order, start=1):
        settle(memory, arrival, 1, 1.0)
        assert stored(memory) == sorted(order[:settled])[-slots:]


@given(st.integers(1, 6), st.integers(1, 10), st.integers(1, 40))
def test_with_expiry_the_newest_m_of_the_window_stay(slots, window, arms):
    memory = empty_memory(slots)
    for now in range(1, arms + 1):
        expire(memory, now - window + 1)
        settle(memory, now, 1, 1.0)
        assert stored(memory) == list(range(max(now - min(slots, window), 0) + 1, now + 1))


def test_means_do_not_count():
    memory = empty_memory(2)
    for arrival, total in enumerate([10.0, 5.0, 0.0], start=1):
        settle(memory, arrival, 10, total)
    assert stored(memory) == [2, 3]


def test_an_arm_older_than_all_stored_is_let_go():
    memory = empty_memory(2)
    assert [settle(memory, arrival, 1, 1.0) for arrival in (5, 6, 4)] == [0, 1, -1]
    assert stored(memory) == [5, 6]
