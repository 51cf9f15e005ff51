"""The compiled loop of exploration: a block of arms runs through keep rule x pull rule.

Rules are the very functions that live agents use, picked by a small whole number; see `bestbefore.keep.admit`.
"""

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from bestbefore import rules
from bestbefore._jit import njit
from bestbefore.keep import admit, king
from bestbefore.memory import Memory, count, empty_memory, expire, leader, put
from bestbefore.pull.challenge import (
    CHALLENGER_SIDE,
    KING_SIDE,
    WANTED,
    Duel,
    challenger_won,
    crown,
    fight,
    is_over,
    judge,
    peaceful_duel,
    start_challenge,
)
from bestbefore.simulate.rewards import total_of
from bestbefore.simulate.truth import NOW, Errors, Queue, empty_queue, next_best, no_errors, record, with_room
from bestbefore.streams import Arms
from bestbefore.streams.stream import bernoulli

PULLS: Final = 0
PEAK: Final = 1

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


class Run(NamedTuple):
    """All that a run carries from block to block.

    `known` has, for each slot, its arm as a row: a copy of what the stream said of it, since a king is pulled again.
    """

    memory: Memory
    known: Arms
    duel: Duel
    queue: Queue
    errors: Errors
    counts: Ints


class Settings(NamedTuple):
    """What a run is told: the rule, W, epsilon, the slack of `staircase`, and the unit of pulls of `king`."""

    rule: int
    window: int
    epsilon: float
    slack: float
    unit: float


def start_run(slots: int, length: int) -> Run:
    """Make the state before the first arrival of a stream of `length` arms."""
    known = bernoulli(np.zeros(slots))
    return Run(empty_memory(slots), known, peaceful_duel(), empty_queue(0), no_errors(length), np.zeros(2, np.int64))


def with_room_for(run: Run, arms: Arms) -> Run:
    """Return the same state with room for a block of arms and their kind of rewards."""
    slots, levels = run.memory.arrival.size, arms.levels.size
    weights = run.known.weights if run.known.levels.size == levels else np.zeros((slots, levels))
    known = Arms(run.known.means, arms.levels, weights, arms.sigma)
    return run._replace(known=known, queue=with_room(run.queue, arms.means.size))


@njit
def explore_block(
    run: Run,
    arms: Arms,
    pulls: Ints,
    settings: Settings,
    rewards: np.random.Generator,
    luck: np.random.Generator,
    answers: Ints,
    errors: Floats,
) -> None:
    """Run a block of arms, arm i pulled pulls[i] times; fill `answers` (arrivals, 0 for none) and `errors` if given."""
    for arm in range(arms.means.size):
        best = next_best(run.queue, arms.means[arm], settings.window)
        now = run.queue.marks[NOW]
        expire(run.memory, now - settings.window + 1)
        if settings.rule == rules.KING:
            slot = _challenge(run, arms, arm, now, settings, rewards)
        else:
            total = total_of(arms, arm, pulls[arm], rewards)
            run.counts[PULLS] += pulls[arm]
            coin = luck.random() if settings.rule == rules.RESERVOIR else 0.0
            slot = admit(settings.rule, run.memory, now, pulls[arm], total, now, settings.window, settings.slack, coin)
        if slot >= 0:
            run.known.means[slot] = arms.means[arm]
            if arms.levels.size > 0:
                run.known.weights[slot, :] = arms.weights[arm, :]
        run.counts[PEAK] = max(run.counts[PEAK], count(run.memory))
        answer = leader(run.memory)
        error = best - run.known.means[answer] if answer >= 0 else best
        record(run.errors, error, settings.epsilon)
        if answers.size > 0:
            answers[arm] = run.memory.arrival[answer] if answer >= 0 else 0
            errors[arm] = error


@njit
def _challenge(run: Run, arms: Arms, arm: int, now: int, settings: Settings, rewards: np.random.Generator) -> int:
    """Let the arriving arm challenge the king; return the slot of the throne if it takes it, or -1."""
    memory, duel = run.memory, run.duel
    if memory.arrival[0] == 0:
        crown(duel)
        return king(memory, now, 0, 0.0)
    pulls, total = 0, 0.0
    start_challenge(duel, settings.unit)
    while not is_over(duel):
        wanted = duel.counts[WANTED]
        king_total = total_of(run.known, 0, wanted, rewards)
        arm_total = total_of(arms, arm, wanted, rewards)
        put(memory, 0, memory.arrival[0], memory.pulls[0] + wanted, memory.total[0] + king_total)
        pulls, total = pulls + wanted, total + arm_total
        run.counts[PULLS] += 2 * wanted
        fight(duel, KING_SIDE, wanted, king_total)
        fight(duel, CHALLENGER_SIDE, wanted, arm_total)
        judge(duel, settings.unit, settings.epsilon)
    if not challenger_won(duel):
        return -1
    crown(duel)
    return king(memory, now, pulls, total)
