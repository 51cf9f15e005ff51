"""Streams as a whole: checked, exported and put back, copied."""

import json
import sqlite3

import pytest

from bestbefore import Explorer, StoreDamaged, UnknownStream, connect
from bestbefore.store import moving
from bestbefore.store.totals import SPANS

SETTINGS = {"window": 5, "epsilon": 0.2, "seed": 1}


@pytest.fixture
def page(desk):
    found = desk.stream("front", Explorer, **SETTINGS)
    for arm in ("storm", ("calm", 7)):
        found.arrive(arm)
    for _ in range(3):
        found.tell(found.ask().id, 0.5)
    found.ask(id="open")
    return found


def meddle(url, statement):
    raw = sqlite3.connect(url.removeprefix("sqlite:///"))
    raw.execute(statement)
    raw.commit()
    raw.close()


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("DELETE FROM bestbefore_pulls WHERE id = 'open'", "4 pulls were asked for, but 3 ended and 0 are open"),
        (
            "UPDATE bestbefore_pulls SET arrival = 9 WHERE id = 'open'",
            r"open of arms that are not here, of numbers \[9\]",
        ),
        ("UPDATE bestbefore_pulls SET arrival = 9 WHERE id = 'open'", "the agent has pulls under way of arms"),
        (
            """UPDATE bestbefore_streams SET counts = replace(counts, '"told":3', '"told":4')""",
            "the agent was told 3 pulls, the ledger counts 4",
        ),
    ],
)
def test_a_state_that_does_not_fit_its_ledger_is_found(page, desk, url, statement, message):
    assert moving.problems(desk._store) == {"front": []}
    meddle(url, statement)
    found = moving.problems(desk._store)["front"]
    assert found
    with pytest.raises(AssertionError, match=message):
        raise AssertionError("; ".join(found))


def test_a_stream_is_exported_as_json_and_put_back(page, desk, tmp_path):
    text = json.dumps(moving.exported(desk._store, "front"))
    with connect(f"sqlite:///{tmp_path}/other.db", sweep=None) as other:
        assert moving.imported(other._store, json.loads(text)) == "front"
        again = other.stream("front", Explorer, **SETTINGS)
        assert again.state() == page.state()
        assert again.ask(id="open") == page.ask(id="open")
        for each in (page, again):
            each.tell("open", 1.0)
        assert again.state() == page.state()
        assert moving.problems(other._store) == {"front": []}
        with pytest.raises(ValueError, match="stream 'front' is in the database already: drop it first"):
            moving.imported(other._store, json.loads(text))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: data.update(bestbefore="page"), "must be a stream as `bestbefore db export` writes it"),
        (lambda data: data.update(format=2), "format must be 1, not 2"),
        (lambda data: data.pop("pulls"), "the exported stream is damaged: KeyError"),
        (lambda data: data["pulls"][0].pop("id"), "the exported stream is damaged: TypeError"),
        (lambda data: data["arms"].pop(), "stream 'front' cannot be loaded: a name is missing"),
        (lambda data: data["state"].update(version=99), "state must be of version"),
        (lambda data: data.update(name="x" * 201), "name must be a text of 1 to 200 characters"),
        (lambda data: data.update(time="noon"), "times and counts must be whole numbers of at least 0, not 'noon'"),
        (lambda data: data["pulls"][0].update(deadline=0.5), "times and counts must be whole numbers"),
        (lambda data: data["settings"].pop("remember"), "settings must be of the ledger and the agent"),
        (lambda data: data["settings"].update(otherwise=5.0), "otherwise must be a number of at least 0 and at most 1"),
        (lambda data: data["settings"].update(otherwise="0"), "otherwise must be a number"),
        (lambda data: data["pulls"][0].update(how="lost"), "how must say how a pull ended, not 'lost'"),
        (lambda data: data["pulls"].clear(), "the exported stream is damaged: .* pulls were asked for"),
        (lambda data: data.update(counts=[]), "the exported stream is damaged"),
    ],
)
def test_an_export_that_is_damaged_is_refused_and_nothing_is_changed(page, desk, tmp_path, change, message):
    data = moving.exported(desk._store, "front")
    change(data)
    with connect(f"sqlite:///{tmp_path}/other.db", sweep=None) as other:
        with pytest.raises(ValueError, match=message):
            moving.imported(other._store, data)
        assert other.streams() == []


def test_who_is_not_there_cannot_be_exported(desk):
    with pytest.raises(UnknownStream):
        moving.exported(desk._store, "front")


def test_a_copy_is_compared_row_by_row(page, desk, tmp_path, monkeypatch):
    with connect(f"sqlite:///{tmp_path}/other.db", sweep=None) as other:
        real = moving._put

        def forgetful(store, row, pulls, **more):
            real(store, row, [[pull for some in pulls for pull in some][1:]], **more)

        monkeypatch.setattr(moving, "_put", forgetful)
        with pytest.raises(StoreDamaged, match=r"is not the same in .*: its counts or checksums differ"):
            moving.copy(desk._store, other._store)


def test_totals_over_time_are_copied_too(page, desk, tmp_path):
    with connect(f"sqlite:///{tmp_path}/other.db", sweep=None) as other:
        moving.copy(desk._store, other._store)
        with desk._store.read() as one, other._store.read() as two:
            for span in SPANS.values():
                found = two.totals(two.head("front").id, span.step, 0)
                assert found == one.totals(one.head("front").id, span.step, 0)
                assert sum(row.asked for row in found) > 0


def test_totals_that_were_not_copied_are_noticed(page, desk, tmp_path, monkeypatch):
    with connect(f"sqlite:///{tmp_path}/other.db", sweep=None) as other:
        real = moving._put
        monkeypatch.setattr(moving, "_put", lambda store, row, pulls, **_: real(store, row, pulls))
        with pytest.raises(StoreDamaged, match="its counts or checksums differ"):
            moving.copy(desk._store, other._store)


def test_a_source_that_is_written_to_meanwhile_is_noticed(page, desk, tmp_path, monkeypatch):
    with connect(f"sqlite:///{tmp_path}/other.db", sweep=None) as other:
        real = moving._put

        def interrupted(store, row, pulls, **more):
            real(store, row, pulls, **more)
            page.tell("open", 1.0)

        monkeypatch.setattr(moving, "_put", interrupted)
        with pytest.raises(ValueError, match=r"was changed in .* while it was copied: copy again"):
            moving.copy(desk._store, other._store)
