"""What all adapters share: memory, expired arms, new arms, budgets, and what is refused."""

import pytest

from bestbefore import UnknownArm, peers, simulate, streams
from bestbefore.testing import check_agent


class Recorder:
    """Chooses the oldest of the arms that it is handed, and writes down all that it hears."""

    def __init__(self):
        self.heard, self.arms = [], []

    def add_arm(self, arm):
        self.arms.append(arm)

    def remove_arm(self, arm):
        self.arms.remove(arm)

    def select(self, arms):
        assert arms == self.arms
        return arms[0]

    def update(self, arm, reward):
        self.heard.append((arm, reward))


class Stubborn:
    """Is handed no arms, cannot forget any, and names the first that was any good for ever."""

    def __init__(self):
        self.total = {}

    def add_arm(self, arm):
        self.total[arm] = 0.0

    def select(self):
        return max(self.total, key=self.total.get)

    def update(self, arm, reward):
        self.total[arm] += reward


class Forgetful:
    """Round and round, with a memory that can be pickled."""

    def __init__(self):
        self.turn = 0

    def select(self, arms):
        self.turn += 1
        return arms[self.turn % len(arms)]

    def update(self, arm, reward):
        pass


def test_arms_are_added_when_they_arrive_and_removed_when_they_expire():
    agent = peers.select(Recorder)(window=2)
    assert [agent.arrive(arm) for arm in "abc"] == [[], [], ["a"]]
    assert agent.peer.arms == agent.stored == ["b", "c"]
    assert (agent.held, agent.peak_memory, agent.removes) == (2, 2, True)


def test_with_fewer_slots_than_the_window_the_newest_arms_are_stored():
    agent = peers.select(Recorder)(window=5, memory=2)
    for arm in "abcd":
        agent.arrive(arm)
    assert agent.stored == agent.peer.arms == ["c", "d"]


def test_a_peer_that_cannot_forget_holds_all_arms_that_ever_came():
    agent = peers.select(Stubborn)(window=2)
    for arm in "abcde":
        agent.arrive(arm)
    assert (agent.stored, agent.held, list(agent.peer.total)) == (["d", "e"], 5, list("abcde"))


def test_a_peer_that_names_an_expired_arm_hears_of_nothing_and_a_valid_arm_is_pulled_instead():
    agent = peers.select(Stubborn)(window=2, seed=0)
    for arm in "abc":
        agent.arrive(arm)
        pulled = agent.ask()
        assert pulled in agent.stored
        agent.tell(pulled, 1.0 if pulled == "a" else 0.1)
    assert agent.wasted == 1
    assert agent.peer.total["a"] == 1.0 + 1.0 + 0.0


def test_new_arms_are_pulled_first_as_often_as_told():
    agent = peers.select(Recorder, first=2)(window=3)
    agent.arrive("a")
    agent.arrive("b")
    assert [agent.ask() for _ in range(6)] == ["b", "b", "a", "a", "a", "a"]


def test_budgets_are_kept():
    agent = peers.select(Recorder)(window=3, budget=2)
    assert agent.ask() is None
    agent.arrive("a")
    assert [agent.ask() for _ in range(3)] == ["a", "a", None]
    agent.arrive("b", budget=1)
    assert [agent.ask() for _ in range(2)] == ["a", None]


def test_of_a_total_the_peer_hears_the_mean_so_many_times():
    agent = peers.select(Recorder)(window=3)
    agent.arrive("a")
    agent.tell("a", 1.5, pulls=3)
    assert agent.peer.heard == [("a", 0.5)] * 3
    assert agent.pulls == 3


def test_the_answer_is_the_arm_of_the_highest_mean_and_of_equals_the_newest():
    agent = peers.select(Recorder)(window=3)
    for arm, reward in zip("abc", (0.5, 0.7, 0.7), strict=True):
        agent.arrive(arm)
        agent.tell(arm, reward)
    agent.arrive("d")  # never pulled
    assert (agent.best(), agent.best(2), agent.best(9)) == ("c", ["c", "b"], ["c", "b", "d"])


def test_an_agent_whose_peer_forgets_keeps_the_whole_contract():
    check_agent(lambda seed: peers.select(Forgetful)(window=5, seed=seed), arrivals=20)
    check_agent(lambda seed: peers.select(Forgetful)(window="10 s", memory=12, seed=seed), arrivals=20)


def test_a_peer_that_cannot_forget_breaks_the_contract_by_what_its_state_names():
    with pytest.raises(AssertionError, match="the state still names"):
        check_agent(lambda seed: peers.select(Stubborn)(window=5, seed=seed), arrivals=20)


def test_simulations_drive_peers_with_the_memory_that_they_have():
    own = {"all": peers.select(Recorder), "ours": "staircase"}
    table = simulate.play(streams.uniform(30), window=5, budgets=10, memory=5, keep=own, runs=2)
    assert table["peak_memory"].tolist()[:2] == [5, 5]
    assert table["pulls"].tolist() == [300] * 4


def test_what_cannot_be_is_refused_and_changes_nothing():
    agent = peers.select(Recorder)(window=2)
    agent.arrive("a")
    with pytest.raises(ValueError, match="arm must be new"):
        agent.arrive("a")
    with pytest.raises(UnknownArm, match="'z' is not in memory"):
        agent.tell("z", 1.0)
    with pytest.raises(ValueError, match="budget must be"):
        agent.arrive("b", budget=-1)
    assert (agent.stored, agent.peer.arms, agent.peer.heard) == (["a"], ["a"], [])


@pytest.mark.parametrize(
    ("made", "what"),
    [
        (lambda: peers.select(Recorder())(window=2), "policy must be a function that makes"),
        (lambda: peers.select(dict)(window=2), "a policy must have select, update, but dict lacks select"),
        (lambda: peers.select(Recorder)(window="24h"), "memory must be given if the window is a time"),
        (lambda: peers.select(Recorder, first=-1)(window=2), "first must be a whole number of at least 0"),
        (lambda: peers.SelectAgent.from_state({"version": 9}), "state must have version 1, not 9"),
    ],
)
def test_errors_say_what_is_allowed(made, what):
    with pytest.raises(ValueError, match=what):
        made()
