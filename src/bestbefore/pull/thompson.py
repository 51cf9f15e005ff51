"""Thompson: pull the arm that is best in a world drawn at random from what is believed.

Rewards on [0, 1]: a mean is drawn from Beta(1 + total, 1 + pulls - total), whose prior is uniform; rewards between 0
and 1 count as so much of a success.  Gaussian rewards: from a Normal around the empirical mean, of standard deviation
sigma / sqrt(pulls); an arm that was never pulled comes first.

W. R. Thompson, "On the likelihood that one unknown probability exceeds another in view of the evidence of two samples",
Biometrika 25 (1933).  S. Agrawal and N. Goyal, "Analysis of Thompson sampling for the multi-armed bandit problem", COLT
2012.

>>> rng = np.random.default_rng(0)
>>> draws = [thompson_draw(pulls=100, total=50.0, sigma=0.0, rng=rng) for _ in range(1000)]
>>> round(float(np.mean(draws)), 2)
0.5
"""

import math

import numpy as np

from bestbefore._jit import njit
from bestbefore.memory import Memory


@njit
def thompson_draw(pulls: float, total: float, sigma: float, rng: np.random.Generator) -> float:
    """Draw what the mean of an arm may be; sigma is 0 for rewards on [0, 1]."""
    if sigma == 0:
        return float(rng.beta(1 + total, 1 + max(pulls - total, 0.0)))
    if pulls == 0:
        return np.inf
    return float(rng.normal(total / pulls, sigma / math.sqrt(pulls)))


@njit
def thompson_slot(memory: Memory, sigma: float, luck: np.random.Generator) -> int:
    """Return the slot of the highest draw."""
    found, most = -1, -np.inf
    for slot in range(memory.arrival.size):
        if memory.arrival[slot] > 0:
            draw = thompson_draw(memory.pulls[slot], memory.total[slot], sigma, luck)
            if found < 0 or draw > most:
                found, most = slot, draw
    return found
