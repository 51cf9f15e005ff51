"""Slips that somebody could make, as data: each can still be made, and the tests notice it.

All of them are run by `python benchmarks/mutants.py`; here are those that direct tests notice.
"""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
COMMAND = TESTS.parent / "benchmarks" / "mutants.py"


@pytest.fixture(scope="module")
def command():
    spec = importlib.util.spec_from_file_location("mutants_command", COMMAND)
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def test_every_slip_can_still_be_made(command):
    """A list that no longer fits the code says nothing of it."""
    mutants = command.listed()
    assert len(mutants) >= 80
    assert len({mutant.id for mutant in mutants}) == len(mutants)
    for mutant in mutants:
        source = (command.PACKAGE / mutant.file).read_text()
        assert mutant.applied(source) != source
        compile(mutant.applied(source), mutant.file, "exec")


def test_every_slip_has_tests_that_should_notice_it(command):
    for mutant in command.listed():
        assert mutant.tests, mutant.id
        for test in mutant.tests:
            assert (TESTS / test).is_file(), test


def test_a_slip_that_cannot_be_made_is_named(command):
    lost = command.Mutant("lost", "keep/king.py", "no such line", "another", ("test_memory.py",))
    with pytest.raises(ValueError, match=r"lost: 'no such line' must occur once in keep/king.py, not 0 times"):
        lost.applied("text")


def test_slips_are_chosen_by_a_part_of_their_id_or_file(command):
    assert {mutant.file for mutant in command.listed("pull/moss")} == {"pull/moss.py"}
    assert [mutant.id for mutant in command.listed("kl-two")] == ["kl-two"]


def test_direct_tests_notice_every_slip_that_they_are_for(command):
    """And they notice nothing where nothing is wrong."""
    done = subprocess.run(  # noqa: S603
        [sys.executable, str(TESTS / "mutants" / "in_one_process.py"), str(COMMAND)],
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    noticed = json.loads(done.stdout)
    files = {test for test in noticed if test.endswith(".py")}
    assert len(files) >= 3
    assert {test: noticed[test] for test in files if noticed[test]} == {}
    assert [mutant for mutant in noticed if mutant not in files and noticed[mutant] is None] == []
    assert len(noticed) - len(files) >= 80


def test_the_command_tells_who_noticed():
    """One mutant, in a process of its own as all of them are there."""
    done = subprocess.run(  # noqa: S603
        [sys.executable, str(COMMAND), "king-without-rewards"],
        env=os.environ | {"COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "test_who_takes_the_throne_brings_its_rewards" in done.stdout
    assert "1 of 1 were noticed, 0 lived" in done.stdout
