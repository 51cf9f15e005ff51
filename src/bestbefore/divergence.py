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
    """Return the largest q with pulls * kl(mean, q) <= log, or the mean.

    By Newton's method for the root of kl, which is nearly a straight line in q; for a mean of 0 or 1 it is closed.
    """
    mean = min(max(total / pulls, 0.0), 1.0)
    if log <= 0 or mean <= 0 or mean >= 1:
        return _closed(mean, log / pulls)
    rate, rest = log / pulls, 1 - mean
    without, high, q = _start(mean, rate)
    low = mean
    while q < 1:
        evidence = without - mean * math.log(q) - rest * math.log(1 - q)
        if evidence > rate:
            high = q
        else:
            low = q
        step = evidence - math.sqrt(evidence * rate) if evidence > 0 else -rate
        before, q = q, q - 2 * step * q * (1 - q) / (q - mean)
        if low < q < high:
            if abs(q - before) <= 1e-6 * (q - mean) * (1 - q):  # the next step would be its square
                break
        else:
            q = (low + high) / 2
            if high - low <= 1e-15:
                break
    return q


@njit
def quick_upper_bound(pulls: float, total: float, log: float) -> float:
    """Return a bound that is no lower than `upper_bound`, by a single step.

    It is one of Newton's method for kl itself: that is convex in q, so that no step falls short.
    """
    mean = min(max(total / pulls, 0.0), 1.0)
    if log <= 0 or mean <= 0 or mean >= 1:
        return _closed(mean, log / pulls)
    rate, rest = log / pulls, 1 - mean
    without, high, q = _start(mean, rate)
    if q >= 1:
        return 1.0
    evidence = without - mean * math.log(q) - rest * math.log(1 - q) - 1e-15  # what rounding may hide
    return max(min(q - (evidence - rate) * q * (1 - q) / (q - mean), high), mean)


@njit
def _closed(mean: float, rate: float) -> float:
    """Return the bound where it is closed: for a mean of 0 or 1, or a rate of 0 or less."""
    return -math.expm1(-max(rate, 0.0)) if mean <= 0 else mean


@njit
def _start(mean: float, rate: float) -> tuple[float, float, float]:
    """Return the part of kl without q, a q that is too high, and one to begin with."""
    rest = 1 - mean
    without = mean * math.log(mean) + rest * math.log(rest)
    high = -math.expm1((without - rate) / rest)  # where the part of kl with ln(1 - q) alone comes to the rate
    q = mean + math.sqrt(2 * rate * mean * rest) + (rest - mean) * rate * 2 / 3  # right for small rates
    return without, high, q if mean < q < high else high
