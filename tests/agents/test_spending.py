"""What a player does between its verbs: who makes room, who may be pulled, and what it learns of its traffic."""

import json
from collections import Counter

import pytest

from bestbefore import Player

JUDGING = ["bucket", "staircase", "topk"]  # keep rules that let arms go for what is known of them


def known_arms(player, means, pulls=300):
    """Let arms arrive that are well known: so many pulls of each are told before the next one comes."""
    for number, mean in enumerate(means):
        player.arrive(f"known {number}")
        player.tell(f"known {number}", mean * pulls, pulls=pulls)


def asks(player, times):
    return Counter(player.ask() for _ in range(times))


# Who makes room


@pytest.mark.parametrize("keep", ["staircase", "topk"])
def test_a_known_arm_makes_room_and_not_one_under_test(keep):
    """The worst goes, and what is known of the others stays, whatever slot they are in."""
    player = Player(window=200, memory=6, keep=keep)
    known_arms(player, [0.1, 0.3, 0.6, 0.7, 0.8, 0.9])
    player.arrive("x")
    asks(player, 50)
    assert "known 0" not in player.stored, "it was the worst, and has made room for x"
    assert player.arrive("y") == ["known 1"]
    assert set(player.stored) == {"x", "y", "known 2", "known 3", "known 4", "known 5"}
    assert player.means()["known 5"] == pytest.approx(0.9)


@pytest.mark.parametrize("keep", ["staircase", "topk"])
def test_an_arm_under_test_stays_even_if_its_first_reward_is_bad(keep):
    """Of x all is under way but one reward of 0: it is the worst by now, and it is too early to say so."""
    player = Player(window=200, memory=6, keep=keep, pull="ucb")
    known_arms(player, [0.5, 0.9, 0.9, 0.9, 0.9, 0.9])
    player.arrive("x")
    assert asks(player, 100)["x"] > 2
    player.tell("x", 0)
    player.arrive("y")
    assert {"x", "y"} < set(player.stored)


@pytest.mark.parametrize("keep", JUDGING)
def test_where_two_thirds_of_the_slots_are_under_test_the_arriving_arm_goes(keep):
    player = Player(window=200, memory=6, keep=keep, pull="ucb")
    known_arms(player, [0.5, 0.6, 0.7, 0.8, 0.9, 0.9])
    for arm in "wxyz":
        player.arrive(arm)
        assert asks(player, 100)[arm] > 0
    assert player.arrive("last") == ["last"]
    player.tell("x", 3, pulls=6)
    player.arrive("next")
    assert "next" in player.stored, "x is under test no more"


def test_where_two_thirds_are_under_test_the_arriving_arm_takes_the_place_of_one_that_does_badly():
    player = Player(window=200, memory=6, pull="ucb")
    known_arms(player, [0.5, 0.6, 0.7, 0.8, 0.9, 0.9])
    for arm in "wxyz":
        player.arrive(arm)
        assert asks(player, 100)[arm] > 2
    player.tell("x", 1)
    player.tell("y", 0)
    assert player.arrive("last") == ["y"]


@pytest.mark.parametrize("keep", JUDGING)
def test_arms_of_equal_means_do_not_push_out_what_is_under_test(keep):
    player = Player(window=200, memory=6, keep=keep)
    known_arms(player, [0.05] * 6)
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


# Who may be pulled


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
    while asks(player, 1)["a"] or player.state()["arms"][1]["in_flight"] < 8:
        pass
    asked = asks(player, 5)
    assert asked == {"a": 5}
    assert player._odds[1][-5:] == [1.0] * 5


def test_where_nothing_is_carried_over_only_pulls_of_this_epoch_are_under_way():
    """Those of the epoch before will not count when they return: they must not keep an arm from being pulled."""
    player = Player(window=9, memory=2, keep="fifo", carry=False)
    player.arrive("a", budget=100)
    assert asks(player, 100) == {"a": 100}
    player.arrive("b", budget=10)
    shown = asks(player, 10)
    assert shown == {"a": 5, "b": 5}


def test_rewards_that_nobody_asked_for_do_not_say_how_late_rewards_are():
    player = Player(window=9, memory=4)
    player.arrive("a")
    player.arrive("b")
    player.tell("a", 1)
    assert player.state()["delays"] == 0
    asks(player, 10)
    player.arrive("c")
    player.tell("b", 1)
    assert (player.state()["delays"], player.state()["delay"]) == (1, 1.0)
    player.arrive("d")
    player.tell("b", 1)
    assert player.state()["delays"] == 1, "only the first counts"


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
        played(player, number, times=40)
    player.arrive(60)
    assert player._traffic == 40
    for number in range(61, 120):
        played(player, number, times=2)
    assert 2 <= player._traffic < 8, "little is left of the 40"
    played(player, 120, times=100)
    assert player._traffic == 101


def test_a_budget_that_is_never_spent_is_taken_for_what_is_spent_of_it():
    player = Player(window=9, memory=4)
    played(player, 0, budget=500, times=50)
    player.arrive(1, budget=1000)
    assert (player._traffic, player.left) == (100, 1000), "a tenth is spent, and all may be"
    for number in range(2, 40):
        played(player, number, budget=50, times=50)
    player.arrive(40, budget=70)
    assert 60 < player._traffic <= 70


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


# How noisy rewards are


def rated(player, stars, times=30, arm="a"):
    """Let an arm arrive, and tell these stars of it in turn; then another, which begins an epoch."""
    player.arrive(arm)
    for number in range(times):
        player.tell(arm, stars[number % len(stars)])
    player.arrive(f"after {arm}")


def test_how_little_ratings_vary_is_learnt_from_each():
    """With caution: 3 and 4 stars of 1 to 5 vary by 1/64, where 0 and 1 of that mean vary by 15/64."""
    one, many = (Player(window=9, memory=4, scale=(1, 5)) for _ in range(2))
    rated(one, [3, 4])
    many.arrive("a")
    many.tell("a", 105, pulls=30)
    many.arrive("after a")
    assert one.means() == many.means()
    bound = 1 / 64 + (1 - 1 / 30) * 14 / 64
    assert one._dispersion == pytest.approx((0.003 * bound + 1 / 64**2 / bound) / (0.003 * bound + 1 / 64))
    assert many._dispersion > 0.95, "a total does not say, so that all but one may be of 1 or 5 stars"


@pytest.mark.parametrize("told", [{}, {"sigma": 1.0}])
def test_rewards_of_all_or_nothing_and_of_any_size_teach_nothing_of_it(told):
    player = Player(window=9, memory=4, **told)
    rated(player, [0, 1] if not told else [0.5, 0.6])
    assert player._dispersion == 1
    assert not player._shades.any()


@pytest.mark.parametrize("leave", ["withdraw", "expire", "make room", "restart"])
def test_what_was_learnt_of_rewards_leaves_with_their_arm(leave):
    player = Player(window=2, memory=1 if leave == "make room" else 2, keep="fifo", carry=leave != "restart")
    player.arrive("a")
    player.tell("a", 0.5)
    player.tell("a", 0.4)
    assert player._shades.sum() == pytest.approx(0.49)
    if leave == "withdraw":
        player.withdraw("a")
    elif leave == "expire":
        player.advance(5)
    else:
        player.arrive("b")
    assert not player._shades.any()
    assert player._dispersion == 1


def test_how_noisy_rewards_are_is_known_as_an_epoch_begins_and_saved():
    player = Player(window=9, memory=4)
    rated(player, [0.4, 0.6])
    learnt = player._dispersion
    assert learnt < 0.5
    for reward in (0.0, 1.0) * 9:
        player.tell("after a", reward)
    assert player._dispersion == learnt
    again = Player.from_state(json.loads(json.dumps(player.state())))
    assert again._dispersion == learnt
    for each in (player, again):
        each.arrive("last")
    assert again._dispersion == player._dispersion > learnt


def test_of_rewards_of_an_earlier_epoch_only_those_that_count_are_learnt_from():
    player = Player(window=9, memory=4, carry=False)
    player.arrive("a")
    assert [player.ask(), player.ask()] == ["a", "a"]
    player.arrive("b")
    player.tell("a", 1.5, pulls=3)
    assert player._shades.sum() == pytest.approx(0.25 / 3), "one of three pulls is of this epoch"


@pytest.mark.parametrize("shades", [-0.1, 7.6])
def test_shades_that_no_rewards_can_have_are_refused(shades):
    player = Player(window=9, memory=4)
    rated(player, [0.5])
    state = player.state()
    assert state["arms"][0]["shades"] == pytest.approx(7.5)
    state["arms"][0]["shades"] = shades
    with pytest.raises(ValueError, match="state is damaged: shades of 'a' cannot be"):
        Player.from_state(state)


@pytest.mark.parametrize("field", ["pace", "delay", "used", "dispersion"])
@pytest.mark.parametrize("value", [-1.0, 1e30])
def test_what_cannot_have_been_learnt_is_refused(field, value):
    with pytest.raises(ValueError, match=f"state is damaged: {field} cannot be"):
        Player.from_state(Player().state() | {field: value})
