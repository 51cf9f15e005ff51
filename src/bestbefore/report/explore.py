"""The figure of exploration: error against memory, a line a rule, the range over runs as a band."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from bestbefore.report.look import STYLE, apart, colours_of, note, scale_to_zero, within

if TYPE_CHECKING:
    from bestbefore.simulate import Table

PANELS: Final = {"mean": "Mean error over all times", "max": "Worst error at any time"}
LEAST: Final = -5
"""The power of ten below which errors are all but 0."""


def plot_explore(table: "Table", title: str, path: str | Path) -> None:
    """Draw mean and worst error against memory, and write the figure to a file."""
    save_panels(table.summary(["keep", "memory"], list(PANELS)), title, PANELS, path, size=(9.6, 4.4), least=LEAST)


def save_panels(
    rows: list[dict[str, Any]],
    title: str,
    headings: dict[str, str],
    path: str | Path,
    *,
    size: tuple[float, float],
    least: int,
) -> None:
    """Draw each column of `headings` against memory, a line for each "keep" of the rows; write the figure to a file."""
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    keeps = list(dict.fromkeys(row["keep"] for row in rows))
    numbers = [row[column + end] for row in rows for column in headings for end in ("", "_low", "_high")]
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=size, layout="constrained")
        FigureCanvasAgg(figure)
        figure.suptitle(title, x=0.01, ha="left")
        figure.supxlabel(note(max(row["runs"] for row in rows)), x=0.01, ha="left", size=8.5)
        panels = figure.subplots(1, len(headings), sharey=True, squeeze=False)[0]
        for axes, (column, heading) in zip(panels, headings.items(), strict=True):
            _draw_lines(axes, rows, keeps, column)
            scale_to_zero(axes, numbers, least)
            axes.set_title(heading)
            axes.set_xlabel("memory (slots)")
            axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
        for axes, column in zip(panels, headings, strict=True):
            _name_lines(axes, rows, keeps, column)
        figure.savefig(path)


def _of(rows: list[dict[str, Any]], keep: str) -> list[dict[str, Any]]:
    """Return the rows of a rule, by memory."""
    return sorted((row for row in rows if row["keep"] == keep), key=lambda row: int(row["memory"]))


def _draw_lines(axes: Any, rows: list[dict[str, Any]], keeps: list[str], column: str) -> None:
    """Draw one measure: a line and a band for each rule; the first are the widest, so that none hides another."""
    colours = colours_of(keeps)
    for place, keep in enumerate(keeps):
        own = _of(rows, keep)
        memory = [row["memory"] for row in own]
        low, middle, high = ([row[column + end] for row in own] for end in ("_low", "", "_high"))
        axes.fill_between(memory, low, high, color=colours[keep], alpha=0.15, linewidth=0)
        axes.plot(memory, middle, color=colours[keep], marker="o", markersize=4, linewidth=1.4 + 2 / (place + 1))
    axes.margins(x=0.03)


def _name_lines(axes: Any, rows: list[dict[str, Any]], keeps: list[str], column: str) -> None:
    """Write each rule's name at the end of its line, moved a little where names would overlap."""
    colours = colours_of(keeps)
    ends = [_of(rows, keep)[-1] for keep in keeps]
    axes.figure.canvas.draw()
    pixels = [float(axes.transData.transform((1, end[column]))[1]) for end in ends]
    box, gap = axes.get_window_extent(), 24
    placed = within(apart(pixels, gap), box.y0 + gap / 2, box.y1, gap)
    for keep, end, height in zip(keeps, ends, placed, strict=True):
        memory, level = end["memory"], axes.transData.inverted().transform((0, height))[1]
        place = {"xytext": (8, 0), "textcoords": "offset points", "va": "center"}
        axes.annotate(keep, (memory, level), color=colours[keep], fontweight="bold", annotation_clip=False, **place)
