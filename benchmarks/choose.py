"""Which pair of rules for which stream: the regret of pairs beside each other, as a table, a figure and a list.

    python benchmarks/choose.py TABLE.csv [--runs N] [--windows 20,50,200] [--memory 4,6,10,20] [--budgets 20,200,1000]
                                [--pairs usual|index|all] [--data FOLDER] [--plot choose.png] [--behind 1.05]
                                [--only-look]

Each pair plays the same arms, and its mean regret is written to the table, a line for each setting.  What is in the
table already is not played again, so that a run that was interrupted goes on where it stood; all that follows is
drawn from the table.  A cell is a pair's regret over the least of the usual pairs on that setting, in the geometric
mean over windows, memories and budgets.  With `--data`, the folder of MovieLens files, movies arrive as well.
`--pairs all` plays all pairs of rules, and `--pairs index` all but those that draw each pull, which take long.  At the
end come all settings where the default is behind the best pair by more than `--behind`, and how it stands against
`staircase` x `moss`, the default before it.
"""

import argparse
import csv
import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from bestbefore import plan, simulate, streams
from bestbefore.rules import KEEP_TO_PLAY, PULL
from bestbefore.streams import Arms, Stream
from bestbefore.streams.stream import bernoulli, rated_arms

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
ALL = tuple(dict.fromkeys((*PAIRS, *itertools.product(KEEP_TO_PLAY, PULL))))
CHOICES = {"usual": PAIRS, "index": tuple(pair for pair in ALL if PULL[pair[1]].index), "all": ALL}
RATINGS = np.linspace(0, 1, 5)
LENGTHS = {20: 400, 50: 600, 200: 1000}

Means = Callable[[int, int, np.random.Generator], np.ndarray]


class Setting(NamedTuple):
    """Where a pair plays."""

    stream: str
    window: int
    memory: int
    budget: int


Pair = tuple[str, str]
Found = dict[Setting, dict[Pair, float]]


def _drawn(draw: Callable[[int, int, np.random.Generator], Arms]) -> Callable[[int, int], Stream]:
    """Return what makes a stream, from the number of its arms and the window."""

    def make(arms: int, window: int) -> Stream:
        def source(rng: np.random.Generator) -> Iterator[Arms]:
            yield draw(arms, window, rng)

        return Stream("made", arms, source)

    return make


def _made(means: Means) -> Callable[[int, int], Stream]:
    """Return what makes a stream of Bernoulli arms."""
    return _drawn(lambda arms, window, rng: bernoulli(np.clip(means(arms, window, rng), 0, 1)))


def wave(arms: int, window: int) -> np.ndarray:
    """Return the seasons: a sine over three windows."""
    return np.sin(2 * np.pi * np.arange(arms) / (3 * window))


def stars(means: np.ndarray, spread: float) -> np.ndarray:
    """Return in which shares arms of about these means get each of five ratings."""
    shares: np.ndarray = np.exp(-(((RATINGS - means[:, None]) / spread) ** 2) / 2)
    return shares / shares.sum(axis=1, keepdims=True)


def few_coins(arms: int, rng: np.random.Generator) -> np.ndarray:
    """Return narrow ratings; every fiftieth arm returns 0 or 1 instead, and is the best."""
    shares = stars(rng.uniform(0.2, 0.7, arms), 0.11)
    shares[7::50] = [0.2, 0, 0, 0, 0.8]
    return shares


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
    "stars": _drawn(lambda arms, window, rng: rated_arms(stars(rng.uniform(0.2, 0.8, arms), 0.22), RATINGS)),
    "stars, few coins": _drawn(lambda arms, window, rng: rated_arms(few_coins(arms, rng), RATINGS)),
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


def measured(stream: Stream, setting: Setting, pair: Pair, runs: int) -> float:
    """Return the mean regret of a pair."""
    where = (stream, setting.window, setting.budget, setting.memory, *pair)
    return float(simulate.play(*where, runs=runs, jobs=1, progress=False)["regret"].mean())


def read(path: Path, runs: int) -> Found:
    """Return what a table holds, if it is there."""
    if not path.exists():
        return {}
    found: Found = {}
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            setting = Setting(row["stream"], int(row["window"]), int(row["memory"]), int(row["budget"]))
            if int(row["runs"]) != runs:
                raise SystemExit(f"{path} holds means of {row['runs']} runs, not {runs}: take another table")
            found[setting] = {pair: float(row[named(pair)]) for pair in ALL if row.get(named(pair))}
    return found


def write(path: Path, found: Found, runs: int) -> None:
    """Write the table: a line for each setting, a column for each pair that has played."""
    pairs = [pair for pair in ALL if any(pair in row for row in found.values())]
    with path.open("w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow([*Setting._fields, "runs", *map(named, pairs)])
        for setting, row in found.items():
            out.writerow([*setting, runs, *(f"{row[pair]:.1f}" if pair in row else "" for pair in pairs)])


def play(told: argparse.Namespace, found: Found) -> None:
    """Play what is not in the table yet, and write it after each setting."""
    makers = STREAMS | (movies(told.data) if told.data else {})
    pairs = CHOICES[told.pairs]
    settings = [Setting(*one) for one in itertools.product(makers, told.windows, told.memory, told.budgets)]
    for setting in track(settings, "playing", console=Console(stderr=True)):
        row = found.setdefault(setting, {})
        missing = [pair for pair in pairs if pair not in row]
        if missing:
            stream = makers[setting.stream](LENGTHS.get(setting.window, 5 * setting.window), setting.window)
            row.update({pair: measured(stream, setting, pair, told.runs) for pair in missing})
            write(told.table, found, told.runs)


def named(pair: Pair) -> str:
    return " x ".join(pair)


def geometric(values: list[float]) -> float:
    return float(np.exp(np.mean(np.log(np.maximum(values, 1e-9)))))


def whole(found: Found) -> Found:
    """Return the settings of those sizes that every stream has played, so that rows can be compared."""
    streams_of: dict[tuple[int, ...], set[str]] = {}
    for setting in found:
        streams_of.setdefault(setting[1:], set()).add(setting.stream)
    every = {setting.stream for setting in found}
    return {setting: row for setting, row in found.items() if streams_of[setting[1:]] == every}


def ratios(found: Found) -> dict[str, dict[Pair, float]]:
    """Return for each stream what each of the usual pairs loses, over the least of these."""
    table: dict[str, dict[Pair, list[float]]] = {}
    for setting, regrets in found.items():
        shown = {pair: regret for pair, regret in regrets.items() if pair in PAIRS}
        for pair, regret in shown.items():
            table.setdefault(setting.stream, {}).setdefault(pair, []).append(regret / min(shown.values()))
    return {stream: {pair: geometric(row) for pair, row in rows.items()} for stream, rows in table.items()}


def shown(table: dict[str, dict[Pair, float]]) -> Table:
    screen = Table(title="Regret over that of the best pair, geometric means")
    for column in ("stream", *map(named, PAIRS)):
        screen.add_column(column, justify="right")
    for stream, row in table.items():
        screen.add_row(stream, *(f"{row[pair]:.2f}" for pair in PAIRS))
    screen.add_row("all", *(f"{geometric([row[pair] for row in table.values()]):.2f}" for pair in PAIRS))
    return screen


def plot(table: dict[str, dict[Pair, float]], path: Path) -> None:
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


def over(regret: float, least: float) -> float:
    """Return a ratio; infinite over a pair that loses nothing, as `commit` where it is told to try each new arm."""
    return regret / least if least > 0 else float("inf")


def said(setting: Setting) -> str:
    return f"{setting.stream}, W = {setting.window}, {setting.memory} slots, T_j = {setting.budget}"


def judged(found: Found, behind: float) -> None:
    """Say where the default is behind the best pair, and how it stands against the one before."""
    console = Console(highlight=False)
    ratio_of = {setting: over(row[DEFAULT], min(row.values())) for setting, row in found.items()}
    losing = {setting: row for setting, row in found.items() if ratio_of[setting] > behind}
    console.print(f"\nbehind the best pair by more than {behind:g}: {len(losing)} of {len(found)} settings")
    for setting, row in sorted(losing.items(), key=lambda one: -ratio_of[one[0]]):
        best = min(row, key=row.__getitem__)
        console.print(f"  {ratio_of[setting]:.2f}  {said(setting)}: {named(best)}")
    old = {setting: row[DEFAULT] / row[BEFORE] for setting, row in found.items()}
    few = [ratio for setting, ratio in old.items() if setting.window >= 50 and setting.memory <= 10]
    console.print(f"\nagainst {named(BEFORE)}: {geometric(list(old.values())):.2f} in the geometric mean")
    if few:
        console.print(f"W >= 50, 10 slots or fewer: at least 15% better in {np.mean(np.array(few) <= 0.85):.0%}")
    for setting, ratio in sorted(old.items(), key=lambda one: -one[1]):
        if ratio > 1.02:
            console.print(f"  {ratio:.2f}  {said(setting)}")


def numbers(text: str) -> list[int]:
    return [int(part) for part in text.split(",")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", type=Path, help="the CSV file")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--windows", type=numbers, default=[20, 50, 200])
    parser.add_argument("--memory", type=numbers, default=[4, 6, 10, 20])
    parser.add_argument("--budgets", type=numbers, default=[20, 200, 1000])
    parser.add_argument("--pairs", choices=list(CHOICES), default="usual")
    parser.add_argument("--data", type=Path, help="a folder with MovieLens files")
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--behind", type=float, default=1.05)
    parser.add_argument("--only-look", action="store_true", help="play nothing")
    told = parser.parse_args()
    found = read(told.table, told.runs)
    if not told.only_look:
        play(told, found)
    table = ratios(whole(found))
    Console(width=200).print(shown(table))
    judged(found, told.behind)
    if told.plot:
        plot(table, told.plot)


if __name__ == "__main__":
    main()
