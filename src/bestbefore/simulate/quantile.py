"""The median of a long row of errors, in memory that does not grow.

The first 65,536 values are kept, and their median is exact.  Beyond that they are counted in bins whose edges grow by a
factor of at most 1 + 1/512: the median is then right within 0.2%, of values from 1e-9 to 16 million, and 0 has a bin.

It is written here because `add` runs inside a compiled loop, millions of times.  The libraries for this (DDSketch,
HdrHistogram, KLL and t-digest of `datasketches`) are objects that compiled code cannot call, and NumPy and SciPy want
all values at once.

>>> sample = empty_sample(10)
>>> for value in (0.3, 0.0, 0.1): add(sample, value)
>>> median(sample)
0.1
"""

import math
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from bestbefore._jit import njit

EXACT: Final = 65_536
LOWEST: Final = -30  # exponent of the smallest values that have bins of their own
HIGHEST: Final = 24
PER_OCTAVE: Final = 512


class Sample(NamedTuple):
    """Values kept, counts of bins, and how many values there were."""

    kept: npt.NDArray[np.float64]
    bins: npt.NDArray[np.int64]
    size: npt.NDArray[np.int64]


def empty_sample(length: int) -> Sample:
    """Make room for up to `length` values; bins only if they will be needed."""
    bins = 1 + (HIGHEST - LOWEST + 1) * PER_OCTAVE if length > EXACT else 0
    return Sample(np.empty(min(length, EXACT)), np.zeros(bins, np.int64), np.zeros(1, np.int64))


@njit
def add(sample: Sample, value: float) -> None:
    """Take one value, not negative."""
    size = sample.size[0]
    if size < sample.kept.size:
        sample.kept[size] = value
    else:
        if size == sample.kept.size:
            for kept in sample.kept:
                sample.bins[_bin_of(kept)] += 1
        sample.bins[_bin_of(value)] += 1
    sample.size[0] = size + 1


@njit
def _bin_of(value: float) -> int:
    """Return the bin of a value."""
    if value <= 0:
        return 0
    fraction, exponent = math.frexp(value)  # value = fraction * 2^exponent, fraction in [1/2, 1)
    octave = min(max(exponent, LOWEST), HIGHEST) - LOWEST
    return 1 + octave * PER_OCTAVE + int((fraction - 0.5) * 2 * PER_OCTAVE)


def _value_of(number: int) -> float:
    """Return the middle of a bin."""
    if number == 0:
        return 0.0
    octave, step = divmod(number - 1, PER_OCTAVE)
    return math.ldexp(0.5 + (step + 0.5) / (2 * PER_OCTAVE), octave + LOWEST)


def median(sample: Sample) -> float:
    """Return the median of all values taken, or NaN of none."""
    size = int(sample.size[0])
    if size == 0:
        return math.nan
    if size <= sample.kept.size:
        return float(np.median(sample.kept[:size]))
    ranks = np.cumsum(sample.bins)
    middle = [int(np.searchsorted(ranks, rank, side="right")) for rank in ((size - 1) // 2, size // 2)]
    return sum(map(_value_of, middle)) / 2
