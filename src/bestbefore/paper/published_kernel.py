"""The compiled loops of `bestbefore.paper.published`: a list of arms, and arrays of statistics beside it.

The list is kept as research code would keep it: a new arm is appended, an expired one is popped, and those behind it
move up.  Whether their statistics move along is the question; see `Deviations`.
"""

import math
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from bestbefore import rules
from bestbefore._jit import njit
from bestbefore.keep.bucket import bucket
from bestbefore.memory import Memory, count, empty_memory, expire, leader
from bestbefore.pull.choose import horizon_of
from bestbefore.simulate.leaps import Heap, empty_heap, play_leaping
from bestbefore.simulate.rewards import one_reward, total_of
from bestbefore.simulate.truth import NOW, Errors, Queue, empty_queue, next_best, no_errors, record, with_room
from bestbefore.streams import Arms
from bestbefore.streams.stream import bernoulli

BUCKET: Final = 0
BASELINE: Final = 1
RESERVOIR: Final = 2

SIZE: Final = 0  # arms in the list
PULLS: Final = 1
PEAK: Final = 2
FOUND: Final = 3  # 1 once the everlasting arm has outlived its window in memory

MANY: Final = 100_000
"""More pulls than this at once are replaced by a Normal."""

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


class Deviations(NamedTuple):
    """Where the published code differs from the text, one switch each; as it stands, all are on.

    Two of them carry a claim: with `integer_means` the baseline cannot rank arms, and with `misaligned` the reservoir
    plays by the statistics of other arms.
    """

    extra_slot: bool = True
    """Memory m is m + 1 slots."""
    integer_means: bool = True
    """The baseline cuts empirical means off to whole numbers."""
    extra_step: bool = True
    """In the baselines and the reservoir an arm lives W + 1 steps."""
    misaligned: bool = True
    """In the reservoir, expired arms leave the list, but not the arrays of statistics beside it."""
    misaligned_baseline: bool = True
    """The same in the baselines: an assumption, see `bestbefore.paper.published`."""
    wide_normal: bool = True
    """More than 100,000 pulls at once are replaced by a Normal of standard deviation 2 / sqrt(s) for the mean."""
    late_admission: bool = True
    """A full reservoir of m slots admits arrival t, counted from 1, with probability m / (t + 1), not m / t."""
    first_pulls: bool = True
    """Each epoch of UCB begins with one pull of every arm stored: an assumption, see `bestbefore.paper.published`."""
    partial_windows: bool = True
    """Epochs begin with the first arrival, not when the first window is full."""


class Settings(NamedTuple):
    """What a run is told: W, how many steps an arm lives, pulls of a test, and more."""

    algorithm: int
    window: int
    life: int
    aligned: bool
    tests: int
    epsilon: float
    delta: float
    best: int  # the arrival of the everlasting arm
    deviations: Deviations


class Run(NamedTuple):
    """All that a run carries from block to block.

    In the first SIZE places, `memory.arrival` and `known` are the list of arms, oldest first but for replacements;
    `memory.pulls`, `memory.total` and `means` are arrays of statistics.
    """

    memory: Memory
    means: Floats  # of the baseline
    known: Arms
    queue: Queue
    errors: Errors
    heap: Heap
    spent: Ints
    counts: Ints
    regret: Floats


def start_run(slots: int, length: int) -> Run:
    """Make the state before the first arrival of a stream of `length` arms."""
    spent, counts = np.zeros(slots, np.int64), np.zeros(4, np.int64)
    memory, known, errors = empty_memory(slots), bernoulli(np.zeros(slots)), no_errors(length)
    return Run(memory, np.zeros(slots), known, empty_queue(0), errors, empty_heap(slots, 0), spent, counts, np.zeros(1))


def with_room_for(run: Run, arms: Arms) -> Run:
    """Return the same state with room for a block of arms and their kind of rewards."""
    slots, levels = run.memory.arrival.size, arms.levels.size
    weights = run.known.weights if run.known.levels.size == levels else np.zeros((slots, levels))
    heap = run.heap if run.heap.drawn.size >= levels else empty_heap(slots, levels)
    known = Arms(run.known.means, arms.levels, weights, arms.sigma)
    return run._replace(known=known, queue=with_room(run.queue, arms.means.size), heap=heap)


@njit
def explore_block(run: Run, arms: Arms, settings: Settings, rewards: np.random.Generator) -> None:
    """Test each arm of a block, keep it or not, and take the error of the answer."""
    memory, known = run.memory, run.known
    for arm in range(arms.means.size):
        best = next_best(run.queue, arms.means[arm], settings.window)
        now = run.queue.marks[NOW]
        total = _total(arms, arm, settings.tests, settings.deviations.wide_normal, rewards)
        run.counts[PULLS] += settings.tests
        if settings.algorithm == BUCKET:
            expire(memory, now - settings.life + 1)
            _know(known, bucket(memory, now, settings.tests, total), arms, arm)
            answer, stored = leader(memory), count(memory)
        else:
            _let_expire(run, now - settings.life + 1, settings.aligned)
            _keep_top(run, arms, arm, now, total / settings.tests, settings.deviations.integer_means)
            answer, stored = _first_highest(run), run.counts[SIZE]
        run.counts[PEAK] = max(run.counts[PEAK], stored)
        record(run.errors, best - known.means[answer], settings.epsilon)


@njit
def commit_block(run: Run, arms: Arms, budgets: Ints, settings: Settings, rewards: np.random.Generator) -> None:
    """Test each arm of a block, then spend the rest of its epoch's budget on the arm of the highest mean."""
    for arm in range(arms.means.size):
        best = next_best(run.queue, arms.means[arm], settings.window)
        now = run.queue.marks[NOW]
        _let_expire(run, now - settings.life + 1, settings.aligned)
        tests = min(settings.tests, budgets[arm])
        mean = _total(arms, arm, tests, settings.deviations.wide_normal, rewards) / tests if tests > 0 else 0.0
        _keep_top(run, arms, arm, now, mean, settings.deviations.integer_means)
        run.counts[PEAK] = max(run.counts[PEAK], run.counts[SIZE])
        rest = best - run.known.means[_first_highest(run)]
        run.regret[0] += tests * (best - arms.means[arm]) + (budgets[arm] - tests) * rest
        run.counts[PULLS] += budgets[arm]


@njit
def reservoir_block(
    run: Run,
    arms: Arms,
    budgets: Ints,
    settings: Settings,
    rewards: np.random.Generator,
    luck: np.random.Generator,
) -> None:
    """Play each epoch of a block by UCB: what stands in place i is pulled, and what it returns is noted in place i."""
    memory, known = run.memory, run.known
    for arm in range(arms.means.size):
        best = next_best(run.queue, arms.means[arm], settings.window)
        now = run.queue.marks[NOW]
        _let_expire(run, now - settings.life + 1, settings.aligned)
        _keep_sample(run, arms, arm, now, settings.deviations.late_admission, luck.random())
        stored = run.counts[SIZE]
        run.counts[PEAK] = max(run.counts[PEAK], stored)
        if budgets[arm] == 0:
            continue
        run.spent[:] = 0
        left = budgets[arm]
        if settings.deviations.first_pulls:
            left -= _pull_once(run, min(stored, left), rewards)
        horizon = horizon_of(budgets[arm], stored, settings.delta, 1, arms.sigma)
        play_leaping(memory, known, rules.UCB, left, horizon, arms.sigma == 0, rewards, run.heap, run.spent, 0)
        for place in range(stored):
            run.regret[0] += run.spent[place] * (best - known.means[place])
        run.counts[PULLS] += budgets[arm]


@njit
def _pull_once(run: Run, places: int, rewards: np.random.Generator) -> int:
    """Pull the arms in the first `places` of the list once each; return how many these are."""
    for place in range(places):
        run.memory.total[place] += one_reward(run.known, place, rewards)
        run.memory.pulls[place] += 1
        run.spent[place] += 1
    return places


@njit
def everlasting_block(run: Run, arms: Arms, start: int, settings: Settings, luck: np.random.Generator) -> None:
    """Keep a sample of the arms until the best one has outlived its window in memory; nothing is pulled.

    `start` is how many arms came before the block.
    """
    for arm in range(arms.means.size):
        now = start + arm + 1
        oldest = now - settings.life + 1
        if settings.best < oldest and holds(run, settings.best):
            run.counts[FOUND] = 1
            return
        _let_expire(run, oldest, True)
        _keep_sample(run, arms, arm, now, settings.deviations.late_admission, luck.random())
        run.counts[PEAK] = max(run.counts[PEAK], run.counts[SIZE])


@njit
def holds(run: Run, arrival: int) -> bool:
    """Tell whether an arm stands in the list."""
    return bool((run.memory.arrival[: run.counts[SIZE]] == arrival).any())


@njit
def _total(arms: Arms, arm: int, pulls: int, wide: bool, rewards: np.random.Generator) -> float:
    """Draw the sum of many rewards: exactly, or beyond `MANY` from the Normal that the published code has."""
    if wide and pulls > MANY:
        return pulls * float(rewards.normal(arms.means[arm], 2 / math.sqrt(pulls)))
    return total_of(arms, arm, pulls, rewards)


@njit
def _let_expire(run: Run, oldest: int, aligned: bool) -> None:
    """Pop every arm from the list that arrived before `oldest`."""
    memory, known, counts = run.memory, run.known, run.counts
    place = 0
    while place < counts[SIZE]:
        if memory.arrival[place] >= oldest:
            place += 1
            continue
        counts[SIZE] -= 1
        last = counts[SIZE]
        for behind in range(place, last):
            memory.arrival[behind] = memory.arrival[behind + 1]
            known.means[behind] = known.means[behind + 1]
            if known.levels.size > 0:
                known.weights[behind, :] = known.weights[behind + 1, :]
            if aligned:
                memory.pulls[behind] = memory.pulls[behind + 1]
                memory.total[behind] = memory.total[behind + 1]
                run.means[behind] = run.means[behind + 1]
        memory.arrival[last] = 0


@njit
def _keep_top(run: Run, arms: Arms, arm: int, now: int, mean: float, integer: bool) -> None:
    """Append an arm if there is room, else put it in place of the lowest mean, the first of equals, if it is higher."""
    place = run.counts[SIZE]
    if place == run.means.size:
        place = int(run.means.argmin())
        if mean <= run.means[place]:
            return
    run.means[place] = float(int(mean)) if integer else mean
    _set(run, place, arms, arm, now)


@njit
def _first_highest(run: Run) -> int:
    """Return the place of the highest mean in the list, the first of equals."""
    return int(run.means[: run.counts[SIZE]].argmax())


@njit
def _keep_sample(run: Run, arms: Arms, arm: int, now: int, late: bool, luck: float) -> None:
    """Append an arm if there is room, else put it in a random place by luck; its statistics there begin with nothing.

    One uniform number u serves both coins: u < m / t admits, and given that, floor(u t) is uniform on the places.
    """
    place = run.counts[SIZE]
    if place == run.memory.arrival.size:
        place = int(luck * (now + late))
        if place >= run.memory.arrival.size:
            return
    run.memory.pulls[place] = 0
    run.memory.total[place] = 0.0
    _set(run, place, arms, arm, now)


@njit
def _set(run: Run, place: int, arms: Arms, arm: int, now: int) -> None:
    """Put an arm into the list, at its end or in place of another."""
    run.memory.arrival[place] = now
    run.counts[SIZE] = max(run.counts[SIZE], place + 1)
    _know(run.known, place, arms, arm)


@njit
def _know(known: Arms, place: int, arms: Arms, arm: int) -> None:
    """Copy what the stream says of an arm."""
    known.means[place] = arms.means[arm]
    if arms.levels.size > 0:
        known.weights[place, :] = arms.weights[arm, :]
