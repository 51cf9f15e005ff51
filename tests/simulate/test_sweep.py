"""A grid: one call, one table; the same numbers on all cores, in other processes, and on a cluster."""

from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest

from bestbefore import Explorer, simulate, streams
from bestbefore.memory import put

POINTS = {"window": [5, 10, 20], "memory": [2, 3, 5], "keep": ["bucket", "topk", "staircase", "fifo"]}


def test_each_point_is_the_table_of_that_setting():
    table = simulate.grid("explore", streams.uniform, arms=[40, 60], epsilon=[0.3, 0.5], keep="bucket", runs=2)
    assert len(table) == 2 * 2 * 2
    for arms in (40, 60):
        for epsilon in (0.3, 0.5):
            alone = simulate.explore(streams.uniform(arms), epsilon=epsilon, keep="bucket", runs=2)
            here = [dict(row) for row in table.where(arms=arms, epsilon=epsilon)]
            assert [{name: row[name] for name in alone.columns} for row in here] == alone.rows


@pytest.mark.parametrize("task", ["play", "seek"])
def test_other_tasks_too(task):
    more = {"budgets": 20, "pull": ["ucb", "moss"]} if task == "play" else {"budget": 500, "strategy": ["wait", "race"]}
    table = simulate.grid(task, streams.uniform(50), window=np.array([4, 8]), memory=[2, 4], runs=2, **more)
    assert len(table) == 2 * 2 * 2 * 2
    assert sorted(set(table["window"])) == [4, 8]


def test_a_stream_that_depends_on_the_window_is_made_for_each():
    table = simulate.grid(
        "explore", streams.two_level, arms=60, window=[10, 30], memory=4, keep="fifo", tests=5, runs=1
    )
    alone = simulate.explore(streams.two_level(60, 30), window=30, memory=4, keep="fifo", tests=5, runs=1)
    assert "arms" not in table.columns
    assert table.where(window=30)["mean"][0] == alone["mean"][0]


@pytest.mark.parametrize("where", ["threads", "processes", "dask"])
def test_any_executor_gives_the_same_table(where):
    """3 windows x 3 memories x 4 rules x 20 runs on a cluster, with a rule and an agent of one's own besides."""

    def first_slot(memory, arrival, pulls, total, moment):
        put(memory, 0, arrival, pulls, total)
        return 0

    own = {"mine": first_slot, "agent": Explorer, **{name: name for name in POINTS["keep"]}}
    runs = 20 if where == "dask" else 2
    setting = POINTS | {"keep": own, "tests": 5, "runs": runs, "progress": False}
    stream = streams.uniform(25)
    here = simulate.grid("explore", stream, **setting)
    assert len(here) == 3 * 3 * 6 * runs
    if where == "threads":
        with ThreadPoolExecutor(2) as pool:
            assert simulate.grid("explore", stream, executor=pool, **setting) == here
    elif where == "processes":
        with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
            assert simulate.grid("explore", stream, executor=pool, **setting) == here
    else:
        from distributed import Client, LocalCluster

        cluster = LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None)
        with cluster, Client(cluster) as client, client.get_executor() as pool:
            assert simulate.grid("explore", stream, executor=pool, **setting) == here


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"task": "guess"}, "task must be one of 'explore', 'play', 'seek', not 'guess'"),
        ({"wndow": [5]}, "settings must be one of 'window'.*, not 'wndow'"),
        ({"window": []}, "window must have at least one value"),
        ({"window": [5, 5]}, "window must name each value once, not 5 2 times"),
        ({"window": [5, 0]}, "window must be a whole number of at least 1, not 0"),
        ({"arms": [10]}, "arms must be left out"),
        ({"keep": ["bucket", "bucket"]}, "keep must name each rule once"),
        ({"memory": [2, 2]}, "memory must name each number once"),
        ({"jobs": 0}, "jobs must be"),
    ],
)
def test_bad_input_is_named_before_anything_runs(wrong, words):
    with pytest.raises(ValueError, match=words):
        simulate.grid(**{"task": "explore", "stream": streams.uniform(10), "memory": 2, "tests": 3} | wrong)


def test_an_error_at_one_point_ends_the_grid():
    def fails(memory, arrival, pulls, total, moment):
        return 77

    with ThreadPoolExecutor(1) as pool, pytest.raises(ValueError, match="keep rule 'fails'"):
        simulate.grid("explore", streams.uniform(20), window=[3, 4], memory=2, keep=fails, tests=2, executor=pool)
