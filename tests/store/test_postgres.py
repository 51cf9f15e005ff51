"""PostgreSQL: any number of processes, streams that do not wait for one another, restarts, and names that are gone."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import psycopg
import pytest

from bestbefore import Explorer, StoreUnavailable, connect
from bestbefore.store import commit, moving, open_store
from bestbefore.store.migrate import migrate
from bestbefore.store.moving import problems
from bestbefore.store.postgres import PostgresWriting
from bestbefore.store.schema import HEAD
from bestbefore.testing import check_store

BENCHMARKS = Path(__file__).parent.parent.parent / "benchmarks"
SETTINGS = {"window": 5, "epsilon": 0.2, "seed": 1}


@pytest.fixture
def admin(postgres_server):
    """A connection beside the store, to look and to meddle."""
    with psycopg.connect(postgres_server.get_uri(), autocommit=True) as connection:
        yield connection


@pytest.fixture
def address(postgres_server, admin, request):
    """A new database."""
    name = f"test_{abs(hash(request.node.name))}"
    admin.execute(f"CREATE DATABASE {name}")
    yield postgres_server.get_uri(database=name)
    admin.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def desk(address, clock):
    with connect(address, clock=clock, sweep=None) as found:
        yield found


def test_it_passes_the_suite_that_every_store_passes(address):
    def opened():
        store = open_store(address)
        migrate(store)
        return store

    check_store(opened)


def test_streams_do_not_wait_for_one_another(desk, address):
    """Another process holds one stream; calls to it wait, calls to the other are answered meanwhile."""
    pages = {name: desk.stream(name, Explorer, **SETTINGS) for name in ("held", "free")}
    for page in pages.values():
        page.arrive("storm")
        page.arrive("calm")
    answered = threading.Event()

    def wait():
        pages["held"].ask(id="waits")
        answered.set()

    with psycopg.connect(address) as other:
        other.execute("SELECT 1 FROM bestbefore_streams WHERE name = 'held' FOR UPDATE")
        waiting = threading.Thread(target=wait)
        waiting.start()
        for _ in range(10):
            page = pages["free"]
            page.tell(page.ask().id, 0.5)
            assert page.best() is not None
            assert pages["held"].best() is not None  # nor does a reader wait
        assert not answered.is_set()
        other.rollback()
    waiting.join()
    assert answered.is_set()
    assert problems(desk._store) == {"held": [], "free": []}


def test_a_stream_that_is_held_too_long_is_a_sentence(desk, address, monkeypatch):
    monkeypatch.setattr(commit, "LONGEST_WAIT", 0.05)
    page = desk.stream("held", Explorer, **SETTINGS)
    with psycopg.connect(address) as other:
        other.execute("SELECT 1 FROM bestbefore_streams WHERE name = 'held' FOR UPDATE")
        with pytest.raises(StoreUnavailable, match="stream 'held' has been held by another process"):
            page.arrive("storm")
        with pytest.raises(StoreUnavailable, match="stream 'held' is held by another process"):
            desk.drop("held")
    page.arrive("storm")


def test_a_drop_waits_for_whoever_holds_the_stream(desk, address, monkeypatch):
    desk.stream("held", Explorer, **SETTINGS)
    with psycopg.connect(address) as other:
        other.execute("SELECT 1 FROM bestbefore_streams WHERE name = 'held' FOR UPDATE")
        tries, lock = [], PostgresWriting.lock

        def locked(self, names, *, wait):
            tries.append(names)
            if len(tries) == 2:  # the first did not get it
                other.rollback()
            return lock(self, names, wait=wait)

        monkeypatch.setattr(PostgresWriting, "lock", locked)
        desk.drop("held")
    assert len(tries) == 2
    assert desk.streams() == []


def cut(admin):
    """Cut all connections but our own."""
    admin.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname <> ''"
    )


def test_a_connection_that_was_cut_while_idle_is_made_anew(desk, admin):
    page = desk.stream("front", Explorer, **SETTINGS)
    page.arrive("storm")
    cut(admin)
    page.arrive("calm")
    page.tell(page.ask().id, 0.5)
    assert page.pulls == 1


def test_a_connection_that_is_cut_in_the_middle_is_a_sentence_and_nothing_has_changed(desk, admin, address):
    page = desk.stream("front", Explorer, **SETTINGS)
    page.arrive("storm")

    def drop():
        with desk._store.write() as writing:
            writing.drop(writing.head("front").id)
            cut(admin)
            writing.names()

    with pytest.raises(StoreUnavailable, match="nothing was changed, and it is safe to send it again"):
        drop()
    assert page.look().holds("storm")


def test_a_connection_that_is_lost_while_it_commits_says_that_nobody_knows(desk, admin):
    page = desk.stream("front", Explorer, **SETTINGS)
    page.arrive("storm")

    def note():
        with desk._store.write() as writing:
            writing.set_notes({"swept": 7})
            cut(admin)

    with pytest.raises(StoreUnavailable, match="the call may have been carried out or not") as raised:
        note()
    assert raised.value.uncertain
    assert page.look().holds("storm")


def test_a_read_only_database_says_so(desk, admin, address):
    page = desk.stream("front", Explorer, **SETTINGS)
    page.arrive("storm")
    admin.execute("ALTER SYSTEM SET default_transaction_read_only = on")
    admin.execute("SELECT pg_reload_conf()")
    cut(admin)
    try:
        with pytest.raises(StoreUnavailable, match="the database is read-only; nothing was changed"):
            page.arrive("calm")
        assert page.look().holds("storm")
    finally:
        admin.execute("SET default_transaction_read_only = off")
        admin.execute("ALTER SYSTEM RESET default_transaction_read_only")
        admin.execute("SELECT pg_reload_conf()")
        cut(admin)
    page.arrive("calm")
    assert page.look().holds("calm")


def test_an_address_where_nobody_answers_is_a_sentence(tmp_path):
    with pytest.raises(StoreUnavailable, match=r"postgresql://me:\*\*\*@/db.*cannot be reached"):
        connect(f"postgresql://me:secret@/db?host={tmp_path}")


def table_bytes(admin, server, address, table):
    """Return all bytes of a table's files, as they are on disk now."""
    with psycopg.connect(address, autocommit=True) as there:
        there.execute("CHECKPOINT")
        folder = there.execute("SELECT oid FROM pg_database WHERE datname = current_database()").fetchone()[0]
        path = there.execute("SELECT pg_relation_filepath(%s)", [table]).fetchone()[0]
        assert f"/{folder}/" in path
    files = (server.pgdata / path).parent.glob("*")
    return b"".join(one.read_bytes() for one in files if one.is_file())


def test_after_the_sweep_the_name_is_in_no_file_of_the_database(desk, clock, admin, postgres_server, address):
    page = desk.stream("front", Explorer, window="1h", epsilon=0.2)
    for number in range(30):
        page.arrive(f"secret-{number}")
        clock.now += 1
    assert b"secret-0" in table_bytes(admin, postgres_server, address, "bestbefore_arms")
    clock.now += 3600
    page.arrive("sun")
    desk.sweep()
    assert not desk.erased("front").waiting
    found = table_bytes(admin, postgres_server, address, "bestbefore_arms")
    assert b"secret-" not in found
    assert b'"sun"' in found
    assert page.look().holds("sun")


def test_the_statistics_of_the_database_have_no_samples_of_names(desk, clock, admin, postgres_server, address):
    """ANALYZE, which PostgreSQL runs by itself now and then, would copy names into a catalog that nobody sweeps."""
    page = desk.stream("front", Explorer, window="1h", epsilon=0.2)
    for number in range(30):
        page.arrive(f"secret-{number}")
        clock.now += 1
    with psycopg.connect(address, autocommit=True) as there:
        there.execute("ANALYZE bestbefore_arms")
        sampled = "SELECT attname FROM pg_stats WHERE tablename = 'bestbefore_arms'"
        assert {row[0] for row in there.execute(sampled)} == {"stream", "number", "since"}
    clock.now += 3600
    desk.sweep()
    assert page.stored == []
    assert b"secret-" not in table_bytes(admin, postgres_server, address, "bestbefore_arms")


def test_names_that_were_sampled_before_are_dropped_from_the_statistics(desk, address):
    page = desk.stream("front", Explorer, window="1h", epsilon=0.2)
    for number in range(30):
        page.arrive(f"secret-{number}")
    found = "SELECT count(*) FROM pg_stats WHERE tablename = 'bestbefore_arms' AND attname = 'name'"
    with psycopg.connect(address, autocommit=True) as there:
        there.execute("ALTER TABLE bestbefore_arms ALTER COLUMN name SET STATISTICS -1")  # as version 0003 had it
        there.execute("ANALYZE bestbefore_arms")
        there.execute("UPDATE bestbefore_version SET version_num = '0003'")
        assert there.execute(found).fetchone() == (1,)
        store = open_store(address)
        assert migrate(store) == ("0003", HEAD)
        store.close()
        there.execute("ANALYZE bestbefore_arms")
        assert there.execute(found).fetchone() == (0,)
    assert page.look().holds("secret-29")


def test_a_plain_vacuum_would_leave_the_bytes(desk, admin, postgres_server, address):
    """That is why names are written anew: if this ever changes, there is an easier way."""
    page = desk.stream("front", Explorer, **SETTINGS)
    page.arrive("calm")
    page.arrive("secret-storm")
    with psycopg.connect(address, autocommit=True) as there:
        there.execute("DELETE FROM bestbefore_arms WHERE name LIKE '%secret%'")
        there.execute("VACUUM bestbefore_arms")
    assert b"secret-storm" in table_bytes(admin, postgres_server, address, "bestbefore_arms")


def test_a_backup_under_way_is_waited_for_and_the_next_sweep_erases(desk, address):
    """Whoever reads the table of names, such as pg_dump, is not disturbed; nor does the work stop for long."""
    page = desk.stream("front", Explorer, **SETTINGS)
    page.arrive("storm")
    page.arrive("calm")
    with psycopg.connect(address) as backup:
        backup.execute("SELECT count(*) FROM bestbefore_arms")
        page.withdraw("storm")
        assert desk.erased("front").waiting
        assert not desk.sweep().erased
        page.arrive("sun")
    assert desk.sweep().erased
    assert not desk.erased("front").waiting


def test_a_name_is_stored_as_it_is_in_its_row(desk, address):
    """Compressed, it would not be found by whoever looks for it, and yet be there."""
    with psycopg.connect(address) as there:
        storage = there.execute(
            "SELECT attstorage FROM pg_attribute WHERE attrelid = 'bestbefore_arms'::regclass AND attname = 'name'"
        ).fetchone()
    assert storage[0] in ("p", b"p")


def test_sqlite_is_copied_to_postgresql_while_nothing_writes(url, address):
    with connect(url, sweep=None) as small:
        for name in ("front", "sports"):
            page = small.stream(name, Explorer, **SETTINGS)
            for arm in ("storm", ("calm", 7), "Köln"):
                page.arrive(arm)
            for _ in range(5):
                page.tell(page.ask().id, 0.3)
            page.ask(id="open")
        with connect(address, sweep=None) as large:
            sums = moving.copy(small._store, large._store)
            assert {name: found[:2] for name, found in sums.items()} == {"front": (3, 6), "sports": (3, 6)}
            assert moving.copy(small._store, large._store) == sums  # again, it is all there
            assert problems(large._store) == {"front": [], "sports": []}
            assert large.stream("front").state() == small.stream("front").state()
            large.stream("front").tell("open", 1.0)
            with pytest.raises(ValueError, match=r"stream 'front' is in .* already, and not the same"):
                moving.copy(small._store, large._store)


def run_benchmark(name, *arguments):
    done = subprocess.run(  # noqa: S603
        [sys.executable, str(BENCHMARKS / name), *arguments],
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
        env=os.environ,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()[-1]


def test_acknowledged_calls_survive_kill_9():
    """The long form has 50 kills: see benchmarks/kill.py."""
    assert run_benchmark("kill.py", "postgres", "--kills", "2").endswith(" 0 faults")


def test_acknowledged_calls_survive_a_restart_of_postgresql():
    """3 processes, 8 threads each; the long form has 20 restarts: see benchmarks/together.py."""
    assert " 0 faults" in run_benchmark("together.py", "postgres", "--calls", "1000", "--restarts", "2")


def test_only_the_stream_is_waited_for_in_haste(desk):
    """A transaction that has its stream waits for an erasure as long as that takes, and does not fail with it."""
    desk.stream("front", Explorer, window=5, memory=3, tests=4)
    with desk._store.write() as writing:
        before = writing.connection.exec_driver_sql("SHOW lock_timeout").scalar()
        assert [head.name for head in writing.lock(["front"], wait=True)] == ["front"]
        assert writing.connection.exec_driver_sql("SHOW lock_timeout").scalar() == before
