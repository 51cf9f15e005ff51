"""The rates that are mixed, and what bounds cost at worst."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestbefore.bounds import LEAST_MEAN
from bestbefore.confidence import bets, lower, upper
from bestbefore.mixture import MIDDLE_WEIGHT, pulls_for_mean, pulls_for_share, pulls_for_width, rates_around
from bestbefore.noise import BOUNDED, Noise

LOGS = (8.5, 3.2)


def test_weights_add_up_to_one_and_the_middle_rate_has_most():
    rates = rates_around(0.3)
    assert sum(rates.values()) == pytest.approx(1)
    assert rates[0.3] == MIDDLE_WEIGHT == max(rates.values())


@pytest.mark.parametrize("middle", [0.001, 1.0, 2.4, 3.0, 50.0])
def test_no_rate_is_so_high_that_bounds_are_lost_by_rounding(middle):
    """Rates of 37 or more had 1 - e^(-rate) = 1, and an upper bound that was not a number, which no arm could beat."""
    assert sum(rates_around(middle).values()) == pytest.approx(1)
    for pulls, total in ((1, 1.0), (3, 3.0), (3, 0.0), (1000, 999.0)):
        assert 0 < upper(pulls, total, 3.0, bets(middle), BOUNDED) <= 1
        assert 0 <= lower(pulls, total, 3.0, bets(middle), BOUNDED) < 1


def width(pulls, mean, middle, noise):
    around = bets(middle, noise)
    low = lower(pulls, mean * pulls, LOGS[0], around, noise)
    return low, upper(pulls, mean * pulls, LOGS[1], around, noise)


@pytest.mark.parametrize("noise", [BOUNDED, Noise(0.7, False)])
@given(wanted=st.sampled_from([0.05, 0.1, 0.4]), mean=st.floats(0, 1))
def test_after_so_many_pulls_bounds_are_as_near_as_wanted_whatever_the_rewards(noise, wanted, mean):
    middle = 3 * wanted / 0.9
    low, high = width(pulls_for_width(wanted, middle, LOGS, noise), mean, middle, noise)
    assert high - low <= wanted + 1e-9


@pytest.mark.parametrize("noise", [BOUNDED, Noise(0.7, False)])
@given(share=st.sampled_from([0.1, 0.3, 0.8]), mean=st.floats(0, 1))
def test_after_so_many_pulls_they_are_a_share_of_the_lower_one_apart_unless_the_mean_is_small(noise, share, mean):
    low, high = width(pulls_for_share(share, share / 0.9, LOGS, noise), mean, share / 0.9, noise)
    assert high <= LEAST_MEAN + 1e-9 or high - low <= share * low + 1e-9


@pytest.mark.parametrize("noise", [BOUNDED, Noise(0.7, False)])
def test_a_sixth_of_these_pulls_would_not_be_enough(noise):
    """They are a bound that is proved, and not the least number: but not far from it."""
    for pulls_for, mean in ((pulls_for_width, 0.5), (pulls_for_share, LEAST_MEAN)):
        pulls = pulls_for(0.1, 0.3 if pulls_for is pulls_for_width else 0.11, LOGS, noise) // 6
        low, high = width(pulls, mean, 0.3, noise)
        assert high - low > (0.1 if pulls_for is pulls_for_width else 0.1 * low)
    assert np.isfinite(low)


@given(mean=st.floats(0.001, 1), share=st.floats(0.05, 0.9))
def test_an_arm_of_a_known_mean_is_known_after_the_pulls_that_are_said(mean, share):
    pulls = pulls_for_mean(mean, share, share, LOGS)
    low, high = width(pulls, mean, share, BOUNDED)
    assert high - low <= share * low * (1 + 1e-9)
    assert pulls_for_mean(mean / 2, share, share, LOGS) in (2 * pulls, 2 * pulls - 1), "a certain total of rewards"


def test_near_a_mean_of_3_percent_it_is_about_an_order_of_magnitude_less_than_by_hoeffding():
    """Shares below a half; the two formulas differ by 1 / (4 mean) = 8.3 but for what mixtures cost."""
    for share in (0.05, 0.1, 0.2, 0.4):
        blind = pulls_for_width(share * 0.03, 3 * share * 0.03, LOGS)
        assert 5 < blind / pulls_for_mean(0.03, share, share, LOGS) < 10


def test_rewards_that_may_be_anything_gain_nothing_from_a_small_mean():
    noise = Noise(0.5, False)
    assert pulls_for_mean(0.03, 0.2, 0.2, LOGS, noise) == pulls_for_width(0.2 * 0.03 / 1.2, 0.2, LOGS, noise)


@pytest.mark.parametrize("mean", [0, -0.1, 1.1, float("nan")])
def test_a_mean_is_above_0_and_at_most_1(mean):
    with pytest.raises(ValueError, match="mean must be a number above 0"):
        pulls_for_mean(mean, 0.2, 0.2, LOGS)
