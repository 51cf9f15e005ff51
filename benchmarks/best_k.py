"""The best k in random order: how many arms are stored, and the error of each rank, beside `topk` with twice the slots.

    python benchmarks/best_k.py

Means are known exactly, so that only memory makes errors.
"""

import argparse

import numpy as np

from bestbefore import bounds, simulate, streams
from bestbefore.keep import staircase
from bestbefore.memory import Moment, count, empty_memory, expire


def stored(window: int, top: int, runs: int) -> float:
    """Return the arms that `staircase` stores on average where no slot is short."""
    counts = []
    for run in range(runs):
        memory = empty_memory(window)
        for now, mean in enumerate(np.random.default_rng(run).random(2 * window).tolist(), start=1):
            expire(memory, now - window + 1)
            staircase.admit(memory, now, 1, mean, Moment(now, window, now, 0.0, 0.0, top))
            if now >= window:
                counts.append(count(memory))
    return float(np.mean(counts))


def errors(keep: str, window: int, memory: int, top: int, runs: int) -> str:
    """Return the mean error of each rank, in thousandths."""
    stream = streams.uniform(20 * window).gaussian(1e-12)
    table = simulate.explore(stream, window, memory, keep, tests=1, top=top, runs=runs)
    return "  ".join(f"{1000 * table[f'mean_{rank}'].mean():9.5f}" for rank in range(1, top + 1))


def main() -> None:
    """Print the numbers."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--window", type=int, default=1000)
    options.add_argument("--top", type=int, default=3)
    options.add_argument("--runs", type=int, default=10)
    given = options.parse_args()
    window, top, runs = given.window, given.top, given.runs
    about = top * (1 + np.log(window / top))
    print(f"W = {window}, k = {top}: {stored(window, top, runs):.1f} arms stored on average; ", end="")
    print(f"k (1 + ln(W / k)) = {about:.1f}, exactly expected {bounds.skyband(window, top):.1f}")
    print("slots   mean error by rank, in thousandths")
    for memory in (2 * top, 4 * top, 6 * top, 8 * top, 10 * top, 12 * top):
        print(f"{memory:5}   staircase {errors('staircase', window, memory, top, runs)}")
        for slots in (memory, 2 * memory):
            print(f"{slots:5}   topk      {errors('topk', window, slots, top, runs)}")


if __name__ == "__main__":
    main()
