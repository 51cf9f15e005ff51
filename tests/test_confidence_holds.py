"""Bounds that hold at all numbers of pulls at once: that they do, in as many runs as they should."""

import math

import numpy as np
import pytest
from numba import njit
from scipy.stats import binom

from bestbefore.confidence import bets, lower, upper
from bestbefore.noise import BOUNDED, Noise


@njit
def runs_that_fail(runs, pulls, mean, kind, log, mixture, noise, rng):
    """Count the runs in which a bound fails at any number of pulls: the upper one, and the lower one."""
    above, below = 0, 0
    for _ in range(runs):
        total, low, high = 0.0, 0.0, 1.0
        for n in range(1, pulls + 1):
            if kind == 0:
                total += 1.0 if rng.random() < mean else 0.0
            elif kind == 1:
                total += (0.5 if rng.random() < mean else 0.0) + (0.5 if rng.random() < mean else 0.0)
            else:
                total += rng.normal(mean, noise.sigma)
            high = upper(n, total, log, mixture, noise, high)
            low = lower(n, total, log, mixture, noise, low)
        above += high < mean
        below += low > mean
    return above, below


KINDS = {"bernoulli": (0, BOUNDED), "ratings": (1, BOUNDED), "normal": (2, Noise(0.7, False))}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("mean", [0.03, 0.5, 0.9])
def test_bounds_fail_at_any_time_as_rarely_as_they_may(kind, mean):
    """Ville: with p = .1, at all of 600 numbers of pulls at once.  If they failed just as often as they may, more of
    1,000 runs would fail than are allowed here with a probability of 1e-5."""
    code, noise = KINDS[kind]
    runs, log = 1000, math.log(10)
    for middle in (0.1, 0.6):
        failed = runs_that_fail(runs, 600, mean, code, log, bets(middle, noise), noise, np.random.default_rng(1))
        assert max(failed) <= binom.isf(1e-5, runs, 0.1)


def test_bounds_half_as_wide_would_be_noticed():
    """A quarter of the logarithm makes the bounds half as wide, and they fail far more often than one time in ten."""
    failed = runs_that_fail(1000, 600, 0.5, 0, math.log(10) / 4, bets(0.3), BOUNDED, np.random.default_rng(1))
    assert min(failed) > binom.isf(1e-5, 1000, 0.1)
