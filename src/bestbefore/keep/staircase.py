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

For the best k, `ranks` is k.  An arm can never be one of the best k again once k newer ones are no worse.  What is left
are the arms of the *k-skyband*, in random order about k (1 + ln(W / k)).  The rest is as above, with k-th neighbours,
and m / k + 1 cells, m / k rounded down:

- An arm is one of the best k once fewer than k better ones are left: a_(i-1) is the age of the one that has to expire
  for that.  In the end the k-th best of newer arms answers in its place: mu_(i+1) is the k-th highest mean among them.
  The cost is as above, times (a_(i-1) / W)^(k-1): the more arms it is among the best k of, the more it takes to push it
  out.  That was found by trial.
- An arm may go if k newer ones are in its cell or a higher one, or if it is in the lowest cell.  At most k arms of each
  other cell may not, k (m / k) in all; so of m + 1 candidates one may.  It may be passed over if k arms that are no
  worse are older by slack W / (m / k) at most.

At every time, each arm that counts is stored, or in the lowest cell, or has k stored arms in its cell or a higher one.
So the r-th answer is within a cell of the r-th best, for each r up to k.

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
from bestbefore.memory import Memory, Moment, drop, free_slot, mean_of, note_highest, oldest_first, put


@njit
def admit(memory: Memory, arrival: int, pulls: int, total: float, moment: Moment) -> int:
    """Store the arm in a free slot, or in place of the step that costs least; return the slot, or -1."""
    if pulls == 0:
        slot = _room(memory, moment.now, moment.window)
        put(memory, slot, arrival, 0, 0.0)
        return slot
    mean = total / pulls
    if _drop_dominated(memory, arrival, mean, moment.ranks):
        return -1
    slot = free_slot(memory)
    if slot < 0:
        slot = _least_loss(memory, arrival, mean, moment)
    if slot >= 0:
        put(memory, slot, arrival, pulls, total)
    return slot


@njit
def _drop_dominated(memory: Memory, arrival: int, mean: float, ranks: int) -> bool:
    """Drop every arm that now has `ranks` newer ones no worse; tell whether the given arm is such itself."""
    beaten = 0
    for slot in range(memory.arrival.size):
        if memory.arrival[slot] > 0:
            other = mean_of(memory, slot)
            if memory.arrival[slot] < arrival and other <= mean:
                if ranks == 1 or 1 + _newer_no_worse(memory, slot) >= ranks:
                    drop(memory, slot)
            elif memory.arrival[slot] > arrival and other >= mean:
                beaten += 1
    return beaten >= ranks


@njit
def _newer_no_worse(memory: Memory, slot: int) -> int:
    """Count the arms stored that are newer than the one in `slot` and no worse."""
    found, mean = 0, mean_of(memory, slot)
    for other in range(memory.arrival.size):
        found += memory.arrival[other] > memory.arrival[slot] and mean_of(memory, other) >= mean
    return found


@njit
def _least_loss(memory: Memory, arrival: int, mean: float, moment: Moment) -> int:
    """Return the slot whose arm may go at the least cost, or -1 if that is the arm given; of equals, the oldest."""
    slots, ranks = memory.arrival.size, moment.ranks
    cells = slots // ranks + 1
    order = oldest_first(memory, arrival)
    means, ages = np.empty(slots + 1), np.empty(slots + 1, np.int64)
    for step in range(slots + 1):
        means[step] = mean if order[step] < 0 else mean_of(memory, order[step])
        ages[step] = moment.now + 1 - (arrival if order[step] < 0 else memory.arrival[order[step]])
    cheapest, least = -1, np.inf
    newer = np.full(ranks, -np.inf)  # the highest means of newer arms, falling
    for step in range(slots, -1, -1):
        until = _age_of_last_better(means, ages, step, newer, moment.window)
        answers = until - ages[step]
        lasts = (until / moment.window) ** (ranks - 1)
        cell = slice_of(means[step], cells)
        if step <= slots - ranks:
            may_go = cell == slice_of(newer[-1], cells)
            loss = (means[step] - newer[-1]) * ages[step] * answers * lasts
        else:
            # An arm that is stored is not passed over: others may have been passed over in its favour.
            passed_over = order[step] < 0 and answers * (slots // ranks) <= moment.slack * moment.window
            may_go = cell == 0 or passed_over
            loss = max(means[step], 0.0) * answers / 3 * lasts  # by trial: less is better in random order, not in falls
        if may_go and loss <= least:
            cheapest, least = order[step], loss
        note_highest(newer, means[step])
    return cheapest


@njit
def _age_of_last_better(
    means: npt.NDArray[np.float64],
    ages: npt.NDArray[np.int64],
    step: int,
    newer: npt.NDArray[np.float64],
    window: int,
) -> int:
    """Return the age of the arm that has to expire before the one of this step is among the best `newer.size`.

    That many arms are better now, or as good and newer: the last of them to expire that is older.  It is W + 1 if there
    are fewer, and the arm is among the best by now.
    """
    better = 0
    while better < newer.size and newer[better] >= means[step]:
        better += 1
    for older in range(step - 1, -1, -1):
        better += means[older] > means[step]
        if better >= newer.size:
            return ages[older]  # type: ignore[no-any-return]
    return window + 1


@njit
def _room(memory: Memory, now: int, window: int) -> int:
    """Return a slot for an arm that was not pulled yet: a free one, else of the worst arm that is older and no better.

    If there is none, the means fall like a staircase, and the step goes whose drop costs least.  Means are uncertain
    here, so nothing is dropped before its slot is needed; arms that were never pulled have no place on the stairs.
    """
    slot = free_or_unpulled(memory)
    if slot >= 0:
        return slot
    order = oldest_first(memory, now + 1)  # the arm that needs room comes last, and is left out
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
