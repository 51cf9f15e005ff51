"""The schema: migrations make what the code expects, and databases of released versions stay readable."""

import shutil
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

import bestbefore.store
from bestbefore import StoreDamaged, connect
from bestbefore.store import open_store
from bestbefore.store.migrate import check_ready, migrate, prepare
from bestbefore.store.moving import problems
from bestbefore.store.schema import HEAD, VERSION_TABLE, tables

DATABASES = sorted((Path(__file__).parent / "databases").glob("*.db"))


@pytest.fixture
def store(url):
    found = open_store(url)
    yield found
    found.close()


def test_migrations_make_the_tables_that_the_code_expects(store):
    assert migrate(store) == (None, HEAD)
    assert migrate(store) == (HEAD, HEAD)
    with store.look() as connection:
        context = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE})
        assert compare_metadata(context, tables) == []


def test_the_newest_migration_is_the_one_that_is_expected():
    scripts = ScriptDirectory(str(Path(bestbefore.store.__file__).parent / "migrations"))
    assert scripts.get_current_head() == HEAD


def test_a_database_is_made_ready_where_it_is_empty_and_refused_where_it_must_exist(store):
    with pytest.raises(ValueError, match="url must name a database that is there"):
        check_ready(store)
    with store.look():
        pass  # an empty file now
    with pytest.raises(ValueError, match="has none of its tables"):
        check_ready(store)
    prepare(store)
    check_ready(store)


def test_an_older_database_is_migrated_when_somebody_says_so(tmp_path):
    shutil.copy(DATABASES[0], tmp_path / "old.db")
    url = f"sqlite:///{tmp_path}/old.db"
    with pytest.raises(StoreDamaged, match="is of an older version, 0001: run `bestbefore db migrate` on it first"):
        connect(url)
    old = open_store(url)
    assert migrate(old) == ("0001", HEAD)
    old.close()
    connect(url, sweep=None).close()


@pytest.mark.parametrize("path", DATABASES, ids=lambda path: path.stem)
def test_databases_of_released_versions_go_on(path, tmp_path):
    """Each was written by the version it is called after: streams of three kinds, with pulls open and ended."""
    shutil.copy(path, tmp_path / "streams.db")
    url = f"sqlite:///{tmp_path}/streams.db"
    old = open_store(url)
    migrate(old)
    assert problems(old) == {"explore": [], "play": [], "seek": []}
    old.close()
    with connect(url, clock=lambda: 1_800_000_100.0, sweep=None) as desk:
        for name in ("explore", "play"):
            page = desk.stream(name)
            page.tell("open", 1.0)
            page.tell("told", 0.5)
            page.arrive("later")
            assert page.look().holds("later")
        assert desk.stream("seek").arrive("later") == ["arm 3"]
        assert desk.sweep().failed == {}


def test_there_is_a_database_of_the_newest_version():
    assert f"version_{HEAD}" in [path.stem for path in DATABASES]
