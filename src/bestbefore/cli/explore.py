"""`bestbefore explore`: how well the rules find the best valid arm, with how much memory."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bestbefore.rules import KEEP

if TYPE_CHECKING:
    from bestbefore.simulate import Table
    from bestbefore.streams import Stream

STREAMS = ("uniform", "two-level", "beta", "decreasing", "sawtooth", "constant")
STARS = (0.0, 0.25, 0.5, 0.75, 1.0)


class Listed(click.ParamType):  # type: ignore[type-arg]
    """A comma-separated list."""

    name = "list"

    def __init__(self, what: type) -> None:
        self.what = what

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> list[Any]:
        """Read the list, or say which part of it is no such thing."""
        if isinstance(value, list):
            return value
        try:
            return [self.what(part.strip()) for part in value.split(",")]
        except ValueError:
            self.fail(f"{value!r} is not a comma-separated list of whole numbers, such as 2,4,8", param, ctx)


@click.command()
@click.option("-n", "--arms", default=1000, show_default=True, help="Arms that arrive (n), in a synthetic stream.")
@click.option("-W", "--window", default=50, show_default=True, help="How many of the last arrivals are valid (W).")
@click.option(
    "-m",
    "--memory",
    type=Listed(int),
    help="Slots: one number or several, as in 2,4,8.  [default: 2,4,6,8,10,14,20; with --epsilon, ceil(3/epsilon)]",
)
@click.option(
    "-k",
    "--keep",
    type=Listed(str),
    default="bucket,topk,staircase",
    show_default=True,
    help=f"Keep rules, of {', '.join(KEEP)}.",
)
@click.option(
    "-s",
    "--stream",
    default="uniform",
    show_default=True,
    help=f"{', '.join(STREAMS)}, or a CSV file with a column 'mean', an arm a line.",
)
@click.option("-e", "--epsilon", type=float, help="The accuracy that pulls are for.  [default: 3/memory]")
@click.option("-d", "--delta", default=0.01, show_default=True, help="Probability that the guarantee fails.")
@click.option(
    "--guarantee",
    type=click.Choice(["weak", "strong", "anytime"]),
    default="strong",
    show_default=True,
    help="At one fixed time, at all of n times at once, or for ever: decides the pulls of each arm.",
)
@click.option("--pulls", type=int, help="Pull each arm so often instead.")
@click.option("--slack", type=float, help="How freely staircase passes over new arms.  [default: 1; with --epsilon, 0]")
@click.option(
    "--rewards",
    type=click.Choice(["bernoulli", "stars", "gaussian"]),
    default="bernoulli",
    show_default=True,
    help="0 or 1; five levels from 0 to 1; or normal around the mean.",
)
@click.option("--sigma", type=float, default=0.5, show_default=True, help="Standard deviation of Gaussian rewards.")
@click.option("-r", "--runs", default=10, show_default=True, help="Independent runs.")
@click.option("--seed", default=0, show_default=True, help="The same seed gives the same numbers.")
@click.option("-j", "--jobs", type=int, help="Runs at once.  [default: all cores]")
@click.option("--json", "as_json", is_flag=True, help="Print the whole table as JSON instead.")
@click.option("--csv", type=click.Path(dir_okay=False, path_type=Path), help="Write the whole table to this file.")
@click.option(
    "--plot", type=click.Path(dir_okay=False, path_type=Path), help="Draw error against memory: .png or .svg."
)
def explore(
    arms: int,
    window: int,
    memory: list[int] | None,
    keep: list[str],
    stream: str,
    rewards: str,
    sigma: float,
    as_json: bool,
    csv: Path | None,
    plot: Path | None,
    **settings: Any,
) -> None:
    """Show how well each keep rule finds the best valid arm, with how much memory.

    Every arm is pulled when it arrives; then the rule decides who stays in the slots.  The error at a time is the best
    valid mean less the mean of the arm that the rule would answer with.

    \b
    bestbefore explore                                   the paper's setting: uniform means, W = 50
    bestbefore explore --stream sawtooth --plot saw.png  means that fall and begin again
    bestbefore explore --epsilon 0.1 --keep bucket       Algorithm 1 with its guarantee
    """
    _check_files(csv, plot)
    if memory is None and settings["epsilon"] is None:
        memory = [2, 4, 6, 8, 10, 14, 20]
    from bestbefore import simulate

    source = _stream(stream, arms, window, rewards, sigma)
    _tell_of_compilation()
    table = simulate.explore(source, window, memory, keep, **settings)
    if as_json:
        click.echo(table.to_json(), nl=False)
    else:
        _print(table, source, window)
    if csv is not None:
        table.to_csv(csv)
    if plot is not None:
        from bestbefore.report.explore import plot_explore

        plot_explore(table, f"{source.name} stream of {source.length:,} arms, window {window:,}", plot)
    for path in (csv, plot):
        if path is not None:
            click.echo(f"written: {path}", err=as_json)


def _stream(name: str, arms: int, window: int, rewards: str, sigma: float) -> "Stream":
    """Make the stream that was asked for."""
    from bestbefore import streams

    if name in STREAMS:
        makers = {
            "uniform": lambda: streams.uniform(arms),
            "two-level": lambda: streams.two_level(arms, window),
            "beta": lambda: streams.beta(arms),
            "decreasing": lambda: streams.decreasing(arms),
            "sawtooth": lambda: streams.sawtooth(arms, period=2 * window),
            "constant": lambda: streams.constant(arms),
        }
        made = makers[name]()
    elif Path(name).suffix.lower() == ".csv":
        made = streams.from_csv(name)
    else:
        raise ValueError(f"stream must be one of {', '.join(STREAMS)}, or a .csv file, not {name!r}")
    if rewards == "gaussian":
        return made.gaussian(sigma)
    return made.rated(STARS) if rewards == "stars" else made


def _tell_of_compilation() -> None:
    """Say why the first run takes longer."""
    from bestbefore._jit import CACHE_FOLDER, compiled_before
    from bestbefore.simulate.kernel import explore_block

    if not compiled_before(explore_block):
        later = "later runs find them on disk" if CACHE_FOLDER else "no cache folder can be written, so each run does"
        click.echo(f"compiling the rules takes some 15 seconds; {later}", err=True)


def _check_files(csv: Path | None, plot: Path | None) -> None:
    """Complain before the work, not after it."""
    for path in (csv, plot):
        if path is not None and not path.parent.is_dir():
            raise ValueError(f"the folder of {str(path)!r} must be there")
    if plot is not None:
        _check_plot(plot)


def _check_plot(path: Path) -> None:
    if path.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise ValueError(f"plot must be a .png, .svg or .pdf file, not {str(path)!r}")
    try:
        import matplotlib  # noqa: F401
    except ModuleNotFoundError:
        raise ModuleNotFoundError("--plot needs matplotlib: pip install 'bestbefore[plot]'") from None


def _print(table: "Table", stream: "Stream", window: int) -> None:
    """Print mean and worst error for each memory and rule; the least mean at a memory stands out."""
    from rich import box
    from rich.console import Console
    from rich.table import Table as Screen

    keeps, memories = (list(dict.fromkeys(table[column].tolist())) for column in ("keep", "memory"))
    runs = len(set(table["run"].tolist()))
    screen = Screen(
        title=f"Error of the answer: mean over all times (worst)\n{stream.name} stream of {stream.length:,} arms, "
        f"window {window:,}, {runs} run{'s' * (runs > 1)}",
        box=box.SIMPLE_HEAD,
    )
    cells = {(row["keep"], row["memory"]): row for row in table.summary(["keep", "memory"], ["mean", "max", "pulls"])}
    console = Console()
    wide = console.width >= 26 + sum(max(len(keep), 14) + 3 for keep in keeps)
    for column in ("memory", "pulls per arm", *(keeps if wide else ["keep", "error"])):
        screen.add_column(column, justify="left" if column == "keep" else "right", no_wrap=True)
    for memory in memories:
        rows = [cells[keep, memory] for keep in keeps]
        pulls = [f"{row['pulls'] / stream.length:,.0f}" for row in rows]
        least = min(row["mean"] for row in rows)
        errors = [f"{row['mean']:.4f} ({row['max_high']:.3f})" for row in rows]
        marked = [f"[bold green]{e}[/]" if row["mean"] == least else e for e, row in zip(errors, rows, strict=True)]
        if wide:  # king spends its pulls in its own way: the column is that of the others
            others = [p for p, keep in zip(pulls, keeps, strict=True) if keep != "king"]
            screen.add_row(f"{memory}", (others or pulls)[0], *marked)
        else:
            for place, row in enumerate(zip(pulls, keeps, marked, strict=True)):
                screen.add_row("" if place else f"{memory}", *row)
    console.print(screen)
