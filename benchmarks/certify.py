"""Certified exploration, measured: pulls against the paper's, failures, honest gaps, and the time of a pull.

    python benchmarks/certify.py [pulls] [failures] [large] [gaps] [time]

All parts unless some are named.  Runs in one process; all of it takes about half an hour on 2 cores.
"""

import math
import sys
from collections.abc import Callable

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table
from scipy.stats import binomtest

from bestbefore import bounds
from bestbefore.noise import BOUNDED
from bestbefore.paper.trials import EASY, Trial, eleven_streams, run_trials, unlimited
from bestbefore.probe.certificates import Settings, settings_of
from bestbefore.simulate.certify_loop import CERTIFIED, PEAK, PULLS, certify_stream, logs_of
from bestbefore.streams import Stream
from timing import nanoseconds

DELTA = 0.05


def slots_for(epsilon: float, window: int, cells: int = 10) -> int:
    """Return the slots for cells of a tenth of epsilon, or of a third, or as many as arms are valid."""
    return min(bounds.round_up(cells / epsilon), window)


def settings_for(epsilon: float, window: int, slots: int) -> Settings:
    return settings_of(epsilon, slots, BOUNDED, whole=slots >= window)


def paper_pulls(epsilon: float, window: int, guarantee: str, arms: int) -> float:
    """Return the paper's pulls of an arm, on average over a stream."""
    blocks = range(1, arms + 1, window)
    return float(np.mean([bounds.pulls(epsilon, window, DELTA, guarantee, arms=arms, arrival=t) for t in blocks]))


def pulls(console: Console, runs: int = 3, periods: int = 20) -> None:
    """How often an arm is pulled on average, and what share of the paper's pulls that is."""
    kinds = {"weak": ("weak", 10), "weak, 3/epsilon slots": ("weak", 3), "anytime": ("anytime", 10)}
    sizes = [(window, epsilon) for window in (50, 100) for epsilon in (0.05, 0.1, 0.2)]
    for title, (guarantee, cells) in kinds.items():
        table = Table(title=f"Pulls of an arm, and the paper's divided by them: {title}, delta = {DELTA}")
        table.add_column("stream")
        worst: dict[str, float] = {}
        for window, epsilon in sizes:
            table.add_column(f"W={window} eps={epsilon:g}", justify="right")
        rows: dict[str, list[str]] = {}
        for window, epsilon in track(sizes, title, console=console, transient=True):
            arms, slots = periods * window, slots_for(epsilon, window, cells)
            settings, logs = settings_for(epsilon, window, slots), logs_of(window, DELTA, guarantee, arms)
            paper = paper_pulls(epsilon, window, guarantee, arms)
            for name, stream in eleven_streams(arms, window, epsilon).items():
                ends = [certify_stream(stream, window, logs, settings, run=run)[0].counts for run in range(runs)]
                ours = sum(int(end[PULLS]) for end in ends) / (runs * arms)
                if any(end[CERTIFIED] < arms for end in ends):
                    console.print(f"not certified at all times: {name}, {window=}, {epsilon=}, {title}")
                worst[name] = min(worst.get(name, math.inf), paper / ours)
                rows.setdefault(name, []).append(f"{ours:,.0f} ({paper / ours:.1f})")
        table.add_column("least", justify="right")
        for name, cells_ in rows.items():
            table.add_row(name, *cells_, f"{worst[name]:.1f}")
        console.print(table)
        console.print(f"least of all: 1/{min(worst.values()):.2f}; of {EASY}: 1/{min(worst[n] for n in EASY):.2f}")


def failures(console: Console, runs: int = 2000, window: int = 20, epsilon: float = 0.25) -> None:
    """How often the answer is not within epsilon: at a time fixed beforehand (weak), or at any (strong, anytime)."""
    arms, times = 3 * window, [window // 2, window, 2 * window - 1, 3 * window - 1]
    slots = slots_for(epsilon, window, 3)
    settings = settings_for(epsilon, window, slots)
    title = f"Failures in {runs} runs: W = {window}, epsilon = {epsilon}, {slots} slots, delta = {DELTA}"
    table = Table(title=title)
    limited = [column for guarantee in bounds.GUARANTEES for column in (guarantee, "99% limit")]
    for column in ("stream", *limited, "weak, half as wide", "peak", "certified"):
        table.add_column(column, justify="right")
    for name, stream in track(list(eleven_streams(arms, window, epsilon).items()), "failures", console=console):
        cells: list[str] = []
        peak, certified = 0, 1.0
        for guarantee in bounds.GUARANTEES:
            trial = Trial(stream, window, logs_of(window, DELTA, guarantee, arms), settings, unlimited(runs))
            (seen,) = run_trials([trial])
            failed = seen.errors > epsilon + 1e-9
            count = int(failed[:, times].sum(axis=0).max() if guarantee == "weak" else failed.any(axis=1).sum())
            cells += [f"{count / runs:.4f}", f"{limit(count, runs):.4f}"]
            peak = max(peak, int(seen.counts[:, PEAK].max()))
            certified = min(certified, float(seen.counts[:, CERTIFIED].min() / arms))
        narrow = logs_of(window, DELTA, "weak", arms) / 4  # bounds half as wide, to see that failures are noticed
        (seen,) = run_trials([Trial(stream, window, narrow, settings, unlimited(runs // 4))])
        half = (seen.errors > epsilon + 1e-9)[:, times].mean(axis=0).max()
        table.add_row(name, *cells, f"{half:.4f}", str(peak), f"{certified:.0%}")
    console.print(table)


def large(console: Console) -> None:
    """The same where windows are larger and epsilon is smaller; with fewer runs, which take their time."""
    failures(console, runs=400, window=50, epsilon=0.1)


def limit(count: int, runs: int) -> float:
    """Return the upper 99% limit of a share."""
    return float(binomtest(count, runs, alternative="less").proportion_ci(0.99).high)


def gaps(console: Console, runs: int = 2000, window: int = 20, epsilon: float = 0.2) -> None:
    """How often the error is above the gap, where pulls are cut short by a random budget, at a random time."""
    arms = 3 * window
    table = Table(title=f"Honest gaps in {runs} runs, stopped at random: W = {window}, budgets of 1 to 300 an arrival")
    for column in ("stream", "error above gap", "99% limit", "mean error", "mean gap", "gap above epsilon"):
        table.add_column(column, justify="right")
    slots = slots_for(epsilon, window, 3)
    settings, logs = settings_for(epsilon, window, slots), logs_of(window, DELTA, "weak", arms)
    for name, stream in track(list(eleven_streams(arms, window, epsilon).items()), "gaps", console=console):
        rng = np.random.default_rng(7)
        budgets, times = (10 ** rng.uniform(0, 2.5, runs)).astype(np.int64), rng.integers(arms, size=runs)
        (seen,) = run_trials([Trial(stream, window, logs, settings, budgets)])
        errors, found = seen.errors[np.arange(runs), times], seen.gaps[np.arange(runs), times]
        count = int((errors > found + 1e-9).sum())
        share = float((found > epsilon).mean())
        numbers = [count / runs, limit(count, runs), errors.mean(), found.mean(), share]
        table.add_row(name, *(f"{number:.4f}" for number in numbers))
    console.print(table)


def time(console: Console, arms: int = 20_000, window: int = 50, epsilon: float = 0.1) -> None:
    """Nanoseconds of a pull."""
    table = Table(title=f"Nanoseconds of a pull: W = {window}, epsilon = {epsilon}, weak")
    for column in ("stream", "pulls of an arm", "ns a pull", "ns an arm"):
        table.add_column(column, justify="right")
    settings, logs = settings_for(epsilon, window, slots_for(epsilon, window)), logs_of(window, DELTA, "weak", arms)
    for name, stream in track(list(eleven_streams(arms, window, epsilon).items()), "time", console=console):
        made = int(certify_stream(stream, window, logs, settings)[0].counts[PULLS])

        def work(stream: Stream = stream) -> object:
            return certify_stream(stream, window, logs, settings)

        took = nanoseconds(work, made, repeats=3)
        table.add_row(name, f"{made / arms:,.1f}", f"{took:,.0f}", f"{took * made / arms:,.0f}")
    console.print(table)


PARTS: dict[str, Callable[[Console], None]] = {
    "pulls": pulls,
    "failures": failures,
    "large": large,
    "gaps": gaps,
    "time": time,
}

if __name__ == "__main__":
    for part in sys.argv[1:] or PARTS:
        PARTS[part](Console(width=160))
