"""Many pulls in one draw, from exactly the distribution of their sum.

The sum of s Bernoulli rewards is Binomial, that of s ratings a few Binomials (a multinomial, level by level), and that
of s Gaussian rewards Normal.  So s pulls cost O(1) instead of O(s).

>>> import numpy as np
>>> from bestbefore.streams.stream import bernoulli
>>> arms = bernoulli(np.array([0.0, 1.0]))
>>> rng = np.random.default_rng(0)
>>> total_of(arms, 0, 1000, rng), total_of(arms, 1, 1000, rng)
(0.0, 1000.0)
"""

import math

import numpy as np

from bestbefore._jit import njit
from bestbefore.streams.stream import Arms


@njit
def total_of(arms: Arms, arm: int, pulls: int, rng: np.random.Generator) -> float:
    """Draw the sum of `pulls` rewards of the arm in row `arm`."""
    if pulls == 0:
        return 0.0
    if arms.sigma > 0:
        return float(rng.normal(arms.means[arm] * pulls, arms.sigma * math.sqrt(pulls)))
    if arms.levels.size == 0:
        return float(rng.binomial(pulls, arms.means[arm]))
    total, left, weight_left = 0.0, pulls, 1.0
    last = arms.levels.size - 1
    for level in range(last):
        if left == 0:
            break
        weight = arms.weights[arm, level]
        here = rng.binomial(left, min(weight / weight_left, 1.0)) if weight_left > 0 else left
        total += here * arms.levels[level]
        left -= here
        weight_left -= weight
    return float(total + left * arms.levels[last])
