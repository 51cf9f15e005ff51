"""Reservoir: once memory is full, admit arrival t with probability m / t and evict at random.

Section 6 ("The algorithms") of Braverman et al., after Vitter (1985).  Each arm takes its statistics with it when it
leaves.  One uniform number u serves both coins: u < m / t admits, and given that, floor(u t) is uniform on the slots.

J. S. Vitter, "Random sampling with a reservoir", ACM Transactions on Mathematical Software 11 (1985).

>>> from bestbefore.memory import empty_memory
>>> memory = empty_memory(2)
>>> [reservoir(memory, arrival, pulls=1, total=1.0, luck=0.9) for arrival in (1, 2, 3)]
[0, 1, -1]
>>> reservoir(memory, 4, pulls=1, total=1.0, luck=0.3)     # 0.3 < 2 / 4: admitted, into slot floor(0.3 * 4)
1
"""

from bestbefore._jit import njit
from bestbefore.memory import Memory, free_slot, put


@njit
def reservoir(memory: Memory, arrival: int, pulls: int, total: float, luck: float) -> int:
    """Store the arm in a free slot, or by luck, uniform on [0, 1), in one at random; return the slot, or -1."""
    slot = free_slot(memory)
    if slot < 0:
        slot = int(luck * max(arrival, memory.arrival.size))  # one settled late, t < m, enters for sure
        if slot >= memory.arrival.size:
            return -1
    put(memory, slot, arrival, pulls, total)
    return slot
