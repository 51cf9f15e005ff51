"""The divergence of two Bernoulli distributions, and how high a mean can be that rewards do not contradict.

kl(p, q) = p ln(p / q) + (1 - p) ln((1 - p) / (1 - q)).  By Chernoff's inequality, rewards on [0, 1] of mean q have an
empirical mean of p < q or less after so many pulls with probability at most exp(-pulls kl(p, q)).

>>> highest = upper_bound(pulls=100, total=50.0, log=4.0)
>>> round(highest, 4), round(100 * divergence(0.5, highest), 4)
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
def upper_bound(pulls: float, total: float, log: float) -> float:
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
