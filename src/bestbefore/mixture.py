"""The rates that confidence bounds mix, and what they cost at worst; `bestbefore.confidence` has the bounds.

A rate l alone, with weight w, puts the upper bound at most l / 8 + (ln(1 / p) - ln w) / (l n) above the mean of n
rewards on [0, 1], by Hoeffding's lemma, and the lower bound likewise below it.  The mixture is never worse than any of
its rates.  So both bounds together are no wider than `width` after

    n = (ln(1 / p_lower) + ln(1 / p_upper) - 2 ln w) / (l (width - l / 4))

pulls, whatever they return, for every rate l below 4 width.  The least of these is `pulls_for_width`.

>>> pulls_for_width(0.1, middle=0.3, logs=(8.5, 3.2))
1669
"""

import math
from collections.abc import Iterator
from typing import Final

from bestbefore.arguments import between
from bestbefore.bounds import LEAST_MEAN, round_up
from bestbefore.noise import BOUNDED, Noise

RATES: Final = 6
"""Rates of a mixture."""
BELOW: Final = 2
"""Rates below the middle one; the others are above it, for means near 0 or 1."""
SPACING: Final = 2.5
"""The factor from one rate to the next."""
MIDDLE_WEIGHT: Final = 2 / 3
"""The weight of the middle rate; the others share the rest."""
HIGHEST: Final = 12.0
"""No rate is higher: 1 - e^(-rate) must not be rounded to 1, and a higher one tells hardly more."""

RATE: Final = 3.0
"""The middle rate of certificates, in units of what a cell leaves of epsilon: found by trial."""
RELATIVE_RATE: Final = 1.0
"""The middle rate where epsilon is a share of the best mean: near 0 the variance is about the mean."""


KNOWN: Final = 0.9
"""An arm is not pulled any more once U - L is at most this share of what a cell leaves of epsilon."""


def middle_rate(aim: float, *, relative: bool = False) -> float:
    """Return the middle rate for bounds that are to tell means `aim` apart, or a share `aim` of the best mean."""
    return (RELATIVE_RATE if relative else RATE) * aim


def rates_around(middle: float) -> dict[float, float]:
    """Return rates and their weights; the middle one has most of the weight.

    >>> {round(rate, 2): round(weight, 3) for rate, weight in rates_around(1.0).items()}
    {0.16: 0.067, 0.4: 0.067, 1.0: 0.667, 2.5: 0.067, 6.25: 0.067, 12.0: 0.067}
    """
    rest = (1 - MIDDLE_WEIGHT) / (RATES - 1)
    rates: dict[float, float] = {}
    for k in range(-BELOW, RATES - BELOW):
        rate = min(middle * SPACING**k, HIGHEST)
        rates[rate] = rates.get(rate, 0.0) + (rest if k else MIDDLE_WEIGHT)
    return rates


def rho_of(middle: float, noise: Noise) -> float:
    """Return the precision of the normal mixture that sub-Gaussian rewards have, for the same middle rate."""
    return (4 * noise.sigma**2 / middle) ** 2


def pulls_for_width(width: float, middle: float, logs: tuple[float, float], noise: Noise = BOUNDED) -> int:
    """Return after how many pulls both bounds are no farther apart than `width`, whatever the rewards.

    `logs` are ln(1 / p) of the lower and of the upper bound.
    """
    if noise.bounded:
        fewest = min(
            (sum(logs) - 2 * math.log(weight)) / (rate * (width - rate / 4))
            for rate, weight in rates_around(middle).items()
            if rate < 4 * width
        )
        return round_up(fewest)
    low, high = 0, 1
    while _normal_widths(high, middle, logs, noise) > width:
        low, high = high, 2 * high
    while high - low > 1:
        half = (low + high) // 2
        low, high = (low, half) if _normal_widths(half, middle, logs, noise) <= width else (half, high)
    return high


def pulls_for_share(share: float, middle: float, logs: tuple[float, float], noise: Noise = BOUNDED) -> int:
    """Return after how many pulls U - L is at most `share` times L, or U at most `LEAST_MEAN`, whatever the rewards.

    With a = ln(1 / p) - ln w and the empirical mean x, a rate l alone has U <= (l x + a_U / n) / (1 - e^(-l)) and
    L >= (l x - a_L / n) / (e^l - 1), so U - L <= l x + (e^l a_U + a_L) / ((e^l - 1) n).  U is at most `LEAST_MEAN`
    where x is small, and where it is not, the share is reached after the n that is computed here.
    """
    if not noise.bounded:
        return pulls_for_width(share * LEAST_MEAN / (1 + share), middle, logs, noise)
    needed = []
    for rate, weight, rewards in _rewards_for_share(share, middle, logs):
        upper = logs[1] - math.log(weight)
        needed.append((upper + rate * rewards) / (LEAST_MEAN * -math.expm1(-rate)))
    return round_up(min(needed))


def pulls_for_mean(mean: float, share: float, middle: float, logs: tuple[float, float], noise: Noise = BOUNDED) -> int:
    """Return after how many pulls U - L is at most `share` times L, where rewards have this empirical mean.

    By `pulls_for_share`, a rate l does it once l x n is at least some number, whatever n is: so it takes a certain
    *total* of rewards, and pulls in inverse proportion to the mean.  For small shares that is about

        n = 4 (ln(1 / p_lower) + ln(1 / p_upper) - 2 ln w) / (share^2 mean),

    for the variance of a reward is at most its mean.  Hoeffding's bound does not know that and has mean^2 there, and no
    4: with a mean of 0.03 it takes six to eight times as many pulls.

    >>> pulls_for_mean(0.03, share=0.2, middle=0.2, logs=(8.5, 3.2))
    70864
    >>> pulls_for_width(0.2 * 0.03, middle=3 * 0.006, logs=(8.5, 3.2))
    463368
    """
    between("mean", mean, 0, 1, closed="right")
    if not noise.bounded:
        return pulls_for_width(share * mean / (1 + share), middle, logs, noise)
    return round_up(min(rewards for _, _, rewards in _rewards_for_share(share, middle, logs)) / mean)


def _rewards_for_share(share: float, middle: float, logs: tuple[float, float]) -> Iterator[tuple[float, float, float]]:
    """Yield rates, their weights, and a total of rewards at which a rate alone has U - L at most `share` times L."""
    for rate, weight in rates_around(middle).items():
        rise = math.expm1(rate)
        lower, upper = (log - math.log(weight) for log in logs)
        if rise < share:
            yield rate, weight, (math.exp(rate) * upper + (1 + share) * lower) / (share - rise) / rate


def _normal_widths(pulls: int, middle: float, logs: tuple[float, float], noise: Noise) -> float:
    """Return how far apart both bounds are, for sub-Gaussian rewards; see `bestbefore.confidence`."""
    rho = rho_of(middle, noise)
    spread = pulls * noise.sigma**2 + rho
    squares = [2 * (log + math.log(math.sqrt(spread / rho) / 2 + math.exp(-log) / 2)) for log in logs]
    return sum(math.sqrt(square * spread) / pulls for square in squares)
