"""Three readings of each panel: as described in the text, as published in figures, and ours.

A curve is a reading by one algorithm.  A piece of work is one run of one curve with all memory sizes, or a few runs,
so that work can be cut, spread over machines, stopped and taken up again; its rows depend on seed and run alone.

>>> from bestbefore.paper.panels import Panel
>>> panel = Panel("explore", "uniform", arms=60, window=10, memory=(2, 4))
>>> [(curve.reading, curve.name) for curve in CURVES["explore"]][:2]
[('described', 'bucket'), ('described', 'topk')]
>>> rows = run_piece(Piece(panel, CURVES["explore"][0], range(1), seed=0))
>>> [(row["reading"], row["curve"], row["memory"], row["run"]) for row in rows]
[('described', 'bucket', 2, 0), ('described', 'bucket', 4, 0)]
"""

from dataclasses import dataclass
from typing import Any

from bestbefore import plan, simulate
from bestbefore.paper import published
from bestbefore.paper.deviations import AS_DESCRIBED, PUBLISHED
from bestbefore.paper.panels import BUDGET, DELTA, Panel
from bestbefore.simulate.table import Row


@dataclass(frozen=True)
class Curve:
    """One algorithm in one reading."""

    reading: str
    name: str
    baseline: bool = False
    """Whether it is the paper's baseline, not its algorithm."""

    @property
    def role(self) -> str:
        """Whose curve it is: "ours", the "baseline"'s or the "paper"'s."""
        return "ours" if self.reading == "ours" else "baseline" if self.baseline else "paper"


CURVES: dict[str, tuple[Curve, ...]] = {
    "explore": (
        Curve("described", "bucket"),
        Curve("described", "topk", baseline=True),
        Curve("published", "bucket"),
        Curve("published", "topk", baseline=True),
        Curve("ours", "staircase"),
    ),
    "regret": (
        Curve("described", "reservoir x ucb"),
        Curve("described", "topk x commit", baseline=True),
        Curve("published", "reservoir x ucb"),
        Curve("published", "topk x commit", baseline=True),
        Curve("ours", f"{plan.PLAY_KEEP} x {plan.PLAY_PULL}"),
    ),
    "everlasting": (Curve("described", "wait"), Curve("published", "wait"), Curve("ours", "seeker")),
}
"""The curves of each task."""

DEVIATIONS = {"described": AS_DESCRIBED, "published": PUBLISHED, "ours": AS_DESCRIBED}
"""How the arms and budgets of a reading differ from the text."""

MEASURES = {"explore": ("mean", "median", "max"), "regret": ("regret",), "everlasting": ("regret", "found")}
"""The columns that a task is judged by; the first counts most."""


@dataclass(frozen=True)
class Piece:
    """Some runs of one curve of a panel."""

    panel: Panel
    curve: Curve
    runs: range
    seed: int
    path: str | None = None
    """Where MovieLens is, if it is not where it is looked for."""
    fingerprint: str = ""
    """Of that data, so that what is stored is never taken for what other data would give."""

    @property
    def key(self) -> str:
        """A name that no other piece has, so that its result can be stored under it; the panel's comes first."""
        sizes = ",".join(map(str, self.panel.memory))
        runs = str(self.runs.start) if len(self.runs) == 1 else f"{self.runs.start}-{self.runs.stop - 1}"
        parts = (self.panel.name, self.curve.reading, self.curve.name, sizes, self.fingerprint, runs)
        return "/".join(part for part in parts if part)


def run_piece(piece: Piece) -> list[Row]:
    """Do a piece of work, and return its rows, one for each memory size and run."""
    panel, curve = piece.panel, piece.curve
    settings: Any = {"runs": piece.runs, "seed": piece.seed, "jobs": 1, "progress": False}
    compute = {"explore": _explore, "regret": _regret, "everlasting": _everlasting}[panel.task]
    table = compute(panel, curve, piece.path, settings)
    names = {"panel": panel.name, "reading": curve.reading, "curve": curve.name}
    kept = ("memory", "run", *MEASURES[panel.task])
    return [names | {column: row[column] for column in kept} for row in table]


def _explore(panel: Panel, curve: Curve, path: str | None, settings: Any) -> simulate.Table:
    """Explore: all rules test each arm as Algorithm 1 does for the least epsilon that the memory can promise."""
    stream = panel.stream(path, DEVIATIONS[curve.reading])
    if curve.reading == "published":
        return published.explore(stream, panel.window, panel.memory, curve.name, delta=DELTA, **settings)
    return simulate.explore(stream, panel.window, panel.memory, curve.name, guarantee="strong", delta=DELTA, **settings)


def _regret(panel: Panel, curve: Curve, path: str | None, settings: Any) -> simulate.Table:
    """Play n epochs in all readings, as the figures do, though the text begins with the first full window."""
    keep, pull = curve.name.split(" x ")
    deviations = DEVIATIONS[curve.reading]
    stream, budget = panel.stream(path, deviations), panel.budget(deviations)
    if curve.reading == "published":
        algorithm = "reservoir" if keep == "reservoir" else "commit"
        return published.regret(stream, panel.window, budget, panel.memory, algorithm, delta=DELTA, **settings)
    settings |= {"delta": DELTA, "partial": True}
    return simulate.play(stream, panel.window, budget, panel.memory, keep, pull, **settings)


def _everlasting(panel: Panel, curve: Curve, path: str | None, settings: Any) -> simulate.Table:
    """Seek the best arm with an explicit flag, and time that goes on; ours waits if it has W slots, else it races."""
    stream, budget = panel.stream(path), BUDGET * panel.arms
    if curve.reading == "published":
        return published.everlasting(stream, panel.window, budget, panel.memory, **settings)
    few = [slots for slots in panel.memory if curve.reading == "ours" and slots < panel.window]
    rows: list[Row] = []
    for strategy, memory in (("race", few), ("wait", [slots for slots in panel.memory if slots not in few])):
        rows += simulate.seek(stream, panel.window, budget, memory, strategy=strategy, **settings) if memory else []
    return simulate.Table(rows)
