"""The compiled loops of `bestbefore.paper.published` for the reservoir: regret by UCB, and the everlasting arm.

A new arm is appended to the list, or takes the place of one at random; an expired one is popped, and
those behind it move up.  Whether their statistics move along, and whether an appended arm has any, is the question.
"""

from typing import Final

import numpy as np

from bestbefore._jit import njit
from bestbefore.paper.published_loop import FOUND, PEAK, PULLS, SIZE, Ints, Run, Settings
from bestbefore.pull import horizon_of
from bestbefore.rules import PULL
from bestbefore.simulate.leaps import play_leaping
from bestbefore.simulate.oracle import NOW, next_best, note_arm
from bestbefore.streams import Arms

UCB: Final = PULL["ucb"].number


@njit
def reservoir_block(
    run: Run,
    arms: Arms,
    budgets: Ints,
    settings: Settings,
    rewards: np.random.Generator,
    rng: np.random.Generator,
) -> None:
    """Play each epoch of a block by UCB: what stands in place i is pulled, and what it returns is noted in place i."""
    true, ignoring = run.true, settings.deviations.ignored_arms and not settings.exact
    shades = np.zeros(run.memory.arrival.size)  # which UCB does not ask for
    for arm in range(arms.means.size):
        best = next_best(run.queue, arms.means[arm], settings.window)
        now = run.queue.marks[NOW]
        _let_expire(run, now - settings.life + 1, settings.exact or not settings.deviations.misaligned)
        begun = _keep_sample(run, arms, arm, now, settings, rng.random())
        stored = run.counts[SIZE]
        if not run.memory.arrival[:stored].any():  # all indices are 0, so the first of them is the highest
            _begin(run, 0, now)
        budget = budgets[arm] - (ignoring and not begun)
        if budget <= 0:
            continue
        run.spent[:] = 0
        horizon = horizon_of(budgets[arm], stored, settings.delta, 1, arms.noise)
        leaps = arms.noise.bounded
        play_leaping(run.memory, true, UCB, None, budget, horizon, leaps, rewards, run.heap, run.spent, shades, 0)
        for place in range(stored):
            run.regret[0] += run.spent[place] * (best - true.means[place])
        run.counts[PULLS] += budget


@njit
def everlasting_block(run: Run, arms: Arms, start: int, settings: Settings, rng: np.random.Generator) -> None:
    """Keep a sample of the arms until the best one has outlived its window in memory; nothing is pulled.

    `start` is how many arms came before the block.
    """
    for arm in range(arms.means.size):
        now = start + arm + 1
        if settings.best <= now - settings.window and holds(run, settings.best):
            run.counts[FOUND] = 1
            return
        _let_expire(run, now - settings.life + 1, True)
        _keep_sample(run, arms, arm, now, settings, rng.random())


@njit
def holds(run: Run, arrival: int) -> bool:
    """Tell whether an arm stands in the list."""
    return bool((run.listed[: run.counts[SIZE]] == arrival).any())


@njit
def _let_expire(run: Run, oldest: int, aligned: bool) -> None:
    """Pop every arm from the list that arrived before `oldest`."""
    memory, true, counts = run.memory, run.true, run.counts
    place = 0
    while place < counts[SIZE]:
        if run.listed[place] >= oldest:
            place += 1
            continue
        counts[SIZE] -= 1
        last = counts[SIZE]
        for behind in range(place, last):
            run.listed[behind] = run.listed[behind + 1]
            note_arm(true, behind, true, behind + 1)
            if aligned:
                memory.arrival[behind] = memory.arrival[behind + 1]
                memory.pulls[behind] = memory.pulls[behind + 1]
                memory.total[behind] = memory.total[behind + 1]
        run.listed[last] = 0
        if aligned:
            memory.arrival[last] = 0


@njit
def _keep_sample(run: Run, arms: Arms, arm: int, now: int, settings: Settings, coin: float) -> bool:
    """Append an arm if there is room, else perhaps put it in a random place; return whether its statistics begin.

    One uniform number u serves both coins: u < m / t admits, and given that, floor(u t) is uniform on the places.
    """
    place = run.counts[SIZE]
    begins = place == 0 or settings.exact or not settings.deviations.ignored_arms
    if place == run.listed.size:
        place, begins = int(coin * (now + settings.deviations.late_admission)), True
        if place >= run.listed.size:
            return False
    run.listed[place] = now
    note_arm(run.true, place, arms, arm)
    run.counts[SIZE] = max(run.counts[SIZE], place + 1)
    run.counts[PEAK] = max(run.counts[PEAK], run.counts[SIZE])
    if begins:
        _begin(run, place, now)
    return begins


@njit
def _begin(run: Run, place: int, now: int) -> None:
    """Let the statistics in a place begin with nothing: whoever stands there is pulled next."""
    run.memory.arrival[place] = now
    run.memory.pulls[place] = 0
    run.memory.total[place] = 0.0
