"""The best k, as experiments: what is promised of each rank, weak and anytime, and how many arms are stored."""

from typing import Any

import numpy as np
import numpy.typing as npt

from bestbefore import bounds, simulate, streams
from bestbefore.arguments import whole
from bestbefore.keep import staircase
from bestbefore.memory import Moment, count, empty_memory, expire
from bestbefore.paper.finding import Finding, average, share

Ints = npt.NDArray[np.int64]


def best_k(
    top: int = 3,
    window: int = 100,
    arms: int = 400,
    epsilon: float = 0.2,
    delta: float = 0.1,
    runs: int = 300,
    seed: int = 0,
) -> list[Finding]:
    """With k ceil(3 / epsilon) slots, for each r up to k, the r-th answer is within epsilon of the r-th best arm.

    On a stream in random order and on a sawtooth; weak is judged at the last time, anytime at all times.
    """
    top, window, runs = whole("top", top), whole("window", window, at_least=top), whole("runs", runs)
    findings = []
    for guarantee, times in (("weak", "at one time"), ("anytime", "at all times of a stream of unknown length")):
        failures, most, spent = _worst_failures(top, window, arms, epsilon, delta, guarantee, runs, seed)
        slots, pulls = bounds.memory(epsilon, top=top), bounds.pulls(epsilon, window, delta, guarantee, arrival=arms)
        findings += [
            share(
                int(failures[rank - 1]),
                runs,
                at_most=delta,
                theorem="best-k",
                statement=f"{guarantee} (ours): {times} answer number {rank} is within epsilon of the best arm "
                f"number {rank}, with {slots} = {top} ceil(3 / epsilon) slots",
                setting=f"epsilon = {epsilon}, delta = {delta}, W = {window}, n = {arms}, rewards 0 or 1",
                measured=f"failures, by the worse of bucket and staircase; {most} slots, {spent:,} pulls an arm",
                sound=most <= slots and spent <= pulls,
                remark="one event, that all means of a window are known, serves all ranks: no rank costs more pulls",
            )
            for rank in range(1, top + 1)
        ]
    return [*findings, _stored(top, runs, seed)]


def _worst_failures(
    top: int, window: int, arms: int, epsilon: float, delta: float, guarantee: str, runs: int, seed: int
) -> tuple[Ints, int, int]:
    """Return the most failures of a rule on a stream, by rank; the most slots in use, and the most pulls an arm."""
    worst, most, spent = np.zeros(top, np.int64), 0, 0
    slots = bounds.memory(epsilon, top=top)
    settings: Any = {"epsilon": epsilon, "delta": delta, "guarantee": guarantee, "top": top, "seed": seed}
    for stream in (streams.uniform(arms), streams.sawtooth(arms, period=2 * window)):
        for keep in ("bucket", "staircase"):
            seen = simulate.trace(stream, window, slots, keep, runs=runs, progress=False, **settings)
            failed = seen.errors > epsilon + 1e-12
            judged = failed[:, -1] if guarantee == "weak" else failed.any(axis=1)
            worst = np.maximum(worst, judged.sum(axis=0))
            table = simulate.explore(stream, window, slots, keep, runs=1, progress=False, **settings)
            most, spent = max(most, *table["peak_memory"]), max(spent, *(table["pulls"] // arms))
    return worst, int(most), int(spent)


def _stored(top: int, runs: int, seed: int, window: int = 1000, times: int = 200) -> Finding:
    """Count the arms that `staircase` stores in random order where no slot is short, over the last `times`."""
    expected, stored = bounds.skyband(window, top), []
    for run in range(min(runs, 30)):
        memory, counts = empty_memory(4 * round(expected)), 0
        for now, mean in enumerate(np.random.default_rng([seed, run]).random(window + times).tolist(), start=1):
            expire(memory, now - window + 1)
            staircase.admit(memory, now, 1, mean, Moment(now, window, now, 0.0, 0.0, top))
            counts += count(memory) if now > window else 0
        stored.append(counts / times)
    return average(
        stored,
        at_most=1.2 * expected,
        theorem="best-k",
        statement="in random order about k (1 + ln(W / k)) arms are stored: those with fewer than k newer ones that "
        "are no worse (ours)",
        setting=f"k = {top}, W = {window:,}, n = {window + times:,} uniform means, known exactly, staircase",
        measured=f"arms stored on average, {expected:.1f} expected",
        remark="the bound is a fifth above what is expected",
    )
