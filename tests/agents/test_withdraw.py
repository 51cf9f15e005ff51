"""Arms that are withdrawn: gone at once, without a trace; and what that does to the promise."""

import gc
import json
import weakref

import pytest

from bestbefore import Explorer, Player, Seeker, UnknownArm
from bestbefore.probe.certificates import CHARGE

AGENTS = {
    "certify": lambda: Explorer(window=6, epsilon=0.3),
    "certify few slots": lambda: Explorer(window=30, epsilon=0.5, memory=4, budget=50),
    "staircase": lambda: Explorer(window=6, memory=4, tests=8),
    "pending": lambda: Explorer(window=6, memory=6, tests=8, pending=3),
    "bucket": lambda: Explorer(window=6, memory=4, tests=8, keep="bucket"),
    "king": lambda: Explorer(window=6, epsilon=0.5, keep="king"),
    "moss": lambda: Player(window=6, memory=4),
    "inf": lambda: Player(window=6, memory=4, pull="inf", seed=1),
    "race": lambda: Seeker(window=6, memory=4),
}


class Named:
    """An arm that can be seen to be forgotten."""

    def __init__(self, number):
        self.number = number


@pytest.mark.parametrize("name", AGENTS)
@pytest.mark.parametrize("newest", [False, True])
def test_an_arm_that_is_withdrawn_is_nowhere(name, newest):
    agent = AGENTS[name]()
    alive = {}
    for number in range(9):
        arm = Named(number)
        alive[number] = weakref.ref(arm)
        agent.arrive(arm)
        del arm
        for _ in range(20):
            if (asked := agent.ask()) is not None:
                agent.tell(asked, asked.number * 0.37 % 1)
            del asked
    arm = alive[8]() if newest and alive[8]() is not None and agent.holds(alive[8]()) else agent.best()
    number = arm.number
    agent.withdraw(arm)
    assert not agent.holds(arm)
    assert arm not in agent.stored
    assert agent.best() is not arm
    with pytest.raises(UnknownArm):
        agent.tell(arm, 1.0)
    assert all(arm is not gone for gone in agent.advance()), "the caller has said it, and need not be told"
    del arm
    gc.collect()
    assert alive[number]() is None


def explored(explorer, means):
    """Let arms arrive, and tell what is asked for; arms of before have a mean of 0.1."""
    for arm in means:
        explorer.arrive(arm)
        while (asked := explorer.ask()) is not None:
            wanted = explorer.wanted(asked)
            explorer.tell(asked, means.get(asked, 0.1) * wanted, pulls=wanted)
    return explorer


def test_the_next_best_takes_over():
    explorer = explored(Explorer(window=4, epsilon=0.2), {"a": 0.9, "b": 0.6, "c": 0.2})
    explorer.withdraw("a")
    while (asked := explorer.ask()) is not None:
        explorer.tell(asked, {"b": 0.6, "c": 0.2}[asked])
    assert explorer.best() == "b"


def test_a_name_that_was_withdrawn_may_come_again():
    explorer = explored(Explorer(window=4, memory=4, tests=5), {"a": 0.9, "b": 0.6})
    explorer.withdraw("a")
    explorer.arrive("a")
    assert explorer.wanted("a") == 5


def test_what_was_dropped_in_favour_of_the_withdrawn_arm_is_missing_from_the_promise():
    """The older arm was dropped, since the newer was better; when that is withdrawn, nobody knows how good it was."""
    explorer = explored(Explorer(window=4, epsilon=0.5, probe="fixed"), {"old": 0.8, "new": 0.9, "poor": 0.1})
    assert explorer.promise == 0.5
    explorer.withdraw("new")
    assert explorer.promise is None
    explored(explorer, {"d": 0.1, "e": 0.1, "f": 0.1})
    assert explorer.promise == 0.5, "the arm that was dropped has expired by now"


def test_arms_that_were_dropped_at_no_cost_are_charged_when_their_better_is_withdrawn():
    """Their means are at most the lower bound of the arm that was withdrawn: the gap must not forget it."""
    explorer = explored(Explorer(window=3, epsilon=0.1), {"old": 0.5, "new": 0.95, "poor": 0.1})
    explorer.tell("new", 0.95 * 1000, pulls=1000)
    assert not explorer.holds("old"), "it was dropped at no cost"
    low, _ = explorer.bounds("new")
    explorer.withdraw("new")
    assert explorer._certifier.certificates.levels[:, CHARGE].max() == pytest.approx(low)
    assert explorer.gap >= 0.5 - 0.1
    explored(explorer, {"later": 0.1})
    assert explorer.gap <= 0.1, "the arm that was dropped has expired"


def test_an_arm_that_nobody_was_dropped_for_leaves_no_charge():
    explorer = explored(Explorer(window=3, epsilon=0.1), {"first": 0.9, "second": 0.3})
    explorer.withdraw("first")
    assert explorer._certifier.certificates.levels[:, CHARGE].max() == 0
    assert (explorer.best(), explorer.gap) == ("second", 0.0)


def test_a_challenger_takes_the_throne_of_a_king_that_is_withdrawn():
    explorer = Explorer(window=5, epsilon=0.5, keep="king")
    explorer.arrive("king")
    explorer.arrive("challenger")
    explorer.tell(explorer.ask(), 1.0)
    explorer.withdraw("king")
    assert explorer.best() == "challenger"
    assert explorer.ask() is None


def test_a_king_is_at_peace_when_the_challenger_is_withdrawn():
    explorer = Explorer(window=5, epsilon=0.5, keep="king")
    explorer.arrive("king")
    explorer.arrive("challenger")
    explorer.withdraw("challenger")
    assert (explorer.best(), explorer.ask()) == ("king", None)


def test_a_seeker_goes_on_without_its_champion():
    seeker = Seeker(window=2, memory=2, valid=lambda arm: arm == "gem")
    for arm in ("gem", "b", "c"):
        seeker.arrive(arm)
    assert seeker.found == "gem"
    seeker.withdraw("gem")
    assert (seeker.found, seeker.ask()) == (None, None)
    json.dumps(seeker.state())


def test_unknown_arms_are_named():
    explorer = Explorer(window=3, epsilon=0.2)
    with pytest.raises(UnknownArm, match="arm 'a' is not in memory"):
        explorer.withdraw("a")


def test_an_earlier_bearer_of_the_name_leaves_no_trace_either():
    """A part has let go of a "p", and nobody was told yet; another part's "p" is withdrawn: now the name is nowhere."""
    parts = [Explorer(window=9, memory=2, tests=1) for _ in range(2)]
    for number, (part, arm, reward) in enumerate(((0, "p", 0.1), (0, "better", 0.9), (1, "p", 0.5)), start=1):
        parts[part].arrive(arm, at=number)
        parts[part].tell(arm, reward)
    assert not parts[0].holds("p")
    both = Explorer.merged(parts)
    both.withdraw("p")
    assert '"p"' not in json.dumps(both.state())
