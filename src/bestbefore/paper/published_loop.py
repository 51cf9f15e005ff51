"""The compiled loops of `bestbefore.paper.published` for Bucket and the top-k baseline, and what all its loops share.

Research code keeps a list of arms and, beside it, arrays of what is known of them: so does this.
"""

import math
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from bestbefore._jit import njit
from bestbefore.keep import bucket
from bestbefore.memory import Memory, count, empty_memory, expire, leader, put
from bestbefore.paper.deviations import Deviations
from bestbefore.simulate.leaps import Heap, empty_heap
from bestbefore.simulate.oracle import (
    NOW,
    Errors,
    Queue,
    empty_queue,
    next_best,
    no_errors,
    note_arm,
    record,
    true_arms,
    with_room,
)
from bestbefore.simulate.rewards import total_of
from bestbefore.streams import Arms

BUCKET: Final = 0
BASELINE: Final = 1
RESERVOIR: Final = 2

SIZE: Final = 0  # arms in the list of the reservoir
PULLS: Final = 1
PEAK: Final = 2
FOUND: Final = 3  # 1 once the everlasting arm has outlived its window in memory
LOWEST: Final = 4  # the baseline's place for the next arm, and its mean there

EMPTY: Final = -np.inf
"""The mean of the baseline where no arm is."""

MANY: Final = 100_000
"""More pulls than this at once are replaced by a Normal."""

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


class Settings(NamedTuple):
    """What a run is told: W, how many steps an arm lives, pulls of a test, and more."""

    algorithm: int
    window: int
    life: int
    exact: bool  # the reservoir is the whole window, every arm with its own statistics
    tests: int
    epsilon: float
    delta: float
    best: int  # the arrival of the everlasting arm
    deviations: Deviations


class Run(NamedTuple):
    """All that a run carries from block to block.

    `listed` has the arrivals of the arms by place, 0 where none is, and `true` what the stream says of them; `means`
    are the baseline's, and `memory` has the statistics of the reservoir, with arrival 0 where there are none.
    """

    listed: Ints
    true: Arms
    means: Floats
    lowest: Floats
    memory: Memory
    queue: Queue
    errors: Errors
    heap: Heap
    spent: Ints
    counts: Ints
    regret: Floats


def start_run(slots: int, length: int) -> Run:
    """Make the state before the first arrival of a stream of `length` arms."""
    return Run(
        listed=np.zeros(slots, np.int64),
        true=true_arms(slots),
        means=np.full(slots, EMPTY),
        lowest=np.full(1, EMPTY),
        memory=empty_memory(slots),
        queue=empty_queue(0),
        errors=no_errors(length),
        heap=empty_heap(slots, 0),
        spent=np.zeros(slots, np.int64),
        counts=np.zeros(5, np.int64),
        regret=np.zeros(1),
    )


def with_room_for(run: Run, arms: Arms) -> Run:
    """Return the same state with room for a block of arms and their kind of rewards."""
    slots, levels = run.listed.size, arms.levels.size
    heap = run.heap if run.heap.drawn.size >= levels else empty_heap(slots, levels)
    return run._replace(true=true_arms(slots, arms, run.true), queue=with_room(run.queue, arms.means.size), heap=heap)


@njit
def explore_block(run: Run, arms: Arms, settings: Settings, rewards: np.random.Generator) -> None:
    """Test each arm of a block, keep it or not, and take the error of the answer."""
    memory, true = run.memory, run.true
    for arm in range(arms.means.size):
        best = next_best(run.queue, arms.means[arm], settings.window)
        now = run.queue.marks[NOW]
        total = _total(arms, arm, settings.tests, settings.deviations.wide_normal, rewards)
        run.counts[PULLS] += settings.tests
        if settings.algorithm == BUCKET:
            expire(memory, now - settings.life + 1)
            slot = slice_of(total / settings.tests, memory.arrival.size, settings.deviations.closed_below)
            put(memory, slot, now, settings.tests, total)
            note_arm(true, slot, arms, arm)
            answered = true.means[leader(memory)]
            run.counts[PEAK] = max(run.counts[PEAK], count(memory))
        else:
            _keep_top(run, arms, arm, now, total / settings.tests, settings)
            answered = _answer(run)
        record(run.errors, best - answered, settings.epsilon)


@njit
def commit_block(run: Run, arms: Arms, budgets: Ints, settings: Settings, rewards: np.random.Generator) -> None:
    """Test each arm of a block, then spend the rest of its epoch's budget on the arm of the highest mean."""
    for arm in range(arms.means.size):
        best = next_best(run.queue, arms.means[arm], settings.window)
        now = run.queue.marks[NOW]
        tests = min(settings.tests, budgets[arm])
        mean = _total(arms, arm, tests, settings.deviations.wide_normal, rewards) / tests if tests > 0 else 0.0
        _keep_top(run, arms, arm, now, mean, settings)
        run.regret[0] += tests * (best - arms.means[arm]) + (budgets[arm] - tests) * (best - _answer(run))
        run.counts[PULLS] += budgets[arm]


@njit
def slice_of(mean: float, slices: int, closed_below: bool) -> int:
    """Return which of `slices` equal slices of [0, 1] a mean belongs to, from 0; means beyond belong to the ends.

    Closed below, a mean is divided by the width of a slice, as the published code does it; so rounding errors are the
    same, too: 3/5 is on a border of 5 slices, and falls into the lower one.

    >>> [slice_of(mean, 4, True) for mean in (0.0, 0.24, 0.25, 1.0)], [slice_of(mean, 4, False) for mean in (0.25, 1)]
    ([0, 0, 1, 3], [0, 3])
    >>> slice_of(0.6, 5, True), slice_of(0.4, 5, True)
    (2, 2)
    """
    if not closed_below:
        return bucket.slice_of(mean, slices)
    return min(max(int(mean / (1 / slices)), 0), slices - 1)


@njit
def _total(arms: Arms, arm: int, pulls: int, wide: bool, rewards: np.random.Generator) -> float:
    """Draw the sum of many rewards: exactly, or beyond `MANY` from the Normal of the published code, at most 1 each."""
    if wide and pulls > MANY:
        return pulls * min(float(rewards.normal(arms.means[arm], 2 / math.sqrt(pulls))), 1.0)
    return total_of(arms, arm, pulls, rewards)


@njit
def _let_expire(run: Run, oldest: int) -> None:
    """Empty the place of every arm that arrived before `oldest`."""
    for place in range(run.listed.size):
        if 0 < run.listed[place] < oldest:
            run.listed[place] = 0
            run.means[place] = EMPTY


@njit
def _keep_top(run: Run, arms: Arms, arm: int, now: int, mean: float, settings: Settings) -> None:
    """Let arms expire, and put a new one in the place of the lowest mean, the first of equals, if its own is higher.

    With a stale minimum arms expire last, and that place was found when the last arm was stored.
    """
    deviations, oldest = settings.deviations, now - settings.life + 1
    if not deviations.stale_minimum:
        _let_expire(run, oldest)
        _find_lowest(run)
    if mean > run.lowest[0]:
        place = run.counts[LOWEST]
        run.means[place] = float(int(mean)) if deviations.integer_means else mean
        run.listed[place] = now
        note_arm(run.true, place, arms, arm)
        _find_lowest(run)
    if deviations.stale_minimum:
        _let_expire(run, oldest)
    run.counts[PEAK] = max(run.counts[PEAK], (run.listed > 0).sum())


@njit
def _find_lowest(run: Run) -> None:
    """Note the place of the lowest mean, and that mean; an empty place is the lowest."""
    place = int(run.means.argmin())
    run.counts[LOWEST], run.lowest[0] = place, run.means[place]


@njit
def _answer(run: Run) -> float:
    """Return the true mean of the arm of the highest mean, the first of equals, or 0 if no arm is stored."""
    place = int(run.means.argmax())
    return run.true.means[place] if run.listed[place] > 0 else 0.0
