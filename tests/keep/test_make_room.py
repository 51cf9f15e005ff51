"""Who leaves when an arm that was not pulled yet needs a slot."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestbefore import rules
from bestbefore.keep import admit
from bestbefore.memory import Moment, count, empty_memory, put


def full(*arms):
    """Slots of arms given as (arrival, mean); None for an arm that was never pulled."""
    memory = empty_memory(len(arms))
    for slot, (arrival, mean) in enumerate(arms):
        put(memory, slot, arrival, 0 if mean is None else 10, 0.0 if mean is None else 10 * mean)
    return memory


def who_leaves(keep, *arms, now=9, window=9):
    memory = full(*arms)
    before = set(memory.arrival.tolist())
    admit(rules.KEEP[keep].number, memory, now, 0, 0.0, Moment(now, window, now, 0.0, 0.0))
    (gone,) = before - set(memory.arrival.tolist())
    return gone


def test_fifo_lets_the_oldest_go():
    assert who_leaves("fifo", (3, 0.9), (2, 0.8), (5, 0.1)) == 2


def test_topk_lets_the_worst_go_and_of_equals_the_oldest():
    assert who_leaves("topk", (3, 0.9), (2, 0.8), (5, 0.1)) == 5
    assert who_leaves("topk", (3, 0.4), (2, 0.4), (5, 0.9)) == 2


def test_bucket_lets_the_oldest_go_that_shares_a_slice_with_a_newer():
    assert who_leaves("bucket", (3, 0.9), (2, 0.1), (5, 0.8)) == 3
    assert who_leaves("bucket", (3, 0.9), (2, 0.1), (5, 0.5)) == 2  # no slice is shared: the worst


def test_staircase_lets_the_worst_go_that_is_older_and_no_better():
    assert who_leaves("staircase", (1, 0.9), (2, 0.2), (3, 0.1), (4, 0.5)) == 3
    assert who_leaves("staircase", (1, 0.9), (2, 0.8), (3, 0.5), (4, 0.5)) == 3


def test_on_a_clean_staircase_the_step_goes_that_costs_least():
    """0.90 and 0.89 are nearly the same, and the older of them will answer for one arrival only."""
    assert who_leaves("staircase", (1, 0.95), (2, 0.9), (3, 0.89), (6, 0.3)) == 2


@pytest.mark.parametrize("keep", ["topk", "bucket", "staircase"])
def test_an_arm_that_was_never_pulled_is_not_bad_yet(keep):
    assert who_leaves(keep, (3, None), (4, 0.1), (5, 0.5)) == 4
    assert who_leaves(keep, (3, None), (4, None), (5, None)) == 3


@pytest.mark.parametrize("keep", ["topk", "bucket", "staircase"])
def test_what_is_known_is_not_given_up_for_several_that_are_not(keep):
    """Epochs without a budget, or rewards that come late, must not drive the best known arm out."""
    assert who_leaves(keep, (3, 0.9), (4, None), (5, None)) == 4
    assert who_leaves(keep, (3, 0.9), (4, None)) == 4


@given(
    st.sampled_from(rules.KEEP_TO_PLAY),
    st.lists(st.one_of(st.none(), st.integers(0, 10).map(lambda k: k / 10)), min_size=1, max_size=8),
    st.floats(0, 1, exclude_max=True),
)
def test_one_goes_one_comes(keep, means, coin):
    memory = full(*enumerate(means, start=1))
    now = len(means) + 1
    slot = admit(rules.KEEP[keep].number, memory, now, 0, 0.0, Moment(now, now, now, 0.0, coin))
    assert count(memory) == len(means)
    if keep == "reservoir" and slot < 0:
        assert coin >= len(means) / now
    else:
        assert memory.arrival[slot] == now
        assert memory.pulls[slot] == 0
