"""A progress bar for long work, on standard error and only where somebody can see it."""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager


@contextmanager
def progress_bar(label: str, total: int, show: bool | None = None) -> Iterator[Callable[[], None]]:
    """Give a function to call after each of `total` pieces of work; `show=None` means: if this is a terminal."""
    if not (sys.stderr.isatty() if show is None else show):
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=total)
        yield lambda: bar.advance(task)


@contextmanager
def progress_of_groups(
    totals: Mapping[str, int], done: Mapping[str, int], show: bool | None = None
) -> Iterator[Callable[[str], None]]:
    """Give a function to call with the name of a group after each piece of its work, of `totals`, `done` before.

    A group has a bar with the time left while it is under way, and a line when it is finished; so has all together.
    """
    if not (sys.stderr.isatty() if show is None else show):
        yield lambda group: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    console = Console(stderr=True, highlight=False)
    before = sum(done.values())
    if before:
        console.print(f"{before} of {sum(totals.values())} are there already", markup=False)
    with Progress(*columns, console=console, transient=True) as bar:
        tasks = {
            group: bar.add_task(group, total=total, completed=done.get(group, 0), visible=False, start=False)
            for group, total in totals.items()
        }
        everything = bar.add_task("all", total=sum(totals.values()), completed=before)

        def advance(group: str) -> None:
            task = bar.tasks[tasks[group]]
            if not task.started:
                bar.start_task(task.id)
                bar.update(task.id, visible=True)
            bar.advance(task.id)
            bar.advance(everything)
            if task.finished:
                bar.update(task.id, visible=False)
                console.print(f"{group}: done, {task.elapsed or 0:.0f} s", markup=False)

        yield advance
