"""Against what people use instead: policies of river and MABWiser beside ours, on the same streams.

    python benchmarks/peers.py [--runs 10] [--data FOLDER] [--plot peers.png] [--json]

All play the same arms with the same rewards: window W, so many arms, so many pulls after each arrival.  Peers store all
valid arms; ours is a live `Player` with fewer slots, as it comes.  For each peer, a small grid of policies and settings
is tried on other runs than those that are shown, and the best on a stream is named.  Intervals are 95%, by Student's t,
over runs.  Times are of this machine.
"""

import argparse
import json
import pickle
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy import stats

from bestbefore import Player, peers, simulate, streams
from bestbefore.progress import progress_bar
from bestbefore.simulate.seeds import generators
from bestbefore.streams import Stream

TUNING = 1000
"""The first of the runs on which settings are chosen; those shown begin at 0."""

Factory = Callable[..., Any]


class Sizes(NamedTuple):
    """What all play with."""

    arms: int
    window: int
    budget: int
    memory: int
    runs: int
    tuning: int


def coin(arm: object, reward: float, state: list[int] = [1]) -> int:  # noqa: B006  a generator that pickles
    """Make 0 or 1 of a reward between, with the same mean: MABWiser's Thompson sampling takes nothing else."""
    if reward in (0.0, 1.0):
        return int(reward)
    state[0] = state[0] * 48271 % 2147483647
    return int(state[0] / 2147483647 < reward)


def grids() -> dict[str, dict[str, Factory]]:
    """Return the settings that are tried for each peer."""
    from river import proba

    river, mab = peers.river, peers.mabwiser
    return {
        "river": {
            **{f"UCB({delta:g})": river("UCB", delta=delta) for delta in (0.1, 0.2, 0.4, 1)},
            **{
                f"EpsilonGreedy({epsilon:g}), {first} first": river("EpsilonGreedy", epsilon=epsilon, first=first)
                for epsilon in (0.02, 0.1)
                for first in (1, 3)
            },
            "ThompsonSampling(Beta)": river("ThompsonSampling", reward_obj=proba.Beta()),
        },
        "MABWiser": {
            **{f"UCB1({alpha:g}), 1 first": mab("UCB1", alpha=alpha, first=1) for alpha in (0.1, 0.2, 0.4)},
            "EpsilonGreedy(.1), 1 first": mab("EpsilonGreedy", epsilon=0.1, first=1),
            "EpsilonGreedy(.02), 3 first": mab("EpsilonGreedy", epsilon=0.02, first=3),
            "ThompsonSampling": mab("ThompsonSampling", binarizer=coin),
        },
        "MABWiser, as it comes": {"UCB1(1)": mab("UCB1", alpha=1)},
        "MABWiser, nothing removed": {"UCB1(.2), 1 first": mab("UCB1", alpha=0.2, first=1, remove=False)},
    }


def made_streams(sizes: Sizes, data: Path | None) -> dict[str, Stream]:
    """Return the streams by name."""
    found = {
        "uniform": streams.uniform(sizes.arms),
        "two-level": streams.two_level(sizes.arms, sizes.window),
        "click rates": streams.beta(sizes.arms, 1.5, 48.5),
        "sawtooth": streams.sawtooth(sizes.arms, 2 * sizes.window),
    }
    if data is not None:
        found["MovieLens"] = streams.movielens("latest-small", path=data, order="first-rating", arms=sizes.arms)
    return found


class Watched:
    """An agent, and what is written down of it: its answer at the end of each epoch, and how many arms it holds."""

    def __init__(self, agent: Any) -> None:
        self._agent, self.answers, self.held = agent, [], 0
        self.ask, self.tell, self.memory = agent.ask, agent.tell, agent.memory

    @property
    def stored(self) -> list[Any]:
        return self._agent.stored

    def arrive(self, arm: int, budget: int) -> list[Any]:
        self.look()
        return self._agent.arrive(arm, budget=budget)

    def look(self) -> None:
        stored = self._agent.stored
        if stored:
            self.answers.append(self._agent.best())
        self.held = max(self.held, getattr(self._agent, "held", len(stored)))

    @property
    def wasted(self) -> int:
        return getattr(self._agent, "wasted", 0)

    @property
    def size(self) -> int:
        """Bytes, as it would be saved: of a peer pickled, of ours as JSON."""
        kept = getattr(self._agent, "peer", None)
        return len(json.dumps(self._agent.state())) if kept is None else len(pickle.dumps(kept))


def measured(factory: Factory, stream: Stream, sizes: Sizes, memory: int, run: int) -> dict[str, float]:
    """Let one agent play one run."""
    watched: list[Watched] = []

    def make(window: int, memory: int, seed: np.random.Generator) -> Watched:
        watched.append(Watched(factory(window=window, memory=memory, seed=seed)))
        return watched[-1]

    start = time.perf_counter()
    table = simulate.play(stream, sizes.window, sizes.budget, memory, {"it": make}, runs=[run], jobs=1, progress=False)
    took = time.perf_counter() - start
    agent = watched[-1]
    agent.look()
    means = np.concatenate([arms.means for arms in stream.blocks(generators(0, run)[0])])
    best = [means[max(0, last - sizes.window) : last].max() for last in range(1, means.size + 1)]
    named = means[np.array(agent.answers) - 1]
    return {
        "regret": float(table["regret"][0]) / float(table["pulls"][0]),
        "error": float(np.mean(np.array(best) - named)),
        "held": agent.held,
        "bytes": agent.size,
        "micros": took / float(table["pulls"][0]) * 1e6,
        "wasted": agent.wasted / float(table["pulls"][0]),
    }


def compared(sizes: Sizes, data: Path | None, show: bool | None) -> list[dict[str, Any]]:
    """Return a row for each stream and each of those compared."""
    ours = {f"ours, {slots} slots": (Player, slots) for slots in dict.fromkeys((sizes.memory, sizes.window))}
    tried, made = grids(), made_streams(sizes, data)
    to_try = sum(len(grid) for grid in tried.values() if len(grid) > 1) * sizes.tuning
    pieces = len(made) * (to_try + (len(tried) + len(ours)) * sizes.runs)
    rows = []
    with progress_bar("playing", pieces, show) as advance:

        def several(factory: Factory, stream: Stream, memory: int, runs: range) -> list[dict[str, float]]:
            found = []
            for run in runs:
                found.append(measured(factory, stream, sizes, memory, run))
                advance()
            return found

        for name, stream in made.items():
            chosen = {who: ("default", factory, slots) for who, (factory, slots) in ours.items()}
            for peer, grid in tried.items():
                runs, best = range(TUNING, TUNING + sizes.tuning), next(iter(grid))
                if len(grid) > 1:
                    lost = {
                        setting: np.mean([row["regret"] for row in several(factory, stream, sizes.window, runs)])
                        for setting, factory in grid.items()
                    }
                    best = min(lost, key=lost.__getitem__)
                chosen[peer] = best, grid[best], sizes.window
            ours_here: list[dict[str, float]] = []
            for who, (setting, factory, slots) in chosen.items():
                found = several(factory, stream, slots, range(sizes.runs))
                ours_here = ours_here or found
                rows.append({"stream": name, "who": who, "setting": setting} | summed(found, ours_here))
    return rows


def summed(found: list[dict[str, float]], ours: list[dict[str, float]]) -> dict[str, float]:
    """Return means over runs, with half of the width of their intervals for regret and error; times are medians.

    `more` is the regret above that of the first of ours, run by run.
    """
    table = {column: np.array([row[column] for row in found]) for column in found[0]}
    row = {column: float(values.mean()) for column, values in table.items()}
    row |= {"held": float(table["held"].max()), "micros": float(np.median(table["micros"]))}
    table["more"] = table["regret"] - np.array([row["regret"] for row in ours])
    row["more"] = float(table["more"].mean())
    for column in ("regret", "error", "more"):
        spread = stats.t.ppf(0.975, len(found) - 1) * stats.sem(table[column]) if len(found) > 1 else float("nan")
        row[f"{column}_half"] = float(spread)
    return row


def shown(rows: list[dict[str, Any]], sizes: Sizes) -> Table:
    title = f"{sizes.arms} arms, W = {sizes.window}, {sizes.budget} pulls after each arrival, {sizes.runs} runs"
    screen = Table(
        title=title,
        caption="±: 95% interval; differences run by run. Regret and wasted requests are per pull; µs per pull.",
    )
    for column in ("stream", "who", "setting"):
        screen.add_column(column)
    for column in ("regret", "more than the first", "error of the answer", "arms held", "bytes", "µs", "wasted"):
        screen.add_column(column, justify="right", no_wrap=True)
    last = None
    for row in rows:
        if last not in (None, row["stream"]):
            screen.add_section()
        screen.add_row(
            row["stream"] if row["stream"] != last else "",
            row["who"],
            row["setting"],
            f"{row['regret']:.4f} ±{row['regret_half']:.4f}",
            f"{row['more']:+.4f} ±{row['more_half']:.4f}" if row["more"] else "",
            f"{row['error']:.4f} ±{row['error_half']:.4f}",
            f"{row['held']:.0f}",
            f"{row['bytes']:,.0f}",
            f"{row['micros']:,.0f}",
            f"{row['wasted']:.1%}",
        )
        last = row["stream"]
    return screen


def plot(rows: list[dict[str, Any]], path: Path) -> None:
    """Draw regret for each stream, and time and memory over all."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.ticker import FixedLocator, MaxNLocator, NullLocator, StrMethodFormatter

    names, who = list(dict.fromkeys(row["stream"] for row in rows)), list(dict.fromkeys(row["who"] for row in rows))
    across = -(-(len(names) + 2) // 2)
    figure, grid = plt.subplots(2, across, figsize=(2.6 * across + 1.8, 5.4), layout="constrained", squeeze=False)
    panels = list(grid.flat)[: len(names) + 2]
    for panel in list(grid.flat)[len(panels) :]:
        panel.set_visible(False)
    for panel, name in zip(panels, names, strict=False):
        here = [row for row in rows if row["stream"] == name]
        bars(panel, [row["regret"] for row in here], [row["regret_half"] for row in here])
        panel.set_title(name, fontsize=10)
        panel.set_xlabel("regret a pull", fontsize=9)
        panel.xaxis.set_major_locator(MaxNLocator(4))
    for panel, column, label in zip(panels[-2:], ("held", "micros"), ("arms held, at most", "µs a pull"), strict=True):
        bars(panel, [float(np.median([row[column] for row in rows if row["who"] == one])) for one in who], None)
        panel.set_title("memory" if column == "held" else "time", fontsize=10)
        panel.set_xlabel(label, fontsize=9)
    panels[-1].set_xscale("log")
    panels[-1].set_xlim(5, 1000)
    panels[-1].xaxis.set_major_locator(FixedLocator([10, 100, 1000]))
    panels[-1].xaxis.set_minor_locator(NullLocator())
    panels[-1].xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    for row in grid:
        row[0].set_yticks(range(len(who)), who, fontsize=9)
        for panel in row[1:]:
            panel.set_yticks([])
    figure.savefig(path, dpi=110)


def bars(panel: Any, values: list[float], halves: list[float] | None) -> None:
    """Draw bars; one that is more than twice as long as all others but one is cut off, with its value beside it."""
    colours = ("#b2182b", "#ef8a62", "#2166ac", "#4d9221", "#a1d76a", "#999999")
    panel.barh(range(len(values)), values, xerr=halves, color=colours, height=0.7, error_kw={"lw": 1})
    second = sorted(values)[-2]
    if halves is not None and max(values) > 2 * second:
        panel.set_xlim(0, 1.4 * second)
        panel.text(
            1.38 * second, values.index(max(values)), f"{max(values):.2f} →", ha="right", va="center", fontsize=9
        )
    panel.invert_yaxis()
    panel.tick_params(labelsize=8)
    panel.spines[["top", "right"]].set_visible(False)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--arms", type=int, default=100, help="arms of each stream")
    parser.add_argument("--window", type=int, default=20, help="how many of the last arms are valid")
    parser.add_argument("--budget", type=int, default=20, help="pulls after each arrival")
    parser.add_argument("--memory", type=int, default=6, help="slots of ours; peers have as many as arms are valid")
    parser.add_argument("--runs", type=int, default=10, help="runs that are shown")
    parser.add_argument("--tuning", type=int, default=4, help="other runs, on which a peer's settings are chosen")
    parser.add_argument("--data", type=Path, help="folder with ml-latest-small, for movies as well")
    parser.add_argument("--plot", type=Path, help="write a figure to this file")
    parser.add_argument("--json", action="store_true", help="print rows as JSON instead of a table")
    told = parser.parse_args()
    sizes = Sizes(told.arms, told.window, told.budget, told.memory, told.runs, told.tuning)
    try:
        rows = compared(sizes, told.data, None)
    except ModuleNotFoundError as missing:
        sys.exit(f"{missing}")
    if told.json:
        print(json.dumps(rows, indent=1))
    else:
        Console(width=None if sys.stdout.isatty() else 160).print(shown(rows, sizes))
    if told.plot:
        plot(rows, told.plot)


if __name__ == "__main__":
    main()
