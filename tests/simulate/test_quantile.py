"""The median of a long row: exact while the values fit, then within 0.2%, in memory that does not grow."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestbefore.simulate.quantile import EXACT, Sample, add, empty_sample, median

WITHIN = 0.002


def sample_of(values, length=None, keep=None):
    """Take all values into a sample made for `length`; `keep` makes it begin to count in bins after so many."""
    sample = empty_sample(len(values) if length is None else length)
    if keep is not None:
        sample = Sample(np.empty(keep), empty_sample(EXACT + 1).bins, sample.size)
    for value in values:
        add(sample, value)
    return sample


@given(st.lists(st.floats(0, 1e300), min_size=1, max_size=50))
def test_a_short_row_has_its_exact_median(values):
    assert median(sample_of(values)) == np.median(values)


@given(st.lists(st.floats(0, 1e300), min_size=1, max_size=50), st.integers(1, 100))
def test_a_row_cut_short_has_the_median_of_what_came(values, more):
    """A stream may be stopped early."""
    assert median(sample_of(values, length=len(values) + more)) == np.median(values)


def test_the_median_of_nothing_is_nan():
    assert math.isnan(median(empty_sample(10)))


@given(
    st.lists(st.floats(1e-9, 1.6e7) | st.just(0.0) | st.sampled_from([0.5, 1.0, 2.0**-29, 2.0**23]), min_size=1),
    st.integers(0, 5),
)
def test_a_long_row_has_its_median_within_a_fifth_of_a_percent(values, keep):
    """The same code with room for few exact values, so that short rows show what long ones do."""
    assert median(sample_of(values, keep=keep)) == pytest.approx(np.median(values), rel=WITHIN)


@given(st.lists(st.floats(0, 1e-9), min_size=1))
def test_values_too_small_for_bins_of_their_own_still_count_as_nearly_nothing(values):
    assert 0 <= median(sample_of(values, keep=0)) < 1e-9 * (1 + WITHIN)


def test_up_to_65536_values_the_median_is_exact_and_one_more_makes_it_approximate():
    values = np.random.default_rng(1).random(EXACT + 1)
    assert EXACT == 65_536
    sample = sample_of(values[:EXACT], length=EXACT + 1)
    assert median(sample) == np.median(values[:EXACT])
    add(sample, values[EXACT])
    assert median(sample) == pytest.approx(np.median(values), rel=WITHIN)
    assert sample.bins.sum() == EXACT + 1  # those kept so far were counted too, each once


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e6])
def test_beyond_65536_values_the_median_is_within_a_fifth_of_a_percent(scale):
    """Values over many orders of magnitude around a scale."""
    values = scale * np.random.default_rng(2).lognormal(sigma=0.5, size=EXACT + 5000)
    assert median(sample_of(values)) == pytest.approx(np.median(values), rel=WITHIN)


def test_a_long_row_of_mostly_zeros_has_median_zero():
    """The usual case: the answer is the best arm more often than not."""
    values = np.where(np.arange(EXACT + 1000) % 5 < 3, 0.0, 0.3)
    assert median(sample_of(values)) == 0.0


def test_memory_does_not_grow_with_the_row():
    """Not with what is announced, and not with what comes; all is less than a megabyte."""
    sample = empty_sample(10**15)
    assert sum(array.nbytes for array in sample) < 2**20
    before = [array.shape for array in sample]
    for value in np.linspace(0, 1, EXACT + 10):
        add(sample, value)
    assert [array.shape for array in sample] == before


def test_a_short_row_takes_no_more_room_than_it_needs():
    assert empty_sample(10).kept.size == 10
    assert empty_sample(EXACT).bins.size == 0
