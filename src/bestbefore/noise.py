"""How noisy rewards are: the one way in which streams, agents and compiled rules say it.

Rewards either lie in [0, 1], and are then sub-Gaussian with sigma = 1/2 (Hoeffding's lemma), or they may be any number
and are sigma-sub-Gaussian around their mean, as normal rewards of standard deviation sigma are.  A person says
`sigma=None` for the first and a number for the second; everything inside takes a `Noise`.

>>> noise_of(None), noise_of(2.0)
(Noise(sigma=0.5, bounded=True), Noise(sigma=2.0, bounded=False))
"""

import math
from typing import Final, NamedTuple

from bestbefore.arguments import between

__all__ = ["BOUNDED", "Noise", "noise_of"]


class Noise(NamedTuple):
    """The sub-Gaussian constant of rewards, and whether they lie in [0, 1]."""

    sigma: float
    """The sub-Gaussian constant."""
    bounded: bool
    """Whether rewards lie in [0, 1]."""


BOUNDED: Final = Noise(0.5, True)
"""Rewards on [0, 1]."""


LEAST: Final = 1e-50
"""Squares of smaller numbers, and of larger ones than 1 divided by it, are too near to 0 or to infinity."""


def noise_of(sigma: float | None, width: float = 1.0) -> Noise:
    """Return the noise that a person means by `sigma`, where means lie on a scale of this width.

    Parameters
    ----------
    sigma
        None for rewards in [0, 1], or a number.
    width
        The width of the scale.
    """
    if sigma is None:
        return BOUNDED
    sigma = between("sigma", sigma, 0, math.inf)
    if not LEAST < sigma / width < 1 / LEAST:
        raise ValueError(f"sigma must be above {LEAST:g} and below {1 / LEAST:g} times the scale, not {sigma!r}")
    return Noise(sigma / width, False)
