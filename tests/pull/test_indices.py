"""The indices of the pull rules, against their definitions."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq

from bestbefore.pull.commit import commit_index
from bestbefore.pull.inf import drawn_place, inf_odds
from bestbefore.pull.kl_ucb import divergence, kl_ucb_index
from bestbefore.pull.moss import moss_index
from bestbefore.pull.thompson import thompson_draw
from bestbefore.pull.ucb import ucb_index

counts = st.integers(1, 10**6)


@given(counts, st.floats(0, 1), st.floats(0, 30))
def test_ucb_adds_the_root_of_log_over_pulls(pulls, mean, log):
    assert ucb_index(pulls, mean * pulls, log) == pytest.approx(mean + math.sqrt(log / pulls))


@given(counts, st.floats(0, 1), st.floats(1, 10**6))
def test_moss_has_no_bonus_beyond_its_share(pulls, mean, share):
    bonus = math.sqrt(max(math.log(share / pulls), 0) / pulls)
    assert moss_index(pulls, mean * pulls, share) == pytest.approx(mean + bonus)


@given(counts, st.floats(0, 1), st.floats(0, 30))
def test_kl_ucb_is_where_the_divergence_reaches_the_rate(pulls, mean, log):
    index = kl_ucb_index(pulls, mean * pulls, log)
    mean = mean * pulls / pulls
    assert mean - 1e-12 <= index <= 1
    if mean < 1 and log > 0 and pulls * divergence(mean, 1 - 1e-15) > log:
        root = brentq(lambda q: pulls * divergence(mean, q) - log, mean, 1 - 1e-15, xtol=1e-15)
        assert index == pytest.approx(root, abs=1e-9)


def test_kl_ucb_with_all_ones_is_one_and_with_all_zeros_closed():
    assert kl_ucb_index(10, 10.0, 3.0) == 1
    assert kl_ucb_index(10, 0.0, 3.0) == pytest.approx(1 - math.exp(-0.3))


def test_commit_tests_first():
    assert commit_index(3, 3.0, 4) == math.inf
    assert commit_index(4, 3.0, 4) == 0.75


@given(st.lists(st.floats(0, 1e5), min_size=1, max_size=40), st.integers(1, 10**6))
def test_the_odds_of_inf_add_up_and_fall_with_the_loss(losses, time):
    losses, odds = np.array(losses), np.zeros(len(losses))
    inf_odds(losses, time, odds)
    assert odds.sum() == pytest.approx(1)
    assert (odds > 0).all()
    order = np.argsort(losses)
    assert (np.diff(odds[order]) <= 1e-12).all()
    eta = 2 / math.sqrt(time)
    x = losses - 2 / (eta * np.sqrt(odds))  # w = 4 (eta (L - x))^-2 has the same x for all
    assert np.ptp(x) <= 1e-5 * max(1, np.abs(x).max())


def test_a_place_is_drawn_with_its_odds():
    odds = np.array([0.2, 0.5, 0.3])
    assert [drawn_place(odds, coin) for coin in (0.0, 0.19, 0.2, 0.69, 0.71, 0.999999)] == [0, 0, 1, 1, 2, 2]


def test_thompson_draws_from_what_is_believed():
    """Mean and deviation of 20,000 draws, within 5 standard errors: fails by chance once in a million; seed fixed."""
    rng = np.random.default_rng(0)
    draws = np.array([thompson_draw(20, 15.0, 0.0, rng) for _ in range(20_000)])
    mean, deviation = 16 / 22, math.sqrt(16 * 6 / (22**2 * 23))
    assert abs(draws.mean() - mean) < 5 * deviation / math.sqrt(20_000)
    draws = np.array([thompson_draw(20, 15.0, 0.3, rng) for _ in range(20_000)])
    assert abs(draws.mean() - 0.75) < 5 * 0.3 / math.sqrt(20 * 20_000)
    assert thompson_draw(0, 0.0, 0.3, rng) == math.inf
