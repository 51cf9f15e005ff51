"""Rewards that come late or never: new arms are neither flooded nor starved, and traffic is learnt if none is told."""

import json
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
    """Three of six slots are under test: they stay, and it is an arm that is known, or the newest, that goes."""
    player = Player(window=200, memory=6, keep=keep, pull=pull, seed=1)
    known_arms(player, rates=RATES[:6])
    for arm in ("x", "y", "z"):
        player.arrive(arm)
        asks(player, 500)
    assert player.arrive("last") == ["last"]
    assert {"x", "y", "z"} < set(player.stored)
    for arm in ("x", "y", "z"):
        player.tell(arm, 0)  # where one is known, nothing is wasted


@pytest.mark.parametrize("keep", JUDGING)
def test_arms_of_equal_means_do_not_push_out_what_is_under_test(keep):
    player = Player(window=200, memory=6, keep=keep)
    known_arms(player, rates=[0.05] * 6)
    for arm in ("x", "y"):
        player.arrive(arm)
        asks(player, 50)
    player.arrive("z")
    assert {"x", "y", "z"} < set(player.stored)


def test_an_arm_is_under_test_no_longer_than_rewards_usually_take():
    """Rewards come within an arrival; three arms that stay silent must make room in the end."""
    player = Player(window=200, memory=6, pull="ucb")
    for number in range(8):
        player.arrive(f"quick {number}")
        for arm, times in asks(player, 50).items():
            player.tell(arm, 0, pulls=times)
    gone = []
    for number in range(8):
        gone += player.arrive(f"silent {number}")
        asks(player, 50)
    assert any("silent" in arm for arm in gone)
    assert "silent 7" in player.stored


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


def test_where_all_have_enough_under_way_the_one_least_above_its_limit_is_pulled():
    player = Player(window=9, memory=3, pull="commit", epsilon=0.1)
    for arm in "abc":
        player.arrive(arm, budget=6)
    assert asks(player, 6) == {"a": 2, "b": 2, "c": 2}
    player = Player(window=9, memory=3, pull="commit", epsilon=0.1)
    for arm in "abc":
        player.arrive(arm)
    shown = asks(player, 300)
    assert max(shown.values()) - min(shown.values()) <= 1


def test_odds_are_those_among_the_arms_that_may_be_pulled():
    """Arm b has no reward yet, and all that it may have under way: arm a is pulled for sure."""
    player = Player(window=9, memory=2, keep="fifo", pull="inf", seed=1)
    player.arrive("a", budget=0)
    player.tell("a", 500, pulls=1000)
    player.arrive("b", budget=40)
    while asks(player, 1)["a"] or player.state()["arms"][1]["in_flight"] < 4:
        pass
    asked = asks(player, 5)
    assert asked == {"a": 5}
    assert player._odds[1][-5:] == [1.0] * 5


# A page of several arms


@pytest.mark.parametrize("pull", PULLS)
def test_a_page_has_different_arms_while_rewards_are_under_way_and_none_is_flooded(pull):
    player = Player(window=200, memory=20, pull=pull, seed=1)
    known_arms(player)
    player.arrive("new")
    pages = [player.ask(3) for _ in range(700)]
    assert all(len(set(page)) == len(page) == 3 for page in pages)
    assert 0 < sum("new" in page for page in pages) <= 3000 / 16


def test_a_page_is_full_where_too_few_arms_are_below_their_limit():
    player = Player(window=9, memory=3)
    for arm in "abc":
        player.arrive(arm)
    assert [len(player.ask(3)) for _ in range(50)] == [3] * 50


# Traffic that is learnt


def played(player, number, budget=None, times=50):
    """Let an arm arrive, and pull so many times; return the arms pulled."""
    player.arrive(number, budget=budget)
    pulled = []
    for _ in range(times):
        pulled.append(player.ask())
        player.tell(pulled[-1], (number * 7 + len(pulled)) % 3 / 2)
    return pulled


@pytest.mark.parametrize("pull", ["moss", "ucb", "kl_ucb"])
def test_where_no_budget_is_told_the_pulls_of_an_epoch_are_learnt(pull):
    """With the same traffic at each arrival, it decides as if the budget had been told."""
    told, untold = Player(window=9, memory=4, pull=pull), Player(window=9, memory=4, pull=pull)
    for number in range(20):
        assert played(told, number, budget=50) == played(untold, number, budget=None if number else 50)


def test_the_traffic_is_that_of_recent_epochs_and_at_least_what_this_one_has_had():
    player = Player(window=9, memory=4)
    for number in range(60):
        played(player, number, times=400)
    player.arrive(60)
    assert player._traffic == 400
    for number in range(61, 120):
        played(player, number, times=10)
    assert 10 <= player._traffic < 40, "little is left of the 400"
    played(player, 120, times=1000)
    assert player._traffic == 1001


def test_epochs_without_a_budget_to_spend_teach_nothing():
    player = Player(window=9, memory=4, partial=False)
    for number in range(9):
        player.arrive(number)
    played(player, 9, times=30)
    player.arrive(10)
    assert player._traffic == 15, "the window was full with the arm before, which had no pulls"


def test_what_was_learnt_is_saved():
    player = Player(window=9, memory=4)
    waiting = []
    for number in range(12):
        player.arrive(number)
        for arm in waiting[:-5]:
            if player.holds(arm):
                player.tell(arm, 0.5)
        waiting = waiting[-5:] + [player.ask() for _ in range(20)]
    again = Player.from_state(json.loads(json.dumps(player.state())))
    assert (again._pace, again._delay, again._traffic) == (player._pace, player._delay, player._traffic)
    assert player._pace == 20
    assert 1 <= player._delay < 3
    assert [again.ask() for _ in range(50)] == [player.ask() for _ in range(50)]


@pytest.mark.parametrize("field", ["pace", "delay"])
@pytest.mark.parametrize("value", [-1.0, 1e30])
def test_what_cannot_have_been_learnt_is_refused(field, value):
    with pytest.raises(ValueError, match=f"state is damaged: {field} cannot be"):
        Player.from_state(Player().state() | {field: value})
