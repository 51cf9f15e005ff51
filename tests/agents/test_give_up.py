"""Pulls that never come back: they count for nothing, and a test asks for others in their place."""

import pytest

from bestbefore import Explorer, Player, Seeker, UnknownArm


def test_a_test_asks_for_another_pull_in_place_of_a_lost_one():
    explorer = Explorer(window=5, memory=3, tests=3)
    explorer.arrive("a")
    assert [explorer.ask() for _ in range(4)] == ["a", "a", "a", None]
    explorer.give_up("a")
    assert [explorer.ask() for _ in range(2)] == ["a", None]
    explorer.give_up("a", 3)
    assert [explorer.ask() for _ in range(4)] == ["a", "a", "a", None]
    assert explorer.pulls == 0


def test_no_more_pulls_can_be_given_up_than_are_under_way():
    explorer = Explorer(window=5, memory=3, tests=3)
    explorer.arrive("a")
    explorer.ask()
    before = explorer.state()
    with pytest.raises(ValueError, match="pulls must be at most 1, those of arm 'a' that are under way, not 2"):
        explorer.give_up("a", 2)
    with pytest.raises(ValueError, match="pulls must be a whole number of at least 1, not 0"):
        explorer.give_up("a", 0)
    with pytest.raises(UnknownArm):
        explorer.give_up("b")
    assert explorer.state() == before


def test_a_certificate_asks_for_another_pull():
    explorer = Explorer(window=5, epsilon=0.2)
    explorer.arrive("a")
    explorer.arrive("b")
    asked = explorer.ask()
    explorer.give_up(asked)
    assert explorer.ask() == asked
    assert explorer.wanted(asked) >= 1


def test_a_budget_is_not_spent_on_what_was_lost():
    explorer = Explorer(window=5, memory=3, budget=4)
    explorer.arrive("a")
    explorer.arrive("b")
    asked = [explorer.ask() for _ in range(5)]
    assert asked[-1] is None
    for arm in asked[:-1]:
        explorer.give_up(arm)
    assert explorer.ask() is not None
    player = Player(window=5, memory=3)
    player.arrive("a", budget=2)
    assert [player.ask() for _ in range(3)] == ["a", "a", None]
    player.give_up("a", 2)
    assert player.left == 2


def test_a_lost_pull_of_an_earlier_arrival_gives_nothing_back():
    explorer = Explorer(window=10, memory=4, budget=10)
    explorer.arrive("a")
    explorer.arrive("b")
    before = [explorer.ask() for _ in range(10)]
    explorer.arrive("c")
    assert None not in [explorer.ask() for _ in range(10)]
    for arm in before:
        explorer.give_up(arm)
    assert explorer.ask() is None


def test_a_lost_pull_of_an_earlier_epoch_gives_nothing_back():
    player = Player(window=5, memory=3)
    player.arrive("a", budget=2)
    player.ask()
    player.arrive("b", budget=2)
    player.ask()
    player.give_up("a")
    assert player.left == 1, "the pull of this epoch is spent, whatever comes of the one before"


def test_the_odds_of_a_lost_pull_are_forgotten():
    player = Player(window=5, memory=2, pull="inf", seed=1)
    player.arrive("a", budget=5)
    player.ask()
    player.give_up("a")
    assert player._odds == {}
    player.ask()
    player.tell("a", 1.0)
    assert player.pulls == 1


def test_a_seeker_pulls_again():
    seeker = Seeker(window=3, memory=2, budget=3, tests=1)
    seeker.arrive("a")
    assert [seeker.ask(), seeker.ask()] == ["a", None]
    seeker.give_up("a")
    assert (seeker.ask(), seeker.left) == ("a", 2)


def told(explorer, arm, reward, times):
    for _ in range(times):
        explorer.tell(arm, reward)


def test_one_lost_reward_does_not_starve_an_arm():
    """Of 100 rewards of the winner one is lost; every later arm finishes its test, and is worse."""
    explorer = Explorer(window=40, memory=8, tests=100, pending=3)
    explorer.arrive("winner")
    told(explorer, "winner", 0.9, 99)
    for number in range(10):
        explorer.arrive(number)
        told(explorer, number, 0.5, 100)
        assert explorer.best() == "winner"


def test_an_arm_under_test_is_not_the_answer_by_luck():
    """Rewards that have not come count as 0: whatever they will be, the arm stays the answer."""
    explorer = Explorer(window=40, memory=8, tests=100)
    explorer.arrive("good")
    told(explorer, "good", 0.7, 100)
    explorer.arrive("lucky")
    told(explorer, "lucky", 1.0, 70)
    assert explorer.best() == "good"
    told(explorer, "lucky", 1.0, 1)
    assert explorer.best() == "lucky"


def test_where_nothing_is_stored_an_arm_under_test_is_better_than_none():
    explorer = Explorer(window=40, memory=8, tests=100)
    explorer.arrive("first")
    assert explorer.best() is None
    explorer.tell("first", 0.1)
    assert explorer.best() == "first"


def test_a_test_waits_no_longer_than_its_patience():
    explorer = Explorer(window=40, memory=8, tests=10, pending=3, patience=2)
    assert explorer.patience == 2
    explorer.arrive("slow")
    told(explorer, "slow", 0.9, 9)
    explorer.arrive("second")
    told(explorer, "second", 0.5, 10)
    assert explorer.under_test == ["slow"]
    explorer.arrive("third")
    assert explorer.under_test == ["third"]
    assert "slow" in explorer.stored


def test_by_time_patience_is_a_time():
    explorer = Explorer(window="1h", memory=8, tests=10, pending=3, patience="5 min")
    explorer.arrive("slow", at=0)
    explorer.tell("slow", 0.9)
    explorer.advance(299.0)
    assert explorer.under_test == ["slow"]
    explorer.advance(300.0)
    assert (explorer.under_test, explorer.stored) == ([], ["slow"])


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"window": "1h", "patience": 3}, 'patience must be a time such as "1h", as the window is, not 3'),
        ({"window": 5, "patience": "1h"}, "patience must be a whole number of arrivals, as the window is, not '1h'"),
        ({"window": 5, "patience": 0}, "patience must be a whole number of at least 1, not 0"),
        ({"window": 5, "patience": 3, "tests": None, "epsilon": 0.2, "probe": "certify"}, "patience must be left out"),
    ],
)
def test_bad_patience_is_named(settings, words):
    with pytest.raises(ValueError, match=words):
        Explorer(**({"memory": 8, "tests": 10} | settings) if "probe" not in settings else settings)
