"""The figure of a panel: left as published, right as described and ours, on the same axes, a row for each measure.

The figure is narrow and tall, so that its words can be read on a phone.  One drawing serves twice: as files, with a
title and a note, and inside a page, where the page says both.
"""

import io
import math
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

from bestbefore.paper.deviations import PUBLISHED
from bestbefore.paper.finding import wilson
from bestbefore.paper.panels import BUDGET, RARE, Panel
from bestbefore.paper.readings import CURVES, MEASURES, Curve
from bestbefore.simulate.table import Row, Table
from bestbefore.style import STYLE, apart, note, power, within

COLUMNS: Final = (("published", "as published"), ("described", "as described; ours"))
"""The readings that stand side by side, with their headings; ours goes with what is described."""
HEADINGS: Final = {
    "mean": "Mean error",
    "median": "Median error",
    "max": "Worst error",
    "regret": "Regret",
    "found": "Found",
}
LEAST: Final = {"mean": 1e-4, "median": 1e-3, "max": 1e-2}
"""Where an axis of errors leaves off being logarithmic, and goes on to 0."""

INK: Final = "#222222"
GRID: Final = "#e6e6e6"
ROLES: Final = {"paper": "#0072B2", "baseline": "#D55E00", "ours": "#009E73"}
"""Colours of Okabe and Ito, by who a curve belongs to."""
WORDS: Final = {"paper": "#00568A", "baseline": "#A84700", "ours": "#00704F"}
"""The same, dark enough for words."""

WIDTH: Final = 400.0
"""In points, like all lengths here."""
TITLE, NOTE = 34.0, 34.0
"""Heights of what a page leaves out: above and below."""
HEIGHTS: Final = {"mean": 170.0, "median": 80.0, "max": 100.0, "regret": 230.0, "found": 110.0}
HEAD, FOOT = 22.0, 34.0
"""Heights of the heading of a row, and of the numbers below it."""
SIZE: Final = 10.0


class Drawing(NamedTuple):
    """A figure as files hold it."""

    svg: str
    png: bytes


class _Frame(NamedTuple):
    """Where axes stand: the left edges of the two columns, and the width of both."""

    left: tuple[float, float]
    width: float


FRAMES: Final = {
    "explore": _Frame((46.0, 218.0), 120.0),
    "regret": _Frame((54.0, 226.0), 108.0),
    "everlasting": _Frame((62.0, 236.0), 112.0),
}


def draw_panel_figure(
    panel: Panel, rows: Iterable[Row], runs: int, measures: Sequence[str] | None = None, *, png: bool = True
) -> Drawing:
    """Draw the first `runs` runs of a panel: for each measure, as published and as described and ours side by side.

    Means of what is rare are over all runs that there are.  `measures` are all of the task unless given; without
    `png`, the drawing has an SVG only.
    """
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    measures = MEASURES[panel.task] if measures is None else measures
    lines = _Lines(panel, list(rows), runs, measures)
    height = TITLE + NOTE + sum(HEAD + HEIGHTS[measure] + FOOT for measure in measures)
    salt = {"svg.hashsalt": f"{panel.name} {' '.join(measures)}"}
    with mpl.rc_context(STYLE | OWN | salt):
        figure = Figure(figsize=(WIDTH / 72, height / 72), dpi=160)
        FigureCanvasAgg(figure)
        figure.text(6 / WIDTH, 1 - 5 / height, _headline(panel), va="top", weight="bold", gid="headline")
        figure.text(6 / WIDTH, 18 / height, _note(lines), va="center", size=8.5, gid="footnote")
        top = height - TITLE
        for measure in measures:
            bottom = top - HEAD - HEIGHTS[measure]
            _draw_row(figure, lines, measure, bottom / height, HEIGHTS[measure] / height)
            top = bottom - FOOT
        return saved(figure, png=png)


OWN: Final[Any] = {
    "font.size": SIZE,
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.labelsize": 9,
    "axes.titlesize": 9.5,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
    "axes.grid": False,
    "axes.linewidth": 0.8,
    "figure.facecolor": "#ffffff",
    "axes.facecolor": "none",
}
LINES: Final[Any] = {"color": GRID, "linewidth": 0.8, "zorder": 0.5}
"""Of the grid: all at once, which is faster than one by one."""


def _headline(panel: Panel) -> str:
    """Return the panel's title, in two lines if one is too narrow for it."""
    task, rest = panel.title.split(", ", 1)
    return panel.title if len(panel.title) < 55 else f"{task},\n{rest}"


def _note(lines: "_Lines") -> str:
    panel, below = lines.panel, "" if lines.panel.task == "explore" else " below W"
    what = note(lines.runs)
    if lines.many > lines.runs:
        what = f"Lines are over {lines.many} runs, bands the range of {lines.runs}; of shares, the 95% interval."
    budget = panel.budget(PUBLISHED) if panel.task == "regret" else BUDGET
    pulls = f", an epoch {budget:,} pulls" if budget != BUDGET else ""
    return f"{what}\nAs published, memory m{below} has m + 1 slots{pulls}."


class _Lines:
    """What is drawn of a panel: for each curve, numbers by memory."""

    def __init__(self, panel: Panel, rows: list[Row], runs: int, measures: Sequence[str]) -> None:
        first, by = Table([row for row in rows if row["run"] < runs]), ["reading", "curve", "memory"]
        self.panel, self.rows = panel, first.summary(by, measures)
        self.runs = self.many = max(row["runs"] for row in self.rows)
        if panel.task in RARE:
            for row, over_all in zip(self.rows, Table(rows).summary(by, measures), strict=True):
                self.many = over_all["runs"]
                row |= {measure: over_all[measure] for measure in measures}
                if "found" in measures:
                    row["found_low"], row["found_high"] = wilson(round(row["found"] * self.many), self.many, 0.95)
        self.curves = [curve for curve in CURVES[panel.task] if self.of(curve)]
        self.memory = sorted({row["memory"] for row in rows})

    def of(self, curve: Curve) -> list[Row]:
        """Return the rows of a curve by memory."""
        own = (row for row in self.rows if (row["reading"], row["curve"]) == (curve.reading, curve.name))
        return sorted(own, key=lambda row: int(row["memory"]))

    def beside(self, reading: str) -> list[Curve]:
        """Return the curves of a column; ours comes first, and is drawn below the others."""
        chosen = [curve for curve in self.curves if curve.reading in (reading, reading.replace("described", "ours"))]
        return sorted(chosen, key=lambda curve: curve.reading != "ours")

    def numbers(self, measure: str) -> list[float]:
        """Return all numbers of a measure."""
        return [float(row[measure + end]) for row in self.rows for end in ("", "_low", "_high")]


def _draw_row(figure: Any, lines: _Lines, measure: str, bottom: float, height: float) -> None:
    """Draw one measure, as published and as described, on the same scale."""
    from matplotlib.ticker import FixedLocator

    frame = FRAMES[lines.panel.task]
    for place, (reading, heading) in enumerate(COLUMNS):
        axes = figure.add_axes((frame.left[place] / WIDTH, bottom, frame.width / WIDTH, height))
        axes.set_title(f"{HEADINGS[measure]}, {heading}", pad=6, x=0 if place else -0.04, y=1.0)
        _scale(axes, lines, measure)
        axes.set_xlim(*_span(lines.memory))
        axes.xaxis.set_major_locator(FixedLocator(_ticks(lines.memory)))
        axes.vlines(_ticks(lines.memory), 0, 1, transform=axes.get_xaxis_transform(), **LINES)
        axes.set_xlabel("memory m" if reading == "published" else "memory (slots)", va="top")
        axes.xaxis.set_label_coords(0.5, -15 / HEIGHTS[measure])
        axes.tick_params(left=False, bottom=False, labelleft=place == 0, length=0, pad=3)
        if lines.panel.task != "explore" and lines.memory[0] <= lines.panel.window <= lines.memory[-1]:
            _mark_window(axes, lines.panel.window, named=measure != "found")
        curves = lines.beside(reading)
        for curve in curves:
            _draw_curve(axes, lines.of(curve), curve, measure)
        _name(axes, lines, curves, measure)


def _draw_curve(axes: Any, rows: list[Row], curve: Curve, measure: str) -> None:
    """Draw a line, and a band from the lowest run to the highest."""
    colour, ours = ROLES[curve.role], curve.reading == "ours"
    memory = [row["memory"] for row in rows]
    low, middle, high = ([row[measure + end] for row in rows] for end in ("_low", "", "_high"))
    axes.fill_between(memory, low, high, color=colour, alpha=0.18, linewidth=0)
    look = {"linewidth": 3.2 if ours else 1.5, "markersize": 5.0 if ours else 3.2, "marker": "o"}
    axes.plot(memory, middle, color=colour, linestyle="--" if curve.reading == "published" else "-", **look)


def _mark_window(axes: Any, window: int, *, named: bool) -> None:
    axes.axvline(window, color=INK, linewidth=0.8, linestyle=":", zorder=0.6)
    if not named:
        return
    place: Any = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points", "ha": "right", "va": "top"}
    axes.annotate("W", (window, 1), xytext=(-3, -1), size=9, **place)


def _name(axes: Any, lines: _Lines, curves: list[Curve], measure: str) -> None:
    """Write each curve's name at its end, set apart from the others, and within the height of the axes."""
    deep = max((curve.name.count(" x ") + 1 for curve in curves), default=1)
    gap = 11.5 * deep + (2 if deep > 1 else 0)
    box, points = axes.get_window_extent(), 72 / axes.figure.dpi
    ends = [lines.of(curve)[-1] for curve in curves]
    heights = [float(axes.transData.transform((1, end[measure]))[1] - box.y0) * points for end in ends]
    placed = within(apart(heights, gap), gap / 2, float(box.height) * points, gap)
    for curve, end, height in zip(curves, ends, placed, strict=True):
        side = float(axes.transData.transform((end["memory"], 1))[0] - box.x0) * points + 6
        name = curve.name.replace(" x ", "\nx ")
        look = {"color": WORDS[curve.role], "weight": "bold", "size": 9.5, "va": "center", "linespacing": 1.05}
        axes.annotate(name, (0, 0), (side, height), textcoords="axes points", annotation_clip=False, **look)


def _scale(axes: Any, lines: _Lines, measure: str) -> None:
    """Make the axis logarithmic as far as it can be; where numbers are 0, it goes on to 0 below a last power of ten.

    Errors have the same axis in all panels, so that panels can be compared.
    """
    from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

    if measure == "found":
        _scale_of_shares(axes)
        return
    numbers = lines.numbers(measure)
    above = [number for number in numbers if number > 0] or [1.0]
    if measure in LEAST:
        least, top, zero = LEAST[measure], max(1.4, *above), True
    else:
        least, top = _least_regret(lines, measure, above), 2 * max(above)
        zero = min(numbers) < least
    decades = range(round(math.log10(least)), math.floor(math.log10(top) + 1e-9) + 1)
    ticks = {10.0**decade: power(decade) for decade in decades}
    if zero:
        axes.set_yscale("symlog", linthresh=least, linscale=0.5)
        ticks = {0.0: "0"} | ticks
    else:
        axes.set_yscale("log")
    axes.yaxis.set_major_locator(FixedLocator(list(ticks)))
    axes.yaxis.set_major_formatter(FixedFormatter(list(ticks.values())))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.hlines(list(ticks), 0, 1, transform=axes.get_yaxis_transform(), **LINES)
    bottom = min(-0.15 * least, 1.1 * min(numbers)) if zero else least
    axes.set_ylim(bottom, max(top, 10 * least))


def _scale_of_shares(axes: Any) -> None:
    """Make the axis go from 0 to 1."""
    from matplotlib.ticker import FixedFormatter, FixedLocator

    ticks = {0.0: "0%", 0.5: "50%", 1.0: "100%"}
    axes.yaxis.set_major_locator(FixedLocator(list(ticks)))
    axes.yaxis.set_major_formatter(FixedFormatter(list(ticks.values())))
    axes.hlines(list(ticks), 0, 1, transform=axes.get_yaxis_transform(), **LINES)
    axes.set_ylim(-0.04, 1.08)


def _least_regret(lines: _Lines, measure: str, above: list[float]) -> float:
    """Return the power of ten below the least regret; below the least mean if runs have a regret of 0."""
    means = [float(row[measure]) for row in lines.rows if row[measure] > 0] or [1.0]
    least = min(means) if min(lines.numbers(measure)) <= 0 else min(above)
    return float(10.0 ** max(math.floor(math.log10(least)), 0))


def _span(memory: list[int]) -> tuple[float, float]:
    room = max(0.05 * (memory[-1] - memory[0]), 0.5)
    return memory[0] - room, memory[-1] + room


def _ticks(memory: list[int], most: int = 5) -> list[int]:
    """Choose whole memories for the axis: the last, and others in even steps before it.

    >>> _ticks([2, 4, 6, 8, 10, 12, 14, 16]), _ticks([3])
    ([4, 8, 12, 16], [3])
    """
    return memory[:: -math.ceil(len(memory) / most)][::-1]


def saved(figure: Any, *, png: bool) -> Drawing:
    """Return a figure as files hold it; without `png`, as SVG only."""
    picture, text = io.BytesIO(), io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None})
    if png:
        figure.savefig(picture, format="png")
    return Drawing(text.getvalue(), picture.getvalue())
