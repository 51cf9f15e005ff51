"""A log becomes a stream: rows that say which arm was shown, what it earned, and when.

An arm arrives with its first row, or when the log says that it arrived; a pull draws one of the arm's own logged
rewards.  Whatever the log is in, it is read in pieces, and memory grows with its arms, not with its rows.

>>> rows = [{"ad": "a", "click": 0, "at": 10}, {"ad": "b", "click": 1, "at": 70}, {"ad": "a", "click": 1, "at": 90}]
>>> stream = from_log(rows, arm="ad", reward="click", time="at")
>>> block = next(stream.blocks(np.random.default_rng(0)))
>>> block.means.tolist(), block.times.tolist(), stream.timed
([0.5, 1.0], [10000000, 70000000], True)
>>> from_log([{"ad": "a", "stars": 4, "at": 9}], arm="ad", reward="stars", time="at")
Traceback (most recent call last):
ValueError: rows, row 1: stars must lie between 0 and 1, not 4; if rewards have another range, say it: scale=(low, high)
"""

import csv
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final
from zoneinfo import ZoneInfo

import numpy as np

from bestbefore.arguments import whole
from bestbefore.progress import progress_bar
from bestbefore.scale import UNIT, Scale
from bestbefore.streams import log_arrow
from bestbefore.streams.arrivals import Ints
from bestbefore.streams.log_arrow import Stumbled
from bestbefore.streams.log_cells import Columns, Malformed, NoProbability, NotDrawn, Reading, reading_of
from bestbefore.streams.log_rows import (
    UNREADABLE,
    Advance,
    Batch,
    from_csv_file,
    from_frame,
    from_iterable,
    is_frame,
    is_zipped,
    places_of,
    separator,
    text_of,
    unreadable,
)
from bestbefore.streams.log_tally import Tally, Unlined
from bestbefore.streams.stream import Arms, Floats, Stream, bernoulli, in_blocks, rated_arms

PARQUET: Final = (".parquet", ".pq")
STEPS: Final = 100
"""Of a progress bar."""

Visit = Callable[[Batch], None]


@dataclass(frozen=True)
class Log:
    """What a log says of its arms, which are in the order of their arrival; times are microseconds.

    `rows` are the rows of each arm, `total` and `squares` the sums of its rewards and of their squares, as shares of
    the scale; `counts` say how often it had each of `levels`, exactly if `exact`.
    """

    name: str
    """What the log is called."""
    names: list[Any]
    """The arms, in the order of their arrival."""
    arrived: Ints
    """When each arrived, in microseconds."""
    last: Ints
    """When each was last shown."""
    rows: Ints
    """How many rows each has."""
    total: Floats
    """The sum of its rewards, as shares of the scale."""
    squares: Floats
    """The sum of their squares."""
    levels: Floats
    """The different rewards."""
    counts: Floats
    """How often each arm had each of them."""
    exact: bool
    """Whether levels are the rewards themselves, or near them."""
    scale: Scale
    """The range of rewards."""
    least: int
    """Arms with fewer rows are left out."""
    told: bool
    """Whether the log itself says when arms arrived."""
    source: Any = field(repr=False)
    """Where the rows come from."""
    reading: Reading = field(repr=False)
    """How they are read."""

    @property
    def kept(self) -> "np.typing.NDArray[np.bool_]":
        """Which arms have enough rows to mean anything."""
        return self.rows >= self.least

    @property
    def left_out(self) -> int:
        """How many arms have fewer rows than `least`."""
        return int((~self.kept).sum())

    @cached_property
    def arms(self) -> Arms:
        """The arms with enough rows, as a stream has them."""
        kept = self.kept
        if self.levels.size == 2:
            made = bernoulli(self.total[kept] / self.rows[kept])
        else:
            made = rated_arms(self.counts[kept], self.levels)
        return made._replace(times=self.arrived[kept])

    @property
    def stream(self) -> Stream:
        """The arms with enough rows, as a stream."""
        arms = self.arms
        return Stream(self.name, arms.means.size, lambda rng: in_blocks(arms), timed=True)

    def again(self, visit: Visit, *, chance: Any = None, label: str = "reading", progress: bool | None = None) -> None:
        """Read the log once more: `visit` has each batch, its codes being the places of arms here.

        `chance` is a column of probabilities to be read, too.  Rows that can be had only once cannot be read again.

        Parameters
        ----------
        visit
            Called with each batch of rows.
        chance
            A column of probabilities to be read, too.
        label
            What the progress bar says.
        progress
            Whether to show a progress bar; unless given, if standard error is a terminal.
        """
        if isinstance(self.source, Iterator):
            raise ValueError("the log must be a file, a DataFrame or a list for this, not an iterator: it is used up")
        places = {name: place for place, name in enumerate(self.names)}

        def translated(batch: Batch) -> None:
            own = np.array([places[name] for name in batch.arms], np.int64)
            visit(batch._replace(arms=[], codes=own[batch.codes]))

        columns = self.reading.columns._replace(chance=chance)
        reading = reading_of(columns, self.reading.scale, self.reading.unit, self.reading.zone)
        read_all(self.source, reading, lambda: translated, label, progress)


def from_log(
    source: Any,
    arm: str | int,
    reward: str | int,
    time: str | int,
    arrived: str | int | None = None,
    *,
    scale: Any = UNIT,
    least: int = 1,
    unit: str = "s",
    zone: str | ZoneInfo | None = None,
    name: str | None = None,
    progress: bool | None = None,
) -> Stream:
    """Make a stream of a log: a CSV or Parquet file, a DataFrame of pandas or Polars, or anything that yields rows.

    A CSV file may be compressed (csv.gz), or have tabs instead of commas (tsv).

    `arm`, `reward`, `time` and `arrived` name its columns; of rows that are tuples, they are places.  An arm arrives at
    the time of its first row, or at `arrived`.  Rows need not be in order.

    `scale` is the range of rewards, (low, high): a reward outside is an error, and nothing is guessed.  Arms with fewer
    than `least` rows are left out.

    Times are dates, or numbers since 1970: `unit` is "s", "ms" or "us".  Dates without a time zone need a `zone`, such
    as "UTC"; where clocks were set back, the earlier of two times is meant.  All times must be alike.

    Up to 65 different rewards are counted as they are; beyond that, see `bestbefore.streams.log_tally`.  An error names
    the line.  pyarrow, if it is installed, reads ten times as fast, and is needed for Parquet: `bestbefore[log]`.

    Parameters
    ----------
    source
        A CSV or Parquet file, a DataFrame of pandas or Polars, or anything that yields rows.
    arm
        The column with the arm's name, or its place in a tuple.
    reward
        The column with the reward.
    time
        The column with the time of the row.
    arrived
        The column that says when the arm arrived; unless given, it arrives with its first row.
    scale
        (low, high): the range of rewards; one outside is an error.
    least
        Arms with fewer rows are left out.
    unit
        Of times that are numbers: "s", "ms" or "us" since 1970.
    zone
        The time zone of dates that name none.
    name
        What the stream is called in tables and figures.
    progress
        Whether to show a progress bar; unless given, if standard error is a terminal.
    """
    columns = Columns(arm, reward, time, arrived)
    settings: Any = {"scale": scale, "least": least, "unit": unit, "zone": zone, "name": name, "progress": progress}
    return read_log(source, columns, **settings).stream


def read_log(
    source: Any,
    columns: Columns,
    *,
    scale: Any = UNIT,
    least: int = 1,
    unit: str = "s",
    zone: str | ZoneInfo | None = None,
    name: str | None = None,
    progress: bool | None = None,
) -> Log:
    """Read what a log says of its arms; see `from_log`.

    Parameters
    ----------
    source
        As for `from_log`.
    columns
        Which column is what.
    scale
        (low, high): the range of rewards; one outside is an error.
    least
        Arms with fewer rows are left out.
    unit
        Of times that are numbers: "s", "ms" or "us" since 1970.
    zone
        The time zone of dates that name none.
    name
        What the stream is called in tables and figures.
    progress
        Whether to show a progress bar; unless given, if standard error is a terminal.
    """
    least = whole("least", least)
    reading = reading_of(columns._replace(chance=None), scale, unit, zone)
    tally = Tally(columns)

    def begin() -> Visit:
        nonlocal tally
        tally = Tally(columns)
        return tally.add

    read_all(source, reading, begin, "reading", progress)
    called, size = name_of(source) if name is None else name, tally.arms
    if not size:
        raise ValueError(f"{called} has no rows")
    arrived = (tally.first if columns.arrived is None else tally.arrived)[:size]
    order = np.argsort(arrived, kind="stable")
    names = list(tally.numbers)
    if tally.of_arm[:size].max() < least:
        raise ValueError(
            f"least must be at most {tally.of_arm[:size].max()}, the most rows that an arm of {called} has, not {least}"
        )
    return Log(
        name=called,
        names=[names[place] for place in order],
        arrived=arrived[order],
        last=tally.last[order],
        rows=tally.of_arm[order],
        total=tally.total[order],
        squares=tally.squares[order],
        levels=tally.levels,
        counts=tally.counts[order],
        exact=tally.exact,
        scale=reading.scale,
        least=least,
        told=columns.arrived is not None,
        source=source,
        reading=reading,
    )


def name_of(source: Any) -> str:
    """Return what to call a log."""
    if not isinstance(source, (str, os.PathLike)):
        return "rows"
    path = Path(source)
    return (path.with_suffix("") if is_zipped(path) else path).stem


def read_all(source: Any, reading: Reading, begin: Callable[[], Visit], label: str, progress: bool | None) -> None:
    """Hand all batches of a log to what `begin` returns: it begins anew where the log has to be read again."""
    where, unit = (str(source), "line") if isinstance(source, (str, os.PathLike)) else ("rows", "row")
    if isinstance(source, (str, os.PathLike)) and Path(source).suffix.lower() in PARQUET:
        unit = "row"
    try:
        with _parts(label, progress) as bar:
            for attempt in _attempts(source, reading):
                visit = begin()
                try:
                    for batch in attempt(bar()):
                        visit(batch)
                except (Stumbled, Unlined):
                    continue
                return
    except Malformed as wrong:
        kind = NoProbability if isinstance(wrong, NotDrawn) else ValueError
        raise kind(f"{where}, {unit} {wrong.line}: {wrong.what}") from None
    raise ValueError(f"{where} cannot be read")


def _attempts(source: Any, reading: Reading) -> Iterator[Callable[[Advance], Iterator[Batch]]]:
    """Return the ways to read a source: fast if there is one, and then row by row."""
    if isinstance(source, (str, os.PathLike)):
        path = Path(source)
        if path.suffix.lower() in PARQUET:
            yield lambda advance: log_arrow.from_parquet_file(path, reading, advance)
            yield lambda advance: log_arrow.rows_of_parquet_file(path, reading, advance)
            return
        header = _header(path)
        places_of(header, reading)
        if log_arrow.installed():
            yield lambda advance: log_arrow.from_csv_file(path, header, reading, advance)
        yield lambda advance: from_csv_file(path, reading, advance)
    elif is_frame(source):
        if log_arrow.installed():
            yield lambda advance: log_arrow.from_frame(source, reading, advance)
        yield lambda advance: from_frame(source, reading, advance)
    elif isinstance(source, Iterable) and not isinstance(source, (bytes, dict)):
        yield lambda advance: from_iterable(source, reading, advance)
    else:
        raise ValueError(f"source must be a file, a DataFrame of pandas or Polars, or yield rows, not {source!r}")


def _header(path: Path) -> list[str]:
    """Read the names of the columns of a CSV file."""
    try:
        with path.open("rb") as raw, text_of(path, raw) as file:
            return next(csv.reader(file, delimiter=separator(path)), [])
    except UNREADABLE as wrong:
        raise unreadable(path, wrong) from None
    except csv.Error as wrong:
        raise Malformed(1, str(wrong)) from None


@contextmanager
def _parts(label: str, progress: bool | None) -> Iterator[Callable[[], Advance]]:
    """Give a progress bar that is told which part of the work is done, and can begin anew."""
    with progress_bar(label, STEPS, progress) as advance:
        shown = 0

        def begin() -> Advance:
            def told(part: float) -> None:
                nonlocal shown
                for _ in range(int(part * STEPS) - shown):
                    advance()
                shown = max(shown, int(part * STEPS))

            return told

        yield begin
