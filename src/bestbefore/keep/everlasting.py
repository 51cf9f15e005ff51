"""Everlasting: who stays in the slots while the best arm of all is sought, which never expires.

*Explicit flag*, somebody says which arms outlive their window.  `wait` pulls nothing: with W slots it keeps all
(`fifo`), with fewer a sample (`reservoir`).  `rank` and `race` test each arm when it arrives, and keep the best
(`topk`), until their flags tell.

*Implicit flag*, nobody says it.  `stay` keeps arms only while their window lasts, `hope` keeps the best ever seen, and
`weigh` keeps valid arms and beside them the leader, valid or not; how it decides in the end is told at `narrow`.

>>> from bestbefore.memory import empty_memory
>>> memory, moment = empty_memory(3), Moment(now=3, window=2, arrivals=3, slack=0.0, coin=0.0)
>>> [settle(WEIGH, memory, arm, 10, total, moment) for arm, total in enumerate((9.0, 5.0, 6.0), start=1)]
[0, 1, 2]
>>> let_expire(WEIGH, memory, oldest=3); memory.arrival.tolist()      # the leader stays
[1, 0, 3]
>>> narrow(WEIGH, memory, oldest=3, rivals=1.0); memory.arrival.tolist()   # 1/2 is more risk than 0.9 - 0.6
[0, 0, 3]
"""

import math
from typing import Final

from bestbefore._jit import njit
from bestbefore.keep import fifo, reservoir, topk
from bestbefore.memory import Memory, Moment, drop, expire, free_slot, leader, mean_of, put
from bestbefore.rules import STRATEGY

WAIT: Final = STRATEGY["wait"].number
RANK: Final = STRATEGY["rank"].number
RACE: Final = STRATEGY["race"].number
STAY: Final = STRATEGY["stay"].number
HOPE: Final = STRATEGY["hope"].number
WEIGH: Final = STRATEGY["weigh"].number


@njit
def let_expire(strategy: int, memory: Memory, oldest: int) -> None:
    """Drop what is older than `oldest`, as far as the strategy does; with an explicit flag those that do not outlive
    their window.
    """
    if strategy == WEIGH:
        _drop_before(memory, oldest, leader(memory))
    elif strategy in (WAIT, RANK, RACE, STAY):
        expire(memory, oldest)
    elif strategy != HOPE:
        raise ValueError("no strategy has this number")


@njit
def settle(strategy: int, memory: Memory, arrival: int, pulls: int, total: float, moment: Moment) -> int:
    """Decide on an arm whose test is over; return its slot, or -1."""
    if strategy == WAIT:
        if memory.arrival.size >= moment.window:
            return fifo.admit(memory, arrival, pulls, total, moment)
        return reservoir.admit(memory, arrival, pulls, total, moment)
    if pulls > 0:
        return topk.admit(memory, arrival, pulls, total, moment)
    slot = free_slot(memory)
    if slot >= 0:
        put(memory, slot, arrival, 0, 0.0)
    return slot


@njit
def narrow(strategy: int, memory: Memory, oldest: int, rivals: float) -> None:
    """Keep only the arms that will get the remaining budget, when the time for that has come.

    `hope` commits to the leader.  `weigh` does if it is expired and 1 - 1 / (1 + rivals), the chance that another one
    was better, which costs 1 a pull, is not more than what the best valid arm is behind; all others play valid arms.
    """
    if strategy == HOPE:
        _drop_before(memory, memory.arrival.max() + 1, leader(memory))
        return
    best = leader(memory)
    if strategy != WEIGH or best < 0 or memory.arrival[best] >= oldest:
        expire(memory, oldest)
        return
    valid = -math.inf
    for slot in range(memory.arrival.size):
        if memory.arrival[slot] >= oldest:
            valid = max(valid, mean_of(memory, slot))
    if rivals / (1 + rivals) <= mean_of(memory, best) - valid:
        _drop_before(memory, memory.arrival.max() + 1, best)
    else:
        expire(memory, oldest)


@njit
def _drop_before(memory: Memory, oldest: int, but: int) -> None:
    """Drop every arm that arrived before `oldest`, but the one in slot `but`."""
    for slot in range(memory.arrival.size):
        if 0 < memory.arrival[slot] < oldest and slot != but:
            drop(memory, slot)
