"""Pull rules: how the budget of an epoch is spent.  One file each; a rule knows the slots it is given and nothing else.

Most are *index rules*: the arm of the highest `index(pulls, total, horizon)` is pulled, and an index changes only with
its own arm's rewards.  An index must not fall when the total rises, nor rise with the number of pulls while the mean
stays the same.  Then many pulls can be drawn at once: see `bestbefore.simulate.leaps`, for which each rule also says
how high its index is at most (`ceiling`), whether it stays above a level (`is_above`), how long a block to draw
(`block`), how many rewards of 0 it can take (`room`) and how many pulls are sure (`sure`).

The others draw: `choose` returns a slot, and the probability of that choice, or 0 where that is not known.

>>> from bestbefore.memory import empty_memory, put
>>> memory = empty_memory(2)
>>> put(memory, 0, arrival=1, pulls=10, total=8.0); put(memory, 1, arrival=2, pulls=10, total=4.0)
>>> horizon = horizon_of(budget=100, arms=2, delta=0.01, tests=5)
>>> [highest(rule.number, memory, horizon) for rule in PULL.values() if rule.index]
[0, 0, 0, 0, 0]
"""

import numpy as np

from bestbefore._jit import inlined, njit
from bestbefore.ladder import ladder
from bestbefore.memory import Memory
from bestbefore.pull.horizon import Horizon, dispersion_of, horizon_of, shade, youth_of
from bestbefore.rules import PULL

__all__ = [
    "Horizon",
    "block",
    "ceiling",
    "choose",
    "dispersion_of",
    "highest",
    "horizon_of",
    "index",
    "is_above",
    "room",
    "shade",
    "sure",
    "youth_of",
]

_indexed = [rule for rule in PULL.values() if rule.index]
_drawn = [rule for rule in PULL.values() if not rule.index]
_level = "horizon, level"

index = ladder("index", "pulls, total, horizon", _indexed, __name__, inlined)
ceiling = ladder("ceiling", "pulls, total, horizon", _indexed, __name__, inlined)
is_above = ladder("is_above", f"pulls, total, later, {_level}", _indexed, __name__, inlined)
block = ladder("block", f"pulls, total, mean, {_level}", _indexed, __name__, inlined)
room = ladder("room", f"pulls, total, later, {_level}", _indexed, __name__, inlined)
sure = ladder("sure", "pulls, horizon", _indexed, __name__, inlined)
choose = ladder("choose", "memory, losses, odds, time, noise, rng", _drawn, __name__)


@njit
def highest(rule: int, memory: Memory, horizon: Horizon) -> int:
    """Return the slot of the highest index, or -1 when memory is empty; of equals, the newest.

    An arm that was never pulled comes before all that were.
    """
    found, most = -1, -np.inf
    for slot in range(memory.arrival.size):
        if memory.arrival[slot] > 0:
            pulls = memory.pulls[slot]
            height = index(rule, pulls, memory.total[slot], horizon) if pulls > 0 else np.inf
            if found < 0 or height > most or (height == most and memory.arrival[slot] > memory.arrival[found]):
                found, most = slot, height
    return found
