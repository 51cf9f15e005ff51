"""`bestbefore play`: how much the rules lose by not pulling the best valid arm, with how much memory."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bestbefore.cli.options import Listed, check_files, deliver, make_stream, stream_options, tell_of_compilation
from bestbefore.rules import KEEP_FOR_REGRET, PULL

if TYPE_CHECKING:
    from bestbefore.simulate import Table


@click.command()
@click.option(
    "-m",
    "--memory",
    type=Listed(int),
    help="Slots: one number or several, as in 5,20,50.  [default: a tenth of the window up to all of it, in steps]",
)
@click.option(
    "-k",
    "--keep",
    type=Listed(str),
    default="reservoir,staircase",
    show_default=True,
    help=f"Keep rules, of {', '.join(KEEP_FOR_REGRET)}.",
)
@click.option(
    "-p", "--pull", type=Listed(str), default="ucb,moss", show_default=True, help=f"Pull rules, of {', '.join(PULL)}."
)
@click.option("-b", "--budget", default=1000, show_default=True, help="Pulls of each epoch (T_j).")
@click.option("--fresh", is_flag=True, help="Begin afresh in each window, instead of carrying over what is known.")
@click.option("--partial", is_flag=True, help="Begin with the first arrival, instead of with the first full window.")
@stream_options
def play(
    arms: int,
    window: int,
    memory: list[int] | None,
    keep: list[str],
    pull: list[str],
    budget: int,
    fresh: bool,
    stream: str,
    rewards: str,
    sigma: float,
    as_json: bool,
    csv: Path | None,
    plot: Path | None,
    **settings: Any,
) -> None:
    """Show how much is lost by not pulling the best valid arm, with how much memory.

    Each window position is an epoch with a budget of pulls.  The keep rule decides who stays in the slots, the pull
    rule how the budget is spent; regret is the best valid mean less that of the arm pulled, summed over all pulls.

    \\b
    bestbefore play                                         the trade-off of memory and regret
    bestbefore play --stream two-level --plot regret.png    the paper's arms
    bestbefore play -k fifo,staircase -p moss,thompson      other rules
    """
    check_files(csv, plot)
    from bestbefore import simulate
    from bestbefore.simulate.play_kernel import play_block

    source = make_stream(stream, arms, window, rewards, sigma)
    tell_of_compilation(play_block)
    sizes = memory or sorted({max(1, round(window * tenth / 10)) for tenth in (1, 2, 3, 4, 6, 8, 10)})
    table = simulate.regret(source, window, budget, sizes, keep, pull, carry=not fresh, **settings)
    title = f"{source.name} stream of {source.length:,} arms, window {window:,}, {budget:,} pulls an epoch"

    def draw(path: Path) -> None:
        from bestbefore.report.regret import plot_regret

        plot_regret(table, title, path)

    deliver(table, as_json, csv, plot, lambda: _print(table, title), draw)


def _print(table: "Table", title: str) -> None:
    """Print mean regret, a row a memory and a column a pair of rules; the least of a row stands out."""
    from rich import box
    from rich.console import Console
    from rich.table import Table as Screen

    rows = table.summary(["keep", "pull", "memory"], ["regret"])
    pairs = list(dict.fromkeys((row["keep"], row["pull"]) for row in rows))
    screen = Screen(title=f"Regret, mean over runs\n{title}", box=box.SIMPLE_HEAD)
    screen.add_column("memory", justify="right")
    for keep, pull in pairs:
        screen.add_column(f"{keep}\n{pull}", justify="right", no_wrap=True)
    for memory in dict.fromkeys(row["memory"] for row in rows):
        regrets = [
            row["regret"]
            for pair in pairs
            for row in rows
            if (row["keep"], row["pull"]) == pair and row["memory"] == memory
        ]
        least = min(regrets)
        screen.add_row(f"{memory}", *(f"[bold green]{r:,.0f}[/]" if r == least else f"{r:,.0f}" for r in regrets))
    Console().print(screen)
