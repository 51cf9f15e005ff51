"""The figure of regret: regret against memory, a line for each pair of rules, the range over runs as a band."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bestbefore.report.explore import draw_panel, name_lines
from bestbefore.report.look import STYLE

if TYPE_CHECKING:
    from bestbefore.simulate import Table
    from bestbefore.simulate.table import Row


def plot_regret(table: "Table", title: str, path: str | Path) -> None:
    """Draw regret against memory, and write the figure to a file."""
    rows = table.summary(["keep", "pull", "memory"], ["regret"])
    for row in rows:
        row["keep"] = f"{row['keep']} x {row['pull']}"
    save_lines(rows, title, "Regret over all epochs", path, smallest=1.0)


def save_lines(
    rows: list["Row"],
    title: str,
    heading: str,
    path: str | Path,
    *,
    smallest: float,
    scale: "Callable[[Any, list[Row]], None] | None" = None,
) -> None:
    """Draw regret against memory, a line for each "keep" of the rows, and write the figure to a file."""
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    names = list(dict.fromkeys(row["keep"] for row in rows))
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(8, 4.6), layout="constrained")
        FigureCanvasAgg(figure)
        figure.suptitle(title, x=0.01, ha="left")
        axes = figure.subplots()
        draw_panel(axes, rows, names, "regret", smallest=smallest)
        if scale is not None:
            scale(axes, rows)
        axes.set_title(heading)
        axes.set_xlabel("memory (slots)")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        name_lines(axes, rows, names, "regret", smallest=smallest)
        figure.savefig(path)
