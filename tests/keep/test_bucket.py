"""Bucket is Algorithm 1: the newest arm of each of m equal slices of [0, 1]."""

from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bestbefore.keep import bucket
from bestbefore.keep.bucket import slice_of
from bestbefore.memory import Moment, empty_memory, expire, leader

MOMENT = Moment(now=99, window=99, arrivals=99, slack=0.0, coin=0.0)


def settle(memory, arrival, pulls, total):
    return bucket.admit(memory, arrival, pulls, total, MOMENT)


tests = st.integers(1, 60).flatmap(lambda pulls: st.tuples(st.just(pulls), st.integers(0, pulls)))
"""What the test of an arm gave: pulls, and how many of them were rewarded."""


def slice_in_the_paper(total, pulls, slices):
    """Return the j with (j - 1) / m < mean <= j / m, counted from 0, in whole numbers; 0 for a mean of 0."""
    for number in range(slices):
        if total * slices <= (number + 1) * pulls:
            return number
    raise AssertionError("a mean is at most 1")


@given(st.integers(1, 60), tests)
def test_an_arm_goes_into_the_slot_of_its_slice(slices, tested):
    pulls, total = tested
    assert settle(empty_memory(slices), 1, pulls, float(total)) == slice_in_the_paper(total, pulls, slices)


@pytest.mark.parametrize("slices", [1, 3, 10, 25, 30, 100, 300])
def test_a_mean_on_the_border_of_two_slices_belongs_to_the_lower_one(slices):
    """(j-1) / m < mean <= j / m, for every border j / m; 7 / 25 * 25 is above 7 in floating point and must not be."""
    borders = range(1, slices + 1)
    slots = [settle(empty_memory(slices), 1, slices, float(total)) for total in borders]
    assert slots == [border - 1 for border in borders]


@pytest.mark.parametrize("slices", [1, 3, 10, 25, 100])
def test_a_mean_just_above_a_border_belongs_to_the_higher_slice(slices):
    """One reward in a million more than the border has."""
    for border in range(slices):
        total = border * 1_000_000 + 1
        assert settle(empty_memory(slices), 1, slices * 1_000_000, float(total)) == border


def test_a_mean_of_zero_belongs_to_the_lowest_slice_and_one_to_the_highest():
    for slices in (1, 2, 7, 30):
        assert settle(empty_memory(slices), 1, 10, 0.0) == 0
        assert settle(empty_memory(slices), 1, 10, 10.0) == slices - 1


@pytest.mark.parametrize(("mean", "slot"), [(-0.3, 0), (1.4, 4), (-1e300, 0), (1e300, 4)])
def test_means_beyond_the_unit_interval_belong_to_the_ends(mean, slot):
    """Gaussian rewards can do that."""
    assert slice_of(mean, 5) == slot


@given(st.integers(1, 12), st.integers(1, 12), st.lists(tests, max_size=30))
def test_each_slot_holds_the_newest_valid_arm_of_its_slice(slices, window, arms):
    """The model looks at the whole window afresh at each time, which the algorithm cannot."""
    memory = empty_memory(slices)
    for now, (pulls, total) in enumerate(arms, start=1):
        expire(memory, now - window + 1)
        settle(memory, now, pulls, float(total))
        newest = [0] * slices
        for arrival in range(max(now - window, 0) + 1, now + 1):
            newest[slice_in_the_paper(arms[arrival - 1][1], arms[arrival - 1][0], slices)] = arrival
        assert memory.arrival.tolist() == newest


@given(st.integers(1, 6), st.permutations(range(1, 11)), st.lists(tests, min_size=10, max_size=10))
def test_order_does_not_matter_the_newest_of_those_settled_stays(slices, order, arms):
    """A test that took long must not throw out a younger arm of the same slice."""
    memory = empty_memory(slices)
    newest = [0] * slices
    for arrival in order:
        pulls, total = arms[arrival - 1]
        settle(memory, arrival, pulls, float(total))
        slot = slice_in_the_paper(total, pulls, slices)
        newest[slot] = max(newest[slot], arrival)
        assert memory.arrival.tolist() == newest


@given(st.integers(1, 12), st.integers(1, 12), st.lists(tests, min_size=1, max_size=30))
@example(slices=25, window=2, arms=[(25, 8), (25, 7)])
def test_the_answer_is_less_than_a_slice_below_the_best_empirical_mean(slices, window, arms):
    """What Theorem 2 builds on: the arm in the highest slice that is not empty shares the slice of the best."""
    memory = empty_memory(slices)
    for now, (pulls, total) in enumerate(arms, start=1):
        expire(memory, now - window + 1)
        settle(memory, now, pulls, float(total))
        slot = leader(memory)
        answer = Fraction(int(memory.total[slot]), int(memory.pulls[slot]))
        best = max(Fraction(total, pulls) for pulls, total in arms[max(now - window, 0) : now])
        assert best - answer < Fraction(1, slices) or (answer == 0 and best == Fraction(1, slices))
