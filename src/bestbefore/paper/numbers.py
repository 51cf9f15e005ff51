"""The rows of a panel as numbers: by curve and memory, one for each run, and their means.

>>> panel = Panel("everlasting", "uniform", arms=60, window=4, memory=(2,))
>>> rows = [{"reading": "ours", "curve": "seeker", "memory": 2, "run": run, "regret": 10.0 * run} for run in (1, 2)]
>>> Numbers(panel, rows).of("ours")
{2: 15.0}
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from bestbefore.paper.panels import Panel
from bestbefore.paper.readings import CURVES, MEASURES, Curve
from bestbefore.simulate.table import Row

Means = dict[int, float]
"""Memory, and the mean over runs of what a task is judged by."""


class Economy(NamedTuple):
    """What ours loses with a few slots, and what the paper's algorithm loses with a whole window of them."""

    memory: int
    ours: float
    window: int
    theirs: float

    @property
    def share(self) -> float:
        """What ours loses, as a share of what theirs does."""
        return self.ours / self.theirs


class Numbers:
    """The rows of a panel, by curve and memory."""

    def __init__(self, panel: Panel, rows: Iterable[Row]) -> None:
        self.panel, column = panel, MEASURES[panel.task][0]
        self._runs: dict[tuple[str, str], dict[int, list[float]]] = {}
        for row in rows:
            sizes = self._runs.setdefault((row["reading"], row["curve"]), {})
            sizes.setdefault(row["memory"], []).append(row[column])

    def curve(self, reading: str, *, baseline: bool = False) -> Curve:
        """Return the algorithm of a reading, or its baseline."""
        known = {(curve.reading, curve.baseline): curve for curve in CURVES[self.panel.task]}
        if (reading, baseline) not in known:
            what = "a baseline" if baseline else "a curve"
            raise KeyError(f"{self.panel.task!r} has no reading {reading!r} with {what}")
        return known[reading, baseline]

    def runs(self, reading: str, *, baseline: bool = False) -> dict[int, list[float]]:
        """Return the numbers of each memory, one for each run."""
        curve = self.curve(reading, baseline=baseline)
        return self._runs[curve.reading, curve.name]

    def of(self, reading: str, *, baseline: bool = False) -> Means:
        """Return the means of the algorithm of a reading, or of its baseline."""
        runs = self.runs(reading, baseline=baseline)
        return {memory: float(np.mean(values)) for memory, values in runs.items()}

    @property
    def economy(self) -> Economy | None:
        """Compare ours with at most three tenths of W as memory to theirs, as described, with W; None if it cannot."""
        ours, theirs, window = self.of("ours"), self.of("described"), self.panel.window
        few = max((memory for memory in ours if memory <= 0.3 * window), default=0)
        return Economy(few, ours[few], window, theirs[window]) if few and theirs.get(window, 0) > 0 else None
