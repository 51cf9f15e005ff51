"""The figure of the everlasting best arm: regret against memory, a line a strategy, the range over runs as a band."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bestbefore.report.regret import save_lines

if TYPE_CHECKING:
    from bestbefore.simulate import Table


def plot_everlasting(table: "Table", title: str, path: str | Path) -> None:
    """Draw regret against memory, and write the figure to a file.

    Regret may be 0, and that is the point: the axis is logarithmic down to the least regret above it, and ends at 0.
    """
    rows = [row | {"keep": row["strategy"]} for row in table.summary(["strategy", "memory"], ["regret"])]
    save_lines(rows, title, "Regret of all pulls: mean and range over runs", path, smallest=0.0, scale=_scale)


def _scale(axes: Any, rows: list[dict[str, Any]]) -> None:
    """Make the axis logarithmic from the power of ten below the least regret above 0; below that it has a 0, if any."""
    regrets = [row[name] for row in rows for name in ("regret_low", "regret", "regret_high")]
    above = [regret for regret in regrets if regret > 0] or [1.0]
    lowest = max(math.floor(math.log10(min(above))), 0)
    top = max(1.3 * max(above), 10.0 ** (lowest + 1))
    ticks = {10.0**decade: f"{10**decade:,}" for decade in range(lowest, math.floor(math.log10(top)) + 1)}
    if min(regrets) < 1:
        axes.set_yscale("symlog", linthresh=10.0**lowest, linscale=0.6)
        axes.axhline(0.0, color="#999999", linewidth=0.8, zorder=0.5)
        ticks = {0.0: "0"} | ticks
    axes.set_yticks(list(ticks), list(ticks.values()))
    axes.set_yticks([], minor=True)
    axes.set_ylim(-0.12 * 10.0**lowest if 0.0 in ticks else 10.0**lowest, top)
