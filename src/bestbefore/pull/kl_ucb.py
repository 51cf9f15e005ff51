"""KL-UCB: pull the arm whose mean could be highest, as far as its rewards do not contradict it.

The index is the largest q with pulls * kl(mean, q) <= ln T, where T is the budget of the epoch: the exploration rate
with a known horizon, so that an index stands still while other arms are pulled.

A. Garivier and O. Cappé, "The KL-UCB algorithm for bounded stochastic bandits and beyond", COLT 2011.

>>> from bestbefore.pull.horizon import horizon_of
>>> round(index(100, 50.0, horizon_of(budget=55, arms=2, delta=0.01, tests=1)), 4)
0.6388
"""

from bestbefore._jit import njit
from bestbefore.pull import kl
from bestbefore.pull.horizon import Horizon


@njit
def index(pulls: float, total: float, horizon: Horizon) -> float:
    """Return the largest q with pulls * kl(mean, q) <= ln T."""
    return kl.index(pulls, total, horizon.log, horizon.noise)


@njit
def ceiling(pulls: float, total: float, horizon: Horizon) -> float:
    """Return a bound that is quick to have, and no lower than the index."""
    return kl.ceiling(pulls, total, horizon.log, horizon.noise)


@njit
def is_above(pulls: float, total: float, later: float, horizon: Horizon, level: float) -> bool:
    """Tell whether the index is above `level` after `later` pulls, if these have the mean of `total` in `pulls`."""
    return kl.is_above(pulls, total, later, horizon.log, horizon.noise, level)


@njit
def block(pulls: int, total: float, mean: float, horizon: Horizon, level: float) -> int:
    """Return how many pulls to draw at once: a guess at how many will be the leader's."""
    return kl.block(pulls, total, mean, horizon.log, level)


@njit
def room(pulls: int, total: float, later: int, horizon: Horizon, level: float) -> float:
    """Return how many rewards of 0 surely leave the index above `level` up to `later` pulls: fewer than this."""
    return kl.room(pulls, total, later, horizon.log, level)


@njit
def sure(pulls: int, horizon: Horizon) -> int:
    """Return how often an arm that leads is pulled, whatever it returns."""
    return 1
