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
    if plot is not None:
        _check_plot(plot)
    if memory is None and settings["epsilon"] is None:
        memory = [2, 4, 6, 8, 10, 14, 20]
    from bestbefore import simulate

    source = _stream(stream, arms, window, rewards, sigma)
    _tell_of_compilation()
    table = simulate.explore(source, window, memory, keep, **settings)
    if csv is not None:
        table.to_csv(csv)
    if plot is not None:
        from bestbefore.report.explore import plot_explore

        plot_explore(table, f"{source.name} stream of {source.length:,} arms, window {window:,}", plot)
    if as_json:
        click.echo(table.to_json(), nl=False)
        return
    _print(table, source, window)
    for path in (csv, plot):
        if path is not None:
            click.echo(f"written: {path}")


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
    from bestbefore._jit import compiled_before
    from bestbefore.simulate.kernel import explore_block

    if not compiled_before(explore_block):
        click.echo("compiling the rules; this happens once and takes some 15 seconds", err=True)


def _check_plot(path: Path) -> None:
    """Complain before the work, not after it."""
    if path.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise ValueError(f"plot must be a .png, .svg or .pdf file, not {str(path)!r}")
    try:
        import matplotlib  # noqa: F401
    except ModuleNotFoundError:
        raise ModuleNotFoundError("--plot needs matplotlib: pip install 'bestbefore[plot]'") from None


def _print(table: "Table", stream: "Stream", window: int) -> None:
    """Print mean and worst error, a row a memory and a column a rule; the least mean of a row stands out."""
    from rich import box
    from rich.console import Console
    from rich.table import Table as Screen

    keeps = list(dict.fromkeys(table["keep"].tolist()))
    runs = len(set(table["run"].tolist()))
    screen = Screen(
        title=f"Error of the answer: mean over all times (worst)\n{stream.name} stream of {stream.length:,} arms, "
        f"window {window:,}, {runs} run{'s' * (runs > 1)}",
        box=box.SIMPLE_HEAD,
    )
    screen.add_column("memory", justify="right")
    screen.add_column("pulls per arm", justify="right")
    for keep in keeps:
        screen.add_column(keep, justify="right")
    cells = {(row["keep"], row["memory"]): row for row in table.summary(["keep", "memory"], ["mean", "max", "pulls"])}
    for memory in dict.fromkeys(table["memory"].tolist()):
        rows = [cells[keep, memory] for keep in keeps]
        least = min(row["mean"] for row in rows)
        errors = [f"{row['mean']:.4f} ({row['max_high']:.3f})" for row in rows]
        marked = [f"[bold green]{e}[/]" if row["mean"] == least else e for e, row in zip(errors, rows, strict=True)]
        pulls = max(row["pulls"] for row in rows) / stream.length
        screen.add_row(f"{memory}", f"{pulls:,.0f}", *marked)
    Console().print(screen)
