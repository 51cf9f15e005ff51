"""`bestbefore seek`: what it costs to find the one arm that never expires, with how much memory."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bestbefore import plan
from bestbefore.cli.options import (
    Listed,
    check_files,
    deliver,
    make_stream,
    memories_up_to,
    memory_option,
    shown,
    stream_options,
    tell_of_compilation,
)
from bestbefore.cli.tables import print_by_memory
from bestbefore.clock import Length
from bestbefore.rules import CLOCKS, FLAGS, INDEXED, strategies_of

if TYPE_CHECKING:
    from bestbefore.simulate import Table

_STRATEGIES = "; ".join(f"{flag}: {', '.join(strategies_of(flag))}" for flag in FLAGS)


@click.command(short_help="What it costs to find the arm that never expires.")
@memory_option
@click.option(
    "--flag",
    type=click.Choice(FLAGS),
    default="explicit",
    show_default=True,
    help="Whether it can be known that an arm has outlived its window.",
)
@click.option(
    "--strategy",
    type=Listed(str),
    help=f"{_STRATEGIES}.  [default: all of the flag's]",
)
@click.option("-b", "--budget", default=1_000_000, show_default=True, help="Pulls of the whole stream (T).")
@click.option(
    "--clock",
    type=click.Choice([clock.replace(" ", "-") for clock in CLOCKS]),
    default="goes-on",
    show_default=True,
    help="What time does after the last arrival: the last arms expire, too, or stay valid.",
)
@click.option(
    "--tests",
    type=int,
    help="Pull an arriving arm at most this often to test it; rank: exactly.  [default: T/(10 n); rank: T/(100 n)]",
)
@click.option(
    "-p",
    "--pull",
    default="moss",
    show_default=True,
    help=f"What spends the rest where the best arm was not found: {', '.join(INDEXED)}.",
)
@stream_options(delta=plan.PLAY_DELTA)
def seek(
    arms: int,
    window: Length,
    memory: list[int] | None,
    flag: str,
    strategy: list[str] | None,
    budget: int,
    clock: str,
    stream: str,
    arrivals: str | None,
    rewards: str,
    sigma: float | None,
    as_json: bool,
    csv: Path | None,
    plot: Path | None,
    **settings: Any,
) -> None:
    """Show what it costs to find the one arm that never expires, with how much memory.

    The best arm of the whole stream stays valid for ever, every other one for W arrivals.  With an explicit flag it can
    be asked which arms are still valid, so whoever outlives its window is the best.  With an implicit flag nobody
    knows, and a pull of an expired arm costs 1.  Regret is the best mean less that of the arm pulled, summed over all
    pulls.

    \b
    bestbefore seek                                        W slots lose nothing; with few, pulls help
    bestbefore seek --stream decreasing --plot regret.png  where few slots lose nearly everything
    bestbefore seek --flag implicit -m 10                  to hope, to play it safe, or to weigh the two
    """
    check_files(csv, plot)
    from bestbefore import simulate
    from bestbefore.simulate.seek_loop import seek_block

    source = make_stream(stream, arms, window, rewards, sigma, arrivals)
    tell_of_compilation(seek_block)
    clock = clock.replace("-", " ")
    sizes = memory or memories_up_to(window)
    table = simulate.seek(source, window, budget, sizes, flag, strategy, clock=clock, **settings)
    title = f"{source.name} stream of {source.length:,} arms, window {shown(window)}, {budget:,} pulls, {flag} flag"
    title += ", time stops" * (clock == "stops")

    def draw(path: Path) -> None:
        simulate.plot(table, title=title, save=path)

    deliver(table, as_json, csv, plot, lambda: _print(table, title, flag), draw)


def _print(table: "Table", title: str, flag: str) -> None:
    """Print regret, and beside it what became of the best arm, or what was lost on expired ones."""
    runs = len(set(table["run"].tolist()))
    over = f"mean of {runs} runs, lowest to highest" if runs > 1 else "one run"
    print_by_memory(table, f"Regret, {over}\n{title}", ["strategy"], "regret", ranges=runs > 1)
    if flag == "explicit":
        found = "Runs in which a flag told the best arm"
        print_by_memory(table, found, ["strategy"], "found", shown="{:.0%}".format, best=None)
    else:
        print_by_memory(table, "Pulls wasted on expired arms, mean", ["strategy"], "wasted", best=None)
