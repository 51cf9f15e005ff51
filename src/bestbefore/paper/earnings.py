"""Who earns what: the regret of each keep rule with each pull rule and memory, so that a pair's merit can be divided.

The paper's algorithm is fifo or reservoir with UCB, ours is heirs with fresh.  Two things are different between
them, and here each is changed alone: on the paper's arms for regret, n = 500 and W = 20, and on means that fall.

>>> [(one.stream, one.keep, one.pull, one.memory) for one in CELLS[:2]]
[('two-level', 'fifo', 'ucb', 2), ('two-level', 'fifo', 'ucb', 6)]
>>> (row,) = run_cell(CELLS[0], runs=2)
>>> row["runs"], row["regret"] > 10 * row["error"] > 0
(2, True)
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from bestbefore import simulate, streams
from bestbefore.paper.panels import BUDGET, DELTA
from bestbefore.simulate.table import Row
from bestbefore.streams import Stream

ARMS, WINDOW = 500, 20
MEMORY: Final = (2, 6, WINDOW)
KEEP: Final = ("fifo", "reservoir", "bucket", "topk", "staircase", "heirs")
PULL: Final = ("ucb", "moss", "fresh")
STREAMS: Final = {
    "two-level": "the paper's arms for regret, in random order",
    "sawtooth": "means that fall, again and again, over two windows",
}
RUNS: Final = 20


@dataclass(frozen=True)
class Cell:
    """One pair of rules on a stream, with a memory."""

    stream: str
    keep: str
    pull: str
    memory: int

    @property
    def key(self) -> str:
        """A name that no other piece of work has."""
        return f"earnings/{self.stream}/{self.keep} x {self.pull}/{self.memory}"

    def arms(self) -> Stream:
        """Make the arms."""
        if self.stream == "two-level":
            return streams.two_level(ARMS, WINDOW)
        return streams.sawtooth(ARMS, period=2 * WINDOW)


CELLS: Final = [
    Cell(stream, keep, pull, memory) for stream in STREAMS for keep in KEEP for pull in PULL for memory in MEMORY
]


def run_cell(cell: Cell, seed: int = 0, runs: int = RUNS) -> list[Row]:
    """Play a cell, and return one row: the mean over runs, and its standard error."""
    regret = simulate.play(
        cell.arms(),
        WINDOW,
        BUDGET,
        cell.memory,
        cell.keep,
        cell.pull,
        delta=DELTA,
        partial=True,
        runs=runs,
        seed=seed,
        jobs=1,
        progress=False,
    )["regret"]
    names = {"stream": cell.stream, "keep": cell.keep, "pull": cell.pull, "memory": cell.memory}
    error = float(regret.std(ddof=1) / math.sqrt(runs))
    return [names | {"runs": runs, "regret": float(regret.mean()), "error": error}]


class Earnings:
    """The rows of all cells."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self.rows = {Cell(row["stream"], row["keep"], row["pull"], row["memory"]): row for row in rows}

    def row(self, cell: Cell) -> Row:
        """Return the row of a cell."""
        return self.rows[cell]

    def factor(self, high: Cell, low: Cell) -> tuple[float, float]:
        """Return a 95% interval of how many times more the one loses than the other.

        The logarithm of a mean has about the mean's relative error as its own; cells share their arms, which makes the
        interval a little too wide.
        """
        one, other = self.rows[high], self.rows[low]
        error = math.hypot(one["error"] / one["regret"], other["error"] / other["regret"])
        factor = one["regret"] / other["regret"]
        return factor * math.exp(-1.96 * error), factor * math.exp(1.96 * error)
