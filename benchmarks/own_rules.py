"""Rules of one's own beside the built-in ones: the same rule, once by its name and once as a plain function.

python benchmarks/own_rules.py
"""

import math
from collections.abc import Callable
from typing import Any

from rich.console import Console
from rich.table import Table

from bestbefore import simulate, streams
from bestbefore.keep import staircase
from bestbefore.memory import Memory, Moment
from bestbefore.pull import Horizon
from timing import nanoseconds

ARMS, WINDOW, SLOTS = 100_000, 500, 10


def own_staircase(memory: Memory, arrival: int, pulls: int, total: float, moment: Moment) -> int:
    return staircase.admit(memory, arrival, pulls, total, moment)


def own_moss(pulls: float, total: float, horizon: Horizon) -> float:
    return total / pulls + math.sqrt(max(math.log(horizon.share / pulls), 0.0) / pulls)


def explore(keep: Any) -> float:
    """Nanoseconds per arriving arm."""
    stream, common = streams.uniform(ARMS), {"tests": 1000, "runs": 1, "jobs": 1, "progress": False}
    return nanoseconds(lambda: simulate.explore(stream, WINDOW, SLOTS, keep, **common), ARMS)


def play(keep: Any, pull: Any) -> float:
    """Nanoseconds per pull."""
    stream, common = streams.uniform(1000), {"runs": 1, "jobs": 1, "progress": False}
    return nanoseconds(lambda: simulate.play(stream, 50, 1000, SLOTS, keep, pull, **common), 1_000_000)


def main() -> None:
    table = Table(title="A rule by its name, and the same as a function of one's own")
    for column in ("what", "built in", "own", "ratio"):
        table.add_column(column)
    rows: dict[str, tuple[Callable[[], float], Callable[[], float]]] = {
        "explore, keep, ns per arm": (lambda: explore("staircase"), lambda: explore(own_staircase)),
        "play, keep, ns per pull": (lambda: play("staircase", "moss"), lambda: play(own_staircase, "moss")),
        "play, index, ns per pull": (lambda: play("staircase", "moss"), lambda: play("staircase", own_moss)),
    }
    for what, (built_in, own) in rows.items():
        built_in(), own()  # compiled before it is measured
        first, second = built_in(), own()
        table.add_row(what, f"{first:,.2f}", f"{second:,.2f}", f"{second / first:.2f}")
    Console().print(table)


if __name__ == "__main__":
    main()
