"""What a window by time costs: a run by time over one by count, on the same arms, where it holds W arms on average.

    python benchmarks/by_time.py

Arms arrive at random, one a second on average (Poisson), and the window has W seconds.  Times are process times, each
the best of several, by count and by time in turn.  The ratio must be at most 1.5; the exit code says whether it is.
Certificates also pull more by time, since nobody says how many arms a window can hold: the last column says how much.
"""

import sys
import time
from collections.abc import Callable

from rich.console import Console
from rich.progress import track
from rich.table import Table

from bestbefore import simulate, streams

ARMS, ALLOWED, REPEATS = 100_000, 1.5, 7
COLUMNS = ("run", "by count, ns an arm", "by time, ns an arm", "ratio", "pulls, ratio")


def ways() -> dict[str, tuple[Callable[..., simulate.Table], int, int, dict[str, object], dict[str, object]]]:
    """Return what is measured: function, arms, W, settings, and those that only a run by time has."""
    found: dict[str, tuple[Callable[..., simulate.Table], int, int, dict[str, object], dict[str, object]]] = {}
    for window in (50, 1000):
        most = {"most": 2 * window}
        for keep in ("bucket", "staircase", "fifo"):
            tests = {"memory": 10, "keep": keep, "tests": 1000}
            found[f"explore, {keep}, W = {window:,}"] = simulate.explore, ARMS, window, tests, {}
        bucket = {"keep": "bucket", "epsilon": 0.2}
        found[f"explore, bucket, `most`, W = {window:,}"] = simulate.explore, ARMS, window, bucket, most
        for guarantee in ("weak", "anytime"):
            certify = {"memory": 30, "epsilon": 0.1, "guarantee": guarantee}
            found[f"certify, {guarantee}, W = {window:,}"] = simulate.explore, ARMS // 5, window, certify, {}
        play = {"budgets": 100, "memory": 10}
        found[f"play, moss, W = {window:,}"] = simulate.play, ARMS // 5, window, play, {}
    return found


def best_times(works: list[Callable[[], object]]) -> list[float]:
    """Return the least process time of each of several, in turn, once warm."""
    best = [float("inf")] * len(works)
    for _ in range(REPEATS + 1):
        for place, work in enumerate(works):
            start = time.process_time()
            work()
            best[place] = min(best[place], time.process_time() - start)
    return best


def main() -> int:
    screen, worst = Table(*COLUMNS), 0.0
    for name, (function, arms, window, settings, more) in track(ways().items(), "by time", transient=True):
        alone: dict[str, object] = {"runs": 1, "jobs": 1, "progress": False}
        counted, timed = streams.uniform(arms), streams.uniform(arms).at(streams.poisson("1/s"))
        works = [
            lambda: function(counted, window, **settings, **alone),  # noqa: B023 (called before the next turn)
            lambda: function(timed, f"{window}s", **settings, **more, **alone),  # noqa: B023
        ]
        by_count, by_time = best_times(works)
        pulls = [float(work()["pulls"][0]) for work in works]
        worst = max(worst, by_time / by_count)
        cells = by_count / arms * 1e9, by_time / arms * 1e9, by_time / by_count, pulls[1] / pulls[0]
        screen.add_row(name, *(f"{one:,.0f}" for one in cells[:2]), *(f"{one:.2f}" for one in cells[2:]))
    console = Console()
    console.print(screen)
    console.print(f"The worst ratio is {worst:.2f}; at most {ALLOWED} is allowed.")
    return int(worst > ALLOWED)


if __name__ == "__main__":
    sys.exit(main())
