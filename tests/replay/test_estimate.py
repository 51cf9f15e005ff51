"""Off-policy estimates: the loop decides as a live player does, intervals cover the truth, and refusals come."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from bestbefore import Player
from bestbefore.clock import window_of
from bestbefore.memory import empty_memory
from bestbefore.replay import estimate
from bestbefore.replay.estimate import world_of
from bestbefore.replay.rows import numbers_of, rows_of
from bestbefore.simulate.replay_loop import SUMS, replay
from bestbefore.streams import Columns, read_log

spec = importlib.util.spec_from_file_location("off_policy", Path(__file__).parents[2] / "benchmarks" / "off_policy.py")
off_policy = importlib.util.module_from_spec(spec)
spec.loader.exec_module(off_policy)


def made_log(arms=30, life=6, rows=6000, *, uneven=False, seed=5, told=True, rates=(2.0, 5.0), **columns):
    """Return rows as dicts, with times in seconds, probabilities, and when arms arrived."""
    world = off_policy.Made(arms, life, rows, uneven=uneven, rates=rates)
    log, _ = world.log(np.random.default_rng(seed))
    made = [
        {"arm": int(arm), "reward": float(reward), "at": time / 1e6, "p": float(p), "since": float(arm * 3600)}
        for arm, reward, time, p in zip(log.arms, log.rewards, log.times, log.chances, strict=True)
    ]
    return read_log([row | columns for row in made], Columns("arm", "reward", "at", "since" if told else None))


def live(log, rows, window, method, **rules):
    """Return what a live player chooses before each row, from the same rows."""
    player, order, entered, choices = Player(window, 4, **rules), np.argsort(rows.enters, kind="stable"), 0, []
    floor = rows.chances.min()
    rng = np.random.default_rng(0)
    for row, (shown, reward) in enumerate(zip(rows.arms, rows.rewards, strict=True)):
        while entered < order.size and rows.enters[order[entered]] <= row:
            at = log.arrived[order[entered]] / 1e6 if player._clock.window.by_time else None
            player.arrive(int(order[entered]), at=at)
            entered += 1
        at = rows.times[row] / 1e6 if player._clock.window.by_time else None
        chosen = player.ask(at=at)
        choices.append(-1 if chosen is None else chosen)
        if chosen is None:
            continue
        if chosen == shown and (method == "weighting" or rng.random() * rows.chances[row] < floor):
            player.tell(chosen, reward)
            continue
        player.give_up(chosen)
        if method == "weighting" and int(shown) in player.stored:
            player.tell(int(shown), reward)
    return choices


@pytest.mark.parametrize("method", ["rejection", "weighting"])
@pytest.mark.parametrize(
    ("window", "keep", "pull", "rated"),
    [
        ("6h", "heirs", "fresh", False),
        ("6h", "heirs", "fresh", True),
        ("3h", "staircase", "moss", False),
        (4, "fifo", "ucb", False),
        (5, "topk", "kl_ucb", False),
    ],
)
def test_it_decides_as_a_live_player_does(method, window, keep, pull, rated):
    """Where rewards are ratings, they are 3 or 4 stars."""
    log = made_log(arms=12, rows=1200, uneven=True)
    rows = rows_of(log, "p")
    if rated:
        rows.rewards[:] = (rows.rewards + 2) / 4
    span = window_of(window)
    rule = off_policy.rule_of(window, 4, keep=keep, pull=pull)
    world = world_of(rows, numbers_of(log, span), np.zeros(len(log.names)))
    choices = np.zeros(rows.arms.size, np.int64)
    floor = float(rows.chances.min()) if method == "rejection" else 0.0
    replay(world, rule, empty_memory(4), floor, np.random.default_rng(0), np.zeros(SUMS), choices)
    assert choices.tolist() == live(log, rows, window, method, keep=keep, pull=pull)


@pytest.mark.parametrize("method", ["rejection", "weighting"])
@pytest.mark.parametrize("uneven", [False, True])
def test_intervals_cover_the_truth(method, uneven):
    """In 90% to 99% of 100 logs; if they cover in 95.5%, that fails by chance in 1 of 60 cases, with another seed.

    `benchmarks/off_policy.py` has 300 logs each of three kinds.
    """
    made = off_policy.Made(arms=20, life=5, rows=3000, uneven=uneven)
    found = off_policy.coverage(made, off_policy.rule_of("5h", 5), 5, method, logs=100)
    assert found["told"] == 1
    assert 0.90 <= found["own"] <= 0.99
    assert found["mean"] == pytest.approx(found["truth"], abs=found["width"] / 10)


def test_a_player_gains_where_arms_differ():
    weighing = estimate(made_log(rows=20_000), "6h", 6, uniform=True)[1]
    assert weighing.refused is None
    assert weighing.gain_low > 0
    assert weighing.low < weighing.value < weighing.high
    assert weighing.gain == pytest.approx(weighing.value - weighing.earned)
    assert 0 < weighing.effective <= weighing.matched < weighing.rows


def test_where_the_player_chooses_what_is_shown_nothing_is_gained_for_sure():
    """With a single arm, estimate and log are the same rows: their difference has no chance in it."""
    rows = [("only", float(row % 3 == 0), row) for row in range(600)]
    for one in estimate(read_log(rows, Columns(0, 1, 2)), "1h", 2, uniform=True):
        assert one.refused is None
        assert one.low < one.value < one.high
        assert (one.gain, one.gain_low, one.gain_high) == pytest.approx((0, 0, 0), abs=1e-7)


def test_a_choice_does_not_know_what_is_shown():
    """Where the log does not say when arms arrived, an arm can be chosen from the row after its first."""
    rows = rows_of(read_log([("a", 1, 5), ("b", 0, 6), ("a", 0, 7), ("c", 1, 8)], Columns(0, 1, 2)))
    assert rows.enters.tolist() == [1, 2, 4]
    assert rows.chances.tolist() == pytest.approx([1, 1 / 2, 1, 1])


def test_uniform_is_what_propensities_say_where_they_are_uniform():
    log = made_log()
    by_column, by_word = estimate(log, "6h", 6, propensity="p"), estimate(log, "6h", 6, uniform=True)
    assert [one.value for one in by_column] == pytest.approx([one.value for one in by_word], abs=0.01)


def test_rewards_are_in_the_readers_unit():
    log = made_log(rows=4000)
    stars = read_log(
        [row | {"reward": 1 + 4 * row["reward"]} for row in log.source],
        Columns("arm", "reward", "at", "since"),
        scale=(1, 5),
    )
    for one, other in zip(estimate(log, "6h", 6, uniform=True), estimate(stars, "6h", 6, uniform=True), strict=True):
        assert 1 + 4 * one.value == pytest.approx(other.value)
        assert 4 * one.gain_high == pytest.approx(other.gain_high)


def test_a_log_that_is_not_in_order_is_put_in_order():
    log = made_log(told=False)
    shuffled = [log.source[row] for row in np.random.default_rng(0).permutation(len(log.source))]
    again = read_log(shuffled, Columns("arm", "reward", "at"))
    assert estimate(again, "6h", 6, uniform=True) == estimate(log, "6h", 6, uniform=True)


class TestRefusals:
    """Each kind of log that cannot answer gets a plain word, by both methods."""

    def refused(self, log, window="6h", **settings):
        found = estimate(log, window, 6, **settings)
        assert all(one.value is None and one.low is None and one.gain is None for one in found)
        return [one.refused for one in found]

    def test_no_propensities(self):
        for why in self.refused(made_log(rows=500)):
            assert why.startswith("The log does not say with which probability")

    def test_propensities_that_are_none(self):
        log = made_log(rows=500)
        log.source[7]["p"] = 1.5
        for why in self.refused(log, propensity="p"):
            assert "row 8: p must be a probability above 0 and at most 1, not 1.5" in why

    def test_words_instead_of_propensities(self):
        for word, said in (("deterministic", "Nothing was drawn"), ("unknown", "Arms were drawn, but with which")):
            for why in self.refused(made_log(rows=500, p=word), propensity="p"):
                assert why.startswith(said)
                assert f"row 1: p must be a probability above 0 and at most 1, not {word!r}" in why

    def test_propensities_that_are_missing(self):
        log = made_log(rows=500)
        log.source[7]["p"] = None
        with pytest.raises(ValueError, match="row 8: p is missing"):
            estimate(log, "6h", 6, propensity="p")

    def test_propensities_of_another_log(self):
        for why in self.refused(made_log(rows=20_000, p=0.5), propensity="p"):
            assert "weights should be 1 on average, and are 0.4" in why

    def test_uniform_where_it_was_not(self):
        """The best arm of each time is shown nine times in ten."""
        rng, rows = np.random.default_rng(0), []
        for row in range(8000):
            arm = 0 if rng.random() < 0.9 else int(rng.integers(1, 4))
            rows.append((arm, float(rng.random() < (0.8 if arm == 0 else 0.2)), row))
        for why in self.refused(read_log(rows, Columns(0, 1, 2)), window="10 days", uniform=True):
            assert "not those of this log" in why

    def test_arms_without_support(self):
        for why in self.refused(made_log(rows=20_000), window="24h", uniform=True):
            assert why.startswith("Arms without support: ")

    def test_too_small_a_sample(self):
        for why in self.refused(made_log(rows=300), uniform=True):
            assert "Too small a sample: " in why
            assert "at least 100 are needed" in why

    def test_too_few_rewards(self):
        for why in self.refused(made_log(rows=3000, rates=(1.0, 400.0)), uniform=True):
            assert "are rewarded: at least 10 are needed" in why

    def test_both_at_once(self):
        with pytest.raises(ValueError, match="propensity must be left out"):
            estimate(made_log(rows=300), "6h", uniform=True, propensity="p")
