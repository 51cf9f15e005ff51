"""Do the intervals of `bestbefore.replay.estimate` cover the truth?  300 made logs each, with known means.

Arms come and go; each is in rotation for a while, and is shown uniformly at random among those, or with uneven
probabilities.  The truth is known twice over: the true mean of the very arms that the player has chosen on a log
("own"), and the mean of that over 2,000 other logs of the same arms ("all").  The interval is about the former; how
often it covers the latter says how much the luck of learning matters beside it.

    python benchmarks/off_policy.py [--logs 300] [--plot docs/figures/replay.png]
"""

import argparse
from typing import Any

import numpy as np

from bestbefore.clock import window_of
from bestbefore.plan import plan_play
from bestbefore.replay.estimate import judged, summed, world_of
from bestbefore.replay.rows import Rows
from bestbefore.scale import UNIT
from bestbefore.simulate.replay_loop import PICKED, TRUE, W_TRUE, N, Rule

HOUR = 3600 * 10**6


class Made:
    """A world of arms: `arms` of them, an hour apart, each in rotation for `life` hours."""

    def __init__(
        self, arms: int, life: int, rows: int, *, uneven: bool, seed: int = 0, rates: Any = (2.0, 5.0)
    ) -> None:
        rng = np.random.default_rng(seed)
        self.life, self.rows, self.uneven = life, rows, uneven
        self.arrived = np.arange(arms) * HOUR
        self.means = rng.beta(*rates, arms)
        self.draw = rng.uniform(0.2, 1.0, arms) if uneven else np.ones(arms)

    def log(self, rng: np.random.Generator) -> tuple[Rows, np.ndarray]:
        """Make the rows of a log."""
        arms = self.arrived.size
        times = np.sort(rng.random(self.rows) * arms * HOUR).astype(np.int64)
        newest = times // HOUR
        oldest = np.maximum(newest - self.life + 1, 0)
        heights = np.concatenate([[0.0], np.cumsum(self.draw)])
        whole = heights[newest + 1] - heights[oldest]
        shown = np.searchsorted(heights, heights[oldest] + rng.random(self.rows) * whole, side="right") - 1
        shown = np.clip(shown, oldest, newest)
        rewards = (rng.random(self.rows) < self.means[shown]).astype(np.float64)
        enters = np.searchsorted(times, self.arrived, side="left")
        leaves = np.searchsorted(times, self.arrived + self.life * HOUR, side="left") - 1
        return Rows(shown, rewards, times, self.draw[shown] / whole, enters, leaves), self.arrived + 1


class Unscaled:
    """All that `judged` asks a log for."""

    scale = UNIT


def rule_of(window: str, memory: int, **rules: str) -> Rule:
    """Return a player as the compiled loop knows it."""
    span, made = window_of(window), plan_play(window, memory, **rules)
    names = (made.keep.number, made.keep.draws, made.pull.number, made.pull.index)
    return Rule(*names, span.length, span.by_time, made.delta, made.tests())


def measured(made: Made, rule: Rule, memory: int, method: str, number: int) -> tuple[float, Any]:
    """Return the true mean of what the player has chosen on a log, and the estimate of it."""
    rows, numbers = made.log(np.random.default_rng((7, number)))
    world = world_of(rows, numbers, made.means)
    sums = summed(world, rule, memory, method, number)
    checked = sums if method == "weighting" else summed(world, rule, memory, "weighting", number)
    true = sums[TRUE] / sums[N] if method == "weighting" else sums[W_TRUE] / sums[PICKED]
    return float(true), judged(method, sums, checked, Unscaled())  # type: ignore[arg-type]


def coverage(made: Made, rule: Rule, memory: int, method: str, logs: int, others: int = 0) -> dict[str, float]:
    """Return how often the intervals cover, and how wide they are."""
    pairs = [measured(made, rule, memory, method, number) for number in range(logs)]
    told = [(true, one) for true, one in pairs if one.refused is None]
    true_of_all = [measured(made, rule, memory, method, 10**6 + number)[0] for number in range(others)]
    fixed = float(np.mean(true_of_all)) if others else float("nan")
    return {
        "told": len(told) / logs,
        "own": float(np.mean([one.low <= true <= one.high for true, one in told])),
        "all": float(np.mean([one.low <= fixed <= one.high for _, one in told])) if others else float("nan"),
        "truth": float(np.mean([true for true, _ in told])),
        "mean": float(np.mean([one.value for _, one in told])),
        "width": float(np.mean([one.high - one.low for _, one in told])),
        "effective": float(np.mean([one.effective for _, one in told])),
    }


SETTINGS = {
    "20 arms at once, means of .3": {"arms": 100, "life": 20, "rows": 40_000},
    "5 arms at once, means of .3": {"arms": 50, "life": 5, "rows": 10_000},
    "10 arms at once, clicks of 3%": {"arms": 60, "life": 10, "rows": 60_000, "rates": (2.0, 60.0)},
}


def plot(path: str, logs: int = 60) -> None:
    """Draw the intervals of some small logs around the truth, for both methods and both ways of showing."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    from bestbefore.style import STYLE

    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(9, 5.2), layout="constrained")
        grid = figure.subplots(2, 2, sharex=True, sharey=True)
        for row, uneven in zip(grid, (False, True), strict=True):
            made = Made(arms=20, life=5, rows=3000, uneven=uneven)
            for axes, method in zip(row, ("rejection", "weighting"), strict=True):
                pairs = [measured(made, rule_of("5h", 5), 5, method, number) for number in range(logs)]
                missed = 0
                for place, (true, one) in enumerate(pairs):
                    miss = not one.low <= true <= one.high
                    missed += miss
                    axes.vlines(place, one.low - true, one.high - true, color="#c14b00" if miss else "#0072b2", lw=2)
                axes.axhline(0, color="black", lw=0.8)
                shown = "uneven probabilities" if uneven else "uniformly at random"
                axes.set_title(f"{method}, {shown}: {missed} of {logs} miss", fontsize=10)
        for axes in grid[:, 0]:
            axes.set_ylabel("interval less the truth")
        for axes in grid[1]:
            axes.set_xlabel("log")
        figure.savefig(path, dpi=130)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--logs", type=int, default=300)
    parser.add_argument("--others", type=int, default=2000)
    parser.add_argument("--plot", help="Only draw a figure of 60 small logs, to this file.")
    chosen = parser.parse_args()
    if chosen.plot:
        plot(chosen.plot)
        return
    print("| log | shown | method | answers | covers own | covers all | truth | mean estimate | width | effective |")
    print("|---|---|---|---:|---:|---:|---:|---:|---:|---:|")
    for name, settings in SETTINGS.items():
        for uneven in (False, True):
            made = Made(**settings, uneven=uneven)
            rule = rule_of(f"{settings['life']}h", 10)
            for method in ("rejection", "weighting"):
                found = coverage(made, rule, 10, method, chosen.logs, chosen.others)
                shown = "uneven" if uneven else "uniform"
                print(
                    f"| {name} | {shown} | {method} | {found['told']:.0%} | {found['own']:.1%} | {found['all']:.1%} | "
                    f"{found['truth']:.4f} | {found['mean']:.4f} | {found['width']:.4f} | {found['effective']:,.0f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
