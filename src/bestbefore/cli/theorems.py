"""`bestbefore theorems`: every theorem of the paper as an experiment, with a verdict."""

import json
import shutil
import sys
from typing import TYPE_CHECKING

import click

from bestbefore.cli.options import tell_of_compilation_of_all

if TYPE_CHECKING:
    from bestbefore.paper.finding import Finding


@click.command(short_help="Every theorem of the paper as an experiment.")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("-r", "--runs", type=int, help="Runs of each experiment.  [default: as many as it takes]")
@click.option("--seed", default=0, show_default=True, help="The same seed gives the same numbers.")
@click.option("--list", "only_list", is_flag=True, help="Print the names of the experiments, and what each is about.")
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON instead.")
@click.option("--markdown", is_flag=True, help="Print them as a table in Markdown instead.")
def theorems(
    names: tuple[str, ...], runs: int | None, seed: int, only_list: bool, as_json: bool, markdown: bool
) -> None:
    """Put every theorem of the paper to the test: what it says, what was measured, whether it holds.

    A NAME picks an experiment; without one, all are run.  The exit code is 1 unless every line holds; a line "cannot
    tell" where there were too few runs.

    \b
    bestbefore theorems                  all of them: a few minutes
    bestbefore theorems --list           what there is
    bestbefore theorems king stairs      two of them
    """
    if as_json and markdown:
        raise click.UsageError("--json and --markdown are two ways to print the same: choose one")
    from bestbefore.paper import theorems as experiments

    if only_list:
        listed = click.HelpFormatter(width=min(shutil.get_terminal_size().columns, 100))
        listed.write_dl([(name, (one.__doc__ or "").splitlines()[0]) for name, one in experiments.THEOREMS.items()])
        click.echo(listed.getvalue(), nl=False)
        return
    if sys.stderr.isatty():
        tell_of_compilation_of_all()
    findings = experiments.run(names or None, runs=runs, seed=seed)
    if as_json:
        click.echo(json.dumps([finding.to_dict() for finding in findings], indent=1))
    elif markdown:
        click.echo(_markdown(findings))
    else:
        _print(findings, experiments.CAVEAT)
    if not all(finding.holds for finding in findings):
        sys.exit(1)


def _print(findings: "list[Finding]", caveat: str) -> None:
    """Print a block for each finding: the statement, how it was tried, the number, the verdict."""
    from rich.console import Console
    from rich.table import Table as RichTable

    from bestbefore.paper.finding import short

    console = Console(width=None if sys.stdout.isatty() else 140)
    screen = RichTable(box=None, pad_edge=False, padding=(0, 2, 1, 0))
    for title, ratio in (("statement", 5), ("setting", 4), ("measured", 4)):
        screen.add_column(title, ratio=ratio)
    screen.add_column("99% interval", justify="right", no_wrap=True)
    screen.add_column("needed", justify="right", no_wrap=True)
    screen.add_column("verdict", no_wrap=True)
    for one in findings:
        colour = {"holds": "green", "cannot tell": "yellow"}.get(one.verdict, "bold red")
        screen.add_row(
            f"[bold]{one.theorem}[/]\n{one.statement}",
            one.setting,
            f"{one.measured}: [bold]{short(one.estimate)}[/]" + (f"\n[dim]{one.remark}[/]" if one.remark else ""),
            f"{short(one.low)} .. {short(one.high)}",
            f"{one.side}\n{short(one.bound)}",
            f"[{colour}]{one.verdict}[/]",
        )
    console.print(screen)
    hold = sum(finding.holds for finding in findings)
    console.print(f"{hold} of {len(findings)} lines hold.  {caveat}", highlight=False)


def _markdown(findings: "list[Finding]") -> str:
    """Return the findings as a table in Markdown."""
    from bestbefore.paper.finding import short

    lines = [
        "| theorem | statement | setting | measured | 99% interval | needed | verdict |",
        "|---|---|---|---|---|---|---|",
    ]
    for one in findings:
        measured = f"{one.measured}: **{short(one.estimate)}**" + (f" ({one.remark})" if one.remark else "")
        interval, needed = f"{short(one.low)} to {short(one.high)}", f"{one.side} {short(one.bound)}"
        cells = (f"`{one.theorem}`", one.statement, one.setting, measured, interval, needed, one.verdict)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)
