"""INF: the implicitly normalised forecaster, in its modern form Tsallis-INF.

Arm i is pulled with probability w_i = 4 (eta (L_i - x))^-2, where L_i is the sum of its estimated losses so far (each
(1 - reward) / w_i, for the arm that was pulled), eta = 2 / sqrt(t), and x is such that the w_i add up to 1: found by
Newton's method.  Regret is of order sqrt(K T), against an adversary too, and nothing has to be known of the horizon.

Losses of arms that were not there from the beginning cannot be compared, so INF begins anew in each window: it is the
black box of Theorem 3 of Braverman et al.

Rewards should lie in [0, 1], or near it: losses are 1 - reward, and nothing scales them.

J.-Y. Audibert and S. Bubeck, "Minimax policies for adversarial and stochastic bandits", COLT 2009.  J. Zimmert and Y.
Seldin, "Tsallis-INF: an optimal algorithm for stochastic and adversarial bandits", JMLR 22 (2021).

>>> odds = np.zeros(3)
>>> fill_odds(np.array([0.0, 1.0, 5.0]), time=4, odds=odds)
>>> odds.round(3).tolist(), round(float(odds.sum()), 9)
([0.613, 0.317, 0.07], 1.0)
"""

import math

import numpy as np
import numpy.typing as npt

from bestbefore._jit import njit
from bestbefore.memory import Memory
from bestbefore.noise import Noise


@njit
def fill_odds(losses: npt.NDArray[np.float64], time: int, odds: npt.NDArray[np.float64]) -> None:
    """Fill `odds` with the probabilities of pull number `time`; an infinite loss has probability 0.

    The sum of the w_i is convex in x and rises up to the smallest loss.  At x = smallest loss - 2 / eta it is at least
    1, so from there Newton's steps fall to the root.  Losses count from the smallest, so that large ones do no harm.
    """
    count = losses.size
    eta = 2 / math.sqrt(time)
    least, x = losses.min(), -2 / eta
    total = 1.0
    for _ in range(50):
        total, slope = 0.0, 0.0
        for arm in range(count):
            root = 2 / (eta * (losses[arm] - least - x))
            odds[arm] = root * root
            total += odds[arm]
            slope += eta * odds[arm] * root
        step = (total - 1) / slope
        x -= step
        if total - 1 < 1e-12:
            break
    for arm in range(count):
        odds[arm] /= total


@njit
def drawn_place(odds: npt.NDArray[np.float64], coin: float) -> int:
    """Return the place that a uniform number falls on, where odds are above 0."""
    last = 0
    for place in range(odds.size):
        if odds[place] > 0:
            last = place
            coin -= odds[place]
            if coin < 0:
                break
    return last


@njit
def choose(
    memory: Memory,
    losses: npt.NDArray[np.float64],
    odds: npt.NDArray[np.float64],
    time: int,
    noise: Noise,
    rng: np.random.Generator,
) -> tuple[int, float]:
    """Draw a slot for pull number `time`, and return it with its probability; empty slots have infinite losses."""
    fill_odds(losses, time, odds)
    slot = drawn_place(odds, rng.random())
    return slot, odds[slot]
