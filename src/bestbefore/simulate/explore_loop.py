"""The compiled loop of exploration: a block of arms runs through probe rule x keep rule.

Rules are the very functions that live agents use, picked by their numbers; a user's own comes as a pointer.
"""

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from bestbefore._jit import njit
from bestbefore.keep import king
from bestbefore.memory import Memory, Moment, count, empty_memory, expire, leader, put
from bestbefore.probe.challenge import (
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
from bestbefore.rules import PROBE
from bestbefore.simulate.admission import admitted
from bestbefore.simulate.oracle import (
    ARRIVALS,
    NOW,
    Errors,
    Queue,
    empty_queue,
    next_best,
    no_errors,
    note_arm,
    number_of,
    record,
    true_arms,
    with_room,
)
from bestbefore.simulate.ranks import Ranks, next_means, no_ranks, take_leaders
from bestbefore.simulate.ranks import with_room as with_room_of_ranks
from bestbefore.simulate.rewards import total_of
from bestbefore.streams import Arms

FIXED: Final = PROBE["fixed"].number
CHALLENGE: Final = PROBE["challenge"].number

PULLS: Final = 0
PEAK: Final = 1

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


class Run(NamedTuple):
    """All that a run carries from block to block; `true` has a row for each slot, its arm as the stream gave it."""

    memory: Memory
    true: Arms
    duel: Duel
    queue: Queue
    errors: Errors
    counts: Ints
    ranks: Ranks


class Settings(NamedTuple):
    """What a run is told: the rules, W, epsilon, the slack of `staircase`, and the unit of pulls of `king`.

    `ranks` are kept, and the best `top` of them judged.
    """

    probe: int
    keep: int
    draws: bool
    window: int
    epsilon: float
    slack: float
    unit: float
    ranks: int
    top: int


def start_run(slots: int, length: int, ranks: Ranks | None = None) -> Run:
    """Make the state before the first arrival of a stream of `length` arms; `ranks` if more than one is judged."""
    memory, counts = empty_memory(slots), np.zeros(2, np.int64)
    state = memory, true_arms(slots), peaceful_duel(), empty_queue(0), no_errors(length), counts
    return Run(*state, no_ranks(1) if ranks is None else ranks)


def with_room_for(run: Run, arms: Arms) -> Run:
    """Return the same state with room for a block of arms and their kind of rewards."""
    true = true_arms(run.memory.arrival.size, arms, run.true)
    size = arms.means.size
    return run._replace(true=true, queue=with_room(run.queue, size), ranks=with_room_of_ranks(run.ranks, size))


@njit
def explore_block(
    run: Run,
    arms: Arms,
    tests: Ints,
    settings: Settings,
    own: Any,
    rewards: np.random.Generator,
    rng: np.random.Generator,
    answers: Ints,
    errors: Floats,
) -> None:
    """Run a block of arms, arm i tested by tests[i] pulls; fill `answers` (numbers, 0 for none) and `errors` if given.

    `own` is the pointer of a user's own keep rule, or None.
    """
    for arm in range(arms.means.size):
        best = next_best(run.queue, arms.means[arm], settings.window, number_of(arms, arm))
        now, arrivals = run.queue.marks[NOW], run.queue.marks[ARRIVALS]
        expire(run.memory, now - settings.window + 1)
        if settings.probe == FIXED:
            total = total_of(arms, arm, tests[arm], rewards)
            run.counts[PULLS] += tests[arm]
            coin = rng.random() if settings.draws else 0.0
            moment = Moment(now, settings.window, arrivals, settings.slack, coin, settings.ranks)
            slot = admitted(settings.keep, own, run.memory, now, tests[arm], total, moment)
        elif settings.probe == CHALLENGE:
            slot = _challenge(run, arms, arm, now, settings, rewards)
        else:
            raise ValueError("no probe rule of exploration has this number")
        if slot >= 0:
            note_arm(run.true, slot, arms, arm)
        run.counts[PEAK] = max(run.counts[PEAK], count(run.memory))
        answer = leader(run.memory)
        error = best - run.true.means[answer] if answer >= 0 else best
        record(run.errors, error, settings.epsilon)
        if answers.size > 0:
            answers[arm] = run.memory.arrival[answer] if answer >= 0 else 0
            errors[arm] = error
        if settings.top > 1:
            next_means(run.ranks, now, arms.means[arm], now - settings.window + 1)
            take_leaders(run.ranks, run.memory, run.true.means, settings.epsilon)


@njit
def _challenge(run: Run, arms: Arms, arm: int, now: int, settings: Settings, rewards: np.random.Generator) -> int:
    """Let the arriving arm challenge the king; return the slot of the throne if it takes it, or -1."""
    memory, duel = run.memory, run.duel
    moment = Moment(now, settings.window, run.queue.marks[ARRIVALS], 0.0, 0.0, 1)
    if memory.arrival[0] == 0:
        crown(duel)
        return king.admit(memory, now, 0, 0.0, moment)
    pulls, total = 0, 0.0
    start_challenge(duel, settings.unit)
    while not is_over(duel):
        wanted = duel.counts[WANTED]
        king_total = total_of(run.true, 0, wanted, rewards)
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
    return king.admit(memory, now, pulls, total, moment)
