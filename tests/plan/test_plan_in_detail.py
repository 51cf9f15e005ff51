"""Plans, number by number: what follows from what a person says."""

import math

import numpy as np
import pytest

from bestbefore import Explorer
from bestbefore.plan import plan_exploration, plan_play, plan_seek


def test_slack_exempts_the_oldest_floor_of_slack_w_over_m():
    """With W slots nothing is ever passed over, whatever slack says."""
    assert [plan_exploration("staircase", 50, memory=m, slack=1.0).exempt for m in (4, 10, 50)] == [12, 5, 0]
    assert plan_exploration("bucket", 50, memory=4, slack=1.0).exempt == 0


def test_slots_leave_half_of_the_rest_of_epsilon_for_means_to_be_off():
    """Four slots of `staircase` cost 1 / 5 of epsilon, of `bucket` 1 / 4."""
    assert plan_exploration("staircase", 50, memory=4, epsilon=0.5, probe="fixed").theta == pytest.approx(0.15)
    assert plan_exploration("bucket", 50, memory=4, epsilon=0.5).theta == pytest.approx(0.125)


def test_without_epsilon_it_is_three_over_memory_and_a_whole_window_leaves_all_of_it_to_the_noise():
    some, whole = (plan_exploration("staircase", window, memory=10) for window in (50, 10))
    assert (some.epsilon, some.theta) == pytest.approx((0.3, 0.1))
    assert (whole.epsilon, whole.theta) == pytest.approx((0.3, 0.15))


def test_slack_is_for_those_who_ask_for_the_best_use_of_slots():
    plans = [
        plan_exploration(**said, probe="fixed")
        for said in ({"memory": 4}, {"epsilon": 0.5}, {"memory": 4, "epsilon": 0.5})
    ]
    assert [made.slack for made in plans] == [1.0, 0.0, 0.0]


def test_nothing_is_promised_with_tests_of_ones_own_nor_of_no_arm():
    assert plan_exploration("staircase", 50, memory=4, epsilon=0.5, probe="fixed").promise == 0.5
    assert plan_exploration("staircase", 50, memory=4, epsilon=0.5, tests=5).promise is None
    assert plan_exploration("staircase", 50, memory=4, epsilon=0.5, slack=4.0).promise is None


def test_pending_arms_before_the_newest_take_slots():
    made = plan_exploration("staircase", 50, memory=6, pending=3)
    assert (made.slots, made.memory) == (4, 6)


def test_where_a_window_needs_fewer_slots_than_epsilon_it_is_stored_whole():
    """100 cells of 0.01 are more than 20 arms; all of epsilon is then for the noise."""
    made = plan_exploration("staircase", 20, epsilon=0.1, probe="fixed")
    assert (made.slots, made.theta) == (20, pytest.approx(0.05))


def test_a_split_of_ones_own_is_taken():
    made = plan_exploration("bucket", 50, epsilon=0.3, split=0.5)
    assert (made.slots, made.theta) == (7, pytest.approx(0.075))


def test_a_seeker_waits_where_it_has_a_slot_for_each_valid_arm():
    assert [plan_seek(window=10, memory=memory).strategy.name for memory in (9, 10, 11)] == ["race", "wait", "wait"]


def test_tests_take_a_tenth_of_the_budget_and_with_rank_a_hundredth():
    for strategy, tests in (("race", 100), ("rank", 10)):
        assert plan_seek(window=10, memory=4, strategy=strategy, budget=10**6, arms=1000).tests == tests


def test_a_player_begins_at_once_or_with_a_full_window():
    assert (plan_play(window=7).first, plan_play(window=7, partial=False).first) == (1, 7)


def test_a_player_has_twenty_slots_or_its_window():
    assert [plan_play(window=window).memory for window in (10, 20, 100)] == [10, 20, 20]


def test_commit_tests_for_a_third_of_epsilon_and_all_arms_of_a_window():
    """s = 2 sigma^2 / theta^2 ln(2 / p), with theta = epsilon / 3 and p = delta / (3 W)."""
    pulls = math.ceil(2 * 0.25 / 0.2**2 * math.log(2 * 3 * 50 / 0.01))
    assert plan_play(window=50, pull="commit", epsilon=0.6).tests() == pulls
    assert plan_play(window=50, pull="commit", memory=5).tests() == pulls


def test_slots_for_epsilon_come_on_top_of_those_of_pending_arms():
    """Ten slices, and two arms under test before the newest."""
    assert plan_exploration("bucket", epsilon=0.3, pending=3).memory == 12


# Certificates


def test_certificates_have_cells_of_a_tenth_of_epsilon_or_a_whole_window():
    assert plan_exploration(window=50, epsilon=0.1).slots == 50
    assert plan_exploration(window=1000, epsilon=0.1).slots == 100
    assert plan_exploration(window=1000, epsilon=0.2, relative=True).slots == 218
    assert plan_exploration(window=50, memory=400, epsilon=0.1).slots == 50, "more than a window is of no use"
    assert plan_exploration(window=50, memory=400, epsilon=0.1).memory == 400


def test_no_arm_is_pulled_more_often_than_planned():
    """All means are equal, which is the worst stream, and many arms are pulled until they are known."""
    for said in ({"epsilon": 0.3}, {"epsilon": 0.3, "memory": 8}, {"epsilon": 0.5, "relative": True}):
        explorer = Explorer(window=20, **said)
        rng, most = np.random.default_rng(0), 0
        for arm in range(60):
            explorer.arrive(arm)
            while (asked := explorer.ask()) is not None:
                pulls = explorer.wanted(asked)
                explorer.tell(asked, rng.binomial(pulls, 0.5), pulls=pulls)
                most = max(most, *(record["pulls"] for record in explorer.state()["arms"]))
        assert 10 < most <= explorer.tests


def test_without_a_target_bounds_are_tuned_for_what_the_budget_can_tell_apart():
    few, many = (plan_exploration(memory=8, budget=budget) for budget in (10, 10_000))
    assert (few.epsilon, few.promise) == (0, None)
    assert few.certificates().few < many.certificates().few
    assert few.tests_of(1) == 10 * 50, "an arm may get the whole budget as long as it is valid"
