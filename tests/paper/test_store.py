"""Results in a file: whole after any stop, and never mixed."""

import json
import subprocess
import sys

import pytest

from bestbefore.paper.store import Store, fcntl

ROWS = [{"error": 0.1 + 0.2, "tiny": 5e-324, "runs": 3, "rule": "fifo", "none": None}]


def test_results_come_back_exactly(tmp_path):
    with Store(tmp_path / "new" / "folder", {"seed": 0}) as store:
        assert store.load() == {}
        assert store.add("a/1", ROWS) == ROWS
    with Store(tmp_path / "new" / "folder", {"seed": 0}) as store:
        assert store.load() == {"a/1": ROWS}


def test_what_is_added_is_returned_as_it_will_be_loaded(tmp_path):
    with Store(tmp_path, {}) as store:
        assert store.add("a", [{"pair": (1, 2)}]) == store.load()["a"] == [{"pair": [1, 2]}]


def test_each_result_is_in_the_file_at_once(tmp_path):
    with Store(tmp_path, {}) as store:
        store.add("a", ROWS)
        assert json.loads(store.path.read_text()) == {"settings": store.fingerprint, "piece": "a", "rows": ROWS}


def test_settings_are_never_mixed_and_found_again(tmp_path):
    for seed in (0, 1):
        with Store(tmp_path, {"seed": seed, "scale": 0.5}) as store:
            assert store.load() == {}
            store.add("a", [{"seed": seed}])
    with Store(tmp_path, {"scale": 0.5, "seed": 0}) as store:
        assert store.load() == {"a": [{"seed": 0}]}


def test_other_sources_are_other_settings(tmp_path, monkeypatch):
    with Store(tmp_path, {}) as store:
        store.add("a", ROWS)
    monkeypatch.setattr("bestbefore.paper.store.SOURCES", "edited")
    with Store(tmp_path, {}) as store:
        assert store.load() == {}


def test_clear_starts_over_with_these_pieces_and_settings_only(tmp_path):
    for seed in (0, 1):
        with Store(tmp_path, {"seed": seed}) as store:
            store.add("a", ROWS)
    with Store(tmp_path, {"seed": 1}) as store:
        store.add("c", ROWS)
        store.clear(["a", "unknown"])
        assert store.load() == {"c": ROWS}
        store.add("b", ROWS)
        assert store.load() == {"b": ROWS, "c": ROWS}
    with Store(tmp_path, {"seed": 0}) as store:
        assert store.load() == {"a": ROWS}


def test_wherever_the_last_line_was_torn_the_others_stay_and_more_can_be_added(tmp_path, capsys):
    with Store(tmp_path, {}) as store:
        store.add("a", ROWS)
        whole = store.path.stat().st_size
        store.add("é", ROWS)
    text = store.path.read_bytes()
    for length in range(whole, len(text)):
        store.path.write_bytes(text[:length])
        with Store(tmp_path, {}) as again:
            assert again.load() == {"a": ROWS}
            again.add("c", ROWS)
            assert again.load() == {"a": ROWS, "c": ROWS}
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("damage", [b"{", b"\xff\xfe", b"[]", b"3", b"null", b"{}", b""])
def test_a_damaged_line_is_left_out_with_a_word(tmp_path, capsys, damage):
    with Store(tmp_path, {}) as store:
        store.add("a", ROWS)
    store.path.write_bytes(damage + b"\n" + store.path.read_bytes())
    with Store(tmp_path, {}) as store:
        assert store.load() == {"a": ROWS}
    assert capsys.readouterr().err.endswith("that cannot be read are left out: 1\n")


@pytest.mark.skipif(fcntl is None, reason="no locks")
def test_two_runs_at_once_are_refused_and_a_dead_one_does_not_block(tmp_path):
    program = f"from bestbefore.paper.store import Store; s = Store({str(tmp_path)!r}, {{}}); print('open', flush=True)"
    program += "; input(); import os; os.kill(os.getpid(), 9)"
    with subprocess.Popen([sys.executable, "-c", program], stdin=-1, stdout=-1, text=True) as other:  # noqa: S603
        assert other.stdout.readline() == "open\n"
        with pytest.raises(OSError, match="another run writes to the folder"):
            Store(tmp_path, {"seed": 1})
        other.communicate("\n")
    with Store(tmp_path, {}) as store:
        assert store.load() == {}


def test_a_file_where_the_folder_should_be(tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(
        OSError, match=r"results cannot be written to the folder '.*file': there is a file of that name"
    ):
        Store(tmp_path / "file", {})
    with pytest.raises(OSError, match=r"results cannot be written to the folder .*: Not a directory"):
        Store(tmp_path / "file" / "below", {})
    assert (tmp_path / "file").read_text() == "mine"


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "results.jsonl").mkdir()
    with pytest.raises(OSError, match=r"results cannot be written to the folder .*: Is a directory"):
        Store(tmp_path, {})
