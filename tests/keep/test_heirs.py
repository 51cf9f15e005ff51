"""Heirs keeps the arms that would be missed when those before them expire."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestbefore.keep import heirs
from bestbefore.memory import Moment, empty_memory, put

WINDOW = 20


def moment(now, window=WINDOW):
    return Moment(now=now, window=window, arrivals=now, slack=0.0, coin=0.0)


def full(*arms):
    """Return slots with these arms: the number, pulls and mean of each."""
    memory = empty_memory(len(arms))
    for slot, (number, pulls, mean) in enumerate(arms):
        put(memory, slot, number, pulls, pulls * mean)
    return memory


def gone(memory, now, window=WINDOW):
    """Let an arm arrive that was not pulled yet; return the number of the one that made room for it."""
    before = memory.arrival.tolist()
    slot = heirs.admit(memory, now, 0, 0.0, moment(now, window))
    assert memory.arrival[slot] == now
    assert memory.pulls[slot] == 0
    return before[slot]


def test_while_there_is_room_all_arms_are_stored():
    memory = empty_memory(3)
    assert [heirs.admit(memory, number, 10, 1.0, moment(number)) for number in (1, 2, 3)] == [0, 1, 2]


def test_an_old_arm_that_is_a_hair_behind_a_new_one_is_a_good_second():
    """Staircase would drop the arm of 0.89, which is older and no better; here the worst goes, which nobody misses."""
    assert gone(full((1, 500, 0.89), (2, 500, 0.90), (3, 500, 0.30)), now=4) == 3


def test_the_leader_stays_to_its_last_day():
    assert gone(full((1, 500, 0.90), (18, 500, 0.65), (19, 500, 0.60)), now=20) == 19


def test_where_means_fall_the_step_goes_that_answers_for_the_shortest_time():
    """All are steps of the stairs.  The arm of 0.80 is far ahead of the next, but for one arrival only."""
    assert gone(full((2, 10**6, 0.90), (3, 10**6, 0.80), (11, 10**6, 0.72)), now=12) == 3


def test_the_leader_goes_if_its_heir_is_nearly_as_good_and_all_others_would_be_missed_more():
    assert gone(full((2, 10**6, 0.90), (6, 10**6, 0.89), (11, 10**6, 0.80)), now=12) == 2


def test_an_arm_that_is_third_in_line_will_hardly_lead_when_its_time_comes():
    """It would be missed for seven arrivals, more than the leader is; but newcomers will have beaten it by then."""
    assert gone(full((2, 10**6, 0.90), (4, 10**6, 0.89), (11, 10**6, 0.70)), now=12) == 11


def test_an_arm_below_three_quarters_of_the_leader_is_missed_by_nobody_however_young():
    """Arms to come will be better.  Among such arms the lowest mean goes."""
    assert gone(full((1, 10**6, 0.80), (9, 10**6, 0.58), (10, 10**6, 0.59)), now=11) == 9


def test_of_equals_the_oldest_goes():
    assert gone(full((3, 10, 0.2), (1, 10, 0.2), (4, 10, 0.9), (2, 10, 0.2)), now=5) == 1


def test_newcomers_of_whom_nothing_is_known_do_not_push_out_a_good_arm():
    memory = full((1, 100, 0.9), (2, 100, 0.88), (3, 0, 0.0))
    for now in range(4, 15):
        assert gone(memory, now) == now - 1
    assert {1, 2} <= set(memory.arrival.tolist())


def test_a_single_lucky_reward_does_not_make_an_heir():
    """A mean of 1 from one pull counts as (1 + 0.75) / 2: less than a second that is known to be good."""
    lucky = full((1, 1000, 0.95), (2, 1, 0.9), (3, 1000, 0.93))
    assert gone(lucky, now=4) == 2


def test_where_no_arm_was_ever_pulled_the_oldest_goes():
    assert gone(full((4, 0, 0.0), (2, 0, 0.0), (3, 0, 0.0)), now=5) == 2


def test_an_arm_that_was_pulled_can_be_passed_over():
    memory = full((1, 100, 0.9), (2, 100, 0.8))
    assert heirs.admit(memory, 3, 100, 10.0, moment(3)) == -1
    assert memory.arrival.tolist() == [1, 2]
    assert heirs.admit(memory, 4, 100, 95.0, moment(4)) >= 0


def test_rewards_may_be_negative():
    """Three quarters of a negative mean would be above it: arms to come are a quarter of it behind."""
    assert gone(full((1, 10**6, -2.0), (2, 10**6, -9.0), (3, 10**6, -2.1)), now=4) == 2
    assert gone(full((1, 10**6, -2.3), (2, 10**6, -2.0), (3, 10**6, -2.4)), now=4) == 1  # the newest will be an heir


def what_would_be_lost(arms, without, to_come, window, now):
    """Add up, arrival by arrival, what the best arm at hand is ahead with and without one, times its chance to lead."""
    lost = 0.0
    for later in range(window):
        left = [mean for number, mean in arms.items() if number + window - now > later]
        others = [mean for number, mean in arms.items() if number != without and number + window - now > later]
        best, rest = max([to_come, *left]), max([to_come, *others])
        rank = 1 + sum(mean > best for mean in arms.values())
        parts = later + (np.arange(1000) + 0.5) / 1000
        lost += (best - rest) * np.mean((window / (window + parts)) ** rank) / window
    return lost


@given(
    st.lists(st.tuples(st.integers(1, 3), st.floats(0.05, 1)), min_size=2, max_size=6),
    st.integers(10, 30),
)
def test_what_goes_costs_least_by_the_definition(steps, window):
    """Against the definition, arrival by arrival: with means known exactly, no other arm would cost less."""
    arms, now = {}, 0
    for step, mean in steps:
        now += step
        arms[now] = mean
    now += 1
    if now > window:
        return
    to_come = 0.75 * max(arms.values())
    costs = {number: what_would_be_lost(arms, number, to_come, window, now) for number in arms}
    chosen = gone(full(*((number, 10**9, mean) for number, mean in arms.items())), now, window)
    assert costs[chosen] <= min(costs.values()) + 1e-6


@pytest.mark.parametrize("slots", [1, 2])
def test_few_slots_still_have_room_for_a_newcomer(slots):
    memory = full(*((number, 10, 0.5) for number in range(1, slots + 1)))
    assert gone(memory, now=9) in range(1, slots + 1)
