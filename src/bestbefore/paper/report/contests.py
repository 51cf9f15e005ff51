"""Who is lower in a panel, and by what factor: one line of the table of verdicts."""

import math
from statistics import median
from typing import NamedTuple

from bestbefore.paper.panels import Panel
from bestbefore.paper.readings import CURVES
from bestbefore.paper.verdicts import Means, Numbers


class Contest(NamedTuple):
    """Who of two has the lower number, in the median over memories."""

    winner: str
    """A name, or nothing if both are level."""
    factor: float

    @property
    def text(self) -> str:
        """The same in words.

        >>> [Contest(*one).text for one in (("topk", 12.34), ("topk", 2.34), ("topk", math.inf), ("", 1.0))]
        ['topk, 12 times', 'topk, 2.3 times', 'topk, to 0', 'level']
        """
        if not self.winner:
            return "level"
        if math.isinf(self.factor):
            return f"{self.winner}, to 0"
        return (
            f"{self.winner}, {self.factor:,.0f} times"
            if self.factor >= 10
            else f"{self.winner}, {self.factor:.1f} times"
        )


def contest(one: str, own: Means, other: str, their: Means) -> Contest:
    """Compare two by the median over memories of the factor between their numbers; 0 and 0 are level.

    >>> contest("ours", {2: 1.0, 4: 1.0, 6: 0.0}, "theirs", {2: 3.0, 4: 5.0, 6: 2.0})
    Contest(winner='ours', factor=5.0)
    >>> contest("ours", {2: 3.0}, "theirs", {2: 1.5})
    Contest(winner='theirs', factor=2.0)
    """
    middle = median(_factor(their[memory], own[memory]) for memory in own)
    if round(middle, 3) == 1:
        return Contest("", 1.0)
    return Contest(one, middle) if middle > 1 else Contest(other, 1 / middle if middle > 0 else math.inf)


def _factor(high: float, low: float) -> float:
    if high <= 0 and low <= 0:
        return 1.0
    return math.inf if low <= 0 else max(high, 0.0) / low


def contests(panel: Panel, numbers: Numbers) -> dict[str, Contest]:
    """Compare the paper's algorithm with the baseline in both readings, where there is one, and ours with it."""
    names = {(curve.reading, curve.baseline): curve.name for curve in CURVES[panel.task]}
    found = {}
    for reading in ("published", "described"):
        if (reading, True) in names:
            own, baseline = numbers.of(reading), numbers.of(reading, baseline=True)
            found[reading] = contest(names[reading, False], own, names[reading, True], baseline)
    found["ours"] = contest(
        names["ours", False], numbers.of("ours"), names["described", False], numbers.of("described")
    )
    return found
