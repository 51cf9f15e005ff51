"""What an index must keep to for leaps to be exact, tried on a user's own before anything is played.

An index must not fall when the total rises, nor rise with the number of pulls while the mean stays the same.
"""

import itertools
from collections.abc import Callable
from typing import Any, Final

from bestbefore.own import jitted
from bestbefore.pull import horizon_of
from bestbefore.rules import name_of

PULLS: Final = (1, 2, 3, 5, 10, 20, 50, 100, 500, 1000, 5000)
MEANS: Final = (0.0, 0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.98, 1.0)
ROUNDING: Final = 1e-9


def check_index(function: Callable[..., Any]) -> None:
    """Raise a `ValueError` that says where an index breaks the rules, if it is seen to."""
    index, name = jitted("pull", function), name_of(function)
    for budget, arms in ((1, 1), (100, 5), (10_000, 20)):
        horizon = horizon_of(budget, arms, 0.01, 1)
        heights = {
            (pulls, mean): float(index(float(pulls), mean * pulls, horizon)) for pulls in PULLS for mean in MEANS
        }
        for pulls in PULLS:
            for low, high in itertools.pairwise(MEANS):
                if not heights[pulls, low] <= heights[pulls, high] + ROUNDING:
                    _refuse(name, f"it falls from mean {low} to mean {high} after {pulls} pulls")
        for mean in MEANS:
            for few, many in itertools.pairwise(PULLS):
                if not heights[few, mean] >= heights[many, mean] - ROUNDING:
                    _refuse(name, f"it rises from {few} to {many} pulls of mean {mean}")


def _refuse(name: str, why: str) -> None:
    raise ValueError(
        f"pull rule {name!r} must not fall when the mean rises, nor rise with pulls of the same mean: {why}; "
        "play with leaps=False"
    )
