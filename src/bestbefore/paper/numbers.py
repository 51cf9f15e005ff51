"""The rows of a panel as numbers: by curve and memory, one for each run.

A curve is named by its reading and its role, as ("published", "baseline"); see `bestbefore.paper.readings.Curve`.

>>> panel = Panel("everlasting", "uniform", arms=60, window=4, memory=(2,))
>>> rows = [{"reading": "ours", "curve": "seeker", "memory": 2, "run": run, "regret": 10.0 * run} for run in (1, 2)]
>>> Numbers(panel, rows).runs("ours", "ours")
{2: array([10., 20.])}
"""

from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from bestbefore.paper.chance import LEAST_RUNS
from bestbefore.paper.panels import Panel
from bestbefore.paper.readings import CURVES, MEASURES, Curve
from bestbefore.simulate.table import Row

Floats = npt.NDArray[np.float64]
Runs = dict[int, Floats]
"""By memory, what a task is judged by, one number for each run."""
Which = tuple[str, str]
"""A curve of a panel: its reading, and its role."""

RESAMPLES: Final = 1000
ENDS: Final = (0.025, 0.975)
"""Intervals are of 95%."""


class Economy(NamedTuple):
    """What ours loses with a few slots, and what the paper's algorithm loses with a whole window of them.

    `low` and `high` are a 95% interval of what ours loses as a share of what theirs does.
    """

    memory: int
    ours: float
    window: int
    theirs: float
    low: float
    high: float


class Numbers:
    """The rows of a panel, by curve and memory."""

    def __init__(self, panel: Panel, rows: Iterable[Row]) -> None:
        self.panel, column = panel, MEASURES[panel.task][0]
        self._rows: dict[Which, dict[int, dict[int, float]]] = {}
        roles = {(curve.reading, curve.name): curve.role for curve in CURVES[panel.task]}
        for row in rows:
            which = row["reading"], roles[row["reading"], row["curve"]]
            runs = self._rows.setdefault(which, {}).setdefault(row["run"], {})
            runs[row["memory"]] = row[column]

    def curve(self, reading: str, role: str) -> Curve:
        """Return the curve of a reading and a role."""
        known = {(curve.reading, curve.role): curve for curve in CURVES[self.panel.task]}
        if (reading, role) not in known:
            raise KeyError(f"{self.panel.task!r} has no curve of reading {reading!r} and role {role!r}")
        return known[reading, role]

    def runs(self, reading: str, role: str) -> Runs:
        """Return the numbers of a curve by memory, one for each run, in the order of the runs."""
        return self.paired((reading, role))[0]

    def paired(self, *curves: Which) -> list[Runs]:
        """Return the numbers of some curves in the runs that all of them have."""
        for which in curves:
            self.curve(*which)
        common = sorted(set.intersection(*(set(self._rows[which]) for which in curves)))
        return [
            {memory: np.array([self._rows[which][run][memory] for run in common]) for memory in self.panel.memory}
            for which in curves
        ]

    def count(self, *curves: Which) -> int:
        """Return how many runs these curves have in common."""
        return len(self.paired(*curves)[0][self.panel.memory[0]])

    @property
    def economy(self) -> Economy | None:
        """Compare ours with at most three tenths of W as memory to theirs, as described, with W; None if it cannot."""
        window = self.panel.window
        few = max((memory for memory in self.panel.memory if memory <= 0.3 * window), default=0)
        if not few or window not in self.panel.memory:
            return None
        ours, theirs = (runs for runs in self.paired(("ours", "ours"), ("described", "paper")))
        own, their = ours[few], theirs[window]
        if their.mean() <= 0:
            return None
        low, high = interval(lambda rows: own[rows].mean(axis=1) / their[rows].mean(axis=1), own.size)
        return Economy(few, float(own.mean()), window, float(their.mean()), low, high)


def interval(statistic: Callable[[npt.NDArray[np.int64]], Floats], runs: int) -> tuple[float, float]:
    """Return a 95% interval of a statistic by resampling whole runs; 0 to infinity if there are too few of them.

    `statistic` is handed rows of runs, and returns a number for each row.  The rows are the same every time.

    >>> regrets = np.array([8.0, 10.0, 12.0, 9.0, 11.0])
    >>> interval(lambda rows: regrets[rows].mean(axis=1), runs=5)
    (8.8, 11.2)
    """
    if runs < LEAST_RUNS:
        return 0.0, np.inf
    rows = np.random.default_rng(0).integers(runs, size=(RESAMPLES, runs))
    low, high = np.quantile(statistic(rows), ENDS, method="inverted_cdf")
    return float(low), float(high)
