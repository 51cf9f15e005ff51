"""Agents whose windows are times: what holds for counts holds for times."""

import gc
import json
import weakref
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestbefore import ExpiredArm, Explorer, Player, Seeker, UnknownArm
from bestbefore import clock as clocks
from bestbefore.testing import check_agent

EXPLORERS = {
    "certify": {"epsilon": 0.3},
    "certify anytime": {"epsilon": 0.3, "guarantee": "anytime"},
    "certify most": {"epsilon": 0.3, "most": 20},
    "budget": {"memory": 5, "budget": 30},
    "staircase": {"memory": 4, "tests": 8},
    "pending": {"memory": 6, "tests": 8, "pending": 3, "patience": "20 min"},
    "bucket": {"memory": 4, "tests": 8, "keep": "bucket"},
    "fifo": {"memory": 4, "tests": 8, "keep": "fifo"},
    "topk": {"memory": 4, "tests": 8, "keep": "topk"},
    "reservoir": {"memory": 4, "tests": 8, "keep": "reservoir"},
    "king": {"epsilon": 0.5, "keep": "king"},
    "euros": {"epsilon": 10, "scale": (-10, 40)},
}
AGENTS = {name: (Explorer, settings) for name, settings in EXPLORERS.items()} | {
    "moss": (Player, {"memory": 4}),
    "inf": (Player, {"memory": 4, "pull": "inf"}),
    "commit": (Player, {"memory": 4, "pull": "commit", "epsilon": 0.5, "most": 20}),
    "race": (Seeker, {"memory": 4}),
    "wait": (Seeker, {"memory": 4, "strategy": "wait"}),
}


@pytest.mark.parametrize("name", AGENTS)
def test_agents_by_time_conform(name):
    kind, settings = AGENTS[name]
    check_agent(lambda seed: kind(window="1h", seed=seed, **settings), arrivals=20)


def test_a_seeker_that_keeps_what_has_expired_conforms():
    check_agent(lambda seed: Seeker(window="1h", memory=4, flag="implicit", seed=seed), arrivals=20, keeps_expired=True)


def pulled(agent, arm, means, **at):
    """Let an arm arrive, and pull what is asked for."""
    gone = agent.arrive(arm, **at)
    asked = []
    while len(asked) < 40 and (one := agent.ask()) is not None:
        asked.append(one)
        agent.tell(one, means[one])
    return gone, asked, agent.best(), agent.stored


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        (Explorer, {"epsilon": 0.3, "guarantee": "strong", "arms": 30}),
        (Explorer, {"memory": 4, "tests": 6}),
        (Explorer, {"memory": 4, "tests": 6, "keep": "bucket"}),
        (Explorer, {"memory": 4, "tests": 6, "keep": "topk"}),
        (Explorer, {"memory": 4, "tests": 6, "keep": "reservoir"}),
        (Player, {"memory": 4}),
    ],
)
def test_arms_that_come_every_second_are_as_by_count(kind, settings):
    """A window of 7 s holds 7 arms that come a second apart: every decision is the same."""
    most = {"most": 7} if kind is Explorer else {}
    counted, timed = kind(window=7, seed=1, **settings), kind(window="7 s", seed=1, **settings, **most)
    means = {number: number * 0.37 % 1 for number in range(30)}
    for number in means:
        assert pulled(counted, number, means) == pulled(timed, number, means, at=float(number + 1))


def test_a_player_for_full_windows_begins_when_the_first_arm_expires():
    player = Player(window="10 s", memory=4, partial=False)
    asked = []
    for at in (3, 8, 12.9, 13, 14):
        player.arrive(at, budget=1, at=at)
        asked.append(player.ask() is not None)
    assert asked == [False, False, False, True, True]


def test_time_goes_on_where_nothing_arrives():
    explorer = Explorer(window=timedelta(hours=24), epsilon=0.2)
    noon = datetime(2026, 11, 18, 12, tzinfo=UTC)
    explorer.arrive("monday", at=noon)
    explorer.arrive("tuesday", at=noon + timedelta(hours=23))
    assert explorer.advance(noon + timedelta(hours=23, minutes=59)) == []
    assert explorer.advance(noon + timedelta(hours=24)) == ["monday"]
    assert explorer.best() == "tuesday"
    assert explorer.advance(noon + timedelta(hours=47)) == ["tuesday"]
    assert explorer.best() is None
    assert explorer.ask() is None


@pytest.mark.parametrize("settings", [{"epsilon": 0.2}, {"memory": 3, "tests": 5}])
def test_every_verb_that_is_told_a_time_lets_arms_expire_first(settings):
    for call in ("ask", "best"):
        explorer = Explorer(window="10 s", **settings)
        explorer.arrive("old", at=0)
        explorer.tell("old", 5, pulls=5)
        assert explorer.best() == "old"
        getattr(explorer, call)(at=10)
        assert not explorer.holds("old")
        assert explorer.advance() == ["old"], "the caller can forget it too"
    explorer = Explorer(window="10 s", **settings)
    explorer.arrive("old", at=0)
    explorer.tell("old", 5, pulls=5)
    explorer.arrive("new", at=8)
    explorer.tell("new", 0.1, at=12)
    assert explorer.advance() == ["old"]


def test_a_reward_that_comes_too_late_changes_nothing_not_even_the_time():
    explorer = Explorer(window="10 s", epsilon=0.2)
    explorer.arrive("old", at=0)
    before = explorer.state()
    with pytest.raises(ExpiredArm, match="arm 'old' of arrival 1 has expired: arms are valid for 10s"):
        explorer.tell("old", 1.0, at=10)
    for wrong in ({"at": 10, "reward": 2.0}, {"at": -1, "reward": 1.0}, {"at": 3, "reward": 1.0, "pulls": 0}):
        with pytest.raises(ValueError, match=r"reward|at|pulls"):
            explorer.tell("old", **wrong)
    assert explorer.state() == before


def test_an_agent_on_the_wall_clock_lets_arms_expire_by_it(monkeypatch):
    """Nobody tells a time: `best` never names an arm that has expired by now."""
    now = 10**15
    monkeypatch.setattr(clocks, "on_the_wall", lambda: now)
    explorer = Explorer(window="1h", epsilon=0.2)
    explorer.arrive("a")
    assert explorer.best() == "a"
    now += 3600 * 10**6
    restored = Explorer.from_state(json.loads(json.dumps(explorer.state())))
    assert explorer.best() is None
    assert restored.advance() == ["a"]


def test_an_agent_that_is_told_times_does_not_look_at_the_wall():
    explorer = Explorer(window="1h", epsilon=0.2)
    explorer.arrive("a", at=5.0)
    assert explorer.best() == "a"
    assert explorer.advance() == []


def test_fixed_tests_need_to_know_how_many_arms_there_may_be():
    with pytest.raises(ValueError, match="most must be given with a window by time and fixed tests, not None"):
        Explorer(window="1h", epsilon=0.3, probe="fixed")
    with pytest.raises(ValueError, match="most must be left out with a window by count, not 5: it is the window"):
        Explorer(window=5, most=5)
    with pytest.raises(ValueError, match="most must be given with a window by time and pull='commit'"):
        Player(window="1h", pull="commit")
    with pytest.raises(ValueError, match="memory must be given with a window by time"):
        Seeker(window="1h")
    with pytest.raises(ValueError, match="memory or most must be given with a window by time and keep='fifo'"):
        Explorer(window="1h", keep="fifo")


@pytest.mark.parametrize("probe", ["fixed", "certify"])
def test_while_more_arms_are_valid_than_said_nothing_is_promised(probe):
    explorer = Explorer(window="10 s", epsilon=0.5, delta=0.5, most=2, probe=probe)
    promises = []
    for number in range(6):
        at = [0, 1, 2, 10.5, 12.5, 30][number]
        explorer.arrive(number, at=at)
        while (asked := explorer.ask()) is not None:
            explorer.tell(asked, 0.5)
        promises.append(explorer.promise)
    assert promises == [0.5, 0.5, None, None, 0.5, 0.5]
    assert explorer.most == 2


@given(st.lists(st.sampled_from([0.0, 0.1, 1.0, 4.0]), min_size=1, max_size=25), st.integers(0, 2**16))
def test_certificates_share_delta_by_the_arms_that_are_valid(gaps, seed):
    """The lower bounds of all arms valid at one time may fail with probability delta / 5 together, bursts or not."""
    from bestbefore.bounds import certificate_failures

    explorer, at = Explorer(window="10 s", epsilon=0.5, delta=0.1, seed=seed), 0.0
    for number, gap in enumerate(gaps):
        at += gap
        explorer.arrive(number, at=at)
    shares = [certificate_failures(None, 0.1, arrival=count)[0] for count in explorer._counted.values()]
    assert sum(shares) < 0.1 / 5


class Named:
    """An arm that can be seen to be forgotten."""


@pytest.mark.parametrize("name", AGENTS)
def test_an_arm_that_has_expired_is_nowhere(name):
    """Neither the state, nor any object, nor a later error knows it."""
    kind, settings = AGENTS[name]
    agent = kind(window="10 s", seed=0, **settings)
    arm, text = Named(), "the-secret-arm"
    gone = weakref.ref(arm)
    agent.arrive(arm, at=1.0)
    agent.arrive(text, at=1.5)
    agent.arrive("third", at=2.0)
    for _ in range(10):
        if (asked := agent.ask()) is not None:
            agent.tell(asked, 1.0)
        del asked
    assert set(agent.advance(30.0)) <= {arm, text, "third"}
    if kind is Seeker:
        for one in agent.overdue:
            agent.learn(one, valid=False)
        del one
        agent.advance()
    del arm
    gc.collect()
    assert gone() is None
    assert text not in json.dumps(agent.state())
    with pytest.raises(UnknownArm) as wrong:
        agent.tell("another", 1.0)
    assert text not in str(wrong.value)


def test_what_a_crowd_pushed_out_is_covered_afterwards():
    """Six arms come at once where three were announced: as many slots as arms are not enough then.

    Arms that were dropped in the crowd are still valid when it is over.  What is promised then must be true.
    """
    explorer = Explorer(window="10 s", epsilon=0.1, delta=0.05, most=3, probe="fixed")
    means = {number: 0.9 - 0.05 * number for number in range(6)} | {6: 0.0}
    for number in means:
        explorer.arrive(number, at=[0, 0.1, 0.2, 0.3, 0.4, 0.5, 10.25][number])
        while (asked := explorer.ask()) is not None:
            wanted = explorer.wanted(asked)
            explorer.tell(asked, means[asked] * wanted, pulls=wanted)
    assert explorer.promise is None, "four arms are valid"
    explorer.advance(10.3)
    assert explorer.promise == 0.1
    valid = [means[number] for number in (4, 5, 6)]
    assert max(valid) - means[explorer.best()] <= 0.1


# An arm may go for other reasons than its age when time goes on: the verb that came for it then changes nothing.


def dropped_on_the_way():
    """An explorer, a verb with its arguments, and the time by which the arm it is about is let go."""
    patient = Explorer(window="100 s", memory=4, tests=10, pending=3, patience="5 s")
    patient.arrive("a", at=0)
    patient.tell("a", 10, pulls=10)
    patient.arrive("b", at=1)
    patient.ask()
    yield patient, "b", 20
    certified = Explorer(window="10 s", epsilon=0.1)
    for number, arm in enumerate("abcd"):
        certified.arrive(arm, at=number)
    certified.ask()
    for arm, total in (("b", 100), ("c", 500), ("d", 900)):
        certified.tell(arm, total, pulls=1000)
    yield certified, "b", 10.5
    stay = Seeker(window="10 s", memory=3, flag="implicit", strategy="stay")
    stay.arrive("a", at=0)
    stay.arrive("b", at=5)
    yield stay, "a", 12
    flagged = Seeker(window="10 s", memory=3, valid=lambda arm: False)
    flagged.arrive("a", at=0)
    flagged.arrive("b", at=5)
    yield flagged, "a", 12


@pytest.mark.parametrize("verb", ["tell", "withdraw", "give_up"])
def test_a_verb_for_an_arm_that_goes_on_the_way_changes_nothing(verb):
    for agent, arm, at in dropped_on_the_way():
        assert agent.holds(arm)
        before = agent.state()
        with pytest.raises((UnknownArm, ValueError)):
            getattr(agent, verb)(arm, *([1.0] if verb == "tell" else []), at=at)
        assert agent.state() == before
        agent.advance(at)
        assert not agent.holds(arm)
        agent.best()


def test_rewards_are_not_credited_to_another_arm():
    """The reward lets time go on, an older arm expires, and with that the arm itself is not needed any more."""
    explorer = Explorer(window="10s", epsilon=0.1)
    explorer.arrive("n7", at=55)
    explorer.arrive("n8", at=56)
    explorer.tell("n7", 110, 400, at=59)
    explorer.arrive("n9", at=59.5)
    explorer.tell("n8", 353.4, 400, at=62.5)
    explorer.tell("n9", 2.9, 50, at=62.5)
    explorer.arrive("n10", at=63.5)
    explorer.tell("n10", 155.4, 400, at=63.5)
    with pytest.raises(UnknownArm, match="arm 'n9' is let go by the time of this call"):
        explorer.tell("n9", 23.1, 400, at=66.5)
    assert explorer.means()["n10"] == pytest.approx(155.4 / 400)


def test_the_wall_clock_is_read_once_in_a_verb(monkeypatch):
    """An arm that expires between two looks at the clock would be neither here nor gone."""
    now = 10**15

    def ticking():
        nonlocal now
        now += 1
        return now

    monkeypatch.setattr(clocks, "on_the_wall", ticking)
    for kind, settings in ((Player, {"memory": 3}), (Explorer, {"epsilon": 0.2})):
        for early in range(1, 6):
            agent = kind(window="1 s", **settings)
            agent.arrive("a")
            now += 10**6 - early
            try:
                agent.tell("a", 1.0)
            except UnknownArm:
                agent.advance()
            assert kind.from_state(agent.state()).stored == agent.stored


def test_an_arm_under_test_that_has_outlived_its_window_gets_a_slot():
    seeker = Seeker(window="10s", memory=2, strategy="rank", tests=3)
    seeker.arrive("a", at=0)
    seeker.advance(11)
    seeker.learn("a", True)
    assert Seeker.from_state(seeker.state()).found == "a"
    assert seeker.arrive("b", at=12) == []
    assert (seeker.found, seeker.ask()) == ("a", "a")


@pytest.mark.parametrize("window", ["9" * 400 + "h", b"1h"])
def test_odd_windows_are_named(window):
    with pytest.raises(ValueError, match="window must be"):
        Explorer(window=window)
