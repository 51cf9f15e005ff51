"""What the commands share: lists as options, streams by name, files that are checked before the work."""

from collections.abc import Callable
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bestbefore import plan
from bestbefore.clock import Length, window_of

if TYPE_CHECKING:
    from bestbefore.simulate import Table
    from bestbefore.streams import Arrivals, Stream

STREAMS = ("uniform", "two-level", "beta", "decreasing", "sawtooth", "constant")
MOVIELENS: dict[str, dict[str, Any]] = {
    f"movielens{dataset}{order}": {"dataset": dataset[1:] or "1m", "order": order[1:] or "permuted"}
    for dataset in ("", "-100k", "-latest-small")
    for order in ("", "-first-rating", "-release-year")
}
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


class WindowOption(click.ParamType):  # type: ignore[type-arg]
    """A number of arrivals, or a time."""

    name = "count or time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Length:
        """Read a whole number, or a time such as 24h."""
        try:
            return int(value)
        except ValueError:
            window_of(value)
            return str(value)


window_option = click.option(
    "-W",
    "--window",
    type=WindowOption(),
    default=plan.WINDOW,
    show_default=True,
    help="How many of the last are valid (W); or for how long an arm is: 24h, '30 days'.",
)
most_option = click.option("--most", type=int, help="How many arms may be valid at once, with a window by time.")


def is_by_time(window: Length) -> bool:
    """Say whether a window is by time."""
    return window_of(window).by_time


def shown(window: Length) -> str:
    """Return a window as it stands in a title.

    >>> shown(5000), shown("24h")
    ('5,000', '24h')
    """
    return f"{window:,}" if isinstance(window, int) else str(window)


def memories_up_to(window: Length) -> list[int]:
    """Return a tenth of the window, and so on up to all of it; by time, 5 to 20, since nobody knows what it holds.

    >>> memories_up_to(50), memories_up_to("24h")
    ([5, 10, 15, 20, 30, 40, 50], [5, 10, 20])
    """
    if not isinstance(window, int):
        return [5, 10, 20]
    return sorted({max(1, round(window * tenth / 10)) for tenth in (1, 2, 3, 4, 6, 8, 10)})


memory_option = click.option(
    "-m",
    "--memory",
    type=Listed(int),
    help="Slots: one number or several, as in 5,20,50.  [default: a tenth of the window up to all of it, in steps; "
    "with a window by time, 5,10,20]",
)
"""The option of the commands that measure regret."""


def make_arrivals(text: str) -> "Arrivals":
    """Make the arrival process that was asked for."""
    from bestbefore import streams

    name, _, settings = text.partition(":")
    if name == "poisson" and settings:
        return streams.poisson(settings)
    if name == "day-and-night" and settings:
        return streams.day_and_night(settings)
    size, comma, quiet = settings.partition(",")
    if name == "bursts" and comma and size.strip().isdecimal():
        return streams.bursts(int(size), quiet)
    raise ValueError(f"arrivals must be as in poisson:10/h, day-and-night:10/h or bursts:20,1h, not {text!r}")


def make_stream(
    name: str, arms: int, window: Length, rewards: str, sigma: float | None, arrivals: str | None = None
) -> "Stream":
    """Make the stream that was asked for; arms of a CSV file and of MovieLens may know when they arrive."""
    span, process = window_of(window), None if arrivals is None else make_arrivals(arrivals)
    usual = max(round(span.length / process.gap), 1) if process is not None and span.by_time else span.length
    if name in STREAMS and span.by_time and process is None:
        raise ValueError(f"--arrivals must say when arms arrive, as in poisson:10/h, with the window {window!r}")
    made = _without_times(name, arms, usual, rewards, sigma)
    if process is not None:
        return made.at(process)
    if span.by_time and not made.timed:
        raise ValueError(
            f"the stream {name!r} has no times: with the window {window!r} it needs --arrivals, as in poisson:10/h"
        )
    return made


def _without_times(name: str, arms: int, window: int, rewards: str, sigma: float | None) -> "Stream":
    """Make the arms that were asked for; a window has about `window` of them."""
    from bestbefore import streams

    if sigma is not None and rewards != "gaussian":
        raise ValueError(f"sigma is for --rewards gaussian only, not {rewards}")
    known = f"one of {', '.join((*STREAMS, *MOVIELENS))}, or a .csv file"
    if name in STREAMS:
        makers: dict[str, Callable[[], Stream]] = {
            "uniform": lambda: streams.uniform(arms),
            "two-level": lambda: streams.two_level(arms, window),
            "beta": lambda: streams.beta(arms),
            "decreasing": lambda: streams.decreasing(arms),
            "sawtooth": lambda: streams.sawtooth(arms, period=2 * window),
            "constant": lambda: streams.constant(arms),
        }
        made = makers[name]()
    elif name in MOVIELENS:
        made = streams.movielens(**MOVIELENS[name], arms=arms)
    elif Path(name).suffix.lower() == ".csv":
        if not Path(name).exists():
            raise ValueError(f"stream must be {known}, and there is no file {name!r}")
        made = streams.from_csv(name)
    else:
        raise ValueError(f"stream must be {known}, not {name!r}")
    if rewards == "gaussian":
        return made.gaussian(0.5 if sigma is None else sigma)
    return made.rated(STARS) if rewards == "stars" else made


def check_files(csv: Path | None, plot: Path | None) -> None:
    """Complain before the work, not after it."""
    for path in (csv, plot):
        if path is not None and not path.parent.is_dir():
            raise ValueError(f"the folder of {str(path)!r} must be there")
    if plot is None:
        return
    from bestbefore.style import check_ending

    try:
        check_ending("plot", plot)
    except ModuleNotFoundError:
        raise ModuleNotFoundError("--plot needs matplotlib: pip install 'bestbefore[plot]'") from None


def deliver(
    table: "Table",
    as_json: bool,
    csv: Path | None,
    plot: Path | None,
    show: Callable[[], None],
    draw: Callable[[Path], None],
) -> None:
    """Print the result first, so that nothing is lost, and then write the files that were asked for."""
    if as_json:
        click.echo(table.to_json(), nl=False)
    else:
        show()
    if csv is not None:
        table.to_csv(csv)
    if plot is not None:
        draw(plot)
    for path in (csv, plot):
        if path is not None:
            click.echo(f"written: {path}", err=as_json)


def tell_of_compilation(*loops: Callable[..., Any]) -> None:
    """Say why the first run takes longer, if any of these loops is still to be compiled.

    Measured on a shared core: `explore` 24 s, `play` 36 s, `seek` 27 s; and less after another of them, since they
    have the keep rules in common.
    """
    from bestbefore._jit import CACHE_FOLDER, compiled_before

    missing = [loop for loop in loops if not compiled_before(loop)]
    if missing:
        long = "about half a minute" if len(missing) == 1 else "a minute or two"
        later = "later runs find them on disk" if CACHE_FOLDER else "no cache folder can be written, so each run does"
        click.echo(f"compiling the rules takes {long}; {later}", err=True)


def tell_of_compilation_of_all() -> None:
    """Say so of all loops, for commands that run everything."""
    from bestbefore.simulate.explore_loop import explore_block
    from bestbefore.simulate.play_loop import play_block
    from bestbefore.simulate.seek_loop import seek_block

    tell_of_compilation(explore_block, play_block, seek_block)


def stream_options(delta: float) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add the options that say which arms arrive, how often it is tried, and where the result goes."""
    path = click.Path(dir_okay=False, path_type=Path)
    options = [
        click.option("-n", "--arms", default=1000, show_default=True, help="Arms that arrive (n), unless from a file."),
        window_option,
        click.option(
            "--arrivals",
            help="When arms arrive, for a window by time: poisson:10/h, day-and-night:10/h, or bursts:20,1h for 20 at "
            "once and then about an hour of quiet.  [default: as a CSV file or movielens-first-rating says]",
        ),
        click.option(
            "-s",
            "--stream",
            default="uniform",
            show_default=True,
            help=f"{', '.join(STREAMS)}; movielens, movielens-100k or movielens-latest-small, in random order, or with "
            "-first-rating or -release-year behind it; or a CSV file, an arm a line, with a column 'mean', or with "
            "columns that are called by levels, such as 0,0.5,1, and say how often the arm was rated so; and with a "
            "column 'time', in seconds or as a date, for a window by time.",
        ),
        click.option(
            "--rewards",
            type=click.Choice(["bernoulli", "stars", "gaussian"]),
            default="bernoulli",
            show_default=True,
            help="0 or 1, and of movies their ratings; five levels from 0 to 1; or normal around the mean.",
        ),
        click.option("--sigma", type=float, help="Deviation of Gaussian rewards.  [default: 0.5]"),
        click.option("-d", "--delta", default=delta, show_default=True, help="Probability that a guarantee fails."),
        click.option("-r", "--runs", default=10, show_default=True, help="Independent runs."),
        click.option("--seed", default=0, show_default=True, help="The same seed gives the same numbers."),
        click.option("-j", "--jobs", type=int, help="Runs at once.  [default: all cores]"),
        click.option("--json", "as_json", is_flag=True, help="Print the whole table as JSON instead."),
        click.option("--csv", type=path, help="Write the whole table to this file."),
        click.option("--plot", type=path, help="Draw the result against memory: .png, .svg, .pdf or others."),
    ]
    return lambda command: reduce(lambda made, option: option(made), reversed(options), command)
