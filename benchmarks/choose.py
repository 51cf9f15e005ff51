"""Which pair of rules for which stream: the regret of pairs beside each other, as a table, a figure and a list.

    python benchmarks/choose.py [--runs N] [--windows 50,200] [--memory 6,20] [--budgets 20,200,1000]
                                [--data FOLDER] [--plot choose.png] [--behind 1.05]

Each pair plays the same arms.  A cell is its mean regret over the least of all pairs on that setting, in the geometric
mean over windows, memories and budgets.  With `--data`, the folder of MovieLens files, movies arrive as well.  At the
end come all settings where the default is behind the best pair by more than `--behind`, and how it stands against
`staircase` x `moss`, the default before it.
"""

import argparse
import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from bestbefore import plan, simulate, streams
from bestbefore.streams import Arms, Stream
from bestbefore.streams.stream import bernoulli

DEFAULT = (plan.PLAY_KEEP, plan.PLAY_PULL)
BEFORE = ("staircase", "moss")
PAIRS = (
    DEFAULT,
    BEFORE,
    ("topk", "moss"),
    ("topk", "fresh"),
    ("staircase", "fresh"),
    ("heirs", "moss"),
    ("topk", "kl_ucb"),
    ("staircase", "kl_ucb"),
    ("fifo", "kl_ucb"),
    ("reservoir", "ucb"),
)
LENGTHS = {20: 400, 50: 600, 200: 1000}

Means = Callable[[int, int, np.random.Generator], np.ndarray]


class Setting(NamedTuple):
    """Where a pair plays."""

    stream: str
    window: int
    memory: int
    budget: int


def _made(means: Means) -> Callable[[int, int], Stream]:
    """Return what makes a stream of Bernoulli arms, from their number and the window."""

    def make(arms: int, window: int) -> Stream:
        def source(rng: np.random.Generator) -> Iterator[Arms]:
            yield bernoulli(np.clip(means(arms, window, rng), 0, 1))

        return Stream("made", arms, source)

    return make


def wave(arms: int, window: int) -> np.ndarray:
    """Return the seasons: a sine over three windows."""
    return np.sin(2 * np.pi * np.arange(arms) / (3 * window))


STREAMS: dict[str, Callable[[int, int], Stream]] = {
    "two-level": lambda arms, window: streams.two_level(arms, window),
    "two-level, spread": lambda arms, window: streams.two_level_spread(arms, window),
    "uniform": lambda arms, window: streams.uniform(arms),
    "beta(2, 5)": lambda arms, window: streams.beta(arms, 2, 5),
    "beta(5, 2)": lambda arms, window: streams.beta(arms, 5, 2),
    "beta(1, 20)": lambda arms, window: streams.beta(arms, 1, 20),
    "clicks, mean .03": lambda arms, window: streams.beta(arms, 1.5, 48.5),
    "clicks, alike": lambda arms, window: streams.beta(arms, 6, 194),
    "clicks, seasons": _made(
        lambda arms, window, rng: (0.03 + 0.02 * wave(arms, window)) * rng.uniform(0.3, 1.7, arms)
    ),
    "seasons": _made(lambda arms, window, rng: 0.5 + 0.3 * wave(arms, window) + rng.normal(0, 0.1, arms)),
    "bursts": _made(
        lambda arms, window, rng: rng.uniform(0, 0.5, arms) + 0.4 * (np.arange(arms) // (window // 5) % 5 == 0)
    ),
    "sawtooth": lambda arms, window: streams.sawtooth(arms, 2 * window),
    "rising, again": _made(lambda arms, window, rng: np.arange(arms) % (2 * window) / (2 * window)),
    "rising": _made(lambda arms, window, rng: np.arange(arms) / arms),
}


def movies(folder: Path) -> dict[str, Callable[[int, int], Stream]]:
    """Return MovieLens in all orders that its files allow."""
    found: dict[str, Callable[[int, int], Stream]] = {}
    for dataset, order in itertools.product(("1m", "latest-small"), ("permuted", "first-rating", "release-year")):
        try:
            stream = streams.movielens(dataset, path=folder, order=order, arms=1000)
        except (ValueError, LookupError, OSError) as wrong:
            Console(stderr=True).print(f"movies {dataset}, {order}: left out: {wrong}", style="yellow")
            continue
        found[f"movies {dataset}, {order}"] = lambda arms, window, stream=stream: stream
    return found


def measured(
    setting: Setting, makers: dict[str, Callable[[int, int], Stream]], runs: int
) -> dict[tuple[str, str], float]:
    """Return the mean regret of each pair."""
    stream = makers[setting.stream](LENGTHS.get(setting.window, 5 * setting.window), setting.window)
    return {
        (keep, pull): float(
            simulate.play(
                stream, setting.window, setting.budget, setting.memory, keep, pull, runs=runs, progress=False
            )["regret"].mean()
        )
        for keep, pull in PAIRS
    }


def geometric(values: list[float]) -> float:
    return float(np.exp(np.mean(np.log(np.maximum(values, 1e-9)))))


def ratios(found: dict[Setting, dict[tuple[str, str], float]]) -> dict[str, dict[tuple[str, str], float]]:
    """Return for each stream what each pair loses, over the least of all pairs."""
    table: dict[str, dict[tuple[str, str], list[float]]] = {}
    for setting, regrets in found.items():
        for pair, regret in regrets.items():
            table.setdefault(setting.stream, {}).setdefault(pair, []).append(regret / min(regrets.values()))
    return {stream: {pair: geometric(row) for pair, row in rows.items()} for stream, rows in table.items()}


def shown(table: dict[str, dict[tuple[str, str], float]]) -> Table:
    screen = Table(title="Regret over that of the best pair, geometric means")
    for column in ("stream", *(f"{keep} x {pull}" for keep, pull in PAIRS)):
        screen.add_column(column, justify="right")
    for stream, row in table.items():
        screen.add_row(stream, *(f"{row[pair]:.2f}" for pair in PAIRS))
    screen.add_row("all", *(f"{geometric([row[pair] for row in table.values()]):.2f}" for pair in PAIRS))
    return screen


def plot(table: dict[str, dict[tuple[str, str], float]], path: Path) -> None:
    """Draw the table with colours."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    cells = np.array([[row[pair] for pair in PAIRS] for row in table.values()])
    figure, axes = plt.subplots(figsize=(9, 0.36 * len(table) + 1.9), layout="constrained")
    axes.imshow(np.log(cells), cmap="YlOrRd", vmin=0, vmax=np.log(4), aspect="auto")
    for (row, column), value in np.ndenumerate(cells):
        colour = "white" if value > 2.6 else "black"
        text = f"{value:.2f}" if value < 10 else f"{value:.0f}"
        axes.text(column, row, text, ha="center", va="center", fontsize=8, color=colour)
    axes.set_xticks(range(len(PAIRS)), [f"{keep}\nx {pull}" for keep, pull in PAIRS], fontsize=8)
    axes.set_yticks(range(len(table)), list(table), fontsize=8)
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.set_xlabel("regret over that of the best pair on the same setting (1 is best)", fontsize=9)
    figure.savefig(path, dpi=110)


def said(setting: Setting) -> str:
    return f"{setting.stream}, W = {setting.window}, {setting.memory} slots, T_j = {setting.budget}"


def judged(found: dict[Setting, dict[tuple[str, str], float]], behind: float) -> None:
    """Say where the default is behind the best pair, and how it stands against the one before."""
    console = Console(highlight=False)
    losing = {setting: row for setting, row in found.items() if row[DEFAULT] > behind * min(row.values())}
    console.print(f"\nbehind the best pair by more than {behind:g}: {len(losing)} of {len(found)} settings")
    for setting, row in sorted(losing.items(), key=lambda one: -one[1][DEFAULT] / min(one[1].values())):
        best = min(row, key=row.__getitem__)
        console.print(f"  {row[DEFAULT] / row[best]:.2f}  {said(setting)}: {' x '.join(best)}")
    old = {setting: row[DEFAULT] / row[BEFORE] for setting, row in found.items()}
    few = [ratio for setting, ratio in old.items() if setting.window >= 50 and setting.memory <= 10]
    console.print(f"\nagainst {' x '.join(BEFORE)}: {geometric(list(old.values())):.2f} in the geometric mean")
    if few:
        console.print(f"W >= 50, 10 slots or fewer: at least 15% better in {np.mean(np.array(few) <= 0.85):.0%}")
    for setting, ratio in sorted(old.items(), key=lambda one: -one[1]):
        if ratio > 1.02:
            console.print(f"  {ratio:.2f}  {said(setting)}")


def numbers(text: str) -> list[int]:
    return [int(part) for part in text.split(",")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--windows", type=numbers, default=[50, 200])
    parser.add_argument("--memory", type=numbers, default=[6, 20])
    parser.add_argument("--budgets", type=numbers, default=[20, 200, 1000])
    parser.add_argument("--data", type=Path, help="a folder with MovieLens files")
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--behind", type=float, default=1.05)
    told = parser.parse_args()
    makers = STREAMS | (movies(told.data) if told.data else {})
    settings = [Setting(*one) for one in itertools.product(makers, told.windows, told.memory, told.budgets)]
    found = {setting: measured(setting, makers, told.runs) for setting in track(settings, "playing")}
    table = ratios(found)
    Console(width=200).print(shown(table))
    judged(found, told.behind)
    if told.plot:
        plot(table, told.plot)


if __name__ == "__main__":
    main()
