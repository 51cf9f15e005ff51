"""The horizon: what an index depends on besides the rewards of its own arm, the same for all pulls of an epoch.

Three of its parts are about the arms at hand as the epoch begins: see `outlook_of`.

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


class Outlook(NamedTuple):
    """What is known of the arms at hand as an epoch begins."""

    youth: float = 1.0
    """R, the window over the age of the leader: how likely a newcomer is to beat it, times W."""
    best: float = -math.inf
    """The mean of the leader."""
    heir: float = -math.inf
    """Half way from the highest mean to the second: a good heir is this good."""


NO_OUTLOOK: Final = Outlook()
"""Nothing is known."""


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
    """R, see `Outlook`."""
    above: float
    """sqrt(1 - best), how much better than the leader an arm may be; 1 where rewards have no bound."""
    heir: float
    """See `Outlook`."""


@njit
def horizon_of(
    budget: int, arms: int, delta: float, tests: int, noise: Noise = BOUNDED, outlook: Outlook = NO_OUTLOOK
) -> Horizon:
    """Return the horizon of an epoch of `budget` pulls with so many arms at hand."""
    pulls, stored = max(budget, 1), max(arms, 1)
    log_union = math.log(pulls * stored / delta)
    share, log = pulls / stored, math.log(pulls)
    above = math.sqrt(min(max(1 - outlook.best, 0.0), 1.0)) if noise.bounded else 1.0
    tests = min(tests, pulls)
    return Horizon(pulls, stored, delta, tests, noise, share, log, log_union, outlook.youth, above, outlook.heir)


@njit
def outlook_of(memory: Memory, now: int, window: int, noise: Noise) -> Outlook:
    """Return what is known of the arms at hand as an epoch begins.

    The leader is the arm of the highest lower confidence bound (Wilson's, of 2.45 standard errors), so that one lucky
    reward does not make a newcomer the leader.

    >>> from bestbefore.memory import empty_memory, put
    >>> memory = empty_memory(3)
    >>> put(memory, 0, 9, 100, 80.0); put(memory, 1, 18, 50, 35.0); put(memory, 2, 20, 0, 0.0)
    >>> outlook_of(memory, now=20, window=55, noise=BOUNDED)
    Outlook(youth=5.0, best=0.8, heir=0.75)
    """
    youth, surest, best, highest, second = 1.0, -np.inf, -np.inf, -np.inf, -np.inf
    for slot in range(memory.arrival.size):
        if memory.arrival[slot] > 0 and memory.pulls[slot] > 0:
            mean = mean_of(memory, slot)
            bound = lower_bound(memory.pulls[slot], mean, noise)
            if bound > surest:
                surest, best, youth = bound, mean, window / max(now - memory.arrival[slot], 1)
            if mean > highest:
                highest, second = mean, highest
            elif mean > second:
                second = mean
    return Outlook(youth, best, second if second == -np.inf else (highest + second) / 2)


@njit
def lower_bound(pulls: float, mean: float, noise: Noise) -> float:
    """Return a lower confidence bound of a mean: Wilson's, or the normal one where rewards may be any number."""
    if not noise.bounded:
        return mean - noise.sigma * math.sqrt(SQUARE / pulls)
    middle, width = mean + SQUARE / (2 * pulls), mean * (1 - mean) / pulls + SQUARE / (4.0 * pulls * pulls)
    return (middle - math.sqrt(SQUARE * max(width, 0.0))) / (1 + SQUARE / pulls)
