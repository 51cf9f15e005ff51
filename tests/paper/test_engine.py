"""Pieces of work on one core, two, or a cluster: the same results, through deaths, errors and Ctrl-C."""

import importlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bestbefore.paper.engine import run_pieces
from bestbefore.paper.store import Store

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def work():
    """The functions that workers run: they find them on the path they inherit."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(HERE)
        yield importlib.import_module("engine_pieces")


@pytest.fixture(scope="module")
def cluster(work):
    """The address of a real cluster of two processes, whose scheduler gives a piece up at its second death."""
    import dask
    from distributed import LocalCluster

    size = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    with dask.config.set({"distributed.scheduler.allowed-failures": 1}), LocalCluster(**size) as running:
        yield running.scheduler_address


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "results", {"seed": 0}) as opened:
        yield opened


@pytest.fixture
def counting(tmp_path, work):
    """Make pieces that leave a trace each time that they run, and read the traces."""
    traces = tmp_path / "traces"
    traces.mkdir()

    class Counting:
        @staticmethod
        def pieces(count, **events):
            named = {int(name[1:]): event for name, event in events.items()}
            return {f"a/{i}": (str(traces), str(i), named.get(i, "")) for i in range(count)}

        @staticmethod
        def calls():
            return {f"a/{path.name}": len(path.read_text()) for path in traces.iterdir()}

    return Counting


def test_one_core_two_cores_and_a_cluster_give_the_same(work, cluster, tmp_path):
    pieces = {f"seeds/{seed}": seed for seed in range(6)}
    ways = {"one": {"jobs": 1}, "two": {"jobs": 2}, "cluster": {"cluster": cluster}}
    found = {}
    for way, options in ways.items():
        with Store(tmp_path / way, {}) as store:
            found[way] = run_pieces(work.explored, pieces, store, **options)
            assert store.load() == found[way]
    assert (
        found["one"] == found["two"] == found["cluster"] == {name: work.explored(seed) for name, seed in pieces.items()}
    )


def test_results_come_in_the_order_of_the_pieces_whoever_finished_first(work, counting, store):
    pieces = counting.pieces(4, _0=f"waits for a result in {store.path}")
    assert list(run_pieces(work.counted, pieces, store, jobs=2)) == list(pieces)
    assert next(iter(store.load())) != "a/0"


def test_a_second_run_does_only_what_is_missing(work, counting, store):
    pieces = counting.pieces(6)
    some = {name: pieces[name] for name in ("a/1", "a/4")}
    run_pieces(work.counted, some, store, jobs=1)
    first = run_pieces(work.counted, pieces, store, jobs=1)
    assert run_pieces(work.counted, pieces, store, cluster="never asked") == first
    assert counting.calls() == dict.fromkeys(pieces, 1)


def test_a_worker_that_dies_costs_only_its_own_work(work, counting, store):
    pieces = counting.pieces(30, _12="dies once")
    assert list(run_pieces(work.counted, pieces, store, jobs=2)) == list(pieces)
    calls = counting.calls()
    assert calls["a/12"] == 2
    assert sum(calls.values()) <= 30 + 4  # those in flight, twice as many as workers


def test_on_a_cluster_too(work, cluster, counting, store):
    pieces = counting.pieces(30, _12="dies once")
    assert list(run_pieces(work.counted, pieces, store, cluster=cluster)) == list(pieces)
    assert counting.calls()["a/12"] == 2


def test_a_piece_that_always_kills_its_worker_is_named_and_all_others_are_stored(work, counting, store):
    pieces = counting.pieces(6, _3="always dies")
    with pytest.raises(ChildProcessError, match=r"given up: 'a/3'$"):
        run_pieces(work.counted, pieces, store, jobs=2)
    assert set(store.load()) == set(pieces) - {"a/3"}
    assert counting.calls()["a/3"] == 3


def test_on_a_cluster_it_is_named_too(work, cluster, counting, store):
    pieces = counting.pieces(6, _3="always dies")
    with pytest.raises(ChildProcessError, match=r"given up: 'a/3'$"):
        run_pieces(work.counted, pieces, store, cluster=cluster)
    assert set(store.load()) == set(pieces) - {"a/3"}


def test_where_every_piece_kills_its_worker_it_ends_soon(work, counting, store, monkeypatch):
    monkeypatch.setattr("bestbefore.paper.engine.MOST_LOST", 1)
    pieces = counting.pieces(50, **{f"_{i}": "always dies" for i in range(50)})
    with pytest.raises(ChildProcessError, match="given up: 'a/"):
        run_pieces(work.counted, pieces, store, jobs=1)
    assert len(counting.calls()) <= 4


def test_an_error_names_its_piece_and_keeps_what_is_stored(work, counting, store):
    pieces = counting.pieces(60, _5="fails")
    with pytest.raises(ZeroDivisionError, match="one by nothing") as caught:
        run_pieces(work.counted, pieces, store, jobs=1)
    assert caught.value.__notes__ == ["This was in the piece 'a/5'."]
    assert {f"a/{i}" for i in range(5)} <= set(store.load())
    assert len(counting.calls()) < 20


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_after_ctrl_c_a_second_run_goes_on_from_there(work, counting, tmp_path):
    """The signal goes to the whole group of processes, as a terminal sends it."""
    command = [sys.executable, str(HERE / "engine_pieces.py"), str(tmp_path / "results"), str(tmp_path / "traces")]
    results = tmp_path / "results" / "results.jsonl"
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True) as running:  # noqa: S603
        while not (results.exists() and results.stat().st_size):
            assert running.poll() is None
            time.sleep(0.05)
        os.killpg(running.pid, signal.SIGINT)
        _, said = running.communicate(timeout=60)
    assert (running.returncode, said) == (130, "")
    with Store(tmp_path / "results", {"seed": 0}) as store:
        before = store.load()
        assert 0 < len(before) < 200
        pieces = counting.pieces(200)
        assert list(run_pieces(work.counted, pieces, store, jobs=1)) == list(pieces)
    calls = counting.calls()
    assert all(calls[name] == 1 for name in before)


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_no_worker_outlives_a_run_that_is_killed(tmp_path):
    (tmp_path / "traces").mkdir()
    command = [sys.executable, str(HERE / "engine_pieces.py"), str(tmp_path / "results"), str(tmp_path / "traces")]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as running:  # noqa: S603
        while not any((tmp_path / "traces").iterdir()):
            assert running.poll() is None
            time.sleep(0.05)
        running.kill()
        running.communicate(timeout=60)  # until the last process that holds standard error has gone
    assert len(list((tmp_path / "traces").iterdir())) < 200


@pytest.mark.parametrize("address", ["nonsense", "tcp://127.0.0.1", "http://127.0.0.1:80", "127.0.0.1:99999", ""])
def test_an_address_that_is_none(address, work, counting, store):
    with pytest.raises(ValueError, match="cluster must be the address of a Dask scheduler, as tcp://"):
        run_pieces(work.counted, counting.pieces(1), store, cluster=address)


def test_an_address_where_nobody_answers_or_somebody_else(work, counting, store):
    with socket.create_server(("127.0.0.1", 0)) as other:
        address = f"127.0.0.1:{other.getsockname()[1]}"
        other.settimeout(0)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("bestbefore.paper.workers.SECONDS_TO_CONNECT", 0.2)
            with pytest.raises(OSError, match="no Dask scheduler answers"):
                run_pieces(work.counted, counting.pieces(1), store, cluster=address)
    with pytest.raises(OSError, match="no Dask scheduler answers"):
        run_pieces(work.counted, counting.pieces(1), store, cluster=address)


def test_without_dask_the_extra_is_named(work, counting, store, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'bestbefore\[cluster\]'"):
        run_pieces(work.counted, counting.pieces(1), store, cluster="127.0.0.1:8786")


def test_a_worker_with_another_package_is_refused(work):
    from bestbefore.paper.workers import do

    with pytest.raises(ValueError, match="has another bestbefore"):
        do(work.counted, None, "other sources")


def test_progress_has_a_line_for_each_group_that_is_finished(work, tmp_path, store, capfd):
    pieces = {f"{group}/{i}": (str(tmp_path), f"{group}{i}", "") for group in ("left", "right") for i in range(2)}
    store.add("left/0", [])
    run_pieces(work.counted, pieces, store, jobs=1, progress=True)
    out, said = capfd.readouterr()
    assert out == ""
    assert "1 of 4 are there already" in said
    assert "left: done" in said
    assert "right: done" in said


def test_jobs_must_be_a_number(work, store):
    with pytest.raises(ValueError, match="jobs must be a whole number of at least 1, not 0"):
        run_pieces(work.counted, {}, store, jobs=0)
    assert json.dumps(run_pieces(work.counted, {}, store)) == "{}"
