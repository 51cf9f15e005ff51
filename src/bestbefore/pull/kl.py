"""What the indices by kl have in common: the largest q with pulls * kl(mean, q) <= limit, and its leaps.

For Gaussian rewards kl(p, q) is (p - q)^2 / (2 sigma^2), and the index is closed.  Each rule says what its limit is: it
may fall with the arm's pulls, but not rise.

>>> from bestbefore.noise import BOUNDED
>>> round(index(100, 50.0, 4.0, BOUNDED), 4)
0.6386
"""

import math

import numpy as np

from bestbefore._jit import njit
from bestbefore.divergence import divergence, quick_upper_bound, upper_bound
from bestbefore.noise import Noise
from bestbefore.pull.blocks import block_for


@njit
def index(pulls: float, total: float, limit: float, noise: Noise) -> float:
    """Return the largest q with pulls * kl(mean, q) <= limit."""
    if not noise.bounded:
        return total / pulls + noise.sigma * math.sqrt(2 * limit / pulls)
    return upper_bound(pulls, total, limit)


@njit
def ceiling(pulls: float, total: float, limit: float, noise: Noise) -> float:
    """Return a bound that is quick to have, and no lower than the index."""
    if not noise.bounded:
        return index(pulls, total, limit, noise)
    return quick_upper_bound(pulls, total, limit) + 1e-12


@njit
def is_above(pulls: float, total: float, later: float, limit: float, noise: Noise, level: float) -> bool:
    """Tell whether the index is above `level` after `later` pulls, if these have the mean of `total` in `pulls`.

    `limit` is that after all of these pulls.  Below the level q, rewards of 1 only lower pulls * kl(mean, q), so that
    rewards of 0 first are the worst: the pulls that count against the arm are those before them.
    """
    mean = total / pulls
    if mean > level:
        return True
    if not noise.bounded:
        return mean + noise.sigma * math.sqrt(2 * limit / later) > level
    if not 0 < level < 1:
        return False
    rounding = 1e-15 + 1e-12 * (level - mean) / (level * (1 - level))  # what the last digits of an index may hide
    return pulls * (divergence(mean, level) + rounding) < limit * (1 - 1e-9)


@njit
def block(pulls: int, total: float, mean: float, limit: float, level: float) -> int:
    """Return how many pulls to draw at once: a guess at how many will be the leader's."""
    empirical = total / pulls
    if 0 < level < 1 and empirical < level:
        left = limit - pulls * divergence(empirical, level)
        zeros = max(left, 0.0) / math.log((1 - empirical) / (1 - level))
        return int(min(0.6 * zeros / max(1 - mean, 1e-9), 4.0 * pulls))
    return block_for(pulls, total, empirical, mean, level)


@njit
def room(pulls: int, total: float, later: int, limit: float, level: float) -> float:
    """Return how many rewards of 0 surely leave the index above `level` up to `later` pulls: fewer than this.

    `limit` is that after `later` pulls.  Each 0 adds ln((1 - mean) / (1 - level)) to the evidence, with the mean as it
    is then: each more than the one before.  If all added as little as the first, some z of them would be the room.  So
    it is less than z, and none of those in it adds more than the one after z.
    """
    if level <= 0:
        return np.inf
    above = total / level - pulls - 1e-6
    if above >= later - pulls or level >= 1 or total / later >= level:
        return above
    mean, left, lowest = total / pulls, limit * (1 - 1e-9), total / later
    if mean < level:
        left -= pulls * divergence(mean, level)
        lowest = max(lowest, total / (pulls + max(left, 0.0) / math.log((1 - mean) / (1 - level))))
    return max(above, left / math.log((1 - lowest) / (1 - level)) - 1e-6)
