"""Challenge: arms fight the king at levels of growing numbers of pulls.  Fair without expiry, lost with it."""

import math

import numpy as np
import pytest
from scipy import stats

from bestbefore.probe.challenge import (
    BUDGET,
    CHALLENGER_SIDE,
    KING_SIDE,
    LEVEL,
    WANTED,
    challenge_unit,
    challenger_won,
    crown,
    fight,
    is_over,
    judge,
    level_pulls,
    peaceful_duel,
    start_challenge,
)
from bestbefore.simulate import explore, trace
from bestbefore.streams import decreasing, sawtooth, uniform

UNIT = 10.0
FIRST = 30
"""Pulls of level 1 at this unit."""


def one_level(duel, king, challenger, epsilon=0.2):
    """Let both sides have their pulls of this level, with these means, and judge."""
    wanted = int(duel.counts[WANTED])
    fight(duel, KING_SIDE, wanted, king * wanted)
    fight(duel, CHALLENGER_SIDE, wanted, challenger * wanted)
    judge(duel, UNIT, epsilon)


# The rules of the fight


def test_the_unit_of_pulls_is_four_over_epsilon_squared_times_ln_one_over_delta():
    assert challenge_unit(0.2, 0.1) == pytest.approx(100 * math.log(10))


def test_each_level_has_three_times_the_pulls_of_the_one_before():
    assert [level_pulls(UNIT, level) for level in (1, 2, 3)] == [FIRST, 3 * FIRST, 9 * FIRST]


def test_before_any_challenge_there_is_peace():
    duel = peaceful_duel()
    assert is_over(duel)
    assert not challenger_won(duel)


def test_a_challenge_begins_at_level_one_and_the_kings_budget_pays_for_it():
    """The budget grows by two levels' pulls with each arrival, of which level 1 takes one."""
    duel = peaceful_duel()
    start_challenge(duel, UNIT)
    assert (duel.counts[LEVEL], duel.counts[WANTED], duel.counts[BUDGET]) == (1, FIRST, FIRST)
    assert not is_over(duel)


def test_a_king_who_wins_keeps_what_is_left_of_his_budget():
    duel = peaceful_duel()
    for victories in range(1, 5):
        start_challenge(duel, UNIT)
        one_level(duel, king=0.5, challenger=0.4)
        assert is_over(duel)
        assert not challenger_won(duel)
        assert duel.counts[BUDGET] == victories * FIRST


def test_a_fresh_king_who_loses_level_one_cannot_pay_for_the_next_and_falls():
    duel = peaceful_duel()
    start_challenge(duel, UNIT)
    one_level(duel, king=0.5, challenger=0.7)
    assert is_over(duel)
    assert challenger_won(duel)
    assert duel.counts[BUDGET] == 0


def test_a_king_of_long_standing_must_be_beaten_at_several_levels():
    """After k victories he can pay for levels of k and more times the first: luck at few pulls is not enough."""
    duel = peaceful_duel()
    for _ in range(12):
        start_challenge(duel, UNIT)
        one_level(duel, king=0.5, challenger=0.4)
    start_challenge(duel, UNIT)
    levels = []
    while not is_over(duel):
        levels.append(int(duel.counts[LEVEL]))
        one_level(duel, king=0.5, challenger=0.7)
    assert levels == [1, 2, 3]  # 13 + 1 victories' worth: 1 + 3 + 9 are paid, 27 more cannot be
    assert challenger_won(duel)


def test_a_challenger_must_win_every_level():
    duel = peaceful_duel()
    for _ in range(12):
        start_challenge(duel, UNIT)
        one_level(duel, king=0.5, challenger=0.4)
    start_challenge(duel, UNIT)
    one_level(duel, king=0.5, challenger=0.7)
    one_level(duel, king=0.5, challenger=0.55)
    assert is_over(duel)
    assert not challenger_won(duel)


@pytest.mark.parametrize(("rewards", "goes_on"), [(96, False), (120, False), (121, True)])
def test_the_challenger_must_be_ahead_by_more_than_half_of_epsilon(rewards, goes_on):
    """Epsilon is 1/4 and the king got 96 of 192: 120 of 192 is exactly 1/8 ahead, which is not enough."""
    duel = peaceful_duel()
    duel.counts[BUDGET] = 10**6
    start_challenge(duel, unit=64.0)
    fight(duel, KING_SIDE, 192, 96.0)
    fight(duel, CHALLENGER_SIDE, 192, float(rewards))
    judge(duel, 64.0, 0.25)
    assert is_over(duel) is not goes_on


def test_nothing_is_judged_before_both_sides_have_had_their_pulls():
    """Rewards may come back one by one, and one side's before the other's."""
    duel = peaceful_duel()
    start_challenge(duel, UNIT)
    fight(duel, KING_SIDE, FIRST, 0.0)
    for _ in range(FIRST - 1):
        fight(duel, CHALLENGER_SIDE, 1, 1.0)
        judge(duel, UNIT, 0.2)
        assert not is_over(duel)
    fight(duel, CHALLENGER_SIDE, 1, 1.0)
    judge(duel, UNIT, 0.2)
    assert is_over(duel)


def test_each_level_counts_afresh():
    """The pulls of a level that was won do not count at the next."""
    duel = peaceful_duel()
    duel.counts[BUDGET] = 10**6
    start_challenge(duel, UNIT)
    one_level(duel, king=0.0, challenger=1.0)
    assert duel.counts[LEVEL] == 2
    assert duel.pulls.tolist() == [0, 0]
    assert duel.total.tolist() == [0.0, 0.0]


def test_a_new_reign_begins_without_a_challenge_and_without_a_budget():
    duel = peaceful_duel()
    duel.counts[BUDGET] = 10**6
    start_challenge(duel, UNIT)
    crown(duel)
    assert is_over(duel)
    assert not challenger_won(duel)
    assert duel.counts.tolist() == [0, 0, 0, 0]


# Fair where arms do not expire


@pytest.mark.parametrize(
    "stream",
    [uniform(60), decreasing(60), sawtooth(60, period=20), np.linspace(0.01, 0.99, 60), [0.2] * 30 + [0.6] * 30],
    ids=["uniform", "decreasing", "sawtooth", "rising", "a step up"],
)
def test_without_expiry_the_king_is_within_epsilon_of_the_best_at_all_times(stream):
    """Window = arms, epsilon = 0.3, delta = 0.01, 200 runs.

    A run fails only if an arm that is better by epsilon is turned away, or one that is no better wins: each arrival
    risks delta^3 + delta^9 + ... at most, so a run fails with probability 6.1e-5 at most, and three or more of 200 runs
    do with 3e-7.
    """
    table = explore(stream, window=60, epsilon=0.3, delta=0.01, keep="king", runs=200, seed=7)
    assert np.count_nonzero(table["max"] > 0.3 + 1e-12) <= 2
    assert (table["peak_memory"] == 1).all()


def test_the_best_arm_on_the_throne_is_not_dethroned():
    """The first arm has 0.6, and 499 of 0.59 follow, all within the window; 20 runs.

    No arm is better, so a fresh king falls with probability delta^3 in each of his first two fights and delta^12 in
    those after: 20 runs fail by chance with 4e-5 at most.
    """
    for run in range(20):
        answers = trace([0.6] + [0.59] * 499, window=500, epsilon=0.3, delta=0.01, keep="king", seed=8, run=run).answers
        assert (answers == 1).all()


def test_an_arm_better_by_epsilon_is_turned_away_no_more_often_than_hoeffding_says():
    """Two arms, 0.5 and then 0.8, epsilon = 0.3 and delta = 1/2: at most delta^3 = 1/8 of 2,000 runs.

    The test fails by chance in less than one of a million, were the true share as high as that.
    """
    table = explore([0.5, 0.8], window=2, epsilon=0.3, delta=0.5, keep="king", runs=2000, seed=9)
    turned_away = np.count_nonzero(table["max"] > 0.2)
    assert turned_away <= stats.binom.isf(1e-6, 2000, 1 / 8)


def test_an_arm_no_better_wins_no_more_often_than_hoeffding_says():
    """Two equal arms of mean 1/2, delta = 1/2: at most 1/8 of 2,000 runs; by chance, less than one of a million."""
    falls = sum(
        trace([0.5, 0.5], window=2, epsilon=0.3, delta=0.5, keep="king", seed=10, run=run).answers[1] == 2
        for run in range(2000)
    )
    assert 0 < falls <= stats.binom.isf(1e-6, 2000, 1 / 8)


# Lost where they do


def test_on_falling_means_all_is_lost_when_the_king_expires():
    """Lemma E.1: arm 1 reigns for a window; when it expires, arms 2 to W are gone, and the newest takes the throne.

    Means fall from 1 to 0 over 100 arms, W = 50: arm 51, of mean 0.5, then answers where arm 2 has 0.99.  That the
    first king falls before he expires has a probability of 2e-6.
    """
    told = trace(decreasing(100), window=50, epsilon=0.3, delta=0.01, keep="king")
    assert told.answers[:51].tolist() == [1] * 50 + [51]
    assert told.errors[50] == pytest.approx(0.49)


def test_with_expiry_the_king_fails_where_bucket_keeps_its_promise():
    """The same stream, the same epsilon of 0.3 and delta of 0.01, every run."""
    table = explore(decreasing(100), window=50, epsilon=0.3, delta=0.01, keep=["king", "bucket"], runs=20, seed=11)
    assert (table.where(keep="king")["max"] > 0.3).all()
    assert (table.where(keep="bucket")["max"] <= 0.3).all()
