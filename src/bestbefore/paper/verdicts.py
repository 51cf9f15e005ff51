"""Verdicts computed from the rows: does the paper's claim for a panel hold, as published and as described?

A verdict is data: claims by their ids, duels by their fields.  `bestbefore.paper.words` makes sentences of it.

>>> from bestbefore.paper.panels import Panel
>>> panel = Panel("everlasting", "uniform", arms=60, window=4, memory=(2, 4))
>>> rows = [
...     {"reading": reading, "curve": curve, "memory": memory, "run": run, "regret": 40_000.0 * (memory < 4) * run}
...     for reading, curve in (("described", "wait"), ("published", "wait"), ("ours", "seeker"))
...     for memory in (2, 4)
...     for run in (0, 1)
... ]
>>> [(one.claim, one.published, one.described) for one in judge(panel, rows).judgements]
[('everlasting-no-regret', True, True), ('everlasting-wide-range', True, True)]
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bestbefore.paper.claims import CLAIMS, claim, claims_of
from bestbefore.paper.duels import Duel, duels
from bestbefore.paper.numbers import Economy, Numbers
from bestbefore.paper.panels import Panel
from bestbefore.simulate.table import Row


@dataclass(frozen=True)
class Judgement:
    """A claim of the paper on a panel, and whether it holds; None if its memories or runs cannot tell."""

    claim: str
    """Its id."""
    published: bool | None
    described: bool | None

    def __post_init__(self) -> None:
        claim(self.claim)


@dataclass(frozen=True)
class Verdict:
    """What is to be said of a panel."""

    panel: Panel
    judgements: tuple[Judgement, ...]
    duels: tuple[Duel, ...]
    """Who wins at which memory, and by what factor."""
    economy: Economy | None = None
    """Of regret only: a few slots of ours against a window of theirs."""


def judge(panel: Panel, rows: Iterable[Row]) -> Verdict:
    """Judge a panel by its rows."""
    numbers = Numbers(panel, rows)
    judgements = tuple(
        Judgement(one.id, one.test(numbers, "published"), one.test(numbers, "described"))
        for one in claims_of(panel.task)
    )
    return Verdict(panel, judgements, duels(numbers), numbers.economy if panel.task == "regret" else None)


@dataclass(frozen=True)
class Tally:
    """How often a claim holds over all panels of its task that can tell."""

    claim: str
    """Its id."""
    published: int
    described: int
    panels: int

    def __post_init__(self) -> None:
        claim(self.claim)


def tally(verdicts: Sequence[Verdict]) -> list[Tally]:
    """Count, for each claim on a task that was judged, the panels where it holds."""
    judged = {verdict.panel.task for verdict in verdicts}
    return [_counted(one.id, verdicts) for one in CLAIMS.values() if one.task in judged]


def _counted(id: str, verdicts: Sequence[Verdict]) -> Tally:
    found = [one for verdict in verdicts for one in verdict.judgements if one.claim == id]
    told = [one for one in found if one.published is not None]
    published = sum(one.published is True for one in told)
    return Tally(id, published, sum(one.described is True for one in told), len(told))
