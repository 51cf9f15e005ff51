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
def upper_bound(pulls: float, total: float, log: float, falling: float = math.inf, steps: int = 60) -> float:
    """Return the largest q with pulls * kl(mean, q) <= min(log, falling + ln(1 - q) / 2), or the mean.

    By Newton's method, by halves where that leads astray; for a mean of 0 or 1 it is closed.  With few steps the result
    may be too high, but not too low: what is to be 0 is convex in q, so that no step of Newton's falls short.
    """
    mean = min(max(total / pulls, 0.0), 1.0)
    if mean >= 1:
        return 1.0
    most = min(log, falling + math.log(1 - mean) / 2)
    if most <= 0:
        return mean
    if mean <= 0:
        return -math.expm1(-min(log / pulls, falling / (pulls + 0.5)))
    rate = most / pulls
    low, high = mean, min(mean + math.sqrt(rate / 2), 1.0)  # by Pinsker's inequality
    q = mean + math.sqrt(2 * rate * mean * (1 - mean)) + (1 - 2 * mean) * rate * 2 / 3  # right for small rates
    if not low < q < high:
        q = (low + high) / 2
    entropy = mean * math.log(mean) + (1 - mean) * math.log(1 - mean)
    for _ in range(steps):
        if high - low < 1e-14:
            break
        without = math.log(1 - q)
        evidence = pulls * (entropy - mean * math.log(q) - (1 - mean) * without)
        excess, slope = evidence - log, pulls * (q - mean) / (q * (1 - q))
        if evidence - falling - without / 2 > excess:
            excess, slope = evidence - falling - without / 2, slope + 0.5 / (1 - q)
        if excess > 0:
            high = q
        else:
            low = q
        before, q = q, q - excess / slope
        if low < q < high:
            high = q
        else:
            q = (low + high) / 2
        if abs(q - before) < 1e-7 * (q - mean):  # the next step would be its square
            break
    return high
