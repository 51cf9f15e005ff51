"""Certificates of parts of one stream, united: gaps stay honest, and answers are certified anew.

Rewards have no noise here, so every bound holds for sure, and an error above the gap is a slip, never bad luck.
"""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bestbefore import Explorer

PARTS = 3
EIGHTHS = st.integers(0, 8).map(lambda eighths: eighths / 8)
STREAMS = st.lists(st.tuples(EIGHTHS, st.integers(0, PARTS - 1)), min_size=1, max_size=16)
"""Means in order of arrival, each with the part that sees the arm."""


def explored(arms, **settings):
    """Let arms of these numbers and means arrive, and tell what is asked for."""
    explorer = Explorer(**settings)
    for number, _ in arms:
        explorer.arrive(number, at=number)
        pull(explorer, dict(arms))
    return explorer


def pull(explorer, means):
    """Pull what is asked for, as often as it is wanted."""
    while (arm := explorer.ask()) is not None:
        pulls = max(explorer.wanted(arm), 1)
        explorer.tell(arm, pulls * means[arm], pulls=pulls)


def merged(parts):
    """Merge, and make sure that nothing has happened to the parts."""
    before = [part.state() for part in parts]
    both = Explorer.merged(parts)
    assert [part.state() for part in parts] == before
    assert len(both) <= both.peak_memory <= both.memory == parts[0].memory, "slots do not grow"
    return both


def dealt(stream, **settings):
    arms = list(enumerate((mean for mean, _ in stream), start=1))
    return [
        explored([arm for arm, (_, one) in zip(arms, stream, strict=True) if one == part], **settings)
        for part in range(PARTS)
    ]


def error(explorer, means, window):
    """Return how much worse the answer is than the best of the window."""
    valid = [means[number] for number in means if number > max(means) - window]
    return max(valid) - means[explorer.best()]


@settings(max_examples=60, deadline=None)
@given(STREAMS, st.integers(1, 8), st.integers(1, 4), st.integers(1, 30))
def test_gaps_are_honest_however_few_slots_and_pulls_there_were(stream, window, memory, budget):
    """Charges are needed here: with few slots, arms give way to worse ones all the time."""
    parts, means = dealt(stream, window=window, memory=memory, budget=budget), known(stream)
    first, second, third = parts
    for both in (merged(parts), merged([merged([third, first]), second])):
        assert error(both, means, window) <= both.gap + 1e-9
        number = both.arrivals + 1
        both.arrive(number)
        pull(both, means | {number: 0.4})
        assert error(both, means | {number: 0.4}, window) <= both.gap + 1e-9


def known(stream):
    return dict(enumerate((mean for mean, _ in stream), start=1))


@settings(max_examples=40, deadline=None)
@given(STREAMS, st.integers(1, 8), st.booleans())
def test_answers_are_certified_anew_if_slots_hold_a_window(stream, window, relative):
    parts, means = dealt(stream, window=window, memory=window, epsilon=0.4, relative=relative), known(stream)
    both = merged(parts)
    assert error(both, means, window) <= both.gap + 1e-9
    pull(both, means)
    assert both.certified
    assert error(both, means, window) <= both.gap + 1e-9
    assert both.promise == 0.4


@settings(max_examples=25, deadline=None)
@given(STREAMS)
def test_order_and_brackets_change_neither_bounds_nor_answers_if_slots_hold_a_window(stream):
    window = 8
    first, second, third = parts = dealt(stream, window=window, memory=window, epsilon=0.4)
    ways = [merged(parts), merged([second, third, first]), merged([first, merged([third, second])])]
    assert len({way.best() for way in ways}) == 1
    assert len({round(way.gap, 9) for way in ways}) == 1
    assert len({json.dumps([way.bounds(arm) for arm in way.stored]) for way in ways}) == 1


def charged():
    """A part that has dropped the best arm in favour of a poor one, since it had but one slot and a few pulls."""
    part = explored([(1, 0.9), (2, 0.2)], window=8, memory=1, budget=6)
    assert part.stored == [2]
    assert part.gap >= 0.7
    return part


def test_charges_are_kept():
    other = explored([(3, 0.1)], window=8, memory=1, budget=6)
    both = merged([charged(), other])
    assert both.gap >= 0.8, "arm 1 is better by so much"
    both.advance(to=10)
    assert both.gap < 0.8, "arms 1 and 2 have expired, and the charge with them"


def test_the_charge_of_an_heir_that_was_withdrawn_is_kept():
    part = charged()
    part.withdraw(2)
    assert part.best() is None
    other = explored([(3, 0.1)], window=8, memory=1, budget=6)
    both = merged([other, part])
    assert both.best() == 3
    assert both.gap >= 0.8
    both.advance(to=9)
    assert both.gap < 0.8


def test_arms_dropped_for_nothing_come_to_mind_when_the_better_one_is_withdrawn():
    """Arm 1 was surely no better than arm 2, which is withdrawn from the union: arm 3 must not seem certified."""
    arms = {"window": 8, "memory": 8, "epsilon": 0.2}
    part = explored([(1, 0.6), (2, 0.9)], **arms)
    part.tell(1, 600.0, pulls=1000)
    part.tell(2, 900.0, pulls=1000)
    assert part.stored == [2]
    both = merged([part, explored([(3, 0.1)], **arms)])
    both.withdraw(2)
    assert both.best() == 3
    assert both.gap >= 0.5


def test_rewards_of_an_arm_that_two_parts_know_add_up_and_nothing_is_certified_while_it_is_valid():
    settings = {"window": 3, "epsilon": 0.3}
    parts = [explored([(1, 0.6), (2, 0.5), (3, 0.4)], **settings), explored([(1, 1.0), (2, 0.1)], **settings)]
    pulls = [part.state()["arms"][0]["pulls"] for part in parts]
    both = merged(parts)
    assert both.state()["arms"][0]["pulls"] == sum(pulls) > max(pulls)
    assert both.means()[1] == pytest.approx((0.6 * pulls[0] + pulls[1]) / sum(pulls))
    assert (both.promise, both.gap, both.certified) == (None, 1.0, False)
    both.advance(to=5)
    assert both.gap < 1


def test_bounds_of_an_arm_that_two_parts_know_rest_on_all_its_rewards():
    parts = [Explorer(window=3, epsilon=0.3) for _ in range(2)]
    for part in parts:
        part.arrive("x", at=1)
        part.tell("x", 30.0, pulls=60)
    (low, high), (before, after) = merged(parts).bounds("x"), parts[0].bounds("x")
    assert before < low < 0.5 < high < after


def test_pulls_under_way_add_up_and_count_for_the_next_decision():
    parts = [Explorer(window=3, epsilon=0.3) for _ in range(2)]
    for part, number in zip(parts, (1, 2), strict=True):
        part.arrive(number, at=number)
        assert part.ask() is None, "an arm alone is certified"
    both = merged(parts)
    asked = [both.ask() for _ in range(10)]
    assert {1, 2} >= set(asked) - {None}
    again = merged([both])
    with pytest.raises(ValueError, match=f"pulls must be at most {asked.count(1)}"):
        again.give_up(1, asked.count(1) + 1)
    again.give_up(1, asked.count(1))


def test_a_part_that_is_behind_does_not_know_what_has_expired():
    behind, ahead = ([(1, 0.9), (2, 0.3)], [(6, 0.5)])
    both = merged([explored(arms, window=4, epsilon=0.3) for arms in (behind, ahead)])
    assert (both.stored, both.best(), both.advance()) == ([6], 6, [1, 2])


def test_a_merged_explorer_is_saved_and_goes_on():
    stream = [(mean, number % 3) for number, mean in enumerate([0.9, 0.1, 0.6, 0.4, 0.5, 0.3, 0.2])]
    means = known(stream) | {8: 0.45}
    both = merged(dealt(stream, window=5, epsilon=0.3))
    again = Explorer.from_state(json.loads(json.dumps(both.state())))
    for one in (both, again):
        pull(one, means)
        one.arrive(8)
        pull(one, means)
    assert again.state() == both.state()


def test_when_the_budget_is_spent_no_arm_is_left_without_a_slot():
    """Nothing can be pulled before the next arrival, so there is nothing to wait for."""
    arms = [(1, 0.9), (2, 0.5)], [(3, 0.8), (4, 0.4)]
    both = merged([explored(two, window=8, memory=2, budget=5) for two in arms])
    assert both.ask() is None
    assert (len(both.stored), both.under_test) == (2, [])


@pytest.mark.parametrize("guarantee", [{"guarantee": "anytime"}, {"guarantee": "strong", "arms": 12}])
def test_shares_of_delta_are_those_of_the_numbers_on_the_common_clock(guarantee):
    """An arm's bounds are as wide as if one explorer had seen all arms, not only those of its part."""
    one = Explorer(window=3, epsilon=0.3, **guarantee)
    part = Explorer(window=3, epsilon=0.3, **guarantee)
    for number in range(1, 11):
        one.arrive(number, at=number)
        if number == 10:
            part.arrive(number, at=number)
    for explorer in (one, part):
        explorer.tell(10, 20.0, pulls=40)
    assert merged([part]).bounds(10) == part.bounds(10) == one.bounds(10)
