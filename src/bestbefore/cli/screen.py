"""Tables on the screen: a row for each memory, a column for each rule; or a row for both, where columns do not fit."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table as Screen

    from bestbefore.simulate import Table
    from bestbefore.simulate.table import Row

Cells = dict[tuple[int, tuple[str, ...]], str]
"""What is to be said, by memory and by the names of the rules."""


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
    """Print a column's mean over runs, for each memory and rule; the best of a memory stands out.

    `rules` are the columns that name a rule, `best` picks the mean that stands out, if any should, and `ranges` adds
    the lowest and the highest of all runs.
    """

    def text(row: "Row") -> str:
        span = f"{shown(row[f'{column}_low'])} to {shown(row[f'{column}_high'])}"
        return f"{shown(row[column])}\n[dim]{span}[/]" if ranges else shown(row[column])

    rows = table.summary([*rules, "memory"], [column])
    print_cells(title, rules, column, marked(rows, rules, column, text, best))


def marked(
    rows: "list[Row]",
    rules: Sequence[str],
    column: str,
    text: "Callable[[Row], str]",
    best: Callable[[list[float]], float] | None = min,
) -> Cells:
    """Return the text of each row, by memory and rule; the first line of the best of a memory stands out."""
    numbers: dict[int, list[float]] = {}
    for row in rows:
        numbers.setdefault(row["memory"], []).append(row[column])
    cells = {}
    for row in rows:
        first, *rest = text(row).split("\n")
        if best is not None and row[column] == best(numbers[row["memory"]]):
            first = f"[bold green]{first}[/]"
        cells[row["memory"], tuple(row[rule] for rule in rules)] = "\n".join([first, *rest])
    return cells


def print_cells(
    title: str, rules: Sequence[str], heading: str, cells: Cells, beside: tuple[str, Cells] | None = None
) -> None:
    """Print a row for each memory and a column for each rule.

    Each memory and rule has a row of its own, under `heading`, where columns are too many for the screen.  `beside` is
    a column with its heading that is the same for all rules of a memory: where it is not, rows are of their own, too.
    """
    from rich.console import Console

    console = Console()
    screen = _wide(cells, beside)
    unlimited = console.options.update(max_width=100_000)
    if screen is None or console.measure(screen, options=unlimited).maximum > console.width:
        screen = _long(rules, heading, cells, beside)
    console.print(title, markup=False, highlight=False, soft_wrap=True)  # it may be wider than the table
    console.print(screen)


def _wide(cells: Cells, beside: tuple[str, Cells] | None) -> "Screen | None":
    """Make a column for each rule; None if what stands beside differs."""
    names = list(dict.fromkeys(name for _, name in cells))
    screen = _empty(["memory", *([beside[0]] if beside else []), *("\n".join(name) for name in names)])
    for memory in dict.fromkeys(memory for memory, _ in cells):
        said = {beside[1][memory, name] for name in names} if beside else set()
        if len(said) > 1:
            return None
        screen.add_row(f"{memory}", *said, *(cells[memory, name] for name in names))
    return screen


def _long(rules: Sequence[str], heading: str, cells: Cells, beside: tuple[str, Cells] | None) -> "Screen":
    """Make a row for each memory and rule; each memory is named once."""
    screen = _empty(["memory", *([beside[0]] if beside else []), *rules, heading], left=rules)
    last = None
    memories = list(dict.fromkeys(memory for memory, _ in cells))
    for (memory, name), text in sorted(cells.items(), key=lambda cell: memories.index(cell[0][0])):
        said = [beside[1][memory, name]] if beside else []
        screen.add_row("" if memory == last else f"{memory}", *said, *name, text)
        last = memory
    return screen


def _empty(headings: Sequence[str], left: Sequence[str] = ()) -> "Screen":
    from rich import box
    from rich.table import Table as Screen

    screen = Screen(box=box.SIMPLE_HEAD)
    for heading in headings:
        screen.add_column(heading, justify="left" if heading in left else "right", no_wrap=True)
    return screen
