"""Topk: keep the m arms of highest empirical mean seen so far, less those that expired.

The baseline of Braverman et al. (Section 6, "The algorithms"): the streaming algorithm's own memory, from which
expired arms are removed.  It answers well on streams in random order, and fails where means fall: there it fills
memory with arms that will all expire together.

>>> from bestbefore.memory import empty_memory
>>> memory, moment = empty_memory(2), Moment(now=4, window=9, arrivals=4, slack=0.0, coin=0.0)
>>> [admit(memory, arrival, 10, total, moment) for arrival, total in enumerate((9.0, 5.0, 4.0, 7.0), start=1)]
[0, 1, -1, 1]
>>> memory.arrival.tolist()
[1, 4]
"""

import numpy as np

from bestbefore._jit import njit
from bestbefore.memory import Memory, Moment, free_slot, mean_of, oldest_slot, put


@njit
def admit(memory: Memory, arrival: int, pulls: int, total: float, moment: Moment) -> int:
    """Store the arm in a free slot, or in place of the worst if it is better; return the slot, or -1.

    Of equal means the newer arm stays: it is of use for longer.  An arm not pulled yet takes the place of the worst.
    """
    slot = free_slot(memory) if pulls > 0 else free_or_unpulled(memory)
    if slot < 0 and pulls == 0:
        slot = worst_or_oldest(memory)
    elif slot < 0:
        slot = worst_slot(memory)
        mean, worst = total / pulls, mean_of(memory, slot)
        if mean < worst or (mean == worst and arrival < memory.arrival[slot]):
            return -1
    put(memory, slot, arrival, pulls, total)
    return slot


@njit
def worst_slot(memory: Memory) -> int:
    """Return the slot of the lowest empirical mean in a full memory; of equals, the oldest."""
    worst = 0
    for slot in range(1, memory.arrival.size):
        mean, lowest = mean_of(memory, slot), mean_of(memory, worst)
        if mean < lowest or (mean == lowest and memory.arrival[slot] < memory.arrival[worst]):
            worst = slot
    return worst


@njit
def free_or_unpulled(memory: Memory) -> int:
    """Return a free slot, or that of the oldest arm never pulled, where too many of them stand; else -1.

    Two are too many, and so is one beside a single arm that was pulled: an arm that is known is not given up for
    several that are not, as when budgets are 0 or rewards come late.
    """
    slot = free_slot(memory)
    if slot >= 0:
        return slot
    unpulled, oldest = 0, -1
    for slot in range(memory.arrival.size):
        if memory.pulls[slot] == 0:
            unpulled += 1
            if oldest < 0 or memory.arrival[slot] < memory.arrival[oldest]:
                oldest = slot
    return oldest if unpulled >= 2 or memory.arrival.size - unpulled <= unpulled else -1


@njit
def worst_or_oldest(memory: Memory) -> int:
    """Return the slot of the lowest mean among the arms that were pulled, or of the oldest arm if none was."""
    worst, lowest = -1, np.inf
    for slot in range(memory.arrival.size):
        if memory.pulls[slot] > 0:
            mean = mean_of(memory, slot)
            if mean < lowest or (mean == lowest and memory.arrival[slot] < memory.arrival[worst]):
                worst, lowest = slot, mean
    return worst if worst >= 0 else oldest_slot(memory)
