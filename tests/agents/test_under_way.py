"""Pulls under way: what is foreseen, who may be pulled meanwhile, and who is under test."""

import numpy as np
import pytest

from bestbefore.agents.under_way import ahead, behind, foreseen, likely, prior_of, under_test
from bestbefore.memory import empty_memory, put
from bestbefore.noise import BOUNDED, noise_of

NEVER = np.inf  # a delay that is not known


def slots(*arms):
    """Return slots with arms of so many pulls and such a mean, oldest first."""
    memory = empty_memory(len(arms))
    for slot, (pulls, mean) in enumerate(arms):
        put(memory, slot, slot + 1, pulls, pulls * mean)
    return memory


def may_be_pulled(memory, under_way, *, ages=None, delay=NEVER, share=1000.0, places=1, noise=BOUNDED):
    """Return the slots of arms that may be pulled."""
    size = memory.arrival.size
    found = ahead(
        memory,
        np.array(under_way),
        np.zeros(size, np.int64) if ages is None else np.array(ages),
        delay,
        share,
        places,
        noise,
    )
    return np.flatnonzero(found.arrival).tolist()


# What is foreseen


def test_a_newcomer_is_expected_half_way_between_the_average_and_the_lowest_mean():
    mean, weight = prior_of(slots((10**6, 0.3), (10**6, 0.4), (10**6, 0.8), (0, 0.0)), 1.0, BOUNDED)
    assert mean == pytest.approx(0.4, abs=1e-4)
    assert weight == pytest.approx(2.5, abs=1e-2), "in 5 pulls two successes are to be expected"


def test_for_a_pull_rule_newcomers_are_half_as_good_as_the_best_at_most():
    mean, weight = prior_of(slots((10**6, 0.96), (10**6, 0.9), (0, 0.0)), 0.5, BOUNDED)
    assert mean == pytest.approx(0.48, abs=1e-4)
    assert weight == pytest.approx(1 / 0.48, abs=1e-2)


def test_an_arm_of_few_rewards_says_little_of_others():
    """By a plain average of means it would be 0.28."""
    mean, _ = prior_of(slots((10**6, 0.04), (10**6, 0.04), (10**6, 0.04), (1, 1.0)), 1.0, BOUNDED)
    assert 0.04 < mean < 0.06


def test_a_few_rewards_of_0_do_not_say_that_all_will_be():
    mean, weight = prior_of(slots((3, 0.0)), 1.0, BOUNDED)
    assert 0 < mean < 0.25
    assert weight < 1000


def test_where_rewards_have_no_bounds_means_may_be_anything():
    mean, weight = prior_of(slots((100, -7.0), (100, -9.0)), 1.0, noise_of(2.0))
    assert -9 < mean < -8
    assert weight == 2


def test_one_reward_counts_as_one_beside_the_prior():
    memory = slots((10**6, 0.05), (10**6, 0.05), (1, 1.0))
    found = foreseen(memory, np.array([0, 0, 15]), np.inf, BOUNDED)
    assert found.pulls.tolist() == [10**6, 10**6, 16]
    assert found.total[2] / 16 < 0.2
    assert memory.pulls.tolist() == [10**6, 10**6, 1], "what is known stays as it is"


def test_for_a_keep_rule_as_many_pulls_are_foreseen_as_the_prior_weighs():
    found = foreseen(slots((10**6, 0.4), (0, 0.0)), np.array([0, 150]), 1.0, BOUNDED)
    assert found.pulls.tolist() == [10**6, 3]


def row(memory, under_way, noise=BOUNDED):
    """Return the pulls and the total that are likely for the last arm, with so many pulls under way."""
    found = likely(memory, np.array([0] * (memory.arrival.size - 1) + [under_way]), noise)
    return int(found.pulls[-1]), float(found.total[-1])


def test_where_rewards_are_rare_a_row_of_failures_is_likely():
    """At .02 the chance of 25 failures is some .6: with a beta prior of mean .02, known from 50 pulls."""
    rates = ((10**6, 0.04), (10**6, 0.04))
    assert [row(slots(*rates, (0, 0.0)), n) for n in (1, 25, 100, 1000)] == [(1, 0), (25, 0), (100, 1), (1000, 14)]


def test_an_arm_that_never_failed_is_likely_to_go_on_as_often_again():
    """After n successes in n, with a uniform prior, b more are successes with probability (n + 1) / (n + 1 + b)."""
    for n in (1, 3, 7, 15, 31):
        memory = slots((10**6, 0.999), (10**6, 0.999), (n, 1.0))
        assert row(memory, n) == (2 * n, 2 * n)
        assert row(memory, 2 * n + 2)[1] == 3 * n + 1, "one failure is likelier than none"


def test_what_is_likely_is_the_median_of_what_is_drawn():
    """2,000 draws: the chance of being more than 0.06 off in a tail is below 1e-7."""
    rng = np.random.default_rng(1)
    for pulls, mean in ((10, 0.2), (20, 0.5), (40, 0.9), (200, 0.97)):
        memory = slots((10**6, 0.5), (10**6, 0.5), (pulls, mean))
        prior, weight = prior_of(memory, 0.5, BOUNDED)
        total = pulls * mean + prior * weight
        for more in (5, 50, 500):
            drawn = rng.binomial(more, rng.beta(total, pulls + weight - total, 2000))
            found = row(memory, more)[1] - pulls * mean
            assert np.mean(drawn < found - 0.5) < 0.56
            assert np.mean(drawn > found + 0.5) < 0.56


def test_where_rewards_have_no_bounds_the_median_is_the_mean():
    found = row(slots((100, -7.0), (100, -9.0), (8, 5.0)), 10, noise_of(2.0))
    assert found[1] == pytest.approx(40 + 10 * (40 - 2 * 6.4) / 10, rel=0.1)


# Who may be pulled

EVEN = (10**6, 0.5)


def test_before_its_first_reward_an_arm_may_have_a_batch_under_way_and_not_one_more():
    """The prior weighs 4 at a mean of 1/4, and a batch is twice that; or the share, if that is less, but at least 1."""
    for share, batch in ((1000.0, 8), (2.5, 2), (0.2, 1)):
        known = slots(EVEN, EVEN, (0, 0.0))
        assert may_be_pulled(known, [0, 0, batch - 1], share=share) == [0, 1, 2]
        assert may_be_pulled(known, [0, 0, batch], share=share) == [0, 1]


def test_each_reward_allows_eight_more():
    known = slots(EVEN, EVEN, (10, 0.5))
    assert may_be_pulled(known, [0, 0, 86]) == [0, 1, 2]
    assert may_be_pulled(known, [0, 0, 89]) == [0, 1]


def test_after_two_delays_an_arm_gets_another_batch():
    known = slots(EVEN, EVEN, (0, 0.0))
    assert may_be_pulled(known, [0, 0, 14], ages=[9, 9, 4], delay=2.0) == [0, 1]
    assert may_be_pulled(known, [0, 0, 14], ages=[9, 9, 5], delay=2.0) == [0, 1, 2]


def test_the_leader_may_have_everything():
    """The leader has the highest lower bound, with the prior."""
    assert may_be_pulled(slots(EVEN, EVEN, (20, 1.0)), [0, 0, 10**5]) == [0, 1, 2]
    assert may_be_pulled(slots(EVEN, EVEN, (20, 0.52)), [0, 0, 10**5]) == [0, 1]
    rare = (3000, 0.05)
    assert may_be_pulled(slots(rare, rare, (1, 1.0)), [0, 0, 10**5]) == [0, 1], "one reward says little"
    assert may_be_pulled(slots(EVEN, (20, 1.0), (30, 1.0)), [0, 10**5, 10**5]) == [0, 2], "only one leads"
    assert may_be_pulled(slots((0, 0.0), (0, 0.0)), [50, 60]) == [0], "nobody leads"


def test_without_bounds_it_depends_on_the_noise_who_leads():
    known = slots((1000, 0.0), (1000, 0.0), (20, 1.0))
    assert may_be_pulled(known, [0, 0, 10**5], noise=noise_of(1.0)) == [0, 1, 2]
    assert may_be_pulled(known, [0, 0, 10**5], noise=noise_of(10.0)) == [0, 1]


def test_if_too_few_arms_are_below_their_limit_those_least_above_it_fill_the_places():
    known = slots((0, 0.0), (0, 0.0), (0, 0.0))
    assert may_be_pulled(known, [9, 7, 8]) == [1]
    assert may_be_pulled(known, [9, 7, 8], places=2) == [1, 2]
    assert may_be_pulled(known, [9, 7, 0], places=2) == [1, 2]
    assert may_be_pulled(known, [9, 7, 8], places=5) == [0, 1, 2]


def test_if_too_few_arms_are_below_their_limit_those_of_the_highest_lower_bounds_come_first():
    known = slots((20, 0.9), (20, 0.5), (30, 0.9), (0, 0.0))
    assert may_be_pulled(known, [999, 300, 999, 99]) == [2]
    assert may_be_pulled(known, [999, 300, 999, 99], places=2) == [0, 2]
    assert may_be_pulled(known, [999, 300, 999, 99], places=3) == [0, 1, 2]


def test_an_empty_slot_is_never_pulled():
    memory = slots((0, 0.0), (0, 0.0))
    put(memory, 0, 0, 0, 0.0)
    assert may_be_pulled(memory, [0, 50], places=2) == [1]


# Who is under test


def test_an_arm_is_under_test_while_more_is_under_way_than_told_up_to_two_delays():
    memory = slots((5, 0.5), (5, 0.5), (0, 0.0), (0, 0.0))
    under_way, ages = np.array([5, 6, 1, 0]), np.array([3, 3, 3, 3])
    assert under_test(memory, under_way, ages, NEVER).tolist() == [False, True, True, False]
    assert under_test(memory, under_way, ages, 1.0).tolist() == [False, True, True, False]
    assert not under_test(memory, under_way, ages, 0.5).any()


def test_an_arm_is_behind_once_its_rewards_are_worse_than_a_newcomers():
    """A newcomer's mean is a quarter."""
    known = slots(EVEN, EVEN, (0, 0.0), (1, 0.0), (5, 0.2), (1, 1.0))
    assert behind(known, BOUNDED).tolist() == [False, False, False, True, True, False]
