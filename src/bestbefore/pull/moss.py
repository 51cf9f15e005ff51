"""MOSS: pull the arm of the highest mean + sqrt(max(ln(T / (K pulls)), 0) / pulls).

T is the budget of the epoch and K the number of arms at hand.  The bonus vanishes once an arm has had its share T / K
of the pulls, which takes the logarithm out of the regret: it is of order sqrt(K T), as no algorithm can better.  The
bonus is multiplied by 2 sigma, which is 1 for rewards on [0, 1].

J.-Y. Audibert and S. Bubeck, "Minimax policies for adversarial and stochastic bandits", COLT 2009.

>>> from bestbefore.pull.horizon import horizon_of
>>> horizon = horizon_of(budget=400, arms=4, delta=0.01, tests=1)
>>> index(100, 50.0, horizon), round(index(10, 5.0, horizon), 4)
(0.5, 0.9799)
"""

import math

from bestbefore._jit import njit
from bestbefore.pull.blocks import block_for, room_for
from bestbefore.pull.horizon import Horizon


@njit
def _bonus(pulls: float, horizon: Horizon) -> float:
    """Return 2 sigma sqrt(max(ln(T / (K pulls)), 0) / pulls)."""
    if pulls >= horizon.share:
        return 0.0
    return 2 * horizon.noise.sigma * math.sqrt(math.log(horizon.share / pulls) / pulls)


@njit
def index(pulls: float, total: float, horizon: Horizon) -> float:
    """Return the mean and its bonus."""
    return total / pulls + _bonus(pulls, horizon)


@njit
def ceiling(pulls: float, total: float, horizon: Horizon) -> float:
    """Return a bound that is no lower than the index: the index itself, which is quick to have."""
    return index(pulls, total, horizon)


@njit
def is_above(pulls: float, total: float, later: float, horizon: Horizon, level: float) -> bool:
    """Tell whether the index is above `level`, with the mean of `total` in `pulls` and the bonus of `later` pulls."""
    return total / pulls + _bonus(later, horizon) > level


@njit
def block(pulls: int, total: float, mean: float, horizon: Horizon, level: float) -> int:
    """Return how many pulls to draw at once: a guess at how many will be the leader's."""
    return block_for(pulls, total, index(pulls, total, horizon), mean, level)


@njit
def room(pulls: int, total: float, later: int, horizon: Horizon, level: float) -> float:
    """Return how many rewards of 0 surely leave the index above `level` up to `later` pulls: fewer than this."""
    return room_for(pulls, total, level - index(later, 0.0, horizon))


@njit
def sure(pulls: int, horizon: Horizon) -> int:
    """Return how often an arm that leads is pulled, whatever it returns."""
    return 1
