"""What every keep rule promises, whichever it is: `admit` runs them all, over arms settled in any order.

The story of each example: arms arrive one by one; each is settled (its test ends) at once or some arrivals later, so
that an arm may be settled after younger ones; an arm that expires under test is never settled.  Each example is told
to all rules.
"""

import numpy as np
import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from bestbefore import rules
from bestbefore.keep import admit
from bestbefore.memory import Moment, empty_memory, expire

each_rule = pytest.mark.parametrize("keep", rules.KEEP)


@st.composite
def stories(draw):
    """Draw slots, a window, and events (now, arrival, pulls, total, coin): the arm settled while `now` is newest."""
    slots, window = draw(st.integers(1, 5)), draw(st.integers(1, 8))
    delays = draw(st.lists(st.sampled_from([0, 0, 0, 1, 2, 5]), min_size=1, max_size=30))
    due = sorted((arrival + delay, arrival) for arrival, delay in enumerate(delays, start=1))
    events = []
    for now, arrival in due:
        if arrival > now - window:
            pulls = draw(st.integers(1, 6))
            total = float(draw(st.integers(0, pulls)))
            events.append((now, arrival, pulls, total, draw(st.floats(0, 1, exclude_max=True))))
    return slots, window, events


def tell(slots, window, events):
    """Run a story through each rule; yield the event, the slot returned, and the slots before and after."""
    for keep, rule in rules.KEEP.items():
        note(f"the rule is {keep}")
        memory = empty_memory(slots)
        for now, arrival, pulls, total, coin in events:
            expire(memory, now - window + 1)
            before = [array.copy() for array in memory]
            slot = admit(rule.number, memory, arrival, pulls, total, Moment(now, window, now, 0.0, coin))
            yield (now, arrival, pulls, total), slot, before, memory


@given(story=stories())
def test_the_slot_returned_holds_the_arm_and_minus_one_means_that_it_was_let_go(story):
    for (_, arrival, pulls, total), slot, _, memory in tell(*story):
        if slot >= 0:
            assert (memory.arrival[slot], memory.pulls[slot], memory.total[slot]) == (arrival, pulls, total)
        else:
            assert arrival not in memory.arrival


@given(story=stories())
def test_a_rule_never_moves_an_arm_nor_touches_what_is_known_of_it(story):
    """Every slot but the one returned is as before, or empty: names and true means may be kept beside the slots."""
    for _, slot, before, memory in tell(*story):
        for other in range(memory.arrival.size):
            if other != slot and memory.arrival[other] != 0:
                assert [array[other] for array in memory] == [array[other] for array in before]


@given(story=stories())
def test_an_arm_stands_in_one_slot_only_and_an_empty_slot_is_clean(story):
    for _, _, _, memory in tell(*story):
        stored = memory.arrival[memory.arrival > 0].tolist()
        assert len(stored) == len(set(stored))
        assert (memory.pulls[memory.arrival == 0] == 0).all()
        assert (memory.total[memory.arrival == 0] == 0).all()


@given(story=stories())
def test_only_valid_arms_are_stored(story):
    """The rule adds nobody but the arm that it is given, so whoever expires first never meets an expired arm."""
    window = story[1]
    for (now, arrival, _, _), _, before, memory in tell(*story):
        stored = set(memory.arrival.tolist()) - {0}
        assert stored <= set(before[0].tolist()) | {arrival}
        assert all(now - window < number <= now for number in stored)


@given(story=stories())
def test_the_same_coins_make_the_same_decisions(story):
    first = [memory.arrival.tolist() for _, _, _, memory in tell(*story)]
    assert first == [memory.arrival.tolist() for _, _, _, memory in tell(*story)]


@each_rule
def test_memory_stays_the_size_it_was_made(keep):
    """Over a long random stream: the arrays are what they were, so the arms stored never exceed the slots."""
    rng = np.random.default_rng(1)
    memory = empty_memory(4)
    sizes = [array.size for array in memory]
    for now in range(1, 2000):
        expire(memory, now - 50 + 1)
        total = float(rng.binomial(100, rng.random()))
        admit(rules.KEEP[keep].number, memory, now, 100, total, Moment(now, 50, now, 1.0, rng.random()))
        assert 1 <= np.count_nonzero(memory.arrival) <= 4
    assert [array.size for array in memory] == sizes == [4, 4, 4]


@pytest.mark.parametrize("number", [-1, len(rules.KEEP), 99])
def test_a_number_that_no_rule_has_is_an_error_and_changes_nothing(number):
    memory = empty_memory(2)
    with pytest.raises(ValueError, match="no keep rule has this number"):
        admit(number, memory, 1, 10, 5.0, Moment(1, 9, 1, 0.0, 0.0))
    assert memory.arrival.tolist() == [0, 0]
