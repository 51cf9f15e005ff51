"""Commit: pull each new arm s times, then the arm of the highest mean: explore, then commit.

With keep rule `topk` it is the baseline of Braverman et al. (Section 6), with `bucket` the first idea of their Section
5.  s is that of Algorithm 1 for an epsilon: of the memory, 3 / m; or the one that makes the bound n ln(n) / epsilon^2 +
epsilon T the least, `bestbefore.bounds.best_commit_epsilon`.  It is capped by the budget of the epoch; an arm whose
test was cut short by the end of an epoch has it finished in the next.

>>> from bestbefore.pull.horizon import horizon_of
>>> horizon = horizon_of(budget=100, arms=2, delta=0.01, tests=10)
>>> index(5, 5.0, horizon), index(10, 5.0, horizon)
(inf, 0.5)
"""

import numpy as np

from bestbefore._jit import njit
from bestbefore.pull.blocks import block_for, room_for
from bestbefore.pull.horizon import Horizon


@njit
def index(pulls: float, total: float, horizon: Horizon) -> float:
    """Return the mean of an arm that has had its tests; others come before all that have."""
    return np.inf if pulls < horizon.tests else total / pulls


@njit
def ceiling(pulls: float, total: float, horizon: Horizon) -> float:
    """Return a bound that is no lower than the index: the index itself, which is quick to have."""
    return index(pulls, total, horizon)


@njit
def is_above(pulls: float, total: float, later: float, horizon: Horizon, level: float) -> bool:
    """Tell whether the mean of an arm that has had its tests is above `level`."""
    return total / pulls > level


@njit
def block(pulls: int, total: float, mean: float, horizon: Horizon, level: float) -> int:
    """Return how many pulls to draw at once: a guess at how many will be the leader's."""
    return block_for(pulls, total, index(pulls, total, horizon), mean, level)


@njit
def room(pulls: int, total: float, later: int, horizon: Horizon, level: float) -> float:
    """Return how many rewards of 0 surely leave the mean above `level`: fewer than this."""
    return room_for(pulls, total, level)


@njit
def sure(pulls: int, horizon: Horizon) -> int:
    """Return how often an arm that leads is pulled, whatever it returns: until its test is over."""
    return max(horizon.tests - pulls, 1)
