"""What a pull costs in the simulation of regret: against a plain NumPy loop, river's UCB, and the floor.

    python benchmarks/regret.py [peers | growth | defaults ...]

The floor is a compiled loop that draws one random number a pull and compares it.  Times are the best of several in one
run; machines are noisy, so look at ratios.
"""

import itertools
import math
import sys
import time

import numpy as np
from numba import njit
from rich.console import Console
from rich.progress import track
from rich.table import Table

from bestbefore import plan, simulate, streams
from timing import nanoseconds

ARMS, WINDOW, BUDGET = 1000, 50, 5000
RULES = ("ucb", "moss", "kl_ucb", "fresh")
DELTA = 0.01


@njit
def _draws(pulls: int, rng: np.random.Generator) -> int:
    won = 0
    for _ in range(pulls):
        won += rng.random() < 0.5
    return won


def floor() -> float:
    """Time one random number a pull, compared."""
    rng = np.random.default_rng(0)
    return nanoseconds(lambda: _draws(10**7, rng), 10**7)


def ours(pull: str, *, stream: streams.Stream, window: int = WINDOW, budget: int = BUDGET, memory: int = 0) -> float:
    """Time the compiled loop, fifo with all slots unless told otherwise."""
    pulls = (stream.length - window + 1) * budget
    slots = memory or window
    return nanoseconds(
        lambda: simulate.play(stream, window, budget, slots, "fifo", pull, runs=1, jobs=1, progress=False), pulls, 3
    )


def numpy_loop(pull: str, epochs: int = 10) -> float:
    """Time an epoch as people write it: one uniform draw and one argmax a pull."""
    means = np.random.default_rng(0).random(WINDOW)

    def work() -> float:
        rng = np.random.default_rng(1)
        pulls, total, lost = np.zeros(WINDOW), np.zeros(WINDOW), 0.0
        log = np.log(BUDGET * WINDOW / DELTA)
        for _ in range(epochs):
            for _ in range(BUDGET):
                if pull == "ucb":
                    bonus = np.sqrt(log / pulls)
                else:
                    bonus = np.sqrt(np.maximum(np.log(BUDGET / (WINDOW * pulls)), 0) / pulls)
                index = np.where(pulls > 0, total / pulls + bonus, np.inf)
                arm = int(np.argmax(index))
                pulls[arm] += 1
                total[arm] += rng.random() < means[arm]
                lost += means.max() - means[arm]
        return lost

    with np.errstate(divide="ignore", invalid="ignore"):
        return nanoseconds(work, epochs * BUDGET, 1)


def river_loop(pulls: int = 20_000) -> float | None:
    """Time river's UCB, one pull at a time, if river is installed."""
    try:
        from river import bandit
    except ModuleNotFoundError:
        return None
    means = np.random.default_rng(0).random(WINDOW)

    def work() -> None:
        rng = np.random.default_rng(1)
        policy = bandit.UCB(delta=1, seed=1)
        for _ in range(pulls):
            arm = policy.pull(range(WINDOW))
            policy.update(arm, float(rng.random() < means[arm]))

    return nanoseconds(work, pulls, 1)


def side_by_side() -> Table:
    """All of them, with n = 1000, W = 50, T_j = 5000 and 50 slots."""
    table = Table(title=f"n = {ARMS}, W = {WINDOW}, T_j = {BUDGET}, all {WINDOW} slots: nanoseconds per pull")
    for column in ("", "ns per pull", "of the floor", "NumPy loop / this"):
        table.add_column(column, justify="right")
    least, loops = floor(), {pull: numpy_loop(pull) for pull in ("ucb", "moss")}
    table.add_row("floor: draw and compare", f"{least:.2f}", "1.00", "")
    for name, stream in {"uniform": streams.uniform(ARMS), "two-level": streams.two_level(ARMS, WINDOW)}.items():
        for pull in track(RULES, name, transient=True):
            cost = ours(pull, stream=stream)
            ratio = f"{loops[pull] / cost:,.0f}" if pull in loops else ""
            table.add_row(f"{pull}, {name}", f"{cost:.2f}", f"{cost / least:.2f}", ratio)
    for pull, cost in loops.items():
        table.add_row(f"NumPy loop, {pull}", f"{cost:,.0f}", f"{cost / least:,.0f}", "1")
    if (cost := river_loop()) is not None:
        table.add_row("river, UCB", f"{cost:,.0f}", f"{cost / least:,.0f}", "")
    return table


def growth() -> Table:
    """How the cost of a pull changes with each size, the others standing still."""
    table = Table(title="Growth: nanoseconds per pull (uniform stream)")
    for column in ("what", "ucb", "moss"):
        table.add_column(column, justify="right")
    cases = {
        "W = 20": {"window": 20},
        "W = 50": {},
        "W = 200": {"window": 200},
        "W = 1000 (n = 2000)": {"window": 1000, "stream": streams.uniform(2000)},
        "T_j = 100": {"budget": 100},
        "T_j = 1,000": {"budget": 1000},
        "T_j = 100,000": {"budget": 100_000},
        "m = 5 of 50": {"memory": 5},
        "m = 20 of 50": {"memory": 20},
    }
    for name, case in track(cases.items(), "growth", transient=True):
        costs = [ours(pull, **{"stream": streams.uniform(ARMS)} | case) for pull in ("ucb", "moss")]
        table.add_row(name, *(f"{cost:.2f}" for cost in costs))
    return table


def defaults() -> Table:
    """The default pair beside the one before it: the least of several runs in turn, by the time of this process."""
    table = Table(title="The default pair, and staircase x moss: nanoseconds per pull")
    for column in ("stream", "W", "T_j", "slots", "staircase x moss", "heirs x fresh", "ratio"):
        table.add_column(column, justify="right")
    made = {
        "uniform": lambda arms, window: streams.uniform(arms),
        "clicks, mean .03": lambda arms, window: streams.beta(arms, 1.5, 48.5),
        "two-level": lambda arms, window: streams.two_level(arms, window),
    }
    cases = list(itertools.product(made, (50, 200), (200, 1000, 5000), (6, 20, 50)))
    for name, window, budget, memory in track(cases, "defaults", transient=True):
        stream = made[name](ARMS, window)
        least = dict.fromkeys((("staircase", "moss"), (plan.PLAY_KEEP, plan.PLAY_PULL)), math.inf)
        for _, (keep, pull) in itertools.product(range(5), least):
            begun = time.process_time_ns()
            row = simulate.play(stream, window, budget, memory, keep, pull, runs=1, jobs=1, progress=False)
            cost = (time.process_time_ns() - begun) / int(row["pulls"].sum())
            least[keep, pull] = min(least[keep, pull], cost)
        before, now = least.values()
        numbers = (f"{before:.2f}", f"{now:.2f}", f"{now / before:.2f}")
        table.add_row(name, str(window), f"{budget:,}", str(memory), *numbers)
    return table


if __name__ == "__main__":
    tables = {"peers": side_by_side, "growth": growth, "defaults": defaults}
    for chosen in sys.argv[1:] or tables:
        Console().print(tables[chosen]())
