"""CONTRIBUTING walks through a new keep rule: its file, one line of the table, its test.  Here we do what it says."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import bestbefore

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"<!-- (?P<what>[^>]*) -->\s*```python\n(?P<text>.*?)```", re.DOTALL)


def blocks():
    """Return the marked blocks of CONTRIBUTING.md, by what stands above each."""
    return {match["what"]: match["text"] for match in BLOCK.finditer((ROOT / "CONTRIBUTING.md").read_text("utf-8"))}


def test_a_new_rule_is_its_file_one_line_and_its_test(tmp_path):
    """In a copy of the package: the rule then explores, plays and lives, and is named nowhere else."""
    told = blocks()
    line = told.pop("line of KEEP in src/bestbefore/rules.py").strip()
    package = tmp_path / "src" / "bestbefore"
    shutil.copytree(Path(bestbefore.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    for what, text in told.items():
        file = tmp_path / what.removeprefix("file: ")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    table = package / "rules.py"
    before, after = table.read_text("utf-8").split("KEEP: Final = _table(\n")
    table.write_text(f"{before}KEEP: Final = _table(\n    {line},\n{after}", encoding="utf-8")
    program = (
        "from bestbefore import Explorer, Player, rules, simulate, streams\n"
        "from bestbefore.testing import check_agent\n"
        "assert rules.KEEP['newest'].name == 'newest'\n"
        "simulate.explore(streams.uniform(50), 10, 3, 'newest', tests=5, runs=1)\n"
        "simulate.play(streams.uniform(50), 10, 20, 3, 'newest', runs=1)\n"
        "check_agent(lambda seed: Explorer(window=5, memory=3, keep='newest', tests=4, seed=seed), arrivals=12)\n"
        "check_agent(lambda seed: Player(window=5, memory=3, keep='newest', seed=seed), arrivals=12)\n"
    )
    environment = os.environ | {"PYTHONPATH": str(tmp_path / "src"), "NUMBA_DISABLE_JIT": "1"}
    pytest = ["-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path / "tests"), "--rootdir", str(tmp_path)]
    for words in (["-c", program], pytest):
        done = subprocess.run(  # noqa: S603
            [sys.executable, *words], env=environment, cwd=tmp_path, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout + done.stderr
