"""`bestbefore log`: a served or durable stream becomes a log, and `bestbefore replay` reads it."""

import csv
import importlib
import json

import numpy as np
import pytest
from click.testing import CliRunner

from bestbefore import Player, connect
from bestbefore.cli import commands

COLUMNS = [
    *("--arm", "arm", "--reward", "reward", "--time", "asked"),
    *("--arrived", "arrived", "--propensity", "propensity"),
]


def run(*arguments):
    done = CliRunner().invoke(commands, [str(one) for one in arguments], catch_exceptions=False)
    assert done.exit_code == 0
    return done


def rows_of(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def desk(tmp_path):
    now = [1_800_000_000.0]
    with connect(f"sqlite:///{tmp_path}/streams.db", clock=lambda: now[0], sweep=None) as found:
        found.now, found.url = now, f"sqlite:///{tmp_path}/streams.db"
        yield found


@pytest.fixture(autouse=True)
def same_clock(desk, monkeypatch):
    """The command reads the time where the desk does."""
    made = connect
    monkeypatch.setattr("bestbefore.store.connect", lambda url, **more: made(url, clock=lambda: desk.now[0], **more))


def test_a_log_that_was_written_hour_by_hour_is_replayed(desk, tmp_path):
    """Six arms at once, each shown for six hours by a rule that draws; and its true means are known."""
    rng, out = np.random.default_rng(3), tmp_path / "log.csv"
    rates = rng.beta(2, 2, 24)
    page = desk.stream("front", Player, window="6h", memory=6, keep="fifo", pull="inf", seed=5)
    for hour in range(24):
        desk.now[0] = 1_800_000_000.0 + 3600 * hour
        page.arrive(f"article {hour}")
        for part in range(15):
            desk.now[0] += 200
            with desk.batch() as batch:
                asked = [batch.stream("front").ask(id=f"{hour}-{part}-{number}") for number in range(10)]
            with desk.batch() as batch:
                for pull in (call.result() for call in asked):
                    batch.stream("front").tell(pull.id, float(rng.random() < rates[int(pull.arm.split()[1])]))
        printed = run("log", desk.url, "front", "--out", out, "--append").output
        assert "pulls written: 150, of " in printed
    rows = rows_of(out)
    assert len({row["id"] for row in rows}) == len(rows) == 24 * 150
    assert [row["asked"] for row in rows] == sorted(row["asked"] for row in rows)
    assert printed.splitlines()[-1] == f"next: bestbefore replay {out} {' '.join(COLUMNS)} --window 6h"
    told = json.loads(run("replay", out, *COLUMNS, "--window", "6h", "-m", "6", "-r", 1, "--json").stdout)
    weighing = told["gain"][1]
    assert weighing["refused"] is None
    assert 0 < weighing["low"] < weighing["value"] < weighing["high"] < 1
    assert weighing["earned"] == pytest.approx(np.mean([float(row["reward"]) for row in rows]), abs=0.01)
    weights = [1 / float(row["propensity"]) for row in rows if row["arm"] == "article 12"]
    asked = sum(12 <= int(row["id"].split("-")[0]) < 18 for row in rows)
    assert sum(weights) == pytest.approx(asked, rel=0.25)  # as probabilities have it: each row counts 1 on average


def test_a_deterministic_rule_says_so_and_replay_refuses(desk, tmp_path):
    page = desk.stream("front", Player, window="6h", memory=6, seed=5)
    for arm in ("a", "b"):
        page.arrive(arm)
    for number in range(20):
        page.tell(page.ask(id=str(number)).id, number % 2)
    out = tmp_path / "log.csv"
    assert "propensity is 'deterministic' in 20 rows" in run("log", desk.url, "front", "-o", out).output
    assert {row["propensity"] for row in rows_of(out)} == {"deterministic"}
    told = json.loads(run("replay", out, *COLUMNS, "--window", "6h", "-m", "2", "-r", 1, "--json").stdout)
    assert [one["value"] for one in told["gain"]] == [None, None]
    assert told["words"]["gain"][0].startswith("Nothing was drawn when this log was made")


def test_names_totals_and_a_scale(desk, tmp_path):
    page = desk.stream("front", Player, window=9, memory=6, pull="inf", seed=5, scale=(1, 5))
    for arm in (7, "7", 'a, "b"\nc', ("x", 1)):
        page.arrive(arm)
    for number in range(30):
        page.tell(page.ask(id=str(number)).id, 1 + number % 5)
    out, totals = tmp_path / "my log.csv", tmp_path / "totals.csv"
    printed = run("log", desk.url, "front", "-o", out, "--totals", totals).output
    assert f"next: bestbefore replay '{out}'" in printed
    assert printed.strip().endswith("--window 9 --scale 1 5")
    found = rows_of(out)
    assert {row["arm"] for row in found} <= {"7", '"7"', 'a, "b"\nc', '["x", 1]'}
    for row in rows_of(totals):
        own = [float(one["reward"]) for one in found if one["arm"] == row["arm"]]
        assert int(row["pulls"]) == len(own)
        assert (float(row["mean"]) if own else row["mean"]) == (pytest.approx(np.mean(own)) if own else "")


def test_on_the_screen_there_is_only_the_log(desk):
    page = desk.stream("front", Player, window=9, memory=6, pull="inf", seed=5)
    page.arrive("a")
    page.tell(page.ask(id="x").id, 1)
    done = run("log", desk.url, "front")
    assert done.stdout.splitlines()[0] == "arm,arrived,asked,reward,propensity,how,id"
    assert done.stdout.splitlines()[1] == "a,2027-01-15T08:00:00+00:00,2027-01-15T08:00:00+00:00,1.0,1.0,told,x"
    assert len(done.stdout.splitlines()) == 2
    assert "pulls written: 1, of 1 of the 1 arms" in done.stderr


def test_what_is_wrong_is_a_sentence(desk, tmp_path):
    desk.stream("front", Player, window=9)
    for arguments, said in (
        ([desk.url, "nobody"], "stream 'nobody' is not in the database"),
        ([f"sqlite:///{tmp_path}/none.db", "front"], "url must name a database that is there"),
        ([desk.url, "front", "--append"], "--append must be given with --out"),
    ):
        with pytest.raises((ValueError, LookupError), match=said):
            run("log", *arguments)
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match="must have the columns arm,arrived"):
        run("log", desk.url, "front", "--out", tmp_path / "other.csv", "--append")
    assert (tmp_path / "other.csv").read_text() == "a,b\n1,2\n"


class TestTheFile:
    """Rows of arms that have gone are in the file only, so that nothing may spoil it."""

    @pytest.fixture
    def page(self, desk):
        found = desk.stream("front", Player, window=9, memory=6, pull="inf", seed=5)
        found.arrive("a")
        return found

    def tell(self, page, *ids):
        for one in ids:
            page.tell(page.ask(id=one).id, 1)

    def test_it_is_not_written_over(self, desk, page, tmp_path):
        out = tmp_path / "log.csv"
        out.write_text("mine")
        with pytest.raises(ValueError, match=r"log.csv is there already: add to it with --append, or write another"):
            run("log", desk.url, "front", "--out", out)
        assert out.read_text() == "mine"

    def test_where_writing_fails_half_way_it_is_as_it_was(self, desk, page, tmp_path, monkeypatch):
        out = tmp_path / "log.csv"
        self.tell(page, "x")
        run("log", desk.url, "front", "--out", out, "--append")
        before = out.read_bytes()
        self.tell(page, "y", "z")
        module = importlib.import_module("bestbefore.cli.log")
        write = module._write

        def cut(file, rows, *, header):
            write(file, rows[:1], header=header)
            raise KeyboardInterrupt

        monkeypatch.setattr(module, "_write", cut)
        with pytest.raises(KeyboardInterrupt):
            module.log.callback(desk.url, "front", out, append=True, totals=None, key=None)
        assert out.read_bytes() == before
        assert sorted(file.name for file in tmp_path.iterdir() if file.name.startswith(".")) == []

    def test_a_link_stays_one(self, desk, page, tmp_path):
        (tmp_path / "far").mkdir()
        out, there = tmp_path / "log.csv", tmp_path / "far" / "real.csv"
        out.symlink_to(there)
        for one in ("x", "y"):
            self.tell(page, one)
            run("log", desk.url, "front", "--out", out, "--append")
        assert out.is_symlink()
        assert [row["id"] for row in rows_of(there)] == ["x", "y"]
