"""Tables on the screen: a row for each memory, a column for each rule."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bestbefore.simulate import Table


def print_by_memory(
    table: "Table",
    title: str,
    rules: Sequence[str],
    column: str,
    *,
    shown: Callable[[float], str] = "{:,.0f}".format,
    best: Callable[[list[float]], float] | None = min,
    ranges: bool = False,
) -> None:
    """Print a column's mean over runs, for each memory and rule; the best of a row stands out.

    `rules` are the columns that name a rule, `best` picks the mean that stands out, if any should, and `ranges` adds
    the lowest and the highest of all runs.
    """
    from rich import box
    from rich.console import Console
    from rich.table import Table as Screen

    rows = table.summary([*rules, "memory"], [column])
    cells = {(tuple(row[rule] for rule in rules), row["memory"]): row for row in rows}
    names = list(dict.fromkeys(name for name, _ in cells))
    screen = Screen(box=box.SIMPLE_HEAD)
    screen.add_column("memory", justify="right")
    for name in names:
        screen.add_column("\n".join(name), justify="right", no_wrap=True)
    for memory in dict.fromkeys(memory for _, memory in cells):
        row = [cells[name, memory] for name in names]
        chosen = None if best is None else best([cell[column] for cell in row])
        texts = []
        for cell in row:
            text = shown(cell[column])
            text = f"[bold green]{text}[/]" if cell[column] == chosen else text
            span = f"{shown(cell[f'{column}_low'])} to {shown(cell[f'{column}_high'])}"
            texts.append(f"{text}\n[dim]{span}[/]" if ranges else text)
        screen.add_row(f"{memory}", *texts)
    console = Console()
    console.print(title, markup=False, highlight=False, soft_wrap=True)  # it may be wider than the table
    console.print(screen)
