"""The conformance suite for stores finds stores that break the contract, each by what it breaks."""

from contextlib import contextmanager

import pytest

from bestbefore.store import open_store
from bestbefore.store.engines import SqlStore
from bestbefore.store.migrate import migrate
from bestbefore.store.sql import SqlReading, SqlWriting
from bestbefore.testing import check_store


def opener(tmp_path):
    def opened():
        store = open_store(f"sqlite:///{tmp_path}/streams.db")
        migrate(store)
        return store

    return opened


@contextmanager
def never_undone(self):
    """A transaction that is committed though its block failed."""
    with self._writer.connect() as connection:
        transaction = connection.begin()
        try:
            yield self._writing(connection)
        finally:
            transaction.commit()


def nothing(self, *arguments, **named):
    return None


BROKEN = {
    "a transaction that failed has changed something": (SqlStore, "write", never_undone),
    "a call that is right raised UnknownPull": (SqlWriting, "add_pulls", nothing),
    "must raise Conflict|told four times": (SqlWriting, "end_pulls", nothing),
    "a sweep did not end pulls at their deadlines": (SqlReading, "due", lambda self, *arguments: []),
    "an id is kept longer than it can be told": (SqlWriting, "forget_pulls", lambda self, now, most: 0),
    "must be able to erase bytes": (type(open_store("sqlite:///unused.db")), "erase", lambda self: False),
    "erased.. says that bytes are left": (SqlReading, "unerased", lambda self: True),
    "where one stream was made": (SqlReading, "names", lambda self: []),
}


@pytest.mark.parametrize("message", BROKEN, ids=lambda message: BROKEN[message][1])
def test_a_store_that_breaks_the_contract_is_found(message, tmp_path, monkeypatch):
    monkeypatch.setattr(*BROKEN[message])
    with pytest.raises(AssertionError, match=message):
        check_store(opener(tmp_path))


@pytest.mark.parametrize("seed", [1, 2])
def test_a_store_that_keeps_it_passes_whatever_the_calls(tmp_path, seed):
    check_store(opener(tmp_path), seed=seed)
