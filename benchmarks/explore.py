"""What an arriving arm costs: each keep rule, side by side with a plain NumPy loop, and how the cost grows.

    python benchmarks/explore.py

Times are the best of several in one run, in nanoseconds per arriving arm.  Machines are noisy: look at ratios.
"""

import itertools
from collections.abc import Callable

import numpy as np
from numba import njit
from rich.console import Console
from rich.progress import track
from rich.table import Table

from bestbefore import Explorer, simulate, streams
from bestbefore.rules import KEEP
from timing import nanoseconds

ARMS = 20_000
MEMORIES = (2, 10, 50, 200)


def compiled(keep: str, memory: int, *, arms: int = ARMS, window: int = 500, pulls: int = 1000) -> float:
    """Time the compiled loop."""
    means = np.random.default_rng(0).random(arms)
    stream = streams.from_means(means)
    return nanoseconds(
        lambda: simulate.explore(stream, window, memory, keep, tests=pulls, runs=1, jobs=1, progress=False), arms
    )


def numpy_loop(memory: int, *, arms: int = 300, window: int = 500, pulls: int = 1000) -> float:
    """Time Algorithm 1 as people write it: every pull is drawn, arrays are scanned by NumPy."""
    means = np.random.default_rng(0).random(arms)

    def work() -> float:
        rng = np.random.default_rng(1)
        arrival = np.full(memory, -1)
        empirical = np.zeros(memory)
        error = 0.0
        for now, mean in enumerate(means):
            arrival[(arrival >= 0) & (arrival <= now - window)] = -1
            rewards = [rng.random() < mean for _ in range(pulls)]
            estimate = np.mean(rewards)
            slot = min(max(int(np.ceil(estimate * memory)) - 1, 0), memory - 1)
            arrival[slot], empirical[slot] = now, estimate
            answer = np.flatnonzero(arrival >= 0).max()
            error += means[max(now - window + 1, 0) : now + 1].max() - means[arrival[answer]]
        return error

    return nanoseconds(work, arms, repeats=2)


@njit
def _binomials(means: np.ndarray, pulls: int, rng: np.random.Generator) -> int:
    total = 0
    for mean in means:
        total += rng.binomial(pulls, mean)
    return total


def floor(*, arms: int = ARMS, pulls: int = 1000) -> float:
    """Time a compiled loop that does nothing but draw the rewards of each arm, as one Binomial."""
    means, rng = np.random.default_rng(0).random(arms), np.random.default_rng(1)
    return nanoseconds(lambda: _binomials(means, pulls, rng), arms)


def rules() -> Table:
    """Each rule at several memories."""
    table = Table(title="Nanoseconds per arriving arm (uniform stream, W = 500, s = 1000 pulls)")
    table.add_column("keep rule")
    for memory in MEMORIES:
        table.add_column(f"m = {memory}", justify="right")
    table.add_row("floor: only draw the rewards", *[f"{floor():,.0f}"] * len(MEMORIES))
    for keep in track(list(KEEP), "rules"):
        table.add_row(keep, *(f"{compiled(keep, memory):,.0f}" for memory in MEMORIES))
    return table


def side_by_side() -> Table:
    """Bucket, compiled, against the NumPy loop."""
    table = Table(title="Bucket, m = 30, W = 500: compiled against a plain NumPy loop that draws every pull")
    for column in ("pulls per arm", "compiled, ns", "NumPy loop, ns", "ratio"):
        table.add_column(column, justify="right")
    for pulls in track((100, 1000, 4227), "side by side"):
        ours, theirs = compiled("bucket", 30, pulls=pulls), numpy_loop(30, pulls=pulls)
        table.add_row(f"{pulls:,}", f"{ours:,.0f}", f"{theirs:,.0f}", f"{theirs / ours:,.0f}")
    return table


def growth() -> Table:
    """How the cost of an arm grows with each size, the others standing still."""
    table = Table(title="Growth: nanoseconds per arriving arm as one size grows tenfold each time (staircase, m = 20)")
    for column in ("what grows", "", "", "", "last / first"):
        table.add_column(column, justify="right")
    sizes = {
        "n = 10^4, 10^5, 10^6": [{"arms": 10**k} for k in (4, 5, 6)],
        "W = 10^2, 10^3, 10^4": [{"window": 10**k, "arms": 10**5} for k in (2, 3, 4)],
        "s = 10^2, 10^4, 10^6": [{"pulls": 10**k} for k in (2, 4, 6)],
        "m = 10, 100, 1000": [{"memory": 10**k} for k in (1, 2, 3)],
    }
    for name, settings in track(sizes.items(), "growth"):
        times = [compiled("staircase", **{"memory": 20} | setting) for setting in settings]
        table.add_row(name, *(f"{t:,.0f}" for t in times), f"{times[-1] / times[0]:.2f}")
    return table


def live() -> Table:
    """Each verb of a live agent, in microseconds."""
    table = Table(title="Live agent (staircase, epsilon = 0.1, W = 1000): microseconds per call")
    for column in ("verb", "microseconds"):
        table.add_column(column)
    times = 2000

    def timed(verb: str, call: Callable[[int], object]) -> None:
        table.add_row(verb, f"{nanoseconds(lambda: [call(number) for number in range(times)], times) / 1000:.1f}")

    explorer = Explorer(window=1000, epsilon=0.1, tests=10**9)
    explorer.arrive("a")
    timed("ask", lambda _: explorer.ask())
    timed("tell", lambda _: explorer.tell("a", 1.0))
    settled, numbers = Explorer(window=1000, epsilon=0.1, tests=1), itertools.count()

    def arrive_and_settle(_: int) -> None:
        number = next(numbers)
        settled.arrive(number)
        settled.tell(number, number * 0.37 % 1)

    timed("arrive, and the tell that ends the test", arrive_and_settle)
    return table


if __name__ == "__main__":
    console = Console()
    for table in (rules(), side_by_side(), growth(), live()):
        console.print(table)
