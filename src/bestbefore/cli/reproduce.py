"""`bestbefore reproduce`: every figure of the paper, ours beside theirs, with a verdict."""

import json
import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bestbefore.cli.options import tell_of_compilation_of_all

if TYPE_CHECKING:
    from bestbefore.paper.summary import Reproduction, Summary


@click.command(short_help="The whole paper: figures, theorems, a report.")
@click.option(
    "--only",
    metavar="PATTERN",
    help="Only panels with this in their names, such as regret, w50 or 'explore-*-n1000'; `theorems` for these.",
)
@click.option("--quick", is_flag=True, help="A quick look: 2 runs, at most 300 arms or so, no theorems.")
@click.option("-r", "--runs", type=int, help="Runs of each curve.  [default: 10, as in the paper; 2 if quick]")
@click.option(
    "--more-runs",
    type=int,
    metavar="N",
    help="Runs of a claim's curves where those of the figure cannot tell whether it holds, and of everlasting panels.  "
    "[default: 50, then 200, as far as they are cheap; none if quick]",
)
@click.option("--seed", default=0, show_default=True, help="The same seed gives the same numbers, on any machine.")
@click.option(
    "-o",
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("report"),
    show_default=True,
    help="The folder of the report, and of the results as they arrive.",
)
@click.option("-j", "--jobs", type=int, help="Processes at once.  [default: one for each core]")
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    help="Where MovieLens is: a folder or the .zip file.  [default: $BESTBEFORE_DATA, else it is downloaded]",
)
@click.option("--cluster", metavar="ADDRESS", help="Work on the Dask cluster with a scheduler at this address.")
@click.option(
    "--fresh",
    is_flag=True,
    help="Start over with the chosen panels, instead of going on where a stopped run has left off.",
)
@click.option("--list", "only_list", is_flag=True, help="Print the names of the panels, and run nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print the verdicts as JSON.")
def reproduce(
    only: str | None,
    quick: bool,
    runs: int | None,
    more_runs: int | None,
    seed: int,
    out: Path,
    data: Path | None,
    only_list: bool,
    as_json: bool,
    **work: Any,
) -> None:
    """Reproduce the paper: all of its figures in three readings, its theorems as experiments, and a report.

    Each panel is computed as the text describes it, as the authors' public code does it, and with our algorithms; a
    verdict says which claims stand.  Results are kept as they arrive: stopped by Ctrl-C, the same command goes on.

    \b
    bestbefore reproduce                            all of it, into report/index.html
    bestbefore reproduce --quick --out look         the same in little
    bestbefore reproduce --only regret              four or, with MovieLens, ten panels
    bestbefore reproduce --data ml-1m.zip           with MovieLens from a file
    """
    from bestbefore.paper import reproduce as paper

    panels, too = paper.chosen(only, quick=quick), paper.with_theorems(only, quick=quick)
    if only_list:
        click.echo("\n".join([panel.name for panel in panels] + [paper.THEOREMS] * too))
        return
    if not panels and not too:
        raise ValueError(f"only must be a part of a name of --list, or a pattern such as 'regret-*', not {only!r}")
    from bestbefore.paper.report.page import check_installed, write_report
    from bestbefore.paper.summary import summarise

    check_installed()

    if sys.stderr.isatty():
        click.echo("1 panel" if len(panels) == 1 else f"{len(panels)} panels", err=True)
        tell_of_compilation_of_all()
    repeats = (paper.QUICK_RUNS if quick else 10) if runs is None else runs
    more = 0 if quick and more_runs is None else more_runs
    done = paper.reproduce(panels, out, runs=repeats, more_runs=more, seed=seed, theorems_too=too, data=data, **work)
    done = replace(done, made={**done.made, "command": shlex.join(["bestbefore", *sys.argv[1:]])})
    if sys.stderr.isatty():
        click.echo(f"drawing figures: {len(done.panels)}", err=True)
    page = write_report(out, done, jobs=work["jobs"])
    summary = summarise(done)
    if as_json:
        click.echo(json.dumps(_as_dict(done, summary, page), indent=1))
    else:
        _print(done, summary, page)


def _as_dict(done: "Reproduction", summary: "Summary", page: Path) -> dict[str, Any]:
    """Return what a machine would read."""
    from bestbefore.paper.report.data import verdicts_as_data

    return {
        **verdicts_as_data(done, summary),
        "theorems": [finding.to_dict() for finding in done.findings],
        "left_out": dict(done.left_out),
        "made": dict(done.made),
        "report": str(page),
    }


def _print(done: "Reproduction", summary: "Summary", page: Path) -> None:
    """Print the summary, how many panels bear each claim out, and where the report is."""
    from rich import box
    from rich.console import Console
    from rich.table import Table as RichTable

    from bestbefore.paper import summary_words, words
    from bestbefore.paper.claims import claim

    console = Console(highlight=False, width=None if sys.stdout.isatty() else 110)
    console.print(summary_words.lead(summary)[0], "")
    if summary.tallies:
        screen = RichTable(box=box.SIMPLE_HEAD, title="Panels in which the paper's claims hold", title_justify="left")
        screen.add_column("claim")
        for title in ("as published", "as described"):
            screen.add_column(title, justify="right", no_wrap=True)
        for one in summary.tallies:
            screen.add_row(claim(one.claim).text, *map(words.of_votes, (one.published, one.described)))
        console.print(screen)
    for sentence in summary_words.advice(summary):
        console.print(f"- {sentence}")
    reasons: dict[str, list[str]] = {}
    for name, reason in done.left_out.items():
        reasons.setdefault(reason, []).append(name)
    for reason, names in reasons.items():
        panels = "1 panel" if len(names) == 1 else f"{len(names)} panels"
        console.print(f"\n[bold]Left out, {panels}:[/] {', '.join(names)}\n{reason}")
    console.print(f"\nThe report: {page}", soft_wrap=True)
