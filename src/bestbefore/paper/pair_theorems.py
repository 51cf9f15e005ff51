"""Fixed tests, as an experiment: the pulls of `bestbefore.pairs` keep the promise, the exact ones just so."""

import math
from typing import Any, Final

import numpy as np

from bestbefore import bounds, pairs, streams
from bestbefore.arguments import whole
from bestbefore.paper.exploration_theorems import right_times
from bestbefore.paper.finding import Finding, average, share
from bestbefore.streams import Stream

BEYOND: Final = 1e-6
"""How much more than epsilon worse the rivals are."""
TOGETHER: Final = 2000
"""Windows that are run as one stream, one after the other."""
AT_ONCE: Final = 8
"""Streams that are run at once, so that all cores have work, and the answers of all of them fit in memory."""


def worst_mean(pulls: int, epsilon: float, rivals: int, cell: float = 0.0) -> float:
    """Return the mean of the best arm at which rivals that are epsilon worse are likeliest to look good enough.

    >>> worst_mean(471, 0.1, rivals=99)
    0.555
    """
    means = np.arange(epsilon + 0.005, 1, 0.005)
    failures = [pairs.exact_failure(pulls, mean, epsilon, rivals, cell) for mean in means]
    return round(float(means[int(np.argmax(failures))]), 6)


def failed_windows(
    keep: str,
    memory: int,
    pulls: int,
    mean: float,
    *,
    window: int,
    epsilon: float,
    windows: int,
    seed: int,
    sigma: float | None = None,
) -> int:
    """Count the windows at whose end the answer was more than epsilon worse: the best arm comes first, then its rivals.

    The windows follow each other in one stream.  None knows of the others: all arms of the last one have expired.
    """
    block = np.full(window, mean - epsilon - BEYOND)
    block[0] = mean
    stream: Stream = streams.from_means(np.tile(block, min(TOGETHER, windows)))
    if sigma is not None:
        stream = stream.gaussian(sigma)
    failed, runs = 0, math.ceil(windows / TOGETHER)
    for first in range(0, runs, AT_ONCE):
        some = range(first, min(first + AT_ONCE, runs))
        right = right_times(stream, window, memory, keep, epsilon, some, seed, tests=pulls)
        ends = right[:, window - 1 :: window].ravel()[: windows - first * TOGETHER]
        failed += int((~ends).sum())
    return failed


def fixed_tests(
    window: int = 100, epsilon: float = 0.1, delta: float = 0.05, runs: int = 100_000, seed: int = 0
) -> list[Finding]:
    """Ours: a quarter of the paper's pulls keep its promise, by pairs of arms; on their worst instance just so.

    The best arm comes first, and all others of its window are just more than epsilon worse.  A run is one such window.
    """
    window, rivals = whole("window", window, at_least=2), window - 1
    exact, by_pairs = pairs.exact_pulls(epsilon, window, delta), pairs.pair_pulls(epsilon, window, delta)
    formula, mean = pairs.worst_failure(exact, epsilon, rivals), worst_mean(exact, epsilon, rivals)
    fewer = round(0.9 * exact)
    task: Any = {"window": window, "epsilon": epsilon, "seed": seed}

    def found(count: int, windows: int, statement: str, measured: str, at: float, **words: Any) -> Finding:
        setting = f"epsilon = {epsilon}, delta = {delta}, W = {window}, one arm of mean {at:g}, {rivals} epsilon worse"
        named: Any = {"theorem": "fixed-tests", "statement": statement, "measured": f"failures of {measured}"}
        return share(count, windows, setting=setting, **named, **words)

    def fifo(pulls: int, windows: int, sigma: float | None = None) -> int:
        return failed_windows("fifo", window, pulls, mean, windows=windows, sigma=sigma, **task)

    some = max(runs // 10, 2)
    findings = [
        found(
            fifo(exact, runs),
            runs,
            "the exact s is just enough: on its worst instance it fails as often as it may",
            f"fifo with W slots, {exact} pulls an arm",
            mean,
            equal_to=delta,
            remark=f"the formula says {formula:.4f}",
        ),
        found(
            fifo(fewer, some),
            some,
            "a tenth fewer pulls are not enough",
            f"fifo with W slots, {fewer} pulls an arm",
            mean,
            at_least=delta,
        ),
        found(
            max(fifo(by_pairs, some), fifo(by_pairs, some, sigma=0.5)),
            some,
            "the pulls by pairs are enough",
            f"fifo with W slots, {by_pairs} pulls an arm, by the worse of rewards 0 or 1 and Gaussian",
            mean,
            at_most=delta,
        ),
    ]
    for keep, split, more in (("bucket", bounds.PAPER_SPLIT, 0), ("staircase", bounds.PAPER_SPLIT, 1)):
        slots = bounds.memory(epsilon, split)
        cell = 1 / (slots + more)
        s = pairs.exact_pulls(epsilon, window, delta, cell=cell)
        at, count = _worst_place(keep, slots, s, worst_mean(s, epsilon, rivals, cell), cell, some, task)
        statement = "cells take their part of epsilon, and the exact s keeps the promise"
        measured = f"{keep} with {slots} slots, {s:,} pulls an arm"
        findings.append(found(count, some, statement, measured, at, at_most=delta))
    return [*findings, _quarter(window, epsilon, delta)]


def _worst_place(
    keep: str, slots: int, pulls: int, mean: float, cell: float, windows: int, task: dict[str, Any]
) -> tuple[float, int]:
    """Return the worst mean of several in one cell, and its failures: it matters where the best arm is in its cell."""
    counts = {
        round(mean + part * cell, 6): failed_windows(keep, slots, pulls, mean + part * cell, windows=windows, **task)
        for part in (0.0, 0.25, 0.5, 0.75)
    }
    worst = max(counts, key=lambda one: counts[one])
    return worst, counts[worst]


def _quarter(window: int, epsilon: float, delta: float) -> Finding:
    """Compare the exact pulls with those of the paper's bounds, for the slots that each keep rule has by default."""
    shares, words = [], []
    for keep, split in (("bucket", bounds.PAPER_SPLIT), ("staircase", bounds.STAIRCASE_SPLIT)):
        paper = bounds.pulls(epsilon, window, delta, split=split)
        exact = pairs.exact_pulls(epsilon, window, delta, cell=split * epsilon)
        shares.append(exact / paper)
        words.append(f"{keep} {exact:,} of {paper:,}")
    return average(
        [max(shares)],
        at_most=1 / 4,
        theorem="fixed-tests",
        statement="fixed tests take at most a quarter of the pulls by Hoeffding's bound for each arm, cells as before",
        setting=f"weak, epsilon = {epsilon}, delta = {delta}, W = {window}, rewards 0 or 1",
        measured=f"the larger share: {', '.join(words)}",
    )
