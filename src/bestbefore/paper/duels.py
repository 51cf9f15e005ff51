"""Two curves of a panel against each other: who is lower, at which memories, and how many times.

>>> import numpy as np
>>> noise = np.array([0.9, 1.1, 1.0, 0.95, 1.05])
>>> own, their = {2: 1.0 * noise, 4: 1.0 * noise}, {2: 2.0 * noise, 4: 4.0 * noise}
>>> duel = compare(Side("paper", "bucket"), own, Side("baseline", "topk"), their)
>>> duel.sides[0].lower_at, duel.lower, round(duel.low, 2), round(duel.high, 2)
((2, 4), 'paper', 3.0, 3.0)
"""

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from bestbefore.paper.chance import below
from bestbefore.paper.numbers import Floats, Numbers, Runs, Which, interval
from bestbefore.paper.readings import CURVES

UNTOLD = ""
"""What stands for a winner where runs cannot tell who is lower, or where both are level."""


@dataclass(frozen=True)
class Side:
    """One of two curves, and where it is lower than the other."""

    role: str
    """Whose it is: see `bestbefore.paper.readings.Curve.role`."""
    curve: str
    lower_at: tuple[int, ...] = ()
    """The memories at which it is lower, with the confidence of `bestbefore.paper.chance` at each."""


@dataclass(frozen=True)
class Duel:
    """Two curves against each other."""

    reading: str
    """"published" and "described" are the paper's algorithm against its baseline, "ours" is ours against the paper's
    algorithm as described."""
    sides: tuple[Side, Side]
    untold_at: tuple[int, ...]
    """The memories at which the runs cannot tell who is lower."""
    lower: str
    """The role of the one that is lower in the median over memories, or `UNTOLD`."""
    low: float
    """A 95% interval of how many times lower it is: of the median over memories of the factor between the two."""
    high: float
    runs: int

    def side(self, role: str) -> Side:
        """Return the side of a role."""
        for side in self.sides:
            if side.role == role:
                return side
        raise KeyError(f"role must be one of {[side.role for side in self.sides]}, not {role!r}")


def compare(one: Side, own: Runs, other: Side, their: Runs, reading: str = "described") -> Duel:
    """Compare two curves, run by run."""
    sides = (
        replace(one, lower_at=tuple(memory for memory in own if below({memory: own[memory] - their[memory]}))),
        replace(other, lower_at=tuple(memory for memory in own if below({memory: their[memory] - own[memory]}))),
    )
    told = {memory for side in sides for memory in side.lower_at}
    untold = tuple(memory for memory in own if memory not in told)
    runs = min(values.size for values in own.values())
    low, high = interval(lambda rows: _factors(own, their, rows), runs)
    if low > 1:
        return Duel(reading, sides, untold, one.role, low, high, runs)
    if high < 1:
        low, high = 1 / high if high > 0 else math.inf, 1 / low if low > 0 else math.inf
        return Duel(reading, sides, untold, other.role, low, high, runs)
    return Duel(reading, sides, untold, UNTOLD, low, high, runs)


def _factors(own: Runs, their: Runs, rows: npt.NDArray[np.int64]) -> Floats:
    """Return for each row of runs how many times lower the first is, in the median over memories; 0 and 0 are level."""
    high, low = (np.array([np.maximum(runs[memory][rows].mean(axis=1), 0) for memory in own]) for runs in (their, own))
    with np.errstate(divide="ignore", invalid="ignore"):
        factors = np.where((high == 0) & (low == 0), 1.0, high / low)
    return np.median(factors, axis=0)


def duels(numbers: Numbers) -> tuple[Duel, ...]:
    """Compare the paper's algorithm with the baseline in both readings, where there is one, and ours with it."""
    found = []
    for reading in ("published", "described"):
        if any(curve.role == "baseline" for curve in CURVES[numbers.panel.task] if curve.reading == reading):
            found.append(_duel(numbers, (reading, "paper"), (reading, "baseline"), reading))
    return (*found, _duel(numbers, ("ours", "ours"), ("described", "paper"), "ours"))


def _duel(numbers: Numbers, one: Which, other: Which, reading: str) -> Duel:
    own, their = numbers.paired(one, other)
    sides = [Side(role, numbers.curve(of, role).name) for of, role in (one, other)]
    return compare(sides[0], own, sides[1], their, reading)
