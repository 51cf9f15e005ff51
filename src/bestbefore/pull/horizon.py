"""The horizon: what an index depends on besides the rewards of its own arm, the same for all pulls of an epoch.

Two of its parts are about the arms at hand as the epoch begins: see `outlook`.

>>> horizon = horizon_of(budget=100, arms=4, delta=0.01, tests=500)
>>> horizon.share, horizon.tests, horizon.noise
(25.0, 100, Noise(sigma=0.5, bounded=True))
"""

import math
from typing import Final, NamedTuple

import numpy as np

from bestbefore._jit import njit
from bestbefore.memory import Memory, mean_of
from bestbefore.noise import BOUNDED, Noise

SQUARE: Final = 6.0
"""The square of how many standard errors a lower bound is below its mean."""


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
    heir: float
    """The second highest mean when the epoch began."""


@njit
def horizon_of(
    budget: int,
    arms: int,
    delta: float,
    tests: int,
    noise: Noise = BOUNDED,
    youth: float = 1.0,
    heir: float = -math.inf,
) -> Horizon:
    """Return the horizon of an epoch of `budget` pulls with so many arms at hand; see `outlook` for the last two."""
    pulls, stored = max(budget, 1), max(arms, 1)
    log_union = math.log(pulls * stored / delta)
    share, log = pulls / stored, math.log(pulls)
    return Horizon(pulls, stored, delta, min(tests, pulls), noise, share, log, log_union, youth, heir)


@njit
def outlook(memory: Memory, now: int, window: int, noise: Noise) -> tuple[float, float]:
    """Return R and the mean of the heir, as an epoch begins: see `Horizon`.

    The leader is the arm of the highest lower confidence bound (Wilson's, of 2.45 standard errors), so that one lucky
    reward does not make a newcomer the leader.  R is 1 where no arm was pulled yet.

    >>> from bestbefore.memory import empty_memory, put
    >>> memory = empty_memory(3)
    >>> put(memory, 0, 9, 100, 80.0); put(memory, 1, 18, 50, 35.0); put(memory, 2, 20, 0, 0.0)
    >>> outlook(memory, now=20, window=55, noise=BOUNDED)
    (5.0, 0.7)
    """
    youth, surest, best, heir = 1.0, -np.inf, -np.inf, -np.inf
    for slot in range(memory.arrival.size):
        if memory.arrival[slot] > 0 and memory.pulls[slot] > 0:
            mean = mean_of(memory, slot)
            bound = _lower_bound(memory.pulls[slot], mean, noise)
            if bound > surest:
                surest, youth = bound, window / max(now - memory.arrival[slot], 1)
            if mean > best:
                best, heir = mean, best
            elif mean > heir:
                heir = mean
    return youth, heir


@njit
def _lower_bound(pulls: int, mean: float, noise: Noise) -> float:
    """Return a lower confidence bound of a mean: Wilson's, or the normal one where rewards may be any number."""
    if not noise.bounded:
        return mean - noise.sigma * math.sqrt(SQUARE / pulls)
    middle, width = mean + SQUARE / (2 * pulls), mean * (1 - mean) / pulls + SQUARE / (4.0 * pulls * pulls)
    return (middle - math.sqrt(SQUARE * max(width, 0.0))) / (1 + SQUARE / pulls)
