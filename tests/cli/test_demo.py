"""`bestbefore demo`: a newsroom in fast motion."""

import importlib
import os
import re
import signal
import subprocess
import sys

import pytest
from click.testing import CliRunner

from bestbefore import connect
from bestbefore.cli import commands
from bestbefore.service.keys import Keys
from bestbefore.service.newsroom import STREAMS, Newsroom
from bestbefore.service.running import Running
from bestbefore.service.settings import Settings
from bestbefore.store.moving import problems

demo = importlib.import_module("bestbefore.cli.demo")
MIDNIGHT = 20833 * 86400.0
HOUR = 3600.0


def night(url, seed=0):
    """Let a newsroom work from midnight to six; return what it has done, and when its streams were silent."""
    clock, silent = demo.ToldClock(MIDNIGHT), []
    with connect(url, clock=clock, sweep=None) as desk:
        newsroom = Newsroom(desk, 86400.0, clock(), seed)
        newsroom.open()
        for step in range(1, 13):
            clock.tell(MIDNIGHT + step * HOUR / 2)
            newsroom.step(clock())
            silent.append(desk.overview(int(HOUR * 1e6)).silent)
        facts = [desk.stream(name).look() for name in STREAMS]
        assert not any(problems(desk._store).values())  # the ledgers add up
        told = {name: (agent.arrivals, agent.pulls, agent.best()) for name, agent in zip(STREAMS, facts, strict=True)}
        return told, newsroom.views, newsroom.articles, silent


def test_a_night_of_the_newsroom_is_the_same_for_the_same_seed(tmp_path):
    first, again, other = (
        night(f"sqlite:///{tmp_path}/{name}.db", seed) for name, seed in (("a", 0), ("b", 0), ("c", 1))
    )
    assert first == again
    assert first != other
    told, views, articles, silent = first
    assert views > 100
    assert articles > 2
    assert all(arrivals == articles and pulls > 20 for arrivals, pulls, _ in told.values())
    assert silent[:4] == [0, 0, 0, 0]  # until two o'clock, when the click log goes down
    assert max(silent[4:9]) > 0
    assert silent[-1] == 0  # it works again since half past four


def test_the_clock_shows_what_it_was_told_and_then_runs_fast(monkeypatch):
    wall = 100.0
    monkeypatch.setattr(demo.time, "monotonic", lambda: wall)
    clock = demo.ToldClock(50.0)
    assert clock() == 50.0
    clock.tell(70.0)
    clock.run(240.0)
    wall += 2.0
    assert clock() == 550.0
    clock.run(2.0)
    wall += 1.0
    assert clock() == 552.0


def test_the_command_says_where_to_look_and_how_fast_its_clock_is_and_stops_by_itself():
    done = CliRunner().invoke(commands, ["demo", "--for", "1 s", "--day", "60"], catch_exceptions=False)
    assert done.exit_code == 0
    assert re.search(r"http://127\.0\.0\.1:\d+/login", done.output)
    assert re.search(r"^bb_\w{12}_\S+$", done.output, re.MULTILINE)
    assert "1440 times as fast" in done.output
    assert "the newsroom is closed" in done.output


def test_a_service_that_runs_already_keeps_its_own_clock(tmp_path):
    url = f"sqlite:///{tmp_path}/streams.db"
    with connect(url, sweep=None) as desk:
        keys = Keys(desk._store)
        text = keys.make("demo", "write")[1]
        with Running(desk, keys, Settings(db=url)) as running:
            arguments = ["demo", "--url", running.address, "--key", text, "--for", "1 s", "--day", "20"]
            done = CliRunner().invoke(commands, arguments, catch_exceptions=False)
        assert done.exit_code == 0
        assert "a window of 20 s stands for a day" in done.output
        assert desk.streams() == sorted(STREAMS)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [(["--for", "5"], "for must be a time"), (["--url", "http://127.0.0.1:1"], "key must be given")],
)
def test_what_cannot_be_is_said_before_anything_starts(arguments, words):
    done = CliRunner().invoke(commands, ["demo", *arguments])
    assert words in str(done.exception)


@pytest.mark.parametrize("told", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_well_when_it_is_stopped_and_deletes_its_database(tmp_path, told):
    """In a process of its own, whose temporary files are looked at."""
    command = [sys.executable, "-u", "-m", "bestbefore", "demo", "--day", "60"]
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:  # noqa: S603
        while "Ctrl-C" not in (line := process.stdout.readline()):
            assert line, process.wait()
        [folder] = tmp_path.glob("bestbefore-demo-*")
        assert (folder / "newsroom.db").exists()
        process.send_signal(told)
        said = process.stdout.read()
    assert process.returncode == 0
    assert "the newsroom is closed" in said
    assert not folder.exists()
