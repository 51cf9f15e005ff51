"""Two curves of a panel against each other: who is lower, at which memories, and by what factor.

>>> compare(Side("paper", "bucket"), {2: 1.0, 4: 1.0, 6: 3.0}, Side("baseline", "topk"), {2: 2.0, 4: 5.0, 6: 3.0})
... # doctest: +NORMALIZE_WHITESPACE
Duel(reading='described',
     sides=(Side(role='paper', curve='bucket', lower_at=(2, 4), factor=5.0, at=4),
            Side(role='baseline', curve='topk', lower_at=(), factor=1.0, at=None)),
     equal_at=(6,), lower='paper', median=2.0)
"""

import math
from dataclasses import dataclass, replace
from statistics import median

from bestbefore.paper.numbers import Means, Numbers
from bestbefore.paper.readings import CURVES

LEVEL = ""
"""What stands for a winner where both are level."""


@dataclass(frozen=True)
class Side:
    """One of two curves, and where it is lower than the other."""

    role: str
    """Whose it is: see `bestbefore.paper.readings.Curve.role`."""
    curve: str
    lower_at: tuple[int, ...] = ()
    """The memories at which it is lower."""
    factor: float = 1.0
    """How many times lower, where it is most so; infinite if it is 0 there and the other is not."""
    at: int | None = None
    """The memory of this factor; None if it is nowhere lower."""


@dataclass(frozen=True)
class Duel:
    """Two curves against each other."""

    reading: str
    """"published" and "described" are the paper's algorithm against its baseline, "ours" is ours against the paper's
    algorithm as described."""
    sides: tuple[Side, Side]
    equal_at: tuple[int, ...]
    """The memories at which they are equal."""
    lower: str
    """The role of the one that is lower in the median over memories, or `LEVEL`."""
    median: float
    """How many times lower it is: the median over memories of the factor between the two, 0 and 0 being level."""

    def side(self, role: str) -> Side:
        """Return the side of a role."""
        for side in self.sides:
            if side.role == role:
                return side
        raise KeyError(f"role must be one of {[side.role for side in self.sides]}, not {role!r}")


def compare(one: Side, own: Means, other: Side, their: Means, reading: str = "described") -> Duel:
    """Compare two curves at the memories of the first.

    >>> compare(Side("ours", "staircase"), {2: 3.0}, Side("paper", "bucket"), {2: 1.5}, "ours").lower
    'paper'
    """
    sides = (_placed(one, own, their, list(own)), _placed(other, their, own, list(own)))
    equal = tuple(memory for memory in own if own[memory] == their[memory])
    middle = median(_factor(their[memory], own[memory]) for memory in own)
    if round(middle, 3) == 1:
        return Duel(reading, sides, equal, LEVEL, 1.0)
    if middle > 1:
        return Duel(reading, sides, equal, one.role, middle)
    return Duel(reading, sides, equal, other.role, 1 / middle if middle > 0 else math.inf)


def _placed(side: Side, own: Means, their: Means, memories: list[int]) -> Side:
    """Fill in where a side is lower."""
    lower = tuple(memory for memory in memories if own[memory] < their[memory])
    if not lower:
        return side
    most = max(lower, key=lambda memory: _factor(their[memory], own[memory]))
    return replace(side, lower_at=lower, factor=_factor(their[most], own[most]), at=most)


def _factor(high: float, low: float) -> float:
    if high <= 0 and low <= 0:
        return 1.0
    return math.inf if low <= 0 else max(high, 0.0) / low


def duels(numbers: Numbers) -> tuple[Duel, ...]:
    """Compare the paper's algorithm with the baseline in both readings, where there is one, and ours with it."""
    found = []
    for reading in ("published", "described"):
        if any(curve.baseline for curve in CURVES[numbers.panel.task] if curve.reading == reading):
            found.append(_duel(numbers, (reading, False), (reading, True), reading))
    return (*found, _duel(numbers, ("ours", False), ("described", False), "ours"))


def _duel(numbers: Numbers, one: tuple[str, bool], other: tuple[str, bool], reading: str) -> Duel:
    sides, means = [], []
    for which, baseline in (one, other):
        curve = numbers.curve(which, baseline=baseline)
        sides.append(Side(curve.role, curve.name))
        means.append(numbers.of(which, baseline=baseline))
    return compare(sides[0], means[0], sides[1], means[1], reading)
