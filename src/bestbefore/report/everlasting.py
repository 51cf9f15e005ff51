"""The figure of the everlasting best arm: regret against memory, a line a strategy, the range over runs as a band."""

from pathlib import Path
from typing import TYPE_CHECKING

from bestbefore.report.regret import save_lines

if TYPE_CHECKING:
    from bestbefore.simulate import Table


def plot_everlasting(table: "Table", title: str, path: str | Path) -> None:
    """Draw regret against memory, and write the figure to a file.

    Regret may be 0, and that is the point: the axis is logarithmic down to the least regret above it, and ends at 0.
    """
    rows = [row | {"keep": row["strategy"]} for row in table.summary(["strategy", "memory"], ["regret"])]
    save_lines(rows, title, "Regret of all pulls", path)
