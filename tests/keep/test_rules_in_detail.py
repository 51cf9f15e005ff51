"""Who leaves, decision by decision: each example turns on one part of a rule's formula, and the text says which.

Costs are written as in `bestbefore.keep.staircase`: a step costs (mean - next mean) x age x how long it would answer.
"""

import pytest

from bestbefore import rules
from bestbefore.keep import admit, everlasting, staircase
from bestbefore.keep.bucket import slice_of
from bestbefore.memory import Moment, empty_memory, put

PULLS = 10_000


def memory_of(arms):
    """Fill slots with arms given as {arrival: mean}, in this order; None for an arm that was never pulled."""
    memory = empty_memory(len(arms))
    for slot, (arrival, mean) in enumerate(arms.items()):
        put(memory, slot, arrival, 0 if mean is None else PULLS, 0.0 if mean is None else PULLS * mean)
    return memory


def goes(stored, arrival, mean, *, window, slack=0.0, now=None):
    """Let `staircase` decide on an arm when memory is full; return which of all goes."""
    memory = memory_of(stored)
    now = arrival if now is None else now
    staircase.admit(memory, arrival, PULLS, PULLS * mean, Moment(now, window, now, slack, 0.0))
    (gone,) = {*stored, arrival} - set(memory.arrival.tolist())
    return gone


def makes_room(keep, stored, *, now=21, window=21):
    """Let a rule find a slot for an arm that was never pulled; return who goes."""
    memory = memory_of(stored)
    admit(rules.KEEP[keep].number, memory, now, 0, 0.0, Moment(now, window, now, 0.0, 0.0))
    (gone,) = set(stored) - set(memory.arrival.tolist())
    return gone


# Staircase: which steps may go


def test_there_is_one_cell_more_than_slots():
    """Two slots, three cells: only 0.6 shares a cell with the next step, though 0.9 would cost less.

    With two cells it would be 0.9 that shares one, and with four nobody would.
    """
    assert goes({1: 0.9, 5: 0.6}, 9, 0.4, window=9) == 5


def test_the_newest_may_go_if_it_is_in_the_lowest_cell():
    """It costs 0.1 x 7 / 3, and the step of 0.9, which shares a cell with that of 0.7, costs 0.2 x 9."""
    assert goes({1: 0.9, 2: 0.7}, 9, 0.1, window=9) == 9


def test_the_newest_is_passed_over_up_to_slack_w_over_m_and_no_further():
    """Two slots and a window of 8: with slack 1 the step before may be 4 arrivals older, not 5."""
    assert goes({1: 0.9, 4: 0.5}, 8, 0.35, window=8, slack=1.0) == 8
    assert goes({1: 0.9, 3: 0.5}, 8, 0.35, window=8, slack=1.0) == 3
    assert goes({1: 0.9, 4: 0.5}, 8, 0.35, window=8, slack=0.0) == 4


def test_an_arm_that_is_stored_is_never_passed_over():
    """The test of arm 3 ends late; arm 6 is the newest step and near enough, but others may depend on it."""
    assert goes({1: 0.99, 6: 0.5}, 3, 0.6, now=9, window=12, slack=0.5) == 3


def test_an_older_arm_of_equal_mean_whose_test_ends_late_is_not_stored():
    """There is a free slot; but it can never be the answer again."""
    memory = memory_of({6: 0.5, 0: None})
    assert staircase.admit(memory, 3, PULLS, PULLS * 0.5, Moment(9, 12, 9, 0.0, 0.0)) == -1
    assert memory.arrival.tolist() == [6, 0]


def test_an_older_arm_of_equal_mean_is_dropped_though_there_is_room():
    memory = memory_of({2: 0.5, 0: None})
    staircase.admit(memory, 6, PULLS, PULLS * 0.5, Moment(6, 12, 6, 0.0, 0.0))
    assert memory.arrival.tolist() == [6, 0]


# Staircase: what a drop costs.  Four cells; 0.99 and 0.9 share one, and so do 0.6 and what comes after it.


def test_the_older_a_step_the_more_it_costs():
    """0.09 x 18 x 3 = 4.86 for arm 3; 0.05 x 6 x 6 = 1.8 for arm 15.  Without the ages it would be the other way."""
    assert goes({3: 0.99, 9: 0.9, 15: 0.6}, 20, 0.55, window=20) == 15


def test_the_longer_a_step_would_answer_the_more_it_costs():
    """0.09 x 20 x 1 = 1.8 for arm 1, which expires next; 0.05 x 6 x 10 = 3 for arm 15."""
    assert goes({1: 0.99, 5: 0.9, 15: 0.6}, 20, 0.55, window=20) == 1


def test_the_more_mean_is_lost_the_more_a_drop_costs():
    """0.2 x 18 x 3 = 10.8 for arm 3; 0.01 x 5 x 11 = 0.55 for arm 16."""
    assert goes({3: 0.99, 5: 0.79, 16: 0.6}, 20, 0.59, window=20) == 16


def test_the_oldest_step_answers_until_it_expires():
    """Arm 1 has age 20.  If that is W it answers once more: 0.05 x 20 x 1 = 1; with W = 21 twice: 2.

    Arm 15 costs (0.6 - mean) x 6 x 3: 0.9 for a mean of 0.55, and 1.26 for 0.53.
    """
    assert goes({1: 0.99, 12: 0.94, 15: 0.6}, 20, 0.55, window=20) == 15
    assert goes({1: 0.99, 12: 0.94, 15: 0.6}, 20, 0.53, window=20) == 1
    assert goes({1: 0.99, 12: 0.94, 15: 0.6}, 20, 0.53, window=21) == 15


def test_ages_are_counted_from_now_not_from_the_arm_that_was_tested():
    """The test of arm 18 ends two arrivals late: 0.02 x 20 x 3 = 1.2 for arm 1, 0.05 x 6 x 6 = 1.8 for arm 15."""
    assert goes({1: 0.99, 9: 0.97, 15: 0.6}, 18, 0.55, now=20, window=22) == 1


def test_of_equal_costs_the_older_step_goes():
    """1/16 x 20 x 1 and 1/16 x 5 x 4."""
    assert goes({16: 0.4375, 12: 0.875, 1: 0.9375}, 20, 0.375, window=20) == 1


def test_to_pass_over_the_newest_costs_a_third_of_what_it_would_answer_with():
    """One slot.  Arm 1 costs (0.8 - mean) x 10 x 1; the newest, mean x 9 / 3.  They are equal at a mean of 0.615."""
    assert goes({1: 0.8}, 10, 0.6, window=10, slack=1.0) == 10
    assert goes({1: 0.8}, 10, 0.63, window=10, slack=1.0) == 1


# Staircase: room for an arm that was never pulled.  The next step below the newest is 0.


def test_of_the_arms_that_are_older_and_no_better_the_worst_makes_room():
    assert makes_room("staircase", {1: 0.9, 2: 0.1, 3: 0.2, 4: 0.5}) == 2
    assert makes_room("staircase", {1: 0.6, 2: 0.7, 3: 0.5, 4: 0.5}) == 3, "no better is enough: it need not be worse"


def test_of_two_equally_bad_arms_that_are_no_better_than_a_newer_one_the_newer_makes_room():
    """Which of them goes hardly matters; what is said here is only what is done."""
    assert makes_room("staircase", {1: 0.9, 2: 0.1, 3: 0.1, 4: 0.5}) == 3


def test_when_room_is_made_age_counts():
    """0.09 x 18 x 3 = 4.86 for arm 3; 0.2 x 3 x 2 = 1.2 for arm 18.  Without ages 0.27 against 0.4."""
    assert makes_room("staircase", {3: 0.99, 16: 0.9, 18: 0.2}, now=20, window=20) == 18


def test_when_room_is_made_the_time_that_a_step_would_answer_counts():
    """0.09 x 20 x 1 = 1.8 for arm 1; 0.2 x 3 x 12 = 7.2 for arm 18.  Without it 1.8 against 0.6."""
    assert makes_room("staircase", {1: 0.99, 6: 0.9, 18: 0.2}, now=20, window=20) == 1


def test_when_room_is_made_it_is_the_mean_that_is_lost_that_counts():
    """0.01 x 10 x 10 = 1 for arm 11; 0.3 x 4 x 2 = 2.4 for arm 17.  By their own means 99 against 2.4."""
    assert makes_room("staircase", {11: 0.99, 15: 0.98, 17: 0.3}, now=20, window=19) == 11


@pytest.mark.parametrize(("window", "gone"), [(19, 2), (20, 2), (21, 18)])
def test_when_room_is_made_the_oldest_step_answers_until_it_expires(window, gone):
    """Arm 2 has age 19: 0.05 x 19 x (W + 1 - 19) is 0.95, 1.9 or 2.85; arm 18 costs 0.2 x 3 x 4 = 2.4."""
    assert makes_room("staircase", {2: 0.99, 14: 0.94, 18: 0.2}, now=20, window=window) == gone


def test_an_arm_that_was_never_pulled_is_no_step():
    """Arm 18 would answer from when arm 5 expires, whatever arm 17 may be worth: it costs 0.15 x 3 x 13 = 5.85.

    Arm 1 costs 0.2 x 20 x 1 = 4, and arm 5 costs 0.64 x 16 x 4.
    """
    assert makes_room("staircase", {1: 0.99, 5: 0.79, 17: None, 18: 0.15}, now=20, window=20) == 1


# Bucket


def test_a_mean_above_a_border_by_a_millionth_of_a_millionth_is_in_the_higher_slice():
    for slices in (3, 10, 100):
        for border in range(1, slices):
            assert slice_of((border + 1e-11) / slices, slices) == border


def test_of_arms_with_a_newer_one_in_their_slice_the_oldest_makes_room_wherever_it_stands():
    assert makes_room("bucket", {5: 0.8, 2: 0.1, 3: 0.9}) == 3
    assert makes_room("bucket", {7: 0.8, 3: 0.9, 6: 0.1, 2: 0.15}) == 2


def test_an_arm_that_was_never_pulled_is_in_no_slice():
    """Arms 2 and 5 share a slice; arm 1 shares the lowest with nobody, since nothing is known of the other."""
    assert makes_room("bucket", {1: 0.1, 4: None, 5: 0.9, 2: 0.8}) == 2
    assert makes_room("bucket", {1: None, 4: 0.1, 5: 0.9, 2: 0.8}) == 2


# What they share


@pytest.mark.parametrize("keep", rules.KEEP_TO_PLAY)
def test_nobody_leaves_while_a_slot_is_free(keep):
    memory = memory_of({1: 0.1, 2: 0.9, 0: None, 3: 0.5})
    assert admit(rules.KEEP[keep].number, memory, 9, 0, 0.0, Moment(9, 9, 9, 0.0, 0.0)) == 2
    assert memory.arrival.tolist() == [1, 2, 9, 3]


@pytest.mark.parametrize("keep", ["topk", "bucket", "staircase"])
def test_of_two_arms_never_pulled_the_older_makes_room_beside_any_number_of_others(keep):
    assert makes_room(keep, {1: 0.9, 5: None, 3: None, 2: 0.1, 6: 0.5, 4: 0.3}) == 3


@pytest.mark.parametrize("keep", ["topk", "bucket", "staircase"])
def test_one_arm_never_pulled_stays_beside_two_that_were(keep):
    assert makes_room(keep, {1: 0.1, 2: 0.9, 3: None}) == 1


@pytest.mark.parametrize("arms", [{2: 0.4, 3: 0.4, 5: 0.9}, {5: 0.9, 3: 0.4, 2: 0.4}, {3: 0.4, 5: 0.9, 2: 0.4}])
def test_of_equally_bad_arms_the_oldest_makes_room_wherever_it_stands(arms):
    assert makes_room("topk", arms) == 2


# Who stays where means are equal, and what becomes of an arm whose test ends late


def settled(keep, stored, arrival, mean, *, now=9, coin=0.0):
    """Let a rule decide on an arm that was tested; return the arrivals in the slots."""
    memory = memory_of(stored)
    admit(rules.KEEP[keep].number, memory, arrival, PULLS, PULLS * mean, Moment(now, 20, now, 0.0, coin))
    return memory.arrival.tolist()


def test_topk_prefers_the_newer_of_equal_arms_whenever_their_tests_end():
    assert settled("topk", {1: 0.5, 2: 0.9}, 9, 0.5) == [9, 2]
    assert settled("topk", {7: 0.5, 8: 0.9}, 3, 0.5) == [7, 8], "the test of arm 3 ends late"
    assert settled("topk", {4: 0.5, 2: 0.5, 3: 0.5}, 9, 0.6) == [4, 9, 3], "of the worst the oldest goes"
    assert settled("topk", {2: 0.5, 4: 0.5, 3: 0.5}, 9, 0.6) == [9, 4, 3]


def test_fifo_drops_the_oldest_wherever_it_stands_and_that_may_be_the_arm_itself():
    assert settled("fifo", {5: 0.9, 4: 0.9}, 9, 0.1) == [5, 9]
    assert settled("fifo", {5: 0.9, 4: 0.9}, 3, 1.0) == [5, 4]


def test_bucket_keeps_the_newest_of_a_slice_whenever_their_tests_end():
    assert settled("bucket", {5: 0.2, 6: 0.9}, 9, 0.3) == [9, 6]
    assert settled("bucket", {5: 0.2, 6: 0.9}, 3, 0.3) == [5, 6]


def test_means_on_a_border_or_beyond_one_have_their_slice():
    """7 / 25 * 25 is above 7 in floating point; normal rewards may have a mean above 1, or below 0."""
    assert slice_of(7 / 25, 25) == 6
    assert (slice_of(1.7, 4), slice_of(-0.3, 4)) == (3, 0)


def test_reservoir_admits_with_probability_m_over_t_and_late_arms_for_sure():
    """One coin u decides: u t is the slot, if there is one; with t < m, u m is."""
    assert settled("reservoir", {1: 0.5, 2: 0.5}, 8, 0.5, coin=0.9) == [1, 2], "0.9 is not below 2 / 8"
    assert settled("reservoir", {1: 0.5, 2: 0.5}, 8, 0.5, coin=0.24) == [1, 8]
    assert settled("reservoir", {3: 0.5, 4: 0.5, 5: 0.5, 6: 0.5}, 2, 0.5, coin=0.9) == [3, 4, 5, 2]


def test_who_takes_the_throne_brings_its_rewards():
    memory = memory_of({1: 0.9})
    admit(rules.KEEP["king"].number, memory, 2, 10, 7.0, Moment(2, 20, 2, 0.0, 0.0))
    assert [array.tolist() for array in memory] == [[2], [10], [7.0]]


def test_one_unpulled_arm_beside_a_single_known_one_makes_room():
    for keep in ("topk", "bucket", "staircase"):
        assert makes_room(keep, {1: 0.1, 2: None}) == 2


def test_two_unpulled_arms_are_too_many_beside_any_number_of_others():
    for keep in ("topk", "bucket", "staircase"):
        assert makes_room(keep, {1: 0.1, 2: 0.5, 3: None, 4: 0.7, 5: None}) == 3


# Everlasting


def test_with_a_slot_for_each_valid_arm_waiting_keeps_them_all_and_with_fewer_a_sample():
    """The coin of 0.9 would keep arm 3 out of a sample of two."""
    for window, stored in ((2, [3, 2]), (3, [1, 2])):
        memory = memory_of({1: None, 2: None})
        everlasting.settle(everlasting.WAIT, memory, 3, 0, 0.0, Moment(3, window, 3, 0.0, 0.9))
        assert memory.arrival.tolist() == stored


def test_weigh_keeps_its_leader_beyond_the_window_and_the_others_do_not():
    for strategy, stored in ((everlasting.WEIGH, [1, 0, 5]), (everlasting.STAY, [0, 0, 5])):
        memory = memory_of({1: 0.9, 2: 0.8, 5: 0.3})
        everlasting.let_expire(strategy, memory, 4)
        assert memory.arrival.tolist() == stored


def narrowed(strategy, stored, oldest, rivals):
    memory = memory_of(stored)
    everlasting.narrow(strategy, memory, oldest, rivals)
    return memory.arrival.tolist()


def test_weigh_commits_to_an_expired_leader_if_the_risk_is_less_than_what_the_best_valid_arm_is_behind():
    """One rival: it risks 1 / 2.  Arm 4 is just valid, and 0.6 or 0.4 behind."""
    assert narrowed(everlasting.WEIGH, {1: 0.9, 4: 0.3, 5: 0.1}, 4, 1.0) == [1, 0, 0]
    assert narrowed(everlasting.WEIGH, {1: 0.9, 4: 0.5, 5: 0.1}, 4, 1.0) == [0, 4, 5]


def test_weigh_plays_all_valid_arms_where_the_leader_is_one_of_them():
    assert narrowed(everlasting.WEIGH, {1: 0.2, 4: 0.9, 5: 0.5}, 4, 0.0) == [0, 4, 5]


def test_hope_keeps_nobody_beside_the_best_ever_seen():
    assert narrowed(everlasting.HOPE, {1: 0.9, 4: 0.5, 5: 0.1}, 4, 9.0) == [1, 0, 0]
