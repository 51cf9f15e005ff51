"""Heirs: keep the arms that would be missed when those before them expire; made for a player, whose means are rough.

With m slots, one arm has to make room for each newcomer.  What is an arm worth?  It earns something only while it is
the best of those at hand: now, if it is the leader, or later, when all better ones have expired.  So let the arms
expire one after the other, oldest first.  In each stretch of time between two expiries the best of those left is worth
what it is ahead of the second, times the length of the stretch: that is what would be lost without it.  Whoever is
never the best is worth nothing.

- **Arms to come** count as well.  They are as good as three quarters of the leader's mean, so an arm below that is
  worth nothing.  And one of them may be better: in random order, none of k more beats the r-th best of W arms with
  probability (W / (W + k))^r, or nearly.  So a stretch counts as the integral of that over it, with r the arm's rank
  among those stored: the fifth in line will hardly ever lead.
- **Rough means.**  Each mean has one more reward, that of an arm to come.  An arm that was never pulled is thus worth
  nothing, and does not push out a good one.

The arm that is worth least goes; of those that are worth nothing, the one of the lowest mean; of equals, the oldest.
The last line is where it differs most from `staircase`, which drops an arm that is older than another and no better
whatever its mean: where means are rough, an old arm that is a hair behind a new one is a good second.

>>> from bestbefore.memory import empty_memory
>>> memory = empty_memory(3)
>>> def arrive(arrival, mean):
...     moment = Moment(now=arrival, window=9, arrivals=arrival, slack=0.0, coin=0.0)
...     return admit(memory, arrival, 100, 100 * mean, moment)
>>> arrive(1, 0.9), arrive(2, 0.3), arrive(3, 0.88), arrive(4, 0.89)     # the arm of 0.3 is worth nothing
(0, 1, 2, 1)
>>> arrive(5, 0.2)                                                       # and this one neither: it is passed over
-1
"""

import math
from typing import Final

import numpy as np
import numpy.typing as npt

from bestbefore._jit import njit
from bestbefore.memory import Memory, Moment, free_slot, mean_of, oldest_first, put

Floats = npt.NDArray[np.float64]

BEHIND: Final = 0.25
"""How far arms to come are behind the leader, as a share of its mean."""


@njit
def admit(memory: Memory, arrival: int, pulls: int, total: float, moment: Moment) -> int:
    """Store the arm in a free slot, or in place of the one that is worth least; return the slot, or -1.

    An arm that was not pulled yet is always stored.
    """
    slot = free_slot(memory)
    if slot < 0:
        slot = _least(memory, arrival, pulls, total, moment)
    if slot >= 0:
        put(memory, slot, arrival, pulls, total)
    return slot


@njit
def _least(memory: Memory, arrival: int, pulls: int, total: float, moment: Moment) -> int:
    """Return the slot of the arm that is worth least, or -1 if that is the arm given."""
    slots = oldest_first(memory, arrival)
    if pulls == 0:
        slots = slots[slots >= 0]
    means, lives = np.empty(slots.size), np.empty(slots.size)
    to_come = _mean_to_come(memory, pulls, total)
    for place in range(slots.size):
        slot = slots[place]
        number = arrival if slot < 0 else memory.arrival[slot]
        known, rewards = (pulls, total) if slot < 0 else (memory.pulls[slot], memory.total[slot])
        means[place] = (rewards + to_come) / (known + 1)
        lives[place] = max(number + moment.window - moment.now, 0)
    worths = _worths(means, lives, to_come, moment.window)
    least = 0
    for place in range(1, slots.size):
        if worths[place] < worths[least] or (worths[place] == worths[least] and means[place] < means[least]):
            least = place
    return slots[least]  # type: ignore[no-any-return]


@njit
def _mean_to_come(memory: Memory, pulls: int, total: float) -> float:
    """Return how good arms to come are taken to be, by the highest mean known; 1/2 where none is."""
    best = total / pulls if pulls > 0 else -np.inf
    for slot in range(memory.arrival.size):
        best = max(best, mean_of(memory, slot))
    return best - BEHIND * abs(best) if best > -np.inf else 0.5


@njit
def _worths(means: Floats, lives: Floats, to_come: float, window: int) -> Floats:
    """Return what would be lost without each arm, where arms come oldest first."""
    worths = np.zeros(means.size)
    best, second, holder, better = to_come, to_come, -1, 0
    for place in range(means.size - 1, -1, -1):
        if means[place] > best:
            best, second, holder = means[place], best, place
            better = int(np.count_nonzero(means > best))
        elif means[place] > second:
            second = means[place]
        if holder >= 0:
            until, since = lives[place], lives[place - 1] if place > 0 else 0.0
            worths[holder] += (best - second) * _chance_of_leading(since, until, better, window)
    return worths


@njit
def _chance_of_leading(since: float, until: float, better: int, window: int) -> float:
    """Return the integral of (W / (W + k))^r from `since` to `until`, over W; r - 1 of the arms stored are better."""
    early, late = window / (window + since), window / (window + until)
    if better == 0:
        return math.log(early / late)
    return (early**better - late**better) / better
