"""What runs can tell, and what they cannot: claims are tested by differences within runs, at a stated confidence.

In one run all curves see the same arms, so the difference of two of them varies far less than each does.  A test has
three answers: True, False, and None where the runs cannot tell.  If a claim is false, True has a probability of at most
1 - `CONFIDENCE`; if it is true, False has.  Limits are Student's.  A claim may be tested three times, by the runs of
the figure and then by more, so each test has a third of that probability.

>>> below({2: [-0.3, -0.2, -0.25, -0.3, -0.2], 4: [-0.4, -0.3, -0.3, -0.4, -0.35]})
True
>>> below({2: [-0.3, -0.2, -0.25, -0.3, -0.2], 4: [0.4, 0.3, 0.3, 0.4, 0.35]})
False
>>> below({2: [-0.3, -0.2, -0.25, -0.3, -0.2], 4: [-0.4, 0.3, 0.2, -0.1, 0.0]}) is None
True
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

CONFIDENCE: Final = 0.99
LOOKS: Final = 3
"""How often a claim is tested at most."""
LEAST_RUNS: Final = 5
"""Fewer runs tell nothing."""

Differences = Mapping[Any, Sequence[float] | npt.NDArray[np.float64]]
"""By memory, or by two of them, one number for each run."""


def below(differences: Differences) -> bool | None:
    """Say whether the mean is below 0 at every memory.

    True if the upper limit is below 0 at each; False if the lower limit is not, at one at least.  For True nothing is
    paid for the many memories, since all of them must agree; for False they share the probability of an error.
    """
    error = (1 - CONFIDENCE) / LOOKS
    limits = [_limits(values, (error / len(differences), error)) for values in differences.values()]
    if any(low >= 0 for low, _ in limits):
        return False
    return True if limits and all(high < 0 for _, high in limits) else None


def above_somewhere(differences: Differences) -> bool | None:
    """Say whether the mean is above 0 at some memory at least."""
    nowhere = below(differences)
    return None if nowhere is None else not nowhere


def both(one: bool | None, other: bool | None) -> bool | None:
    """Say whether two things hold, each of which may be unknown.

    >>> both(True, True), both(None, False), both(None, True)
    (True, False, None)
    """
    if one is False or other is False:
        return False
    return True if one and other else None


def _limits(values: Sequence[float] | npt.NDArray[np.float64], errors: tuple[float, float]) -> tuple[float, float]:
    """Return a lower and an upper limit of the mean, each wrong with a probability of its own."""
    from scipy.special import stdtrit

    if len(values) < LEAST_RUNS:
        return -math.inf, math.inf
    array = np.asarray(values, np.float64)
    scale = float(array.std(ddof=1)) / math.sqrt(array.size)
    low, high = (float(stdtrit(array.size - 1, 1 - error)) for error in errors)
    return float(array.mean()) - low * scale, float(array.mean()) + high * scale
