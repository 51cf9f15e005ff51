"""Figures of tables: what was measured against memory or any other setting, a line a rule."""

import math
import os
from collections.abc import Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from bestbefore.arguments import between, one_of
from bestbefore.simulate.statistics import Row, check_one_row_a_run, grouped
from bestbefore.style import (
    BANDS,
    MOST_CURVES,
    STYLE,
    apart,
    by_factors,
    check_ending,
    colours_of,
    fitting,
    label,
    note,
    scale_to_zero,
    within,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bestbefore.simulate.table import Columns, Table


class Measure(NamedTuple):
    """How a column is drawn: its heading, what it counts, and the lowest power of ten of interest.

    Without a lowest power the axis is linear.
    """

    heading: str
    unit: str
    least: int | None


MEASURES: Final = {
    "mean": Measure("Mean error over all times", "error", -5),
    "median": Measure("Median error over all times", "error", -5),
    "max": Measure("Worst error at any time", "error", -5),
    "within": Measure("Share of times within epsilon", "share", None),
    "regret": Measure("Regret of all pulls", "regret", 0),
    "found": Measure("Runs that found the best arm", "share", None),
    "tests": Measure("Pulls spent on tests", "pulls", 0),
    "wasted": Measure("Pulls of expired arms", "pulls", 0),
    "pulls": Measure("Pulls", "pulls", 0),
    "switches": Measure("Changes of the arm that is pulled", "changes", 0),
    "peak_memory": Measure("Most arms stored at once", "arms", None),
    "gap": Measure("Mean gap over all times", "gap", None),
    "certified": Measure("Share of times with a certified answer", "share", None),
}
LABELS: Final = {"memory": "memory (slots)", "window": "window (arms)"}
USUAL: Final = (("mean", "max"), ("regret",))
"""What is drawn unless said otherwise: the first of these that a table has."""
ENDS: Final = {"range": ("_low", "_high"), "interval": ("_from", "_to")}
"""The columns of a summary between which a band lies."""


def plot(
    table: "Table",
    *,
    x: str = "memory",
    columns: "Columns | None" = None,
    lines: "Columns | None" = None,
    band: str | None = "range",
    confidence: float = 0.95,
    title: str | None = None,
    axes: "Axes | Sequence[Axes] | None" = None,
    save: "str | os.PathLike[str] | None" = None,
) -> "Axes | list[Axes]":
    """Draw columns of a table against `x`: means over runs, a line for each rule; return the axes.

    `columns` are what is drawn, a panel each: unless given, mean and worst error, or regret, as the
    table has them.  `lines` are the columns that name a line: unless given, those of keep, pull and
    strategy that there are.  `x` may be any column, of numbers or of names.  A note below says what
    lines and bands are.

    `band` is "range" (from the lowest run to the highest), "error" (a standard error to either
    side), "interval" (the confidence interval of the mean) or None.

    The axes are of a new figure unless given: as many as columns.  One panel returns its axes,
    several a list.  A figure with layout="constrained" makes room for names and note beside axes
    that are given.  `save` writes the figure to a file, of any kind that matplotlib writes;
    `axes.figure` is the figure itself.

    Parameters
    ----------
    table
        What a simulation returned.
    x
        The column along the axis, of numbers or of names.
    columns
        What is drawn, a panel each.
    lines
        The columns that name a line.
    band
        "range", "error", "interval" or None.
    confidence
        The confidence of intervals.
    title
        A title above.
    axes
        Matplotlib's axes to draw on, one for each column; unless given, a new figure.
    save
        A file to write, of any kind that matplotlib writes.
    """
    try:
        import matplotlib as mpl
    except ModuleNotFoundError:
        raise ModuleNotFoundError("plot needs matplotlib: pip install 'bestbefore[plot]'") from None

    drawn = _columns_of(table, columns)
    named = table.rules() if lines is None else _listed(lines)
    confidence = between("confidence", confidence, 0, 1)
    if band is not None:
        one_of("band", band, BANDS)
    if save is not None:
        check_ending("save", save)
    curves = _Curves(table, x, drawn, named, band, confidence)
    if axes is None:
        with mpl.rc_context(STYLE):
            panels = _new_panels(curves, title)
            _draw(panels, curves)
            _save(panels, save)
    else:
        panels = _given_panels(axes, drawn)
        _draw(panels, curves)
        _annotate(panels, curves, title)
        _save(panels, save)
    return panels[0] if len(panels) == 1 else panels


def _listed(columns: "Columns") -> list[str]:
    return [columns] if isinstance(columns, str) else list(columns)


def _columns_of(table: "Table", columns: "Columns | None") -> list[str]:
    """Return the columns to draw."""
    if columns is not None:
        drawn = _listed(columns)
        if not drawn:
            raise ValueError("columns must name at least one column to draw, not []")
        return drawn
    for usual in USUAL:
        if all(column in table.columns for column in usual):
            return list(usual)
    raise ValueError(f"columns must say what to draw: the table has neither errors nor regret, but {table.columns}")


class _Curves:
    """What is drawn: for each line, the rows of a summary by x."""

    def __init__(
        self, table: "Table", x: str, columns: list[str], named: list[str], band: str | None, confidence: float
    ) -> None:
        rows = table.summary([*named, x], columns, confidence=confidence)
        if not rows:
            raise ValueError("a figure must have at least one row to draw, and the table has none")
        check_one_row_a_run(table.rows, [*named, x], "x and lines")
        self.x, self.columns, self.confidence = x, columns, confidence
        self.runs = max(int(row["runs"]) for row in rows)
        self.band = None if self.runs == 1 else band
        values = list(dict.fromkeys(row[x] for row in rows))
        self.numeric = all(isinstance(value, Real) and not isinstance(value, bool) for value in values)
        self.values = sorted(values) if self.numeric else values
        self.lines = {" x ".join(map(str, name)): self._ordered(own) for name, own in grouped(rows, named).items()}
        if len(self.lines) > MOST_CURVES:
            raise ValueError(
                f"lines must be at most {MOST_CURVES}, not {len(self.lines)}: more cannot be told apart; "
                "choose rows with where"
            )
        self.colours = colours_of(list(self.lines), named[0] if len(named) == 1 else "")

    def _ordered(self, rows: list[Row]) -> list[Row]:
        return sorted(rows, key=lambda row: self.values.index(row[self.x]))

    def place(self, value: Any) -> float:
        """Return where a value of x is on the axis: names stand one after the other."""
        return float(value) if self.numeric else float(self.values.index(value))

    def ends(self, row: Row, column: str) -> tuple[float, float]:
        """Return where the band begins and ends; at the mean, where there is none."""
        if self.band is None:
            return row[column], row[column]
        if self.band == "error":
            return row[column] - row[f"{column}_se"], row[column] + row[f"{column}_se"]
        start, end = ENDS[self.band]
        return row[column + start], row[column + end]

    def numbers(self, column: str) -> list[float]:
        """Return the numbers that an axis must show; a band of errors may leave it below."""
        found = []
        for row in (row for rows in self.lines.values() for row in rows):
            start, end = self.ends(row, column)
            found += [row[column], end, *([start] if self.band == "range" or start > 0 else [])]
        return [number for number in found if not math.isnan(number)]

    def note(self) -> str:
        """Say what lines and bands are."""
        return note(self.runs, self.band, self.confidence)


def _new_panels(curves: _Curves, title: str | None) -> "list[Axes]":
    """Return the axes of a new figure, with its title and its note."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    size = (8.0, 4.8) if len(curves.columns) == 1 else (4.8 * len(curves.columns), 4.4)
    figure = Figure(figsize=size, layout="constrained")
    FigureCanvasAgg(figure)
    if title is not None:
        figure.suptitle(title, x=0.01, ha="left")
    figure.supxlabel(curves.note(), x=0.01, ha="left", size=8.5)
    return list(figure.subplots(1, len(curves.columns), squeeze=False)[0])


def _given_panels(axes: "Axes | Sequence[Axes]", columns: list[str]) -> "list[Axes]":
    given: list[Any] = list(np.ravel(np.asarray(axes, dtype=object)))
    if len(given) != len(columns):
        raise ValueError(f"axes must be as many as columns ({', '.join(columns)}), not {len(given)}")
    return given


def _annotate(panels: "list[Axes]", curves: _Curves, title: str | None) -> None:
    """Set title and note beside axes that somebody else laid out."""
    if title is not None:
        panels[0].annotate(title, (0, 1), (0, 24), xycoords="axes fraction", textcoords="offset points")
    place: Any = {"xycoords": "axes fraction", "textcoords": "offset points", "va": "top", "size": 8}
    panels[0].annotate(curves.note(), (0, 0), (0, -34), annotation_clip=False, **place)


def _draw(panels: "list[Axes]", curves: _Curves) -> None:
    """Draw each column onto its axes, then name the lines, which needs to know where they are."""
    measures = [MEASURES.get(column, Measure(column, column, None)) for column in curves.columns]
    shared = len({measure.unit for measure in measures}) == 1
    for axes, column, measure in zip(panels, curves.columns, measures, strict=True):
        _draw_lines(axes, curves, column)
        _scale(
            axes,
            [number for one in (curves.columns if shared else [column]) for number in curves.numbers(one)],
            measure,
        )
        axes.set_title(measure.heading)
        axes.set_xlabel(LABELS.get(curves.x, curves.x))
    panels[0].figure.canvas.figure.draw_without_rendering()
    for axes, column in zip(panels, curves.columns, strict=True):
        _name_lines(axes, curves, column)
    panels[0].figure.canvas.figure.draw_without_rendering()
    for axes in panels:
        _tick_values(axes, curves)


def _draw_lines(axes: "Axes", curves: _Curves, column: str) -> None:
    """Draw a line and a band for each rule; the first is widest, so that none hides another."""
    for rank, (name, rows) in enumerate(curves.lines.items()):
        places, colour = [curves.place(row[curves.x]) for row in rows], curves.colours[name]
        if curves.band is not None:
            low, high = zip(*(curves.ends(row, column) for row in rows), strict=True)
            axes.fill_between(places, low, high, color=colour, alpha=0.15, linewidth=0)
        middle, width = [row[column] for row in rows], 1.4 + 2 / (rank + 1)
        axes.plot(places, middle, color=colour, marker="o", markersize=4, linewidth=width, label=name)
    axes.margins(x=0.03)


def _scale(axes: "Axes", numbers: list[float], measure: Measure) -> None:
    """Make the y axis logarithmic for measures that shrink by factors, if none is below 0."""
    height = axes.get_window_extent().height / axes.figure.dpi * 72
    if measure.least is not None and min(numbers) >= 0:
        scale_to_zero(axes, numbers, measure.least, most=max(4, round(height / 15)))
    elif measure.unit == "share":
        axes.set_ylim(-0.03, 1.03)
        axes.set_yticks([tenth / 10 for tenth in range(0, 11, 2)], [f"{10 * tenth}%" for tenth in range(0, 11, 2)])
    else:
        axes.yaxis.set_major_formatter(lambda number, _: label(number))


def _name_lines(axes: "Axes", curves: _Curves, column: str) -> None:
    """Write each line's name at its end, moved a little where names would overlap.

    Where nobody makes room for names beside the axes, they are in a legend.
    """
    if axes.figure.canvas.figure.get_layout_engine() is None:
        axes.legend()
        return
    ends = {name: rows[-1] for name, rows in curves.lines.items()}
    pixels = [float(axes.transData.transform((1, end[column]))[1]) for end in ends.values()]
    box, gap = axes.get_window_extent(), 11.5 * axes.figure.dpi / 72
    placed = within(apart(pixels, gap), box.y0 + gap / 2, box.y1, gap)
    look: Any = {"textcoords": "offset points", "va": "center", "annotation_clip": False, "fontweight": "bold"}
    for (name, end), height in zip(ends.items(), placed, strict=True):
        level, place = float(axes.transData.inverted().transform((0, height))[1]), curves.place(end[curves.x])
        last = end[curves.x] == curves.values[-1]  # beside the axes; a line that ends before has its name there
        at: Any = {"xy": (1, level), "xycoords": ("axes fraction", "data")} if last else {"xy": (place, level)}
        axes.annotate(name, xytext=(4 if last else 8, 0), color=curves.colours[name], **at, **look)


def _tick_values(axes: "Axes", curves: _Curves) -> None:
    """Set ticks at the values of x that were tried, as far as their labels fit."""
    places = [curves.place(value) for value in curves.values]
    if curves.numeric and by_factors(places):
        axes.set_xscale("log")
    texts = [label(value) if curves.numeric else str(value) for value in curves.values]
    points = [float(axes.transData.transform((place, 1))[0]) / axes.figure.dpi * 72 for place in places]
    labels = axes.xaxis.get_ticklabels()
    size = float(labels[0].get_fontsize()) if labels else 10.0
    kept = fitting(points, [0.64 * size * len(text) for text in texts], gap=0.6 * size)
    axes.set_xticks([places[tick] for tick in kept], [texts[tick] for tick in kept])
    axes.set_xticks([], minor=True)


def _save(panels: "list[Axes]", path: "str | os.PathLike[str] | None") -> None:
    if path is not None:
        panels[0].figure.canvas.figure.savefig(path)
