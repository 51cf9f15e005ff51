"""Tables on the screen: a row for each memory, a column for each rule, or a row for both."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from rich.table import Table as RichTable

    from bestbefore.simulate import Table
    from bestbefore.simulate.table import Row

Cells = dict[tuple[int, tuple[str, ...]], str]
"""What is to be said, by memory and by the names of the rules."""


class Marks(NamedTuple):
    """Which cells are marked, and a line that says what the mark means."""

    won: set[tuple[int, tuple[str, ...]]]
    meaning: str

    def set_on(self, cells: Cells) -> Cells:
        """Return the cells with a star before those that won, which are bold and green, too.

        A star can be seen without colours, and before the number it leaves digits below each other.
        """
        found = dict(cells)
        for place in self.won:
            first, *rest = cells[place].split("\n")
            found[place] = "\n".join([f"[bold green]*{first}[/]", *rest])
        return found


def print_by_memory(
    table: "Table",
    title: str,
    rules: Sequence[str],
    column: str,
    *,
    shown: Callable[[float], str] = "{:,.0f}".format,
    best: str | None = "lowest",
    ranges: bool = False,
) -> None:
    """Print a column's mean over runs, for each memory and rule; the winner of a memory is marked.

    `rules` are the columns that name a rule, `best` says whether the lowest or the highest wins, if
    anybody can, and `ranges` adds the lowest and the highest of all runs.
    """

    def text(row: "Row") -> str:
        span = f"{shown(row[f'{column}_low'])} to {shown(row[f'{column}_high'])}"
        return f"{shown(row[column])}\n[dim]{span}[/]" if ranges else shown(row[column])

    rows = table.summary([*rules, "memory"], [column])
    cells = {(row["memory"], tuple(row[rule] for rule in rules)): text(row) for row in rows}
    print_cells(title, rules, column, cells, marks=None if best is None else find_marks(table, rules, column, best))


def find_marks(table: "Table", rules: Sequence[str], column: str, best: str = "lowest") -> Marks:
    """Find the winner of each memory, and say what the mark means or why there is none."""
    won = {
        (row["memory"], tuple(row[rule] for rule in rules))
        for row in table.winners(column, rules, "memory", best=best)
        if row[rules[0]] is not None
    }
    if len({tuple(row[rule] for rule in rules) for row in table}) == 1:
        return Marks(won, "")
    if len(set(table["run"].tolist())) == 1:
        return Marks(won, "One run cannot tell luck from skill: no rule is marked.")
    test = "95%, paired t tests, Bonferroni"
    if not won:
        return Marks(won, f"No mark: no rule is {best} beyond chance ({test}).")
    return Marks(won, f"* {best} of its memory, beyond chance ({test})")


def print_cells(
    title: str,
    rules: Sequence[str],
    heading: str,
    cells: Cells,
    *,
    beside: tuple[str, Cells] | None = None,
    marks: Marks | None = None,
) -> None:
    """Print a row for each memory and a column for each rule; below it, what the marks mean.

    Each memory and rule has a row of its own, under `heading`, where columns are too many for the
    screen.  `beside` is a column with its heading that is the same for all rules of a memory: where
    it is not, rows are of their own, too.
    """
    from rich.console import Console

    console = Console()
    if marks is not None:
        cells = marks.set_on(cells)
    screen = _wide(cells, beside)
    unlimited = console.options.update(max_width=100_000)
    if screen is None or console.measure(screen, options=unlimited).maximum > console.width:
        screen = _long(rules, heading, cells, beside)
    console.print(title, markup=False, highlight=False, soft_wrap=True)  # it may be wider than the table
    console.print(screen)
    if marks is not None and marks.meaning:
        console.print(f"{marks.meaning}\n", markup=False, highlight=False, soft_wrap=True)


def _wide(cells: Cells, beside: tuple[str, Cells] | None) -> "RichTable | None":
    """Make a column for each rule; None if rules have memories of their own, or what stands beside differs."""
    names = list(dict.fromkeys(name for _, name in cells))
    if len(cells) < len(names) * len({memory for memory, _ in cells}):
        return None
    screen = _empty(["memory", *([beside[0]] if beside else []), *("\n".join(name) for name in names)])
    for memory in dict.fromkeys(memory for memory, _ in cells):
        said = {beside[1][memory, name] for name in names} if beside else set()
        if len(said) > 1:
            return None
        screen.add_row(f"{memory}", *said, *(cells[memory, name] for name in names))
    return screen


def _long(rules: Sequence[str], heading: str, cells: Cells, beside: tuple[str, Cells] | None) -> "RichTable":
    """Make a row for each memory and rule; each memory is named once."""
    screen = _empty(["memory", *([beside[0]] if beside else []), *rules, heading], left=rules)
    last = None
    memories = list(dict.fromkeys(memory for memory, _ in cells))
    for (memory, name), text in sorted(cells.items(), key=lambda cell: memories.index(cell[0][0])):
        said = [beside[1][memory, name]] if beside else []
        screen.add_row("" if memory == last else f"{memory}", *said, *name, text)
        last = memory
    return screen


def _empty(headings: Sequence[str], left: Sequence[str] = ()) -> "RichTable":
    from rich import box
    from rich.table import Table as RichTable

    screen = RichTable(box=box.SIMPLE_HEAD)
    for heading in headings:
        screen.add_column(heading, justify="left" if heading in left else "right", no_wrap=True)
    return screen
