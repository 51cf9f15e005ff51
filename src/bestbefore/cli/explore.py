"""`bestbefore explore`: how well the rules find the best valid arm, with how much memory."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bestbefore import plan
from bestbefore.bounds import GUARANTEES
from bestbefore.cli.options import Listed, check_files, deliver, make_stream, stream_options, tell_of_compilation
from bestbefore.cli.tables import Cells, find_marks, print_cells
from bestbefore.rules import KEEP

if TYPE_CHECKING:
    from bestbefore.simulate import Table
    from bestbefore.streams import Stream


@click.command(short_help="How far the answer is from the best valid arm.")
@click.option(
    "-m",
    "--memory",
    type=Listed(int),
    help="Slots: one number or several, as in 2,4,8.  [default: 2,4,6,8,10,14,20; with --epsilon, as each rule needs]",
)
@click.option(
    "-k",
    "--keep",
    type=Listed(str),
    default="bucket,topk,staircase",
    show_default=True,
    help=f"Keep rules, of {', '.join(KEEP)}.",
)
@click.option("-e", "--epsilon", type=float, help="The accuracy that pulls are for.  [default: 3/memory]")
@click.option(
    "--guarantee",
    type=click.Choice(GUARANTEES),
    default=plan.GUARANTEE,
    show_default=True,
    help="At one time fixed beforehand, at all of n times at once, or for ever: decides the pulls of each arm.",
)
@click.option("--tests", type=int, help="Pull each arm exactly this many times.")
@click.option("--slack", type=float, help="How freely staircase passes over new arms.  [default: 1; with --epsilon, 0]")
@stream_options(delta=plan.DELTA)
def explore(
    arms: int,
    window: int,
    memory: list[int] | None,
    keep: list[str],
    stream: str,
    rewards: str,
    sigma: float | None,
    as_json: bool,
    csv: Path | None,
    plot: Path | None,
    **settings: Any,
) -> None:
    """Show how well each keep rule finds the best valid arm, with how much memory.

    Every arm is pulled when it arrives; then the rule decides who stays in the slots.  The error at a time is the best
    valid mean less the mean of the arm that the rule would answer with.

    \b
    bestbefore explore                                   uniform means, W = 50
    bestbefore explore --stream sawtooth --plot saw.png  means that fall and begin again
    bestbefore explore --epsilon 0.1 --keep bucket       Algorithm 1 with its guarantee
    """
    check_files(csv, plot)
    if memory is None and settings["epsilon"] is None:
        memory = [2, 4, 6, 8, 10, 14, 20]
    from bestbefore import simulate
    from bestbefore.simulate.explore_loop import explore_block

    source = make_stream(stream, arms, window, rewards, sigma)
    tell_of_compilation(explore_block)
    table = simulate.explore(source, window, memory, keep, **settings)

    def draw(path: Path) -> None:
        title = f"{source.name} stream of {source.length:,} arms, window {window:,}"
        simulate.plot(table, title=title, save=path)

    deliver(table, as_json, csv, plot, lambda: _print(table, source, window), draw)


def _print(table: "Table", stream: "Stream", window: int) -> None:
    """Print mean and worst error for each memory and rule; the lowest mean at a memory is marked, if it is so for sure.

    Pulls stand beside them: all rules pull alike, but king spends its pulls in its own way.
    """
    runs = len(set(table["run"].tolist()))
    title = (
        f"Error of the answer: mean over all times (worst)\n{stream.name} stream of {stream.length:,} arms, "
        f"window {window:,}, {runs} run{'s' * (runs > 1)}"
    )
    rows = table.summary(["keep", "memory"], ["mean", "max", "pulls"])
    errors: Cells = {(row["memory"], (row["keep"],)): f"{row['mean']:.4f} ({row['max_high']:.3f})" for row in rows}
    pulls: Cells = {(row["memory"], (row["keep"],)): f"{row['pulls'] / stream.length:,.0f}" for row in rows}
    marks = find_marks(table, ["keep"], "mean")
    print_cells(title, ["keep"], "error", errors, beside=("pulls per arm", pulls), marks=marks)
