"""Bounds by gaps: each step of the proof by exact probabilities, and the formula in small numbers."""

import math

import numpy as np
import pytest
from scipy.stats import binom

from bestbefore import gap_bounds
from bestbefore.divergence import divergence, upper_bound

DELTA = 0.01


def chance_of_falling_short(mean, level, pulls, slack=0.0):
    """Return the exact probability that a Bernoulli arm's index is ever below mean - slack, within so many pulls."""
    alive, failed = np.ones(1), 0.0  # the probability of each number of successes, by those who have not failed
    for done in range(1, pulls + 1):
        alive = np.append(alive, 0.0) * (1 - mean) + np.insert(alive, 0, 0.0) * mean
        lost = [upper_bound(done, total, level) < mean - slack - 1e-12 for total in range(done + 1)]
        failed += alive[lost].sum()
        alive[lost] = 0.0
    return failed


@pytest.mark.parametrize("mean", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("level", [2.0, 4.0])
def test_the_index_of_the_best_arm_falls_short_no_more_often_than_proved(mean, level):
    """Of an epoch of 100 pulls that is the first, `failures` says 100 times a bound of the exact probability."""
    exact = chance_of_falling_short(mean, level, 100)
    (bound,) = gap_bounds.failures([1], [100], [level]) / 100
    assert 0 < exact <= bound


@pytest.mark.parametrize("slack", [0.05, 0.2])
def test_and_by_a_slack_even_less_often(slack):
    for mean in (0.3, 0.7):
        assert chance_of_falling_short(mean, 2.0, 150, slack) <= math.exp(-2) / (2 * slack**2)


def expected_pay(mean, gap, level, pulls):
    """Return the exact sum over s of E[d; d >= gap], where d = sqrt(L / (2 s)) + the excess of the empirical mean."""
    total = 0.0
    for done in range(1, pulls + 1):
        wins = np.arange(done + 1)
        most = math.sqrt(level / (2 * done)) + np.maximum(wins / done - mean, 0)
        total += (binom.pmf(wins, done, mean) * most * (most >= gap)).sum()
    return total


@pytest.mark.parametrize("level", [1.0, 6.0])
@pytest.mark.parametrize("gap", [0.15, 0.4])
def test_an_arm_pays_no_more_than_proved_however_its_gap_changes(level, gap):
    """The worst case: at each number of pulls the gap is the largest with which the arm could be pulled."""
    exact = expected_pay(0.5, gap, level, math.ceil(12 * (level + 2) / gap**2))
    bound = gap_bounds.arms_pay([gap], level)
    assert exact <= bound <= 5 * exact


def test_three_points_of_the_divergence():
    """kl(p, r) >= kl(p, q) + kl(q, r) for p <= q <= r, by which a slack makes failures rarer."""
    grid = np.linspace(0.01, 0.99, 25)
    for p in grid:
        for q in grid[grid >= p]:
            for r in grid[grid >= q]:
                assert divergence(p, r) >= divergence(p, q) + divergence(q, r) - 1e-12


def test_the_bound_is_the_least_of_its_three_forms():
    """One arm behind in one of two epochs, by 0.5; levels are 4 ln 10 = 9.21, budgets 100 and 0."""
    setting = {"gaps": [math.inf, 0.5], "least": [0.5, 0.5], "valid": [2, 2], "budgets": [10**4, 0]}
    pay = gap_bounds.arms_pay([0.5], 4 * math.log(10))
    lost = math.e * math.ceil((4 * math.log(10)) ** 2)
    assert gap_bounds.failures([2, 2], [10**4, 0], [4 * math.log(10), 9]).tolist() == pytest.approx([lost, 0])
    slack = (math.cbrt(pay) + math.cbrt(2)) ** 3
    levels = gap_bounds.kl_ucb_levels(setting["budgets"])
    assert slack < lost
    assert gap_bounds.regret(**setting, levels=levels) == pytest.approx(1 + slack)
    sure = gap_bounds.ucb_levels([2, 2], setting["budgets"], DELTA)
    assert sure == pytest.approx([2 * math.log(2 * 10**6), 0])
    assert gap_bounds.regret(**setting, levels=sure) == pytest.approx(1 + gap_bounds.arms_pay([0.5], sure[0]), rel=1e-4)
    assert gap_bounds.regret(**setting | {"budgets": [20, 0]}, levels=levels) == 20


def test_pulls_of_earlier_epochs_count_while_the_best_arm_can_have_had_them():
    """S is the sum of the budgets of as many epochs as arms are valid; here S e^-L is the least of the three."""
    lost = gap_bounds.failures([1, 2, 2], [2, 3, 4], [9, 9, 9])
    assert lost == pytest.approx(np.array([2 * 2, 3 * 5, 4 * 7]) * math.exp(-9))


def test_where_nothing_can_be_lost_the_bound_is_0():
    assert gap_bounds.regret([math.inf], [math.inf], [1], [100], [5.0]) == 0.0


def test_normal_rewards_scale_the_bound_by_their_variance():
    assert gap_bounds.arms_pay([0.3], 5.0, sigma=1.0) == pytest.approx(4 * gap_bounds.arms_pay([0.3], 5.0))
    setting = {"gaps": [0.5], "least": [0.5], "valid": [2], "budgets": [10**6], "levels": [14.0]}
    pay, slack = gap_bounds.arms_pay([0.5], 14.0, 1.0), 4 * 10**6 * math.exp(-14) / 0.5
    assert gap_bounds.regret(**setting, sigma=1.0) == pytest.approx(1 + (math.cbrt(pay) + math.cbrt(slack)) ** 3)


def test_levels_below_1_count_as_1():
    """With one pull an epoch, ln T is 0; what holds for a level holds for each lower one."""
    assert gap_bounds.arms_pay([0.3], 0.0) == gap_bounds.arms_pay([0.3], 1.0)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"gaps": [0.0]}, "gaps must be above 0, or inf where there is none, not 0 at place 1"),
        ({"gaps": [0.1, -1]}, "gaps must be at least 0, not -1 at place 2"),
        ({"gaps": 0.1}, "gaps must be a list of numbers, not 0.1"),
        ({"least": [0.1]}, "least must be a list of 2 numbers, one for each epoch"),
        ({"budgets": [5, math.nan]}, "budgets must be at least 0, not nan at place 2"),
        ({"budgets": ["a", "b"]}, "budgets must be a list of 2 numbers, one for each epoch"),
        ({"valid": [0, 1]}, "valid must be at least 1, not 0 at place 1"),
        ({"levels": [1.0, -0.5]}, "levels must be at least 0, not -0.5 at place 2"),
        ({"sigma": 0.0}, "sigma must be a number above 0, not 0.0"),
    ],
)
def test_bad_input_is_refused(change, says):
    good = {"gaps": [0.1], "least": [0.1, 0.2], "valid": [1, 2], "budgets": [5, 5], "levels": [1.0, 1.0]}
    with pytest.raises(ValueError, match=says):
        gap_bounds.regret(**good | change)


def test_a_confidence_that_is_none_is_refused():
    with pytest.raises(ValueError, match="delta must be a number above 0 and below 1, not 0"):
        gap_bounds.ucb_levels([1], [1], delta=0)
