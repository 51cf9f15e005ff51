"""Bounds that hold at all numbers of pulls at once: what they are, and how they move."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.stats import norm

from bestbefore.confidence import FALL, RATE, WEIGHT, bets, lower, pulls_below, upper
from bestbefore.noise import BOUNDED, Noise

tests = st.integers(1, 3000).flatmap(lambda pulls: st.tuples(st.just(pulls), st.floats(0, pulls)))
"""What an arm gave: pulls, and the sum of as many rewards on [0, 1]."""
logs = st.floats(0.1, 30)
middles = st.floats(0.01, 2)
noises = st.sampled_from([BOUNDED, Noise(0.2, False), Noise(1.5, False)])


def log_mixture(pulls, total, mu, mixture):
    """Return the logarithm of the mixture as its definition has it, no term left out."""
    rates, falls, weights = mixture.table[:, RATE], mixture.table[:, FALL], mixture.table[:, WEIGHT]
    with np.errstate(divide="ignore"):
        return float(np.logaddexp.reduce(weights - rates * total - pulls * np.log1p(-mu * falls)))


@given(tests, logs, middles)
def test_the_upper_bound_is_the_root_of_the_mixture_or_slightly_above(arm, log, middle):
    pulls, total = arm
    mixture = bets(middle)
    found = upper(pulls, total, log, mixture, BOUNDED)
    if log_mixture(pulls, total, 1.0, mixture) <= log:
        assert found == 1.0
        return
    mean = total / pulls
    root = brentq(lambda mu: log_mixture(pulls, total, mu, mixture) - log, min(mean, 1 - 1e-12), 1.0, xtol=1e-15)
    assert root - 1e-14 <= found <= root + 0.005 * (root - mean) + 1e-12


def test_weights_add_up_to_one():
    """Otherwise a mixture is no martingale that begins at 1, whatever else is right."""
    table = bets(0.3).table
    assert np.exp(table[:, WEIGHT]).sum() == pytest.approx(1, abs=1e-12)
    assert table[:, FALL] == pytest.approx(1 - np.exp(-table[:, RATE]), rel=1e-12)
    assert 0.3 in table[:, RATE]


@given(tests, logs, middles)
def test_the_lower_bound_is_the_upper_bound_of_the_losses(arm, log, middle):
    pulls, total = arm
    mirrored = 1 - upper(pulls, pulls - total, log, bets(middle), BOUNDED)
    assert lower(pulls, total, log, bets(middle), BOUNDED) == pytest.approx(max(mirrored, 0), abs=1e-12)


@given(tests, logs, middles, noises)
def test_the_mean_lies_between_the_bounds(arm, log, middle, noise):
    pulls, total = arm
    mixture = bets(middle, noise)
    assert (
        0 <= lower(pulls, total, log, mixture, noise) <= total / pulls <= upper(pulls, total, log, mixture, noise) <= 1
    )


@given(tests, logs, middles, noises, st.floats(0, 1))
def test_bounds_rise_with_the_rewards(arm, log, middle, noise, less):
    pulls, total = arm
    mixture, slack = bets(middle, noise), 0.01  # Newton's method may stop within a hundredth of the width
    for bound in (lower, upper):
        high, low = bound(pulls, total, log, mixture, noise), bound(pulls, less * total, log, mixture, noise)
        assert low <= high + slack


@given(tests, logs, st.integers(2, 20), middles, noises)
def test_bounds_close_in_with_the_pulls_and_open_with_the_confidence(arm, log, times, middle, noise):
    pulls, total = arm
    mixture = bets(middle, noise)

    def width(pulls, total, log):
        return upper(pulls, total, log, mixture, noise) - lower(pulls, total, log, mixture, noise)

    assert width(times * pulls, times * total, log) <= 1.01 * width(pulls, total, log) + 1e-9
    assert width(pulls, total, 2 * log) >= 0.99 * width(pulls, total, log) - 1e-9


@given(tests, logs, st.floats(0, 1), noises)
def test_a_bound_that_holds_already_is_never_given_up(arm, log, last, noise):
    pulls, total = arm
    mixture = bets(0.3, noise)
    assert upper(pulls, total, log, mixture, noise, last) <= last
    assert lower(pulls, total, log, mixture, noise, last) >= last


@given(tests, logs, middles)
def test_from_a_bound_of_before_newton_finds_the_same_root(arm, log, middle):
    pulls, total = arm
    mixture = bets(middle)
    cold = upper(pulls, total, log, mixture, BOUNDED)
    warm = upper(pulls, total, log, mixture, BOUNDED, min(cold + 0.05, 1.0))
    assert warm == pytest.approx(cold, abs=0.01 * (cold - total / pulls) + 1e-12)


def test_nothing_is_known_before_the_first_pull():
    assert (lower(0, 0.0, 3.0, bets(0.3), BOUNDED), upper(0, 0.0, 3.0, bets(0.3), BOUNDED)) == (0.0, 1.0)


@pytest.mark.parametrize("pulls", [1, 100, 10**6, 10**12])
def test_rewards_that_are_all_alike(pulls):
    mixture = bets(0.3)
    assert lower(pulls, 0.0, 5.0, mixture, BOUNDED) == 0
    assert upper(pulls, float(pulls), 5.0, mixture, BOUNDED) == 1
    nearly = 1 - lower(pulls, float(pulls), 5.0, mixture, BOUNDED)
    assert nearly == pytest.approx(upper(pulls, 0.0, 5.0, mixture, BOUNDED), abs=1e-12)
    assert 0 < nearly <= min(10 / pulls, 1)


@pytest.mark.parametrize("pulls", [10**8, 10**12, 2**52])
def test_rounding_never_puts_a_bound_on_the_wrong_side_of_the_mean(pulls):
    """There the bounds have closed in as far as they do: to half of the lowest rate times the variance."""
    total, mixture = 0.3 * pulls, bets(0.3)
    nearest = mixture.table[0, RATE] / 2 * 0.3 * 0.7
    for distance in (
        0.3 - lower(pulls, total, 5.0, mixture, BOUNDED),
        upper(pulls, total, 5.0, mixture, BOUNDED) - 0.3,
    ):
        assert distance == pytest.approx(nearest, rel=0.02)


@given(st.integers(1, 3000), logs, middles, st.floats(0.1, 3))
def test_the_bound_of_normal_rewards_is_where_the_mixture_is_high_enough(pulls, log, middle, sigma):
    """The one-sided normal mixture, by its definition, is at least 1 / p at the bound; and hardly more."""
    noise = Noise(sigma, False)
    rho = bets(middle, noise).rho
    spread = pulls * sigma**2 + rho
    distance = -lower(pulls, 0.0, log, bets(middle, noise), noise, -math.inf)  # from a mean of 0
    z = distance * pulls / math.sqrt(spread)
    at_bound = math.log(2) + 0.5 * math.log(rho / spread) + z**2 / 2 + norm.logcdf(z)
    assert log - 1e-9 <= at_bound <= log + math.log(2)


@given(tests, logs, middles, st.floats(0.01, 0.99))
def test_so_many_rewards_of_zero_bring_the_bound_down_to_a_level(arm, log, middle, level):
    pulls, total = arm
    mixture = bets(middle)
    more = pulls_below(level, pulls, total, log, mixture)
    assert upper(pulls + more, total, log, mixture, BOUNDED) <= level * (1 + 1e-9)
    if more > 0:
        rates, falls, weights = mixture.table.T
        alone = weights - rates * total - (pulls + more - 1) * np.log1p(-level * falls)
        assert (alone < log + 1e-9).all(), "one pull less would not have been enough for any rate"


def test_no_pulls_bring_a_bound_below_nothing_or_are_needed_for_everything():
    assert pulls_below(1.0, 3, 1.0, 3.0, bets(0.3)) == 0
    assert pulls_below(0.0, 3, 1.0, 3.0, bets(0.3)) == 0
