"""The figure of regret: regret against memory, a line for each pair of rules, the range over runs as a band."""

from pathlib import Path
from typing import TYPE_CHECKING

from bestbefore.report.explore import draw_panel, name_lines
from bestbefore.report.look import STYLE

if TYPE_CHECKING:
    from bestbefore.simulate import Table


def plot_regret(table: "Table", title: str, path: str | Path) -> None:
    """Draw regret against memory, and write the figure to a file."""
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    rows = table.summary(["keep", "pull", "memory"], ["regret"])
    for row in rows:
        row["keep"] = f"{row['keep']} x {row['pull']}"
    names = list(dict.fromkeys(row["keep"] for row in rows))
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(8, 4.6), layout="constrained")
        FigureCanvasAgg(figure)
        figure.suptitle(title, x=0.01, ha="left")
        axes = figure.subplots()
        draw_panel(axes, rows, names, "regret", smallest=1.0)
        axes.set_title("Regret over all epochs")
        axes.set_xlabel("memory (slots)")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        name_lines(axes, rows, names, "regret", smallest=1.0)
        figure.savefig(path)
