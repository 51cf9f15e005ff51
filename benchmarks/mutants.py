"""Break the package on purpose, one slip at a time, and see whether the tests notice.

    python benchmarks/mutants.py [pattern] [--jobs N]

The slips are listed in tests/mutants/*.toml.  For each, the package is copied and changed, and the tests that should
notice run against the copy, in a process of their own and without the compiler.  `pattern` picks slips by a part of
their id or file.  The exit code is 1 if one is not noticed.  Before all
that, the same tests must pass on a copy without a slip.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.progress import track
from rich.table import Table

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "bestbefore"
TESTS = ROOT / "tests"
LISTS = TESTS / "mutants"
EXAMPLES = 40
"""Examples of each hypothesis test: what is listed should be noticed by direct ones."""
LONGEST = 600
"""Seconds after which a slip counts as noticed, since it made something run without end."""


@dataclass(frozen=True)
class Mutant:
    """A slip: in `file`, `was` becomes something else; `tests` are the files of tests that should notice."""

    id: str
    file: str
    was: str
    becomes: str
    tests: tuple[str, ...]

    def applied(self, source: str) -> str:
        """Return a file's text with the slip in it."""
        if source.count(self.was) != 1:
            raise ValueError(
                f"{self.id}: {self.was!r} must occur once in {self.file}, not {source.count(self.was)} times"
            )
        return source.replace(self.was, self.becomes)


@dataclass(frozen=True)
class Verdict:
    """Whether a slip was noticed, and by what."""

    mutant: Mutant
    noticed: bool
    by: str


def listed(pattern: str = "") -> list[Mutant]:
    """Return the mutants whose id or file has `pattern` in it."""
    rows = [row for path in sorted(LISTS.glob("*.toml")) for row in tomllib.loads(path.read_text())["mutant"]]
    mutants = [Mutant(**(row | {"tests": tuple(row["tests"])})) for row in rows]
    return [mutant for mutant in mutants if pattern in mutant.id or pattern in mutant.file]


def tried(mutant: Mutant) -> Verdict:
    """Run the tests of a mutant against a copy of the package that has it."""
    try:
        failed = first_failure(mutant.tests, mutant)
    except subprocess.TimeoutExpired:
        return Verdict(mutant, True, f"the clock: it did not end within {LONGEST} s")
    return Verdict(mutant, failed is not None, failed or "")


def first_failure(tests: Iterable[str], mutant: Mutant | None = None) -> str | None:
    """Run tests against a copy of the package, with a slip in it if one is given; return the first that fails."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "bestbefore"
        shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
        if mutant:
            changed = copy / mutant.file
            changed.write_text(mutant.applied(changed.read_text()))
        settings = {
            "PYTHONPATH": folder,
            "PYTHONDONTWRITEBYTECODE": "1",
            "NUMBA_DISABLE_JIT": "1",
            "BESTBEFORE_EXAMPLES": str(EXAMPLES),
        }
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--tb=no"]
        command += [str(TESTS / test) for test in tests]
        done = subprocess.run(  # noqa: S603
            command, cwd=ROOT, env=os.environ | settings, capture_output=True, text=True, timeout=LONGEST
        )
    if done.returncode == 0:
        return None
    found = re.search(r"^FAILED \S*?tests/(\S+)", done.stdout, re.MULTILINE)
    if done.returncode != 1 or not found:
        raise RuntimeError(f"{mutant.id if mutant else 'no slip'}: tests could not run:\n{done.stdout}{done.stderr}")
    return found[1]


def main() -> int:
    """Try the mutants that were asked for, and print who noticed each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pattern", nargs="?", default="", help="a part of an id or of a file's path")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="how many run at once")
    chosen = parser.parse_args()
    mutants = listed(chosen.pattern)
    if not mutants:
        parser.error(f"pattern must be a part of the id or file of a mutant, not {chosen.pattern!r}")
    if failed := first_failure(sorted({test for mutant in mutants for test in mutant.tests})):
        parser.error(f"tests must pass before anything is broken, but {failed} does not")
    with ThreadPoolExecutor(chosen.jobs) as pool:
        verdicts = list(track(pool.map(tried, mutants), "Breaking", total=len(mutants), console=Console(stderr=True)))
    table = Table("mutant", "file", "noticed by")
    for verdict in verdicts:
        table.add_row(
            verdict.mutant.id, verdict.mutant.file, verdict.by if verdict.noticed else "[red]nobody: it lived"
        )
    lived = sum(not verdict.noticed for verdict in verdicts)
    console = Console()
    console.print(table)
    console.print(f"{len(verdicts) - lived} of {len(verdicts)} were noticed, {lived} lived.")
    return 1 if lived else 0


if __name__ == "__main__":
    sys.exit(main())
