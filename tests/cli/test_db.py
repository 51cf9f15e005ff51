"""`bestbefore db`: what it prints, and its exit codes."""

import json
import sqlite3

import pytest
from click.testing import CliRunner

from bestbefore import Explorer, connect
from bestbefore.cli import commands


@pytest.fixture
def url(tmp_path):
    address = f"sqlite:///{tmp_path}/streams.db"
    with connect(address, clock=lambda: 1_700_000_000.0, sweep=None) as desk:
        page = desk.stream("front", Explorer, window="1h", epsilon=0.2, seed=1)
        page.arrive("storm")
        page.arrive("calm")
        page.ask(id="open")
    return address


def run(*arguments, code=0, **more):
    done = CliRunner().invoke(commands, ["db", *map(str, arguments)], **more)
    assert done.exit_code == code, done.output
    return done.output


def test_migrate_says_from_where_to_where(tmp_path):
    new = f"sqlite:///{tmp_path}/new.db"
    assert run("migrate", new) == "from version none to 0004\n"
    assert run("migrate", new) == "already at version 0004\n"


def test_check_says_of_each_stream_whether_it_is_fine(url):
    assert run("check", url) == "front: fine\n1 of 1 streams are fine\n"
    raw = sqlite3.connect(url.removeprefix("sqlite:///"))
    raw.execute("DELETE FROM bestbefore_pulls")
    raw.commit()
    raw.close()
    assert "1 pulls were asked for, but 0 ended and 0 are open" in run("check", url, code=1)


def test_copy_export_and_import(url, tmp_path):
    other, third = (f"sqlite:///{tmp_path}/{name}.db" for name in ("other", "third"))
    printed = run("copy", url, other)
    assert printed.startswith("front: 2 arms, 1 pulls, checksum ")
    assert printed.endswith("1 streams are the same in both\n")
    exported = run("export", other, "front")
    assert [arm["name"] for arm in json.loads(exported)["arms"]] == ["storm", "calm"]
    assert run("import", third, input=exported) == "stream 'front' is there\n"
    assert run("export", third, "front", "-o", tmp_path / "front.json") == ""
    assert json.loads((tmp_path / "front.json").read_text("utf-8")) == json.loads(exported)
    assert "already" in str(
        CliRunner().invoke(commands, ["db", "import", third, str(tmp_path / "front.json")]).exception
    )
    assert "must be JSON" in run("import", third, input="nonsense", code=2)


def test_sweep_does_what_is_due(url):
    assert run("sweep", url).startswith("1 streams had something due; 2 arms were let go\nall deleted names are erased")
    assert run("sweep", url).startswith("0 streams had something due")


@pytest.mark.parametrize("command", ["check", "sweep"])
def test_a_database_that_is_not_there_is_not_made(command, tmp_path):
    done = CliRunner().invoke(commands, ["db", command, f"sqlite:///{tmp_path}/nothing.db"])
    assert "url must name a database that is there" in str(done.exception)
    assert list(tmp_path.iterdir()) == []
