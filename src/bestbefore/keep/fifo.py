"""Fifo: keep the newest m arms; the oldest leaves first.

With W slots the whole window is stored.  By Theorem 1 of Braverman et al. nothing less finds the exact best arm of
every window: on a stream of falling means each arm is the best of some window to come.

>>> from bestbefore.memory import empty_memory
>>> memory, moment = empty_memory(2), Moment(now=3, window=9, arrivals=3, slack=0.0, coin=0.0)
>>> [admit(memory, arrival, 1, 1.0, moment) for arrival in (1, 2, 3)]
[0, 1, 0]
>>> memory.arrival.tolist()
[3, 2]
"""

from bestbefore._jit import njit
from bestbefore.memory import Memory, Moment, free_slot, oldest_slot, put


@njit
def admit(memory: Memory, arrival: int, pulls: int, total: float, moment: Moment) -> int:
    """Store the arm in a free slot, or in place of the oldest; return the slot, or -1 if the arm itself is oldest."""
    slot = free_slot(memory)
    if slot < 0:
        slot = oldest_slot(memory)
        if memory.arrival[slot] > arrival:
            return -1
    put(memory, slot, arrival, pulls, total)
    return slot
