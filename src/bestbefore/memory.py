"""The m slots: which arms are stored, how often each was pulled, and the sum of its rewards.

A slot knows its arm by the number of its arrival on the stream's clock, counted from 1; an empty slot has arrival 0.
Rules put and drop, and never move an arm from one slot to another, so whoever keeps something beside the slots (an
arm's name, its true mean in a simulation) can keep it by slot or by arrival.

>>> memory = empty_memory(3)
>>> put(memory, 1, arrival=7, pulls=10, total=4.0)
>>> int(memory.arrival[1]), mean_of(memory, 1), count(memory)
(7, 0.4, 1)
>>> expire(memory, oldest=8)
>>> count(memory), leader(memory)
(0, -1)
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bestbefore._jit import njit


class Moment(NamedTuple):
    """What a keep rule may know besides the slots and the arm it decides on."""

    now: int
    """The number of the newest arrival on the stream's clock."""
    window: int
    """W: numbers below now - window + 1 have expired."""
    arrivals: int
    """How many arms have arrived."""
    slack: float
    """How freely `staircase` may pass over new arms."""
    coin: float
    """A fresh uniform number on [0, 1), if the rule draws one."""


class Memory(NamedTuple):
    """The slots, as one array for each thing that is known of an arm."""

    arrival: npt.NDArray[np.int64]
    pulls: npt.NDArray[np.int64]
    total: npt.NDArray[np.float64]


def empty_memory(slots: int) -> Memory:
    """Make `slots` empty slots."""
    return Memory(np.zeros(slots, np.int64), np.zeros(slots, np.int64), np.zeros(slots, np.float64))


@njit
def put(memory: Memory, slot: int, arrival: int, pulls: int, total: float) -> None:
    """Store an arm in `slot`; whoever stood there is gone."""
    memory.arrival[slot] = arrival
    memory.pulls[slot] = pulls
    memory.total[slot] = total


@njit
def drop(memory: Memory, slot: int) -> None:
    """Empty `slot`, and leave nothing of its arm behind."""
    put(memory, slot, 0, 0, 0.0)


@njit
def expire(memory: Memory, oldest: int) -> None:
    """Drop every arm that arrived before `oldest`, the oldest number still valid."""
    for slot in range(memory.arrival.size):
        if 0 < memory.arrival[slot] < oldest:
            drop(memory, slot)


@njit
def count(memory: Memory) -> int:
    """Count the arms stored."""
    stored = 0
    for slot in range(memory.arrival.size):
        stored += memory.arrival[slot] > 0
    return stored


@njit
def free_slot(memory: Memory) -> int:
    """Return the first empty slot, or -1 when memory is full."""
    for slot in range(memory.arrival.size):
        if memory.arrival[slot] == 0:
            return slot
    return -1


@njit
def oldest_slot(memory: Memory) -> int:
    """Return the slot of the oldest arm stored, or -1 when memory is empty."""
    found = -1
    for slot in range(memory.arrival.size):
        if memory.arrival[slot] > 0 and (found < 0 or memory.arrival[slot] < memory.arrival[found]):
            found = slot
    return found


@njit
def mean_of(memory: Memory, slot: int) -> float:
    """Return the empirical mean of the arm in `slot`; one that was never pulled stands below all others."""
    return memory.total[slot] / memory.pulls[slot] if memory.pulls[slot] > 0 else -np.inf


@njit
def leader(memory: Memory) -> int:
    """Return the slot of the highest empirical mean, or -1 when memory is empty; of equals, the newest."""
    found, highest = -1, -np.inf
    for slot in range(memory.arrival.size):
        if memory.arrival[slot] > 0:
            mean = mean_of(memory, slot)
            if found < 0 or mean > highest or (mean == highest and memory.arrival[slot] > memory.arrival[found]):
                found, highest = slot, mean
    return found
