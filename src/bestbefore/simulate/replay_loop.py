"""The compiled loop of a replay: a player meets the rows of a log one by one, and learns from them.

It decides as a live `Player` does that is told no budget and each reward at once; `tests/replay` compares the two.
"""

import math
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from bestbefore._jit import njit
from bestbefore.keep import admit
from bestbefore.memory import Memory, Moment, count, expire
from bestbefore.noise import BOUNDED
from bestbefore.plan.defaults import LEARNT_EPOCHS
from bestbefore.pull import choose, dispersion_of, highest, horizon_of, shade, youth_of

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

(N, W, W2, WR, W2R, W2R2, WR2, R, R2, MATCHED, UNSEEN, TRUE, PICKED, W_TRUE) = range(14)
SUMS: Final = 14
"""What is summed up: rows with a choice; weights, and their products with rewards; rewards; matches; choices of arms
that are not shown any more; for tests, the true means of choices, choices accepted, and true means of those."""


class Rule(NamedTuple):
    """The player."""

    keep: int
    draws: bool
    pull: int
    by_index: bool
    window: int
    by_time: bool
    delta: float
    tests: int


class World(NamedTuple):
    """The log, in the order of time; `numbers`, `enters`, `leaves` and `truth` have an element for each arm."""

    arms: Ints
    rewards: Floats
    times: Ints
    chances: Floats
    numbers: Ints
    enters: Ints
    order: Ints
    leaves: Ints
    truth: Floats


@njit
def replay(
    world: World, rule: Rule, memory: Memory, floor: float, rng: np.random.Generator, sums: Floats, choices: Ints
) -> None:
    """Let a player choose before each row; fill `sums`, and `choices` if there is room (-1 where nothing is stored).

    With a `floor` of 0 it learns from all rows, and a row whose arm it has chosen has the weight 1 / probability.  With
    a floor above 0 it learns only from rows that are accepted: those whose arm it has chosen, with the probability
    floor / probability.
    """
    slots = memory.arrival.size
    who, shades, losses, odds = np.zeros(slots, np.int64), np.zeros(slots), np.zeros(slots), np.zeros(slots)
    entered, newest, youth, dispersion = 0, 0, 1.0, 1.0
    spent, pace, epochs, begun = 0, 0.0, 0.0, False
    fresh, slot = True, -1
    for row in range(world.arms.size):
        now = max(world.times[row] + 1, newest) if rule.by_time else newest
        while entered < world.order.size and world.enters[world.order[entered]] <= row:
            arm = world.order[entered]
            entered += 1
            newest = world.numbers[arm]
            now = max(now, newest)
            expire(memory, now - rule.window + 1)
            coin = rng.random() if rule.draws else 0.0
            taken = admit(rule.keep, memory, newest, 0, 0.0, Moment(now, rule.window, entered, 0.0, coin, 1))
            if taken >= 0:
                who[taken] = arm
                shades[taken] = 0.0
            if begun:
                epochs = min(epochs + 1.0, LEARNT_EPOCHS)
                pace += (spent - pace) / epochs
            begun, spent, fresh = True, 0, True
            youth, dispersion = youth_of(memory, now, rule.window, BOUNDED), dispersion_of(memory, shades)
            losses[:] = 0.0
        if rule.by_time:
            for place in range(slots):
                if 0 < memory.arrival[place] < now - rule.window + 1:
                    fresh = True
            expire(memory, now - rule.window + 1)
        if fresh or not rule.by_index:
            slot, fresh = _choice(memory, rule, spent, pace, youth, dispersion, losses, odds, rng), False
        if choices.size > 0:
            choices[row] = who[slot] if slot >= 0 else -1
        if slot < 0:
            continue
        shown, reward, chance = world.arms[row], world.rewards[row], world.chances[row]
        sums[N] += 1
        sums[R] += reward
        sums[R2] += reward * reward
        sums[TRUE] += world.truth[who[slot]]
        if row > world.leaves[who[slot]]:
            sums[UNSEEN] += 1
        learns = slot if who[slot] == shown else -1
        if learns >= 0:
            sums[MATCHED] += 1
            if floor > 0 and not rng.random() * chance < floor:
                learns = -1
            else:
                weight = 1.0 if floor > 0 else 1 / chance
                sums[W] += weight
                sums[W2] += weight * weight
                sums[WR] += weight * reward
                sums[W2R] += weight * weight * reward
                sums[W2R2] += (weight * reward) ** 2
                sums[WR2] += weight * reward * reward
                sums[PICKED] += 1
                sums[W_TRUE] += world.truth[shown]
        elif floor == 0:
            for place in range(slots):
                if memory.arrival[place] > 0 and who[place] == shown:
                    learns = place
        if learns >= 0:
            memory.pulls[learns] += 1
            memory.total[learns] += reward
            shades[learns] += shade(reward)
            losses[learns] += (1 - reward) / chance
            spent += 1
            fresh = True


@njit
def _choice(
    memory: Memory,
    rule: Rule,
    spent: int,
    pace: float,
    youth: float,
    dispersion: float,
    losses: Floats,
    odds: Floats,
    rng: np.random.Generator,
) -> int:
    """Return the slot that the player would pull now, or -1."""
    stored = count(memory)
    if stored == 0:
        return -1
    if rule.by_index:
        traffic = max(math.ceil(pace), spent + 1)
        horizon = horizon_of(traffic, stored, rule.delta, rule.tests, BOUNDED, youth, dispersion)
        best: int = highest(rule.pull, memory, horizon)
        return best
    for slot in range(memory.arrival.size):
        if memory.arrival[slot] == 0:
            losses[slot] = np.inf
        elif losses[slot] == np.inf:
            losses[slot] = 0.0
    drawn: int = choose(rule.pull, memory, losses, odds, spent + 1, BOUNDED, rng)[0]
    return drawn
