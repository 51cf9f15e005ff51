"""Everlasting: who stays while the best arm of all is sought, and on whom the rest is spent."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestbefore import rules
from bestbefore.keep import everlasting
from bestbefore.keep.everlasting import HOPE, RACE, RANK, STAY, WAIT, WEIGH, let_expire, narrow
from bestbefore.memory import Moment, empty_memory, leader, put

ALL = [rule.number for rule in rules.STRATEGY.values()]
VALID_ONLY = [WAIT, RANK, RACE, STAY]

tests = st.integers(0, 8).flatmap(lambda pulls: st.tuples(st.just(pulls), st.integers(0, pulls)))
memories = st.lists(st.none() | tests, min_size=1, max_size=6)
"""Slots, some of them empty; arrivals go up with the slots."""


def memory_of(*arms):
    """Make slots with arms of (pulls, total), None for an empty slot; the arm of slot k is arrival k + 1."""
    memory = empty_memory(len(arms))
    for slot, arm in enumerate(arms):
        if arm is not None:
            put(memory, slot, slot + 1, arm[0], float(arm[1]))
    return memory


def settle(strategy, memory, arrival, pulls, total, window, coin):
    moment = Moment(now=arrival, window=window, arrivals=arrival, slack=0.0, coin=coin)
    return everlasting.settle(strategy, memory, arrival, pulls, total, moment)


def stored(memory):
    return sorted(arrival for arrival in memory.arrival.tolist() if arrival)


# Expiry


@pytest.mark.parametrize("strategy", VALID_ONLY)
def test_expired_arms_leave_where_only_valid_ones_are_played(strategy):
    memory = memory_of((10, 9), (10, 5), (10, 6))
    let_expire(strategy, memory, 3)
    assert stored(memory) == [3]


def test_hope_keeps_them_all_and_weigh_the_leader():
    for strategy, left in ((HOPE, [1, 2, 3]), (WEIGH, [1, 3])):
        memory = memory_of((10, 9), (10, 5), (10, 6))
        let_expire(strategy, memory, 3)
        assert stored(memory) == left


@given(st.sampled_from(ALL), memories, st.integers(0, 9))
def test_a_valid_arm_is_never_taken_for_expired(strategy, arms, oldest):
    memory = memory_of(*arms)
    valid = [arrival for arrival in stored(memory) if arrival >= oldest]
    let_expire(strategy, memory, oldest)
    assert [arrival for arrival in stored(memory) if arrival >= oldest] == valid


# Who is stored


@pytest.mark.parametrize("slots", [2, 3])
def test_wait_stores_everybody_in_w_slots(slots):
    """The oldest makes room, as far as it has not expired anyway."""
    memory = empty_memory(slots)
    for arrival in range(1, 8):
        let_expire(WAIT, memory, arrival - 1)
        assert settle(WAIT, memory, arrival, 0, 0.0, 2, 0.99) >= 0
    assert stored(memory) == [6, 7]


def test_wait_keeps_a_sample_in_fewer_slots():
    memory = memory_of((0, 0), (0, 0))
    assert settle(WAIT, memory, 4, 0, 0.0, window=5, coin=0.6) == -1
    assert settle(WAIT, memory, 4, 0, 0.0, window=5, coin=0.4) == 1
    assert stored(memory) == [1, 4]


@pytest.mark.parametrize("strategy", [code for code in ALL if code != WAIT])
def test_all_others_keep_the_best(strategy):
    memory = memory_of((10, 9), (10, 5))
    assert settle(strategy, memory, 3, 10, 4.0, 5, 0.0) == -1
    assert settle(strategy, memory, 4, 10, 6.0, 5, 0.0) == 1
    assert stored(memory) == [1, 4]


@pytest.mark.parametrize("strategy", [code for code in ALL if code != WAIT])
def test_an_arm_that_was_never_pulled_takes_nobodys_place(strategy):
    memory = memory_of((10, 0), None)
    assert settle(strategy, memory, 3, 0, 0.0, 5, 0.0) == 1
    assert settle(strategy, memory, 4, 0, 0.0, 5, 0.0) == -1
    assert stored(memory) == [1, 3]


# On whom the rest is spent


@pytest.mark.parametrize("strategy", VALID_ONLY)
def test_most_spend_the_rest_on_valid_arms(strategy):
    memory = memory_of((10, 9), (10, 5), (10, 6))
    narrow(strategy, memory, 2, 0.0)
    assert stored(memory) == [2, 3]


@pytest.mark.parametrize("oldest", [1, 3, 9])
def test_hope_commits_to_the_leader_valid_or_not(oldest):
    memory = memory_of((10, 9), (10, 5), (10, 6))
    narrow(HOPE, memory, oldest, 100.0)
    assert stored(memory) == [1]


@pytest.mark.parametrize(
    ("rivals", "chosen"),
    [(0.0, [1]), (0.42, [1]), (0.44, [3]), (1.0, [3])],  # 0.9 - 0.6 = 0.3 is the risk with 3/7 of a rival
)
def test_weigh_does_what_risks_less(rivals, chosen):
    memory = memory_of((10, 9), (10, 5), (10, 6))
    narrow(WEIGH, memory, 3, rivals)
    assert stored(memory) == chosen


def test_weigh_risks_nothing_where_the_leader_is_valid_and_all_where_nobody_is():
    memory = memory_of((10, 5), (10, 9), (10, 6))
    narrow(WEIGH, memory, 2, 100.0)
    assert stored(memory) == [2, 3]
    narrow(WEIGH, memory, 9, 100.0)
    assert stored(memory) == [2], "no valid arm is left, so that hope is all there is"


@given(st.sampled_from(ALL), memories, st.integers(0, 9), st.floats(0, 100))
def test_somebody_is_left_as_long_as_an_arm_is_valid(strategy, arms, oldest, rivals):
    memory = memory_of(*arms)
    some_valid = any(arrival >= oldest for arrival in stored(memory))
    let_expire(strategy, memory, oldest)
    narrow(strategy, memory, oldest, rivals)
    assert stored(memory) or not some_valid


@given(st.sampled_from(VALID_ONLY), memories, st.integers(0, 9))
def test_with_an_explicit_flag_or_stay_no_expired_arm_is_left(strategy, arms, oldest):
    memory = memory_of(*arms)
    narrow(strategy, memory, oldest, 0.0)
    assert all(arrival >= oldest for arrival in stored(memory))


@given(st.sampled_from([HOPE, WEIGH]), memories, st.integers(0, 9), st.floats(0, 100))
def test_the_only_expired_arm_that_is_left_is_the_leader_alone(strategy, arms, oldest, rivals):
    memory = memory_of(*arms)
    slot = leader(memory)
    best = int(memory.arrival[slot]) if slot >= 0 else 0
    narrow(strategy, memory, oldest, rivals)
    if any(arrival < oldest for arrival in stored(memory)):
        assert stored(memory) == [best]


@given(st.sampled_from(ALL), memories, st.integers(0, 9), st.floats(0, 100))
def test_to_narrow_twice_is_to_narrow_once(strategy, arms, oldest, rivals):
    memory = memory_of(*arms)
    narrow(strategy, memory, oldest, rivals)
    once = stored(memory)
    narrow(strategy, memory, oldest, rivals)
    assert stored(memory) == once
