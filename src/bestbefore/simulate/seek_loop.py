"""The compiled loop of the everlasting best arm: arms arrive and are tested, flags tell or not, the rest is spent."""

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from bestbefore._jit import njit
from bestbefore.keep.everlasting import RANK, WAIT, WEIGH, let_expire, narrow, settle
from bestbefore.memory import Memory, Moment, count, empty_memory, leader
from bestbefore.probe.race import bar_of, goes_on, rivals_after
from bestbefore.pull import horizon_of
from bestbefore.simulate.leaps import Heap, empty_heap, play_leaping
from bestbefore.simulate.oracle import note_arm, number_of, true_arms
from bestbefore.simulate.rewards import one_reward, total_of
from bestbefore.streams import Arms

NOW: Final = 0  # the number of the newest arrival on the stream's clock
PULLS: Final = 1  # on arms that were valid
WASTED: Final = 2  # on arms that had expired, of which nobody said so
PEAK: Final = 3
FOUND: Final = 4  # 1 once a flag has told which arm is the best
TESTS: Final = 5  # pulls before the rest was spent
ARRIVALS: Final = 6

EARNED: Final = 0  # the means of all valid pulls, summed up
RIVALS: Final = 1  # how many arms may be as good as the leader

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


class Seek(NamedTuple):
    """All that a run carries from block to block; `true` has a row for each slot, its arm as the stream gave it."""

    memory: Memory
    true: Arms
    heap: Heap
    spent: Ints
    counts: Ints
    sums: Floats


class Settings(NamedTuple):
    """What a run is told; `best` is the number of the best arm, which only flags know."""

    strategy: int
    explicit: bool
    pull: int
    window: int
    best: int
    budget: int
    tests: int
    log: float
    delta: float
    goes_on: bool


def start_seek(slots: int) -> Seek:
    """Make the state before the first arrival."""
    spent, counts = np.zeros(slots, np.int64), np.zeros(7, np.int64)
    return Seek(empty_memory(slots), true_arms(slots), empty_heap(slots, 0), spent, counts, np.zeros(2))


def seek_with_room_for(seek: Seek, arms: Arms) -> Seek:
    """Return the same state with room for a block of arms and their kind of rewards."""
    slots, levels = seek.memory.arrival.size, arms.levels.size
    heap = seek.heap if seek.heap.drawn.size >= levels else empty_heap(slots, levels)
    return seek._replace(true=true_arms(slots, arms, seek.true), heap=heap)


@njit
def seek_block(
    seek: Seek, arms: Arms, settings: Settings, rewards: np.random.Generator, rng: np.random.Generator
) -> None:
    """Let a block of arms arrive; once the best arm is found, all else is of no interest."""
    memory, counts = seek.memory, seek.counts
    for arm in range(arms.means.size):
        counts[ARRIVALS] += 1
        now = counts[NOW] = max(number_of(arms, arm), counts[NOW] + 1)
        _let_expire(seek, settings, now - settings.window + 1)
        if counts[FOUND]:
            return
        pulls, total = _test(seek, arms, arm, settings, rewards)
        if settings.strategy == WEIGH:
            seek.sums[RIVALS] = rivals_after(memory, pulls, total, seek.sums[RIVALS], arms.noise)
        coin = rng.random() if settings.strategy == WAIT and memory.arrival.size < settings.window else 0.0
        moment = Moment(now, settings.window, counts[ARRIVALS], 0.0, coin, 1)
        slot = settle(settings.strategy, memory, now, pulls, total, moment)
        if slot >= 0:
            note_arm(seek.true, slot, arms, arm)
        counts[PEAK] = max(counts[PEAK], count(memory))


@njit
def spend_rest(seek: Seek, settings: Settings, best_mean: float, rewards: np.random.Generator) -> float:
    """Spend what is left of the budget after the stream has ended, and return the regret of all pulls."""
    memory, counts = seek.memory, seek.counts
    oldest = counts[NOW] - settings.window + 1
    if settings.goes_on and settings.explicit and not counts[FOUND]:
        oldest = memory.arrival[leader(memory)]  # wait until the leader has to be pulled or its flag waited for
        _let_expire(seek, settings, oldest)
    left = settings.budget - counts[PULLS]
    if not counts[FOUND]:
        narrow(settings.strategy, memory, oldest, seek.sums[RIVALS])
        horizon = horizon_of(left, count(memory), settings.delta, 1, seek.true.noise)
        leaps, spent, shades = seek.true.noise.bounded, seek.spent, np.zeros(memory.arrival.size)
        play_leaping(memory, seek.true, settings.pull, None, left, horizon, leaps, rewards, seek.heap, spent, shades, 0)
        left = 0
        for slot in range(memory.arrival.size):
            if memory.arrival[slot] >= oldest or memory.arrival[slot] == settings.best:
                counts[PULLS] += seek.spent[slot]
                seek.sums[EARNED] += seek.spent[slot] * seek.true.means[slot]
            else:
                counts[WASTED] += seek.spent[slot]
    counts[PULLS] += left
    seek.sums[EARNED] += left * best_mean
    return float(counts[PULLS] * best_mean - seek.sums[EARNED] + counts[WASTED])


@njit
def _let_expire(seek: Seek, settings: Settings, oldest: int) -> None:
    """Drop expired arms; with an explicit flag the best arm stays, and is known by that."""
    memory = seek.memory
    if settings.explicit and 0 < settings.best < oldest:
        for slot in range(memory.arrival.size):
            if memory.arrival[slot] == settings.best:
                seek.counts[FOUND] = 1
                return
    let_expire(settings.strategy, memory, oldest)


@njit
def _test(seek: Seek, arms: Arms, arm: int, settings: Settings, rewards: np.random.Generator) -> tuple[int, float]:
    """Pull an arriving arm as the strategy does; return how often, and the total of its rewards."""
    tests = min(settings.tests, settings.budget - seek.counts[PULLS])
    pulls, total = 0, 0.0
    if settings.strategy == RANK:
        pulls, total = tests, total_of(arms, arm, tests, rewards)
    elif settings.strategy != WAIT:
        bar, lead = bar_of(seek.memory, settings.log, arms.noise)
        while goes_on(pulls, total, bar, lead, tests, settings.log, arms.noise):
            total += one_reward(arms, arm, rewards)
            pulls += 1
    seek.counts[PULLS] += pulls
    seek.counts[TESTS] += pulls
    seek.sums[EARNED] += pulls * arms.means[arm]
    return pulls, total
