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
import numpy.typing as npt

from bestbefore._jit import njit
from bestbefore.pull.horizon import shade
from bestbefore.streams.stream import Arms


@njit
def total_of(arms: Arms, arm: int, pulls: int, rng: np.random.Generator) -> float:
    """Draw the sum of `pulls` rewards of the arm in row `arm`."""
    if pulls == 0:
        return 0.0
    if pulls == 1:
        return one_reward(arms, arm, rng)
    if not arms.noise.bounded:
        return float(rng.normal(arms.means[arm] * pulls, arms.noise.sigma * math.sqrt(pulls)))
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


@njit
def one_reward(arms: Arms, arm: int, rng: np.random.Generator) -> float:
    """Draw one reward of the arm in row `arm`, at the price of one uniform (or normal) number."""
    if not arms.noise.bounded:
        return float(rng.normal(arms.means[arm], arms.noise.sigma))
    coin = rng.random()
    if arms.levels.size == 0:
        return 1.0 if coin < arms.means[arm] else 0.0
    last = arms.levels.size - 1
    for level in range(last):
        coin -= arms.weights[arm, level]
        if coin < 0:
            return float(arms.levels[level])
    return float(arms.levels[last])


@njit
def draw_block(arms: Arms, arm: int, pulls: int, rng: np.random.Generator, drawn: npt.NDArray[np.int64]) -> float:
    """Draw `pulls` rewards on [0, 1] at once, and return their total; `drawn` says how often each level came, in no
    order.

    Bernoulli rewards have the levels 0 and 1.
    """
    if arms.levels.size == 0:
        drawn[1] = rng.binomial(pulls, arms.means[arm])
        drawn[0] = pulls - drawn[1]
        return float(drawn[1])
    total, left, weight_left = 0.0, pulls, 1.0
    last = arms.levels.size - 1
    for level in range(last):
        weight = arms.weights[arm, level]
        share = min(weight / weight_left, 1.0) if weight_left > 0 else 1.0
        drawn[level] = rng.binomial(left, share) if left > 0 else 0
        total += drawn[level] * arms.levels[level]
        left -= drawn[level]
        weight_left -= weight
    drawn[last] = left
    return float(total + left * arms.levels[last])


@njit
def shades_of(arms: Arms, drawn: npt.NDArray[np.int64]) -> float:
    """Return the sum of r (1 - r) over the rewards of a block: 0 for Bernoulli rewards."""
    between = 0.0
    for level in range(arms.levels.size):
        between += drawn[level] * shade(arms.levels[level])
    return between


@njit
def next_of_block(arms: Arms, drawn: npt.NDArray[np.int64], left: int, rng: np.random.Generator) -> float:
    """Take the next of `left` rewards that were drawn at once: in random order, as if drawn one by one."""
    place = rng.random() * left
    levels = max(arms.levels.size, 2)
    for level in range(levels):
        place -= drawn[level]
        if place < 0 or level == levels - 1:
            drawn[level] -= 1
            return float(level) if arms.levels.size == 0 else float(arms.levels[level])
    return 0.0
