"""What the benchmarks share: the time of some work, the best of several."""

import time
from collections.abc import Callable


def nanoseconds(work: Callable[[], object], pieces: int, repeats: int = 5) -> float:
    """Time some work of so many pieces, once warm, and return the best time of a piece."""
    work()
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best / pieces * 1e9
