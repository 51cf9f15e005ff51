"""Bounds on a mean that hold at all numbers of pulls at once, so that pulls may be added at any time.

**Rewards on [0, 1].**  For a rate l > 0, e^(-l x) is convex in x, so E[e^(-l X)] <= 1 - mu + mu e^(-l), and

    M_n(l) = product of e^(-l X_i) / (1 - mu + mu e^(-l))  =  e^(-l S_n) / (1 - mu (1 - e^(-l)))^n

is a supermartingale that begins at 1, and so is a mixture sum of w(l) M_n(l) with weights that add up to 1.  By Ville's
inequality the mixture reaches 1 / p at *any* n with probability p at most.  It grows with mu: the means below which it
is less than 1 / p reach up to the *upper bound* U.  So mu <= U at all n at once, with probability 1 - p.  The lower
bound is that of the losses 1 - X.  Nothing but n and S_n is needed to compute either.

A rate l is the best bet on a mean l v away, where v is the variance (a quarter at most).  `bets(middle)` spreads the
rates by factors of 2 around one that fits the distance that matters; the middle one has half of the weight.

**Sub-Gaussian rewards.**  E[e^(l (mu - X))] <= e^(l^2 sigma^2 / 2), and rates are mixed by the positive half of a normal
distribution of variance 1 / rho.  With V = n sigma^2, D = n mu - S_n, z = D / sqrt(V + rho) the mixture is

    2 sqrt(rho / (V + rho)) e^(z^2 / 2) Phi(z)  >=  sqrt(rho / (V + rho)) (2 e^(z^2 / 2) - 1)    for z >= 0,

since 1 - Phi(z) <= e^(-z^2 / 2) / 2.  Solved for z this is the bound: z^2 = 2 ln(sqrt(1 + V / rho) / (2 p) + 1 / 2).

**Rounding.**  The logarithm of the mixture is convex and grows with mu, so every step of Newton's method ends at or
above U: stopped early, it has a bound that is valid, if a little wide.  What rounding may do is added on top.

J. Ville, "Etude critique de la notion de collectif", 1939.  S. R. Howard, A. Ramdas, J. McAuliffe and J. Sekhon,
"Time-uniform, nonparametric, nonasymptotic confidence sequences", Annals of Statistics 49, 2021.  I. Waudby-Smith and
A. Ramdas, "Estimating means of bounded random variables by betting", JRSS B 86, 2024.

>>> from bestbefore.noise import BOUNDED
>>> good = bets(0.2)
>>> log = math.log(1 / 0.05)
>>> round(lower(100, 50.0, log, good, BOUNDED), 3), round(upper(100, 50.0, log, good, BOUNDED), 3)
(0.365, 0.635)
>>> lower(0, 0.0, log, good, BOUNDED), upper(0, 0.0, log, good, BOUNDED)     # nothing is known
(0.0, 1.0)
"""

import math
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from bestbefore._jit import njit
from bestbefore.noise import BOUNDED, Noise

RATES: Final = 6
"""Rates of a mixture."""
BELOW: Final = 2
"""Rates below the middle one; the others are above it, for means near 0 or 1."""
SPACING: Final = 2.5
"""The factor from one rate to the next."""
MIDDLE_WEIGHT: Final = 2 / 3
"""The weight of the middle rate; the others share the rest."""
NEAR: Final = 0.03
"""Newton's method stops after a step of this share of the width: the next would be a thousandth, or less."""
ROUNDING: Final = 1e-15
"""What rounding may add to a logarithm, as a share of the numbers that it is the difference of."""


class Bets(NamedTuple):
    """A mixture of rates l: for each of them l, 1 - e^(-l) and the logarithm of its weight; rho for normal mixtures."""

    rates: npt.NDArray[np.float64]
    falls: npt.NDArray[np.float64]
    logs: npt.NDArray[np.float64]
    rho: float


def bets(middle: float, noise: Noise = BOUNDED) -> Bets:
    """Return a mixture of rates around one, which half of the weight is on."""
    rates = middle * SPACING ** np.arange(-BELOW, RATES - BELOW)
    weights = np.full(RATES, (1 - MIDDLE_WEIGHT) / (RATES - 1))
    weights[BELOW] = MIDDLE_WEIGHT
    return Bets(rates, -np.expm1(-rates), np.log(weights), (4 * noise.sigma**2 / middle) ** 2)


@njit
def upper(pulls: int, total: float, log: float, bets: Bets, noise: Noise, last: float = 1.0) -> float:
    """Return the upper bound of a mean in [0, 1] that fails with probability e^(-log), or the `last` one if lower.

    The last one is that of fewer pulls of the same arm, which is as valid: no bound ever grows.
    """
    if pulls == 0:
        return last
    if not noise.bounded:
        return min(last, max(total / pulls + _normal_width(pulls, log, bets.rho, noise.sigma), 0.0))
    return _upper(pulls, min(max(total, 0.0), float(pulls)), log, bets, last)


@njit
def lower(pulls: int, total: float, log: float, bets: Bets, noise: Noise, last: float = 0.0) -> float:
    """Return the lower bound of a mean in [0, 1] that fails with probability e^(-log), or the `last` one if higher."""
    if pulls == 0:
        return last
    if not noise.bounded:
        return max(last, min(total / pulls - _normal_width(pulls, log, bets.rho, noise.sigma), 1.0))
    return max(last, 1 - _upper(pulls, min(max(pulls - total, 0.0), float(pulls)), log, bets, 1 - last) - ROUNDING)


@njit
def _normal_width(pulls: int, log: float, rho: float, sigma: float) -> float:
    """Return the distance of either bound from the empirical mean, for sub-Gaussian rewards."""
    spread = pulls * sigma**2 + rho
    square = 2 * (log + math.log(math.sqrt(spread / rho) / 2 + math.exp(-log) / 2))
    return math.sqrt(square * spread) / pulls * (1 + 1e-12)


@njit
def _upper(pulls: int, total: float, log: float, bets: Bets, last: float) -> float:
    """Return the root of the mixture's logarithm, by Newton's method from above."""
    mean = total / pulls
    bound = last if last < 1 else _of_one_rate(pulls, total, log, bets)
    for _ in range(100):
        value, slope, size = _log_mixture(pulls, total, bound, bets)
        excess = value - log - ROUNDING * size
        if excess <= 0:
            break
        step = excess / slope
        bound -= step
        if step <= NEAR * (bound - mean):
            break
    return min(bound + 1e-15, last)


@njit
def pulls_below(level: float, pulls: int, total: float, log: float, bets: Bets) -> int:
    """Return how many more rewards of 0 it takes until some rate alone has an upper bound of `level` or less.

    The mixture takes as many or fewer, but hardly: so many pulls can be made at once, and their bounds left out.
    """
    if not 0 < level < 1:
        return 0
    fewest = np.inf
    for i in range(bets.rates.size):
        exponent = log - bets.logs[i] + bets.rates[i] * total
        fewest = min(fewest, exponent / -math.log(1 - level * bets.falls[i]))
    return max(int(math.ceil(min(fewest, 2.0**53))) - pulls, 0)


@njit
def _of_one_rate(pulls: int, total: float, log: float, bets: Bets) -> float:
    """Return the lowest of the bounds that each rate gives alone, which is above that of the mixture."""
    lowest = 1.0
    for i in range(bets.rates.size):
        exponent = (log - bets.logs[i] + bets.rates[i] * total) / pulls
        lowest = min(lowest, -math.expm1(-exponent) / bets.falls[i])
    return lowest


@njit
def _log_mixture(pulls: int, total: float, mu: float, bets: Bets) -> tuple[float, float, float]:
    """Return the logarithm of the mixture at mu, its slope, and the size of the numbers that went into it."""
    top, value, slope, size = -np.inf, 0.0, 0.0, 0.0
    for i in range(bets.rates.size):
        left = 1 - mu * bets.falls[i]
        lost, won = bets.rates[i] * total, -pulls * math.log(left)
        term, rise = bets.logs[i] + won - lost, pulls * bets.falls[i] / left
        size = max(size, won + lost)
        if term > top:
            scale = math.exp(top - term)
            value, slope, top = value * scale + 1, slope * scale + rise, term
        elif term > top - 8:
            weight = math.exp(term - top)
            value, slope = value + weight, slope + weight * rise
    return top + math.log(value), slope / value, size
