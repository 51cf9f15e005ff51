"""The rows of a log in batches, from whatever it is in: a CSV or Parquet file, a DataFrame, or anything with rows.

A batch has arrays, an element a row.  Rows are read one by one here, and an error names the line; `log_arrow` reads the
same much faster, where pyarrow is installed and nothing is wrong.
"""

import csv
import gzip
import io
import itertools
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from pathlib import Path
from typing import IO, Any, Final, NamedTuple, TextIO, cast

import numpy as np

from bestbefore.streams.arrivals import NO_TIMES, Ints
from bestbefore.streams.log_cells import Cells, Columns, Malformed, Reading
from bestbefore.streams.stream import Floats

ROWS: Final = 2**17
"""Rows of a batch: what is in memory of a log at once."""
NOTHING: Final[Floats] = np.zeros(0)
UNREADABLE: Final = (UnicodeDecodeError, gzip.BadGzipFile, EOFError, zlib.error)
"""What is raised where a file is not what its name says."""
BEGINNINGS: Final = {
    b"\x1f\x8b": "it is compressed; its name must end in .csv.gz",
    b"PK\x03\x04": "it is a ZIP archive or a spreadsheet; save what is in it as CSV",
    b"PAR1": "it is a Parquet file; its name must end in .parquet",
    b"\xff\xfe": "it is in UTF-16; save it in UTF-8",
    b"\xfe\xff": "it is in UTF-16; save it in UTF-8",
}
"""What files begin with that are something else."""
MARKS: Final = (";", "\t", "|")
"""What else may stand between the cells of a file."""


class Batch(NamedTuple):
    """Some rows: `codes` say which of `arms` a row is of; rewards are shares of the scale, times microseconds.

    `lines` are known only where rows are read one by one.
    """

    arms: list[Any]
    codes: Ints
    rewards: Floats
    times: Ints
    arrived: Ints = NO_TIMES
    chances: Floats = NOTHING
    lines: Ints = NO_TIMES


Advance = Callable[[float], None]
"""To be told which part of the log has been read."""


def from_rows(rows: Iterable[tuple[int, Any]], reading: Reading, places: Columns | None = None) -> Iterator[Batch]:
    """Read rows, each with its line; `places` are where the columns are in a row, unless that is their names."""
    columns, cells, at = reading.columns, Cells(reading), reading.columns if places is None else places
    numbered = iter(rows)
    while chunk := list(itertools.islice(numbered, ROWS)):
        known: dict[Any, int] = {}
        codes, rewards, times, arrived, chances = [], [], [], [], []
        for line, row in chunk:
            name = cells.arm(line, _cell(line, row, at.arm))
            codes.append(known.setdefault(name, len(known)))
            rewards.append(cells.reward(line, _cell(line, row, at.reward)))
            times.append(cells.time(line, _cell(line, row, at.time), columns.time))
            if columns.arrived is not None:
                arrived.append(cells.time(line, _cell(line, row, at.arrived), columns.arrived))
            if columns.chance is not None:
                chances.append(cells.chance(line, _cell(line, row, at.chance)))
        whole = [np.array(numbers, np.int64) for numbers in (codes, times, arrived, [line for line, _ in chunk])]
        shares = np.array(rewards), np.array(chances, np.float64)
        yield Batch(list(known), whole[0], shares[0], whole[1], whole[2], shares[1], whole[3])


def _cell(line: int, row: Any, column: Any) -> Any:
    """Return a cell of a row, which is a mapping, a sequence, or an object with attributes."""
    try:
        if isinstance(row, Mapping) or isinstance(column, int):
            return row[column]
        return getattr(row, column)
    except (LookupError, AttributeError, TypeError):
        raise Malformed(line, f"there is no {column!r} in {row!r}") from None


def from_csv_file(path: Path, reading: Reading, advance: Advance) -> Iterator[Batch]:
    """Read a CSV file line by line."""
    size = max(path.stat().st_size, 1)
    with path.open("rb") as raw, text_of(path, raw) as file:
        lines = csv.reader(file, strict=True, delimiter=separator(path))
        header = next(lines, [])
        places = places_of(header, reading)

        begun = lines.line_num + 1

        def rows() -> Iterator[tuple[int, list[str]]]:
            nonlocal begun
            for row in lines:
                if row:
                    if len(row) != len(header):
                        raise Malformed(lines.line_num, f"{len(header)} columns are needed, not {len(row)}")
                    yield lines.line_num, row
                begun = lines.line_num + 1

        try:
            for batch in from_rows(rows(), reading, places):
                yield batch
                advance(raw.tell() / size)
        except csv.Error as wrong:
            if lines.line_num > begun or "end of data" in str(wrong):
                raise Malformed(begun, "a quote opens a cell here, and none closes it") from None
            raise Malformed(lines.line_num, str(wrong)) from None
        except UNREADABLE as wrong:
            raise unreadable(path, wrong) from None


def text_of(path: Path, raw: IO[bytes]) -> TextIO:
    """Return the text of a file that is open, which may be compressed."""
    found = gzip.GzipFile(fileobj=raw) if is_zipped(path) else raw
    return io.TextIOWrapper(cast(IO[bytes], found), encoding="utf-8-sig", newline="")


def unreadable(path: Path, wrong: Exception) -> Exception:
    """Say why a file cannot be read as CSV: what it is instead, or in which line."""
    with path.open("rb") as raw:
        start = raw.read(4)
        found = [what for begins, what in BEGINNINGS.items() if start.startswith(begins) and not is_zipped(path)]
        if isinstance(wrong, UnicodeDecodeError) and not found:
            raw.seek(0)
            for line, text in enumerate(gzip.GzipFile(fileobj=raw) if is_zipped(path) else raw, start=1):
                try:
                    text.decode("utf-8")
                except UnicodeDecodeError as here:
                    return Malformed(line, f"text must be in UTF-8, and the byte 0x{text[here.start]:02x} is not")
    return ValueError(f"{path} is not a CSV file in UTF-8: {found[0] if found else wrong}")


def is_zipped(path: Path) -> bool:
    """Tell by the name whether a file is compressed."""
    return path.suffix.lower() == ".gz"


def separator(path: Path) -> str:
    """Return what stands between the cells of a file."""
    return "\t" if ".tsv" in [suffix.lower() for suffix in path.suffixes[-2:]] else ","


def places_of(header: list[str], reading: Reading) -> Columns:
    """Return where the columns are in a header."""
    names = [name.strip() for name in header]
    if not names:
        raise Malformed(1, "the names of columns are needed, and the file is empty")
    for column in reading.columns.chosen:
        if names.count(column) != 1:
            many = "there is none" if column not in names else f"there are {names.count(column)}"
            marks = [mark for mark in MARKS if len(names) == 1 and mark in names[0]]
            raise Malformed(
                1,
                f"a column must be called {column!r}, and {many}; columns are {', '.join(names)}"
                + (f"; cells must have commas between them (in .tsv files tabs), not {marks[0]!r}" if marks else ""),
            )
    return Columns(*(None if column is None else names.index(column) for column in reading.columns))


def columns_of_frame(frame: Any, reading: Reading) -> None:
    """Complain of columns that a frame does not have."""
    names = list(frame.columns)
    for column in reading.columns.chosen:
        if column not in names:
            raise ValueError(f"a column must be called {column!r}; columns are {', '.join(map(str, names))}")


def is_frame(source: Any) -> bool:
    """Tell whether something is a DataFrame of pandas or of Polars."""
    return type(source).__name__ == "DataFrame" and type(source).__module__.partition(".")[0] in ("pandas", "polars")


def from_frame(frame: Any, reading: Reading, advance: Advance) -> Iterator[Batch]:
    """Read a DataFrame row by row."""
    columns_of_frame(frame, reading)
    chosen, rows = reading.columns.chosen, len(frame)

    def numbered() -> Iterator[tuple[int, Any]]:
        for start in range(0, rows, ROWS):
            part = piece_of(frame, chosen, start)
            lists = [part[column].to_list() for column in chosen]
            for line, cells in enumerate(zip(*lists, strict=True), start=start + 1):
                yield line, dict(zip(chosen, cells, strict=True))
            advance(min(start + ROWS, rows) / max(rows, 1))

    yield from from_rows(numbered(), reading)


def piece_of(frame: Any, columns: list[Any], start: int) -> Any:
    """Return some columns of the next rows of a frame."""
    chosen = list(dict.fromkeys(columns))
    if hasattr(frame, "iloc"):
        return frame.iloc[start : start + ROWS][chosen]
    return frame.slice(start, ROWS).select(chosen)


def from_iterable(source: Iterable[Any], reading: Reading, advance: Advance) -> Iterator[Batch]:
    """Read anything that yields rows."""
    total = len(source) if isinstance(source, Sized) else 0
    read = 0
    for batch in from_rows(enumerate(source, start=1), reading):
        yield batch
        read += batch.codes.size
        advance(read / total if total else 0.0)
