"""Runs of own agents use several processes where they can, and give the same table everywhere."""

import importlib
import os
import signal
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from bestbefore import simulate, streams
from bestbefore.simulate import apart
from bestbefore.simulate.drive import Drive, drive_explore, drive_play
from bestbefore.simulate.made import Setting

HERE = Path(__file__).parent
SETTINGS = {"window": 10, "memory": [2, 4], "runs": 3}


@pytest.fixture(scope="module")
def own():
    """Agents in a module that other processes find on the path they inherit."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(HERE)
        yield importlib.import_module("own_agents")


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(apart, "SECONDS_ALONE", 0.0)


def processes(folder):
    return {int(path.name) for path in folder.iterdir()}


def test_two_jobs_are_two_processes_and_the_table_is_the_same(own, impatient, tmp_path):
    """Each run waits until two processes have begun."""
    slow = partial(own.Slow, folder=str(tmp_path))
    tables = [simulate.explore(streams.uniform(50), keep={"own": slow}, jobs=2, **SETTINGS)]
    assert len(processes(tmp_path)) == 2
    assert os.getpid() in processes(tmp_path)
    for jobs in (1, 2, None):
        tables.append(simulate.explore(streams.uniform(50), keep={"own": own.Fresh}, jobs=jobs, **SETTINGS))
    tables.append(
        simulate.explore(
            streams.uniform(50), keep={"own": lambda window, memory: own.Fresh(window, memory)}, **SETTINGS
        )
    )
    assert all(table == tables[0] for table in tables)


@pytest.mark.parametrize("kind", ["bernoulli", "stars", "gaussian"])
def test_every_kind_of_stream_can_be_sent(own, kind):
    stream = streams.uniform(50)
    stream = {"bernoulli": stream, "stars": stream.rated([0, 0.5, 1]), "gaussian": stream.gaussian(0.3)}[kind]
    where = Setting(stream, window=10, memory=4, seed=1, run=2)
    drives = [
        Drive(drive_explore, own.Fresh, where, {"epsilon": 0.1}),
        Drive(drive_play, own.Fresh, where, {"budgets": np.full(50, 20)}),
    ]
    for drive in drives:
        known, row = apart.do_packed(apart.pack(drive))
        assert known
        assert row == drive(threading.Event())


def test_what_cannot_be_sent_runs_here(own, impatient, monkeypatch):
    """A lambda, a class within a function, and one that no other process can import."""

    class Local(own.Fresh):
        pass

    lost = type("Lost", (own.Fresh,), {"__module__": "nowhere"})
    nowhere = ModuleType("nowhere")
    nowhere.Lost = lost
    monkeypatch.setitem(sys.modules, "nowhere", nowhere)
    mine = type("Mine", (own.Fresh,), {"__module__": "__main__"})
    ways = {
        "local": Local,
        "lambda": lambda window, memory: own.Fresh(window, memory),
        "lost": lost,
        "mine": mine,
        "own": own.Fresh,
    }
    table = simulate.explore(streams.uniform(50), keep=ways, jobs=2, **SETTINGS)
    rows = [[row | {"keep": ""} for row in table.where(keep=name)] for name in ways]
    assert all(one == rows[-1] for one in rows)


def test_short_work_starts_no_process(own, tmp_path):
    agent = partial(own.Slow, folder=str(tmp_path), others=1)
    simulate.explore([0.5] * 20, 5, 2, agent, runs=4, jobs=2)
    assert processes(tmp_path) == {os.getpid()}


def test_an_error_in_another_process_arrives_with_its_sentence(own, impatient, tmp_path):
    failing = partial(own.Failing, folder=str(tmp_path), here=os.getpid())
    with pytest.raises(RuntimeError, match="OddError: odd agent"):
        simulate.explore([0.5] * 20, 5, 2, failing, runs=2, jobs=2)


def test_a_rule_that_is_broken_in_another_process_is_told_as_here(own, impatient, tmp_path):
    """With more slots than the window it keeps expired arms."""
    messages = []
    for jobs in (1, 2):
        with pytest.raises(ValueError, match="the agent Turns stores arm 1, which has expired") as caught:
            simulate.explore([0.5] * 20, 5, 9, own.Turns, runs=2, jobs=jobs)
        messages.append(str(caught.value))
    assert messages[0] == messages[1]


SCRIPT = """
import sys
from functools import partial

sys.path.insert(0, {here!r})
import own_agents
from bestbefore import simulate
from bestbefore.simulate import apart

apart.SECONDS_ALONE = 0.0
print("begun")
simulate.explore([0.5] * 100, 5, 2, partial(own_agents.Slow, folder={folder!r}), runs=2, jobs=2)
"""


def test_a_script_without_a_guard_is_not_run_again_in_each_process(tmp_path):
    script, folder = tmp_path / "script.py", tmp_path / "processes"
    folder.mkdir()
    script.write_text(SCRIPT.format(here=str(HERE), folder=str(folder)))
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=120)  # noqa: S603
    assert (done.returncode, done.stdout, done.stderr) == (0, "begun\n", "")
    assert len(processes(folder)) == 2


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_ctrl_c_ends_all_processes(tmp_path):
    """The signal goes to the whole group, as a terminal sends it, when both processes are under way."""
    script, folder = tmp_path / "script.py", tmp_path / "processes"
    folder.mkdir()
    script.write_text(SCRIPT.format(here=str(HERE), folder=str(folder)).replace("Slow", "Endless"))
    command, options = [sys.executable, str(script)], {"stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, start_new_session=True, **options) as running:  # noqa: S603
        while len(processes(folder)) < 2:
            assert running.poll() is None
            time.sleep(0.05)
        os.killpg(running.pid, signal.SIGINT)
        _, said = running.communicate(timeout=120)  # until the last process that holds standard error has gone
    assert running.returncode != 0
    assert said.rstrip().endswith("KeyboardInterrupt")
    assert said.count("Traceback") == 1
