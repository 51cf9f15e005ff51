"""One look for all figures: colours that everybody can tell apart, direct labels, little ink."""

import math
from collections.abc import Iterable
from typing import Any, Final

COLOURS: Final = {  # Okabe and Ito's palette
    "bucket": "#0072B2",
    "topk": "#D55E00",
    "staircase": "#009E73",
    "fifo": "#56B4E9",
    "reservoir": "#CC79A7",
    "king": "#E69F00",
    "wait": "#0072B2",
    "rank": "#D55E00",
    "race": "#009E73",
    "stay": "#0072B2",
    "hope": "#D55E00",
    "weigh": "#009E73",
}
OTHERS: Final = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#555555", "#8c564b")
MOST_CURVES: Final = len(OTHERS)
"""More than these cannot be told apart."""

STYLE: Final[Any] = {
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e6e6e6",
    "axes.axisbelow": True,
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "figure.dpi": 150,
    "svg.fonttype": "none",
}


def colours_of(names: list[str]) -> dict[str, str]:
    """Return a colour for each name: a rule's own, or one of the others."""
    taken = {COLOURS[name] for name in names if name in COLOURS}
    strangers = iter([colour for colour in OTHERS if colour not in taken] * len(names))
    return {name: COLOURS.get(name) or next(strangers) for name in names}


def note(runs: int) -> str:
    """Say what lines and bands are.

    >>> note(1)
    'Lines are of a single run.'
    """
    many = f"the mean over {runs} runs, bands from the lowest run to the highest" if runs > 1 else "of a single run"
    return f"Lines are {many}."


def scale_to_zero(axes: Any, numbers: Iterable[float], least: int) -> None:
    """Make the axis logarithmic from the power of ten below the least number above 0; below that it has a 0, if any.

    `least` is the lowest power that is of interest.
    """
    known = list(numbers)
    above = [number for number in known if number > 0] or [10.0**least]
    lowest = max(math.floor(math.log10(min(above))), least)
    start, top = 10.0**lowest, max(1.3 * max(above), 10.0 ** (lowest + 1))
    ticks = {10.0**decade: power(decade) for decade in range(lowest, math.floor(math.log10(top)) + 1)}
    if min(known) < start:
        axes.set_yscale("symlog", linthresh=start, linscale=0.6)
        axes.axhline(0.0, color="#999999", linewidth=0.8, zorder=0.5)
        ticks = {0.0: "0"} | ticks
    else:
        axes.set_yscale("log")
    axes.set_yticks(list(ticks), list(ticks.values()))
    axes.set_yticks([], minor=True)
    axes.set_ylim(-0.12 * start if 0.0 in ticks else start, top)


def power(decade: int) -> str:
    """Write a power of ten in full.

    >>> power(-3), power(0), power(4)
    ('0.001', '1', '10,000')
    """
    return f"{10**decade:,}" if decade >= 0 else f"{10.0**decade:.{-decade}f}"


def apart(heights: list[float], gap: float) -> list[float]:
    """Move labels up or down as little as needed for a gap between neighbours.

    >>> apart([0.0, 0.1, 5.0], gap=1.0)
    [-0.45, 0.55, 5.0]
    """
    order = sorted(range(len(heights)), key=heights.__getitem__)
    groups: list[list[int]] = []
    middles: list[float] = []
    for label in order:
        groups.append([label])
        middles.append(heights[label])
        while len(groups) > 1 and middles[-1] - middles[-2] < gap * (len(groups[-1]) + len(groups[-2])) / 2:
            merged = groups[-2] + groups.pop()
            middles.pop()
            groups[-1], middles[-1] = merged, sum(heights[member] for member in merged) / len(merged)
    placed = [0.0] * len(heights)
    for group, middle in zip(groups, middles, strict=True):
        for rank, label in enumerate(group):
            placed[label] = round(middle + gap * (rank - (len(group) - 1) / 2), 12)
    return placed


def within(heights: list[float], bottom: float, top: float, gap: float) -> list[float]:
    """Move labels that stand out of their axes back, and those in their way with them.

    >>> within([-4.0, 6.0, 90.0], 0.0, 100.0, gap=10.0)
    [0.0, 10.0, 90.0]
    >>> within([50.0, 99.0, 109.0], 0.0, 100.0, gap=10.0)
    [50.0, 90.0, 100.0]
    """
    order = sorted(range(len(heights)), key=heights.__getitem__)
    placed = list(heights)
    floor = bottom
    for label in order:
        placed[label] = floor = max(placed[label], floor)
        floor += gap
    ceiling = top
    for label in reversed(order):
        placed[label] = ceiling = min(placed[label], ceiling)
        ceiling -= gap
    return placed
