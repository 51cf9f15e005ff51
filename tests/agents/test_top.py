"""Several answers, and several arms for one page view."""

import json
from collections import Counter

import numpy as np
import pytest

from bestbefore import Explorer, Player, Seeker
from bestbefore.pull.page import chances_of, drawn
from bestbefore.testing import check_agent

MEANS = {"a": 0.9, "b": 0.3, "c": 0.6, "d": 0.6, "e": 0.1}


def explored(**settings):
    explorer = Explorer(window=5, memory=5, **settings)
    for arm, mean in MEANS.items():
        explorer.arrive(arm)
        while (asked := explorer.ask()) is not None:
            wanted = explorer.wanted(asked)
            explorer.tell(asked, mean * wanted, pulls=wanted)
    return explorer


def test_the_best_k_stand_in_order_and_of_equals_the_newest_first():
    explorer = explored(tests=10, top=3)
    assert explorer.best() == "a"
    assert explorer.best(3) == ["a", "d", "c"]
    assert explorer.best(1) == ["a"]
    assert explorer.best(9) == ["a", "d", "c", "b", "e"]


def test_with_fewer_ranks_some_of_them_are_gone():
    assert explored(tests=10).best(9) == ["a", "d", "e"]
    assert explored(tests=10, spare=1).best(9) == ["a", "d", "c", "e"]


def test_nobody_is_best_before_anybody_came():
    explorer = Explorer(window=5, memory=5, top=2)
    assert explorer.best() is None
    assert explorer.best(2) == []


@pytest.mark.parametrize("k", [0, -1, 1.5, True, "2"])
def test_k_is_a_whole_number(k):
    for agent in (explored(tests=10), explored(budget=9), Player(), Seeker()):
        with pytest.raises(ValueError, match="k must be a whole number of at least 1"):
            agent.best(k)
    with pytest.raises(ValueError, match="k must be a whole number of at least 1"):
        Player().ask(k)


def test_with_certificates_the_answer_comes_first_and_others_follow_by_their_lower_bounds():
    explorer = explored(budget=400)
    first, *others = explorer.best(5)
    assert first == explorer.best()
    assert len(others) == len(explorer.stored) - 1
    lower = [explorer.bounds(arm)[0] for arm in others]
    assert lower == sorted(lower, reverse=True)


def test_a_saved_explorer_keeps_its_ranks():
    explorer = explored(tests=10, top=2, spare=1)
    again = Explorer.from_state(json.loads(json.dumps(explorer.state())))
    assert (again.top, again.spare, again.plan) == (2, 1, explorer.plan)
    assert again.best(2) == explorer.best(2)


def test_a_seeker_names_the_arm_that_it_has_found_first():
    seeker = Seeker(window=2, memory=2, valid=lambda arm: arm == "x")
    for arm in ("x", "y", "z"):
        seeker.arrive(arm)
        seeker.tell(arm, 0.0 if arm == "x" else 1.0)
    assert seeker.found == seeker.best() == seeker.best(2)[0] == "x"


# A page view of several arms


@pytest.mark.parametrize("pull", ["ucb", "moss", "kl_ucb", "commit", "thompson", "inf"])
def test_a_page_has_different_arms_and_each_is_a_pull_of_the_budget(pull):
    player = Player(window=9, memory=4, pull=pull, seed=1)
    for arm in "abc":
        player.arrive(arm, budget=7)
    pages = [player.ask(3), player.ask(2), player.ask(5), player.ask(5)]
    assert [len(page) for page in pages] == [3, 2, 2, 0], "three arms are stored, and seven pulls may be made"
    assert all(len(set(page)) == len(page) for page in pages)
    assert player.left == 0
    assert player.ask() is None
    for arm in [arm for page in pages for arm in page]:
        player.tell(arm, 1.0)
    assert player.pulls == 7


def test_an_index_rule_names_the_highest_then_the_next():
    player = Player(window=9, memory=4, pull="ucb")
    for arm, mean in (("a", 0.2), ("b", 0.9), ("c", 0.6)):
        player.arrive(arm, budget=5000)
        player.tell(arm, 1000 * mean, pulls=1000)
    assert player.ask(2) == ["b", "c"]
    assert player.ask(3) == ["b", "c", "a"]
    assert player.best(2) == ["b", "c"]


def test_a_page_of_one_is_what_ask_would_name():
    for pull in ("moss", "thompson", "inf"):
        one, other = (Player(window=9, memory=4, pull=pull, seed=3) for _ in range(2))
        for arm in "abcd":
            assert one.arrive(arm, budget=20) == other.arrive(arm, budget=20)
        for _ in range(20):
            arm = one.ask()
            assert other.ask(1) == [arm]
            one.tell(arm, 0.5)
            other.tell(arm, 0.5)


def test_chances_are_in_proportion_to_odds_and_add_up_to_the_places():
    rng = np.random.default_rng(0)
    for places in (1, 2, 3, 5):
        odds = rng.dirichlet([0.3] * 5)
        chances = chances_of(odds, places)
        assert chances.sum() == pytest.approx(places)
        assert chances.max() <= 1
        free = chances < 1
        assert np.ptp(chances[free] / odds[free]) < 1e-9 if free.any() else places == 5


def test_every_arm_is_on_the_page_as_often_as_its_chance_says():
    """4,000 pages: a share has a deviation of .008 at most; .04 are five of these, three seeds in a million."""
    chances, rng = chances_of(np.array([0.5, 0.0, 0.3, 0.15, 0.05]), 2), np.random.default_rng(4)
    pages = [drawn(chances, rng.random()) for _ in range(4000)]
    assert all(len(set(page)) == 2 for page in pages)
    seen = Counter(place for page in pages for place in page)
    assert [seen[place] / 4000 for place in range(5)] == pytest.approx(chances.tolist(), abs=0.04)


def test_losses_of_a_page_are_right_on_average():
    """Each page begins a new epoch of "inf" with the same losses before it: what is added to them must be 1 - mean.

    Two of four arms are on a page, 3,000 times.  The chances are all 1/2, so an estimate of 1 has a deviation of 1 and
    their mean one of .018; .1 is more than five of these.
    """
    means, added = {"a": 0.0, "b": 0.25, "c": 0.5, "d": 1.0}, np.zeros(4)
    for seed in range(3000):
        player = Player(window=9, memory=4, pull="inf", seed=seed)
        for arm in means:
            player.arrive(arm, budget=2)
        for arm in player.ask(2):
            player.tell(arm, means[arm])
        added += player._losses
    assert (added / 3000).tolist() == pytest.approx([1.0, 0.75, 0.5, 0.0], abs=0.1)


# Arms that are withdrawn


@pytest.mark.parametrize(("spare", "next_best", "promised"), [(0, "d", False), (1, "b", True)])
def test_with_a_spare_rank_a_withdrawal_costs_nothing_and_the_promise_stands(spare, next_best, promised):
    """Arm "c" dominates "b"; without a spare rank "b" is gone when "c" is withdrawn."""
    explorer = Explorer(window=9, epsilon=0.3, probe="fixed", spare=spare)
    for arm, mean in {"a": 0.2, "b": 0.8, "c": 0.9, "d": 0.3}.items():
        explorer.arrive(arm)
        wanted = explorer.wanted(arm)
        explorer.tell(arm, mean * wanted, pulls=wanted)
    assert explorer.promise == 0.3
    explorer.withdraw(explorer.best())
    assert explorer.best() == next_best
    assert (explorer.promise is not None) == promised
    explorer.withdraw(explorer.best())
    assert explorer.promise is None, "one spare rank is for one arm"


@pytest.mark.parametrize("keep", ["staircase", "bucket"])
@pytest.mark.parametrize("top", [1, 2, 5])
def test_explorers_of_the_best_k_conform(top, keep):
    check_agent(
        lambda seed: Explorer(window=8, memory=10, tests=8, top=top, spare=1, keep=keep, seed=seed), arrivals=12
    )
    check_agent(lambda seed: Explorer(window="1h", memory=10, tests=8, top=top, keep=keep, seed=seed), arrivals=12)
