"""MABWiser: arms are added and removed, but an arm that was added late may never be pulled."""

import sys

import pytest
from mabwiser.mab import LearningPolicy

from bestbefore import peers, simulate
from bestbefore.testing import check_agent


@pytest.mark.parametrize(
    "policy", [peers.mabwiser("UCB1", alpha=1, first=1), peers.mabwiser(LearningPolicy.EpsilonGreedy(0.1))]
)
def test_it_keeps_the_whole_contract(policy):
    check_agent(lambda seed: policy(window=4, seed=seed), arrivals=7)


def test_thompson_sampling_refuses_rewards_other_than_0_and_1():
    with pytest.raises(AssertionError, match="requires binary rewards"):
        check_agent(lambda seed: peers.mabwiser("ThompsonSampling")(window=4, seed=seed), arrivals=7)


def test_where_expired_arms_are_not_removed_the_state_still_names_them():
    with pytest.raises(AssertionError, match="the state still names"):
        check_agent(lambda seed: peers.mabwiser("UCB1", alpha=1, remove=False)(window=4, seed=seed), arrivals=7)


def test_an_arm_that_was_added_late_is_never_pulled_unless_it_is_pulled_first():
    """Its expectation is 0 until it has a reward, and that of the others is above."""
    for first, expected in ((0, {1}), (1, {1, 2, 3, 4})):
        agent = peers.mabwiser("UCB1", alpha=1, first=first)(window=4, seed=0)
        pulled = set()
        for arm in (1, 2, 3, 4):
            agent.arrive(arm)
            for _ in range(10):
                pulled.add(asked := agent.ask())
                agent.tell(asked, 0.5)
        assert pulled == expected


def test_expired_arms_are_named_and_wasted_unless_removed():
    """Means fall, so the oldest arm is the best that the policy knows: it goes on naming it."""
    made = []

    def watched(remove):
        def make(window, memory, seed):
            made.append(peers.mabwiser("UCB1", alpha=0.1, first=1, remove=remove)(window, memory, seed=seed))
            return made[-1]

        return make

    falling = [0.9, 0.9, 0.3, 0.2, 0.2, 0.1, 0.1, 0.1]
    own = {"removed": watched(True), "kept": watched(False)}
    simulate.play(falling, window=2, budgets=20, memory=2, keep=own, runs=1, jobs=1)
    removed, kept = made
    assert (removed.wasted, removed.held, removed.peer.arms) == (0, 2, [7, 8])
    assert kept.wasted > 20
    assert kept.held == len(kept.peer.arms) == 8


def test_what_cannot_be_is_refused():
    with pytest.raises(ValueError, match=r"policy must be one of MABWiser's, .*UCB1.*, not 'UCB'"):
        peers.mabwiser("UCB")
    with pytest.raises(ValueError, match="settings must be those of a policy named by a string"):
        peers.mabwiser(LearningPolicy.UCB1(1), alpha=2)
    with pytest.raises(ValueError, match="policy must be one without contexts"):
        peers.mabwiser("LinUCB", alpha=1)(window=3)


def test_without_mabwiser_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "mabwiser.mab", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'bestbefore\[mabwiser\]'"):
        peers.mabwiser("UCB1")
