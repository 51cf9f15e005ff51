"""Pull rules, number by number: each test turns on one part of a rule's formula."""

import math

import numpy as np
import pytest

from bestbefore import pull, rules
from bestbefore.divergence import divergence, upper_bound
from bestbefore.memory import empty_memory, put
from bestbefore.noise import BOUNDED, Noise
from bestbefore.pull import commit, inf, kl_ucb, moss, thompson, ucb
from bestbefore.pull.blocks import room_for
from bestbefore.pull.horizon import horizon_of

NORMAL = Noise(0.3, False)
HORIZON = horizon_of(1000, 4, 0.01, 1)
NORMAL_HORIZON = horizon_of(1000, 4, 0.01, 1, NORMAL)


def memory_of(*arms):
    memory = empty_memory(len(arms))
    for slot, (arrival, pulls, total) in enumerate(arms):
        put(memory, slot, arrival, pulls, total)
    return memory


# Divergences


def test_the_divergence_of_two_coins_has_two_terms():
    assert divergence(0.25, 0.5) == pytest.approx(0.25 * math.log(0.5) + 0.75 * math.log(1.5))


def test_the_upper_bound_is_where_the_divergence_reaches_the_limit():
    for pulls, total, log in ((10, 5.0, 0.5), (100, 20.0, 3.0), (7, 6.5, 2.0)):
        bound = upper_bound(pulls, total, log)
        assert bound > total / pulls
        assert pulls * divergence(total / pulls, bound) == pytest.approx(log)


# Horizons


def test_a_horizon_has_budget_over_arms_and_the_logarithms():
    assert HORIZON.share == 250
    assert HORIZON.log == pytest.approx(math.log(1000))
    assert HORIZON.log_union == pytest.approx(math.log(1000 * 4 / 0.01))


def test_no_arm_is_tested_by_more_pulls_than_the_epoch_has():
    assert [horizon_of(budget, 2, 0.01, 40).tests for budget in (10, 40, 1000)] == [10, 40, 40]


# Indices


def test_bonuses_grow_with_two_sigma():
    """Which is 1 for rewards on [0, 1], and 0.6 here: neither sigma alone nor its square."""
    for horizon, scale in ((HORIZON, 1.0), (NORMAL_HORIZON, 0.6)):
        assert ucb.index(10, 5.0, horizon) == pytest.approx(0.5 + scale * math.sqrt(math.log(1000 * 4 / 0.01) / 10))
        assert moss.index(10, 5.0, horizon) == pytest.approx(0.5 + scale * math.sqrt(math.log(25) / 10))


def test_moss_has_no_bonus_beyond_its_share():
    assert moss.index(300, 150.0, HORIZON) == 0.5


def test_kl_ucb_of_normal_rewards_adds_sigma_times_the_root_of_two_logs_over_pulls():
    assert kl_ucb.index(8, 4.0, NORMAL_HORIZON) == pytest.approx(0.5 + 0.3 * math.sqrt(2 * math.log(1000) / 8))


def test_kl_ucb_of_bounded_rewards_has_the_logarithm_of_the_budget_as_its_rate():
    assert 20 * divergence(0.25, kl_ucb.index(20, 5.0, HORIZON)) == pytest.approx(math.log(1000))


def test_commit_pulls_an_arm_until_its_test_is_over_and_not_once_more():
    horizon = horizon_of(1000, 2, 0.01, 4)
    assert [commit.index(pulls, 2.0, horizon) for pulls in (3, 4)] == [math.inf, 0.5]
    assert [commit.sure(pulls, horizon) for pulls in (1, 3, 4, 9)] == [3, 1, 1, 1]


def test_of_equal_indices_the_newer_arm_is_pulled_and_before_all_one_never_pulled():
    for rule in rules.INDEXED:
        number = rules.PULL[rule].number
        assert pull.highest(number, memory_of((5, 10, 5.0), (7, 10, 5.0), (6, 10, 5.0)), HORIZON) == 1
        assert pull.highest(number, memory_of((5, 10, 10.0), (3, 0, 0.0), (6, 10, 5.0)), HORIZON) == 1


# What leaps rely on


def test_an_index_is_above_a_level_with_the_bonus_of_the_later_pulls():
    """Between the indices after 10 and after 40 pulls of the same mean lies a level that only the first is above."""
    for rule, horizon in ((ucb, HORIZON), (moss, HORIZON), (kl_ucb, NORMAL_HORIZON)):
        level = (rule.index(10, 5.0, horizon) + rule.index(40, 20.0, horizon)) / 2
        assert rule.is_above(10, 5.0, 10, horizon, level)
        assert not rule.is_above(10, 5.0, 40, horizon, level)


def test_kl_ucb_is_above_what_its_index_is_above():
    for total in (0.0, 5.0, 15.0):
        index = kl_ucb.index(20, total, HORIZON)
        assert kl_ucb.is_above(20, total, 20, HORIZON, index - 1e-4)
        assert not kl_ucb.is_above(20, total, 20, HORIZON, index + 1e-4)


def test_room_is_how_many_zeros_the_mean_can_take():
    """5 of 8 stay above 1 / 4 for 11 zeros, and 12 make it equal."""
    assert room_for(8, 5.0, 0.25) == pytest.approx(12, abs=1e-5)
    assert room_for(8, 5.0, 0.0) == math.inf


def test_room_has_the_bonus_of_the_last_pulls():
    for rule in (ucb, moss):
        level = rule.index(24, 5.0, HORIZON)
        zeros = rule.room(8, 5.0, 24, HORIZON, level)
        assert zeros == pytest.approx(16, abs=1e-5), "5 rewards in 24 pulls are where index and level meet"


# Rules that draw


def spread_of(pulls, total, noise):
    """Draw 4000 times; return mean and deviation."""
    rng = np.random.default_rng(0)
    draws = np.array([thompson.draw(pulls, total, noise, rng) for _ in range(4000)])
    return draws.mean(), draws.std()


def test_thompson_draws_normal_means_with_sigma_over_the_root_of_pulls():
    """Five standard errors: one in a million by chance, and the seed is fixed."""
    mean, deviation = spread_of(25, 10.0, NORMAL)
    assert mean == pytest.approx(0.4, abs=5 * 0.06 / math.sqrt(4000))
    assert deviation == pytest.approx(0.06, rel=5 / math.sqrt(8000))


def test_thompson_draws_from_beta_of_successes_and_failures_each_plus_one():
    """Beta(4, 8) has the mean 1 / 3 and the variance 2 / 9 / 13; the deviation of 4000 is known within 6%."""
    mean, deviation = spread_of(10, 3.0, BOUNDED)
    assert mean == pytest.approx(1 / 3, abs=5 * math.sqrt(2 / 117 / 4000))
    assert deviation == pytest.approx(math.sqrt(2 / 117), rel=0.06)


def test_thompson_pulls_the_highest_draw_and_first_an_arm_of_which_nothing_is_known():
    rng, room = np.random.default_rng(0), np.zeros(2)
    sure = memory_of((1, 10**6, 9e5), (2, 10**6, 1e5))
    assert thompson.choose(sure, room, room, 1, BOUNDED, rng)[0] == 0
    fresh = memory_of((1, 10**6, 9e5), (2, 0, 0.0))
    assert thompson.choose(fresh, room, room, 1, NORMAL, rng)[0] == 1


def test_inf_weighs_losses_by_two_over_the_root_of_time():
    """w = 4 / (eta (L - x))^2 with eta = 2 / sqrt(t): so sqrt(t / w) = L - x, and differs as the losses do."""
    for time in (1, 9, 400):
        odds = np.zeros(3)
        inf.fill_odds(np.array([0.0, 3.0, 10.0]), time, odds)
        apart = np.sqrt(time / odds)
        assert np.diff(apart) == pytest.approx([3.0, 7.0], rel=1e-6)


def test_inf_draws_the_place_that_the_coin_falls_on():
    odds = np.array([0.2, 0.5, 0.3])
    assert [inf.drawn_place(odds, coin) for coin in (0.1, 0.3, 0.69, 0.71)] == [0, 1, 1, 2]
