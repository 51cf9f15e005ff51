"""Intervals around means, where an agent has no certificates: each for one arm by itself, 95% sure.

They say how well a mean is known.  They are no promise about the best arm: who looks at many arms, or picks the moment,
will see some that are wrong.
"""

import math
from typing import Any, Final

SURE: Final = 0.95
_Z: Final = 1.959963984540054  # so many standard deviations hold 95% of a normal distribution


def interval(agent: Any, pulls: int, mean: float) -> tuple[float, float]:
    """Return the interval of an arm's mean: Wilson's for rewards within a scale, the normal one with a sigma."""
    if agent.sigma is not None:
        half = _Z * agent.sigma / math.sqrt(pulls)
        return mean - half, mean + half
    low, high = wilson(agent.scale.inside(mean, 1), pulls)
    return float(agent.scale.outside(low)), float(agent.scale.outside(high))


def wilson(share: float, runs: int) -> tuple[float, float]:
    """Return Wilson's interval around a share of so many.

    >>> [round(end, 3) for end in wilson(0.5, 10)]
    [0.237, 0.763]
    """
    middle = (share + _Z * _Z / (2 * runs)) / (1 + _Z * _Z / runs)
    half = _Z / (1 + _Z * _Z / runs) * math.sqrt(max(share * (1 - share), 0.0) / runs + _Z * _Z / (4 * runs * runs))
    return max(middle - half, 0.0), min(middle + half, 1.0)
