"""KL-UCB: pull the arm whose mean could be highest, as far as its rewards do not contradict it.

The index is the largest q with pulls * kl(mean, q) <= ln T, where T is the budget of the epoch: the exploration rate
with a known horizon, so that an index stands still while other arms are pulled.  For Gaussian rewards kl(p, q) is
(p - q)^2 / (2 sigma^2), and the index is closed.

A. Garivier and O. Cappé, "The KL-UCB algorithm for bounded stochastic bandits and beyond", COLT 2011.

>>> from bestbefore.pull.horizon import horizon_of
>>> round(index(100, 50.0, horizon_of(budget=55, arms=2, delta=0.01, tests=1)), 4)
0.6388
"""

import math

from bestbefore._jit import njit
from bestbefore.divergence import divergence, quick_upper_bound, upper_bound
from bestbefore.pull.blocks import block_for
from bestbefore.pull.horizon import Horizon


@njit
def index(pulls: float, total: float, horizon: Horizon) -> float:
    """Return the largest q with pulls * kl(mean, q) <= ln T."""
    if not horizon.noise.bounded:
        return total / pulls + horizon.noise.sigma * math.sqrt(2 * horizon.log / pulls)
    return upper_bound(pulls, total, horizon.log)


@njit
def ceiling(pulls: float, total: float, horizon: Horizon) -> float:
    """Return a bound that is quick to have, and no lower than the index."""
    if not horizon.noise.bounded:
        return index(pulls, total, horizon)
    return quick_upper_bound(pulls, total, horizon.log) + 1e-12


@njit
def is_above(pulls: float, total: float, later: float, horizon: Horizon, level: float) -> bool:
    """Tell whether the index is above `level` after `later` pulls, if these have the mean of `total` in `pulls`.

    Below the level q, rewards of 1 only lower pulls * kl(mean, q), so that rewards of 0 first are the worst: the pulls
    that count are those before them.
    """
    mean = total / pulls
    if mean > level:
        return True
    if not horizon.noise.bounded:
        return mean + horizon.noise.sigma * math.sqrt(2 * horizon.log / later) > level
    if not 0 < level < 1:
        return False
    rounding = 1e-13 * pulls * (level - mean) / (level * (1 - level))  # what the last digits of an index may hide
    return pulls * divergence(mean, level) < horizon.log * (1 - 1e-9) - rounding


@njit
def block(pulls: int, total: float, mean: float, horizon: Horizon, level: float) -> int:
    """Return how many pulls to draw at once: a guess at how many will be the leader's."""
    empirical = total / pulls
    if 0 < level < 1 and empirical < level:
        zeros = (horizon.log - pulls * divergence(empirical, level)) / math.log((1 - empirical) / (1 - level))
        return int(min(0.6 * zeros / max(1 - mean, 1e-9), 4.0 * pulls))
    return block_for(pulls, total, 1.0, mean, level)


@njit
def room(pulls: int, total: float, later: int, horizon: Horizon, level: float) -> float:
    """Return how many rewards of 0 surely leave the index above `level`: none is known without looking."""
    return 0.0


@njit
def sure(pulls: int, horizon: Horizon) -> int:
    """Return how often an arm that leads is pulled, whatever it returns."""
    return 1
