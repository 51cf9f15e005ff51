"""KL-UCB: pull the arm whose mean could be highest, as far as its rewards do not contradict it.

The index is the largest q with pulls * kl(mean, q) <= ln T, where kl(p, q) = p ln(p / q) + (1 - p) ln((1 - p) / (1 -
q)) and T is the budget of the epoch: the exploration rate with a known horizon, so that an index stands still while
other arms are pulled.  For Gaussian rewards kl(p, q) is (p - q)^2 / (2 sigma^2), and the index is closed.

A. Garivier and O. Cappé, "The KL-UCB algorithm for bounded stochastic bandits and beyond", COLT 2011.

>>> index = kl_ucb_index(pulls=100, total=50.0, log=4.0)
>>> round(index, 4), round(100 * divergence(0.5, index), 4)
(0.6386, 4.0)
"""

import math

from bestbefore._jit import njit


@njit
def divergence(p: float, q: float) -> float:
    """Return kl(p, q) of two Bernoulli distributions."""
    first = p * math.log(p / q) if p > 0 else 0.0
    second = (1 - p) * math.log((1 - p) / (1 - q)) if p < 1 else 0.0
    return first + second


@njit
def kl_ucb_index(pulls: float, total: float, log: float) -> float:
    """Return the largest q with pulls * kl(mean, q) <= log: by Newton's method, by halves where that leads astray."""
    mean, limit = min(max(total / pulls, 0.0), 1.0), log / pulls
    low, high = mean, min(mean + math.sqrt(limit / 2), 1.0)  # by Pinsker's inequality
    q = high if high < 1 else (mean + 1) / 2
    for _ in range(60):
        if high - low < 1e-14 or q >= 1:
            break
        excess = divergence(mean, q) - limit
        if excess > 0:
            high = q
        else:
            low = q
        step = q - excess * q * (1 - q) / (q - mean)
        if not low < step < high:
            step = (low + high) / 2
        if abs(step - q) < 1e-14:
            break
        q = step
    return q
