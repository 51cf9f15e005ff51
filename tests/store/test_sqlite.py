"""SQLite: what was acknowledged is safe, and what was deleted is gone from every byte."""

import json
import re
import sqlite3
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from sqlalchemy import event

from bestbefore import Explorer, StoreDamaged, StoreUnavailable, connect
from bestbefore.store import open_store
from bestbefore.store.migrate import migrate
from bestbefore.store.moving import problems
from bestbefore.testing import check_store

BENCHMARKS = Path(__file__).parent.parent.parent / "benchmarks"
SETTINGS = {"window": 5, "memory": 3, "tests": 4, "seed": 1}


def path_of(url):
    return Path(url.removeprefix("sqlite:///"))


def files_with(url, text):
    """Return which of the database's files have a text in any byte."""
    path = path_of(url)
    return [one.name for one in sorted(path.parent.glob(path.name + "*")) if text.encode() in one.read_bytes()]


def test_it_passes_the_suite_that_every_store_passes(url):
    def opened():
        store = open_store(url)
        migrate(store)
        return store

    check_store(opened)


def test_each_commit_is_flushed_and_a_transaction_takes_the_lock_at_once(desk):
    with desk._store.write() as writing:
        settings = {
            name: writing.connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("journal_mode", "synchronous", "secure_delete", "busy_timeout")
        }
        assert settings == {"journal_mode": "wal", "synchronous": 2, "secure_delete": 1, "busy_timeout": 30_000}
        other = sqlite3.connect(desk._store.path, timeout=0)
        with pytest.raises(sqlite3.OperationalError, match="locked"):  # though nothing was written yet
            other.execute("BEGIN IMMEDIATE")
        other.close()


def test_after_expiry_the_name_is_in_no_byte_of_the_files(desk, url, clock):
    page = desk.stream("front", Explorer, window="1h", epsilon=0.2, patience="10 min")
    page.arrive("secret-storm")
    page.arrive("secret-calm")
    for _ in range(5):
        page.tell(page.ask().id, 0.5)
    assert files_with(url, "secret-storm")
    clock.now += 3600
    page.arrive("sun")
    assert set(page.look().means()) == {"secret-calm", "sun"}
    desk.sweep()
    assert files_with(url, "secret-storm") == []
    assert files_with(url, "secret-calm")
    clock.now += 1
    desk.sweep()
    assert files_with(url, "secret") == []
    assert files_with(url, "sun")


def test_a_name_that_was_withdrawn_is_gone_from_the_disk_when_the_call_returns(desk, url):
    page = desk.stream("front", Explorer, window=5, epsilon=0.2)
    for arm in ("secret-storm", "calm"):
        page.arrive(arm)
    page.withdraw("secret-storm")
    assert files_with(url, "secret-storm") == []
    assert files_with(url, "calm")
    assert not desk.erased("front").waiting


def test_a_stream_that_was_dropped_leaves_nothing(desk, url):
    page = desk.stream("secret page", Explorer, **SETTINGS)
    page.arrive("secret-storm")
    page.ask(id="secret id")
    desk.drop("secret page")
    assert files_with(url, "secret") == []


def test_of_many_names_that_came_and_went_none_is_left(desk, url):
    """Pages of the file are split, merged and used again meanwhile."""
    pages = [desk.stream(f"stream {number}", Explorer, window=4, memory=3, tests=1) for number in range(6)]
    for turn in range(25):
        with desk.batch() as batch:
            for number, page in enumerate(pages):
                batch.stream(page.name).arrive(f"secret-{number}-{turn}-" + "x" * (turn * 37 % 300))
        for page in pages:
            page.tell(page.ask().id, (turn * 7 % 10) / 10)
    desk.sweep()
    here = {arm for page in pages for arm in page.look().means()}
    everything = b"".join(one.read_bytes() for one in path_of(url).parent.glob("streams.db*"))
    names = [f"secret-{number}-{turn}-" for number in range(6) for turn in range(25)]
    left = [name for name in names if name.encode() in everything]
    assert sorted(left) == sorted({name for name in names if any(arm.startswith(name) for arm in here)})
    assert 6 <= len(left) <= 24


def test_a_reader_in_the_way_is_told_and_the_next_sweep_erases(desk, url):
    """Somebody looks at the file with a tool of their own: the log cannot be cut while they do."""
    page = desk.stream("front", Explorer, **SETTINGS)
    page.arrive("secret-storm")
    looking = sqlite3.connect(path_of(url))
    looking.execute("BEGIN")
    looking.execute("SELECT count(*) FROM bestbefore_arms").fetchall()
    page.withdraw("secret-storm")
    assert desk.erased("front").waiting
    assert not desk.sweep().erased
    page.arrive("calm")  # the work goes on
    with desk._store.write() as writing:
        assert writing.connection.exec_driver_sql("PRAGMA busy_timeout").scalar() == 30_000
    looking.close()
    assert desk.sweep().erased
    assert not desk.erased("front").waiting
    assert files_with(url, "secret-storm") == []


def test_what_a_retention_officer_asks(desk, clock):
    page = desk.stream("front", Explorer, window="1h", epsilon=0.2)
    assert desk.erased("front") == (0, None, None, False)
    page.arrive("storm")
    clock.now += 60
    page.arrive("calm")
    assert desk.erased("front").oldest.total_seconds() == 60
    clock.now += 3550
    desk.sweep()
    arms, swept, oldest, waiting = desk.erased("front")
    assert (arms, swept.timestamp(), oldest.total_seconds(), waiting) == (1, clock.now, 3550, False)


@pytest.fixture
def small_disk(tmp_path):
    """A disk of a megabyte: a real one, in memory."""
    folder = tmp_path / "small"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)], check=True)  # noqa: S603, S607
    yield folder
    subprocess.run(["umount", str(folder)], check=True)  # noqa: S603, S607


def test_a_full_disk_is_a_sentence_and_work_goes_on_when_there_is_room(small_disk):
    """What was acknowledged before is there, and a call that failed has changed nothing."""
    with connect(f"sqlite:///{small_disk}/streams.db", sweep=None) as desk:
        page = desk.stream("front", Explorer, window=5, memory=3, tests=1000, seed=1)
        page.arrive("storm")
        ballast = small_disk / "ballast"
        with ballast.open("wb", buffering=0) as file, suppress(OSError):
            while file.write(b"x" * 4096):
                pass
        acknowledged, failed = 0, None
        while failed is None:
            try:
                page.tell(page.ask().id, 0.5)
                acknowledged += 1
            except StoreUnavailable as wrong:
                failed = wrong
        assert "the disk is full; nothing was changed, and it is safe to send it again" in str(failed)
        assert page.pulls == acknowledged  # it can still be read
        ballast.unlink()
        page.tell(page.ask().id, 0.5)
        assert page.pulls == acknowledged + 1
        assert problems(desk._store) == {"front": []}


def test_a_read_only_file_can_be_read_and_says_why_it_cannot_be_written(small_disk):
    url = f"sqlite:///{small_disk}/streams.db"
    remount = ["mount", "-o", "remount,{}", str(small_disk)]
    with connect(url, sweep=None) as desk:
        page = desk.stream("front", Explorer, **SETTINGS)
        page.arrive("storm")
        page.tell(page.ask().id, 0.5)
        page.best()
        opened = desk._store._writer.pool.checkedin()
        assert opened
        desk._store.close()  # else the system refuses to make the disk read-only
        subprocess.run([part.format("ro") for part in remount], check=True)  # noqa: S603
        with pytest.raises(StoreUnavailable, match=r"read-only; nothing was changed|cannot be opened"):
            page.ask()
        subprocess.run([part.format("rw") for part in remount], check=True)  # noqa: S603
        page.tell(page.ask().id, 0.5)
        assert page.pulls == 2


def test_a_file_that_is_no_database_is_left_alone(tmp_path):
    path = tmp_path / "letter.txt"
    path.write_text("Dear Sir or Madam, " * 100)
    with pytest.raises(StoreUnavailable, match="the file is no SQLite database"):
        connect(f"sqlite:///{path}")
    assert path.read_text() == "Dear Sir or Madam, " * 100


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(StoreUnavailable, match="the file cannot be opened: its folder must exist"):
        connect(f"sqlite:///{tmp_path}/nowhere/streams.db")


def test_a_database_of_a_newer_version_is_left_alone(desk, url):
    with sqlite3.connect(path_of(url)) as raw:
        raw.execute("UPDATE bestbefore_version SET version_num = '9999'")
    raw.close()
    before = path_of(url).read_bytes()
    with pytest.raises(StoreDamaged, match=r"is of version 9999, which is newer than this package knows .*: update"):
        connect(url)
    assert path_of(url).read_bytes() == before


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        (
            "UPDATE bestbefore_streams SET state = replace(state, '\"version\":', '\"version\":9')",
            "state must be of version",
        ),
        ("UPDATE bestbefore_streams SET state = substr(state, 1, 300)", "stream 'front' cannot be loaded"),
        ("UPDATE bestbefore_streams SET state = '[]'", "stream 'front' cannot be loaded"),
        ("DELETE FROM bestbefore_arms WHERE stream = 1", "stream 'front' cannot be loaded: a name is missing"),
        ("UPDATE bestbefore_streams SET counts = 'nonsense' WHERE id = 1", "stream 'front' is damaged in the database"),
        ("UPDATE bestbefore_streams SET counts = '{}' WHERE id = 1", "its counts are wrong"),
    ],
)
def test_a_damaged_row_or_a_newer_state_is_named_and_other_streams_go_on(desk, url, statement, message):
    for name in ("front", "sports"):
        desk.stream(name, Explorer, **SETTINGS).arrive("storm")
    raw = sqlite3.connect(path_of(url))
    raw.execute(statement if "WHERE" in statement else statement + " WHERE name = 'front'")
    raw.commit()
    raw.close()
    with connect(url, sweep=None) as later:
        calls = [later.batch() for _ in range(1)]
        calls[0].stream("front").ask()
        sports = calls[0].stream("sports").ask()
        with pytest.raises(ExceptionGroup) as raised:
            calls[0].__exit__(None, None, None)
        assert isinstance(raised.value.exceptions[0], StoreDamaged)
        with pytest.raises(StoreDamaged, match=message):
            later.stream("front").best()
        assert sports.result().arm == "storm"
        found = problems(later._store)
        assert found["sports"] == []
        assert message.split(":")[0] in found["front"][0]


def run_benchmark(name, *arguments):
    """Run a long benchmark in its short form; return what it printed last."""
    done = subprocess.run(  # noqa: S603
        [sys.executable, str(BENCHMARKS / name), *arguments], capture_output=True, text=True, timeout=500, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()[-1]


def test_acknowledged_calls_survive_kill_9():
    """The long form has 200 kills: see benchmarks/kill.py."""
    assert run_benchmark("kill.py", "sqlite", "--kills", "4").endswith(" 0 faults")


def test_three_processes_with_eight_threads_each_add_up():
    """The long form has 10,000 calls: see benchmarks/together.py."""
    assert " 0 faults" in run_benchmark("together.py", "sqlite", "--calls", "600")


def test_statistics_of_calls_do_not_need_names(desk, url):
    """The state that is saved refers to arms by their numbers: a name stands in one row, and nowhere else."""
    page = desk.stream("front", Explorer, **SETTINGS)
    page.arrive("secret-storm")
    page.ask(id="mine")
    raw = sqlite3.connect(path_of(url))
    rows = {
        table: json.dumps(raw.execute(f"SELECT * FROM {table}").fetchall())  # noqa: S608
        for (table,) in raw.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    }
    raw.close()
    assert [table for table, text in rows.items() if "secret-storm" in text] == ["bestbefore_arms"]


def test_no_statement_of_a_call_or_a_sweep_reads_a_whole_table(desk, clock):
    """So the time of a call grows neither with the number of streams nor with arms and pulls that have gone."""
    seen = set()
    for engine in (desk._store._writer, desk._store._reader):
        event.listen(engine, "before_cursor_execute", lambda *told: seen.add(told[2]))
    page = desk.stream("front", Explorer, window="1h", epsilon=0.2, patience="10 min", remember="1h")
    page.arrive("storm")
    page.arrive("calm")
    page.tell(page.ask(id="mine").id, 0.5)
    page.ask()
    page.best()
    page.withdraw("storm")
    for _ in range(8):
        clock.now += 1800
        desk.sweep()
    raw = sqlite3.connect(desk._store.path)
    plans = {
        statement: " ".join(
            row[3] for row in raw.execute("EXPLAIN QUERY PLAN " + statement, ["1"] * statement.count("?"))
        )
        for statement in seen
        if statement.startswith(("SELECT", "UPDATE", "DELETE")) and "sqlite_" not in statement
    }
    raw.close()
    assert len(plans) >= 12
    assert [statement for statement, plan in plans.items() if re.search(r"SCAN bestbefore_(?!erasures)", plan)] == []
