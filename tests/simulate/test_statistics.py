"""Statistics over runs: SciPy says the same, intervals hold as often as they claim, and noise wins nothing."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from bestbefore.simulate import Table
from bestbefore.simulate.statistics import compare, estimate

FLOATS = st.floats(-1e6, 1e6).map(lambda number: round(number, 3))
SAMPLES = st.lists(FLOATS, min_size=2, max_size=30)
PAIRS = st.lists(st.tuples(FLOATS, FLOATS), min_size=2, max_size=30)


def table_of(values, **settings):
    """Make a table of values by rule, one a run, at one memory."""
    return Table(
        [
            {"keep": keep, "memory": 5, "run": run, "mean": value} | settings
            for keep, runs in values.items()
            for run, value in enumerate(runs)
        ]
    )


# Means and their intervals


@given(SAMPLES, st.sampled_from([0.5, 0.9, 0.95, 0.99]))
def test_the_interval_is_that_of_scipy(values, confidence):
    found = estimate(np.array(values), confidence)
    if len(set(values)) == 1:
        assert (found.mean, found.se, found.start, found.end) == (values[0], 0, values[0], values[0])
        return
    error = stats.sem(values)
    start, end = stats.t.interval(confidence, len(values) - 1, np.mean(values), error)
    close = {"rel": 1e-9, "abs": 1e-9 * max(map(abs, values))}
    assert found.se == pytest.approx(error, **close)
    assert (found.start, found.end) == (pytest.approx(start, **close), pytest.approx(end, **close))


def test_the_interval_holds_the_true_mean_as_often_as_it_claims():
    """Each of 4,000 samples of 5 has a chance of .9; the share is five deviations off once in a million."""
    rng = np.random.default_rng(1)
    samples = rng.normal(3, 2, (4000, 5))
    held = [one.start <= 3 <= one.end for one in (estimate(sample, 0.9) for sample in samples)]
    assert abs(np.mean(held) - 0.9) < 5 * math.sqrt(0.9 * 0.1 / 4000)


def test_one_run_says_nothing_about_its_error():
    found = estimate(np.array([0.25]), 0.95)
    assert found.mean == 0.25
    assert found.runs == 1
    assert all(math.isnan(number) for number in (found.se, found.start, found.end))


# Differences


@given(PAIRS)
def test_the_paired_test_is_that_of_scipy(pairs):
    one, other = map(np.array, zip(*pairs, strict=True))
    size = max(np.abs(one).max(), np.abs(other).max())
    found = compare(dict(enumerate(one)), dict(enumerate(other)), 0.95)
    if np.ptp(one - other) <= 1e-6 * size:
        return  # nearly no deviation: the t test divides by rounding; see below
    told = stats.ttest_rel(one, other)
    start, end = told.confidence_interval(0.95)
    assert found.p == pytest.approx(told.pvalue, rel=1e-6, abs=1e-12)
    assert found.start == pytest.approx(start, rel=1e-6, abs=1e-9 * size)
    assert found.end == pytest.approx(end, rel=1e-6, abs=1e-9 * size)
    if abs(found.p - 0.05) > 1e-6:
        assert (found.p < 0.05) == (not found.start <= 0 <= found.end)


@given(PAIRS)
def test_the_other_way_round_the_difference_changes_its_sign_only(pairs):
    one, other = (dict(enumerate(values)) for values in zip(*pairs, strict=True))
    there, back = compare(one, other, 0.95), compare(other, one, 0.95)
    assert (there.mean, there.se, there.p) == (-back.mean, back.se, back.p)
    assert (there.start, there.end) == (-back.end, -back.start)


@pytest.mark.parametrize(("runs", "p"), [(2, 0.5), (5, 0.0625), (6, 0.03125), (10, 2 / 1024)])
def test_differences_that_are_all_equal_are_judged_by_their_sign(runs, p):
    """As often as a fair coin shows one side n times in a row; that 0.1 + 0.3 is rounded does not make them differ."""
    low, high = {run: 0.1 * run for run in range(runs)}, {run: 0.1 * run + 0.3 for run in range(runs)}
    found = compare(high, low, 0.95)
    assert found.mean == pytest.approx(0.3)
    assert (found.se, found.p) == (0.0, p)


def test_rounding_is_no_difference():
    """The same errors, summed in another order."""
    found = compare({0: 0.1 + 0.2, 1: 0.1 + 0.7}, {0: 0.3, 1: 0.8 - 1e-16}, 0.95)
    assert (found.mean, found.se, found.p) == (0.0, 0.0, 1.0)


def test_rows_of_differences_pair_the_runs_however_they_are_ordered():
    table = table_of({"bucket": [1.0, 2.0, 4.0], "fifo": [1.5, 2.5, 5.0]})
    shuffled = Table([table.rows[place] for place in (3, 2, 5, 0, 4, 1)])
    [row] = shuffled.differences(column="mean", between="keep", baseline="bucket", by=["memory"])
    told = stats.ttest_rel([1.5, 2.5, 5.0], [1.0, 2.0, 4.0])
    assert row == {
        "memory": 5,
        "keep": "fifo",
        "baseline": "bucket",
        "difference": pytest.approx(2 / 3),
        "difference_se": pytest.approx(1 / 6),
        "difference_from": pytest.approx(told.confidence_interval(0.95).low),
        "difference_to": pytest.approx(told.confidence_interval(0.95).high),
        "p": pytest.approx(told.pvalue),
        "significant": False,
        "runs": 3,
    }
    [row] = table.differences("mean", "bucket", confidence=0.9)
    assert row["significant"]


def test_a_difference_is_known_better_than_the_means_it_is_of():
    """Runs differ by far more than rules do, so that intervals overlap; paired by run the difference is plain."""
    level = np.random.default_rng(0).normal(0, 10, 8)
    table = table_of({"one": level.tolist(), "other": (level + [1.0, 1.1] * 4).tolist()})
    one, other = table.summary("keep", "mean")
    assert other["mean_from"] < one["mean"] < other["mean"] < one["mean_to"]
    [row] = table.differences("mean", baseline="one")
    assert row["significant"]


def test_with_one_run_nothing_is_significant():
    [row] = table_of({"one": [0.5], "other": [0.25]}).differences("mean", "one")
    assert row["difference"] == -0.25
    assert math.isnan(row["p"])
    assert row["significant"] is False


def test_pairs_of_rules_have_a_baseline_of_two_names():
    rows = [
        {"keep": keep, "pull": pull, "memory": memory, "run": run, "regret": memory + run * len(keep) + len(pull)}
        for keep in ("fifo", "staircase")
        for pull in ("ucb", "moss")
        for memory in (5, 9)
        for run in range(3)
    ]
    found = Table(rows).differences("regret", baseline=("staircase", "moss"))
    assert [(row["memory"], row["keep"], row["pull"], row["difference"]) for row in found[:3]] == [
        (5, "fifo", "ucb", -6.0),
        (5, "fifo", "moss", -5.0),
        (5, "staircase", "ucb", -1.0),
    ]
    assert {row["baseline"] for row in found} == {"staircase x moss"}
    assert len(found) == 6


def test_any_column_can_be_what_is_compared():
    table = Table([{"keep": "fifo", "memory": memory, "run": 0, "mean": 1 / memory} for memory in (2, 4)])
    [row] = table.differences("mean", between="memory", baseline=2, by="keep")
    assert (row["keep"], row["memory"], row["baseline"], row["difference"]) == ("fifo", 4, "2", -0.25)


@pytest.mark.parametrize(
    ("ask", "error", "words"),
    [
        (
            lambda table: table.differences("mean", "buket"),
            ValueError,
            r"baseline must be one of the table's keep \(bucket, fifo\), not buket",
        ),
        (
            lambda table: table.where(keep="topk").differences("mean", "bucket"),
            ValueError,
            r"baseline must be one of the table's keep \(there are no rows\), not bucket",
        ),
        (
            lambda table: table.differences("mean", ("bucket", "moss")),
            ValueError,
            r"baseline must have a name for each of keep, not \('bucket', 'moss'\)",
        ),
        (
            lambda table: Table(table.rows[:5]).differences("mean", "bucket"),
            ValueError,
            "rules must have the same runs to be compared, but at memory=5 fifo has no run 2, and bucket has",
        ),
        (
            lambda table: Table(table.rows[2:]).winners("mean"),
            ValueError,
            "rules must have the same runs to be compared, but at memory=5 bucket has no runs 0, 1, and fifo has",
        ),
        (
            lambda table: Table([*table.rows, table.rows[-1] | {"memory": 9}]).differences("mean", "bucket"),
            ValueError,
            "baseline must have rows everywhere, but bucket has none at memory=9",
        ),
        (
            lambda table: Table([*table.rows, table.rows[-1] | {"memory": 9}]).differences("mean", "bucket", by=()),
            ValueError,
            "by and between must tell settings apart, but 2 rows at keep='fifo', run=2 differ in memory; name more "
            "columns, or choose rows with where",
        ),
        (
            lambda table: Table(table.rows * 2).winners("mean"),
            ValueError,
            "2 rows at memory=5, keep='bucket', run=0 are of the same setting",
        ),
        (
            lambda table: table.differences("keep", "bucket"),
            ValueError,
            r"keep must be a finite number in each row, not 'bucket' \(memory=5, run=0\)",
        ),
        (lambda table: table.differences("max", "bucket"), KeyError, "no column 'max'; there are keep, memory, run"),
        (lambda table: table.differences("mean", "bucket", confidence=95), ValueError, "confidence must be a number"),
        (lambda table: table.winners("mean", best="least"), ValueError, "best must be one of 'lowest', 'highest'"),
        (lambda table: Table([{"run": 1, "mean": 2}]).winners("mean", by=()), KeyError, "no column names a rule"),
    ],
)
def test_what_cannot_be_compared_is_named(ask, error, words):
    with pytest.raises(error, match=words):
        ask(table_of({"bucket": [1.0, 2.0, 4.0], "fifo": [1.5, 2.5, 5.0]}))


@pytest.mark.parametrize("value", [math.nan, math.inf, None, "0.5"])
def test_what_is_no_number_is_named_with_its_row(value):
    table = table_of({"bucket": [1.0, value]})
    for ask in (lambda: table.summary("keep", "mean"), lambda: table.winners("mean")):
        with pytest.raises(
            ValueError, match=r"mean must be a finite number .* not .* \(keep='bucket', memory=5, run=1\)"
        ):
            ask()


# Winners


def noise(rng, rules, memories, runs):
    """Make a table in which no rule is better than another: what differs is luck, of the run and of the rule."""
    level = rng.normal(0, 3, runs)
    return Table(
        [
            {"keep": f"rule {rule}", "memory": memory, "run": run, "mean": float(level[run] + rng.normal())}
            for rule in range(rules)
            for memory in range(memories)
            for run in range(runs)
        ]
    )


@pytest.mark.parametrize(("rules", "memories"), [(2, 1), (3, 4), (5, 2)])
def test_noise_rarely_wins_anywhere_in_a_table(rules, memories):
    """A table of noise names a winner with a chance of at most .05.

    Over 800 tables the share is five deviations above that less than four times in a million.  With two rules and one
    memory the chance is .05 exactly, so there the share must not be five deviations below, either.
    """
    rng = np.random.default_rng(2)
    tables = [noise(rng, rules, memories, runs=6) for _ in range(800)]
    marked = [any(row["keep"] is not None for row in table.winners("mean")) for table in tables]
    reach = 5 * math.sqrt(0.05 * 0.95 / 800)
    assert np.mean(marked) < 0.05 + reach
    if (rules, memories) == (2, 1):
        assert np.mean(marked) > 0.05 - reach


def test_the_winner_is_significantly_better_than_every_rival_of_its_memory():
    luck = np.random.default_rng(3).normal(0, 0.01, (3, 10))
    table = table_of({"low": 1 + luck[0], "high": 2 + luck[1], "middle": 1.5 + luck[2]})
    assert [row["keep"] for row in table.winners("mean")] == ["low"]
    assert [row["keep"] for row in table.winners("mean", best="highest")] == ["high"]


def test_who_ties_with_one_rival_does_not_win_over_the_others():
    luck = np.random.default_rng(4).normal(0, 0.01, (2, 10))
    table = table_of({"low": 1 + luck[0], "as low": 1 + luck[0], "high": 2 + luck[1]})
    assert table.winners("mean") == [{"memory": 5, "keep": None, "p": 1.0}]


def test_p_values_are_multiplied_by_the_comparisons_of_the_whole_table():
    """Two rivals at each of two memories are four comparisons; the closest rival decides."""
    rng = np.random.default_rng(5)
    runs = {(keep, memory): rng.normal(keep, 1, 6) for keep in range(3) for memory in (5, 9)}
    table = Table(
        [
            {"keep": f"rule {keep}", "memory": memory, "run": run, "mean": value}
            for (keep, memory), values in runs.items()
            for run, value in enumerate(values.tolist())
        ]
    )
    for row in table.winners("mean"):
        own = [runs[keep, row["memory"]] for keep in range(3)]
        leader = min(own, key=np.mean)
        closest = max(stats.ttest_rel(leader, other).pvalue for other in own if other is not leader)
        assert row["p"] == pytest.approx(min(1, 4 * closest))


@pytest.mark.parametrize("values", [{"one": [1.0, 2.0, 3.0]}, {"one": [1.0], "other": [2.0]}], ids=["rule", "run"])
def test_with_one_rule_or_one_run_nobody_wins(values):
    assert table_of(values).winners("mean") == [{"memory": 5, "keep": None, "p": 1.0}]


def test_an_empty_table_has_no_winners():
    assert Table([], ["keep", "memory", "run", "mean"]).winners("mean") == []


def test_a_share_can_win():
    """True is 1 and False is 0; the arm that one rule always found and the other never is judged by sign."""
    rows = [
        {"strategy": name, "memory": 5, "run": run, "found": name == "race"}
        for name in ("race", "wait")
        for run in range(10)
    ]
    assert Table(rows).winners("found", best="highest")[0]["strategy"] == "race"
    few = [row for row in rows if row["run"] < 4]
    assert Table(few).winners("found", best="highest")[0]["strategy"] is None
