"""Random sequences of calls: a durable agent must answer as an agent in memory does.

    python benchmarks/sequences.py                    100,000 sequences: some hours
    python benchmarks/sequences.py 2000 --seed 7      so many, and others

The sequences are those of `tests/store/test_as_in_memory.py`: duplicates, conflicts, wrong ids, clock jumps, restarts.
They run in folders in memory where the system has some.  The first difference ends it, with the shortest sequence that
shows it.
"""

import argparse
import importlib.util
import sys
import tempfile
import time
from pathlib import Path

from hypothesis import seed, settings
from hypothesis.stateful import run_state_machine_as_test

TEST = Path(__file__).parent.parent / "tests" / "store" / "test_as_in_memory.py"
AT_ONCE = 250


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sequences", type=int, nargs="?", default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    spec = importlib.util.spec_from_file_location("as_in_memory", TEST)
    assert spec is not None  # noqa: S101
    assert spec.loader is not None  # noqa: S101
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    began, done = time.monotonic(), 0
    memory = "/dev/shm" if Path("/dev/shm").is_dir() else None  # noqa: S108
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        module.FOLDER = folder
        while done < options.sequences:
            some = min(AT_ONCE, options.sequences - done)
            machine = seed(options.seed * 10**6 + done)(type("AsInMemory", (module.AsInMemory,), {}))
            run_state_machine_as_test(
                machine,
                settings=settings(max_examples=some, stateful_step_count=20, deadline=None, database=None),
            )
            done += some
            print(f"{done} sequences, no difference, {time.monotonic() - began:.0f} s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
