"""The figure of exploration: error against memory, a line a rule, the range over runs as a band."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from bestbefore.report.look import STYLE, apart, colours_of

if TYPE_CHECKING:
    from bestbefore.simulate import Table

PANELS = {"mean": "Mean error over all times", "max": "Worst error at any time"}
SMALLEST = 1e-5
"""Errors below this are drawn here: a logarithmic axis has no 0."""


def plot_explore(table: "Table", title: str, path: str | Path) -> None:
    """Draw mean and worst error against memory, and write the figure to a file."""
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    keeps = list(dict.fromkeys(table["keep"].tolist()))
    rows = table.summary(["keep", "memory"], list(PANELS))
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(9.6, 4.2), layout="constrained")
        FigureCanvasAgg(figure)
        figure.suptitle(title, x=0.01, ha="left")
        panels = figure.subplots(1, len(PANELS), sharey=True)
        for axes, (column, heading) in zip(panels, PANELS.items(), strict=True):
            draw_panel(axes, rows, keeps, column)
            axes.set_title(heading)
            axes.set_xlabel("memory (slots)")
            axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        for axes, column in zip(panels, PANELS, strict=True):
            name_lines(axes, rows, keeps, column)
        figure.savefig(path)


def _of(rows: list[dict[str, Any]], keep: str) -> list[dict[str, Any]]:
    """Return the rows of a rule, by memory."""
    return sorted((row for row in rows if row["keep"] == keep), key=lambda row: int(row["memory"]))


def draw_panel(
    axes: Any, rows: list[dict[str, Any]], keeps: list[str], column: str, smallest: float = SMALLEST
) -> None:
    """Draw one measure: a line and a band for each rule; the first are the widest, so that none hides another."""
    colours = colours_of(keeps)
    axes.set_yscale("log")
    for place, keep in enumerate(keeps):
        own = _of(rows, keep)
        memory = [row["memory"] for row in own]
        low, middle, high = (
            [max(row[name], smallest) for row in own] for name in (f"{column}_low", column, f"{column}_high")
        )
        axes.fill_between(memory, low, high, color=colours[keep], alpha=0.15, linewidth=0)
        axes.plot(memory, middle, color=colours[keep], marker="o", markersize=4, linewidth=1.4 + 2 / (place + 1))
    axes.margins(x=0.03)


def name_lines(
    axes: Any, rows: list[dict[str, Any]], keeps: list[str], column: str, smallest: float = SMALLEST
) -> None:
    """Write each rule's name at the end of its line, moved a little where names would overlap."""
    colours = colours_of(keeps)
    ends = [_of(rows, keep)[-1] for keep in keeps]
    axes.figure.canvas.draw()
    pixels = [float(axes.transData.transform((1, max(end[column], smallest)))[1]) for end in ends]
    for keep, end, height in zip(keeps, ends, apart(pixels, gap=24), strict=True):
        memory, level = end["memory"], axes.transData.inverted().transform((0, height))[1]
        place = {"xytext": (8, 0), "textcoords": "offset points", "va": "center"}
        axes.annotate(keep, (memory, level), color=colours[keep], fontweight="bold", annotation_clip=False, **place)
