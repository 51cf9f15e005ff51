"""The live seeker: flags, clocks, strategies, forgetting, saving."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestbefore import Seeker, UnknownArm, rules, simulate, streams
from bestbefore.testing import check_agent

EXPLICIT, IMPLICIT = rules.strategies_of("explicit"), rules.strategies_of("implicit")


def arrive_and_test(seeker, arm, mean):
    """Let an arm arrive, and pay whatever is asked for its mean."""
    gone = seeker.arrive(arm)
    while (asked := seeker.ask()) is not None:
        assert asked == arm, "before the end only the newest arm is tested"
        seeker.tell(asked, mean)
    return gone


# Explicit flag


@given(best=st.integers(1, 12), window=st.integers(1, 5), extra=st.integers(0, 2))
def test_with_w_slots_waiting_finds_the_best_arm_wherever_it_stands(best, window, extra):
    """Not a single pull is spent before the flag has told."""
    seeker = Seeker(window=window, memory=window + extra, valid=lambda arm: arm == best)
    for arm in range(1, 13):
        seeker.arrive(arm)
        assert seeker.ask() == (best if arm >= best + window else None)
    seeker.finish(time="goes on")
    for _ in range(window - 1):
        seeker.tick()
    assert seeker.ask() == best, "it is found, or it is the last and only one that is still valid"
    assert seeker.pulls == 0
    seeker.tick()
    assert seeker.found == best == seeker.best()
    assert seeker.stored == [best]
    assert seeker.peak_memory <= window


def test_flags_can_be_told_instead_of_asked_for():
    seeker = Seeker(window=2, memory=2)
    for arm in "abc":
        seeker.arrive(arm)
    assert seeker.overdue == ["a"]
    assert seeker.learn("a", valid=True) == ["b"], "of no interest any more"
    assert seeker.found == seeker.best() == seeker.ask() == "a"
    assert seeker.overdue == []
    assert seeker.arrive("d") == ["c"]
    assert seeker.stored == ["a"]


def test_who_is_silent_has_expired():
    seeker = Seeker(window=2, memory=2)
    for arm in "abc":
        seeker.arrive(arm)
    assert seeker.best() == "c", "an arm that is overdue is no answer"
    assert seeker.arrive("d") == ["a"]
    with pytest.raises(UnknownArm, match="'a' is not in memory"):
        seeker.learn("a", valid=True)


def test_an_arm_may_be_withdrawn_at_any_time_even_one_that_was_found():
    seeker = Seeker(window=3, memory=3)
    seeker.arrive("a")
    assert seeker.learn("a", valid=True) == [], "within its window every arm is valid"
    assert seeker.found is None
    assert seeker.learn("a", valid=False) == ["a"]
    for arm in "bcde":
        seeker.arrive(arm)
    seeker.learn("b", valid=True)
    assert seeker.found == "b"
    assert seeker.learn("b", valid=False) == ["b"]
    assert seeker.found is None
    assert seeker.best() == "e"


def test_a_callback_that_takes_back_what_it_said_is_heard():
    valid = {"a"}
    seeker = Seeker(window=1, memory=1, valid=valid.__contains__)
    seeker.arrive("a")
    seeker.arrive("b")
    assert seeker.found == "a"
    valid.clear()
    assert set(seeker.arrive("c")) == {"a", "b"}
    assert seeker.found is None


def test_a_callback_that_fails_changes_nothing():
    def valid(arm):
        raise ConnectionError("no answer")

    seeker = Seeker(window=1, memory=1, valid=valid)
    seeker.arrive("a")
    for step in (lambda: seeker.arrive("b"), seeker.tick):
        before = seeker.state()
        with pytest.raises(ConnectionError):
            step()
        assert seeker.state() == before
        seeker.finish(time="goes on")


def test_flags_are_asked_of_the_time_that_begins_with_the_arrival():
    """So a clock of one's own has to be moved first."""
    now, came = 0, {}
    seeker = Seeker(window=2, memory=2, valid=lambda arm: arm == "best" or came[arm] > now - 2)
    for arm in ("a", "best", "c", "d"):
        now += 1
        came[arm] = now
        seeker.arrive(arm)
        assert seeker.found == (None if now < 4 else "best")


def test_race_spends_few_pulls_on_bad_arms_and_many_on_good_ones():
    seeker = Seeker(window=50, memory=5, tests=300)
    assert seeker.strategy == "race", "the default with fewer than W slots"
    pulls = {}
    for arm, mean in {"good": 0.95, "bad": 0.1, "fair": 0.8, "better": 1.0}.items():
        arrive_and_test(seeker, arm, mean)
        pulls[arm] = seeker.pulls - sum(pulls.values())
    assert pulls["good"] == pulls["better"] == 300
    assert pulls["bad"] < 10 < pulls["fair"] <= 100
    assert seeker.best() == "better"


def test_rank_tests_all_arms_alike():
    seeker = Seeker(window=50, memory=2, strategy="rank", budget=10_000, arms=10)
    for number in range(10):
        arrive_and_test(seeker, number, number / 10)
    assert seeker.pulls == 10 * 10_000 // (100 * 10) == 100
    assert seeker.stored == [7, 8], "9 is at hand"


# Both clocks


@pytest.mark.parametrize("strategy", EXPLICIT)
def test_when_time_stops_the_rest_is_spent_on_the_last_window_by_the_pull_rule(strategy):
    seeker = Seeker(window=4, memory=4, strategy=strategy, budget=1000, tests=5)
    for number, mean in enumerate((0.2, 0.9, 0.3, 0.4)):
        arrive_and_test(seeker, number, mean)
    seeker.finish()
    pulled = []
    while (arm := seeker.ask()) is not None:
        pulled.append(arm)
        seeker.tell(arm, (0.2, 0.9, 0.3, 0.4)[arm])
    assert seeker.pulls == 1000
    assert seeker.left == 0
    assert set(pulled) == {0, 1, 2, 3} or strategy == "race"
    assert pulled.count(1) > 0.9 * len(pulled)


def test_when_time_goes_on_the_last_call_is_answered():
    """The leader is pulled in the last step of its window: it may be the best, and waiting could only lose it."""
    seeker = Seeker(window=3, memory=2, strategy="rank", tests=1, budget=100)
    for arm, mean in {"a": 0.5, "b": 0.9, "c": 0.1}.items():
        arrive_and_test(seeker, arm, mean)
    seeker.finish(time="goes on")
    assert seeker.ask() is None, "it is the turn of 'a', which does not lead"
    seeker.tick()
    assert seeker.overdue == ["a"]
    seeker.learn("a", valid=False)
    assert seeker.ask() == "b"


def test_after_the_end_nothing_arrives():
    seeker = Seeker(window=3, memory=2)
    seeker.arrive("a")
    with pytest.raises(ValueError, match="must come after finish"):
        seeker.tick()
    seeker.finish(time="goes on")
    seeker.tick()
    with pytest.raises(ValueError, match="'b' came too late"):
        seeker.arrive("b")
    with pytest.raises(ValueError, match="time must be one of"):
        seeker.finish(time="flies")
    seeker.finish()
    with pytest.raises(ValueError, match="not after time has stopped"):
        seeker.tick()
    assert seeker.arrivals == 1


def test_nothing_ever_arrived():
    seeker = Seeker()
    assert seeker.ask() is seeker.best() is seeker.found is None
    seeker.finish()
    assert seeker.ask() is None


# Implicit flag


def implicit_after(strategy, means, **settings):
    seeker = Seeker(flag="implicit", strategy=strategy, **{"window": 2, "memory": 3, "tests": 50} | settings)
    for number, mean in enumerate(means):
        arrive_and_test(seeker, number, mean)
    seeker.finish()
    return seeker


def test_hope_commits_to_the_best_ever_seen_and_stay_to_valid_arms():
    means = (0.2, 0.9, 0.1, 0.5, 0.4)
    assert implicit_after("hope", means).stored == [1]
    assert implicit_after("stay", means).stored == [3, 4]


@pytest.mark.parametrize(
    ("means", "chosen"),
    [
        ((0.1, 0.95, 0.1, 0.2, 0.1), [1]),  # beyond doubt the best: worth the risk
        ((0.9, 0.88, 0.91, 0.5, 0.85), [3, 4]),  # it could be any of three, and valid arms are nearly as good
        ((0.1, 0.2, 0.1, 0.3, 0.9), [3, 4]),  # the best ever is valid: nothing is risked
    ],
)
def test_weigh_hopes_only_where_that_risks_less(means, chosen):
    assert implicit_after("weigh", means).stored == chosen


def test_with_an_implicit_flag_nobody_can_tell():
    seeker = Seeker(flag="implicit")
    seeker.arrive("a")
    with pytest.raises(ValueError, match="nobody can know"):
        seeker.learn("a", valid=True)


# The same rules as in a simulation


@pytest.mark.parametrize("clock", ["goes on", "stops"])
@pytest.mark.parametrize(
    ("flag", "strategy"), [("explicit", "wait"), ("explicit", "race"), *(("implicit", name) for name in IMPLICIT)]
)
@pytest.mark.parametrize("slots", [1, 3, 8])
def test_live_and_compiled_do_the_very_same(compiled_rewards, flag, strategy, slots, clock):
    """Gaussian rewards come one by one in both, so that the same generator makes the same run."""
    stream = streams.uniform(40).gaussian(0.3)

    def live(**arguments):
        return Seeker(flag=flag, strategy=strategy, tests=12, sigma=0.3, **arguments)

    settings = {"window": 8, "memory": slots, "budget": 1500, "flag": flag, "clock": clock, "runs": 3, "seed": 3}
    with compiled_rewards():
        rows = simulate.seek(stream, strategy=live, **settings)
    compiled = simulate.seek(stream, strategy=strategy, tests=12, **settings)
    for one, other in zip(rows, compiled, strict=True):
        assert one["regret"] == pytest.approx(other["regret"], abs=1e-6)
        for column in ("found", "tests", "wasted", "pulls", "peak_memory"):
            assert one[column] == other[column], column


def test_many_pulls_under_way_are_not_more_than_are_wanted():
    seeker = Seeker(window=5, memory=2, strategy="rank", tests=7)
    seeker.arrive("a")
    assert [seeker.ask() for _ in range(8)] == ["a"] * 7 + [None]
    seeker.tell("a", 4.0, pulls=7)
    assert seeker.ask() is None
    limited = Seeker(window=5, memory=2, strategy="rank", tests=7, budget=3)
    limited.arrive("a")
    assert [limited.ask() for _ in range(4)] == ["a"] * 3 + [None]


# Saving, and bad input


@pytest.mark.parametrize("steps", ["tick", "finish"])
@pytest.mark.parametrize("strategy", [*EXPLICIT, *IMPLICIT])
def test_saved_in_mid_stream_and_after_the_end_it_goes_on_as_if_never_stopped(strategy, steps):
    flag = "explicit" if strategy in EXPLICIT else "implicit"
    means = np.random.default_rng(5).random(20)

    def decisions(restore):
        seeker = Seeker(window=5, memory=3, flag=flag, strategy=strategy, tests=8, budget=400, seed=1)
        made = []
        for step in range(24):
            if restore:
                seeker = Seeker.from_state(json.loads(json.dumps(seeker.state())))
            if step < 20:
                made.append(seeker.arrive(step))
            elif steps == "tick" and step > 20:
                made.append(seeker.tick())
            else:
                made.append(seeker.finish("goes on" if steps == "tick" else "stops"))
            for arm in seeker.overdue:
                made.append(seeker.learn(arm, valid=arm == 17))
            while (arm := seeker.ask()) is not None:
                seeker.tell(arm, float(means[arm]))
                made.append((arm, seeker.best(), seeker.found))
        return made, seeker.state()

    assert decisions(restore=False) == decisions(restore=True)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"phase": "asleep"}, "phase cannot be 'asleep'"),
        ({"champion": 1}, "of arrival 1, is not stored"),
        ({"champion": 3}, "of arrival 3, is not stored or not past its window"),
        ({"peak_memory": 9}, "peak_memory cannot be 9"),
        ({"rivals": -1}, "rivals cannot be -1.0"),
        ({"arms": [{"arm": "z"}]}, r"fields missing \['arrival', 'counted', 'in_flight', 'pulls', 'slot', 'total'\]"),
        ({"agent": "Player"}, "must be that of an agent 'Seeker'"),
    ],
)
def test_a_damaged_state_is_refused(change, message):
    seeker = Seeker(window=2, memory=2)
    for arm in "abcd":
        seeker.arrive(arm)
    with pytest.raises(ValueError, match=message):
        Seeker.from_state(seeker.state() | change)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"flag": "loud"}, "flag must be one of 'explicit', 'implicit', not 'loud'"),
        ({"strategy": "hope"}, "strategy must be one of 'wait', 'rank', 'race', not 'hope'"),
        ({"flag": "implicit", "strategy": "race"}, "strategy must be one of 'stay', 'hope', 'weigh', not 'race'"),
        ({"valid": 3}, "valid must be a function"),
        ({"flag": "implicit", "valid": bool}, "only with flag='explicit'"),
        ({"budget": 0}, "budget must be"),
        ({"tests": 0}, "tests must be"),
        ({"pull": "thompson"}, "pull must be one of"),
        ({"memory": 0}, "memory must be"),
    ],
)
def test_bad_settings_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        Seeker(**settings)


def test_a_flag_is_true_or_false():
    seeker = Seeker()
    seeker.arrive("a")
    before = seeker.state()
    with pytest.raises(ValueError, match="valid must be True or False, not 'yes'"):
        seeker.learn("a", valid="yes")
    assert seeker.state() == before


# Deadlines of flags


@pytest.mark.parametrize("strategy", EXPLICIT)
def test_an_arm_that_is_overdue_is_not_asked_for_before_its_flag_is_told(strategy):
    """Time goes on without a budget: the leader is pulled in the last step of its window, and then no more."""
    seeker = Seeker(window=2, memory=2, strategy=strategy, tests=3)
    for arm, mean in {"a": 0.2, "b": 0.9, "c": 0.8}.items():
        seeker.arrive(arm)
        for overdue in seeker.overdue:
            seeker.learn(overdue, valid=False)
        while (asked := seeker.ask()) is not None:
            seeker.tell(asked, mean)
    seeker.finish(time="goes on")
    for _ in range(2):
        seeker.ask()
        seeker.tick()
        assert seeker.ask() not in seeker.overdue
    assert seeker.overdue == ["c"]
    assert seeker.ask() is None
    seeker.learn("c", valid=True)
    assert seeker.found == seeker.ask() == "c", "to have asked too early has lost nothing"


@pytest.mark.parametrize("end", [False, True])
def test_a_restored_seeker_asks_for_the_flags_that_were_missing(end):
    seeker = Seeker(window=2, memory=2)
    for arm in "abc":
        seeker.arrive(arm)
    restored = Seeker.from_state(seeker.state(), valid=lambda arm: arm == "a")
    assert restored.overdue == ["a"]
    gone = restored.finish() if end else restored.arrive("d")
    assert (restored.found, gone) == ("a", ["b", "c"])


@pytest.mark.parametrize("time", ["goes on", "stops"])
@pytest.mark.parametrize("strategy", [*EXPLICIT, *IMPLICIT])
def test_to_finish_twice_is_to_finish_once(strategy, time):
    flag = "explicit" if strategy in EXPLICIT else "implicit"
    seeker = Seeker(window=2, memory=3, flag=flag, strategy=strategy, tests=4)
    for number, mean in enumerate((0.2, 0.9, 0.5)):
        seeker.arrive(number)
        while (asked := seeker.ask()) is not None:
            seeker.tell(asked, mean)
    seeker.finish(time)
    before = seeker.state()
    assert seeker.finish(time) == []
    assert seeker.state() == before


def test_names_may_be_tuples_and_come_again_once_they_are_forgotten():
    seeker = Seeker(window=1, memory=1)
    seeker.arrive(("a", (1, 2)))
    seeker = Seeker.from_state(json.loads(json.dumps(seeker.state())))
    assert seeker.best() == ("a", (1, 2))
    with pytest.raises(ValueError, match="arm must be new"):
        seeker.arrive(("a", (1, 2)))
    seeker.arrive("b")
    assert seeker.learn(("a", (1, 2)), valid=False) == [("a", (1, 2))]
    assert seeker.arrive(("a", (1, 2))) == []
    assert seeker.arrivals == 3
    for unknown in ("z", None, ["b"]):
        with pytest.raises(UnknownArm):
            seeker.learn(unknown, valid=True)


def test_stay_forgets_expired_arms_as_an_explicit_flag_does():
    check_agent(lambda seed: Seeker(window=5, memory=8, flag="implicit", strategy="stay", tests=4, seed=seed))
