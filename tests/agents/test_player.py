"""The live player: budgets, epochs, late rewards, saving."""

import copy
import itertools
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestbefore import ExpiredArm, Player, UnknownArm, rules

PAIRS = list(itertools.product(sorted(rules.KEEP_TO_PLAY), sorted(rules.PULL)))


def play(player, arm, budget, reward):
    """Let an arm arrive, and pull as the player asks; return the arms pulled."""
    player.arrive(arm, budget=budget)
    pulled = []
    while (asked := player.ask()) is not None:
        pulled.append(asked)
        player.tell(asked, reward(asked))
    return pulled


@pytest.mark.parametrize(("keep", "pull"), PAIRS)
def test_each_epoch_has_exactly_its_budget_of_pulls(keep, pull):
    """Budgets are told when their epoch is reached, and may be anything, 0 and 1 included."""
    player = Player(window=3, memory=2, keep=keep, pull=pull, partial=False, seed=1)
    for number, budget in enumerate([9, 9, 5, 0, 1, 40, 2]):
        pulled = play(player, number, budget, lambda arm: arm % 2)
        assert len(pulled) == (budget if number >= 2 else 0)  # epochs begin when the first window is full
        assert all(number - 3 < arm <= number for arm in pulled)
    assert player.pulls == 5 + 0 + 1 + 40 + 2


def test_a_player_begins_with_the_first_arrival_unless_told_to_wait_for_a_full_window():
    assert len(play(Player(window=5, memory=2), "a", 7, lambda arm: 1)) == 7
    assert len(play(Player(window=5, memory=2, partial=False), "a", 7, lambda arm: 1)) == 0


@pytest.mark.parametrize("pull", sorted(rules.PULL))
def test_the_better_arm_gets_most_pulls(pull):
    player = Player(window=2, memory=2, pull=pull, keep="fifo", seed=3, epsilon=0.9)
    rng = np.random.default_rng(0)
    means = {"bad": 0.2, "good": 0.9}
    play(player, "bad", 0, None)
    pulled = play(player, "good", 2000, lambda arm: float(rng.random() < means[arm]))
    assert pulled.count("good") > 0.7 * len(pulled)
    assert player.best() == "good"


def test_without_a_budget_it_goes_on_until_the_next_arrival():
    player = Player(window=2, memory=2)
    player.arrive("a")
    player.arrive("b")
    assert player.left is None
    for _ in range(300):
        player.tell(player.ask(), 0.5)
    assert player.pulls == 300


def test_statistics_carry_over_unless_told_otherwise():
    for carry in (True, False):
        player = Player(window=3, memory=3, carry=carry)
        play(player, "a", 50, lambda arm: 0.9)
        play(player, "b", 1, lambda arm: 0.1)
        assert (player.state()["arms"][0]["pulls"] >= 50) is carry


def test_pulls_under_way_are_spread_and_late_rewards_count():
    """Ten pulls are asked for before any reward is told: an arm is not asked for again and again for being unknown."""
    player = Player(window=2, memory=2, keep="fifo")
    player.arrive("a", budget=0)
    player.arrive("b", budget=10)
    asked = [player.ask() for _ in range(10)]
    assert player.ask() is None
    assert {"a", "b"} == set(asked)
    for arm in reversed(asked):
        player.tell(arm, 1 if arm == "a" else 0)
    assert player.best() == "a"
    assert player.pulls == 10


def test_pulls_that_nobody_asked_for_count_against_the_budget():
    player = Player(window=1, memory=1)
    player.arrive("a", budget=10)
    player.tell("a", 6, pulls=8)
    assert player.left == 2
    player.ask()
    player.ask()
    assert player.ask() is None


def test_a_fresh_window_does_not_count_what_was_pulled_before_it():
    player = Player(window=2, memory=2, keep="fifo", partial=True, carry=False)
    player.arrive("a", budget=5)
    for _ in range(5):
        player.ask()
    player.arrive("b", budget=5)
    player.tell("a", 5, pulls=5)
    assert [record["pulls"] for record in player.state()["arms"]] == [0, 0]
    assert player.pulls == 5


def test_the_best_known_arm_survives_epochs_without_a_budget():
    player = Player(window=100, memory=3)
    play(player, "good", 100, lambda arm: 0.95)
    for arm in "bcdef":
        player.arrive(arm, budget=0)
    assert player.best() == "good"


def test_inf_weighs_late_rewards_by_the_odds_of_their_own_pull():
    """Told at once or all together later, the same rewards make the same estimates, if the same arms are asked for."""
    player = Player(window=2, memory=2, keep="fifo", pull="inf", partial=True, seed=1)
    player.arrive("a", budget=0)
    player.arrive("b", budget=50)
    odds = {"a": [], "b": []}
    for _ in range(50):
        asked = player.ask()
        odds[asked].append(player._odds[player._roster.number(asked)][-1])
    for arm, chances in odds.items():
        player.tell(arm, 0, pulls=len(chances))
    expected = [sum(1 / chance for chance in chances) for chances in odds.values()]
    assert player._losses.tolist() == pytest.approx(expected)
    player.arrive("c", budget=5)
    assert not player._losses.any()


def test_a_reward_of_an_earlier_epoch_does_not_cost_this_one():
    player = Player(window=2, memory=2, keep="fifo")
    player.arrive("a", budget=3)
    for _ in range(3):
        player.ask()
    player.arrive("b", budget=2)
    player.tell("a", 3, pulls=3)
    assert player.left == 2


def test_when_an_arm_leaves_its_statistics_leave_with_it():
    player = Player(window=2, memory=1, keep="fifo")
    play(player, "a", 5, lambda arm: 1)
    assert player.arrive("b", budget=5) == ["a"]
    with pytest.raises(UnknownArm):
        player.tell("a", 1)
    assert player.state()["arms"][0]["pulls"] == 0
    player.arrive("c", budget=1)
    with pytest.raises(ExpiredArm):
        player.tell("a", 1, arrival=1)


@pytest.mark.parametrize("pull", sorted(rules.PULL))
@given(st.integers(0, 30))
def test_saved_and_restored_it_goes_on_as_if_never_stopped(pull, stop):
    straight = Player(window=3, memory=2, pull=pull, seed=5)
    stopped = copy.deepcopy(straight)
    rng = np.random.default_rng(2)
    for step in range(40):
        if step == stop:
            stopped = Player.from_state(json.loads(json.dumps(stopped.state())))
        if rng.integers(5) == 0 or step == 0:
            assert straight.arrive(("arm", step), budget=20) == stopped.arrive(("arm", step), budget=20)
        asked = straight.ask()
        assert stopped.ask() == asked
        if rng.integers(3) and asked is not None:
            for player in (straight, stopped):
                player.tell(asked, step % 2)
    assert straight.state() == stopped.state()


def test_a_damaged_state_is_refused():
    player = Player(window=3, memory=2)
    play(player, "a", 5, lambda arm: 1)
    state = player.state()
    for field, value in itertools.product(state, [None, -1, "x", math.nan, [], {}, [[]], 10**30]):
        allowed = (value is None and field == "budget") or (field == "arms" and value == [])
        if not allowed:
            with pytest.raises(ValueError, match="state"):
                Player.from_state(state | {field: value})
    with pytest.raises(ValueError, match="fields missing"):
        Player.from_state({name: state[name] for name in list(state)[:5]})


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"window": 0}, "window must be"),
        ({"memory": 0}, "memory must be"),
        ({"keep": "king"}, "keep must be one of 'fifo', .*'staircase'.*, not 'king'"),
        ({"pull": "best"}, "pull must be one of"),
        ({"delta": 1}, "delta must be"),
        ({"epsilon": 2}, "epsilon must be"),
        ({"sigma": 0}, "sigma must be"),
        ({"seed": "x"}, "seed must be"),
    ],
)
def test_bad_settings_are_named(wrong, words):
    with pytest.raises(ValueError, match=words):
        Player(**wrong)


def test_a_bad_budget_changes_nothing():
    player = Player(window=2, memory=2)
    before = player.state()
    for budget in (-1, 1.5, "many"):
        with pytest.raises(ValueError, match="budget must be a whole number of at least 0"):
            player.arrive("a", budget=budget)
    assert player.state() == before
