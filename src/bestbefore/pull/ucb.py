"""UCB: pull the arm of the highest upper confidence bound, mean + sqrt(ln(T K / delta) / pulls).

T is the budget of the epoch and K the number of arms at hand; the index is that of the experiments of Braverman et al.
It stands still while other arms are pulled.  The bonus is multiplied by 2 sigma, which is 1 for rewards on [0, 1].

P. Auer, N. Cesa-Bianchi and P. Fischer, "Finite-time analysis of the multiarmed bandit problem", Machine Learning 47
(2002).

>>> from bestbefore.pull.horizon import horizon_of
>>> round(index(100, 50.0, horizon_of(budget=100, arms=2, delta=0.01, tests=1)), 4)
0.8147
"""

import math

from bestbefore._jit import njit
from bestbefore.pull.blocks import block_for, room_for
from bestbefore.pull.horizon import Horizon


@njit
def index(pulls: float, total: float, horizon: Horizon) -> float:
    """Return mean + 2 sigma sqrt(ln(T K / delta) / pulls)."""
    return total / pulls + 2 * horizon.noise.sigma * math.sqrt(horizon.log_union / pulls)


@njit
def ceiling(pulls: float, total: float, horizon: Horizon) -> float:
    """Return a bound that is no lower than the index: the index itself, which is quick to have."""
    return index(pulls, total, horizon)


@njit
def is_above(pulls: float, total: float, later: float, horizon: Horizon, level: float) -> bool:
    """Tell whether the index is above `level`, with the mean of `total` in `pulls` and the bonus of `later` pulls."""
    return total / pulls + 2 * horizon.noise.sigma * math.sqrt(horizon.log_union / later) > level


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
