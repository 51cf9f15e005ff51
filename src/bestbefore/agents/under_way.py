"""Pulls under way: what they may return, which arms wait for them, and who may be pulled meanwhile.

Rewards come late, and some never.  Three things follow for an agent that goes on meanwhile.

- *What they may return.*  An arm of which little is known is taken for a newcomer like others: a prior counts as some
  pulls of a usual mean.  That is half way between the average of the means stored and the lowest of them, since arms
  that are stored are better than newcomers are.  The prior weighs 1 / min(mean, 1 - mean) pulls, in which one success
  and one failure are to be expected: 2 at a mean of 1/2, 33 at a click rate of 3%.
- *Who may be pulled.*  An arm may have a batch of pulls under way, and 4 more for each reward that it has: so its
  traffic grows by a factor with each delay, as long as what comes back is good.  A batch is twice the prior, but no
  more than its share T / K of the epoch.  Every two delays an arm is given another batch, since rewards get lost.
  Nothing limits an arm that is surely better than all others: pulls * kl(mean, other) >= 2, with the prior.
- *Who is under test.*  An arm with more pulls under way than rewards, up to two delays after its arrival.

The numbers 2, 4 and 2 were found by trial on a handful of streams; benchmarks/late.py shows what they give.

>>> from bestbefore.memory import empty_memory, put
>>> memory = empty_memory(3)
>>> put(memory, 0, arrival=1, pulls=3000, total=90.0); put(memory, 1, arrival=2, pulls=3000, total=150.0)
>>> put(memory, 2, arrival=3, pulls=1, total=1.0)
>>> mean, weight = prior_of(memory, BOUNDED)
>>> ahead = foreseen(memory, np.array([0, 0, 150]), np.inf, BOUNDED)
>>> round(mean, 3), round(weight, 1), ahead.pulls.tolist(), round(float(ahead.total[2]) / 151, 2)
(0.056, 17.9, [3000, 3000, 151], 0.11)
"""

import math
from typing import Final

import numpy as np
import numpy.typing as npt

from bestbefore._jit import njit
from bestbefore.divergence import divergence
from bestbefore.memory import Memory
from bestbefore.noise import BOUNDED, Noise

__all__ = ["BOUNDED", "ahead", "foreseen", "prior_of", "under_test"]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

BATCH: Final = 2.0
"""The first batch of an arm, in weights of the prior."""
GROWTH: Final = 4.0
"""How many pulls may be under way for each reward."""
SURE: Final = 2.0
"""From which pulls * kl(mean, other) an arm is better than another for sure."""
PATIENCE: Final = 2.0
"""After how many delays an arm is silent for good."""
PRIOR: Final = 2.0
"""The weight of the prior where rewards have no bounds."""
FEW: Final = 10
"""An arm of so many pulls counts half as much as one that is known well, where means are averaged."""
RAREST: Final = 1e-3
"""The lowest rate that the weight of the prior is for."""


@njit
def prior_of(memory: Memory, noise: Noise) -> tuple[float, float]:
    """Return the mean that a newcomer is taken for, and how many pulls that counts for."""
    known, pulls, average = 0.0, 0, 0.0
    for slot in range(memory.arrival.size):
        if memory.arrival[slot] > 0 and memory.pulls[slot] > 0:
            known += memory.pulls[slot] / (memory.pulls[slot] + FEW)
            pulls += memory.pulls[slot]
            average += memory.total[slot] / (memory.pulls[slot] + FEW)
    if pulls == 0:
        return 0.5, PRIOR
    average /= known
    if noise.bounded:
        average = (average * pulls + 0.5) / (pulls + 1)  # a few rewards of 0, or of 1, do not say: always
    lowest = np.inf
    for slot in range(memory.arrival.size):
        if memory.arrival[slot] > 0 and memory.pulls[slot] > 0:
            lowest = min(lowest, (memory.total[slot] + average) / (memory.pulls[slot] + 1))
    mean = (average + lowest) / 2
    return mean, 1 / max(min(mean, 1 - mean), RAREST) if noise.bounded else PRIOR


@njit
def foreseen(memory: Memory, under_way: Ints, most: float, noise: Noise) -> Memory:
    """Return the slots as if up to `most` pulls of each arm that are under way, in weights of the prior, had returned.

    What they return is what is expected of the arm, with the prior.
    """
    mean, weight = prior_of(memory, noise)
    pulls, total = memory.pulls.copy(), memory.total.copy()
    for slot in range(pulls.size):
        if memory.arrival[slot] > 0 and under_way[slot] > 0:
            more = min(float(under_way[slot]), np.ceil(most * weight))
            pulls[slot] += int(more)
            total[slot] += more * (memory.total[slot] + weight * mean) / (memory.pulls[slot] + weight)
    return Memory(memory.arrival.copy(), pulls, total)


@njit
def under_test(memory: Memory, under_way: Ints, ages: Ints, delay: float) -> npt.NDArray[np.bool_]:
    """Tell which arms are under test: more of their pulls are under way than told, and not for too long.

    Ages and `delay` are in arrivals; a delay that is not known is infinite.
    """
    known_by = PATIENCE * delay + 1
    return (memory.arrival > 0) & (under_way > memory.pulls) & (ages <= known_by)


@njit
def ahead(memory: Memory, under_way: Ints, ages: Ints, delay: float, share: float, places: int, noise: Noise) -> Memory:
    """Return the slots as foreseen, where those are empty whose arms have enough pulls under way.

    At least `places` arms are left, if so many are stored: those that are least above their limit.
    """
    found = foreseen(memory, under_way, np.inf, noise)
    fullness = _fullness(memory, under_way, ages, delay, share, noise)
    left = 0
    for slot in range(fullness.size):
        left += fullness[slot] <= 1
    for slot in np.argsort(fullness, kind="mergesort"):
        if fullness[slot] > 1:
            if left < places and memory.arrival[slot] > 0:
                left += 1
            else:
                found.arrival[slot] = 0
    return found


@njit
def _fullness(memory: Memory, under_way: Ints, ages: Ints, delay: float, share: float, noise: Noise) -> Floats:
    """Return for each slot the pulls under way, with one more, in parts of its limit; infinite where it is empty."""
    mean, weight = prior_of(memory, noise)
    batch = max(min(share, BATCH * weight), 1.0)
    means = (memory.total + weight * mean) / (memory.pulls + weight)
    best, next_best = -1, -np.inf
    for slot in range(means.size):
        if memory.arrival[slot] > 0:
            if best < 0 or means[slot] > means[best]:
                next_best = means[best] if best >= 0 else -np.inf
                best = slot
            else:
                next_best = max(next_best, means[slot])
    fullness = np.full(means.size, np.inf)
    for slot in range(means.size):
        if memory.arrival[slot] > 0:
            batches = 1 + math.floor(ages[slot] / (PATIENCE * delay + 1))
            fullness[slot] = (under_way[slot] + 1) / (batches * batch + GROWTH * memory.pulls[slot])
    if best >= 0 and _is_sure(memory.pulls[best] + weight, means[best], next_best, noise):
        fullness[best] = min(fullness[best], 1.0)
    return fullness


@njit
def _is_sure(pulls: float, mean: float, other: float, noise: Noise) -> bool:
    """Tell whether so many pulls of an arm show that it is better than another mean."""
    if mean <= other:
        return False
    if not noise.bounded:
        return pulls * ((mean - other) / noise.sigma) ** 2 / 2 >= SURE
    if not 0 < other < 1:
        return True
    return pulls * divergence(min(mean, 1.0), other) >= SURE
