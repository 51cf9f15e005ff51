"""What durable calls cost, as ratios within one run: group commit, batches, many streams, many arms that have gone.

    python benchmarks/durable.py                 on SQLite, in the folder for temporary files
    python benchmarks/durable.py --only group    one of: group, batch, streams, gone

- 64 threads with group commit must make at least 20 times as many calls a second as one thread does one by one;
- a batch of 100 tells must take at most a tenth of 100 single ones;
- with 10,000 streams a call must take at most 1.5 times as long as with 10, and so with 100,000 arms that have gone.

How much group commit gains depends on how long a flush takes: it shares the flush, not the work of each agent.
`synchronous` is FULL throughout.  Times are the medians of several, taken in turn.  The exit code says if all hold.
"""

import argparse
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from typing import Any

from bestbefore import Explorer, connect

SETTINGS: dict[str, Any] = {"window": "24h", "memory": 12, "tests": 10**6, "most": 1000, "seed": 1}
ROUNDS = 5


def seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def pulls(page: Any, pairs: int) -> None:
    for _ in range(pairs):
        page.tell(page.ask().id, 0.5)


def in_threads(work: Callable[[], object], threads: int) -> None:
    workers = [threading.Thread(target=work) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


def filled(desk: Any, name: str, arms: int = 20) -> Any:
    page = desk.stream(name, Explorer, **SETTINGS)
    for number in range(arms):
        page.arrive(f"arm {number}")
    return page


def group(desk: Any) -> list[tuple[str, float, float, bool]]:
    page, alone, together = filled(desk, "group"), [], []
    pulls(page, 20)
    for _ in range(ROUNDS):
        alone.append(seconds(lambda: pulls(page, 60)) / 60)
        together.append(seconds(lambda: in_threads(lambda: pulls(page, 60), 64)) / (64 * 60))
    ratio = statistics.median(alone) / statistics.median(together)
    print(f"a call alone {statistics.median(alone) * 5e5:.0f} us, of 64 {statistics.median(together) * 5e5:.0f} us")
    return [("64 threads over one by one", ratio, 20, ratio >= 20)]


def batch(desk: Any) -> list[tuple[str, float, float, bool]]:
    page, single, at_once = filled(desk, "batch"), [], []
    for _ in range(ROUNDS):
        ids = [page.ask().id for _ in range(200)]
        single.append(seconds(lambda: [page.tell(id, 0.5) for id in ids[:100]]))  # noqa: B023 (called at once)

        def many() -> None:
            with desk.batch() as calls:
                for id in ids[100:]:  # noqa: B023
                    calls.stream("batch").tell(id, 0.5)

        at_once.append(seconds(many))
    ratio = statistics.median(single) / statistics.median(at_once)
    return [("100 single tells over a batch of 100", ratio, 10, ratio >= 10)]


def streams(desk: Any) -> list[tuple[str, float, float, bool]]:
    """Time calls to ten streams where there are 10, and where there are 10,000."""
    few = [filled(desk, f"stream {number}", 3) for number in range(10)]
    work = lambda: [pulls(page, 3) for page in few]  # noqa: E731
    work()
    before = statistics.median(seconds(work) for _ in range(3 * ROUNDS))
    for number in range(10, 10_000):
        desk.stream(f"stream {number}", Explorer, **SETTINGS)
    work()
    after = statistics.median(seconds(work) for _ in range(3 * ROUNDS))
    return [("a call among 10,000 streams over one among 10", after / before, 1.5, after / before <= 1.5)]


def gone(desk: Any) -> list[tuple[str, float, float, bool]]:
    """Time calls before and after 100,000 arms have come and gone."""
    page = desk.stream("gone", Explorer, window=50, memory=12, tests=10**6, seed=1)
    for number in range(60):
        page.arrive(f"first {number}")
    pulls(page, 20)
    before = statistics.median(seconds(lambda: pulls(page, 10)) for _ in range(3 * ROUNDS))
    for part in range(100):
        with desk.batch() as calls:
            for number in range(1000):
                calls.stream("gone").arrive(f"arm {part} {number}")
    pulls(page, 20)
    after = statistics.median(seconds(lambda: pulls(page, 10)) for _ in range(3 * ROUNDS))
    return [("a call after 100,000 arms have gone over one before", after / before, 1.5, after / before <= 1.5)]


def main() -> int:
    parts = {"group": group, "batch": batch, "streams": streams, "gone": gone}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=parts)
    options, found = parser.parse_args(), []
    for name, part in parts.items():
        if options.only in (None, name):
            with tempfile.TemporaryDirectory() as folder, connect(f"sqlite:///{folder}/s.db", sweep=None) as desk:
                found += part(desk)
    for what, ratio, allowed, holds in found:
        print(f"{what}: {ratio:.2f} (needed: {allowed}) {'holds' if holds else 'FAILS'}")
    return int(not all(holds for *_, holds in found))


if __name__ == "__main__":
    sys.exit(main())
