"""One plan: the same settings give the same slots, pulls and promise, live, simulated, advised, and by command."""

import json
import re

import pytest
from click.testing import CliRunner
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from bestbefore import Explorer, Player, Seeker, bounds, plan, rules, simulate, streams
from bestbefore.cli import commands
from bestbefore.cli.advise import advice
from bestbefore.simulate.epochs import Setup as PlaySetup
from bestbefore.simulate.exploration import Setup as ExploreSetup

ARMS = 30

wishes = st.fixed_dictionaries(
    {
        "window": st.integers(1, 60),
        "keep": st.sampled_from(sorted(rules.KEEP)),
        "delta": st.sampled_from([0.01, 0.05, 0.5]),
        "guarantee": st.sampled_from(bounds.GUARANTEES),
    },
    optional={
        "memory": st.integers(1, 70),
        "epsilon": st.sampled_from([0.05, 0.1, 0.3, 1.0]),
        "split": st.sampled_from([0.2, 0.5]),
        "slack": st.sampled_from([0.0, 0.5, 1.0, 9.0]),
        "tests": st.integers(1, 20) | st.sampled_from(["paper", "pairs"]),
        "probe": st.sampled_from(["fixed", "certify"]),
        "budget": st.integers(1, 50),
        "relative": st.booleans(),
    },
)
"""What a person may say of exploration; what is left out is left to the defaults."""


@settings(max_examples=300)
@given(wish=wishes, sigma=st.sampled_from([None, 0.2, 2.0]))
@example(wish={"window": 100, "keep": "staircase", "delta": 0.05, "guarantee": "weak", "epsilon": 0.1}, sigma=None)
def test_agent_and_simulation_have_the_same_slots_pulls_and_promise(wish, sigma):
    stream = streams.uniform(ARMS) if sigma is None else streams.uniform(ARMS).gaussian(sigma)
    memory, keep, window = wish.get("memory"), wish["keep"], wish["window"]
    rest = {name: value for name, value in wish.items() if name not in ("memory", "keep", "window")}
    try:
        live = Explorer(**wish, arms=ARMS, sigma=sigma)
    except ValueError as refused:
        with pytest.raises(ValueError, match=f"^{re.escape(str(refused))}$"):
            ExploreSetup(stream, window, memory, keep, **rest)
        return
    simulated = ExploreSetup(stream, window, memory, keep, **rest).plan
    assert simulated == live.plan
    assert (simulated.memory, simulated.exempt) == (live.memory, live.exempt)
    assert live.promise == (simulated.promise if live.probe != "certify" else None), "there is no arm to certify yet"
    assert [simulated.tests_of(arrival) for arrival in (1, 7, ARMS)] == [live.plan.tests_of(t) for t in (1, 7, ARMS)]


@settings(max_examples=40)
@given(wish=wishes)
def test_what_is_pulled_and_stored_is_what_was_planned(wish):
    """Not only the plan: the pulls and slots of a run are those of the live agent on the same arms."""
    assume(rules.KEEP[wish["keep"]].probe == "fixed")
    memory, keep, window = wish.pop("memory", None), wish.pop("keep"), wish.pop("window")
    try:
        table = simulate.explore(streams.uniform(ARMS), window, memory, keep, runs=1, **wish)
    except ValueError:
        assume(False)
    live = Explorer(window, keep=keep, memory=memory, arms=ARMS, **wish)
    assume(live.probe == "fixed")
    for arm in range(ARMS):
        live.arrive(arm)
        while (asked := live.ask()) is not None:
            wanted = live.wanted(asked)
            live.tell(asked, arm % 7 / 7 * wanted, pulls=wanted)
    assert table["pulls"][0] == live.pulls
    assert table["memory"][0] == live.memory
    assert max(table["peak_memory"][0], live.peak_memory) <= live.memory


@settings(max_examples=60)
@given(
    window=st.integers(1, 200),
    epsilon=st.sampled_from([0.05, 0.1, 0.2, 0.5, 1.0]),
    delta=st.sampled_from([0.01, 0.05]),
    arms=st.integers(200, 3000),
)
def test_advise_tells_what_an_explorer_will_do(window, epsilon, delta, arms):
    guarantees = iter([*bounds.GUARANTEES, "weak"])
    for row in advice(window, epsilon, delta, 10, arms, 10**6):
        if "tests" in row:
            explorer = Explorer(window, epsilon, delta, row["keep"], next(guarantees), arms, memory=row["slots"])
            tests = explorer.plan.tests_of(arms if explorer.guarantee == "anytime" else 1)
            assert (row["slots"], row["tests"], row["promise"]) == (explorer.memory, tests, explorer.plan.promise)
            assert f"{tests:,} pulls" in row["cost"]


@pytest.mark.parametrize("keep", rules.KEEP)
@pytest.mark.parametrize("options", [{"epsilon": 0.3}, {"memory": 7}, {"memory": 12, "epsilon": 0.3}, {}])
def test_the_command_does_what_an_explorer_would(keep, options):
    """With neither memory nor epsilon the command shows a row of memories, each of them as an explorer has it."""
    told = [part for name, value in options.items() for part in (f"--{name}", str(value))]
    words = ["explore", "--arms", "20", "--window", "10", "--runs", "1", "--keep", keep, "--json", *told]
    rows = json.loads(CliRunner().invoke(commands, words, catch_exceptions=False).stdout)
    for row in rows:
        wish = options if options else {"memory": row["memory"]}
        explorer = Explorer(window=10, keep=keep, **wish)
        assert row["epsilon"] == min(explorer.epsilon, 1.0)
        if explorer.probe == "fixed":
            assert (row["memory"], row["pulls"]) == (explorer.memory, 20 * explorer.tests)


@settings(max_examples=100)
@given(
    window=st.integers(1, 60),
    memory=st.none() | st.integers(1, 70),
    keep=st.sampled_from(rules.KEEP_TO_PLAY),
    pull=st.sampled_from(sorted(rules.PULL)),
    epsilon=st.none() | st.sampled_from([0.1, 1.0]),
    partial=st.booleans(),
    carry=st.booleans(),
)
def test_player_and_simulation_have_the_same_slots_tests_and_first_epoch(
    window, memory, keep, pull, epsilon, partial, carry
):
    said = {"epsilon": epsilon, "partial": partial, "carry": carry}
    live = Player(window, memory, keep, pull, **said)
    simulated = PlaySetup(streams.uniform(60), window, 10, memory, keep, pull, **said).plan
    assert simulated == live.plan
    assert live.memory == simulated.memory == (min(window, 20) if memory is None else memory)
    assert simulated.tests() == live.plan.tests()


def test_defaults_are_decided_in_one_place():
    """What nobody says is the same everywhere."""
    stream = streams.uniform(ARMS)
    assert Explorer().plan == ExploreSetup(stream, plan.WINDOW, None, plan.KEEP).plan.__class__(
        **vars(ExploreSetup(stream, plan.WINDOW, None, plan.KEEP).plan) | {"arms": None}
    )
    assert Player().plan == PlaySetup(streams.uniform(60), plan.WINDOW, 10, None, plan.PLAY_KEEP, plan.PLAY_PULL).plan
    assert (Explorer().window, Player().window, Seeker().window) == (plan.WINDOW,) * 3
    assert (Player().partial, Explorer().delta, Explorer().guarantee) == (True, plan.DELTA, plan.GUARANTEE)


# What is promised


def test_strict_staircase_promises_one_cell_more_than_it_has_slots():
    """1 / (m + 1) < epsilon is enough: 10 slots for 0.1, where `bucket` needs 11."""
    assert Explorer(memory=10, epsilon=0.1, probe="fixed").promise == 0.1
    with pytest.raises(ValueError, match=r"memory must be at least 11 slots to promise epsilon=0\.1"):
        Explorer(memory=10, epsilon=0.1, keep="bucket")
    assert Explorer(memory=11, epsilon=0.1, keep="bucket").promise == 0.1
    assert Explorer(memory=10, epsilon=0.1, probe="fixed").plan.theta == pytest.approx((0.1 - 1 / 11) / 2)


@pytest.mark.parametrize(
    ("said", "promise", "exempt"),
    [
        ({"memory": 6}, 0.5, 8),  # floor(50 / 6)
        ({"memory": 6, "slack": 0}, 0.5, 0),
        ({"memory": 6, "slack": 2}, 0.5, 16),
        ({"memory": 6, "slack": 6}, None, 50),  # all arms are exempt: nothing is promised
        ({"memory": 2}, None, 25),  # 3 / 2 says nothing
        ({"memory": 50}, 0.06, 0),  # a whole window: nothing is ever passed over
        ({"memory": 10, "epsilon": 0.3, "probe": "fixed"}, 0.3, 0),
        ({"memory": 6, "keep": "bucket"}, 0.5, 0),
        ({"memory": 6, "keep": "topk"}, None, 0),
        ({"memory": 6, "pending": 3}, 0.75, 12),  # four slots, besides those of pending arms
    ],
)
def test_a_few_slots_promise_their_epsilon_to_all_but_the_oldest_arms(said, promise, exempt):
    explorer = Explorer(window=50, **said)
    assert explorer.promise == (promise and pytest.approx(promise))
    assert explorer.exempt == exempt


def test_fixed_tests_promise_nothing_and_so_need_no_memory_for_epsilon():
    explorer = Explorer(window=50, memory=2, epsilon=0.1, tests=5)
    assert (explorer.promise, explorer.tests, explorer.memory) == (None, 5, 2)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"probe": "challenge"}, "probe must be 'fixed' or 'certify' with keep='staircase', not 'challenge'"),
        ({"probe": "fixed", "keep": "king"}, "probe must be 'challenge' with keep='king', not 'fixed'"),
        ({"probe": "guess"}, "probe must be one of"),
    ],
)
def test_tests_must_fit_the_keep_rule(wrong, words):
    with pytest.raises(ValueError, match=words):
        Explorer(**wrong)


def test_a_strategy_is_chosen_by_slots_and_flag():
    assert [plan.plan_seek(10, memory).strategy.name for memory in (9, 10, None)] == ["race", "wait", "wait"]
    assert plan.plan_seek(flag="implicit").strategy.name == "weigh"
    assert plan.plan_seek(strategy="rank", budget=10**6, arms=1000).tests == 10
    assert (plan.plan_seek(strategy="rank").tests, plan.plan_seek(strategy="race").tests) == (10, 100)
