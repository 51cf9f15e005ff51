"""Thompson: pull the arm that is best in a world drawn at random from what is believed.

Rewards on [0, 1]: a mean is drawn from Beta(1 + total, 1 + pulls - total), whose prior is uniform; rewards between 0
and 1 count as so much of a success.  Gaussian rewards: from a Normal around the empirical mean, of standard deviation
sigma / sqrt(pulls); an arm that was never pulled comes first.

W. R. Thompson, "On the likelihood that one unknown probability exceeds another in view of the evidence of two samples",
Biometrika 25 (1933).  S. Agrawal and N. Goyal, "Analysis of Thompson sampling for the multi-armed bandit problem", COLT
2012.

>>> from bestbefore.noise import BOUNDED
>>> rng = np.random.default_rng(0)
>>> draws = [draw(100, 50.0, BOUNDED, rng) for _ in range(1000)]
>>> round(float(np.mean(draws)), 2)
0.5
"""

import math

import numpy as np
import numpy.typing as npt

from bestbefore._jit import njit
from bestbefore.memory import Memory
from bestbefore.noise import Noise


@njit
def draw(pulls: float, total: float, noise: Noise, rng: np.random.Generator) -> float:
    """Draw what the mean of an arm may be."""
    if noise.bounded:
        return float(rng.beta(1 + total, 1 + max(pulls - total, 0.0)))
    if pulls == 0:
        return np.inf
    return float(rng.normal(total / pulls, noise.sigma / math.sqrt(pulls)))


@njit
def choose(
    memory: Memory,
    losses: npt.NDArray[np.float64],
    odds: npt.NDArray[np.float64],
    time: int,
    noise: Noise,
    rng: np.random.Generator,
) -> tuple[int, float]:
    """Return the slot of the highest draw; and 0, since the probability of that choice is not known."""
    found, most = -1, -np.inf
    for slot in range(memory.arrival.size):
        if memory.arrival[slot] > 0:
            drawn = draw(memory.pulls[slot], memory.total[slot], noise, rng)
            if found < 0 or drawn > most:
                found, most = slot, drawn
    return found, 0.0
