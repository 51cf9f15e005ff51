"""What memory buys on a log: the best valid arm by hand, and the advice that follows from a table."""

import numpy as np
import pytest

from bestbefore import Player
from bestbefore.clock import window_of
from bestbefore.replay.contents import contents_of
from bestbefore.replay.trade import advised, best_and_random, code_of, in_words, trade_of
from bestbefore.simulate import Table
from bestbefore.streams import Columns, read_log

RNG = np.random.default_rng(4)
MEANS = RNG.random(40)


@pytest.fixture(scope="module")
def log():
    rows = []
    for hour in range(45):
        arms = [arm for arm in range(40) if 0 <= hour - arm < 10]
        for _ in range(60):
            arm = int(RNG.choice(arms)) if arms else 39
            rows.append((arm, float(RNG.random() < MEANS[arm]), 3600 * hour + len(rows) % 3600))
    return read_log(rows, Columns(0, 1, 2))


@pytest.mark.parametrize("window", ["5h", 7])
def test_the_best_valid_arm_and_one_at_random(log, window):
    span, budgets = window_of(window), np.arange(1, len(log.names) + 1)
    means, best, at_random = log.total / log.rows, 0.0, 0.0
    for arm, budget in enumerate(budgets.tolist()):
        if span.by_time:
            valid = [one for one in range(arm + 1) if log.arrived[arm] - log.arrived[one] < span.length]
        else:
            valid = list(range(max(arm - 6, 0), arm + 1))
        best += budget * max(means[valid])
        at_random += budget * np.mean(means[valid])
    assert best_and_random(log, span, budgets) == pytest.approx((best, at_random))


def table(rows):
    """Return a table of two runs that are alike."""
    return Table(
        [{"keep": k, "pull": p, "memory": m, "run": run, "regret": r} for k, p, m, r in rows for run in range(2)]
    )


@pytest.mark.parametrize(
    ("rows", "chosen"),
    [
        (
            [("heirs", "fresh", 2, 50.0), ("heirs", "fresh", 5, 10.4), ("heirs", "fresh", 20, 10.0)],
            (5, "heirs", "fresh"),
        ),
        ([("heirs", "fresh", 2, 10.5), ("staircase", "moss", 2, 10.0)], (2, "heirs", "fresh")),
        ([("heirs", "fresh", 2, 20.0), ("staircase", "moss", 2, 10.0)], (2, "staircase", "moss")),
    ],
)
def test_the_advice_is_the_smallest_memory_that_is_near_the_best(log, rows, chosen):
    found = advised(table(rows), (100.0, 60.0), "24h", log)
    assert (found.memory, found.keep, found.pull) == chosen
    assert found.at_random == pytest.approx(0.4)
    assert found.best_loses == pytest.approx(0.1)


def test_another_pair_is_advised_only_if_it_is_better_in_each_of_several_runs(log):
    rows = [("heirs", "fresh", 2, 20.0), ("reservoir", "ucb", 2, 10.0)]
    once = Table([row for row in table(rows) if row["run"] == 0])
    assert advised(once, (100.0, 60.0), "24h", log).keep == "heirs"
    lucky = Table(
        [
            row | {"regret": 21.0 if (row["keep"], row["run"]) == ("reservoir", 1) else row["regret"]}
            for row in table(rows)
        ]
    )
    assert advised(lucky, (100.0, 60.0), "24h", log).keep == "heirs"
    assert advised(table(rows), (100.0, 60.0), "24h", log).keep == "reservoir"


def test_the_line_of_code_runs(log):
    assert code_of("24h", 5, "heirs", "fresh", log) == 'Player(window="24h", memory=5)'
    code = code_of(50, 5, "staircase", "moss", log)
    player = eval(code, {"Player": Player})  # noqa: S307
    assert (player.window, player.memory, player.keep, player.pull) == (50, 5, "staircase", "moss")


def test_a_whole_trade(log):
    contents = contents_of(log, "5h")
    found = trade_of(log, contents, "5h", memory=[2, 5], runs=2, progress=False)
    with pytest.raises(ValueError, match="runs must be a whole number of at least 1, not 0"):
        trade_of(log, contents, "5h", runs=0)
    rows = found.to_dict()
    assert {row["pulls"] for row in rows["regret"]} == {contents.traffic.sum()}  # the log's own traffic
    assert [row["window"] for row in found.windows] == ["150min", "5h", "10h"]
    best = [row["best"] for row in found.windows]
    assert best == sorted(best)
    assert all(row["earned"] <= row["best"] for row in found.windows)
    assert found.epsilons
    assert all(row["error"] <= row["epsilon"] for row in found.epsilons)
    assert found.advice.loses < found.advice.at_random
    assert in_words(found, contents)[0].startswith(f"Use {found.advice.memory} slots with ")
    assert found.play == trade_of(log, contents, "5h", memory=[2, 5], runs=2, progress=False, jobs=1).play
