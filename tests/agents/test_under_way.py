"""Pulls under way: what is foreseen, who may be pulled meanwhile, and who is under test."""

import numpy as np
import pytest

from bestbefore.agents.under_way import ahead, foreseen, prior_of, under_test
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
    mean, weight = prior_of(slots((10**6, 0.2), (10**6, 0.4), (0, 0.0)), BOUNDED)
    assert mean == pytest.approx(0.25, abs=1e-4)
    assert weight == pytest.approx(4, abs=1e-2), "in 4 pulls a success is to be expected"


def test_an_arm_of_few_rewards_says_little_of_others():
    """By a plain average of means it would be 0.28."""
    mean, _ = prior_of(slots((10**6, 0.04), (10**6, 0.04), (10**6, 0.04), (1, 1.0)), BOUNDED)
    assert 0.04 < mean < 0.06


def test_a_few_rewards_of_0_do_not_say_that_all_will_be():
    mean, weight = prior_of(slots((3, 0.0)), BOUNDED)
    assert 0 < mean < 0.25
    assert weight < 1000


def test_where_rewards_have_no_bounds_means_may_be_anything():
    mean, weight = prior_of(slots((100, -7.0), (100, -9.0)), noise_of(2.0))
    assert -9 < mean < -8
    assert weight == 2


def test_one_reward_counts_as_one_beside_the_prior():
    memory = slots((10**6, 0.05), (10**6, 0.05), (1, 1.0))
    found = foreseen(memory, np.array([0, 0, 150]), np.inf, BOUNDED)
    assert found.pulls.tolist() == [10**6, 10**6, 151]
    assert found.total[2] / 151 < 0.2
    assert memory.pulls.tolist() == [10**6, 10**6, 1], "what is known stays as it is"


def test_as_many_pulls_are_foreseen_as_the_prior_weighs_if_that_is_asked_for():
    found = foreseen(slots((10**6, 0.5), (0, 0.0)), np.array([0, 150]), 1.0, BOUNDED)
    assert found.pulls.tolist() == [10**6, 2]


# Who may be pulled

EVEN = (10**6, 0.5)


def test_before_its_first_reward_an_arm_may_have_a_batch_under_way_and_not_one_more():
    """The prior weighs 2 at a mean of 1/2, and a batch is twice that; or the share, if that is less, but at least 1."""
    for share, batch in ((1000.0, 4), (2.5, 2), (0.2, 1)):
        known = slots(EVEN, EVEN, (0, 0.0))
        assert may_be_pulled(known, [0, 0, batch - 1], share=share) == [0, 1, 2]
        assert may_be_pulled(known, [0, 0, batch], share=share) == [0, 1]


def test_each_reward_allows_four_more():
    known = slots(EVEN, EVEN, (10, 0.5))
    assert may_be_pulled(known, [0, 0, 43]) == [0, 1, 2]
    assert may_be_pulled(known, [0, 0, 45]) == [0, 1]


def test_after_two_delays_an_arm_gets_another_batch():
    known = slots(EVEN, EVEN, (0, 0.0))
    assert may_be_pulled(known, [0, 0, 6], ages=[9, 9, 4], delay=2.0) == [0, 1]
    assert may_be_pulled(known, [0, 0, 6], ages=[9, 9, 5], delay=2.0) == [0, 1, 2]


def test_an_arm_that_is_surely_better_than_all_others_may_have_everything():
    assert may_be_pulled(slots(EVEN, EVEN, (20, 1.0)), [0, 0, 10**5]) == [0, 1, 2]
    assert may_be_pulled(slots(EVEN, EVEN, (20, 0.52)), [0, 0, 10**5]) == [0, 1], "by a hair is not surely"
    assert may_be_pulled(slots((20, 1.0), (20, 1.0), EVEN), [10**5, 0, 0]) == [1, 2], "another is as good"
    assert may_be_pulled(slots((20, 0.98), (20, 1.0), EVEN), [0, 10**5, 0]) == [0, 2], "another is nearly as good"


def test_without_bounds_sure_depends_on_the_noise():
    known = slots((1000, 0.0), (1000, 0.0), (20, 1.0))
    assert may_be_pulled(known, [0, 0, 10**5], noise=noise_of(1.0)) == [0, 1, 2]
    assert may_be_pulled(known, [0, 0, 10**5], noise=noise_of(10.0)) == [0, 1]


def test_if_too_few_arms_are_below_their_limit_those_least_above_it_fill_the_places():
    known = slots((0, 0.0), (0, 0.0), (0, 0.0))
    assert may_be_pulled(known, [9, 7, 8]) == [1]
    assert may_be_pulled(known, [9, 7, 8], places=2) == [1, 2]
    assert may_be_pulled(known, [9, 7, 0], places=2) == [1, 2]
    assert may_be_pulled(known, [9, 7, 8], places=5) == [0, 1, 2]


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
