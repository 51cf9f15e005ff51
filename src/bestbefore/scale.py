"""Scale: where rewards and means live, in the user's own unit.

Inside, rewards and means are shares of the scale, in [0, 1]; what a user says and reads is in the unit of the scale.

>>> euros = scale_of((0, 50))
>>> euros.inside(total=30.0, pulls=2), euros.outside(0.3), euros.width
(0.6, 15.0, 50.0)
"""

import math
from typing import Any, Final, NamedTuple

from bestbefore.arguments import real


class Scale(NamedTuple):
    """From `low` to `high`."""

    low: float
    high: float

    @property
    def width(self) -> float:
        """How far means may be apart."""
        return self.high - self.low

    def inside(self, total: float, pulls: int) -> float:
        """Return the total of some rewards, each as a share of the scale."""
        return (total - pulls * self.low) / self.width

    def outside(self, mean: float) -> float:
        """Return a mean in the user's unit."""
        return self.low + self.width * mean


UNIT: Final = Scale(0.0, 1.0)


def scale_of(scale: Any) -> Scale:
    """Return a scale, if it is two finite numbers, the lower first."""
    try:
        low, high = (real(end) for end in scale) if not isinstance(scale, (str, bytes)) else (math.nan, math.nan)
    except (TypeError, ValueError):
        low = high = math.nan
    if not (math.isfinite(low) and math.isfinite(high) and 1e-100 < high - low < 1e100):
        raise ValueError(f"scale must be (low, high), two finite numbers with low < high, not {scale!r}")
    return Scale(low, high)
