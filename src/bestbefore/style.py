"""One style for all figures: colours that everybody can tell apart, direct labels, little ink."""

import math
import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from statistics import mean, stdev
from typing import Any, Final

from bestbefore import rules

BLUE, VERMILION, GREEN = "#0072B2", "#D55E00", "#009E73"  # Okabe and Ito's palette
PURPLE, ORANGE, SKY = "#CC79A7", "#E69F00", "#56B4E9"
GREY, BROWN = "#555555", "#8c564b"
ZERO: Final = "#999999"
"""The line at 0 of an axis that is logarithmic above."""
OTHERS: Final = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, GREY, BROWN)
MOST_CURVES: Final = len(OTHERS)
"""More than these cannot be told apart."""

COLOURS: Final[dict[str, tuple[Mapping[str, rules.Named], tuple[str, ...]]]] = {
    "keep": (rules.KEEP, (SKY, PURPLE, VERMILION, BLUE, GREEN, ORANGE, BROWN)),
    "pull": (rules.PULL, (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, BROWN)),
    "strategy": (rules.STRATEGY, (BLUE, VERMILION, GREEN, BLUE, VERMILION, GREEN)),  # three a flag
}
"""By the column that names rules: their table, and their colours in the order of the numbers."""

BANDS: Final = ("range", "error", "interval")
"""What a band around a line can show."""

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


def colours_of(names: Sequence[str], column: str = "") -> dict[str, str]:
    """Return a colour for each name: the rule's own, if `column` names rules, or one still free.

    >>> colours_of(["staircase", "mine"], "keep")
    {'staircase': '#009E73', 'mine': '#0072B2'}
    """
    table, palette = COLOURS.get(column, ({}, ()))
    own: dict[str, str] = {}
    for name in names:
        number = table[name].number if name in table else len(palette)
        if number < len(palette) and palette[number] not in own.values():
            own[name] = palette[number]
    free = iter([colour for colour in OTHERS if colour not in own.values()] * len(names))
    return {name: own.get(name) or next(free) for name in names}


def note(runs: int, band: str | None = "range", confidence: float = 0.95) -> str:
    """Say what lines and bands are.

    >>> note(1)
    'Lines are of a single run.'
    >>> note(10, "interval")
    'Lines are the mean over 10 runs, bands its 95% confidence interval.'
    """
    if runs == 1:
        return "Lines are of a single run."
    bands = {
        None: "",
        "range": ", bands from the lowest run to the highest",
        "error": ", bands one standard error to either side",
        "interval": f", bands its {100 * confidence:g}% confidence interval",
    }
    return f"Lines are the mean over {runs} runs{bands[band]}."


def check_ending(parameter: str, path: "str | os.PathLike[str]") -> None:
    """Raise unless a file ends as one of the kinds that matplotlib can write here."""
    import matplotlib as mpl
    from matplotlib.backend_bases import FigureCanvasBase

    endings = set(FigureCanvasBase.get_supported_filetypes())
    if shutil.which(mpl.rcParams["pgf.texsystem"]) is None:
        endings.discard("pgf")  # which asks LaTeX for the widths of words
    if Path(path).suffix.lower().removeprefix(".") not in endings:
        known = ", ".join(f".{ending}" for ending in sorted(endings))
        raise ValueError(f"{parameter} must end in one of {known}, not be {str(path)!r}")


def scale_to_zero(axes: Any, numbers: Iterable[float], least: int, most: int = 16) -> None:
    """Make the y axis logarithmic, with ticks to read off; if there are zeros, it goes on to 0.

    `least` is the lowest power of ten that is of interest: what is below counts as 0.  There are at
    most `most` labels.
    """
    from matplotlib.ticker import FixedLocator, NullFormatter, NullLocator

    known = list(numbers)
    above = [number for number in known if number >= 10.0**least] or [10.0**least]
    ticks = log_ticks(min(above), max(above), most)
    start, zero = ticks[0], min(known) < min(above)
    if zero:
        axes.set_yscale("symlog", linthresh=start, linscale=0.6)
        axes.axhline(0.0, color=ZERO, linewidth=0.8, zorder=0.5)
    else:
        axes.set_yscale("log")
    shown = [0.0, *ticks] if zero else ticks
    axes.set_yticks(shown, [label(tick) for tick in shown])
    between = _between(ticks)
    axes.yaxis.set_minor_locator(FixedLocator(between) if between else NullLocator())
    axes.yaxis.set_minor_formatter(NullFormatter())  # else an axis of a decade or so has labels of two kinds
    room = (ticks[-1] / start) ** 0.02  # so that no mark at the edge is cut in half
    axes.set_ylim(-0.12 * start if zero else start / room, ticks[-1] * room)


def log_ticks(low: float, high: float, most: int) -> list[float]:
    """Return ticks for a logarithmic axis, the first not above `low`, the last not below `high`.

    They are 1, 2 and 5 times the powers of ten.  If these are more than `most`, they are 1 and 3
    times the powers of ten, or only powers.  If the numbers are close together, they are even
    steps.

    >>> log_ticks(0.3, 40, most=16)
    [0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0]
    >>> log_ticks(0.3, 40_000, most=8)
    [0.1, 1.0, 10.0, 100.0, 1000.0, 10000.0, 100000.0]
    >>> log_ticks(30_000, 42_000, most=16)
    [30000.0, 32000.0, 34000.0, 36000.0, 38000.0, 40000.0, 42000.0]
    """
    if high < 3 * low:
        return even_ticks(low, high) if high > 1.2 * low else even_ticks(low / 1.1, high * 1.1)
    bottom, top = math.floor(math.log10(low)), math.ceil(math.log10(high))
    for leading in ((1, 2, 5), (1, 3), (1,)):
        ticks = [float(f"{first}e{power}") for power in range(bottom - 1, top + 2) for first in leading]
        inner = [tick for tick in ticks if low < tick < high]
        ticks = [max(tick for tick in ticks if tick <= low), *inner, min(tick for tick in ticks if tick >= high)]
        if len(ticks) <= most:
            return ticks
    every = math.ceil((top - bottom) / max(most - 2, 1))
    return [float(f"1e{power * every}") for power in range(bottom // every, -(-top // every) + 1)]


def even_ticks(low: float, high: float, steps: int = 4) -> list[float]:
    """Return ticks in even steps, of 1, 2 or 5 times a power of ten, around `low` and `high`.

    >>> even_ticks(0.31, 0.58)
    [0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6]
    """
    power = math.floor(math.log10((high - low) / steps))
    step = max(float(f"{first}e{power}") for first in (1, 2, 5) if float(f"{first}e{power}") <= (high - low) / steps)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [float(f"{number * step:.12g}") for number in range(first, last + 1)]


def _between(ticks: list[float]) -> list[float]:
    """Return where marks without labels go: at 1 to 9 times the powers of ten, if not too many."""
    powers = range(math.floor(math.log10(ticks[0])), math.ceil(math.log10(ticks[-1])) + 1)
    if len(powers) > 8:
        return []
    marks = (float(f"{first}e{power}") for power in powers for first in range(1, 10))
    return [mark for mark in marks if ticks[0] < mark < ticks[-1] and mark not in ticks]


def by_factors(numbers: Sequence[float]) -> bool:
    """Tell whether rising numbers grow by factors rather than by steps, such as 1, 10, 100.

    >>> by_factors([1, 10, 100, 1000]), by_factors([5, 10, 15, 20, 30, 40, 50])
    (True, False)
    """
    if len(numbers) < 3 or numbers[0] <= 0 or numbers[-1] < 20 * numbers[0]:
        return False
    steps = [after - before for before, after in pairwise(numbers)]
    factors = [math.log(after / before) for before, after in pairwise(numbers)]
    return stdev(factors) / mean(factors) < stdev(steps) / mean(steps)


def label(number: float) -> str:
    """Write a number in full.

    >>> label(0.00002), label(0.0), label(2.5), label(20_000.0)
    ('0.00002', '0', '2.5', '20,000')
    """
    return f"{Decimal(f'{number:.12g}'):,f}"


def power(decade: int) -> str:
    """Write a power of ten in full.

    >>> power(-3), power(0), power(4)
    ('0.001', '1', '10,000')
    """
    return label(float(f"1e{decade}"))


def fitting(places: Sequence[float], widths: Sequence[float], gap: float) -> list[int]:
    """Return which labels fit beside each other: the last, and before it each that has room.

    Places must rise.

    >>> fitting([0, 10, 20, 30, 40], [15] * 5, gap=3)
    [0, 2, 4]
    """
    kept: list[int] = []
    for label in reversed(range(len(places))):
        if not kept or places[kept[-1]] - places[label] >= (widths[label] + widths[kept[-1]]) / 2 + gap:
            kept.append(label)
    return kept[::-1]


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
