"""`bestbefore explore`: how well the rules find the best valid arm, with how much memory."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bestbefore import plan
from bestbefore.bounds import GUARANTEES
from bestbefore.cli.options import (
    Listed,
    check_files,
    deliver,
    is_by_time,
    make_stream,
    most_option,
    shown,
    stream_options,
    tell_of_compilation,
)
from bestbefore.cli.tables import Cells, find_marks, print_cells
from bestbefore.clock import Length
from bestbefore.rules import KEEP

if TYPE_CHECKING:
    from bestbefore.simulate import Table
    from bestbefore.streams import Stream


class TestsOption(click.ParamType):  # type: ignore[type-arg]
    """A number of pulls, or the name of a rule for it."""

    name = "number or rule"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | str:
        """Read a whole number, or leave a word as it is: the plan knows which there are."""
        try:
            return int(value)
        except ValueError:
            return str(value)


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
    help=f"Keep rules, of {', '.join(KEEP)}.  [default: bucket,topk,staircase; with --budget, --relative or "
    "--probe certify, staircase]",
)
@click.option(
    "-e",
    "--epsilon",
    type=float,
    help="The accuracy that pulls are for.  [default: 3/memory; none with --budget and --memory]",
)
@click.option(
    "--probe",
    type=click.Choice(["certify", "fixed"]),
    help="Pull until the answer is certified, or test all arms alike.  [default: staircase certifies with --epsilon or "
    "--budget, unless there are --tests or --slack; all others test]",
)
@click.option("--budget", type=int, help="At most so many pulls after each arrival, with certificates.")
@click.option("--relative", is_flag=True, help="Epsilon is a share of the best mean, with certificates.")
@click.option(
    "--guarantee",
    type=click.Choice(GUARANTEES),
    default=plan.GUARANTEE,
    show_default=True,
    help="At one time fixed beforehand, at all of n times at once, or for ever: decides the pulls of each arm.",
)
@click.option(
    "--tests",
    type=TestsOption(),
    help="Pull each arm exactly this many times; or how many follow from epsilon: paper, pairs, or exact for rewards "
    "of 0 and 1.  [default: paper]",
)
@click.option("--slack", type=float, help="How freely staircase passes over new arms.  [default: 1; with --epsilon, 0]")
@click.option("--top", default=1, show_default=True, help="How many answers are wanted: the best k of the window.")
@most_option
@stream_options(delta=plan.DELTA)
def explore(
    arms: int,
    window: Length,
    memory: list[int] | None,
    keep: list[str] | None,
    stream: str,
    arrivals: str | None,
    rewards: str,
    sigma: float | None,
    as_json: bool,
    csv: Path | None,
    plot: Path | None,
    **settings: Any,
) -> None:
    """Show how well each keep rule finds the best valid arm, with how much memory.

    Every arm is tested when it arrives; then the rule decides who stays in the slots.  With --epsilon or --budget
    staircase pulls arms only as long as it takes to certify its answer.  The error at a time is the best valid mean
    less the mean of the arm that the rule would answer with.

    With a window by time, such as --window 24h, arms are tested alike only if --most says how many may be valid at
    once; without it, the default is staircase with certificates.

    \b
    bestbefore explore                                   uniform means, W = 50, memory from 2 to 20
    bestbefore explore --epsilon 0.1                     what certificates save
    bestbefore explore --budget 300 --memory 8           the smallest gap that 300 pulls an arrival can buy
    """
    check_files(csv, plot)
    unlimited = is_by_time(window) and settings["most"] is None and keep is None and settings["tests"] is None
    certifies = settings["budget"] is not None or settings["relative"] or settings["probe"] == "certify" or unlimited
    keep = keep or (["staircase"] if certifies else ["bucket", "topk", "staircase"])
    certified = settings["relative"] or (settings["probe"] == "certify" and settings["budget"] is None) or unlimited
    if memory is None and settings["epsilon"] is None and not certified:
        memory = [2, 4, 6, 8, 10, 14, 20]
    from bestbefore import simulate
    from bestbefore.simulate.certify_loop import certify_block
    from bestbefore.simulate.explore_loop import explore_block

    source = make_stream(stream, arms, window, rewards, sigma, arrivals)
    certifying = plan.KEEP in keep and settings["top"] == 1
    tests = [rule for rule in keep if rule != plan.KEEP or not certifying]
    tell_of_compilation(*[explore_block] * bool(tests), *[certify_block] * certifying)
    table = simulate.explore(source, window, memory, keep, **settings)

    def draw(path: Path) -> None:
        title = f"{source.name} stream of {source.length:,} arms, window {shown(window)}"
        simulate.plot(table, title=title, save=path)

    deliver(table, as_json, csv, plot, lambda: _print(table, source, window, settings["delta"]), draw)


def _print(table: "Table", stream: "Stream", window: Length, delta: float) -> None:
    """Print mean and worst error for each memory and rule; the lowest mean at a memory is marked, if it is so for sure.

    Pulls stand beside them: rules that test all arms pull alike, but king and certificates go their own way.
    """
    runs = len(set(table["run"].tolist()))
    title = (
        f"Error of the answer: mean over all times (worst)\n{stream.name} stream of {stream.length:,} arms, "
        f"window {shown(window)}, {runs} run{'s' * (runs > 1)}"
    )
    rows = table.summary(["keep", "memory"], ["mean", "max", "pulls"])
    errors: Cells = {(row["memory"], (row["keep"],)): f"{row['mean']:.4f} ({row['max_high']:.3f})" for row in rows}
    pulls: Cells = {(row["memory"], (row["keep"],)): f"{row['pulls'] / stream.length:,.0f}" for row in rows}
    marks = find_marks(table, ["keep"], "mean")
    ranks = [name for name in table.columns if name.startswith("mean_")]
    print_cells(title, ["keep"], "error", errors, beside=("pulls per arm", pulls), marks=marks)
    if ranks:
        click.echo(f"Mean error by rank, of {len(ranks)} answers:")
        for row in table.summary(["keep", "memory"], ranks):
            errors_by_rank = "  ".join(f"{row[rank]:.4f}" for rank in ranks)
            click.echo(f"  {row['keep']}, {row['memory']:,} slots: {errors_by_rank}")
    promises = [row for row in table.summary(["keep", "memory"], ["gap", "certified", "epsilon"]) if row["gap"] < 1]
    if promises:
        click.echo(f"With probability {1 - delta:g} at a time, the answer is within this of the best:")
    for row in promises:
        share = "always" if row["certified"] == 1 else f"at {row['certified']:.1%} of times"
        within = f"; {share} within epsilon" if row["epsilon"] > 0 else ""
        click.echo(f"  {row['keep']}, {row['memory']:,} slots: {row['gap']:.3g} on average{within}")
