"""Compilation: a cache that is used, cannot go stale, and keeps out of the way of other packages."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

import bestbefore
from bestbefore import _jit

SOURCES = Path(bestbefore.__file__).parent

PROGRAM = """
import json, numba
from bestbefore import _jit
from bestbefore.keep.fifo import admit
from bestbefore.memory import Moment
from bestbefore.memory import empty_memory

memory = empty_memory(2)
slots = [admit(memory, arrival, 1, 1.0, Moment(3, 9, 3, 0.0, 0.0)) for arrival in (1, 2, 3)]
hits = sum(admit.stats.cache_hits.values())
print(json.dumps({"slots": slots, "hits": hits, "folder": _jit.CACHE_FOLDER, "others": numba.config.CACHE_DIR}))
"""
"""A program that uses a rule: `admit` lives in keep/fifo.py and calls `oldest_slot`, which lives in memory.py."""


def run(**environment):
    """Run the program in a process of its own, with the package that is tested here; return what it says."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA", "XDG", "PYTHON"))}
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-W", "error", "-c", PROGRAM],
        env=kept | {"PYTHONPATH": str(SOURCES.parent)} | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def sources(tmp_path):
    """Make a folder with two modules, one of them in a package."""
    (tmp_path / "keep").mkdir()
    (tmp_path / "memory.py").write_text("slots = 3\n")
    (tmp_path / "keep" / "fifo.py").write_text("oldest = 1\n")
    return tmp_path


def test_the_same_sources_have_the_same_name(sources, tmp_path_factory):
    """Wherever they lie: a copy of the package uses the same compiled rules."""
    copy = shutil.copytree(sources, tmp_path_factory.mktemp("elsewhere") / "copy")
    assert _jit.sources_hash(sources) == _jit.sources_hash(copy)


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: (folder / "keep" / "fifo.py").write_text("oldest = 2\n"),
        lambda folder: (folder / "memory.py").write_text("slots = 3\n\n"),
        lambda folder: (folder / "new.py").write_text(""),
        lambda folder: (folder / "memory.py").unlink(),
        lambda folder: (folder / "memory.py").rename(folder / "slots.py"),
    ],
    ids=["edited", "a blank line", "added", "removed", "renamed"],
)
def test_any_change_of_any_source_gives_a_new_name(sources, change):
    before = _jit.sources_hash(sources)
    change(sources)
    assert _jit.sources_hash(sources) != before


def test_files_that_are_no_sources_do_not_count(sources):
    """Python's own caches change all the time."""
    before = _jit.sources_hash(sources)
    (sources / "__pycache__").mkdir()
    (sources / "__pycache__" / "memory.cpython-311.pyc").write_bytes(b"\0")
    (sources / "py.typed").write_text("")
    assert _jit.sources_hash(sources) == before


def test_another_numpy_gives_a_new_name(sources, monkeypatch):
    """Compiled code has NumPy's array layout and generators built in."""
    before = _jit.sources_hash(sources)
    monkeypatch.setattr(np, "__version__", "9.9.9")
    assert _jit.sources_hash(sources) != before


def test_the_cache_folder_is_named_after_the_sources_of_this_package():
    if _jit.CACHE_FOLDER:
        assert Path(_jit.CACHE_FOLDER).name == f"bestbefore-{_jit.sources_hash(SOURCES)}"


def test_other_packages_keep_their_cache_where_it_was(tmp_path, monkeypatch):
    """A function of somebody else, compiled after ours, is cached in the folder that they have chosen."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))

    @_jit.njit
    def ours(number):
        return number + 1

    @numba.njit(cache=True)
    def theirs(number):
        return number + 2

    assert (ours(1), theirs(1)) == (2, 3)
    assert str(tmp_path) == numba.config.CACHE_DIR
    assert theirs.stats.cache_path.startswith(str(tmp_path))
    assert not (ours.stats.cache_path or "").startswith(str(tmp_path))


def test_the_setting_of_others_is_restored_even_if_a_function_cannot_be_compiled(tmp_path, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    with pytest.raises(TypeError):
        _jit.njit("not a function")
    assert str(tmp_path) == numba.config.CACHE_DIR


def test_compiled_rules_are_used_again_but_never_after_a_change_of_what_they_call(tmp_path):
    """Three processes share a cache folder: one compiles, one loads, and one finds memory.py edited.

    numba by itself would load `admit` a third time, with the old `oldest_slot` inside: its own file is as it was.
    """
    package = shutil.copytree(SOURCES, tmp_path / "bestbefore", ignore=shutil.ignore_patterns("__pycache__"))
    setting = {"PYTHONPATH": str(tmp_path), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    first, second = run(**setting), run(**setting)
    assert (first["slots"], first["hits"]) == ([0, 1, 0], 0)
    assert (second["slots"], second["hits"]) == ([0, 1, 0], 1)
    assert Path(first["folder"]).parent == tmp_path / "cache"
    assert first["others"] == str(tmp_path / "cache")

    text = (package / "memory.py").read_text()
    edited = text.replace(
        "memory.arrival[slot] < memory.arrival[found]", "memory.arrival[slot] > memory.arrival[found]"
    )
    assert edited != text
    (package / "memory.py").write_text(edited)
    third = run(**setting)
    assert third["slots"] == [0, 1, 1]
    assert third["folder"] != first["folder"]


def test_where_no_folder_can_be_written_rules_are_compiled_all_the_same(tmp_path):
    """The user's cache folder is to be inside of a file, which nobody can make, whoever runs this."""
    (tmp_path / "file").write_text("")
    told = run(XDG_CACHE_HOME=str(tmp_path / "file"), HOME=str(tmp_path / "file"))
    assert (told["slots"], told["folder"], told["hits"]) == ([0, 1, 0], "", 0)


@pytest.mark.parametrize("room", sorted(_jit.EDGES))
def test_a_new_page_or_route_leaves_what_was_compiled_in_use(sources, room):
    before = _jit.sources_hash(sources)
    (sources / room).mkdir()
    (sources / room / "page.py").write_text("title = 1\n")
    assert _jit.sources_hash(sources) == before


def test_numbers_written_in_a_call_do_not_compile_a_function_anew(monkeypatch):
    """Left to itself, numba makes a version for each of them: a quarter of the time that compilation took."""
    monkeypatch.setattr(_jit, "CACHE_FOLDER", "")  # what comes from a cache was compiled by somebody else
    plus = _jit.njit(lambda number, more: number + more)
    sums = _jit.njit(lambda number: plus(1, 2) + plus(2, 3) + plus(number, 3))
    assert sums(1) == 12
    assert [version.args for version in plus.nopython_signatures] == [(numba.int64, numba.int64)]


def test_nothing_at_the_edges_is_compiled():
    """Or an edit there could leave an old version running."""
    edges = [path for room in _jit.EDGES for path in (SOURCES / room).rglob("*.py")]
    assert [path.name for path in edges if "njit" in path.read_text() or "inlined" in path.read_text()] == []
