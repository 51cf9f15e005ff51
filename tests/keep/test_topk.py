"""Topk keeps the m arms of highest empirical mean seen so far, less those that expired."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from bestbefore.keep import topk
from bestbefore.keep.topk import worst_slot
from bestbefore.memory import Moment, empty_memory, expire, put

MOMENT = Moment(now=99, window=99, arrivals=99, slack=0.0, coin=0.0)


def settle(memory, arrival, pulls, total):
    return topk.admit(memory, arrival, pulls, total, MOMENT)


tests = st.integers(1, 8).flatmap(lambda pulls: st.tuples(st.just(pulls), st.integers(0, pulls)))
"""What the test of an arm gave: pulls, and how many of them were rewarded.  Equal means come often."""


def stored(memory):
    return sorted(arrival for arrival in memory.arrival.tolist() if arrival)


@given(st.integers(1, 5), st.integers(1, 12), st.lists(tests, max_size=30))
def test_it_does_what_a_sorted_list_does(slots, window, arms):
    """The model: throw out the expired, add the arm, sort by mean and then by age, keep the best m."""
    memory, model = empty_memory(slots), []
    for now, (pulls, total) in enumerate(arms, start=1):
        expire(memory, now - window + 1)
        settle(memory, now, pulls, float(total))
        valid = [arm for arm in model if arm[1] > now - window]
        model = sorted([*valid, (Fraction(total, pulls), now)])[-slots:]
        assert stored(memory) == sorted(arrival for _, arrival in model)


@given(st.integers(1, 4), st.permutations(range(1, 9)), st.lists(tests, min_size=8, max_size=8))
def test_order_does_not_matter_the_best_m_of_those_settled_stay(slots, order, arms):
    memory = empty_memory(slots)
    for settled, arrival in enumerate(order, start=1):
        settle(memory, arrival, arms[arrival - 1][0], float(arms[arrival - 1][1]))
        ranked = sorted(
            order[:settled], key=lambda number: (Fraction(arms[number - 1][1], arms[number - 1][0]), number)
        )
        assert stored(memory) == sorted(ranked[-slots:])


def test_without_expiry_the_best_m_of_the_stream_are_stored():
    memory = empty_memory(3)
    for arrival, total in enumerate([1, 9, 4, 7, 2, 8, 3], start=1):
        settle(memory, arrival, 10, float(total))
    assert stored(memory) == [2, 4, 6]


def test_of_equal_means_the_newer_arm_stays():
    memory = empty_memory(2)
    for arrival in range(1, 5):
        settle(memory, arrival, 10, 5.0)
    assert stored(memory) == [3, 4]


def test_an_older_arm_of_equal_mean_settled_late_does_not_enter():
    memory = empty_memory(1)
    assert [settle(memory, 2, 10, 5.0), settle(memory, 1, 10, 5.0)] == [0, -1]


def test_a_mean_of_zero_enters_while_there_is_room_and_leaves_first():
    memory = empty_memory(2)
    assert [settle(memory, arrival, 10, total) for arrival, total in [(1, 0.0), (2, 3.0), (3, 1.0)]] == [0, 1, 0]


def test_falling_means_fill_memory_with_arms_that_expire_together():
    """Why it fails here: when the window moves past the best m arms of a falling stream, all are gone at once."""
    memory = empty_memory(3)
    for now in range(1, 11):
        expire(memory, now - 10 + 1)
        settle(memory, now, 100, 100.0 - now)
    assert stored(memory) == [1, 2, 3]
    expire(memory, 4)
    assert stored(memory) == []


def test_the_worst_of_equals_is_the_oldest():
    memory = empty_memory(3)
    for slot, (arrival, total) in enumerate([(4, 5.0), (2, 1.0), (1, 1.0)]):
        put(memory, slot, arrival, 10, total)
    assert worst_slot(memory) == 2
