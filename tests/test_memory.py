"""The slots: what is put in comes out again, and what is dropped leaves nothing behind."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestbefore.memory import count, drop, empty_memory, expire, free_slot, leader, mean_of, oldest_slot, put


def filled(arms):
    """Return a memory with (arrival, pulls, total) in each slot, None for an empty one."""
    memory = empty_memory(len(arms))
    for slot, arm in enumerate(arms):
        if arm is not None:
            put(memory, slot, *arm)
    return memory


def as_rows(memory):
    return list(zip(memory.arrival.tolist(), memory.pulls.tolist(), memory.total.tolist(), strict=True))


@st.composite
def some_arms(draw):
    """Draw slots, some of them empty, whose arrivals all differ; some arms were never pulled."""
    numbers = draw(st.lists(st.integers(1, 50), unique=True, max_size=8))
    arms = []
    for number in numbers:
        pulls = draw(st.integers(0, 4))
        arms.append(draw(st.none() | st.just((number, pulls, float(draw(st.integers(0, pulls)))))))
    return arms


def test_an_empty_memory_has_no_arm_no_leader_and_a_free_slot():
    memory = empty_memory(3)
    assert (count(memory), leader(memory), oldest_slot(memory), free_slot(memory)) == (0, -1, -1, 0)


def test_put_replaces_the_arm_and_all_that_was_known_of_it():
    memory = filled([(1, 10, 4.0), (2, 20, 5.0)])
    put(memory, 0, 7, 3, 1.5)
    assert as_rows(memory) == [(7, 3, 1.5), (2, 20, 5.0)]


def test_drop_leaves_nothing_of_the_arm_behind():
    """Not even its pulls or rewards: a person's data is gone when the arm is."""
    memory = filled([(1, 10, 4.0), (2, 20, 5.0)])
    drop(memory, 0)
    assert as_rows(memory) == [(0, 0, 0.0), (2, 20, 5.0)]
    assert free_slot(memory) == 0


@given(some_arms(), st.integers(-5, 60))
def test_expire_drops_exactly_the_arms_that_arrived_before_the_oldest_valid_one(arms, oldest):
    memory = filled(arms)
    expire(memory, oldest)
    assert as_rows(memory) == [arm if arm is not None and arm[0] >= oldest else (0, 0, 0.0) for arm in arms]


@given(some_arms())
def test_count_and_oldest_agree_with_the_plain_list(arms):
    memory = filled(arms)
    stored = [arm for arm in arms if arm is not None]
    assert count(memory) == len(stored)
    assert oldest_slot(memory) == (arms.index(min(stored)) if stored else -1)


@given(some_arms())
def test_the_first_free_slot_is_found(arms):
    assert free_slot(filled(arms)) == (arms.index(None) if None in arms else -1)


@given(some_arms())
def test_the_leader_has_the_highest_mean_and_of_equals_is_the_newest(arms):
    """An arm that was never pulled stands below every other."""
    ranks = {
        slot: (arm[2] / arm[1] if arm[1] else -math.inf, arm[0]) for slot, arm in enumerate(arms) if arm is not None
    }
    assert leader(filled(arms)) == max(ranks, key=ranks.get, default=-1)


def test_an_arm_that_was_never_pulled_leads_only_where_it_stands_alone():
    assert leader(filled([(5, 0, 0.0)])) == 0
    assert leader(filled([(5, 0, 0.0), (1, 10, 0.0)])) == 1


@pytest.mark.parametrize(("pulls", "total", "mean"), [(4, 1.0, 0.25), (5, 0.0, 0.0), (0, 0.0, -math.inf)])
def test_the_mean_is_total_over_pulls(pulls, total, mean):
    assert mean_of(filled([(1, pulls, total)]), 0) == mean


def test_means_may_be_negative_or_above_one_where_rewards_are_not_bounded():
    memory = filled([(1, 2, -3.0), (2, 2, -1.0), (3, 2, -5.0)])
    assert leader(memory) == 1
    assert mean_of(filled([(1, 2, 5.0)]), 0) == 2.5


def test_arrivals_are_counted_far_beyond_32_bits():
    memory = filled([(2**40, 1, 1.0), (2**40 + 1, 1, 0.0)])
    expire(memory, 2**40 + 1)
    assert memory.arrival.tolist() == [0, 2**40 + 1]
    assert memory.arrival.dtype == np.int64
