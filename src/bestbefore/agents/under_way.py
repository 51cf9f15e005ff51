"""Pulls under way: what they may return, which arms wait for them, and who may be pulled meanwhile.

Rewards come late, and some never.  Three things follow for an agent that goes on meanwhile.

- *What they may return.*  For the pull rule they return their median: what is as likely to be more as to be less.  So
  an arm is pulled once more if the rule, told each reward at once, would come to that pull with a chance of about 1/2.
  An arm whose first failure ends its test is tested pull by pull; where rewards are rare, a row of failures says
  little, and a test is a row of pulls.  A keep rule is told what is expected instead.
- *What is expected.*  An arm of which little is known is taken for a newcomer like others: a prior counts as some pulls
  of a usual mean.  That is half way between the average of the means stored and the lowest of them, since arms that are
  stored are better than newcomers are; for a pull rule it is half of the highest mean at most.  The prior weighs
  1 / min(mean, 1 - mean) pulls, in which one success and one failure are to be expected: 2 at a mean of 1/2, 33 at a
  click rate of 3%.
- *Who may be pulled.*  Whatever a pull rule makes of that, an arm may have a batch of pulls under way, and 8 more for
  each reward that it has: so its traffic grows by a factor with each delay.  A batch is twice the prior, but no more
  than its share T / K of the epoch.  Every two delays an arm is given another batch, since rewards get lost.  Nothing
  limits the leader, the arm of the highest lower bound with the prior: it gets the pulls that nobody else may have.
- *Who is under test.*  An arm with more pulls under way than rewards, up to two delays after its arrival.

The numbers 2, 8 and 2 were found by trial on a handful of streams; benchmarks/late.py shows what they give.

>>> from bestbefore.memory import empty_memory, put
>>> memory = empty_memory(3)
>>> put(memory, 0, arrival=1, pulls=3000, total=90.0); put(memory, 1, arrival=2, pulls=3000, total=150.0)
>>> put(memory, 2, arrival=3, pulls=1, total=1.0)
>>> mean, weight = prior_of(memory, 1.0, BOUNDED)
>>> told = likely(memory, np.array([0, 0, 30]), BOUNDED)
>>> round(mean, 3), round(weight, 1), told.pulls.tolist(), told.total.tolist()
(0.056, 17.9, [3000, 3000, 31], [90.0, 150.0, 4.0])
"""

import math
from typing import Final

import numpy as np
import numpy.typing as npt

from bestbefore._jit import njit
from bestbefore.memory import Memory
from bestbefore.noise import BOUNDED, Noise
from bestbefore.pull.horizon import lower_bound

__all__ = ["BOUNDED", "ahead", "behind", "foreseen", "likely", "prior_of", "under_test"]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

BATCH: Final = 2.0
"""The first batch of an arm, in weights of the prior."""
GROWTH: Final = 8.0
"""How many pulls may be under way for each reward."""
PATIENCE: Final = 2.0
"""After how many delays an arm is silent for good."""
PRIOR: Final = 2.0
"""The weight of the prior where rewards have no bounds."""
FEW: Final = 10
"""An arm of so many pulls counts half as much as one that is known well, where means are averaged."""
USUAL: Final = 0.5
"""A newcomer is expected to have at most this part of the highest mean: where only good arms are stored."""
RAREST: Final = 1e-3
"""The lowest rate that the weight of the prior is for."""


@njit
def prior_of(memory: Memory, part: float, noise: Noise) -> tuple[float, float]:
    """Return the mean that a newcomer is taken for, and how many pulls that counts for.

    Where rewards are bounded, it is no more than this part of the best mean.
    """
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
    lowest, highest = np.inf, -np.inf
    for slot in range(memory.arrival.size):
        if memory.arrival[slot] > 0 and memory.pulls[slot] > 0:
            own = (memory.total[slot] + average) / (memory.pulls[slot] + 1)
            lowest, highest = min(lowest, own), max(highest, own)
    mean = (average + lowest) / 2
    if noise.bounded:
        mean = min(mean, part * highest)
    return mean, 1 / max(min(mean, 1 - mean), RAREST) if noise.bounded else PRIOR


@njit
def foreseen(memory: Memory, under_way: Ints, most: float, noise: Noise) -> Memory:
    """Return the slots as if up to `most` pulls of each arm that are under way, in weights of the prior, had returned.

    What they return is what is expected of the arm, with the prior.
    """
    mean, weight = prior_of(memory, np.inf, noise)
    pulls, total = memory.pulls.copy(), memory.total.copy()
    for slot in range(pulls.size):
        if memory.arrival[slot] > 0 and under_way[slot] > 0:
            more = min(float(under_way[slot]), np.ceil(most * weight))
            pulls[slot] += int(more)
            total[slot] += more * (memory.total[slot] + weight * mean) / (memory.pulls[slot] + weight)
    return Memory(memory.arrival.copy(), pulls, total)


@njit
def likely(memory: Memory, under_way: Ints, noise: Noise) -> Memory:
    """Return the slots as if all pulls under way had returned the median of what they may."""
    mean, weight = prior_of(memory, USUAL, noise)
    pulls, total = memory.pulls.copy(), memory.total.copy()
    for slot in range(pulls.size):
        if memory.arrival[slot] > 0 and under_way[slot] > 0:
            known = memory.pulls[slot] + weight
            pulls[slot] += under_way[slot]
            total[slot] += _median(float(under_way[slot]), known, (memory.total[slot] + weight * mean) / known, noise)
    return Memory(memory.arrival.copy(), pulls, total)


@njit
def _median(more: float, known: float, mean: float, noise: Noise) -> float:
    """Return the median of the sum of `more` rewards of an arm, whose mean is known from so many.

    Where rewards are bounded that is a whole number of successes, or of failures where these are rarer, which has a
    beta-binomial distribution.  A gamma distribution of the same mean and variance stands for it, and its median is by
    Wilson and Hilferty.
    """
    rare = min(mean, 1 - mean)
    if not noise.bounded or rare <= 0:
        return more * mean
    shape = more * rare * (known + 1) / ((1 - rare) * (known + more))
    count = max(np.ceil(more * rare * (1 - 1 / (9 * shape)) ** 3 - 0.5), 0.0)
    return count if mean <= 0.5 else more - count  # type: ignore[no-any-return]


@njit
def under_test(memory: Memory, under_way: Ints, ages: Ints, delay: float) -> npt.NDArray[np.bool_]:
    """Tell which arms are under test: more of their pulls are under way than told, and not for too long.

    Ages and `delay` are in arrivals; a delay that is not known is infinite.
    """
    known_by = PATIENCE * delay + 1
    return (memory.arrival > 0) & (under_way > memory.pulls) & (ages <= known_by)


@njit
def behind(memory: Memory, noise: Noise) -> npt.NDArray[np.bool_]:
    """Tell which arms have had worse rewards so far than are expected of a newcomer."""
    mean, _ = prior_of(memory, USUAL, noise)
    return (memory.arrival > 0) & (memory.total < mean * memory.pulls)


@njit
def ahead(memory: Memory, under_way: Ints, ages: Ints, delay: float, share: float, places: int, noise: Noise) -> Memory:
    """Return the slots as they are likely to be, where those are empty whose arms have enough pulls under way.

    At least `places` arms are left, if so many are stored: those of the highest lower bounds, then those that are least
    above their limit.  So is the arm of the highest bound, of those that have a reward.
    """
    found = likely(memory, under_way, noise)
    mean, weight = prior_of(memory, USUAL, noise)
    fullness = _fullness(memory, under_way, ages, delay, share, noise)
    bounds = np.full(fullness.size, -np.inf)
    left = 0
    for slot in range(fullness.size):
        left += fullness[slot] <= 1
        if memory.arrival[slot] > 0 and memory.pulls[slot] > 0:
            known = memory.pulls[slot] + weight
            bounds[slot] = lower_bound(known, (memory.total[slot] + weight * mean) / known, noise)
    leader = np.argmax(bounds)
    if bounds[leader] > -np.inf and fullness[leader] > 1:
        fullness[leader] = 1.0
        left += 1
    order = np.argsort(fullness, kind="mergesort")
    for slot in order[np.argsort(-bounds[order], kind="mergesort")]:
        if fullness[slot] > 1:
            if left < places and memory.arrival[slot] > 0:
                left += 1
            else:
                found.arrival[slot] = 0
    return found


@njit
def _fullness(memory: Memory, under_way: Ints, ages: Ints, delay: float, share: float, noise: Noise) -> Floats:
    """Return for each slot the pulls under way, with one more, in parts of its limit; infinite where it is empty."""
    _, weight = prior_of(memory, USUAL, noise)
    batch = max(min(share, BATCH * weight), 1.0)
    fullness = np.full(memory.arrival.size, np.inf)
    for slot in range(fullness.size):
        if memory.arrival[slot] > 0:
            batches = 1 + math.floor(ages[slot] / (PATIENCE * delay + 1))
            fullness[slot] = (under_way[slot] + 1) / (batches * batch + GROWTH * memory.pulls[slot])
    return fullness
