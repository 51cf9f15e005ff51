"""Rewards that come late or never: new arms are neither flooded nor starved, in all pull rules."""

from collections import Counter

import numpy as np
import pytest

from bestbefore import Player, rules

RATES = np.linspace(0.02, 0.05, 15)
PULLS = sorted(rules.PULL)
JUDGING = ["bucket", "staircase", "topk"]  # keep rules that let arms go for what is known of them


def known_arms(player, pulls=3000, rates=RATES):
    """Let arms arrive that are well known: so many pulls of each are told before the next one comes."""
    for number, rate in enumerate(rates):
        player.arrive(f"known {number}")
        player.tell(f"known {number}", round(rate * pulls), pulls=pulls)


def asks(player, times):
    return Counter(player.ask() for _ in range(times))


# An arm whose rewards are under way gets its share, and no more


def mean_index(pulls, total, horizon):
    """A user's own index: the mean, with a bonus that is much too large."""
    return total / pulls + 10 / pulls**0.5


@pytest.mark.parametrize("pull", [*PULLS, mean_index])
def test_a_new_arm_does_not_take_all_traffic_until_its_first_reward_returns(pull):
    """16 arms share some 3,000 pulls an arrival."""
    player = Player(window=200, memory=20, pull=pull, seed=1)
    known_arms(player)
    player.arrive("new")
    shown = asks(player, 2000)
    assert 0 < shown["new"] <= 3000 / 16


@pytest.mark.parametrize("pull", [*PULLS, mean_index])
def test_one_reward_is_not_extrapolated_to_everything_under_way(pull):
    player = Player(window=200, memory=20, pull=pull, seed=1)
    player.arrive("new")
    assert asks(player, 150) == {"new": 150}, "there is no other arm"
    known_arms(player)
    player.tell("new", 1)
    assert asks(player, 2000)["new"] <= 3000 / 16


@pytest.mark.parametrize("keep", JUDGING)
@pytest.mark.parametrize("pull", PULLS)
def test_arms_whose_pulls_are_under_way_are_not_let_go_as_if_they_were_never_pulled(keep, pull):
    """Four of six slots are under test: they stay, and it is an arm that is known, or the newest, that goes."""
    player = Player(window=200, memory=6, keep=keep, pull=pull, seed=1)
    known_arms(player, rates=RATES[:6])
    for arm in ("w", "x", "y", "z"):
        player.arrive(arm)
        asks(player, 500)
    assert player.arrive("last") == ["last"]
    assert {"w", "x", "y", "z"} < set(player.stored)
    for arm in ("w", "x", "y", "z"):
        player.tell(arm, 0)  # where one is known, nothing is wasted


def test_an_arm_whose_rewards_are_lost_is_tried_again():
    """The delay is an arrival; a newcomer's first batch is lost, and two delays later it is shown again."""
    player = Player(window=200, memory=20, pull="ucb")
    waiting = []
    for number in range(10):
        player.arrive(number)
        for arm in waiting:
            player.tell(arm, number % 2)
        waiting = [player.ask() for _ in range(100)]
    player.arrive("unlucky")
    first = asks(player, 300)["unlucky"]
    later = 0
    for number in range(20, 26):
        player.arrive(number)
        later += asks(player, 300)["unlucky"]
    assert first > 0
    assert later > 0


def test_an_arm_that_is_surely_better_is_not_held_back():
    """Ten rewards of 1, where all others have 0.05: the arm may have all traffic at once."""
    player = Player(window=200, memory=20)
    known_arms(player, rates=[0.05] * 15)
    player.arrive("great")
    player.tell("great", 10, pulls=10)
    assert asks(player, 2000)["great"] > 1900


def test_a_good_arm_gets_the_traffic_when_its_late_rewards_are_there():
    """Rewards are 300 pulls late, a fifth is lost.  The good arm is shown more than half of the time, seed by seed."""
    for seed in range(3):
        rng, player, waiting, shown = np.random.default_rng(seed), Player(window=50, memory=10), [], Counter()
        for number in range(30):
            player.arrive(number, budget=100)
            for _ in range(100):
                arm = player.ask()
                shown[arm] += number >= 20
                waiting.append(arm)
                if len(waiting) > 300:
                    late = waiting.pop(0)
                    if player.holds(late) and rng.random() < 0.8:
                        player.tell(late, float(rng.random() < (0.9 if late == 5 else 0.3)))
        assert shown[5] > 500, "of the last 1,000"


# A page of several arms


@pytest.mark.parametrize("pull", PULLS)
def test_a_page_has_different_arms_while_rewards_are_under_way_and_none_is_flooded(pull):
    player = Player(window=200, memory=20, pull=pull, seed=1)
    known_arms(player)
    player.arrive("new")
    pages = [player.ask(3) for _ in range(700)]
    assert all(len(set(page)) == len(page) == 3 for page in pages)
    assert 0 < sum("new" in page for page in pages) <= 3000 / 16
