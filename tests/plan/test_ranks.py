"""Plans for the best k, and what is said where slots are too few."""

import re

import pytest

from bestbefore import Explorer, bounds
from bestbefore.plan import plan_exploration


def test_three_answers_take_three_times_the_slots_and_not_one_pull_more():
    one, three = (plan_exploration("bucket", 1000, epsilon=0.1, top=top) for top in (1, 3))
    assert (one.memory, three.memory) == (30, 90)
    assert one.tests_of(1) == three.tests_of(1) == bounds.pulls(0.1, 1000, 0.05)
    assert three.promise == 0.1


def test_a_spare_rank_takes_as_many_slots_as_one_more_answer():
    assert (
        plan_exploration(window=1000, epsilon=0.1, spare=1).memory
        == plan_exploration(epsilon=0.1, window=1000, top=2).memory
    )
    assert plan_exploration(window=1000, epsilon=0.1, spare=1).memory == 200


def test_slots_are_shared_by_the_ranks_where_they_are_given():
    """Ten slots are three for each of three ranks: cells of 1/4, and slack exempts a third of the window."""
    made = plan_exploration(window=90, memory=10, top=3)
    assert (made.epsilon, made.theta, made.exempt) == (pytest.approx(1), pytest.approx(1 / 3), 30)
    made = plan_exploration(window=90, memory=10, top=3, epsilon=0.5)
    assert (made.theta, made.exempt, made.promise) == (pytest.approx(0.125), 0, 0.5)


def test_a_whole_window_serves_any_number_of_ranks():
    made = plan_exploration(window=20, epsilon=0.1, top=5, spare=2)
    assert (made.memory, made.theta, made.ranks) == (20, pytest.approx(0.05), 7)
    assert plan_exploration(window=1, spare=1).memory == 1


def test_arms_are_then_tested_alike():
    assert plan_exploration(epsilon=0.1).probe == "certify"
    assert plan_exploration(epsilon=0.1, top=2).probe == plan_exploration(epsilon=0.1, spare=1).probe == "fixed"


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"top": 0}, "top must be a whole number of at least 1, not 0"),
        ({"top": 1.5}, "top must be a whole number of at least 1, not 1.5"),
        ({"spare": -1}, "spare must be a whole number of at least 0, not -1"),
        ({"top": 51}, "top must be at most 50, the arms valid at once, not 51"),
        (
            {"top": 3, "probe": "certify"},
            "probe must be left out with top=3, not 'certify': certificates are about one",
        ),
        ({"spare": 1, "budget": 9}, "budget must be left out with spare=1, not 9: certificates are about one answer"),
        ({"top": 3, "tests": "pairs"}, "tests must be 'paper' or a number with top=3, not 'pairs'"),
        ({"spare": 1, "tests": "exact"}, "tests must be 'paper' or a number with spare=1, not 'exact'"),
        (
            {"top": 2, "keep": "king"},
            "top must be 1 and spare 0 with keep='king', which stores a single arm, not 2 and 0",
        ),
        ({"top": 3, "memory": 2}, "memory must be at least 3 slots with keep='staircase' and top=3, not 2"),
    ],
)
def test_what_cannot_be_is_said(said, words):
    with pytest.raises(ValueError, match=f"^{re.escape(words)}"):
        Explorer(**said)


@pytest.mark.parametrize(
    ("said", "least", "words"),
    [
        ({"window": 40, "epsilon": 0.01, "probe": "fixed"}, 40, "that is one for each valid arm"),
        ({"window": 400, "epsilon": 0.1, "keep": "bucket"}, 11, "to promise epsilon=0.1 with keep='bucket', not 10"),
        (
            {"window": 400, "epsilon": 0.1, "keep": "bucket", "pending": 3},
            13,
            "with keep='bucket' and pending=3, not 12",
        ),
        ({"window": 400, "epsilon": 0.1, "keep": "bucket", "top": 3}, 33, "with keep='bucket' and top=3, not 32"),
        ({"window": 400, "epsilon": 0.1, "probe": "fixed"}, 10, "to promise epsilon=0.1 with keep='staircase', not 9"),
        (
            {"window": 50, "pending": 10},
            10,
            "with keep='staircase' and pending=10, not 9: each arm pending but the newest",
        ),
        (
            {"window": 2, "spare": 4, "pending": 2},
            3,
            "spare=4 and pending=2, not 2: that is one for each valid arm, and",
        ),
    ],
)
def test_too_few_slots_are_told_the_least_that_do(said, least, words):
    """The number is right: one slot fewer is refused, and so many are taken."""
    assert plan_exploration(**said, memory=least).memory == least
    with pytest.raises(ValueError, match=f"^memory must be at least {least} slots.*{re.escape(words)}"):
        plan_exploration(**said, memory=least - 1)
