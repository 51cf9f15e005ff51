"""Windows by time in simulations: the same as by count where arms come evenly, and right where they come in bursts."""

from datetime import timedelta
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bestbefore import Explorer, Player, simulate, streams
from bestbefore.rules import KEEP, KEEP_TO_PLAY, PULL
from bestbefore.simulate.clocked import Numbers

WINDOW, ARMS = 12, 150
STREAM = streams.uniform(ARMS)
EVENLY = STREAM.at(range(1, ARMS + 1))
"""An arm a second: a window of so many seconds holds so many arms."""
AT_ONCE = STREAM.at(np.arange(1, ARMS + 1) / 1e6)
"""An arm a microsecond: numbers are those by count, so ages are, too."""


class Newest:
    """Stores the newest arms that are younger than its window, pulls nothing and answers with the newest."""

    def __init__(self, window, memory):
        self.window, self.memory = window, memory
        self.times, self.arms, self.left = [], [], 0

    @property
    def stored(self):
        return [arm for arm, _ in self.arms]

    def arrive(self, arm, budget=0, *, at):
        self.times.append(at)
        self.left = budget
        self.arms = [*self.arms, (arm, at)][-self.memory :]
        if self.window is not None:
            self.arms = [(one, then) for one, then in self.arms if timedelta(seconds=at - then) < self.window]
        return []

    def ask(self):
        return None

    def best(self):
        return self.arms[-1][0]

    def tell(self, arm, reward, pulls=1):
        self.left -= pulls


class Spender(Newest):
    """Pulls the newest arm."""

    def ask(self):
        return self.best() if self.left else None


def same(trace, other):
    return all((getattr(trace, name) == getattr(other, name)).all() for name in ("answers", "errors", "gaps"))


# The same as by count


@pytest.mark.parametrize("keep", KEEP)
@pytest.mark.parametrize("guarantee", ["weak", "strong", "anytime"])
def test_an_arm_a_second_is_the_same_as_a_count(keep, guarantee):
    """Fixed tests, with `most` for the window: tables, traces and pulls."""
    told = {"memory": 5, "keep": keep, "guarantee": guarantee, "runs": 2, "jobs": 1}
    counted = simulate.explore(STREAM, WINDOW, **told)
    assert simulate.explore(EVENLY, f"{WINDOW} s", **told, most=WINDOW) == counted
    assert simulate.explore(AT_ONCE, timedelta(microseconds=WINDOW), **told, most=WINDOW) == counted
    assert same(simulate.trace(EVENLY, "12s", **told, most=WINDOW), simulate.trace(STREAM, WINDOW, **told))


@pytest.mark.parametrize("guarantee", ["weak", "strong", "anytime"])
@pytest.mark.parametrize("more", [{}, {"memory": 8}, {"memory": 4, "budget": 60}], ids=["slots", "few", "budget"])
def test_so_it_is_with_certificates(guarantee, more):
    told = {"epsilon": 0.4, "guarantee": guarantee, "runs": 2, "jobs": 1} | more
    assert simulate.explore(EVENLY, "12s", **told, most=WINDOW) == simulate.explore(STREAM, WINDOW, **told)
    assert same(simulate.trace(EVENLY, "12s", **told, most=WINDOW), simulate.trace(STREAM, WINDOW, **told))


def test_a_strong_certificate_does_not_ask_how_many_arms_there_are():
    """With as many slots as epsilon needs and no more."""
    told = {"epsilon": 0.4, "memory": 8, "guarantee": "strong", "runs": 2, "jobs": 1}
    assert simulate.explore(EVENLY, "12s", **told) == simulate.explore(STREAM, WINDOW, **told)


def test_so_it_is_with_regret():
    told = {"budgets": 50, "memory": 4, "keep": list(KEEP_TO_PLAY), "pull": list(PULL), "runs": 2, "jobs": 1}
    counted = simulate.play(STREAM, WINDOW, **told)
    assert simulate.play(AT_ONCE, "12us", **told, most=WINDOW) == counted
    full = simulate.play(STREAM, WINDOW, **told, partial=False)
    assert simulate.play(AT_ONCE, "12us", **told, most=WINDOW, partial=False) == full
    told["keep"] = [keep for keep in KEEP_TO_PLAY if keep != "staircase"]  # whose ages begin with 1, of whatever unit
    assert simulate.play(EVENLY, "12s", **told, most=WINDOW) == simulate.play(STREAM, WINDOW, **told)


@pytest.mark.parametrize("flag", ["explicit", "implicit"])
def test_so_it_is_with_the_everlasting_arm(flag):
    told = {"budget": 5000, "memory": 4, "flag": flag, "runs": 3, "jobs": 1}
    assert simulate.seek(EVENLY, "12s", **told) == simulate.seek(STREAM, WINDOW, **told)


def test_a_window_by_count_on_a_stream_with_times_counts():
    told = {"memory": 5, "runs": 2, "jobs": 1}
    assert simulate.explore(EVENLY, WINDOW, **told) == simulate.explore(STREAM, WINDOW, **told)
    assert simulate.play(EVENLY, WINDOW, 20, **told) == simulate.play(STREAM, WINDOW, 20, **told)


# Time that goes as it likes

times = st.lists(st.sampled_from([0.0, 0.0, 0.5, 1.0, 3.0]), min_size=1, max_size=40)
KNOWN = 10**7
"""Pulls with which means are as good as known."""


@settings(max_examples=25)
@given(times, st.integers(0, 1000))
def test_the_best_valid_arm_is_found_whatever_the_times(gaps, seed):
    """fifo with a slot for each arm answers with the best arm that is younger than the window."""
    means = np.random.default_rng(seed).permutation(len(gaps)) / len(gaps)
    stream = streams.from_means(means).at(1 + np.cumsum(gaps))
    seen = simulate.trace(stream, "3s", memory=len(gaps), keep="fifo", tests=KNOWN, jobs=1)
    block = Numbers(by_time=True).of(next(stream.blocks(np.random.default_rng(0))))
    for place, now in enumerate(block.times):
        valid = np.flatnonzero(now - block.times[: place + 1] < 3 * 10**6)
        best = valid[means[valid].argmax()]
        assert seen.answers[place] == best + 1
        assert seen.errors[place] == 0


def test_an_arm_of_exactly_the_windows_age_has_expired():
    stream = streams.from_means([0.9, 0.1, 0.2, 0.3]).at([5, 14.999999, 15, 15])
    seen = simulate.trace(stream, "10s", memory=4, keep="fifo", tests=KNOWN)
    assert seen.answers.tolist() == [1, 1, 3, 4]
    assert seen.errors.tolist() == [0, 0, 0, 0], "so it has for the one who knows the best"


def test_arms_of_one_instant_live_and_die_together():
    """Of equal instants each arm gets the next microsecond, which is all that they are apart."""
    stream = streams.from_means([0.3, 0.9, 0.5, 0.1, 0.2]).at([1, 1, 1, 10.9, 11.1])
    seen = simulate.trace(stream, "10s", memory=5, keep="fifo", tests=KNOWN)
    assert seen.answers.tolist() == [1, 2, 2, 2, 5]


def test_the_everlasting_arm_outlives_its_window_of_time():
    """The last arm comes when the first two have expired, but for the best one: its flag tells."""
    stream = streams.from_means([0.3, 0.9, 0.1]).at([1, 2, 20])
    (row,) = simulate.seek(stream, "10s", budget=100, memory=2, strategy="wait", runs=1, clock="stops")
    assert (row["found"], row["regret"]) == (True, 0.0)
    early = streams.from_means([0.3, 0.9, 0.1]).at([1, 2, 11.9])
    (row,) = simulate.seek(early, "10s", budget=100, memory=3, strategy="wait", runs=1, clock="stops")
    assert not row["found"]


def test_epochs_begin_when_the_first_window_is_over():
    """The first arm comes at 1 s and the window has 5 s, so the first epoch begins with the arm at 6 s."""
    stream = streams.constant(5).at([1, 2, 5.9, 6, 6])
    told = {"window": "5s", "budgets": 10, "memory": 2}
    (row,) = simulate.play(stream, **told, partial=False, runs=1)
    assert row["pulls"] == 20
    assert simulate.epoch_regrets(stream, **told, partial=False).size == 2
    assert simulate.epoch_regrets(stream, **told).size == 5
    with pytest.raises(ValueError, match="window must be at most the 5 s from the first arm to the last, not 6 s"):
        simulate.play(stream, "6s", 10, 2, partial=False)
    random = streams.constant(50).at(streams.poisson("1/s"))
    with pytest.raises(ValueError, match="runs must be one at a time with partial=False and a window by time, not 5"):
        simulate.epoch_regrets(random, **told, partial=False, runs=5)


# Promises


def test_nothing_is_promised_while_more_arms_are_valid_than_was_said():
    """Five arms come at once, after two: with at most three, there is no promise from the second of them on."""
    stream = streams.uniform(9).at([1, 2, 3, 3, 3, 3, 3, 30, 31])
    crowded = [False, False, False, True, True, True, True, False, False]
    for more in ({"probe": "certify"}, {"keep": "bucket"}):
        told = {"epsilon": 0.4, "most": 3} | more
        gaps = simulate.trace(stream, "10s", **told).gaps
        assert (gaps == 1).tolist() == crowded
        (row,) = simulate.explore(stream, "10s", **told, runs=1)
        assert row["certified"] == pytest.approx(5 / 9)
        assert row["gap"] == pytest.approx(gaps.mean())


def test_certificates_do_without_and_always_know_their_gap():
    stream = streams.uniform(300).at(streams.bursts(10, quiet="1h"))
    table = simulate.explore(stream, "3h", epsilon=0.4, runs=3)
    assert table["certified"].tolist() == [1, 1, 1]
    assert table["gap"].max() <= 0.4


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: simulate.explore(STREAM, "1h"), r"without times, not '1h'; stream\.at"),
        (lambda: simulate.play(STREAM, "1h"), r"without times, not '1h'; stream\.at"),
        (lambda: simulate.seek(STREAM, "1h", memory=4), r"without times, not '1h'; stream\.at"),
        (lambda: simulate.explore(EVENLY, "1h", memory=5), "most must be given with a window by time and fixed tests"),
        (lambda: simulate.explore(EVENLY, 10, memory=5, most=3), "most must be left out with a window by count"),
        (lambda: simulate.play(EVENLY, "1h", pull="commit"), "most must be given with a window by time and pull"),
        (lambda: simulate.seek(EVENLY, "1h"), "memory must be given with a window by time"),
        (
            lambda: simulate.seek(EVENLY, "1h", memory=4, strategy=Newest),
            "window must be a number of arrivals for an agent of your own here, not '1h'",
        ),
    ],
)
def test_what_cannot_be_is_said(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_a_grid_may_have_windows_by_time():
    windows = ["6s", timedelta(seconds=12)]
    table = simulate.grid("explore", EVENLY, window=windows, memory=4, keep="fifo", tests=9, runs=2, progress=False)
    assert table["window"].tolist() == ["6s", "6s", "12s", "12s"]
    alone = simulate.explore(EVENLY, "12s", memory=4, keep="fifo", tests=9, runs=2)
    assert table.where(window="12s")["mean"].tolist() == alone["mean"].tolist()


# Agents


SURE = np.random.default_rng(5).integers(0, 2, 120).astype(float)
"""Means of 0 and 1: an agent and a compiled loop get the same rewards."""
ARRIVING = streams.from_means(SURE).at(streams.bursts(9, quiet="1h", within="1s"))


AGREED = {
    "certify": {"probe": "certify"},
    "certify, crowded": {"probe": "certify", "most": 20},
    "certify, never crowded": {"probe": "certify", "most": 100},
    "fixed, crowded": {"probe": "fixed", "most": 20},
    "fixed, never crowded": {"probe": "fixed", "most": 100},
}


@pytest.mark.parametrize("guarantee", ["weak", "anytime"])
@pytest.mark.parametrize("told", AGREED.values(), ids=AGREED)
def test_an_explorer_does_what_the_compiled_loop_does(told, guarantee):
    """Answers, gaps and pulls, with windows of about 27 arms."""
    common = {"epsilon": 0.4, "guarantee": guarantee, "runs": 2, "jobs": 1, "progress": False}
    live, loop = {"keep": partial(Explorer, guarantee=guarantee, **told)}, {"keep": "staircase", **told}
    traces = [simulate.trace(ARRIVING, "3h", **common, **one) for one in (live, loop)]
    assert same(*traces)
    tables = [simulate.explore(ARRIVING, "3h", **common, **one).rows for one in (live, loop)]
    for agent, compiled in zip(*tables, strict=True):
        for column in ("mean", "pulls", "peak_memory", "gap", "certified", "epsilon"):
            assert agent[column] == pytest.approx(compiled[column]), column


@pytest.mark.parametrize("whole", [True, False])
def test_a_player_does_what_the_compiled_loop_does(whole):
    told = {"budgets": 20, "memory": 5, "runs": 2, "partial": whole, "leaps": False, "progress": False}
    live, loop = (simulate.play(ARRIVING, "3h", keep=keep, **told) for keep in (Player, "staircase"))
    for column in ("pulls", "regret", "peak_memory"):
        assert live[column].tolist() == pytest.approx(loop[column].tolist())


def test_an_agent_is_told_the_window_and_the_times():
    stream = streams.from_means([0.9, 0.1, 0.2, 0.3]).at([5, 14.5, 15, 15])
    made = []

    def newest(window, memory):
        made.append(Newest(window, memory))
        return made[-1]

    (row,) = simulate.explore(stream, "10s", memory=3, keep=newest, runs=1)
    assert made[-1].window == timedelta(seconds=10)
    assert made[-1].times == [5, 14.5, 15, 15]
    assert row["peak_memory"] == 3
    assert row["mean"] == pytest.approx((0 + 0.8 + 0 + 0) / 4), "it answers with the newest"


@pytest.mark.parametrize("last", [15, 14.9], ids=["expired", "valid"])
def test_an_agent_cannot_keep_an_arm_that_has_expired(last):
    stream = streams.from_means([0.9, 0.1, 0.2]).at([5, 6, last])
    run = lambda: simulate.explore(stream, "10s", memory=3, keep=lambda memory: Newest(None, memory), runs=1)  # noqa: E731
    if last == 14.9:
        assert len(run()) == 1
    else:
        with pytest.raises(ValueError, match="at arrival 3 the agent Newest stores arm 1, which has expired"):
            run()


def test_an_agent_that_plays_is_told_them_too():
    stream = streams.from_means([0.9, 0.1, 0.2, 0.3]).at([5, 14.5, 15, 15])
    (row,) = simulate.play(stream, "10s", 10, memory=3, keep=Spender, runs=1)
    assert row["pulls"] == 40
    assert row["regret"] == pytest.approx(10 * (0 + 0.8 + 0 + 0))
