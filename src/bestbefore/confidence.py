"""Bounds on a mean that hold at all numbers of pulls at once, so that pulls may be added at any time.

**Rewards on [0, 1].**  For a rate l > 0, e^(-l x) is convex in x, so E[e^(-l X)] <= 1 - mu + mu e^(-l), and

    M_n(l) = product of e^(-l X_i) / (1 - mu + mu e^(-l))  =  e^(-l S_n) / (1 - mu (1 - e^(-l)))^n

is a supermartingale that begins at 1.  So is a mixture, the sum of w(l) M_n(l) over several rates whose weights
add up to 1.  By Ville's inequality the mixture reaches 1 / p at *any* n with probability p at most.  It grows
with mu; let the *upper bound* U be where it reaches 1 / p.  Then mu <= U at all n at once, with probability
1 - p.  The lower bound is that of the losses 1 - X.  To compute either, n and S_n are all that is needed.

A rate l is the best bet against a mean that is l v too high, where v is the variance of a reward, a quarter at
most.  `bets(middle)` takes rates around one that fits the distance that matters.  Since no rate is lower than a
sixth of it, the bounds close in only until they are half of that rate times v away from the mean.

**Sub-Gaussian rewards.**  E[e^(l (mu - X))] <= e^(l^2 sigma^2 / 2), and rates are mixed by the positive half of
a normal distribution of variance 1 / rho.  With V = n sigma^2 and z = (n mu - S_n) / sqrt(V + rho) the mixture is

    2 sqrt(rho / (V + rho)) e^(z^2 / 2) Phi(z)  >=  sqrt(rho / (V + rho)) (2 e^(z^2 / 2) - 1)    for z >= 0,

since 1 - Phi(z) <= e^(-z^2 / 2) / 2.  The right side is 1 / p at z^2 = 2 ln(sqrt(1 + V / rho) / (2 p) + 1 / 2),
which is the bound.

**Rounding.**  The logarithm of the mixture is convex and grows with mu, so every step of Newton's method ends
at or above U: stopped early, it has a bound that is valid, if a little wide.  So has a mixture of which small
terms are left out.  What rounding may do is added on top.

J. Ville, "Etude critique de la notion de collectif", 1939.  S. R. Howard, A. Ramdas, J. McAuliffe and J. Sekhon,
"Time-uniform, nonparametric, nonasymptotic confidence sequences", Annals of Statistics 49, 2021.
I. Waudby-Smith and A. Ramdas, "Estimating means of bounded random variables by betting", JRSS B 86, 2024.

>>> from bestbefore.noise import BOUNDED
>>> around = bets(0.5)
>>> log = math.log(1 / 0.05)
>>> round(lower(100, 50.0, log, around, BOUNDED), 3), round(upper(100, 50.0, log, around, BOUNDED), 3)
(0.372, 0.628)
>>> lower(0, 0.0, log, around, BOUNDED), upper(0, 0.0, log, around, BOUNDED)        # nothing is known
(0.0, 1.0)
"""

import math
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from bestbefore._jit import njit
from bestbefore.mixture import rates_around, rho_of
from bestbefore.noise import BOUNDED, Noise

NEAR: Final = 0.03
"""Newton's method stops after a step of this share of the width: the next would be a thousandth, or less."""
SMALL: Final = 8.0
"""Terms of a mixture that are smaller than the largest by e to this power are left out."""
ROUNDING: Final = 1e-15
"""What rounding may add to a logarithm, as a share of the numbers that it is the difference of."""

RATE: Final = 0  # columns of a table of rates: l
FALL: Final = 1  # 1 - e^(-l)
WEIGHT: Final = 2  # ln w


class Bets(NamedTuple):
    """A mixture: a row of `table` for each rate, and `rho` for the mixture of sub-Gaussian rewards."""

    table: npt.NDArray[np.float64]
    rho: float


def bets(middle: float, noise: Noise = BOUNDED) -> Bets:
    """Return a mixture of rates around one, which has most of the weight.

    `middle` is meant for rewards on [0, 1]: those that are noisier get a lower rate, by the variance.
    """
    rates, weights = np.array(list(rates_around(middle).items())).T
    table = np.column_stack([rates, -np.expm1(-rates), np.log(weights)])
    return Bets(np.ascontiguousarray(table), rho_of(middle, noise))


@njit
def upper(pulls: int, total: float, log: float, bets: Bets, noise: Noise, last: float = 1.0) -> float:
    """Return an upper bound of a mean in [0, 1] that fails with probability e^(-log) at most.

    It is `last` if that is lower, a bound of fewer pulls of the same arm: both hold, so the lower one does.
    """
    if pulls == 0:
        return last
    if not noise.bounded:
        return min(last, max(total / pulls + _normal_width(pulls, log, bets.rho, noise.sigma), 0.0))
    return _upper(pulls, min(max(total, 0.0), float(pulls)), log, bets, last)


@njit
def lower(pulls: int, total: float, log: float, bets: Bets, noise: Noise, last: float = 0.0) -> float:
    """Return a lower bound of a mean in [0, 1] that fails with probability e^(-log) at most, `last` if higher."""
    if pulls == 0:
        return last
    if not noise.bounded:
        return max(last, min(total / pulls - _normal_width(pulls, log, bets.rho, noise.sigma), 1.0))
    lost = min(max(pulls - total, 0.0), float(pulls))
    return max(last, 1 - _upper(pulls, lost, log, bets, 1 - last) - ROUNDING)


@njit
def pulls_below(level: float, pulls: int, total: float, log: float, bets: Bets) -> int:
    """Return how many more rewards of 0 it takes until the bound of some rate alone is `level` or less.

    The mixture takes hardly fewer: so many pulls may be made at once, and the bounds between them left out.
    """
    if not 0 < level < 1:
        return 0
    fewest, table = 2.0**53, bets.table
    for i in range(table.shape[0]):
        exponent = log - table[i, WEIGHT] + table[i, RATE] * total
        fewest = min(fewest, exponent / -math.log(1 - level * table[i, FALL]))
    return max(math.ceil(fewest) - pulls, 0)


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
    return min(bound + ROUNDING, last)


@njit
def _of_one_rate(pulls: int, total: float, log: float, bets: Bets) -> float:
    """Return the lowest of the bounds that each rate gives alone, which is above that of the mixture."""
    lowest, table = 1.0, bets.table
    for i in range(table.shape[0]):
        exponent = (log - table[i, WEIGHT] + table[i, RATE] * total) / pulls
        lowest = min(lowest, -math.expm1(-exponent) / table[i, FALL])
    return lowest


@njit
def _log_mixture(pulls: int, total: float, mu: float, bets: Bets) -> tuple[float, float, float]:
    """Return the logarithm of the mixture at mu, its slope, and the size of the numbers that went into it."""
    top, value, slope, size, table = -np.inf, 0.0, 0.0, 0.0, bets.table
    for i in range(table.shape[0]):
        left = 1 - mu * table[i, FALL]
        lost, won = table[i, RATE] * total, -pulls * math.log(left)
        term, rise = table[i, WEIGHT] + won - lost, pulls * table[i, FALL] / left
        size = max(size, won + lost)
        if term > top:
            scale = math.exp(top - term)
            value, slope, top = value * scale + 1, slope * scale + rise, term
        elif term > top - SMALL:
            weight = math.exp(term - top)
            value, slope = value + weight, slope + weight * rise
    return top + math.log(value), slope / value, size
