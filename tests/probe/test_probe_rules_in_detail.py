"""Probe rules, number by number: each test turns on one part of a rule."""

import math

import pytest

from bestbefore.divergence import divergence
from bestbefore.memory import empty_memory, put
from bestbefore.noise import BOUNDED, Noise
from bestbefore.probe import challenge
from bestbefore.probe.fixed import FixedTests, wanted
from bestbefore.probe.race import bar_of, confidence, evidence, goes_on, lower_bound, rivals_after

NORMAL = Noise(0.3, False)


# Fixed


def test_a_fixed_test_wants_what_is_missing_and_is_over_then():
    assert [wanted(pulls, 5) for pulls in (0, 4, 5, 9)] == [5, 1, 0, 0]
    assert [FixedTests().is_over(pulls, 5) for pulls in (4, 5, 6)] == [False, True, True]


def test_a_stored_arm_is_not_tested_and_one_never_pulled_not_stored():
    assert FixedTests().wanted(False, 0, 5) == 0
    assert [FixedTests().passes(empty_memory(1), pulls) for pulls in (0, 1)] == [False, True]


# Challenge


def after_level(duel, unit, king, challenger, epsilon=0.2):
    """Give both sides their pulls of this level, with these means."""
    pulls = int(duel.counts[challenge.WANTED])
    challenge.fight(duel, challenge.KING_SIDE, pulls, king * pulls)
    challenge.fight(duel, challenge.CHALLENGER_SIDE, pulls, challenger * pulls)
    challenge.judge(duel, unit, epsilon)


def counts(duel):
    """Return level, pulls of each side, the king's budget, and whether he has lost."""
    return duel.counts.tolist()


def test_the_unit_has_the_squares_of_sigma_and_epsilon():
    assert challenge.challenge_unit(0.2, 0.05) == pytest.approx(4 / 0.04 * math.log(20))
    assert challenge.challenge_unit(0.2, 0.05, 1.0) == pytest.approx(16 / 0.04 * math.log(20))


def test_levels_grow_by_three():
    assert [challenge.level_pulls(9.5, level) for level in (1, 2, 3)] == [30, 90, 270]


def test_each_challenge_brings_the_king_twice_what_level_one_costs():
    duel = challenge.peaceful_duel()
    challenge.start_challenge(duel, 10.0)
    assert counts(duel) == [1, 30, 30, 0]
    after_level(duel, 10.0, 0.5, 0.5)
    assert counts(duel) == [0, 0, 30, 0], "he has won, and saves the rest"


def test_to_win_a_level_is_to_lead_by_more_than_half_of_epsilon():
    for lead, level in ((0.09, 0), (0.11, 2)):
        duel = challenge.peaceful_duel()
        for _ in range(5):  # a king who has saved enough for level 2
            challenge.start_challenge(duel, 10.0)
        after_level(duel, 10.0, 0.5, 0.5 + lead)
        assert counts(duel)[:2] == [level, 90 if level else 0]


def test_each_level_begins_without_rewards():
    duel = challenge.peaceful_duel()
    for _ in range(5):
        challenge.start_challenge(duel, 10.0)
    after_level(duel, 10.0, 0.2, 0.9)
    assert (duel.pulls.tolist(), duel.total.tolist()) == ([0, 0], [0.0, 0.0])


def test_nothing_is_judged_before_both_sides_are_done():
    duel = challenge.peaceful_duel()
    challenge.start_challenge(duel, 10.0)
    challenge.fight(duel, challenge.KING_SIDE, 30, 30.0)
    challenge.fight(duel, challenge.CHALLENGER_SIDE, 29, 0.0)
    challenge.judge(duel, 10.0, 0.2)
    assert counts(duel) == [1, 30, 30, 0]


def test_a_new_king_does_not_inherit_the_budget():
    duel = challenge.peaceful_duel()
    challenge.start_challenge(duel, 10.0)
    after_level(duel, 10.0, 0.5, 0.5)
    challenge.crown(duel)
    assert counts(duel) == [0, 0, 0, 0]


# Race


def test_the_confidence_of_a_race_is_the_logarithm_of_ten_tests():
    assert confidence(50) == pytest.approx(math.log(500))


def test_evidence_is_pulls_times_divergence():
    assert evidence(20, 5.0, 0.5, BOUNDED) == pytest.approx(20 * divergence(0.25, 0.5))
    assert evidence(20, 5.0, 0.5, NORMAL) == pytest.approx(20 * 0.25**2 / (2 * 0.09))


def test_the_lower_bound_is_where_the_evidence_is_enough():
    assert evidence(20, 5.0, lower_bound(20, 5.0, 2.0, BOUNDED), BOUNDED) == 0
    low = lower_bound(20, 5.0, 2.0, BOUNDED)
    assert 20 * divergence(0.25, low) == pytest.approx(2.0)
    assert low < 0.25
    assert lower_bound(20, 5.0, 2.0, NORMAL) == pytest.approx(0.25 - 0.3 * math.sqrt(2 * 2.0 / 20))


def test_the_bar_is_the_leaders_lower_bound_beside_its_mean():
    memory = empty_memory(2)
    put(memory, 0, 1, 20, 5.0)
    put(memory, 1, 2, 20, 15.0)
    assert bar_of(memory, 2.0, BOUNDED) == (lower_bound(20, 15.0, 2.0, BOUNDED), 0.75)


def test_an_arm_that_trails_gets_a_third_of_a_test():
    """Nothing speaks against a bar of 0.1; the leader has 0.5, and the arm 0.4."""
    assert [goes_on(pulls, 0.4 * pulls, 0.1, 0.5, 30, 5.0, BOUNDED) for pulls in (9, 10, 14)] == [True, False, False]
    assert [goes_on(pulls, 0.6 * pulls, 0.1, 0.5, 30, 5.0, BOUNDED) for pulls in (10, 29, 30)] == [True, True, False]


def test_an_arm_is_given_up_once_the_evidence_is_above_the_confidence():
    """Six zeros against a bar of 0.5 are 6 ln 2 = 4.16 of evidence."""
    assert goes_on(6, 0.0, 0.5, 0.6, 30, 4.2, BOUNDED)
    assert not goes_on(6, 0.0, 0.5, 0.6, 30, 4.1, BOUNDED)


def test_rivals_add_up_and_go_with_the_leader_they_rivalled():
    memory = empty_memory(1)
    put(memory, 0, 1, 20, 10.0)
    trails = math.exp(-evidence(20, 5.0, 0.5, BOUNDED))
    assert rivals_after(memory, 20, 5.0, 3.0, BOUNDED) == pytest.approx(3 + trails)
    beaten = math.exp(-evidence(20, 10.0, 0.75, BOUNDED))
    assert rivals_after(memory, 20, 15.0, 3.0, BOUNDED) == pytest.approx(4 * beaten)
