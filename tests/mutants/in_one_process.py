"""Break one rule after the other, and print which checks notice: all in one process, without the compiler.

Called by test_mutants.py with NUMBA_DISABLE_JIT=1 and the path of the command, benchmarks/mutants.py.  The package is
copied once.  For each mutant the copy is changed, imported afresh, and the tests named are called as plain functions.
Files that are not changed need not be parsed again: the copy has bytecode that is known by its source's hash.
"""

import compileall
import importlib.util
import itertools
import json
import shutil
import sys
import tempfile
from pathlib import Path
from py_compile import PycInvalidationMode

import pytest

FAST = "_in_detail.py"
"""Files of tests with this ending are direct: no fixtures, few draws."""


def loaded(name, path):
    """Import a file afresh."""
    spec = importlib.util.spec_from_file_location(name, path)
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def calls_of(test):
    """Return the arguments of each call of a test: one without, or one for each set of parameters."""
    sets = []
    for mark in getattr(test, "pytestmark", []):
        names, rows = mark.args
        several = not isinstance(names, str)
        sets.append([dict(zip(names, row, strict=True)) if several else {names: row} for row in rows])
    return [{name: value for part in parts for name, value in part.items()} for parts in itertools.product(*sets)]


def first_to_notice(path):
    """Import a file of tests, and with it the package; return the first test that fails, or None."""
    for name in [name for name in sys.modules if name.split(".")[0] == "bestbefore"]:
        del sys.modules[name]
    module = loaded("checks", path)
    for name, test in vars(module).items():
        if name.startswith("test_"):
            try:
                for arguments in calls_of(test):
                    test(**arguments)
            except (Exception, pytest.fail.Exception):
                return name
    return None


def main(command):
    """Print, as JSON, who noticed each mutant; and of the package as it is, nobody."""
    sys.dont_write_bytecode = True  # by time: a file that changes twice in a second would be taken for what it was
    mutants = loaded("mutants", command)
    chosen = [mutant for mutant in mutants.listed() if all(test.endswith(FAST) for test in mutant.tests)]
    noticed = {}
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "bestbefore"
        shutil.copytree(mutants.PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
        compileall.compile_dir(copy, quiet=1, invalidation_mode=PycInvalidationMode.CHECKED_HASH)
        sys.path.insert(0, folder)
        for test in sorted({test for mutant in chosen for test in mutant.tests}):
            noticed[test] = first_to_notice(mutants.TESTS / test)
        for mutant in chosen:
            changed = copy / mutant.file
            source = changed.read_text()
            changed.write_text(mutant.applied(source))
            found = (first_to_notice(mutants.TESTS / test) for test in mutant.tests)
            noticed[mutant.id] = next((name for name in found if name), None)
            changed.write_text(source)
        if not Path(sys.modules["bestbefore"].__file__).is_relative_to(copy):
            raise RuntimeError("the copy must be what is imported")
    json.dump(noticed, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1])
