"""The trade between random order and the worst case, at each memory: the tables of docs/keep-rules.md.

python benchmarks/keep_rules.py
"""

import numpy as np
from rich.progress import track

from bestbefore import simulate, streams

WINDOW, ARMS = 50, 2000
MEMORIES = [4, 5, 6, 8, 10, 14, 20, 28]
RULES = ["bucket", "topk", "staircase"]
SLACKS = [0.0, 0.25, 0.5, 1.0, 2.0]
RANDOM = {
    "uniform": streams.uniform(ARMS),
    "beta(2,5)": streams.beta(ARMS, 2, 5),
    "beta(5,2)": streams.beta(ARMS, 5, 2),
    "two-level": streams.two_level(ARMS, WINDOW),
}
FALLING = {
    "decreasing": streams.decreasing(ARMS),
    **{f"sawtooth {times:g}W": streams.sawtooth(ARMS, int(times * WINDOW)) for times in (0.5, 1, 2, 3, 4)},
}
SHAPES = {
    "straight": lambda place: 1 - place,
    "square": lambda place: (1 - place) ** 2,
    "sixth power": lambda place: (1 - place) ** 6,
    "square root": lambda place: (1 - place) ** 0.5,
    "half of a cosine": lambda place: (1 + np.cos(np.pi * place)) / 2,
}
"""How means fall from 1 toward 0 over a period, by the place in it, from 0 to 1."""
PERIODS = range(25, 201, 5)
PAPER = {"delta": 0.01, "guarantee": "strong"}
EXACT = 10**7
"""Pulls with which means are as good as known, to see the rules without noise."""


def row(*cells: object) -> None:
    print("| " + " | ".join(map(str, cells)) + " |")


def table(title: str, streams_: dict[str, streams.Stream], column: str, runs: int, **settings: object) -> None:
    """Print a row for each stream and rule."""
    print(f"\n{title}\n")
    row("stream", "rule", *(f"m = {memory}" for memory in MEMORIES))
    row("---", "---", *("---:" for _ in MEMORIES))
    for name, stream in track(streams_.items(), title, transient=True):
        result = simulate.explore(stream, WINDOW, MEMORIES, RULES, runs=runs, progress=False, **settings)
        for keep in RULES:
            means = [result.where(keep=keep, memory=memory)[column].mean() for memory in MEMORIES]
            row(name, keep, *(f"{mean:.4f}" for mean in means))


def slack_table() -> None:
    """Print what slack trades: mean error in random order, without noise, and the worst where means fall."""
    print(
        "\nThe trade by slack: mean error on the uniform stream / worst error over all falling streams, without noise\n"
    )
    row("slack", *(f"m = {memory}" for memory in MEMORIES[:5]))
    row("---", *("---:" for _ in MEMORIES[:5]))
    for slack in track(SLACKS, "slack", transient=True):
        setting = {"window": WINDOW, "memory": MEMORIES[:5], "tests": EXACT, "slack": slack, "progress": False}
        usual = simulate.explore(RANDOM["uniform"], keep="staircase", runs=100, **setting)
        worst = [simulate.explore(stream, keep="staircase", runs=1, **setting)["max"] for stream in FALLING.values()]
        means = [usual.where(memory=memory)["mean"].mean() for memory in MEMORIES[:5]]
        row(slack, *(f"{mean:.5f} / {high:.3f}" for mean, high in zip(means, np.max(worst, axis=0), strict=True)))


def shape_table() -> None:
    """Print where staircase has a higher worst error than bucket, over falls of many shapes and periods."""
    print("\nFalls of other shapes: where the worst error is above that of bucket, without noise\n")
    row(
        "fall",
        "settings",
        *(head for slack in (1, 0) for head in (f"slack {slack} above bucket", "largest difference")),
    )
    row("---", "---:", "---:", "---", "---:", "---")
    for name, shape in track(SHAPES.items(), "shapes", transient=True):
        excess: dict[float, list[tuple[float, str]]] = {1: [], 0: []}
        for period in PERIODS:
            means = shape(np.arange(500) % period / period)
            for slack, found in excess.items():
                setting = {"tests": EXACT, "slack": slack, "runs": 1, "progress": False}
                result = simulate.explore(means, WINDOW, MEMORIES, ["bucket", "staircase"], **setting)
                for memory in MEMORIES:
                    ours, theirs = (
                        result.where(keep=keep, memory=memory)["max"][0] for keep in ("staircase", "bucket")
                    )
                    at = f"{ours:.3f} against {theirs:.3f}, m = {memory}, period {period}"
                    found.append((ours - theirs, at))
        cells: list[object] = []
        for found in excess.values():
            above = [one for one in found if one[0] > 0.002]
            cells += [len(above), max(above)[1] if above else "-"]
        row(name, len(PERIODS) * len(MEMORIES), *cells)


if __name__ == "__main__":
    table(
        "Mean error in random order (means over 100 runs, pulls as Algorithm 1 for 3/m)", RANDOM, "mean", 100, **PAPER
    )
    table("Worst error where means fall (without noise)", FALLING, "max", 1, tests=EXACT)
    slack_table()
    shape_table()
