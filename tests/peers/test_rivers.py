"""river: arms come and go, but what was learned of them stays."""

import sys
from functools import partial

import pytest
from river import bandit, proba

from bestbefore import peers, simulate, streams
from bestbefore.testing import check_agent


@pytest.mark.parametrize(
    "policy",
    [
        peers.river("UCB", delta=0.4),
        peers.river("EpsilonGreedy", epsilon=0.1, first=1),
        peers.river("ThompsonSampling", reward_obj=proba.Beta()),
        peers.river(partial(bandit.Exp3, gamma=0.2)),
    ],
)
def test_policies_play_and_lose_less_than_chance(policy):
    """Uniform arms: a random one of 10 loses .41 a pull on average; all of these are far from that in 600 pulls."""
    table = simulate.play(streams.uniform(30), 10, 20, memory=10, keep={"river": policy}, runs=1)
    assert table["regret"][0] / 600 < 0.35
    assert table["peak_memory"][0] == 10


def test_an_expired_arm_is_never_pulled_again_but_never_forgotten():
    agent = peers.river("UCB", delta=1)(window=3, seed=0)
    for arm in range(20):
        agent.arrive(arm)
        for _ in range(5):
            pulled = agent.ask()
            assert pulled in agent.stored
            agent.tell(pulled, 1.0)
    assert (agent.wasted, len(agent.stored)) == (0, 3)
    assert sorted(agent.peer.ranking) == list(range(20))
    assert agent.held == 20


def test_it_breaks_the_contract_since_expired_arms_are_still_named():
    """There is no verb to remove an arm: all else is checked before that, and holds."""
    with pytest.raises(AssertionError, match=r"the state still names .'arm-00001'"):
        check_agent(lambda seed: peers.river("UCB", delta=1)(window=5, seed=seed), arrivals=12)


def test_a_new_arm_is_flooded_while_its_first_reward_is_late():
    """An index of infinity stays so until a reward is told; a `Player` shares the traffic meanwhile."""
    agent = peers.river("UCB", delta=1)(window=3, seed=0)
    for arm in "abc":
        agent.arrive(arm)
        agent.tell(arm, 1.0)
    agent.arrive("d")
    assert {agent.ask() for _ in range(50)} == {"d"}


def test_names_that_river_does_not_have_are_refused():
    with pytest.raises(ValueError, match=r"policy must be one of river's, .*UCB.*, not 'MOSS'"):
        peers.river("MOSS")


def test_without_river_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "river", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'bestbefore\[river\]'"):
        peers.river("UCB", delta=1)
