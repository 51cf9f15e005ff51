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


class Noise(NamedTuple):
    """The sub-Gaussian constant of rewards, and whether they lie in [0, 1]."""

    sigma: float
    bounded: bool


BOUNDED: Final = Noise(0.5, True)
"""Rewards on [0, 1]."""


def noise_of(sigma: float | None) -> Noise:
    """Return the noise that a person means by `sigma`."""
    return BOUNDED if sigma is None else Noise(between("sigma", sigma, 0, math.inf), False)
