"""The compiled loop of epoch-wise regret: arms arrive, the keep rule makes room, the pull rule spends the budget."""

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from bestbefore import rules
from bestbefore._jit import njit
from bestbefore.keep import make_room
from bestbefore.memory import Memory, count, empty_memory, expire
from bestbefore.pull.choose import horizon_of
from bestbefore.pull.inf import drawn_place, inf_odds
from bestbefore.pull.thompson import thompson_slot
from bestbefore.simulate.leaps import Heap, empty_heap, play_leaping
from bestbefore.simulate.rewards import one_reward
from bestbefore.simulate.truth import NOW, Queue, empty_queue, next_best, with_room
from bestbefore.streams import Arms
from bestbefore.streams.stream import bernoulli

PULLS: Final = 0
PEAK: Final = 1
SWITCHES: Final = 2
LAST: Final = 3  # the arrival that was pulled last

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


class Play(NamedTuple):
    """All that a run carries from block to block; `known` has a row for each slot: its arm as the stream gave it."""

    memory: Memory
    known: Arms
    queue: Queue
    heap: Heap
    spent: Ints  # pulls of each slot in this epoch
    counts: Ints
    regret: Floats


class Settings(NamedTuple):
    """What a run is told."""

    keep: int
    pull: int
    window: int
    delta: float
    s: int
    carry: bool
    leaps: bool


def start_play(slots: int) -> Play:
    """Make the state before the first arrival."""
    known = bernoulli(np.zeros(slots))
    spent, counts = np.zeros(slots, np.int64), np.zeros(4, np.int64)
    return Play(empty_memory(slots), known, empty_queue(0), empty_heap(slots, 0), spent, counts, np.zeros(1))


def play_with_room_for(play: Play, arms: Arms) -> Play:
    """Return the same state with room for a block of arms and their kind of rewards."""
    slots, levels = play.memory.arrival.size, arms.levels.size
    weights = play.known.weights if play.known.levels.size == levels else np.zeros((slots, levels))
    known = Arms(play.known.means, arms.levels, weights, arms.sigma)
    heap = play.heap if play.heap.drawn.size >= levels else empty_heap(slots, levels)
    return play._replace(known=known, queue=with_room(play.queue, arms.means.size), heap=heap)


@njit
def play_block(
    play: Play,
    arms: Arms,
    budgets: Ints,
    settings: Settings,
    rewards: np.random.Generator,
    luck: np.random.Generator,
    regrets: Floats,
) -> None:
    """Play a block of arms, where arm i comes with budgets[i] pulls; fill `regrets`, of each arrival, if given."""
    memory, known = play.memory, play.known
    for arm in range(arms.means.size):
        best = next_best(play.queue, arms.means[arm], settings.window)
        now = play.queue.marks[NOW]
        expire(memory, now - settings.window + 1)
        coin = luck.random() if settings.keep == rules.RESERVOIR else 0.0
        slot = make_room(settings.keep, memory, now, settings.window, coin)
        if slot >= 0:
            known.means[slot] = arms.means[arm]
            if arms.levels.size > 0:
                known.weights[slot, :] = arms.weights[arm, :]
        stored = count(memory)
        play.counts[PEAK] = max(play.counts[PEAK], stored)
        lost = 0.0
        if budgets[arm] > 0:
            if not settings.carry:
                memory.pulls[:] = 0
                memory.total[:] = 0.0
            play.spent[:] = 0
            _spend(play, settings, budgets[arm], stored, rewards, luck)
            for slot in range(memory.arrival.size):
                lost += play.spent[slot] * (best - known.means[slot])
                play.counts[PULLS] += play.spent[slot]
        play.regret[0] += lost
        if regrets.size > 0:
            regrets[arm] = lost


@njit
def _spend(
    play: Play,
    settings: Settings,
    budget: int,
    stored: int,
    rewards: np.random.Generator,
    luck: np.random.Generator,
) -> None:
    """Spend the budget of an epoch by the pull rule."""
    if settings.pull == rules.THOMPSON:
        _thompson(play, budget, rewards, luck)
    elif settings.pull == rules.INF:
        _inf(play, budget, stored, rewards, luck)
    else:
        horizon = horizon_of(budget, stored, settings.delta, settings.s, play.known.sigma)
        leaps = settings.leaps and play.known.sigma == 0
        switches, play.counts[LAST] = play_leaping(
            play.memory,
            play.known,
            settings.pull,
            budget,
            horizon,
            leaps,
            rewards,
            play.heap,
            play.spent,
            play.counts[LAST],
        )
        play.counts[SWITCHES] += switches


@njit
def _pull(play: Play, slot: int, rewards: np.random.Generator) -> float:
    """Pull the arm in a slot once, and take note."""
    reward = one_reward(play.known, slot, rewards)
    play.memory.pulls[slot] += 1
    play.memory.total[slot] += reward
    play.spent[slot] += 1
    if play.memory.arrival[slot] != play.counts[LAST]:
        play.counts[SWITCHES] += 1
        play.counts[LAST] = play.memory.arrival[slot]
    return reward


@njit
def _thompson(play: Play, budget: int, rewards: np.random.Generator, luck: np.random.Generator) -> None:
    """Spend a budget by Thompson sampling."""
    for _ in range(budget):
        _pull(play, thompson_slot(play.memory, play.known.sigma, luck), rewards)


@njit
def _inf(play: Play, budget: int, stored: int, rewards: np.random.Generator, luck: np.random.Generator) -> None:
    """Spend a budget by Tsallis-INF, from a fresh start."""
    slots = np.empty(stored, np.int64)
    place = 0
    for slot in range(play.memory.arrival.size):
        if play.memory.arrival[slot] > 0:
            slots[place] = slot
            place += 1
    losses, odds = np.zeros(stored), np.zeros(stored)
    for time in range(1, budget + 1):
        inf_odds(losses, time, odds)
        place = drawn_place(odds, luck.random())
        losses[place] += (1 - _pull(play, slots[place], rewards)) / odds[place]
