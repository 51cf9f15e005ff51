"""Which arm to pull next: the index rules by their small numbers, one arm at a time.

>>> from bestbefore.memory import empty_memory, put
>>> from bestbefore import rules
>>> memory = empty_memory(2)
>>> put(memory, 0, arrival=1, pulls=10, total=8.0); put(memory, 1, arrival=2, pulls=10, total=4.0)
>>> horizon = horizon_of(budget=100, arms=2, delta=0.01, s=5)
>>> [highest(rule, memory, horizon) for rule in (rules.UCB, rules.MOSS, rules.KL_UCB, rules.COMMIT)]
[0, 0, 0, 0]
"""

import math
from typing import NamedTuple

import numpy as np

from bestbefore import rules
from bestbefore._jit import inlined, njit
from bestbefore.memory import Memory
from bestbefore.pull.commit import commit_index
from bestbefore.pull.kl_ucb import kl_ucb_index
from bestbefore.pull.moss import moss_index
from bestbefore.pull.ucb import ucb_index


class Horizon(NamedTuple):
    """What indices depend on besides their arm's rewards, the same for all pulls of an epoch."""

    log_ucb: float  # ln(T K / delta), times the square of the scale
    share: float  # T / K
    log_kl: float  # ln T
    s: int  # pulls of each new arm, for commit; T at most
    sigma: float  # of Gaussian rewards, 0 for rewards on [0, 1]
    scale: float  # of bonuses: 2 sigma, which is 1 for rewards on [0, 1]


@njit
def horizon_of(budget: int, arms: int, delta: float, s: int, sigma: float = 0.0) -> Horizon:
    """Return the horizon of an epoch of `budget` pulls with so many arms at hand."""
    pulls = max(budget, 1)
    scale = 2 * sigma if sigma > 0 else 1.0
    log = math.log(pulls * max(arms, 1) / delta)
    return Horizon(log * scale * scale, pulls / max(arms, 1), math.log(pulls), min(s, pulls), sigma, scale)


@inlined
def index_of(rule: int, pulls: float, total: float, horizon: Horizon) -> float:
    """Return the index of an arm; one that was never pulled comes before all that were."""
    if pulls == 0:
        return np.inf
    if rule == rules.UCB:
        return ucb_index(pulls, total, horizon.log_ucb)
    if rule == rules.MOSS:
        return moss_index(pulls, total, horizon.share, horizon.scale)
    if rule == rules.COMMIT:
        return commit_index(pulls, total, horizon.s)
    if horizon.sigma > 0:
        return total / pulls + horizon.sigma * math.sqrt(2 * horizon.log_kl / pulls)
    return kl_ucb_index(pulls, total, horizon.log_kl)


@njit
def highest(rule: int, memory: Memory, horizon: Horizon) -> int:
    """Return the slot of the highest index, or -1 when memory is empty; of equals, the newest."""
    found, most = -1, -np.inf
    for slot in range(memory.arrival.size):
        if memory.arrival[slot] > 0:
            index = index_of(rule, memory.pulls[slot], memory.total[slot], horizon)
            if found < 0 or index > most or (index == most and memory.arrival[slot] > memory.arrival[found]):
                found, most = slot, index
    return found
