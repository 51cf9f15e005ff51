"""Certified exploration, measured: pulls against the paper's, failures, honest gaps, and the time of a pull.

    python benchmarks/certify.py [pulls] [figure] [budgets] [live] [failures] [large] [gaps] [time]

All parts unless some are named.  Runs in one process; all of it takes about half an hour on 2 cores.
"""

import math
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter_ns
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table
from scipy.stats import binomtest

from bestbefore import Explorer, bounds, simulate
from bestbefore.noise import BOUNDED
from bestbefore.paper.trials import EASY, Trial, eleven_streams, run_trials, unlimited
from bestbefore.plan import plan_exploration
from bestbefore.probe.certificates import Settings, settings_of
from bestbefore.simulate.certify_loop import CERTIFIED, PEAK, PULLS, certify_stream, logs_of
from bestbefore.streams import Stream
from bestbefore.style import STYLE
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


FIGURE = Path(__file__).parent.parent / "docs" / "figures" / "certified.png"


def figure(console: Console, window: int = 100, runs: int = 3) -> None:
    """Pulls of an arm against epsilon: the paper's, those of fixed tests counted exactly, and certified ones."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    epsilons = [0.4, 0.3, 0.2, 0.14, 0.1, 0.07, 0.05, 0.035]
    plans = [("fixed tests, the paper", "#b2182b", {"keep": "bucket"}), ("fixed tests, exact", "#ef8a62", {})]
    drawn = {
        name: (colour, [plan_exploration(window=window, epsilon=e, tests=tests, **said).tests_of(1) for e in epsilons])
        for (name, colour, said), tests in zip(plans, ("paper", "exact"), strict=True)
    }
    colours = {"all equal": "#2166ac", "beta(2,5)": "#1b7837", "uniform": "#5aae61"}
    for name, colour in colours.items():
        means = []
        for epsilon in track(epsilons, name, console=console, transient=True):
            stream = eleven_streams(20 * window, window, epsilon)[name]
            table = simulate.explore(stream, window, epsilon=epsilon, delta=DELTA, runs=runs, progress=False)
            means.append(float(table["pulls"].mean() / stream.length))
        drawn[f"certified, {name}"] = colour, means
    with mpl.rc_context(STYLE):
        canvas = Figure(figsize=(7.5, 4.6), layout="constrained")
        axes = canvas.add_subplot(xscale="log", yscale="log")
        for name, (colour, values) in drawn.items():
            axes.plot(epsilons, values, "o-", color=colour, markersize=3.5)
            up = {"fixed tests, exact": 6, "certified, all equal": -6}.get(name, 0)
            place = {"textcoords": "offset points", "va": "center"}
            axes.annotate(name, (epsilons[-1], values[-1]), (8, up), color=colour, **place)
        axes.set_xlim(0.45, 0.0095)
        axes.set_xticks(epsilons, [f"{epsilon:g}" for epsilon in epsilons])
        axes.minorticks_off()
        axes.set_xlabel("epsilon: how far from the best the answer may be")
        axes.set_ylabel("pulls of an arm")
        axes.set_title(f"What an answer costs: W = {window}, delta = {DELTA}, weak")
        canvas.savefig(FIGURE, dpi=150)
    for name, (_, values) in drawn.items():
        console.print(name, {epsilon: round(value) for epsilon, value in zip(epsilons, values, strict=True)})


def budgets(console: Console, arms: int = 2000, window: int = 50) -> None:
    """What a budget buys: epsilon = 0.1 with bursts cut off, and no epsilon, beside fixed tests of as many pulls."""
    table = Table(title=f"Budgets: W = {window}, n = {arms:,}, delta = {DELTA}; mean over times")
    for column in ("stream", "said", "pulls an arm", "mean error", "mean gap", "certified"):
        table.add_column(column, justify="right")
    settings: dict[str, dict[str, Any]] = {
        "epsilon .1": {"epsilon": 0.1},
        "epsilon .1, budget 1,000": {"epsilon": 0.1, "budget": 1000},
        "epsilon .1, budget 100": {"epsilon": 0.1, "budget": 100},
        "8 slots, budget 300": {"memory": 8, "budget": 300},
        "8 slots, tests of 300": {"memory": 8, "tests": 300},
        "8 slots, budget 30": {"memory": 8, "budget": 30},
        "8 slots, tests of 30": {"memory": 8, "tests": 30},
    }
    all_streams = eleven_streams(arms, window, 0.1)
    for name in ("uniform", "beta(2,5)", "near 0", "two-level", "sawtooth 2W", "all equal"):
        for said, options in settings.items():
            rows = simulate.explore(all_streams[name], window, delta=DELTA, runs=3, progress=False, **options)
            means = [f"{rows[column].mean():.4f}" for column in ("mean", "gap", "certified")]
            table.add_row(name, said, f"{rows['pulls'].mean() / arms:,.0f}", *means)
    console.print(table)


def live(console: Console, arms: int = 400) -> None:
    """Microseconds of a live `tell`, one reward at a time, with 20 arms stored, and of an `ask`."""
    rng = np.random.default_rng(0)
    means = rng.random(arms)
    explorer, spent, calls = Explorer(window=20, epsilon=0.1), {"ask": 0, "tell": 0}, 0
    for arm in range(arms):
        explorer.arrive(arm)
        while True:
            began = perf_counter_ns()
            wanted = explorer.ask()
            spent["ask"] += perf_counter_ns() - began
            if wanted is None:
                break
            reward = float(rng.random() < means[wanted])
            began = perf_counter_ns()
            explorer.tell(wanted, reward)
            spent["tell"] += perf_counter_ns() - began
            calls += 1
        if arm == arms // 2:
            spent, calls = {"ask": 0, "tell": 0}, 0
    each = {verb: f"{nanoseconds / calls / 1000:.1f}" for verb, nanoseconds in spent.items()}
    console.print(f"microseconds of a call, {len(explorer)} arms stored, {calls:,} calls: {each}")


PARTS: dict[str, Callable[[Console], None]] = {
    "pulls": pulls,
    "figure": figure,
    "budgets": budgets,
    "live": live,
    "failures": failures,
    "large": large,
    "gaps": gaps,
    "time": time,
}

if __name__ == "__main__":
    for part in sys.argv[1:] or PARTS:
        PARTS[part](Console(width=160))
