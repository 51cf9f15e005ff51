"""The horizon: what an index depends on besides the rewards of its own arm, the same for all pulls of an epoch.

Two of its parts are about the arms at hand as the epoch begins: see `youth_of` and `dispersion_of`.

>>> horizon = horizon_of(budget=100, arms=4, delta=0.01, tests=500)
>>> horizon.share, horizon.tests, horizon.noise
(25.0, 100, Noise(sigma=0.5, bounded=True))
"""

import math
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from bestbefore._jit import njit
from bestbefore.memory import Memory, mean_of
from bestbefore.noise import BOUNDED, Noise

SQUARE: Final = 6.0
"""The square of how many standard errors a lower bound is below its mean."""
CAUTION: Final = 0.003
"""What the fear that rewards are 0 or 1 counts for, in arms."""


class Horizon(NamedTuple):
    """What indices depend on besides their arm's rewards."""

    budget: int
    """T, the pulls of the epoch, at least 1."""
    arms: int
    """K, the arms at hand."""
    delta: float
    """The confidence."""
    tests: int
    """Pulls of each new arm, for `commit`; T at most."""
    noise: Noise
    """How noisy rewards are; bonuses grow with 2 sigma, which is 1 for rewards on [0, 1]."""
    share: float
    """T / K."""
    log: float
    """ln T."""
    log_union: float
    """ln(T K / delta)."""
    youth: float
    """R, the window over the age of the leader when the epoch began: how likely a newcomer is to beat it, times W."""
    dispersion: float
    """The variance of rewards over what it is with rewards of 0 and 1 alone, as known when the epoch began."""


@njit
def horizon_of(
    budget: int,
    arms: int,
    delta: float,
    tests: int,
    noise: Noise = BOUNDED,
    youth: float = 1.0,
    dispersion: float = 1.0,
) -> Horizon:
    """Return the horizon of an epoch of `budget` pulls with so many arms at hand."""
    pulls, stored = max(budget, 1), max(arms, 1)
    log_union = math.log(pulls * stored / delta)
    share, log = pulls / stored, math.log(pulls)
    return Horizon(pulls, stored, delta, min(tests, pulls), noise, share, log, log_union, youth, dispersion)


@njit
def youth_of(memory: Memory, now: int, window: int, noise: Noise) -> float:
    """Return R as an epoch begins: the window over the age of the leader, or 1 where no arm was pulled yet.

    The leader is the arm of the highest lower confidence bound (Wilson's, of 2.45 standard errors), so that one lucky
    reward does not make a newcomer the leader.  Of equals it is the oldest: nobody has shown to be better.

    >>> from bestbefore.memory import empty_memory, put
    >>> memory = empty_memory(3)
    >>> put(memory, 0, 9, 100, 80.0); put(memory, 1, 18, 50, 35.0); put(memory, 2, 20, 1, 1.0)
    >>> youth_of(memory, now=20, window=55, noise=BOUNDED)
    5.0
    """
    surest, leader = -np.inf, 0
    for slot in range(memory.arrival.size):
        if memory.arrival[slot] > 0 and memory.pulls[slot] > 0:
            bound = lower_bound(memory.pulls[slot], mean_of(memory, slot), noise)
            if bound > surest or (bound == surest and memory.arrival[slot] < leader):
                surest, leader = bound, memory.arrival[slot]
    return window / max(now - leader, 1) if leader > 0 else 1.0


@njit
def dispersion_of(memory: Memory, shades: npt.NDArray[np.float64]) -> float:
    """Return the dispersion D of rewards in [0, 1]: their variance over mean (1 - mean), which it is at most.

    It is 1 where each reward is 0 or 1, and 1/4 for ratings in stars, say; then a quarter of the pulls tell as much.
    Arms differ in that, so it is the average of theirs, where each counts as much as it varies: a few that vary much
    need long tests, whatever is known of others.  With caution: as if 0.003 of another arm,
    which could vary most of all, had D = 1.

    `shades` has the sum of r (1 - r) over the rewards of each arm: their average is what mean (1 - mean) exceeds the
    variance by.  An arm that was pulled once says nothing, and neither does one whose rewards are all the same.

    R. W. M. Wedderburn, "Quasi-likelihood functions, generalized linear models, and the Gauss-Newton method",
    Biometrika 61 (1974).

    >>> from bestbefore.memory import empty_memory, put
    >>> memory = empty_memory(2)
    >>> put(memory, 0, 1, 100, 50.0); put(memory, 1, 2, 100, 60.0)
    >>> dispersion_of(memory, np.array([0.0, 0.0])), round(dispersion_of(memory, np.array([18.75, 18.0])), 3)
    (1.0, 0.256)
    """
    average, weights, most = 0.0, 0.0, 0.0
    for slot in range(memory.arrival.size):
        pulls, total = memory.pulls[slot], memory.total[slot]
        if memory.arrival[slot] > 0 and pulls > 1:
            varies = max(total - shades[slot] - total * total / pulls, 0.0) / pulls
            bound = varies + (1 - 1 / pulls) * shades[slot] / pulls
            if varies > 0:
                average += varies * (varies / bound)
                weights += varies
            most = max(most, bound)
    caution = CAUTION * most
    return (caution + average) / (caution + weights) if caution > 0 else 1.0


@njit
def shade(reward: float) -> float:
    """Return r (1 - r), which is 0 where a reward is all or nothing.

    >>> shade(0.0), shade(0.5), shade(1.0)
    (0.0, 0.25, 0.0)
    """
    return reward * (1 - reward)


@njit
def lower_bound(pulls: float, mean: float, noise: Noise) -> float:
    """Return a lower confidence bound of a mean: Wilson's, or the normal one where rewards may be any number."""
    if not noise.bounded:
        return mean - noise.sigma * math.sqrt(SQUARE / pulls)
    middle, width = mean + SQUARE / (2 * pulls), mean * (1 - mean) / pulls + SQUARE / (4.0 * pulls * pulls)
    bound = (middle - math.sqrt(SQUARE * max(width, 0.0))) / (1 + SQUARE / pulls)
    return bound if bound > 1e-12 else 0.0  # that of an arm without a reward, whatever rounding says
