"""The simulation of exploration: what its table says, and that it is the live agent, only faster."""

import json
import math
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from bestbefore import Explorer, bounds, simulate, streams
from bestbefore.rules import KEEP

COLUMNS = [
    "keep",
    "memory",
    "run",
    "mean",
    "median",
    "max",
    "within",
    "epsilon",
    "pulls",
    "peak_memory",
    "gap",
    "certified",
]


def rewards_of(kind, stream):
    return {"bernoulli": stream, "stars": stream.rated([0, 0.25, 0.5, 0.75, 1]), "gaussian": stream.gaussian(0.3)}[kind]


@settings(max_examples=150, deadline=None)
@given(
    means=st.lists(st.integers(0, 20).map(lambda k: k / 20), min_size=1, max_size=40),
    window=st.integers(1, 45),
    memory=st.integers(1, 12),
    pulls=st.integers(1, 30),
    keep=st.sampled_from(sorted(KEEP)),
    kind=st.sampled_from(["bernoulli", "stars", "gaussian"]),
    slack=st.sampled_from([0.0, 1.0]),
    seed=st.integers(0, 2**32),
)
def test_agent_and_compiled_loop_decide_alike(compiled_rewards, means, window, memory, pulls, keep, kind, slack, seed):
    """On the same rewards the live agent and the compiled loop answer with the same arm at every time."""
    stream = rewards_of(kind, streams.from_means(means))
    common = {"tests": pulls, "slack": slack}
    answers = simulate.trace(stream, window, memory, keep, seed=seed, **common).answers
    agent = Answers(window=window, keep=keep, memory=memory, sigma=0.3 if kind == "gaussian" else None, **common)
    with compiled_rewards():
        compiled, live = (
            simulate.explore(stream, window, memory, rule, runs=1, seed=seed, **common)
            for rule in (keep, agent.made_with)
        )
    assert agent.answers == answers.tolist()
    assert live.rows == [row | {"keep": "made_with"} for row in compiled]


@pytest.mark.parametrize("guarantee", bounds.GUARANTEES)
@pytest.mark.parametrize("keep", ["bucket", "topk"])
def test_both_pull_as_often_as_the_guarantee_needs(compiled_rewards, keep, guarantee):
    """With nothing but epsilon given, agent and compiled loop derive the same slots and the same pulls."""

    def live(window, memory, seed):
        return Explorer(window, 0.3, 0.1, keep, guarantee, arms=60, seed=seed)

    common = {"window": 20, "epsilon": 0.3, "delta": 0.1, "guarantee": guarantee, "runs": 2}
    with compiled_rewards():
        compiled, by_verbs = (simulate.explore(streams.uniform(60), keep=rule, **common) for rule in (keep, live))
    assert by_verbs.rows == [row | {"keep": "live"} for row in compiled]


class Answers:
    """Makes an explorer that writes down its answers."""

    def __init__(self, **arguments):
        self.arguments, self.answers = arguments, []

    def made_with(self, window, memory, seed):
        explorer = Explorer(**self.arguments, seed=seed)
        best = explorer.best

        def noted():
            self.answers.append(best() or 0)
            return best()

        explorer.best = noted
        return explorer


def test_the_table_has_a_row_for_each_rule_memory_and_run():
    table = simulate.explore(streams.uniform(100), 20, [2, 5], ["bucket", "topk"], runs=3)
    assert table.columns == COLUMNS
    keys = [(row["keep"], row["memory"], row["run"]) for row in table]
    assert keys == [(keep, memory, run) for keep in ("bucket", "topk") for memory in (2, 5) for run in range(3)]
    json.dumps(table.rows)


def test_rows_of_one_name_are_of_one_algorithm():
    def topk(**made):
        return Explorer(keep="topk", **made)

    few, many, lone = partial(Explorer, tests=2), partial(Explorer, tests=9), lambda **made: Explorer(tests=5, **made)
    table = simulate.explore(streams.uniform(10), 5, 3, [topk, few, "topk", many, lone, lone], runs=2, tests=1)
    told = [(row["keep"], row["pulls"], row["runs"]) for row in table.summary(by=["keep"], columns=["pulls"])]
    assert told[1:] == [("Explorer", 20, 2), ("topk", 10, 2), ("Explorer 2", 90, 2)] + [
        (name, 50, 2) for name in ("<lambda>", "<lambda> 2")
    ]
    assert told[0][0] == "topk 2", "a rule keeps its name, wherever it stands"
    table = simulate.explore(streams.uniform(10), 5, 3, {"few": few, "many": many, "our own": "topk"}, runs=1, tests=1)
    assert [(row["keep"], row["pulls"]) for row in table] == [("few", 20), ("many", 90), ("our own", 10)]


def test_columns_agree_with_the_trace_of_the_same_run():
    stream, common = streams.uniform(500), {"window": 30, "memory": 4, "keep": "bucket", "seed": 7}
    row = simulate.explore(stream, runs=3, **common).rows[2]
    errors = simulate.trace(stream, run=2, **common).errors
    assert row["mean"] == pytest.approx(errors.mean())
    assert row["median"] == pytest.approx(np.median(errors))
    assert row["max"] == errors.max()
    assert row["within"] == np.mean(errors <= row["epsilon"])


def test_the_error_is_the_best_valid_mean_less_that_of_the_answer():
    """Computed again, from the means and the answers alone."""
    rng = np.random.default_rng(3)
    means = rng.random(300)
    trace = simulate.trace(means, window=40, memory=3, keep="topk")
    best = [means[max(t - 39, 0) : t + 1].max() for t in range(300)]
    answered = [means[answer - 1] if answer else 0.0 for answer in trace.answers]
    assert trace.errors == pytest.approx(np.subtract(best, answered))


def test_with_no_answer_the_error_is_the_best_mean():
    """A king that has expired leaves nobody behind, until the next arm takes the throne."""

    class Silent:
        stored = ()

        def arrive(self, arm): ...
        def ask(self): ...
        def tell(self, arm, reward): ...
        def best(self): ...

    table = simulate.explore([0.2, 0.9, 0.4], 2, 1, Silent, runs=1)
    assert table["mean"][0] == pytest.approx((0.2 + 0.9 + 0.9) / 3)


@pytest.mark.parametrize("keep", sorted(KEEP))
def test_the_same_seed_gives_the_same_table_alone_or_in_parallel(keep):
    tables = [
        simulate.explore(streams.uniform(300), 25, [2, 6], keep, runs=5, seed=seed, jobs=jobs)
        for seed, jobs in ((1, 1), (1, 4), (2, 1))
    ]
    assert tables[0] == tables[1]
    assert tables[0] != tables[2]


def test_all_rules_of_a_run_see_the_same_arms():
    table = simulate.explore(streams.uniform(200), 10, 10, ["fifo", "bucket"], runs=2, tests=10**6)
    traces = [simulate.trace(streams.uniform(200), 10, 10, "fifo", tests=10**6, run=run) for run in (0, 1)]
    assert not np.array_equal(traces[0].answers, traces[1].answers)
    assert (table.where(keep="fifo")["mean"] < 0.001).all()


@pytest.mark.parametrize("keep", sorted(set(KEEP) - {"king"}))
@pytest.mark.parametrize(("window", "memory", "arms"), [(1, 1, 30), (1, 5, 30), (40, 1, 30), (7, 30, 30), (10, 10, 1)])
def test_odd_sizes(keep, window, memory, arms):
    """W = 1, m = 1, m > W, n < W and a single arm: pulls are exact and memory is never exceeded."""
    table = simulate.explore(streams.uniform(arms), window, memory, keep, tests=5, runs=2)
    assert set(table["pulls"]) == {5 * arms}
    assert (table["peak_memory"] <= min(memory, window)).all()
    if window == 1:
        assert (table["max"] == 0).all()


@pytest.mark.parametrize("keep", sorted(KEEP))
@pytest.mark.parametrize("mean", [0.0, 0.5, 1.0])
def test_equal_means_make_no_error(keep, mean):
    table = simulate.explore(streams.constant(100, mean), 20, 4, keep, runs=2)
    assert set(table["max"]) <= ({0.0} if keep != "king" or mean == 0 else {0.0, mean})


def upper_limit(failures, runs):
    """The 99.9% upper confidence limit of a failure rate (Clopper and Pearson)."""
    return binomtest(failures, runs).proportion_ci(0.998).high


GUARANTEED = {
    "uniform": streams.uniform(300),
    "decreasing": streams.decreasing(300),
    "sawtooth": streams.sawtooth(300, period=100),
}
RUNS, EPSILON, DELTA = 500, 0.3, 0.1


RULES = [("bucket", 1 / 3), ("staircase", 1 / 3), ("staircase", 1 / 10)]


@pytest.mark.parametrize("stream", sorted(GUARANTEED))
@pytest.mark.parametrize(("keep", "split"), RULES)
def test_the_weak_guarantee_holds_at_fixed_times(keep, split, stream):
    """Over 500 runs the failure rate at each of four fixed times is at most delta, by its upper confidence limit.

    The bound is loose, and no failure was seen in 2,000 runs; were the rate as high as delta / 5, a case would fail
    with probability below 1e-6.
    """
    setting = {"window": 50, "keep": keep, "epsilon": EPSILON, "delta": DELTA, "split": split, "guarantee": "weak"}
    times = [49, 120, 200, 299]
    failures = sum(
        simulate.trace(GUARANTEED[stream], run=run, **setting).errors[times] > EPSILON + 1e-12 for run in range(RUNS)
    )
    assert all(upper_limit(int(failed), RUNS) <= DELTA for failed in failures)


WHOLE_RUNS = [(guarantee, stream, "bernoulli") for guarantee in ("strong", "anytime") for stream in sorted(GUARANTEED)]


@pytest.mark.parametrize(("keep", "split"), RULES)
@pytest.mark.parametrize(
    ("guarantee", "stream", "rewards"),
    [*WHOLE_RUNS, ("weak", "uniform", "bernoulli"), ("strong", "uniform", "gaussian"), ("strong", "sawtooth", "stars")],
)
def test_the_guarantee_its_memory_and_its_pulls_over_whole_runs(guarantee, keep, split, stream, rewards):
    """Over 500 whole runs: memory within its bound, pulls exactly s per arm, strong and anytime fail at most delta.

    Chance: as above.  The weak guarantee says nothing of whole runs, so only its memory and pulls are looked at.
    """
    setting = {"window": 50, "keep": keep, "epsilon": EPSILON, "delta": DELTA, "split": split, "guarantee": guarantee}
    table = simulate.explore(rewards_of(rewards, GUARANTEED[stream]), runs=RUNS, **setting)
    if guarantee != "weak":
        assert upper_limit(int((table["within"] < 1).sum()), RUNS) <= DELTA
    assert table["peak_memory"].max() <= (math.ceil(3 / EPSILON) if split == 1 / 3 else bounds.memory(EPSILON, split))
    sizes = {"arms": 300, "split": split, "sigma": 0.3 if rewards == "gaussian" else 0.5}
    each = [bounds.pulls(EPSILON, 50, DELTA, guarantee, arrival=arrival, **sizes) for arrival in range(1, 301)]
    assert set(table["pulls"].tolist()) == {sum(each)}


def test_exact_tests_are_for_rewards_of_0_and_1():
    rated = streams.uniform(30).rated([0, 0.5, 1])
    with pytest.raises(ValueError, match="tests must be 'paper', 'pairs' or a number for ratings, not 'exact'"):
        simulate.explore(rated, 10, keep="bucket", epsilon=0.4, tests="exact", runs=1)
    table = simulate.explore(streams.uniform(30), 10, keep="bucket", epsilon=0.4, tests="exact", runs=1)
    assert table["certified"][0] == 1


def test_a_million_arms_in_memory_that_does_not_grow():
    """n and W ten times larger: what is allocated on the way stays the same, some megabytes."""
    import tracemalloc

    def peak(arms, window):
        tracemalloc.start()
        settings = {"keep": "staircase", "epsilon": 0.05, "probe": "fixed", "runs": 1, "jobs": 1}
        table = simulate.explore(streams.uniform(arms), window, **settings)
        used = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert table["within"][0] == 1
        return used

    peak(1000, 100)  # whatever is allocated once, such as compiled code
    small, large = peak(100_000, 10_000), peak(1_000_000, 100_000)
    assert large < 1.2 * small < 10_000_000


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"window": 0}, "window must be a whole number of at least 1, not 0"),
        ({"window": 2.5}, "window must be a whole number"),
        ({"memory": 0}, "memory must be a whole number of at least 1, not 0"),
        ({"memory": []}, "memory must name at least one"),
        ({"epsilon": 0}, "epsilon must be a number above 0 and at most 1, not 0"),
        ({"epsilon": 2}, "epsilon must be a number above 0 and at most 1, not 2"),
        ({"epsilon": math.nan}, "epsilon must be a number"),
        ({"delta": 1}, "delta must be a number above 0 and below 1, not 1"),
        ({"keep": "bukcet"}, "keep must be one of 'fifo'"),
        ({"keep": []}, "keep must name at least one"),
        ({"keep": {}}, "keep must name at least one rule, not {}"),
        ({"keep": ["bucket", "topk", "bucket"]}, "keep must name each rule once, not 'bucket' 2 times"),
        ({"keep": {1: Explorer}}, "keep must have names that are strings, not 1"),
        ({"keep": {"mine": "bukcet"}}, "keep must be one of 'fifo'"),
        ({"keep": None}, "keep must be one of"),
        ({"epsilon": 1e-9}, "epsilon and noise must not be so small"),
        ({"tests": 2**53}, "tests must be fewer than 2"),
        ({"guarantee": "sure"}, "guarantee must be one of 'weak'"),
        ({"split": 1.5}, "split must be"),
        ({"slack": -1}, "slack must be"),
        ({"tests": 0}, "tests must be"),
        ({"runs": 0}, "runs must be"),
        ({"seed": -1}, "seed must be"),
        ({"jobs": 0}, "jobs must be"),
        ({"stream": "uniform"}, "a stream must be a Stream or yield"),
        ({"stream": []}, "means must be a sequence of at least one"),
        ({"stream": [0.5, 1.5]}, "arm 2 has"),
    ],
)
def test_bad_input_is_named(wrong, words):
    arguments = {"stream": [0.5, 0.7], "window": 2, "memory": 2, "runs": 1} | wrong
    if "split" in wrong:
        arguments["epsilon"] = 0.5
    with pytest.raises(ValueError, match=words):
        simulate.explore(**arguments)


def test_trace_takes_one_memory_and_one_rule():
    with pytest.raises(ValueError, match="memory must be a whole number"):
        simulate.trace([0.5], 1, [1, 2])
    with pytest.raises(ValueError, match="keep must be one of"):
        simulate.trace([0.5], 1, 1, "bukcet")


def test_trace_takes_agents_and_many_runs():
    """A row a run, whose errors are those that the table sums up."""
    stream, common = streams.uniform(60), {"window": 10, "memory": 3, "tests": 20, "seed": 4}
    for keep in ("bucket", partial(Explorer, keep="bucket", tests=20)):
        traced = simulate.trace(stream, keep=keep, runs=range(2, 5), **common)
        assert traced.errors.shape == traced.answers.shape == (3, 60)
        table = simulate.explore(stream, keep=keep, runs=range(2, 5), **common)
        assert traced.errors.mean(axis=1) == pytest.approx(table["mean"])
        alone = simulate.trace(stream, keep=keep, run=3, **common)
        assert alone.answers.tolist() == traced.answers[1].tolist()


def test_results_of_numpy_arguments_can_be_written_as_json():
    table = simulate.explore([0.5, 0.6], np.int64(2), np.int64(3), epsilon=np.float32(0.5), runs=1)
    assert json.loads(table.to_json()) == table.rows


def test_an_agent_is_told_what_it_lacks():
    class Half:
        def __init__(self, **settings): ...
        def arrive(self, arm): ...
        def ask(self): ...

    for simulation, more, lacks in (
        ("explore", {"memory": 1}, "tell, best, stored"),
        ("play", {}, "tell, stored"),
        ("seek", {"flag": "implicit", "clock": "stops"}, "tell, finish, stored"),
        ("seek", {}, "tell, finish, stored, overdue, learn, tick"),
    ):
        own = {"strategy" if simulation == "seek" else "keep": Half}
        with pytest.raises(ValueError, match=f"agent for simulate.{simulation} must have .*, but Half lacks {lacks}$"):
            getattr(simulate, simulation)([0.5], 1, **more, **own, runs=1)


def test_an_agent_that_asks_for_an_arm_and_wants_none_of_its_rewards_is_told_so():
    class Coy(Explorer):
        def wanted(self, arm):
            return 0

    with pytest.raises(ValueError, match="wanted must be a whole number of at least 1, not 0"):
        simulate.explore([0.5], 1, 1, Coy, runs=1)
