"""Verdicts computed from the rows: does the paper's claim for a panel hold, as published and as described?

A verdict is data: claims by their ids, duels by their fields.  `bestbefore.paper.words` makes sentences of it.

>>> from bestbefore.paper.panels import Panel
>>> panel = Panel("everlasting", "uniform", arms=60, window=4, memory=(3, 4))
>>> rows = [
...     {"reading": reading, "curve": curve, "memory": memory, "run": run, "regret": 40_000.0 * (memory < 4)}
...     for reading, curve in (("described", "wait"), ("published", "wait"), ("ours", "seeker"))
...     for memory in (3, 4)
...     for run in range(5)
... ]
>>> for one in judge(panel, rows).judgements:
...     print(one.claim, one.published, one.described)
everlasting-no-regret Ruling(holds=True, runs=5) Ruling(holds=True, runs=5)
everlasting-wide-range None None
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from bestbefore.paper.claims import CLAIMS, Claim, claim, claims_of
from bestbefore.paper.duels import Duel, duels
from bestbefore.paper.numbers import Economy, Numbers
from bestbefore.paper.panels import Panel
from bestbefore.simulate.table import Row

JUDGED: Final = ("published", "described")
"""The readings in which claims are judged."""


class Ruling(NamedTuple):
    """Whether a claim holds, by so many runs; None if they cannot tell."""

    holds: bool | None
    runs: int


@dataclass(frozen=True)
class Judgement:
    """A claim of the paper on a panel, and whether it holds; None where the claim says nothing of the panel."""

    claim: str
    """Its id."""
    published: Ruling | None
    described: Ruling | None

    def __post_init__(self) -> None:
        claim(self.claim)

    def ruling(self, reading: str) -> Ruling | None:
        """Return the ruling on a reading."""
        return {"published": self.published, "described": self.described}[reading]


@dataclass(frozen=True)
class Verdict:
    """What is to be said of a panel."""

    panel: Panel
    judgements: tuple[Judgement, ...]
    duels: tuple[Duel, ...]
    """Who wins at which memory, and by what factor."""
    economy: Economy | None = None
    """Of regret only: a few slots of ours against a window of theirs."""

    def open(self) -> Iterator[tuple[Claim, str]]:
        """Return the claims that the runs cannot tell, with the reading."""
        for one in self.judgements:
            for reading in JUDGED:
                ruling = one.ruling(reading)
                if ruling and ruling.holds is None:
                    yield claim(one.claim), reading


def judge(panel: Panel, rows: Iterable[Row]) -> Verdict:
    """Judge a panel by its rows."""
    numbers = Numbers(panel, rows)
    judgements = tuple(
        Judgement(one.id, *(_ruling(one, numbers, reading) for reading in JUDGED)) for one in claims_of(panel.task)
    )
    return Verdict(panel, judgements, duels(numbers), numbers.economy if panel.task == "regret" else None)


def _ruling(one: Claim, numbers: Numbers, reading: str) -> Ruling | None:
    if not one.asked(numbers.panel):
        return None
    return Ruling(one.test(numbers, reading), numbers.count(*((reading, role) for role in one.roles)))


class Votes(NamedTuple):
    """In how many panels something holds, does not hold, or cannot be told."""

    hold: int
    fall: int
    open: int

    @classmethod
    def of(cls, answers: Iterable[bool | None]) -> "Votes":
        """Count answers."""
        told = list(answers)
        return cls(told.count(True), told.count(False), told.count(None))

    @property
    def all(self) -> int:
        """How many there are."""
        return sum(self)


@dataclass(frozen=True)
class Tally:
    """How often a claim holds over all panels of its task that it says anything of."""

    claim: str
    """Its id."""
    published: Votes
    described: Votes

    def __post_init__(self) -> None:
        claim(self.claim)


def tally(verdicts: Sequence[Verdict]) -> list[Tally]:
    """Count, for each claim on a task that was judged, the panels where it holds."""
    judged = {verdict.panel.task for verdict in verdicts}
    return [_counted(one.id, verdicts) for one in CLAIMS.values() if one.task in judged]


def _counted(id: str, verdicts: Sequence[Verdict]) -> Tally:
    found = [one for verdict in verdicts for one in verdict.judgements if one.claim == id]
    rulings = [[one.ruling(reading) for one in found] for reading in JUDGED]
    return Tally(id, *(Votes.of(ruling.holds for ruling in told if ruling) for told in rulings))
