"""Fixed tests by pairs of arms, and exactly: what they cost, that they are enough, and that there is no room left."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from bestbefore import bounds
from bestbefore.pairs import exact_failure, exact_pulls, pair_pulls, pairs_at_risk, worst_failure


@pytest.mark.parametrize(("cell", "exact"), [(0.0, 471), (0.01, 566), (1 / 30, 1036)])
def test_what_a_window_of_100_costs(cell, exact):
    assert exact_pulls(0.1, 100, 0.05, cell=cell) == exact
    by_pairs = pair_pulls(0.1, 100, 0.05, cell=cell)
    assert by_pairs == math.ceil(math.log(99 / 0.05) / (0.1 - cell) ** 2)
    assert exact < by_pairs < bounds.pulls(0.1, 100, 0.05) / 2


@given(st.floats(0.1, 1), st.integers(1, 1000), st.floats(0.001, 0.5), st.floats(0, 0.9))
def test_pairs_are_surely_enough(epsilon, window, delta, share):
    """The exact probability on the worst instance is at most delta, by Hoeffding's inequality."""
    cell = share * epsilon
    pulls = pair_pulls(epsilon, window, delta, cell=cell)
    if pulls < 3000:
        assert worst_failure(pulls, epsilon, max(window - 1, 1), cell) <= delta


@pytest.mark.parametrize("guarantee", ["weak", "strong"])
@pytest.mark.parametrize("cell", [0.0, 0.06])
def test_exact_pulls_leave_no_room(guarantee, cell):
    rivals, delta = (29, 0.05) if guarantee == "weak" else (58, 0.05 / 200)
    pulls = exact_pulls(0.2, 30, 0.05, guarantee, arms=200, cell=cell)
    assert worst_failure(pulls, 0.2, rivals, cell) <= delta < worst_failure(pulls - 1, 0.2, rivals, cell)


def test_the_worst_instance_fails_as_often_as_it_may():
    """The best arm and 29 rivals that are epsilon worse, 20,000 times: the answer is a rival in 4.4% to 5.6% of them.

    The chance that it is not is 1e-4, with the true share just below 5%.
    """
    rng, runs, rivals, epsilon = np.random.default_rng(4), 20_000, 29, 0.2
    pulls = exact_pulls(epsilon, rivals + 1, 0.05)
    means = np.linspace(epsilon, 1, 41)
    mean = means[np.argmax([exact_failure(pulls, mean, epsilon, rivals) for mean in means])]
    best = rng.binomial(pulls, mean, runs)
    highest = rng.binomial(pulls, mean - epsilon, (rivals, runs)).max(axis=0)
    failed = int((highest >= best).sum())
    share = exact_failure(pulls, mean, epsilon, rivals)
    assert binom.ppf(5e-5, runs, share) <= failed <= binom.isf(5e-5, runs, share)
    assert 0.044 * runs <= failed <= 0.056 * runs


@given(st.integers(1, 40), st.floats(0.1, 0.9), st.floats(0.05, 0.5), st.integers(1, 20), st.floats(0, 0.3))
def test_the_exact_probability_by_brute_force(pulls, mean, epsilon, rivals, cell):
    """Sum over what the best arm got, and over what the best of the rivals got."""
    mean = max(mean, epsilon)
    got = np.arange(pulls + 1)
    best = binom.pmf(got, pulls, mean)
    at_most = binom.cdf(got, pulls, mean - epsilon) ** rivals
    highest = np.diff(at_most, prepend=0)
    looks_good = got[None, :] >= got[:, None] - cell * pulls - 1e-9
    assert exact_failure(pulls, mean, epsilon, rivals, cell) == pytest.approx(best @ looks_good @ highest, abs=1e-9)


def test_pairs_that_share_delta():
    assert pairs_at_risk(50) == 49
    assert pairs_at_risk(50, reacts=True) == 50 * 49
    assert pairs_at_risk(50, "strong", arms=1000) == 1000 * 49
    assert pairs_at_risk(50, "strong", arms=1000, reacts=True) == 2 * 1000 * 49
    assert pairs_at_risk(50, "anytime", arrival=51, reacts=True) == 2 * pairs_at_risk(50, "anytime", arrival=51)
    shares = sum(50 * 49 / pairs_at_risk(50, "anytime", arrival=50 * block + 1) for block in range(10_000))
    assert 0.999 < shares < 1
    assert pairs_at_risk(1) == 1


def test_noisier_rewards_need_more():
    assert pair_pulls(0.1, 50, 0.05, sigma=1.0) == pytest.approx(4 * pair_pulls(0.1, 50, 0.05), abs=4)


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (lambda: pair_pulls(0.1, 50, 0.05, cell=0.1), "cell must be"),
        (lambda: pair_pulls(0, 50, 0.05), "epsilon must be"),
        (lambda: pair_pulls(0.1, 50, 1.5), "delta must be"),
        (lambda: pair_pulls(0.1, 50, 0.05, "strong"), "arms must be the length"),
        (lambda: pair_pulls(0.1, 50, 0.05, "anytime"), "arrival must be the number"),
        (lambda: exact_pulls(0.1, 50, 0.05, "anytime"), "'weak' or 'strong' for exact pulls, not 'anytime'"),
        (lambda: exact_pulls(0.1, 50, 0.05, "strong"), "arms must be the length"),
        (lambda: exact_pulls(0.1, 0, 0.05), "window must be"),
    ],
)
def test_what_is_wrong_is_named(call, complaint):
    with pytest.raises(ValueError, match=complaint):
        call()
