"""What an index must keep to for leaps to be exact, tried on a user's own before anything is played.

An index must not fall when the total rises, nor rise with the number of pulls while the mean stays the same.
"""

import itertools
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

from bestbefore.own import jitted
from bestbefore.pull import horizon_of
from bestbefore.rules import name_of

PULLS: Final = (*range(1, 400), *(400 * 1.05**step // 1 for step in range(1, 120)))
"""Numbers of pulls at which an index is looked at: all up to 400, then in steps of a twentieth up to 100,000."""
MEANS: Final = (0.0, 0.1, 0.5, 0.9, 1.0)
ROUNDING: Final = 1e-9


def check_index(function: Callable[..., Any]) -> None:
    """Raise a `ValueError` that says where an index breaks the rules, if it is seen to."""
    _check(jitted("pull", function), name_of(function))


@lru_cache(maxsize=64)
def _check(index: Callable[..., Any], name: str) -> None:
    """Look at an index once: thousands of calls take longer than a short run."""
    for budget, arms in ((1, 1), (100, 5), (10_000, 20)):
        horizon = horizon_of(budget, arms, 0.01, 1)
        try:
            heights = {
                (pulls, mean): float(index(float(pulls), mean * pulls, horizon)) for pulls in PULLS for mean in MEANS
            }
        except Exception as wrong:
            raise ValueError(f"pull rule {name!r} must return a number, but: {wrong}") from wrong
        for pulls in PULLS:
            for low, high in itertools.pairwise(MEANS):
                if not heights[pulls, low] <= heights[pulls, high] + ROUNDING:
                    _refuse(name, f"it falls from mean {low} to mean {high} after {pulls:g} pulls")
        for mean in MEANS:
            for few, many in itertools.pairwise(PULLS):
                if not heights[few, mean] >= heights[many, mean] - ROUNDING:
                    _refuse(name, f"it rises from {few:g} to {many:g} pulls of mean {mean}")


def _refuse(name: str, why: str) -> None:
    raise ValueError(
        f"pull rule {name!r} must not fall when the mean rises, nor rise with pulls of the same mean: {why}; "
        "play with leaps=False"
    )
