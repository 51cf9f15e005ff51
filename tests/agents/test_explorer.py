"""The live explorer: four verbs, late rewards, forgetting, saving."""

import copy
import gc
import itertools
import json
import math
import pickle
import weakref
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bestbefore
from bestbefore import ExpiredArm, Explorer, Player, Seeker, UnknownArm, agents, rules
from bestbefore.rules import KEEP
from bestbefore.testing import check_agent

EVERY_RULE = pytest.mark.parametrize("keep", sorted(KEEP))


def settle_arm(explorer, arm, mean):
    """Let an arm arrive and tell all rewards that are asked for, as totals."""
    gone = explorer.arrive(arm)
    while (asked := explorer.ask()) is not None:
        wanted = explorer.wanted(asked)
        explorer.tell(asked, mean * wanted, pulls=wanted)
    return gone


settle_arm.__test__ = False


def explorer_after(means, **settings):
    explorer = Explorer(**{"window": 10, "memory": 4, "tests": 5, "seed": 0} | settings)
    for number, mean in enumerate(means):
        settle_arm(explorer, f"arm-{number}", mean)
    return explorer


# The four verbs


def test_the_promise_rests_on_finished_tests():
    """A test cut short, or added to later, voids the promise while its arm is valid."""
    explorer = Explorer(window=3, epsilon=0.5, probe="fixed")
    settle_arm(explorer, "a", 0.5)
    assert explorer.promise == 0.5
    explorer.arrive("short")
    explorer.tell("short", 1)
    for arm in "bc":
        settle_arm(explorer, arm, 0.25)
        assert explorer.promise is None
    settle_arm(explorer, "d", 0.25)
    assert explorer.promise == 0.5
    explorer.tell("d", 1)  # more than was asked for
    assert explorer.promise is None


@pytest.mark.parametrize(
    ("settings", "promise"),
    [
        ({"keep": "bucket", "memory": 20}, 0.15),
        ({"keep": "fifo", "memory": 50}, 0.06),
        ({"keep": "fifo", "memory": 49}, None),
        ({"keep": "staircase", "memory": 20}, 0.15),  # slack 1: of all but the two oldest
        ({"keep": "staircase", "memory": 20, "slack": 0}, 0.15),
        ({"keep": "staircase", "memory": 50}, 0.06),  # a whole window: nothing is ever given up
        ({"keep": "staircase", "memory": 20, "epsilon": 0.1, "probe": "fixed"}, 0.1),
        ({"keep": "bucket", "memory": 2}, None),
        ({"keep": "topk", "epsilon": 0.1}, None),
        ({"keep": "king", "epsilon": 0.1}, None),
        ({"keep": "bucket", "epsilon": 0.1, "tests": 3}, None),
    ],
)
def test_what_is_promised(settings, promise):
    assert Explorer(window=50, **settings).promise == (promise and pytest.approx(promise))


@pytest.mark.parametrize("probe", ["certify", "fixed"])
def test_the_answer_is_the_best_arm_of_the_window(probe):
    explorer = Explorer(window=3, epsilon=0.05, probe=probe)
    answers = []
    means = {"a": 0.9, "b": 0.7, "c": 0.2, "d": 0.3, "e": 0.1}
    for arm in means:
        explorer.arrive(arm)
        while (asked := explorer.ask()) is not None:
            explorer.tell(asked, means[asked])
        answers.append(explorer.best())
    assert answers == ["a", "a", "a", "b", "d"]


def test_before_any_reward_there_is_no_answer():
    explorer = Explorer(window=3, epsilon=0.1, probe="fixed")
    assert explorer.best() is None
    assert explorer.ask() is None
    explorer.arrive("a")
    assert explorer.best() is None
    assert explorer.ask() == "a"


@pytest.mark.parametrize(("keep", "pulls", "slots"), [("bucket", 401, 10), ("staircase", 220, 34), ("fifo", 178, 50)])
def test_the_default_plan(keep, pulls, slots):
    """Algorithm 1 has the paper's numbers; staircase and a whole window need fewer pulls for the same promise."""
    explorer = Explorer(window=50, epsilon=0.3, delta=0.1, keep=keep, probe="fixed")
    explorer.arrive("a")
    assert (explorer.wanted("a"), explorer.memory, explorer.promise) == (pulls, slots, 0.3)


def test_pulls_are_exactly_what_the_plan_says():
    explorer = Explorer(window=5, epsilon=0.3, delta=0.1, keep="bucket")
    for arm in range(7):
        explorer.arrive(arm)
        while (asked := explorer.ask()) is not None:
            explorer.tell(asked, 1)
    assert explorer.pulls == 7 * bestbefore.bounds.pulls(0.3, 5, 0.1)


def test_anytime_pulls_grow_and_strong_pulls_need_the_length():
    explorer = Explorer(window=2, epsilon=0.5, guarantee="anytime", probe="fixed")
    wanted = []
    for arm in range(6):
        explorer.arrive(arm)
        wanted.append(explorer.wanted(arm))
        explorer.tell(arm, wanted[-1], pulls=wanted[-1])
    assert wanted == sorted(wanted)
    assert wanted[0] == wanted[1] < wanted[2]
    with pytest.raises(ValueError, match="arms must be the length of the stream"):
        Explorer(window=2, epsilon=0.5, guarantee="strong")
    assert Explorer(window=2, epsilon=0.5, guarantee="strong", arms=10**6, probe="fixed").tests > wanted[0]


def test_arrive_returns_what_memory_let_go():
    explorer = Explorer(window=3, memory=2, tests=1, keep="topk")
    gone = [
        settle_arm(explorer, arm, mean) for arm, mean in [("a", 0.5), ("b", 0.9), ("c", 0.1), ("d", 0.7), ("e", 0.8)]
    ]
    assert gone == [[], [], [], ["c", "a"], ["b"]]
    assert explorer.stored == ["d", "e"]


def test_len_memory_and_peak():
    explorer = explorer_after([0.9, 0.5, 0.95], keep="staircase")
    assert (len(explorer), explorer.stored, explorer.peak_memory) == (1, ["arm-2"], 2)


def test_subgaussian_rewards_may_be_any_number():
    explorer = Explorer(window=3, epsilon=0.5, sigma=1.0, probe="fixed")
    explorer.arrive("a")
    explorer.tell("a", -3.5)
    explorer.tell("a", 400.0, pulls=explorer.wanted("a"))
    assert explorer.best() == "a"


# Late rewards


def test_an_arm_is_settled_with_what_it_has_when_the_next_arrives():
    explorer = Explorer(window=9, memory=4, tests=10)
    explorer.arrive("a")
    explorer.tell("a", 3, pulls=4)
    assert explorer.stored == []
    explorer.arrive("b")
    assert explorer.stored == ["a"]
    assert explorer.best() == "a"


def test_an_arm_without_a_single_reward_is_let_go():
    explorer = Explorer(window=9, memory=4, tests=10)
    explorer.arrive("a")
    assert explorer.arrive("b") == ["a"]


def test_several_arms_may_be_under_test_and_count_as_memory():
    explorer = Explorer(window=9, memory=4, tests=2, pending=3)
    for arm in "abc":
        explorer.arrive(arm)
    assert explorer.under_test == ["a", "b", "c"]
    assert explorer.stored == ["a", "b"]  # the newest is the arriving arm, which is not stored
    explorer.tell("c", 2, pulls=2)  # the youngest may finish first
    assert explorer.best() == "c"
    explorer.tell("a", 1, pulls=2)
    assert explorer.under_test == ["b"]
    assert explorer.stored == ["b", "c"]  # a is older and no better than c: let go


def test_ask_does_not_name_an_arm_whose_rewards_are_all_under_way():
    explorer = Explorer(window=9, memory=4, tests=2, pending=2)
    explorer.arrive("a")
    assert [explorer.ask() for _ in range(3)] == ["a", "a", None]
    explorer.arrive("b")
    assert [explorer.ask() for _ in range(3)] == ["b", "b", None]
    explorer.tell("a", 1)
    explorer.tell("a", 1)
    explorer.tell("b", 0)
    assert explorer.under_test == ["b"]
    assert explorer.ask() is None


@pytest.mark.parametrize("keep", ["bucket", "staircase", "topk", "fifo"])
def test_a_late_reward_for_a_stored_arm_still_counts(keep):
    explorer = Explorer(window=9, memory=4, tests=4, keep=keep)
    explorer.arrive("a")
    explorer.tell("a", 2, pulls=2)
    settle_arm(explorer, "b", 0.75)
    assert explorer.best() == "a"
    explorer.tell("a", 0, pulls=2)
    assert explorer.best() == "b"


@given(st.data())
def test_rewards_in_any_order_never_break_an_explorer(data):
    """Arrivals, asks and late tells, as they come: memory stays within its slots and answers are valid."""
    keep = data.draw(st.sampled_from(sorted(set(KEEP) - {"king"})))
    window, pending = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 3))
    explorer = Explorer(window=window, memory=data.draw(st.integers(pending, 6)), tests=3, pending=pending, keep=keep)
    arrived, under_way = 0, []
    for event in data.draw(st.lists(st.sampled_from(["arrive", "ask", "tell"]), max_size=60)):
        if event == "arrive":
            arrived += 1
            explorer.arrive(arrived)
        elif event == "ask" and (asked := explorer.ask()) is not None:
            under_way.append(asked)
        elif event == "tell" and under_way:
            late = under_way.pop(data.draw(st.integers(0, len(under_way) - 1)))
            try:
                explorer.tell(late, data.draw(st.sampled_from([0, 1])))
            except UnknownArm:
                assert late not in explorer.stored
        valid = range(max(arrived - window, 0) + 1, arrived + 1)
        assert set(explorer.stored) <= set(valid)
        assert len(explorer) <= explorer.peak_memory <= explorer.memory
        assert explorer.best() in (None, *explorer.stored, *explorer.under_test)


# Forgetting


class Named:
    """An arm that can be seen to be forgotten."""


@EVERY_RULE
def test_arms_that_left_leave_no_trace_in_the_object(keep):
    """After an arm has left, nothing in memory refers to it: the interpreter itself has freed it."""
    explorer = Explorer(window=5, memory=3, tests=2, keep=keep, seed=0)
    alive = {}
    for number in range(30):
        arm = Named()
        alive[number] = weakref.ref(arm)
        settle_arm(explorer, arm, number * 0.37 % 1)
        del arm
        assert all(reference() is None for earlier, reference in alive.items() if earlier <= number - 5)
    explorer.arrive("the last")  # hands out whom memory let go since the arrival before
    gc.collect()
    assert {reference() for reference in alive.values()} - {None} == set(explorer.stored) - {"the last"}


@EVERY_RULE
@pytest.mark.parametrize("pending", [1, 2])
def test_expired_names_are_not_in_the_state(keep, pending):
    explorer = Explorer(window=4, memory=3, tests=30, keep=keep, seed=0, pending=1 if keep == "king" else pending)
    for number in range(20):
        explorer.arrive(f"secret-{number:02d}")
        for _ in range(7):
            if (asked := explorer.ask()) is not None:
                explorer.tell(asked, number % 2)
        everything = json.dumps(explorer.state()).encode() + pickle.dumps(explorer)
        assert f"secret-{number:02d}".encode() in everything
        assert not [gone for gone in range(number - 3) if f"secret-{gone:02d}".encode() in everything]


def test_the_statistics_of_an_arm_that_left_are_wiped():
    explorer = explorer_after([0.9, 0.1], keep="bucket", window=1)
    slots = explorer._slots
    assert np.count_nonzero(slots.total) == np.count_nonzero(slots.pulls) == np.count_nonzero(slots.arrival) == 1


@EVERY_RULE
def test_a_reward_for_an_arm_that_is_gone_is_refused_and_changes_nothing(keep):
    explorer = explorer_after([0.2, 0.8, 0.5, 0.4], window=2, keep=keep)
    before = explorer.state()
    for arm in ("arm-0", "arm-1", "never"):
        with pytest.raises(UnknownArm, match=f"arm '{arm}' is not in memory"):
            explorer.tell(arm, 1)
    with pytest.raises(LookupError):
        explorer.wanted("arm-0")
    assert explorer.state() == before


def test_a_reward_with_its_arrival_cannot_reach_a_later_arm_of_the_same_name():
    explorer = Explorer(window=2, memory=2, tests=5)
    explorer.arrive("spring")
    number = explorer.arrivals
    settle_arm(explorer, "summer", 0.5)
    settle_arm(explorer, "autumn", 0.5)
    explorer.arrive("spring")
    before = explorer.state()
    with pytest.raises(ExpiredArm, match="arm 'spring' of arrival 1 has expired: valid are the last 2"):
        explorer.tell("spring", 1, arrival=number)
    with pytest.raises(UnknownArm):
        explorer.tell("autumn", 1, arrival=explorer.arrivals)
    assert explorer.state() == before
    explorer.tell("spring", 1, arrival=explorer.arrivals)


def test_a_name_may_come_again_once_it_is_forgotten():
    explorer = explorer_after([0.9, 0.5, 0.4], window=2)
    settle_arm(explorer, "arm-0", 0.8)
    assert explorer.best() == "arm-0"


# Saving


@EVERY_RULE
@given(st.integers(0, 40), st.integers(1, 3))
def test_saved_and_restored_it_goes_on_as_if_never_stopped(keep, stop, pending):
    """Rewards are drawn from a generator that does not know of the stop."""
    pending = 1 if keep == "king" else pending
    explorer = Explorer(window=7, memory=4, tests=6, keep=keep, pending=pending, seed=5)
    straight, stopped = explorer, copy.deepcopy(explorer)
    rng = np.random.default_rng(1)
    for step in range(60):
        if step == stop:
            stopped = Explorer.from_state(json.loads(json.dumps(stopped.state())))
        event = rng.integers(4)
        if event == 0:
            assert straight.arrive((step, "x")) == stopped.arrive((step, "x"))  # tuples survive JSON
        elif (asked := straight.ask()) is not None:
            reward = float(rng.integers(2))
            assert stopped.ask() == asked
            straight.tell(asked, reward)
            stopped.tell(asked, reward)
        assert (straight.best(), straight.stored) == (stopped.best(), stopped.stored)
    assert straight.state() == stopped.state()


def paths(tree, so_far=()):
    """All places in a nested state."""
    yield so_far
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in items:
        yield from paths(value, (*so_far, key))


@pytest.mark.parametrize("keep", ["staircase", "king", "reservoir"])
def test_a_damaged_state_is_refused_with_a_sentence(keep):
    """Whatever part is missing or replaced, the error is a ValueError; an explorer never starts from half a state."""
    state = explorer_after([0.9, 0.2, 0.5], keep=keep).state()
    refused = 0
    for path, damage in itertools.product(
        list(paths(state)), [None, -1, "x", math.nan, [], {}, 10**30, [[]], [[[], 1]], "gone"]
    ):
        damaged = copy.deepcopy(state)
        if not path:
            damaged = damage
        else:
            *parents, last = path
            place = damaged
            for key in parents:
                place = place[key]
            if damage == "gone":
                del place[last]
            else:
                place[last] = damage
        try:
            Explorer.from_state(damaged)
        except ValueError as wrong:
            refused += 1
            assert len(str(wrong)) > 20  # noqa: PT017
    assert refused > 150


NEVER = {"on_wall": 0, "recent": []}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"agent": "Player"}, "state must be that of an agent 'Explorer', not 'Player'"),
        (
            {"roster": {"clock": dict.fromkeys(("time", "newest", "arrivals"), 1000) | NEVER, "let_go": []}},
            "is not valid",
        ),
        ({"extra": 1}, "fields unknown \\['extra'\\]"),
    ],
)
def test_a_state_of_another_kind_is_named(change, words):
    with pytest.raises(ValueError, match=words):
        Explorer.from_state(explorer_after([0.9, 0.5]).state() | change)


def test_numbers_of_numpy_can_be_names_and_settings():
    explorer = Explorer(window=np.int64(5), epsilon=np.float32(0.5), delta=Fraction(1, 10), probe="fixed")
    settle_arm(explorer, np.int64(7), 0.5)
    explorer.arrive((np.int32(8), "x"))
    restored = Explorer.from_state(json.loads(json.dumps(explorer.state())))
    assert restored.stored == [7]
    assert restored.under_test == [(8, "x")]


def test_totals_beyond_all_numbers_are_refused():
    explorer = Explorer(window=5, epsilon=0.5, sigma=1.0)
    explorer.arrive("a")
    explorer.tell("a", 1e308)
    before = explorer.state()
    with pytest.raises(ValueError, match="reward must be a finite number"):
        explorer.tell("a", 1e308)
    assert explorer.state() == before


def test_half_a_state_is_refused():
    state = explorer_after([0.9, 0.5]).state()
    half = dict(list(state.items())[: len(state) // 2])
    with pytest.raises(ValueError, match="fields missing"):
        Explorer.from_state(half)
    with pytest.raises(ValueError, match="state must be a dict"):
        Explorer.from_state(json.dumps(state)[:100])


# Bad input


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"window": 0}, "window must be a whole number of at least 1, not 0"),
        ({"window": True}, "window must be a whole number"),
        ({"epsilon": 0}, "epsilon must be a number above 0 and at most 1, not 0"),
        ({"epsilon": 2}, "epsilon must be a number above 0 and at most 1, not 2"),
        ({"epsilon": "0.1"}, "epsilon must be a number"),
        ({"delta": 0}, "delta must be a number above 0 and below 1, not 0"),
        ({"delta": 1}, "delta must be a number above 0 and below 1, not 1"),
        ({"memory": 0}, "memory must be a whole number of at least 1, not 0"),
        ({"memory": 2, "pending": 3}, "memory must be at least 3 slots with keep='staircase' and pending=3, not 2"),
        ({"memory": 9, "epsilon": 0.1, "probe": "fixed"}, "memory must be at least 10 slots to promise epsilon=0.1"),
        ({"memory": 10, "epsilon": 0.1, "keep": "bucket"}, "memory must be at least 11 slots to promise epsilon=0.1"),
        ({"memory": 5, "split": 0.5}, "split must be left out when memory is given"),
        ({"split": 0}, "split must be a number above 0"),
        ({"slack": -1}, "slack must be a number of at least 0"),
        ({"sigma": 0}, "sigma must be a number above 0"),
        ({"tests": 0}, "tests must be a whole number"),
        ({"pending": 0}, "pending must be a whole number"),
        (
            {"keep": "best"},
            "keep must be one of 'fifo', .*'king'.*, not 'best'",
        ),
        ({"keep": "king", "pending": 2}, "pending must be 1 with keep='king'"),
        ({"seed": "x"}, "seed must be a whole number of at least 0, not 'x'"),
        ({"seed": -1}, "seed must be"),
        ({"window": 10**30}, "window must be at most"),
        ({"keep": np.zeros(3)}, "keep must be one of"),
        ({"epsilon": 1e-200}, "epsilon and noise must not be so small"),
        ({"delta": 1e-323}, "delta must not be so small"),
        ({"memory": 4, "epsilon": 0.5, "pending": 4}, "each arm pending but the newest takes one"),
        ({"guarantee": "always"}, "guarantee must be one of 'weak', 'strong', 'anytime', not 'always'"),
    ],
)
def test_bad_settings_are_named(wrong, words):
    with pytest.raises(ValueError, match=words):
        Explorer(**wrong)


@pytest.mark.parametrize("reward", [math.nan, math.inf, -0.1, 1.1, "1", None, [1]])
def test_a_reward_that_is_none_is_refused_and_changes_nothing(reward):
    explorer = explorer_after([0.5])
    explorer.arrive("b")
    before = explorer.state()
    with pytest.raises(ValueError, match="reward must be"):
        explorer.tell("b", reward)
    with pytest.raises(ValueError, match="pulls must be"):
        explorer.tell("b", 1, pulls=0)
    with pytest.raises(ValueError, match="pulls must be at most"):
        explorer.tell("b", 1, pulls=10**30)
    with pytest.raises(ValueError, match="between 0 and 3, the number of pulls"):
        explorer.tell("b", 4, pulls=3)
    assert explorer.state() == before


@pytest.mark.parametrize(
    ("arm", "words"),
    [(None, "not None"), (math.nan, "not NaN"), ([1], "hashable"), ((1, [2]), "hashable"), ("arm-0", "must be new")],
)
def test_an_arm_that_cannot_arrive_changes_nothing(arm, words):
    explorer = explorer_after([0.5])
    before = explorer.state()
    with pytest.raises(ValueError, match=words):
        explorer.arrive(arm)
    assert explorer.state() == before


# Conformance, by discovery


def settings_of(agent):
    """All ways in which an agent is put through the checks."""
    if agent is Explorer:
        for keep, (window, memory) in itertools.product(sorted(KEEP), [(1, 1), (1, 4), (6, 1), (6, 4), (6, 9)]):
            pending = 3 if memory == 4 and keep != "king" else 1
            yield {
                "keep": keep,
                "window": window,
                "memory": memory,
                "tests": 20 if window == 6 else 1,
                "pending": pending,
            }
            if memory == 4:
                yield {"keep": keep, "window": window, "memory": memory, "tests": 1, "pending": 1}
        for guarantee in ("weak", "strong", "anytime"):
            yield {"window": 5, "epsilon": 1.0, "delta": 0.5, "guarantee": guarantee, "arms": 50}
    elif agent is Seeker:
        for flag, strategies in ((flag, rules.strategies_of(flag)) for flag in rules.FLAGS):
            for strategy, window, memory in itertools.product(strategies, (1, 4), (1, 3, 5)):
                yield {"flag": flag, "strategy": strategy, "window": window, "memory": memory, "tests": 6}
    elif agent is Player:
        keeps, pulls = list(rules.KEEP_TO_PLAY), list(rules.PULL)
        for which in range(max(len(keeps), len(pulls))):  # each rule once at least, with one of the other kind
            pair = {"keep": keeps[which % len(keeps)], "pull": pulls[which % len(pulls)]}
            size = {"window": 4, "memory": 3} if which % 2 else {"window": 3, "memory": 2}
            yield pair | size | {"carry": pair["pull"] != "moss", "partial": pair["keep"] != "topk"}
        yield {"window": 1, "memory": 1}
    else:
        pytest.fail(f"{agent.__name__} is an agent, but nobody has said how it is to be checked")


AGENTS = [agent for agent in vars(agents).values() if isinstance(agent, type) and hasattr(agent, "from_state")]


@pytest.mark.parametrize("agent", [agent for agent in AGENTS if agent is not agents.Agent], ids=lambda a: a.__name__)
def test_every_agent_keeps_the_contract(agent):
    for settings in settings_of(agent):
        arrivals = 14 if agent is Explorer else 9
        keeps_expired = settings.get("flag") == "implicit"
        check_agent(
            lambda seed, settings=settings: agent(**settings, seed=seed), arrivals=arrivals, keeps_expired=keeps_expired
        )
