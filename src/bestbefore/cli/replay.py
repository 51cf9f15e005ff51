"""`bestbefore replay`: what is in your own log, what memory buys on it, and what a player would have earned."""

import json
import math
import re
import shlex
import sys
import time as clock
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bestbefore import __version__
from bestbefore.cli.options import Listed, WindowOption, tell_of_compilation
from bestbefore.clock import Length
from bestbefore.clock import window_of as check_window

if TYPE_CHECKING:
    from bestbefore.replay.report import Report


@click.command(short_help="Your own log: what memory buys on it, and what a player would have earned.")
@click.argument("log", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--arm", required=True, help="The column that names the arm: an article, an ad, a prompt.")
@click.option("--reward", required=True, help="The column of rewards: numbers, a click being 1 and none 0.")
@click.option("--time", required=True, help="The column of times: dates, or numbers since 1970.")
@click.option("--arrived", help="The column that says when the arm arrived.  [default: with its first row]")
@click.option(
    "-W",
    "--window",
    type=WindowOption(),
    required=True,
    help="How long an arm is valid: 24h, '30 days', or 50 arrivals.",
)
@click.option("--propensity", help="The column of probabilities with which the arm of a row was shown.")
@click.option("--uniform", is_flag=True, help="Arms were shown uniformly at random, each with the same probability.")
@click.option("--scale", type=(float, float), default=(0.0, 1.0), show_default=True, help="Lowest and highest reward.")
@click.option("--least", default=1, show_default=True, help="Leave out arms with fewer rows than this.")
@click.option(
    "--unit", type=click.Choice(["s", "ms", "us"]), default="s", show_default=True, help="Of times that are numbers."
)
@click.option("--zone", help="Time zone of dates that have none, such as UTC or Europe/Berlin.")
@click.option("-m", "--memory", type=Listed(int), help="Slots to try, as in 2,5,10.  [default: 2,5,10,20,50]")
@click.option(
    "-r", "--runs", default=5, show_default=True, help="Simulated runs; fewer for a log of many million rows."
)
@click.option("--seed", default=0, show_default=True, help="The same seed gives the same numbers.")
@click.option("-j", "--jobs", type=int, help="Runs at once.  [default: all cores]")
@click.option("--json", "as_json", is_flag=True, help="Print all numbers as JSON instead.")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="Write a page of HTML to this file.")
def replay(
    log: Path,
    arm: str,
    reward: str,
    time: str,
    arrived: str | None,
    window: Length,
    propensity: str | None,
    uniform: bool,
    scale: tuple[float, float],
    least: int,
    unit: str,
    zone: str | None,
    as_json: bool,
    out: Path | None,
    **settings: Any,
) -> None:
    """Look at LOG, a CSV or Parquet file with a row for each time that an arm was shown.

    It answers three questions: what is in the log; what memory buys on its arms, arrivals and traffic; and, if the log
    says with which probability each arm was shown, what a player would have earned.

    \b
    bestbefore replay log.csv --arm article --reward click --time shown_at --window 24h --out page.html
    bestbefore replay log.csv --arm article --reward click --time shown_at --window 24h --uniform
    bestbefore replay ratings.csv --arm movieId --reward rating --scale 0.5 5 --time timestamp -W '30 days'
    """
    if propensity is not None and uniform:
        raise ValueError("--propensity must be left out where --uniform says that all arms had the same probability")
    check_window(window)
    if settings["runs"] < 1:
        raise ValueError(f"--runs must be at least 1, not {settings['runs']}")
    if any(slots < 1 for slots in settings["memory"] or []):
        raise ValueError(f"--memory must be at least 1, not {min(settings['memory'])}")
    if out is not None:
        if not out.parent.is_dir():
            raise ValueError(f"the folder of {str(out)!r} must be there")
        from bestbefore.paper.report.page import check_installed
        from bestbefore.replay.report import check_writable

        check_installed()
        check_writable(out)
    began = clock.monotonic()
    from bestbefore.replay.report import look_at, write_page
    from bestbefore.simulate.explore_loop import explore_block
    from bestbefore.simulate.play_loop import play_block
    from bestbefore.streams import Columns, read_log

    try:
        found = read_log(log, Columns(arm, reward, time, arrived), scale=scale, least=least, unit=unit, zone=zone)
        tell_of_compilation(play_block, explore_block)
        report = look_at(found, window, propensity=propensity, uniform=uniform, **settings)
    except ValueError as wrong:
        raise ValueError(_with_options(str(wrong))) from wrong
    if as_json:
        click.echo(json.dumps(_finite(report.to_dict()), indent=1, allow_nan=False, default=str))
    else:
        _show(report)
    if out is not None:
        command = shlex.join(["bestbefore", *sys.argv[1:]]) if sys.argv[1:2] == ["replay"] else "bestbefore replay"
        seconds = f"{clock.monotonic() - began:.0f} s"
        write_page(out, report, {"Command": command, "Version": f"Best Before {__version__}", "Time": seconds})
        click.echo(f"written: {out}", err=as_json)


def _with_options(text: str) -> str:
    """Say what to do in options of the command, where an error says it in Python.

    >>> _with_options("are these ms? say unit='ms'"), _with_options('as in zone="UTC" or zone="Europe/Berlin"')
    ('are these ms? say --unit ms', 'as in --zone UTC or --zone Europe/Berlin')
    """
    text = text.replace("scale=(low, high)", "--scale LOW HIGH")
    return re.sub(r"\b(unit|zone)=(['\"])(.*?)\2", r"--\1 \3", text)


def _show(report: "Report") -> None:
    """Print the three answers."""
    from rich.console import Console
    from rich.padding import Padding
    from rich.text import Text

    from bestbefore.cli.tables import print_by_memory
    from bestbefore.replay.contents import many

    console = Console(highlight=False)

    def say(title: str, sentences: list[str]) -> None:
        console.print(title, style="bold")
        for sentence in sentences:
            console.print(Padding(Text(sentence), (0, 0, 0, 2)))
        console.print()

    say("What is in it", report.said())
    trade = report.trade
    say("What memory buys here", report.advice())
    console.print(f"  {trade.advice.code}\n", markup=False, style="bold green")
    print_by_memory(trade.play, f"Regret, mean over {many(trade.runs, 'run')}", ["keep", "pull"], "regret")
    digits: Any = "{:.2g}".format
    print_by_memory(trade.explore, f"Mean error, {many(trade.tests, 'pull')} an arm", ["keep"], "mean", shown=digits)
    _print_rows("Other windows", trade.windows)
    if trade.epsilons:
        _print_rows("Certified answers: pulls an arm, and how many an arm has", trade.epsilons)
    say("What it would have gained", [*(f"{one.title}: {one.text}" for one in report.gained()), *report.assumed])


def _print_rows(title: str, rows: list[dict[str, Any]]) -> None:
    """Print a small table."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD)
    for name in rows[0]:
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(*(_cell(name, value) for name, value in row.items()))
    console = Console()
    console.print(title, markup=False, highlight=False)
    console.print(table)


def _cell(name: str, value: Any) -> str:
    """Write a number as its column wants it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, float):
        return str(value)
    if name == "loses":
        return f"{value:.1%}"
    return f"{value:,.0f}" if name in ("regret", "pulls", "has", "slots") else f"{value:.4g}"


def _finite(value: Any) -> Any:
    """Return numbers that JSON has: what is none of them is null."""
    if isinstance(value, dict):
        return {name: _finite(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_finite(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
