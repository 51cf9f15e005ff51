"""`bestbefore play`: how much the rules lose by not pulling the best valid arm, with how much memory."""

from pathlib import Path
from typing import Any

import click

from bestbefore import plan
from bestbefore.cli.options import (
    Listed,
    check_files,
    deliver,
    make_stream,
    memories_up_to,
    memory_option,
    most_option,
    shown,
    stream_options,
    tell_of_compilation,
)
from bestbefore.cli.tables import print_by_memory
from bestbefore.clock import Length
from bestbefore.rules import KEEP_TO_PLAY, PULL


@click.command(short_help="What is lost by not pulling the best valid arm.")
@memory_option
@click.option(
    "-k",
    "--keep",
    type=Listed(str),
    default=f"reservoir,{plan.PLAY_KEEP}",
    show_default=True,
    help=f"Keep rules, of {', '.join(KEEP_TO_PLAY)}.",
)
@click.option(
    "-p",
    "--pull",
    type=Listed(str),
    default=f"ucb,{plan.PLAY_PULL}",
    show_default=True,
    help=f"Pull rules, of {', '.join(PULL)}.",
)
@click.option("-b", "--budget", default=1000, show_default=True, help="Pulls of each epoch (T_j).")
@click.option("--afresh", is_flag=True, help="Begin afresh in each window, instead of carrying over what is known.")
@click.option("--full-windows", is_flag=True, help="Begin with the first full window, as the paper does.")
@most_option
@stream_options(delta=plan.PLAY_DELTA)
def play(
    arms: int,
    window: Length,
    memory: list[int] | None,
    keep: list[str],
    pull: list[str],
    budget: int,
    afresh: bool,
    full_windows: bool,
    stream: str,
    arrivals: str | None,
    rewards: str,
    sigma: float | None,
    as_json: bool,
    csv: Path | None,
    plot: Path | None,
    **settings: Any,
) -> None:
    """Show how much is lost by not pulling the best valid arm, with how much memory.

    Each window position is an epoch with a budget of pulls.  The keep rule decides who stays in the slots, the pull
    rule how the budget is spent; regret is the best valid mean less that of the arm pulled, summed over all pulls.

    \b
    bestbefore play                                         the trade-off of memory and regret
    bestbefore play --stream two-level --plot regret.png    the paper's arms
    bestbefore play -k topk,heirs -p fresh,thompson         other rules
    """
    check_files(csv, plot)
    if plot is not None:
        _check_curves(keep, pull)
    from bestbefore import simulate
    from bestbefore.simulate.play_loop import play_block

    source = make_stream(stream, arms, window, rewards, sigma, arrivals)
    if isinstance(window, int) and window > source.length and full_windows:
        raise ValueError(
            f"window must be at most {source.length}, the arms of the stream, not {window}, with --full-windows"
        )
    tell_of_compilation(play_block)
    sizes = memory or memories_up_to(window)
    settings |= {"carry": not afresh, "partial": not full_windows}
    table = simulate.play(source, window, budget, sizes, keep, pull, **settings)
    title = f"{source.name} stream of {source.length:,} arms, window {shown(window)}, {budget:,} pulls an epoch"

    def draw(path: Path) -> None:
        simulate.plot(table, title=title, save=path)

    def show() -> None:
        print_by_memory(table, f"Regret, mean over runs\n{title}", ["keep", "pull"], "regret")

    deliver(table, as_json, csv, plot, show, draw)


def _check_curves(keep: list[str], pull: list[str]) -> None:
    """Complain before the work about more curves than can be told apart."""
    from bestbefore.style import MOST_CURVES

    if len(keep) * len(pull) > MOST_CURVES:
        pairs = f"{len(keep)} keep rules x {len(pull)} pull rules"
        raise ValueError(f"--plot can draw at most {MOST_CURVES} curves, not {len(keep) * len(pull)}, {pairs}")
