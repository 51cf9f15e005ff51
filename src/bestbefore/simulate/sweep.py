"""A grid: all combinations of windows, arms, epsilons, memories and rules, in one table.

>>> from bestbefore import streams
>>> table = grid("explore", streams.uniform, window=[5, 10], arms=[30, 60], memory=[2, 4], keep="fifo", tests=9, runs=1)
>>> len(table), table.rows[0]["window"], table.rows[-1]["arms"], set(table["pulls"] / table["arms"]) == {9.0}
(8, 5, 60, True)
"""

import inspect
import itertools
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

import numpy as np

from bestbefore.arguments import one_of
from bestbefore.clock import Length, said, window_of
from bestbefore.simulate.apart import Do
from bestbefore.simulate.epochs import play, play_pieces
from bestbefore.simulate.exploration import explore, explore_pieces
from bestbefore.simulate.parallel import Piece, run_all
from bestbefore.simulate.seeking import seek, seek_pieces
from bestbefore.simulate.table import Row, Table
from bestbefore.streams import Stream, as_stream

TASKS: Final[Mapping[str, tuple[Callable[..., Any], Callable[..., Sequence[Piece[Row]]]]]] = {
    "explore": (explore, explore_pieces),
    "play": (play, play_pieces),
    "seek": (seek, seek_pieces),
}
"""What can be swept: the function that has the arguments and their defaults, and the one that makes the pieces."""

WITHIN: Final = {"explore": ("memory", "keep"), "play": ("memory", "keep", "pull"), "seek": ("memory", "strategy")}
"""Arguments of which a task takes several by itself, each with a column of its own."""

NOT_SWEPT: Final = ("runs", "seed", "jobs", "progress", "budgets")
"""Arguments that are the same for all points of a grid."""


def grid(
    task: str,
    stream: Stream | Iterable[float] | Callable[..., Stream],
    *,
    arms: int | Sequence[int] | None = None,
    jobs: int | None = None,
    progress: bool | None = None,
    executor: Executor | None = None,
    **settings: Any,
) -> Table:
    """Run "explore", "play" or "seek" at each point of a grid; return one table of all rows, in order.

    `settings` are arguments of `simulate.explore`, `play` or `seek`.  Any of them
    but `budgets`, `runs` and `seed` may be a list, such as `window=[20, 50]` or `epsilon=[0.1, 0.2]`; each that is one
    has a column of its own in the table.  `stream` may be a
    function that makes a stream of so many arms: it is called with `arms`, one number or a list, and with `window` if
    it names that, as `streams.two_level` does.

    `executor` is any executor of `concurrent.futures`: a pool of processes, or `client.get_executor()` of a Dask
    cluster, which is how a sweep outgrows a machine.  Without one, all cores of this machine are used.  Rows depend on
    seed and run alone, so they are the same everywhere.  On Ctrl-C an executor finishes the pieces that it has begun.

    One progress bar tells of all of it.  A point that cannot be run is an error before anything is.

    Parameters
    ----------
    task
        "explore", "play" or "seek".
    stream
        A stream, the means of arms, or a function that makes a stream of so many arms.
    arms
        How many arms such a function is to make: a number, or several.
    jobs
        How many threads or processes work at once; unless given, one for each core.
    progress
        Whether to show a progress bar; unless given, if standard error is a terminal.
    executor
        Any executor of `concurrent.futures`; unless given, this machine's cores.
    settings
        Arguments of the task; each that is a list is an axis of the grid.
    """
    function, make_pieces = TASKS[one_of("task", task, TASKS)]
    stream = stream if callable(stream) else as_stream(stream)
    defaults = {
        name: parameter.default
        for name, parameter in inspect.signature(function).parameters.items()
        if name not in ("stream", "jobs", "progress")
    }
    for name in settings:
        one_of("settings", name, defaults)
    within = (*WITHIN[task], *NOT_SWEPT)
    axes = {name: _listed(value) for name, value in settings.items() if name not in within and _is_listed(value)}
    if arms is not None:
        axes = {"arms": _listed(arms) if _is_listed(arms) else [arms]} | axes
    for name, values in axes.items():
        _check_axis(name, values)
    shown = [name for name in axes if name != "arms" or _is_listed(arms)]
    pieces: list[_Point] = []
    for corner in itertools.product(*axes.values()):
        point = dict(zip(axes, corner, strict=True))
        chosen = defaults | settings | {name: value for name, value in point.items() if name != "arms"}
        made = _stream_of(stream, point.get("arms"), chosen["window"])
        columns = {name: _shown(point[name]) for name in shown}
        pieces += [_Point(columns, piece) for piece in make_pieces(made, **chosen)]
    return Table(run_all(pieces, jobs=jobs, label=f"{task} grid", progress=progress, executor=executor))


@dataclass(frozen=True)
class _Point:
    """A piece of work at a point of the grid."""

    columns: Row
    piece: Piece[Row]

    def measure(self, stop: threading.Event, do: Do) -> Row:
        """Do the piece, and return its row with the columns of the point."""
        return self.columns | self.piece.measure(stop, do)


def _shown(value: Any) -> Any:
    """Return a value as it stands in a table: a time as a text."""
    return said(window_of(value)) if isinstance(value, timedelta) else value


def _is_listed(value: Any) -> bool:
    return isinstance(value, (list, tuple, range, np.ndarray))


def _listed(values: Any) -> list[Any]:
    return values.tolist() if isinstance(values, np.ndarray) else list(values)


def _check_axis(name: str, values: list[Any]) -> None:
    if not values:
        raise ValueError(f"{name} must have at least one value, not []")
    for value in values:
        if values.count(value) > 1:
            raise ValueError(f"{name} must name each value once, not {value!r} {values.count(value)} times")


def _stream_of(
    stream: Stream | Iterable[float] | Callable[..., Stream], arms: int | None, window: Length
) -> Stream | Iterable[float]:
    """Return the stream of a point."""
    if not callable(stream):
        if arms is not None:
            raise ValueError(f"arms must be left out where stream is no function that makes one, not {arms!r}")
        return stream
    names = inspect.signature(stream).parameters
    told = {"arms": arms, "window": window}
    return stream(**{name: value for name, value in told.items() if name in names and value is not None})
