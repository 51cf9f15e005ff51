"""Staircase: drop what can never be the answer again, and give up a step only when memory is full.

An arm that is older than another and no better can never be the answer again: it is dropped, at no cost.  The arms that
are left, from oldest to newest, fall in mean like a staircase; in random order there are about ln W steps.

When m slots are full and there is one step too many, one of the m + 1 candidates goes.  Let a_1 > a_2 > ... be their
ages from oldest to newest (an arm that has just arrived has age 1), a_0 = W + 1, and mu_1 > mu_2 > ... their means.

- *What a drop costs.*  Without step i, step i + 1 answers in its place, for a_(i-1) - a_i arrivals.  In random order
  step i, the best of the last a_i arms, is still the best after k more with probability a_i / (a_i + k): the older it
  is, the likelier it is to be needed.  So dropping it costs about (mu_i - mu_(i+1)) a_i (a_(i-1) - a_i), in a unit that
  does not matter.  For the newest arm, which only arms to come can replace, the cost is a third of
  mu (a_(m) - a_(m+1)); the third was found by trial.
- *What may be dropped.*  Cut [0, 1] into m + 1 equal cells.  A step may go if the next newer one is in its cell.  The
  newest may go if it is in the lowest cell.  It may also be *passed over* if it is the arm whose test has just ended
  and the step before it is at most slack W / m arrivals older.
- Of the candidates that may go, the one that costs least goes.  There is always one: if the newest is not in the lowest
  cell, m + 1 falling means share m cells, so two neighbours share one.

The promise: at every time, every arm of the last W - floor(slack W / m) arrivals, unless it is in the lowest cell, has
a stored arm in its cell or a higher one.  So the empirical mean of the answer is within 1 / (m + 1) of the best of all
valid arms but the *oldest* floor(slack W / m).  With slack 0 that is the whole window, where `bucket` promises 1 / m;
with slack m or more it is nothing.  In return, slack saves the slot of a newest arm that will hardly be needed, which
matters when slots are few.  docs/theory.md has the proof, and docs/keep-rules.md shows the trade.

>>> from bestbefore.memory import empty_memory
>>> memory = empty_memory(2)
>>> def arrive(arrival, mean):
...     moment = Moment(now=arrival, window=9, arrivals=arrival, slack=0.0, coin=0.0)
...     return admit(memory, arrival, 100, 100 * mean, moment)
>>> arrive(1, 0.9), arrive(2, 0.3), arrive(3, 0.5)           # the arm of 0.3 is older and no better: dropped
(0, 1, 1)
>>> arrive(4, 0.45)                                          # full; 0.5 and 0.45 share a cell: 0.5 gives way
1
>>> memory.arrival.tolist()
[1, 4]
"""

import numpy as np
import numpy.typing as npt

from bestbefore._jit import njit
from bestbefore.keep.bucket import slice_of
from bestbefore.keep.topk import free_or_unpulled
from bestbefore.memory import Memory, Moment, drop, free_slot, mean_of, put


@njit
def admit(memory: Memory, arrival: int, pulls: int, total: float, moment: Moment) -> int:
    """Store the arm in a free slot, or in place of the step that costs least; return the slot, or -1."""
    if pulls == 0:
        slot = _room(memory, moment.now, moment.window)
        put(memory, slot, arrival, 0, 0.0)
        return slot
    mean = total / pulls
    if _drop_dominated(memory, arrival, mean):
        return -1
    slot = free_slot(memory)
    if slot < 0:
        slot = _least_loss(memory, arrival, mean, moment)
    if slot >= 0:
        put(memory, slot, arrival, pulls, total)
    return slot


@njit
def _drop_dominated(memory: Memory, arrival: int, mean: float) -> bool:
    """Drop every arm that is older than the given one and no better; tell whether the given one is such itself."""
    dominated = False
    for slot in range(memory.arrival.size):
        if memory.arrival[slot] > 0:
            other = mean_of(memory, slot)
            if memory.arrival[slot] < arrival and other <= mean:
                drop(memory, slot)
            elif memory.arrival[slot] > arrival and other >= mean:
                dominated = True
    return dominated


@njit
def _least_loss(memory: Memory, arrival: int, mean: float, moment: Moment) -> int:
    """Return the slot whose arm may go at the least cost, or -1 if that is the arm given."""
    slots = memory.arrival.size
    order = _oldest_first(memory, arrival)
    means = np.empty(slots + 1)
    for step in range(slots + 1):
        means[step] = mean if order[step] < 0 else mean_of(memory, order[step])
    cheapest, least, age_before = -1, np.inf, moment.window + 1
    for step in range(slots + 1):
        age = moment.now + 1 - (arrival if order[step] < 0 else memory.arrival[order[step]])
        answers = age_before - age
        cell = slice_of(means[step], slots + 1)
        if step < slots:
            may_go = cell == slice_of(means[step + 1], slots + 1)
            loss = (means[step] - means[step + 1]) * age * answers
        else:
            # An arm that is stored is not passed over: others may have been passed over in its favour.
            passed_over = order[step] < 0 and answers * slots <= moment.slack * moment.window
            may_go = cell == 0 or passed_over
            loss = max(means[step], 0.0) * answers / 3  # by trial: less is better in random order, worse in falls
        if may_go and loss < least:
            cheapest, least = order[step], loss
        age_before = age
    return cheapest


@njit
def _room(memory: Memory, now: int, window: int) -> int:
    """Return a slot for an arm that was not pulled yet: a free one, else of the worst arm that is older and no better.

    If there is none, the means fall like a staircase, and the step goes whose drop costs least.  Means are uncertain
    here, so nothing is dropped before its slot is needed; arms that were never pulled have no place on the stairs.
    """
    slot = free_or_unpulled(memory)
    if slot >= 0:
        return slot
    order = _oldest_first(memory, now + 1)  # the arm that needs room comes last, and is left out
    best_newer, worst = -np.inf, -1
    for step in range(memory.arrival.size - 1, -1, -1):
        slot = order[step]
        if memory.pulls[slot] > 0:
            mean = mean_of(memory, slot)
            if mean <= best_newer and (worst < 0 or mean < mean_of(memory, worst)):
                worst = slot
            best_newer = max(best_newer, mean)
    return worst if worst >= 0 else _cheapest_step(memory, order, now, window)


@njit
def _cheapest_step(memory: Memory, order: npt.NDArray[np.int64], now: int, window: int) -> int:
    """Return the slot of the step whose drop costs least, or of the oldest arm if none was ever pulled."""
    cheapest, least = -1, np.inf
    last, below, age_before = -1, 0.0, window + 1
    ages_before = np.empty(memory.arrival.size)
    for step in range(memory.arrival.size):  # the age of the next older step
        slot = order[step]
        ages_before[slot] = age_before
        if memory.pulls[slot] > 0:
            age_before = now + 1 - memory.arrival[slot]
    for step in range(memory.arrival.size - 1, -1, -1):
        last = order[step]
        if memory.pulls[last] > 0:
            mean, age = mean_of(memory, last), now + 1 - memory.arrival[last]
            loss = (mean - below) * age * (ages_before[last] - age)
            if loss < least:
                cheapest, least = last, loss
            below = mean
    return cheapest if cheapest >= 0 else order[0]


@njit
def _oldest_first(memory: Memory, arrival: int) -> npt.NDArray[np.int64]:
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
