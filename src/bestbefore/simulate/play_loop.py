"""The compiled loop of epoch-wise regret: arms arrive, the keep rule makes room, the pull rule spends the budget."""

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from bestbefore._jit import njit
from bestbefore.memory import Memory, Moment, count, empty_memory, expire
from bestbefore.pull import choose, dispersion_of, horizon_of, youth_of
from bestbefore.simulate.admission import admitted
from bestbefore.simulate.leaps import Heap, empty_heap, play_leaping
from bestbefore.simulate.oracle import (
    ARRIVALS,
    NOW,
    Queue,
    empty_queue,
    next_best,
    note_arm,
    number_of,
    true_arms,
    with_room,
)
from bestbefore.simulate.rewards import one_reward
from bestbefore.streams import Arms

PULLS: Final = 0
PEAK: Final = 1
SWITCHES: Final = 2
LAST: Final = 3  # the arrival that was pulled last

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


class Play(NamedTuple):
    """All that a run carries from block to block; `true` has a row for each slot, its arm as the stream gave it."""

    memory: Memory
    true: Arms
    queue: Queue
    heap: Heap
    spent: Ints  # pulls of each slot in this epoch
    shades: Floats  # the sum of r (1 - r) over the rewards of each slot
    losses: Floats  # estimated, of each slot in this epoch, for rules that know their odds
    odds: Floats
    counts: Ints
    regret: Floats


class Settings(NamedTuple):
    """What a run is told."""

    keep: int
    draws: bool
    pull: int
    by_index: bool
    window: int
    delta: float
    tests: int
    carry: bool
    leaps: bool


def start_play(slots: int) -> Play:
    """Make the state before the first arrival."""
    memory, true, heap = empty_memory(slots), true_arms(slots), empty_heap(slots, 0)
    spent, counts = np.zeros(slots, np.int64), np.zeros(4, np.int64)
    shades, losses, odds = np.zeros(slots), np.zeros(slots), np.zeros(slots)
    return Play(memory, true, empty_queue(0), heap, spent, shades, losses, odds, counts, np.zeros(1))


def play_with_room_for(play: Play, arms: Arms) -> Play:
    """Return the same state with room for a block of arms and their kind of rewards."""
    slots, levels = play.memory.arrival.size, arms.levels.size
    heap = play.heap if play.heap.drawn.size >= levels else empty_heap(slots, levels)
    return play._replace(
        true=true_arms(slots, arms, play.true), queue=with_room(play.queue, arms.means.size), heap=heap
    )


@njit
def play_block(
    play: Play,
    arms: Arms,
    budgets: Ints,
    settings: Settings,
    own_keep: Any,
    own_index: Any,
    rewards: np.random.Generator,
    rng: np.random.Generator,
    regrets: Floats,
) -> None:
    """Play a block of arms, where arm i comes with budgets[i] pulls; fill `regrets`, of each arrival, if given.

    `own_keep` and `own_index` are pointers of a user's own rules, or None.
    """
    memory, true = play.memory, play.true
    for arm in range(arms.means.size):
        best = next_best(play.queue, arms.means[arm], settings.window, number_of(arms, arm))
        now, arrivals = play.queue.marks[NOW], play.queue.marks[ARRIVALS]
        expire(memory, now - settings.window + 1)
        moment = Moment(now, settings.window, arrivals, 0.0, rng.random() if settings.draws else 0.0, 1)
        slot = admitted(settings.keep, own_keep, memory, now, 0, 0.0, moment)
        if slot >= 0:
            note_arm(true, slot, arms, arm)
            play.shades[slot] = 0.0
        stored = count(memory)
        play.counts[PEAK] = max(play.counts[PEAK], stored)
        lost = 0.0
        if budgets[arm] > 0:
            if stored == 0:
                raise ValueError("it must keep at least one arm that can be pulled")
            if not settings.carry:
                memory.pulls[:] = 0
                memory.total[:] = 0.0
                play.shades[:] = 0.0
            play.spent[:] = 0
            _spend(play, settings, own_index, budgets[arm], stored, now, rewards, rng)
            for slot in range(memory.arrival.size):
                lost += play.spent[slot] * (best - true.means[slot])
                play.counts[PULLS] += play.spent[slot]
        play.regret[0] += lost
        if regrets.size > 0:
            regrets[arm] = lost


@njit
def _spend(
    play: Play,
    settings: Settings,
    own_index: Any,
    budget: int,
    stored: int,
    now: int,
    rewards: np.random.Generator,
    rng: np.random.Generator,
) -> None:
    """Spend the budget of an epoch by the pull rule."""
    noise = play.true.noise
    if not settings.by_index:
        _draw(play, settings.pull, budget, rewards, rng)
        return
    youth = youth_of(play.memory, now, settings.window, noise)
    dispersion = dispersion_of(play.memory, play.shades) if noise.bounded else 1.0
    horizon = horizon_of(budget, stored, settings.delta, settings.tests, noise, youth, dispersion)
    switches, play.counts[LAST] = play_leaping(
        play.memory,
        play.true,
        settings.pull,
        own_index,
        budget,
        horizon,
        settings.leaps and noise.bounded,
        rewards,
        play.heap,
        play.spent,
        play.shades,
        play.counts[LAST],
    )
    play.counts[SWITCHES] += switches


@njit
def _draw(play: Play, pull: int, budget: int, rewards: np.random.Generator, rng: np.random.Generator) -> None:
    """Spend a budget by a rule that draws, one pull at a time; losses that it estimates begin at 0."""
    memory = play.memory
    for slot in range(memory.arrival.size):
        play.losses[slot] = 0.0 if memory.arrival[slot] > 0 else np.inf
    for time in range(1, budget + 1):
        slot, odds = choose(pull, memory, play.losses, play.odds, time, play.true.noise, rng)
        reward = one_reward(play.true, slot, rewards)
        memory.pulls[slot] += 1
        memory.total[slot] += reward
        play.spent[slot] += 1
        if odds > 0:
            play.losses[slot] += (1 - reward) / odds
        if memory.arrival[slot] != play.counts[LAST]:
            play.counts[SWITCHES] += 1
            play.counts[LAST] = memory.arrival[slot]
