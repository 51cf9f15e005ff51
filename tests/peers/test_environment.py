"""The model as an environment of Gymnasium."""

import sys

import pytest
from gymnasium.utils.env_checker import check_env

from bestbefore import Player, peers, simulate, streams


class Newest:
    """Pulls the newest arm."""

    def select(self, arms):
        return arms[-1]

    def update(self, arm, reward):
        pass


@pytest.mark.parametrize("settings", [{}, {"memory": 3, "keep": "staircase"}])
def test_it_passes_the_checker_of_gymnasium(settings):
    """Warnings of the checker are errors here."""
    check_env(peers.StreamEnv(streams.uniform(12), window=5, budget=4, **settings), skip_render_check=True)


def test_rewards_may_be_normal():
    check_env(peers.StreamEnv(streams.uniform(12).gaussian(0.3), window=5), skip_render_check=True)


def test_arms_arrive_on_the_clock_of_the_stream_and_expire():
    env = peers.StreamEnv(streams.constant(4), window=2, budget=3)
    seen, info = env.reset(seed=0)
    story = [(info["stored"], seen["ages"].tolist(), info["action_mask"].tolist())]
    over = False
    while not over:
        seen, _, over, cut, info = env.step(0)
        assert not cut
        story.append((info["stored"], seen["ages"].tolist(), info["action_mask"].tolist()))
    assert story[0] == ([1], [1, 0], [1, 0])
    assert story[3] == ([1, 2], [2, 1], [1, 1])
    assert story[6] == ([2, 3], [2, 1], [1, 1])
    assert len(story) == 1 + 4 * 3


def test_observations_are_pulls_and_means():
    env = peers.StreamEnv(streams.uniform(5), window=3, budget=6)
    env.reset(seed=1)
    rewards = [env.step(0)[1] for _ in range(5)]
    seen = env.step(0)[0]
    assert seen["pulls"].tolist() == [6, 0, 0]
    assert abs(seen["means"][0] * 6 - sum(rewards)) in (0.0, 1.0)


def test_the_regret_is_that_of_the_simulation():
    """One slot, so there is nothing to decide: the same arms are pulled, in run 0, and in run 1 after it."""
    stream = streams.uniform(8)
    own = {"newest": peers.select(Newest)}
    table = simulate.play(stream, window=4, budgets=5, memory=1, keep=own, runs=2, seed=7, jobs=1)
    env = peers.StreamEnv(stream, window=4, budget=5, memory=1)
    for run in (0, 1):
        env.reset(seed=7 if run == 0 else None)
        regret, over = 0.0, False
        while not over:
            _, _, over, _, info = env.step(0)
            regret += info["regret"]
        assert regret == pytest.approx(table["regret"][run])
    again, _ = env.reset(seed=7, options={"run": 1})
    assert again["ages"].tolist() == [1]


def test_it_can_be_shown_as_text():
    env = peers.StreamEnv(streams.constant(3), window=2, budget=3, render_mode="ansi")
    env.reset(seed=0)
    _, reward, _, _, _ = env.step(0)
    assert env.render() == f"arm 1: 1 pulls, total {reward:g}"


def test_an_empty_slot_is_a_request_without_an_answer():
    env = peers.StreamEnv(streams.constant(3, 0.5), window=2, budget=3)
    env.reset(seed=0)
    seen, reward, _, _, info = env.step(1)
    assert (reward, info["regret"], seen["pulls"].tolist()) == (0.0, 0.5, [0, 0])


def test_a_player_of_ours_can_play_it():
    env = peers.StreamEnv(streams.uniform(20), window=5, budget=20)
    _, info = env.reset(seed=0)
    player, newest, regret, over = Player(window=5, memory=3), 0, 0.0, False
    while not over:
        if info["arrival"] > newest:
            newest = info["arrival"]
            player.arrive(newest, budget=20)
        arm = player.ask()
        _, reward, over, _, info = env.step(info["stored"].index(arm))
        player.tell(arm, reward)
        regret += info["regret"]
    assert 0 < regret / 400 < 0.25  # at random it would be .33


def test_what_cannot_be_is_refused():
    env = peers.StreamEnv(streams.uniform(3), window=2, budget=1)
    with pytest.raises(ValueError, match="step must come after reset"):
        env.step(0)
    env.reset(seed=0)
    with pytest.raises(ValueError, match="action must be the number of a slot, from 0 to 1, not 2"):
        env.step(2)
    with pytest.raises(ValueError, match="render_mode must be None or 'ansi', not 'human'"):
        peers.StreamEnv(streams.uniform(3), window=2, render_mode="human")


def test_without_gymnasium_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'bestbefore\[gym\]'"):
        _ = peers.StreamEnv
