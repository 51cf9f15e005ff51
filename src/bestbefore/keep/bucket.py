"""Bucket: keep the newest arm of each of m equal slices of [0, 1].

Algorithm 1 of Braverman et al.  Slice j of m holds the empirical means in ((j-1) / m, j / m], and the lowest one a
mean of 0 as well.  With m = ceil(3 / epsilon) slices and means known within epsilon / 3, the arm in the highest slice
that is not empty is within epsilon of the best arm in the window (Theorem 2).

For the best k, `ranks` is k: there are m / k slices, rounded down, and each keeps its newest k arms, in slots of its
own.  So an arm that had to go has k newer ones in its slice, and the r-th answer is within a slice of the r-th best,
for each r up to k.

>>> from bestbefore.memory import empty_memory
>>> memory, moment = empty_memory(4), Moment(now=4, window=9, arrivals=4, slack=0.0, coin=0.0)
>>> [admit(memory, arrival, 100, total, moment) for arrival, total in enumerate((0.0, 25.0, 26.0, 100.0), start=1)]
[0, 0, 1, 3]
>>> memory.arrival.tolist()
[2, 3, 0, 4]
"""

import math

import numpy as np

from bestbefore._jit import njit
from bestbefore.keep.topk import free_or_unpulled, worst_or_oldest
from bestbefore.memory import Memory, Moment, mean_of, put


@njit
def slice_of(mean: float, slices: int) -> int:
    """Return which of `slices` equal slices of [0, 1] a mean belongs to, from 0; means beyond belong to the ends.

    A mean on the border belongs to the lower slice, whatever rounding says: 7 / 25 * 25 is above 7 in floating point.
    """
    place = min(max(mean, 0.0), 1.0) * slices
    return max(math.ceil(place * (1 - 1e-15)) - 1, 0)


@njit
def admit(memory: Memory, arrival: int, pulls: int, total: float, moment: Moment) -> int:
    """Store the arm in a slot of its slice, unless newer arms stand there; return the slot, or -1."""
    if pulls == 0:
        slot = _room(memory)
    else:
        slices = max(memory.arrival.size // moment.ranks, 1)
        first = slice_of(total / pulls, slices) * moment.ranks
        slot = _oldest_or_free(memory, first, moment.ranks)
        if memory.arrival[slot] > arrival:
            return -1
    put(memory, slot, arrival, pulls, total)
    return slot


@njit
def _oldest_or_free(memory: Memory, first: int, places: int) -> int:
    """Return, of the slots of a slice, a free one or that of its oldest arm; an empty slot has arrival 0."""
    found = first
    for slot in range(first + 1, min(first + places, memory.arrival.size)):
        if memory.arrival[slot] < memory.arrival[found]:
            found = slot
    return found


@njit
def _room(memory: Memory) -> int:
    """Return a slot for an arm that was not pulled yet: a free one, or of the oldest arm with a newer one in its slice.

    If there is none, every slice has one arm at most, and the worst goes.
    """
    slot = free_or_unpulled(memory)
    if slot >= 0:
        return slot
    slots, oldest = memory.arrival.size, -1
    newest = np.zeros(slots, np.int64)
    for slot in range(slots):
        if memory.pulls[slot] > 0:
            own = slice_of(mean_of(memory, slot), slots)
            newest[own] = max(newest[own], memory.arrival[slot])
    for slot in range(slots):
        newer = memory.pulls[slot] > 0 and memory.arrival[slot] < newest[slice_of(mean_of(memory, slot), slots)]
        if newer and (oldest < 0 or memory.arrival[slot] < memory.arrival[oldest]):
            oldest = slot
    return oldest if oldest >= 0 else worst_or_oldest(memory)
