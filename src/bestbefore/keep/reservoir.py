"""Reservoir: once memory is full, admit arrival t with probability m / t and evict at random.

Section 6 ("The algorithms") of Braverman et al., after Vitter (1985).  Each arm takes its statistics with it when it
leaves.  One uniform number u serves both coins: u < m / t admits, and given that, floor(u t) is uniform on the slots.

J. S. Vitter, "Random sampling with a reservoir", ACM Transactions on Mathematical Software 11 (1985).

>>> from bestbefore.memory import empty_memory
>>> memory = empty_memory(2)
>>> [admit(memory, t, 1, 1.0, Moment(now=t, window=9, arrivals=t, slack=0.0, coin=0.9)) for t in (1, 2, 3)]
[0, 1, -1]
>>> admit(memory, 4, 1, 1.0, Moment(now=4, window=9, arrivals=4, slack=0.0, coin=0.3))   # 0.3 < 2 / 4: admitted
1
"""

from bestbefore._jit import njit
from bestbefore.memory import Memory, Moment, free_slot, put


@njit
def admit(memory: Memory, arrival: int, pulls: int, total: float, moment: Moment) -> int:
    """Store the arm in a free slot, or with probability m / t in one at random; return the slot, or -1."""
    slot = free_slot(memory)
    if slot < 0:
        t = min(arrival, moment.arrivals)  # of an arm settled late its own; by time its number is no count, and higher
        slot = int(moment.coin * max(t, memory.arrival.size))  # one settled late, t < m, enters for sure
        if slot >= memory.arrival.size:
            return -1
    put(memory, slot, arrival, pulls, total)
    return slot
