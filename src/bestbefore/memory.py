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

__all__ = [
    "Memory",
    "Moment",
    "count",
    "drop",
    "empty_memory",
    "expire",
    "free_slot",
    "leader",
    "leaders",
    "mean_of",
    "oldest_slot",
    "put",
]


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
    ranks: int = 1
    """How many of the best arms are to be known: an arm is useless once so many newer ones are no worse."""


class Memory(NamedTuple):
    """The slots, as one array for each thing that is known of an arm."""

    arrival: npt.NDArray[np.int64]
    """The number of the arm in each slot; 0 where it is empty."""
    pulls: npt.NDArray[np.int64]
    """How often it was pulled."""
    total: npt.NDArray[np.float64]
    """The sum of its rewards."""


def empty_memory(slots: int) -> Memory:
    """Make `slots` empty slots.

    Parameters
    ----------
    slots
        How many.
    """
    return Memory(np.zeros(slots, np.int64), np.zeros(slots, np.int64), np.zeros(slots, np.float64))


@njit
def put(memory: Memory, slot: int, arrival: int, pulls: int, total: float) -> None:
    """Store an arm in `slot`; whoever stood there is gone.

    Parameters
    ----------
    memory
        The slots.
    slot
        Its place, from 0.
    arrival
        The arm's number on the stream's clock.
    pulls
        How often the arm was pulled.
    total
        The sum of its rewards.
    """
    memory.arrival[slot] = arrival
    memory.pulls[slot] = pulls
    memory.total[slot] = total


@njit
def drop(memory: Memory, slot: int) -> None:
    """Empty `slot`, and leave nothing of its arm behind.

    Parameters
    ----------
    memory
        The slots.
    slot
        Its place, from 0.
    """
    put(memory, slot, 0, 0, 0.0)


@njit
def expire(memory: Memory, oldest: int) -> None:
    """Drop every arm that arrived before `oldest`, the oldest number still valid.

    Parameters
    ----------
    memory
        The slots.
    oldest
        The lowest number that is valid.
    """
    for slot in range(memory.arrival.size):
        if 0 < memory.arrival[slot] < oldest:
            drop(memory, slot)


@njit
def count(memory: Memory) -> int:
    """Count the arms stored.

    Parameters
    ----------
    memory
        The slots.
    """
    stored = 0
    for slot in range(memory.arrival.size):
        stored += memory.arrival[slot] > 0
    return stored


@njit
def free_slot(memory: Memory) -> int:
    """Return the first empty slot, or -1 when memory is full.

    Parameters
    ----------
    memory
        The slots.
    """
    for slot in range(memory.arrival.size):
        if memory.arrival[slot] == 0:
            return slot
    return -1


@njit
def oldest_slot(memory: Memory) -> int:
    """Return the slot of the oldest arm stored, or -1 when memory is empty.

    Parameters
    ----------
    memory
        The slots.
    """
    found = -1
    for slot in range(memory.arrival.size):
        if memory.arrival[slot] > 0 and (found < 0 or memory.arrival[slot] < memory.arrival[found]):
            found = slot
    return found


@njit
def mean_of(memory: Memory, slot: int) -> float:
    """Return the empirical mean of the arm in `slot`; one that was never pulled stands below all others.

    Parameters
    ----------
    memory
        The slots.
    slot
        Its place, from 0.
    """
    return memory.total[slot] / memory.pulls[slot] if memory.pulls[slot] > 0 else -np.inf


@njit
def leader(memory: Memory) -> int:
    """Return the slot of the highest empirical mean, or -1 when memory is empty; of equals, the newest.

    Parameters
    ----------
    memory
        The slots.
    """
    found, highest = -1, -np.inf
    for slot in range(memory.arrival.size):
        if memory.arrival[slot] > 0:
            mean = mean_of(memory, slot)
            if found < 0 or mean > highest or (mean == highest and memory.arrival[slot] > memory.arrival[found]):
                found, highest = slot, mean
    return found


@njit
def leaders(memory: Memory, most: int) -> npt.NDArray[np.int64]:
    """Return the slots of up to `most` arms, the highest empirical mean first; of equals, the newest.

    The first is that of `leader`.

    Parameters
    ----------
    memory
        The slots.
    most
        How many, at most.

    Examples
    --------
    >>> memory = empty_memory(4)
    >>> put(memory, 0, 1, 10, 4.0); put(memory, 2, 2, 10, 8.0); put(memory, 3, 3, 10, 4.0)
    >>> leaders(memory, 9).tolist(), leaders(memory, 2).tolist()
    ([2, 3, 0], [2, 3])
    """
    found, size = np.empty(min(most, memory.arrival.size), np.int64), 0
    for slot in range(memory.arrival.size):
        if memory.arrival[slot] > 0:
            place = size
            while place > 0 and _is_ahead(memory, slot, found[place - 1]):
                place -= 1
            if place < found.size:
                size = min(size + 1, found.size)
                for behind in range(size - 1, place, -1):
                    found[behind] = found[behind - 1]
                found[place] = slot
    return found[:size]


@njit
def _is_ahead(memory: Memory, slot: int, other: int) -> bool:
    """Tell whether the arm in `slot` has the higher empirical mean, or the same and is newer."""
    mean, its = mean_of(memory, slot), mean_of(memory, other)
    return mean > its or (mean == its and memory.arrival[slot] > memory.arrival[other])


@njit
def note_highest(highest: npt.NDArray[np.float64], mean: float) -> None:
    """Let a mean take its place among the highest, which fall; the lowest of them goes.

    >>> highest = np.array([0.9, 0.5, 0.2])
    >>> note_highest(highest, 0.6); highest.tolist()
    [0.9, 0.6, 0.5]
    """
    place = highest.size - 1
    if mean > highest[place]:
        while place > 0 and highest[place - 1] < mean:
            highest[place] = highest[place - 1]
            place -= 1
        highest[place] = mean


@njit
def oldest_first(memory: Memory, arrival: int) -> npt.NDArray[np.int64]:
    """Return the slots of a full memory in the order of arrival, with -1 where the arm given belongs."""
    slots = memory.arrival.size
    order = np.empty(slots + 1, np.int64)
    for slot in range(-1, slots):
        number = arrival if slot < 0 else memory.arrival[slot]
        place = slot + 1
        while place > 0:
            before = order[place - 1]
            if (arrival if before < 0 else memory.arrival[before]) < number:
                break
            order[place] = before
            place -= 1
        order[place] = slot
    return order
