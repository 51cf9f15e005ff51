"""Explorers of parts of one stream, merged: what they know together is what one explorer would know.

Rewards have no noise here, so that an empirical mean is the mean, and every confidence bound holds for sure.
"""

import json
import re
from itertools import permutations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from bestbefore import ExpiredArm, Explorer
from bestbefore import clock as clocks
from bestbefore.testing import check_agent

PARTS = 3
EIGHTHS = st.integers(0, 8).map(lambda eighths: eighths / 8)
STREAMS = st.lists(st.tuples(EIGHTHS, st.integers(0, PARTS - 1)), min_size=1, max_size=20)
"""Means in order of arrival, each with the part that sees the arm: means that are equal, and parts without an arm."""


def explored(arms, **settings):
    """Let arms of these numbers and means arrive, and tell what is asked for."""
    explorer = Explorer(**settings)
    for number, _mean in arms:
        explorer.arrive(number, at=number)
        pull(explorer, dict(arms))
    return explorer


def pull(explorer, means, most=10_000):
    """Pull what is asked for."""
    while most > 0 and (arm := explorer.ask()) is not None:
        explorer.tell(arm, means[arm])
        most -= 1
    assert most > 0, "it should have stopped to ask by now"


def dealt(stream, **settings):
    """Return an explorer for each part, and one that saw everything."""
    arms = [(number, mean) for number, (mean, _) in enumerate(stream, start=1)]
    parts = [
        explored([arm for arm, (_, one) in zip(arms, stream, strict=True) if one == part], **settings)
        for part in range(PARTS)
    ]
    return parts, explored(arms, **settings)


def merged(parts, **settings):
    """Merge, and make sure that nothing has happened to the parts."""
    before = [part.state() for part in parts]
    both = Explorer.merged(parts, **settings)
    assert [part.state() for part in parts] == before
    assert len(both) <= both.peak_memory <= both.memory == parts[0].memory, "slots do not grow"
    return both


def best_of(stream, window, exempt=0):
    """Return the highest mean of the window without its oldest arms."""
    return max(mean for mean, _ in stream[max(len(stream) - window, 0) + exempt :])


def steps(stream, window):
    """Return who can ever be the answer again: those that are better than all newer arms."""
    first = max(len(stream) - window, 0)
    means = [mean for mean, _ in stream]
    return [number + 1 for number in range(first, len(stream)) if means[number] > max(means[number + 1 :], default=-1)]


@given(STREAMS, st.integers(1, 9))
def test_parts_know_what_one_explorer_would_know_if_slots_suffice(stream, window):
    parts, one = dealt(stream, window=window, memory=window, tests=1)
    both = merged(parts)
    assert both.stored == one.stored == steps(stream, window)
    assert both.best() == one.best()
    assert both.means() == one.means()
    assert (both.pulls, both.arrivals) == (one.pulls, one.arrivals)


@given(STREAMS, st.integers(1, 9))
def test_order_and_brackets_do_not_matter_if_slots_suffice(stream, window):
    parts, one = dealt(stream, window=window, memory=window, tests=1)
    orders = [merged(order) for order in permutations(parts)]
    first, second, third = parts
    brackets = [merged([merged([first, second]), third]), merged([first, merged([third, second])])]
    assert all((both.best(), both.stored) == (one.best(), one.stored) for both in orders + brackets)


@given(STREAMS, st.integers(1, 9), st.integers(1, 4))
def test_with_few_slots_the_answer_is_within_a_cell_of_the_best(stream, window, memory):
    """However they are merged: that is what one explorer promises, and not that it is the same arm."""
    parts, _ = dealt(stream, window=window, memory=memory, tests=1, slack=0.0)
    first, second, third = parts
    for both in (merged(parts), merged([third, first, second]), merged([merged([first, second]), third])):
        cell = 0.0 if memory >= window else 1 / (memory + 1)
        assert stream[both.best() - 1][0] >= best_of(stream, window) - cell - 1e-9


@given(STREAMS, st.integers(2, 9), st.integers(1, 4))
def test_with_slack_the_answer_is_within_a_cell_of_all_but_the_oldest(stream, window, memory):
    """Those in whose favour others were passed over are not passed over themselves."""
    parts, one = dealt(stream, window=window, memory=memory, tests=1, slack=1.0)
    assume(one.exempt < min(window, len(stream)))
    both = merged(parts)
    oldest = max(len(stream) - window, 0)
    passed = max(len(stream) - window + one.exempt, 0) - oldest
    cell = 0.0 if memory >= window else 1 / (memory + 1)
    assert stream[both.best() - 1][0] >= best_of(stream, window, passed) - cell - 1e-9


@pytest.mark.parametrize("keep", ["bucket", "fifo"])
@given(stream=STREAMS, window=st.integers(1, 9), memory=st.integers(1, 4))
def test_rules_that_decide_by_slice_or_age_alone_store_what_one_explorer_stores(keep, stream, window, memory):
    parts, one = dealt(stream, window=window, memory=memory, tests=1, keep=keep)
    both = merged(parts)
    assert both.stored == one.stored
    assert both.best() == one.best()


def test_one_part_alone_stays_as_it_is():
    part = explored([(1, 0.5), (4, 0.9), (5, 0.2)], window=4, memory=3, tests=2)
    assert merged([part]).state() | {"rng": ""} == part.state() | {"rng": ""}


def test_rewards_of_an_arm_that_two_parts_know_add_up_and_nothing_is_promised_while_it_is_valid():
    settings = {"window": 3, "epsilon": 0.8, "keep": "bucket", "scale": (0, 2)}
    parts = [explored([(1, 0.6)], **settings), explored([(1, 1.0), (2, 0.2)], **settings)]
    tests = parts[0].tests
    both = merged(parts)
    assert both.means() == {1: pytest.approx(0.8), 2: pytest.approx(0.2)}
    assert both.pulls == 3 * tests
    assert both.arrivals == 2
    assert both.promise is None
    assert both.gap == 2, "the width of the scale"
    both.advance(to=3)
    assert both.promise is None
    both.advance(to=4)
    assert both.promise == pytest.approx(0.8), "arm 1 has expired"


def test_arms_that_two_parts_have_seen_and_forgotten_do_not_outnumber_their_numbers():
    arms = [(1, 0.1), (2, 0.2), (3, 0.9)]
    both = merged([explored(arms, window=5, memory=2, tests=1) for _ in range(2)])
    assert both.arrivals == 3
    assert Explorer.from_state(both.state()).stored == both.stored == [3]


def test_pulls_under_way_add_up():
    parts = [Explorer(window=5, memory=3, tests=4) for _ in range(2)]
    for part in parts:
        part.arrive("shared", at=1)
        part.ask()
    parts[0].ask()
    both = merged(parts)
    assert both.wanted("shared") == 4
    assert both.ask() == "shared"
    assert both.ask() is None, "3 are under way already"
    with pytest.raises(ValueError, match="pulls must be at most 4"):
        both.give_up("shared", 5)
    both.give_up("shared", 4)


def test_tests_go_on_as_far_as_there_is_room():
    """Of 3 arms that may be under test, 2 are so in one part and 2 in the other: the oldest is settled."""
    parts = [Explorer(window=9, memory=6, tests=4, pending=3) for _ in range(2)]
    for number in (1, 2, 3, 4):
        parts[number % 2].arrive(number, at=number)
        parts[number % 2].tell(number, 0.1 * number)
    assert merged(parts[:1]).under_test == [2, 4], "there is room for one more"
    both = merged(parts)
    assert (both.under_test, both.stored) == ([2, 3, 4], [1, 2, 3])
    assert both.promise is None, "the test of arm 1 was cut short"
    both.tell(2, 0.6, pulls=3)
    assert both.under_test == [3, 4]
    assert both.means()[2] == pytest.approx(0.2)


def test_a_newest_arm_that_is_tested_leaves_one_place_fewer_for_tests():
    """The newest has a slot then, as all that are under test: together they must not be more than memory."""
    settings = {"window": 9, "memory": 4, "tests": 2, "pending": 2}
    parts = [Explorer(**settings) for _ in range(3)]
    for number, part in enumerate(parts, start=1):
        part.arrive(number, at=number)
        part.tell(number, 1.0 - 0.1 * number)
    parts[2].tell(3, 0.7)
    both = merged(parts)
    assert both.under_test == [2]
    assert both.stored == [1, 2, 3]


def test_a_test_that_two_parts_have_completed_together_is_over():
    parts = [Explorer(window=9, memory=4, tests=4) for _ in range(2)]
    for part in parts:
        part.arrive(1, at=1)
        part.tell(1, 1.0, pulls=2)
    both = merged(parts)
    assert (both.under_test, both.stored, both.means()) == ([], [1], {1: 0.5})


def test_tests_that_have_waited_too_long_are_settled():
    ahead, behind = (Explorer(window=9, memory=4, tests=4, pending=2, patience=3) for _ in range(2))
    behind.arrive(1, at=1)
    behind.tell(1, 0.5)
    ahead.arrive(5, at=5)
    assert merged([ahead, behind]).under_test == [5]


def test_names_that_were_let_go_are_handed_out():
    """Part one has let arm 1 go and not told so; arm 2 goes when parts are merged; arm 3 was told of already."""
    one = explored([(1, 0.2), (2, 0.3)], window=9, memory=3, tests=1)
    other = explored([(3, 0.1), (4, 0.9)], window=9, memory=3, tests=1)
    assert other.advance() == [3]
    both = merged([one, other])
    assert both.stored == [4]
    assert both.advance() == [1, 2]
    assert both.advance() == []
    assert one.advance() == [1], "parts still have what they had to tell"


def test_a_part_that_is_behind_does_not_know_what_has_expired():
    behind = explored([(1, 0.9), (5, 0.8)], window=4, memory=3, tests=1)
    ahead = explored([(7, 0.1), (8, 0.2)], window=4, memory=3, tests=1)
    both = merged([behind, ahead])
    assert both.stored == [5, 8]
    assert both.arrive("new") == [7, 5], "1 was let go by its own part, and told"
    behind = explored([(1, 0.9)], window=4, memory=3, tests=1)
    both = merged([behind, ahead])
    assert both.stored == [8]
    assert both.arrive("new") == [7, 1]
    with pytest.raises(ExpiredArm):
        both.tell(1, 0.5, arrival=1)


def test_a_name_may_have_come_again_elsewhere():
    parts = [Explorer(window=4, memory=3, tests=1) for _ in range(2)]
    for part, number in zip(parts, (1, 8), strict=True):
        part.arrive("again", at=number)
        part.tell("again", 1 / number)
    both = merged(parts)
    assert (both.stored, both.arrival_of("again"), both.means()) == (["again"], 8, {"again": 0.125})
    assert both.advance() == []


def test_arms_of_one_microsecond_get_one_number_after_the_other():
    parts = [Explorer(window="10 s", memory=4, tests=1, most=9) for _ in range(2)]
    for part, name, mean in zip(parts, "ab", (0.9, 0.8), strict=True):
        part.arrive(name, at=3.0)
        part.tell(name, mean)
        part.arrive(f"{name} later", at=3.0)
        part.tell(f"{name} later", mean - 0.5)
    both = merged(parts)
    assert both.stored == ["a", "b", "a later", "b later"]
    assert [both.arrival_of(name) - 3_000_000 for name in both.stored] == [1, 2, 3, 4]
    assert both.advance(to=13.0) == ["a"]
    assert both.best() == "b"


def test_nothing_is_promised_while_more_arms_are_valid_than_was_said():
    parts = [Explorer(window="1h", epsilon=0.5, most=3) for _ in range(2)]
    for seconds in range(4):
        parts[seconds % 2].arrive(seconds, at=float(seconds))
        pull(parts[seconds % 2], dict.fromkeys(range(4), 0.5))
    assert all(part.promise for part in parts)
    both = merged(parts)
    assert both.promise is None
    both.advance(to=3600.0)
    pull(both, dict.fromkeys(range(4), 0.5))
    assert both.promise == 0.5


def test_time_goes_on_by_the_wall_clock_if_the_newest_arm_came_so(monkeypatch):
    now = [10**6]
    monkeypatch.setattr(clocks, "on_the_wall", lambda: now[0])
    parts = [Explorer(window="10 s", memory=4, tests=1, most=9) for _ in range(2)]
    parts[0].arrive("a")
    both = merged(parts)
    assert both.under_test == ["a"]
    now[0] += 10**7
    assert both.advance() == ["a"]


def test_a_merged_explorer_is_saved_and_goes_on():
    stream = [(mean, number % 3) for number, mean in enumerate([0.9, 0.1, 0.6, 0.4, 0.5, 0.3, 0.2])]
    parts, _ = dealt(stream, window=5, memory=4, tests=3, pending=2)
    parts[1].arrive("x", at=8)
    both = merged(parts, seed=1)
    again = Explorer.from_state(json.loads(json.dumps(both.state())))
    assert again.state() == both.state()
    for one in (both, again):
        one.tell("x", 0.7)
        one.arrive("y")
        pull(one, {"x": 0.7, "y": 0.1})
    assert again.state() == both.state()


def test_withdrawn_arms_stay_in_mind():
    """Arm 1 was dropped in favour of arm 2, which was withdrawn: nothing is promised until arm 2 had expired."""
    settings = {"window": 4, "epsilon": 0.5, "probe": "fixed"}
    parts = [explored([(1, 0.8), (2, 0.9)], **settings), explored([(3, 0.1)], **settings)]
    parts[0].withdraw(2)
    both = merged(parts)
    assert both.best() == 3
    assert both.promise is None
    both.advance(to=5)
    assert both.promise is None
    both.advance(to=6)
    assert both.promise == 0.5


class Mine(Explorer):
    """An explorer with a name of its own."""


def test_classes_made_from_an_explorer_can_be_merged():
    parts = [Mine(window=4, memory=2, tests=1), Explorer(window=4, memory=2, tests=1)]
    assert type(Mine.merged(parts)) is Mine
    assert type(Explorer.merged(parts)) is Explorer


BY_TIME = {"window": "1h", "epsilon": 0.3}
TWO = [Explorer(), Explorer()]
WRONG = {
    "nobody": ([], "parts must be a list of one explorer or more, not []"),
    "no list": (None, "parts must be a list of one explorer or more, not None"),
    "one alone": (TWO[0], "parts must be a list of one explorer or more, not <Explorer"),
    "no explorer": (["a"], "parts must be a list of one explorer or more, not ['a']"),
    "twice the same": ([TWO[0], TWO[1], TWO[0]], "parts must be different explorers"),
    "windows": ([Explorer(5), Explorer(6)], "parts must have the same settings, but window is 5 in one and 6 in"),
    "epsilon": ([Explorer(epsilon=0.2), *TWO], "but epsilon is 0.2 in one and None in another"),
    "king": ([Explorer(keep="king", epsilon=0.5)], "parts must not have keep='king'"),
    "reservoir": ([Explorer(keep="reservoir", memory=5, tests=1)], "parts must not have keep='reservoir'"),
    "anytime": ([Explorer(**BY_TIME, guarantee="anytime", most=9)], "guarantee must be 'weak' or 'strong' to merge"),
    "weak by time": ([Explorer(**BY_TIME)], "most must be given to merge explorers with a window by time (1h)"),
}


@pytest.mark.parametrize(("parts", "message"), WRONG.values(), ids=WRONG)
def test_what_cannot_be_merged_is_refused(parts, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        Explorer.merged(parts)


@pytest.mark.parametrize(
    ("arrivals", "message"),
    [
        ([("x", 1), ("y", 1)], "parts must number arms on one clock, by arrive(arm, at=number): 1 is two arms"),
        ([("x", 1), ("x", 2)], "parts must know arm 'x' by one arrival, not by [1, 2]"),
    ],
)
def test_numbers_must_be_those_of_one_clock(arrivals, message):
    parts = [Explorer(memory=2, tests=1) for _ in arrivals]
    for part, (arm, number) in zip(parts, arrivals, strict=True):
        part.arrive(arm, at=number)
    with pytest.raises(ValueError, match=re.escape(message)):
        Explorer.merged(parts)


SETTINGS = {
    "staircase": {"memory": 4, "tests": 8},
    "bucket": {"memory": 4, "tests": 8, "keep": "bucket"},
    "pending": {"memory": 6, "tests": 8, "pending": 3},
    "certify": {"epsilon": 0.4},
    "budget": {"memory": 4, "budget": 30},
}


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("window", [6, "1h"])
def test_merged_explorers_conform(name, window):
    settings = SETTINGS[name] | ({"most": 20} if isinstance(window, str) else {})

    def factory(seed):
        return Explorer.merged([Explorer(window=window, **settings) for _ in range(3)], seed=seed)

    check_agent(factory, arrivals=30)
