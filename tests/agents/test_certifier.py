"""An explorer that certifies: it does what the compiled loop does, and can be asked how good its answer is."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestbefore import Explorer, UnknownArm, simulate, streams
from bestbefore.simulate.rewards import total_of
from bestbefore.simulate.seeds import generators
from bestbefore.testing import check_agent

SETTINGS = {
    "a slot for each valid arm": {"window": 8, "epsilon": 0.3},
    "few slots": {"window": 30, "epsilon": 0.4, "memory": 8},
    "one slot": {"window": 5, "memory": 1, "budget": 20},
    "window of one": {"window": 1, "epsilon": 0.3},
    "any arm will do": {"window": 4, "epsilon": 1.0},
    "a budget": {"window": 20, "epsilon": 0.2, "budget": 30},
    "a budget of one": {"window": 6, "epsilon": 0.2, "budget": 1},
    "no target, few pulls": {"window": 20, "memory": 5, "budget": 4},
    "one slot, a share": {"window": 5, "epsilon": 0.5, "relative": True, "memory": 1, "budget": 60},
    "nearly any arm will do": {"window": 8, "epsilon": 0.9},
    "no target": {"window": 20, "memory": 5, "budget": 60},
    "a share": {"window": 10, "epsilon": 0.5, "relative": True},
    "a share, few slots": {"window": 40, "epsilon": 0.5, "relative": True, "memory": 20},
    "anytime": {"window": 6, "epsilon": 0.4, "guarantee": "anytime"},
    "it reacts": {"window": 6, "epsilon": 0.4, "reacts": True},
}
every_setting = pytest.mark.parametrize("settings", SETTINGS.values(), ids=list(SETTINGS))
STREAMS = {
    "uniform": streams.uniform(90),
    "falling": streams.decreasing(60),
    "all 0": streams.constant(40, 0.0),
    "all 1": streams.constant(40, 1.0),
    "stars": streams.uniform(60).rated([0, 0.5, 1]),
    "gaussian": streams.uniform(40).gaussian(0.4),
}


def tell(explorer, arm, reward=1.0, pulls=1):
    explorer.tell(arm, reward, pulls=pulls)


def pull_all(explorer, means, rng=None):
    """Do what the explorer asks for; rewards are the means, without noise, if there is no generator."""
    while (arm := explorer.ask()) is not None:
        explorer.tell(arm, means[arm] if rng is None else float(rng.random() < means[arm]))


# The same rule, live and compiled


@every_setting
@pytest.mark.parametrize("stream", STREAMS.values(), ids=list(STREAMS))
def test_live_and_compiled_do_the_very_same(settings, stream):
    """With the same rewards: the same answers, gaps and pulls, at every time."""
    memory, window = settings.get("memory"), settings["window"]
    rest = {name: value for name, value in settings.items() if name not in ("memory", "window")}
    seen = simulate.trace(stream, window, memory, **rest)
    table = simulate.explore(stream, window, memory, runs=1, **rest)
    sigma = None if stream.noise.bounded else stream.noise.sigma
    explorer = Explorer(**settings, sigma=sigma)
    arms_rng, rewards, _ = generators(0, 0)
    (arms,) = stream.blocks(arms_rng)
    for time in range(stream.length):
        explorer.arrive(time)
        while (arm := explorer.ask()) is not None:
            pulls = explorer.wanted(arm)
            explorer.tell(arm, total_of(arms, arm, pulls, rewards), pulls=pulls)
        assert explorer.best() == seen.answers[time] - 1
        assert explorer.gap == seen.gaps[time]
    assert explorer.pulls == table["pulls"][0]
    assert explorer.peak_memory == table["peak_memory"][0]
    assert table["gap"][0] == pytest.approx(seen.gaps.mean())


@every_setting
def test_the_contract_of_an_agent(settings):
    check_agent(lambda seed: Explorer(**settings, seed=seed), arrivals=max(12, settings["window"] + 5))


# What can be asked


def test_the_gap_falls_as_rewards_come_until_the_answer_is_certified():
    explorer, gaps = Explorer(window=5, epsilon=0.2), []
    explorer.arrive("good")
    explorer.arrive("poor")
    assert (explorer.gap, explorer.certified, explorer.promise) == (1.0, False, None)
    while (arm := explorer.ask()) is not None:
        explorer.tell(arm, {"good": 0.8, "poor": 0.3}[arm])
        gaps.append(explorer.gap)
    assert gaps == sorted(gaps, reverse=True)
    assert gaps[-1] <= 0.2 < gaps[0]
    assert (explorer.best(), explorer.certified, explorer.promise) == ("good", True, 0.2)
    low, high = explorer.bounds("good")
    assert low < 0.8 < high
    assert explorer.bounds("poor")[1] <= low + 0.2


def test_whoever_is_alone_is_the_best_and_needs_no_pull():
    explorer = Explorer(window=5, epsilon=0.1)
    assert (explorer.best(), explorer.gap, explorer.certified) == (None, 1.0, False)
    explorer.arrive("only")
    assert (explorer.best(), explorer.ask(), explorer.gap, explorer.certified) == ("only", None, 0.0, True)


def test_to_ask_how_good_the_answer_is_changes_nothing():
    """Somebody who looks at the answer, its gap and its bounds after every reward gets the same pulls."""
    rng, means = np.random.default_rng(5), np.random.default_rng(1).random(30)
    asked, alone = Explorer(window=10, epsilon=0.2, seed=0), Explorer(window=10, epsilon=0.2, seed=0)
    for arm in range(30):
        asked.arrive(arm)
        alone.arrive(arm)
        while (wanted := asked.ask()) is not None:
            assert alone.ask() == wanted
            reward = float(rng.random() < means[wanted])
            asked.tell(wanted, reward)
            alone.tell(wanted, reward)
            assert 0 <= asked.gap <= 1
            assert asked.bounds(asked.best())[0] <= 1
        assert alone.ask() is None
    assert asked.state() == alone.state()


def test_the_arm_of_the_highest_claim_may_answer_too():
    """Nobody else may be better than 0.25: whoever may be better than that is the answer, however little is known."""
    explorer = Explorer(window=5, epsilon=0.1)
    for arm in ("poor", "new"):
        explorer.arrive(arm)
    tell(explorer, "poor", 2000 * 0.2, pulls=2000)
    tell(explorer, "new", 0.0)
    assert explorer.best() == "new" or explorer.gap <= explorer.bounds("new")[1] - explorer.bounds("poor")[0]
    high = explorer.bounds("poor")[1]
    assert explorer.gap <= high - explorer.bounds("new")[0] + 1e-9


def test_a_strong_guarantee_ends_with_its_arms():
    for probe in ("certify", "fixed"):
        explorer = Explorer(window=2, epsilon=0.5, guarantee="strong", arms=2, probe=probe)
        for arm, promised in enumerate((True, True, False)):
            explorer.arrive(arm)
            pull_all(explorer, [0.5, 0.5, 0.5])
            assert explorer.certified is promised
            assert (explorer.promise, explorer.gap <= 0.5) == (0.5 if promised else None, promised)


def test_fixed_tests_have_a_promise_for_a_gap_and_no_bounds():
    explorer = Explorer(window=5, epsilon=0.4, probe="fixed")
    assert (explorer.gap, explorer.certified) == (0.4, True)
    explorer.arrive("a")
    with pytest.raises(ValueError, match="probe must be 'certify' for bounds of arm 'a', not 'fixed'"):
        explorer.bounds("a")
    with pytest.raises(UnknownArm):
        explorer.bounds("b")
    assert Explorer(window=5, memory=2, tests=3).gap == 1.0, "nothing is promised"


# Budgets


def test_no_more_than_the_budget_is_asked_for_and_it_is_spent_ahead():
    explorer, means = Explorer(window=10, epsilon=0.2, budget=25), np.random.default_rng(2).random(60)
    spent = []
    for arm in range(60):
        before = explorer.pulls
        explorer.arrive(arm)
        pull_all(explorer, means)
        spent.append(explorer.pulls - before)
    assert max(spent) == 25
    assert explorer.gap < 1


def test_rewards_that_nobody_asked_for_are_spent_too():
    explorer = Explorer(window=5, memory=3, budget=10)
    explorer.arrive("a")
    explorer.arrive("b")
    tell(explorer, "a", 9, pulls=9)
    assert explorer.ask() is not None
    assert explorer.ask() is None


def test_without_a_target_the_budget_makes_the_gap_as_small_as_it_can():
    gaps = []
    for budget in (20, 200, 2000):
        explorer, means, seen = Explorer(window=10, memory=4, budget=budget), np.random.default_rng(3).random(40), 0.0
        for arm in range(40):
            explorer.arrive(arm)
            pull_all(explorer, means)
            seen += explorer.gap
        assert explorer.epsilon == 0
        assert explorer.peak_memory <= 4
        gaps.append(seen / 40)
    assert gaps[0] > 2 * gaps[1] > 4 * gaps[2] > 0


def test_where_memory_is_freed_early_the_gap_shows_it():
    """Three arms arrive and nobody is pulled: two slots are full, so the first goes.  It might have been perfect."""
    explorer = Explorer(window=5, memory=2, epsilon=0.1, budget=100)
    gone = [explorer.arrive(arm) for arm in "abc"]
    assert gone == [[], [], []], "the newest may be pulled before it has a slot"
    assert (explorer.stored, explorer.under_test) == (["a", "b"], ["c"])
    gone = explorer.arrive("d")
    assert len(gone) == 1
    for arm in explorer.stored:
        tell(explorer, arm, 10_000 * 0.5, pulls=10_000)
    assert explorer.gap > 0.4
    assert not explorer.certified


# Late rewards, and several pulls under way


def test_with_pulls_under_way_it_decides_as_if_they_had_returned_what_is_usual():
    """Asked again and again without a reward, it names both arms, and at last nobody: all would be certified then."""
    explorer = Explorer(window=5, epsilon=0.3)
    for arm, mean in {"a": 0.9, "b": 0.1}.items():
        explorer.arrive(arm)
        tell(explorer, arm, 5 * mean, pulls=5)
    before, asked = explorer.state(), []
    while (arm := explorer.ask()) is not None:
        asked.append(arm)
        assert len(asked) < 10_000
    assert set(asked) == {"a", "b"}
    for arm in asked:
        tell(explorer, arm, {"a": 0.9, "b": 0.1}[arm])
    assert explorer.certified
    assert explorer.pulls == 10 + len(asked)
    assert before["arms"][0]["pulls"] == 5


@given(st.data())
def test_late_rewards_in_any_order_do_no_harm(data):
    """Pulls return whenever they like, or never; what is certified then is right, since rewards have no noise."""
    means = data.draw(st.lists(st.sampled_from([0.0, 0.3, 0.5, 0.9, 1.0]), min_size=1, max_size=12))
    window, memory = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 4))
    explorer, under_way = Explorer(window=window, memory=memory, epsilon=0.3, budget=40), []
    for now in range(len(means)):
        explorer.arrive(now)
        for _ in range(data.draw(st.integers(0, 60))):
            if under_way and data.draw(st.booleans()):
                arm = under_way.pop(data.draw(st.integers(0, len(under_way) - 1)))
                if arm in [*explorer.stored, *explorer.under_test]:
                    explorer.tell(arm, means[arm])
            elif (arm := explorer.ask()) is not None:
                under_way.append(arm)
        best = explorer.best()
        assert now - window < best <= now
        assert max(means[max(now - window + 1, 0) : now + 1]) - means[best] <= explorer.gap + 1e-9
        assert len(explorer) <= memory


# Saving


@every_setting
@pytest.mark.parametrize("stop", [0, 1, 7, 200])
def test_saved_in_the_middle_it_goes_on_as_if_never_stopped(settings, stop):
    rng, means = np.random.default_rng(4), np.random.default_rng(1).random(40)
    explorer, other, steps = Explorer(**settings), None, 0
    for arm in range(40):
        gone = explorer.arrive(arm)
        assert other is None or other.arrive(arm) == gone
        while (wanted := explorer.ask()) is not None:
            assert other is None or other.ask() == wanted
            if steps == stop:
                other = Explorer.from_state(json.loads(json.dumps(explorer.state())))
            reward, steps = float(rng.random() < means[wanted]), steps + 1
            explorer.tell(wanted, reward)
            if other is not None:
                other.tell(wanted, reward)
    if other is not None:
        assert other.state() == explorer.state()


def damaged(change):
    explorer = Explorer(window=4, epsilon=0.3)
    for arm in "abc":
        explorer.arrive(arm)
        for _ in range(20):
            if (wanted := explorer.ask()) is not None:
                tell(explorer, wanted, 0.5)
    state = json.loads(json.dumps(explorer.state()))
    change(state["probe"])
    return state


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda probe: probe.pop(), "3|4 certificates are needed"),
        (lambda probe: probe[0].update(wanted=77), "arm 77 cannot be wanted"),
        (lambda probe: probe[0].pop("until"), "until"),
        (lambda probe: probe[1].update(lower=1.5), "cannot be a certificate"),
        (lambda probe: probe[1].update(upper=float("nan")), "upper cannot be nan"),
        (lambda probe: probe[1].update(seen_lower=10**6), "cannot be a certificate"),
        (lambda probe: probe[1].update(charged=9), "cannot be a certificate"),
        (lambda probe: probe[1].update(charge="0"), "charge cannot be '0'"),
    ],
)
def test_a_damaged_certificate_is_refused(change, words):
    with pytest.raises(ValueError, match=words):
        Explorer.from_state(damaged(change))


# Settings


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"epsilon": 0.1, "memory": 10}, "memory must be at least 14 slots to promise epsilon=0.1"),
        ({"probe": "certify", "tests": 5}, "tests must be left out with probe='certify', not 5"),
        ({"probe": "certify", "pending": 2}, "pending must be left out with probe='certify', not 2"),
        ({"keep": "bucket", "budget": 5}, "budget must be left out with probe='fixed', not 5"),
        ({"probe": "fixed", "relative": True}, "relative must be left out with probe='fixed', not True"),
        ({"keep": "fifo", "probe": "certify"}, "probe must be 'fixed' with keep='fifo', not 'certify'"),
        ({"probe": "sure"}, "probe must be one of .* not 'sure'"),
        ({"budget": 0}, "budget must be .* not 0"),
        ({"budget": 1.5}, "budget must be .* not 1.5"),
        ({"epsilon": 0}, "epsilon must be .* not 0"),
        ({"probe": "certify", "memory": 3}, "epsilon or budget must be given for probe='certify' with 3 slots"),
        ({"relative": True, "memory": 3, "budget": 9}, "epsilon must be given with relative=True"),
        ({"tests": "most"}, "tests must be one of 'paper', 'pairs', 'exact', not 'most'"),
        ({"guarantee": "strong"}, "arms must be the length of the stream"),
        ({"relative": "yes"}, "relative must be True or False, not 'yes'"),
        ({"reacts": 1}, "reacts must be True or False, not 1"),
        ({"sigma": 1e-100}, "sigma must be above 1e-50 and below 1e.50 times the scale, not 1e-100"),
        ({"sigma": 1e100}, "sigma must be above 1e-50 and below 1e.50 times the scale, not 1e\\+100"),
        ({"delta": 12 * 5e-324}, "delta must not be so small"),
        ({"tests": "exact", "sigma": 1.0}, "tests must be 'paper', 'pairs' or a number with sigma, not 'exact'"),
    ],
)
def test_bad_settings_are_named(wrong, words):
    with pytest.raises(ValueError, match=words):
        Explorer(**{"window": 50} | wrong)


@pytest.mark.parametrize(
    ("said", "probe"),
    [
        ({}, "certify"),
        ({"epsilon": 0.2}, "certify"),
        ({"epsilon": 0.2, "memory": 40}, "certify"),
        ({"memory": 8, "budget": 9}, "certify"),
        ({"memory": 8}, "fixed"),
        ({"memory": 8, "probe": "certify"}, "certify"),
        ({"epsilon": 0.2, "probe": "fixed"}, "fixed"),
        ({"epsilon": 0.2, "tests": 9}, "fixed"),
        ({"epsilon": 0.2, "tests": "exact"}, "fixed"),
        ({"epsilon": 0.2, "slack": 0.5}, "fixed"),
        ({"epsilon": 0.2, "pending": 2}, "fixed"),
        ({"epsilon": 0.2, "keep": "bucket"}, "fixed"),
        ({"epsilon": 0.2, "keep": "king"}, "challenge"),
    ],
)
def test_arms_are_certified_where_it_is_known_when_to_stop(said, probe):
    assert Explorer(**said).probe == probe


def test_fixed_tests_by_pairs_and_exactly_take_a_quarter():
    pulls = {tests: Explorer(100, 0.1, keep="bucket", tests=tests).tests for tests in ("paper", "pairs", "exact")}
    assert pulls["paper"] == 4227
    assert pulls["exact"] == 1036 < pulls["pairs"] < 4227 / 2
    assert Explorer(100, 0.1, tests="exact").tests == 471, "a slot for each valid arm"
    assert Explorer(101, 0.1, tests="exact").tests == 567, "cells of a tenth of epsilon"
    assert Explorer(100, 0.1, tests="exact").promise == 0.1
