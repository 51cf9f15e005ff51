"""The horizon: what an index depends on besides the rewards of its own arm, the same for all pulls of an epoch.

>>> horizon = horizon_of(budget=100, arms=4, delta=0.01, tests=500)
>>> horizon.share, horizon.tests, horizon.noise
(25.0, 100, Noise(sigma=0.5, bounded=True))
"""

import math
from typing import NamedTuple

from bestbefore._jit import njit
from bestbefore.noise import BOUNDED, Noise


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


@njit
def horizon_of(budget: int, arms: int, delta: float, tests: int, noise: Noise = BOUNDED) -> Horizon:
    """Return the horizon of an epoch of `budget` pulls with so many arms at hand."""
    pulls, stored = max(budget, 1), max(arms, 1)
    log_union = math.log(pulls * stored / delta)
    return Horizon(pulls, stored, delta, min(tests, pulls), noise, pulls / stored, math.log(pulls), log_union)
