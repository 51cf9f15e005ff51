"""The figure of regret: regret against memory, a line for each pair of rules, the range over runs as a band."""

from pathlib import Path
from typing import TYPE_CHECKING

from bestbefore.report.explore import save_panels

if TYPE_CHECKING:
    from bestbefore.simulate import Table
    from bestbefore.simulate.table import Row


def plot_regret(table: "Table", title: str, path: str | Path) -> None:
    """Draw regret against memory, and write the figure to a file."""
    rows = table.summary(["keep", "pull", "memory"], ["regret"])
    for row in rows:
        row["keep"] = f"{row['keep']} x {row['pull']}"
    save_lines(rows, title, "Regret over all epochs", path)


def save_lines(rows: list["Row"], title: str, heading: str, path: str | Path) -> None:
    """Draw regret against memory, a line for each "keep" of the rows, and write the figure to a file."""
    save_panels(rows, title, {"regret": heading}, path, size=(8, 4.8), least=0)
