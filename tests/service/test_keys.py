"""Keys are known by their hashes alone, and end when they are revoked."""

from pathlib import Path

import pytest

from bestbefore.service.keys import Keys
from bestbefore.store import open_store
from bestbefore.store.migrate import prepare


@pytest.fixture
def store(tmp_path):
    found = open_store(f"sqlite:///{tmp_path}/streams.db")
    prepare(found)
    yield found
    found.close()


def test_a_key_is_found_by_its_text_and_only_its_hash_is_stored(store):
    keys = Keys(store)
    key, text = keys.make("web workers", "tell")
    assert keys.find(text) == key == keys.list()[0]
    assert Keys(store).find(text) == key
    secret = text.split("_", 2)[2]
    files = Path(store.path).parent.glob("streams.db*")
    assert all(secret.encode() not in file.read_bytes() for file in files)


def test_no_other_text_is_a_key(store):
    keys = Keys(store)
    key, text = keys.make("one", "read")
    _, other = keys.make("other", "admin")
    mixed = f"bb_{key.id}_{other.split('_', 2)[2]}"
    for wrong in ("", "_", "__", text[:-1], text + "=", text.upper(), mixed, f"bb_{key.id}_", "\ud800", text + "\0"):
        assert keys.find(wrong) is None


def test_a_key_that_is_revoked_opens_nothing_and_stays_in_the_list(store):
    keys = Keys(store)
    key, text = keys.make("one", "read")
    gone = keys.revoke(key.id)
    assert gone.revoked is not None
    assert keys.find(text) is None
    assert keys.list() == [gone] == [keys.revoke(key.id)]
    with pytest.raises(ValueError, match="id must be that of a key"):
        keys.revoke("nobody")


def test_a_key_that_another_process_has_made_is_known_soon(store, monkeypatch):
    """Whoever makes a key on the command line can use it at once."""
    here, there = Keys(store), Keys(store)
    _, first = here.make("one", "read")
    assert there.find(first) is not None
    _, second = here.make("two", "read")
    monkeypatch.setattr("bestbefore.service.keys.NEW_AFTER", 0.0)
    assert there.find(second) is not None


def test_another_process_hears_of_it_when_it_asks_again(store, monkeypatch):
    here, there = Keys(store), Keys(store)
    key, text = here.make("one", "read")
    assert there.find(text) is not None
    here.revoke(key.id)
    monkeypatch.setattr("bestbefore.service.keys.KNOWN_FOR", 0.0)
    assert there.find(text) is None


@pytest.mark.parametrize(("label", "scope"), [("", "read"), ("x" * 201, "read"), ("a\nb", "read"), ("one", "root")])
def test_nonsense_is_refused(store, label, scope):
    with pytest.raises(ValueError, match="must be"):
        Keys(store).make(label, scope)
    assert Keys(store).list() == []


def test_each_scope_has_what_those_before_it_have(store):
    key, _ = Keys(store).make("one", "write")
    assert [key.may(scope) for scope in ("read", "tell", "write", "admin")] == [True, True, True, False]


def test_secrets_are_compared_in_constant_time_whether_or_not_there_is_such_a_key(store, monkeypatch):
    """As hashes of one length, and once each time: how long it takes says nothing about what was right."""
    import hmac

    keys, compared = Keys(store), []
    _, text = keys.make("one", "read")
    compare = hmac.compare_digest
    monkeypatch.setattr(hmac, "compare_digest", lambda a, b: compared.append((a, b)) or compare(a, b))
    for given in (text, text[:-1], "bb_nobody_x", "nonsense"):
        keys.find(given)
    assert len(compared) == 4
    assert {len(part) for pair in compared for part in pair} == {64}
