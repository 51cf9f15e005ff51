"""Verdicts in words, computed from the rows: does the paper's claim for a panel hold, as published and as described?

>>> from bestbefore.paper.panels import Panel
>>> panel = Panel("everlasting", "uniform", arms=60, window=4, memory=(2, 4))
>>> rows = [
...     {"reading": reading, "curve": curve, "memory": memory, "run": run, "regret": 40_000.0 * (memory < 4) * run}
...     for reading, curve in (("described", "wait"), ("published", "wait"), ("ours", "seeker"))
...     for memory in (2, 4)
...     for run in (0, 1)
... ]
>>> [(one.claim, one.published, one.described) for one in judge(panel, rows).judgements]
[('regret is 0 in every run once memory is W', True, True), ('below W the range over runs is wide', True, True)]
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bestbefore.paper.panels import BUDGET, Panel
from bestbefore.paper.readings import CURVES, MEASURES, Curve
from bestbefore.simulate.table import Row

Means = dict[int, float]
"""Memory, and the mean over runs of what a task is judged by."""
Test = Callable[[Panel, "Numbers", str], bool | None]


@dataclass(frozen=True)
class Judgement:
    """A claim of the paper on a panel, and whether it holds; None if its memories or runs cannot tell."""

    claim: str
    published: bool | None
    described: bool | None


@dataclass(frozen=True)
class Verdict:
    """What is to be said of a panel."""

    panel: Panel
    judgements: tuple[Judgement, ...]
    sentences: tuple[str, ...]
    """Who wins at which memory, and by what factor."""


class Numbers:
    """The rows of a panel, by curve and memory."""

    def __init__(self, panel: Panel, rows: Iterable[Row]) -> None:
        self.column = MEASURES[panel.task][0]
        self.curves: dict[tuple[str, str], dict[int, list[float]]] = {}
        for row in rows:
            sizes = self.curves.setdefault((row["reading"], row["curve"]), {})
            sizes.setdefault(row["memory"], []).append(row[self.column])
        self.task = panel.task

    def runs(self, curve: Curve) -> dict[int, list[float]]:
        """Return the numbers of each memory, one for each run."""
        return self.curves[curve.reading, curve.name]

    def means(self, curve: Curve) -> Means:
        """Return the mean over runs of each memory."""
        return {memory: float(np.mean(values)) for memory, values in self.runs(curve).items()}

    def of(self, reading: str, *, baseline: bool = False) -> Means:
        """Return the means of the algorithm of a reading, or of its baseline."""
        (curve,) = (one for one in CURVES[self.task] if one.reading == reading and one.baseline == baseline)
        return self.means(curve)

    def at_three_tenths(self, panel: Panel) -> tuple[int, float, float] | None:
        """Return the most memory within three tenths of W, what ours loses with it, and theirs as described with W."""
        ours, theirs = self.of("ours"), self.of("described")
        few = max((memory for memory in ours if memory <= 0.3 * panel.window), default=0)
        return (few, ours[few], theirs[panel.window]) if few and theirs.get(panel.window, 0) > 0 else None


def _beats_the_baseline(panel: Panel, numbers: Numbers, reading: str) -> bool:
    own, baseline = numbers.of(reading), numbers.of(reading, baseline=True)
    return all(own[memory] < baseline[memory] for memory in own)


def _memory_is_lost_on_the_baseline(panel: Panel, numbers: Numbers, reading: str) -> bool | None:
    """Say whether the baseline's number with the most memory is still more than half of that with the least."""
    baseline = numbers.of(reading, baseline=True)
    return baseline[max(baseline)] > 0.5 * baseline[min(baseline)] if len(baseline) > 1 else None


def _rises_before_the_window(panel: Panel, numbers: Numbers, reading: str) -> bool | None:
    """Say whether regret rises at the last memory before W above the least before it, and falls by half at W."""
    means = numbers.of(reading)
    before = [means[memory] for memory in sorted(means) if memory < panel.window]
    if len(before) < 2 or panel.window not in means:
        return None
    return before[-1] > min(before[:-1]) and means[panel.window] < 0.5 * before[-1]


def _costs_nothing_with_a_window(panel: Panel, numbers: Numbers, reading: str) -> bool | None:
    runs = numbers.runs(_curve(panel.task, reading))
    regrets = [regret for memory, values in runs.items() if memory >= panel.window for regret in values]
    return max(regrets) == 0 if regrets else None


def _is_a_gamble_below(panel: Panel, numbers: Numbers, reading: str) -> bool | None:
    """Say whether with half a window or less the worst run loses a tenth of all there is more than the best run."""
    runs = numbers.runs(_curve(panel.task, reading))
    few = [values for memory, values in runs.items() if memory <= panel.window / 2]
    wide = [max(values) - min(values) for values in few if len(values) > 1]  # one run has no range
    return min(wide) > 0.1 * BUDGET * panel.arms if wide else None


def _curve(task: str, reading: str) -> Curve:
    return next(curve for curve in CURVES[task] if curve.reading == reading and not curve.baseline)


CLAIMS: Mapping[str, Mapping[str, Test]] = {
    "explore": {
        "Bucket's error is below the baseline's at every memory": _beats_the_baseline,
        "more memory does not help the baseline": _memory_is_lost_on_the_baseline,
    },
    "regret": {
        "the paper's algorithm loses less than the baseline at every memory": _beats_the_baseline,
        "regret goes up before memory is W, and falls there": _rises_before_the_window,
    },
    "everlasting": {
        "regret is 0 in every run once memory is W": _costs_nothing_with_a_window,
        "below W the range over runs is wide": _is_a_gamble_below,
    },
}
"""What the paper says of its figures, each claim with its test."""


def judge(panel: Panel, rows: Iterable[Row]) -> Verdict:
    """Judge a panel by its rows."""
    numbers = Numbers(panel, rows)
    judgements = tuple(
        Judgement(claim, test(panel, numbers, "published"), test(panel, numbers, "described"))
        for claim, test in CLAIMS[panel.task].items()
    )
    return Verdict(panel, judgements, tuple(_sentences(panel, numbers)))


def _sentences(panel: Panel, numbers: Numbers) -> list[str]:
    """Say who wins, at which memory, by what factor."""
    sentences = []
    if panel.task != "everlasting":
        for reading in ("published", "described"):
            own, baseline = numbers.of(reading), numbers.of(reading, baseline=True)
            sentences.append(f"As {reading}, {_duel(_curve(panel.task, reading).name, own, 'the baseline', baseline)}.")
    ours, theirs = numbers.of("ours"), numbers.of("described")
    name = _curve(panel.task, "ours").name
    sentences.append(f"Ours ({name}) against the paper's, as described: {_duel('ours', ours, 'theirs', theirs)}.")
    if panel.task == "regret" and (compared := numbers.at_three_tenths(panel)):
        few, lost, full = compared
        sentences.append(
            f"{few} slots of ours lose {lost:,.0f}, {panel.window} of theirs {full:,.0f}: {lost / full:.0%}."
        )
    return sentences


def _duel(one: str, own: Means, other: str, their: Means) -> str:
    """Say who of two is lower at how many memories, and by what factor where it is most."""
    wins = [memory for memory in own if own[memory] < their[memory]]
    losses = [memory for memory in own if own[memory] > their[memory]]
    parts = []
    for name, memories, low, high in ((one, wins, own, their), (other, losses, their, own)):
        if memories:
            most = max(memories, key=lambda memory: _factor(high[memory], low[memory]))
            at = f"{len(memories)} of {len(own)} memories" if len(memories) < len(own) else "every memory"
            parts.append(f"{name} is lower at {at}, by {_times(_factor(high[most], low[most]), most)}")
    ties = len(own) - len(wins) - len(losses)
    if ties:
        parts.append(
            f"they are equal at {ties} of {len(own)} memories" if ties < len(own) else "they are equal at every memory"
        )
    return "; ".join(parts)


def _factor(high: float, low: float) -> float:
    return high / low if low > 0 else np.inf


def _times(factor: float, memory: int) -> str:
    """Say how much lower, and with what memory.

    >>> _times(1.04, 8), _times(2.5, 8)
    ('less than 5%', 'up to a factor of 2.5 with memory 8')
    """
    if np.isinf(factor):
        return f"all of it, down to 0, with memory {memory}"
    if factor < 1.05:
        return "less than 5%"
    return f"up to a factor of {factor:,.{int(factor < 10)}f} with memory {memory}"


@dataclass(frozen=True)
class Tally:
    """How often a claim holds over all panels of a task that can tell."""

    task: str
    claim: str
    published: int
    described: int
    panels: int


def tally(verdicts: Sequence[Verdict]) -> list[Tally]:
    """Count, for each claim, the panels where it holds."""
    counts = []
    for task, claims in CLAIMS.items():
        chosen = [verdict for verdict in verdicts if verdict.panel.task == task]
        for claim in claims if chosen else ():
            found = [one for verdict in chosen for one in verdict.judgements if one.claim == claim]
            told = [one for one in found if one.published is not None]
            published, described = (
                sum(one.published is True for one in told),
                sum(one.described is True for one in told),
            )
            counts.append(Tally(task, claim, published, described, len(told)))
    return counts
