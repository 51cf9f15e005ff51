"""A log read by pyarrow: millions of rows in seconds, where nothing is wrong with them.

pyarrow cannot say well what is wrong, nor in which line.  So where it stumbles (a number that is none, a time of
another kind, a reward out of range) `Stumbled` is raised, and the log is read again row by row, which either finds the
first bad line or can read what pyarrow could not.
"""

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np

from bestbefore.arguments import MOST
from bestbefore.streams.arrivals import NO_TIMES, Ints
from bestbefore.streams.log_cells import UNITS, Cells, Malformed, Reading
from bestbefore.streams.log_rows import (
    NOTHING,
    ROWS,
    Advance,
    Batch,
    columns_of_frame,
    from_rows,
    is_zipped,
    piece_of,
    separator,
)
from bestbefore.streams.stream import Floats

BLOCK: Final = 2**23
"""Bytes of a CSV file that are read at once."""


class Stumbled(Exception):
    """Something is not as it should be; read it row by row."""


def installed() -> bool:
    """Tell whether pyarrow is here."""
    return importlib.util.find_spec("pyarrow") is not None


def from_csv_file(path: Path, header: list[str], reading: Reading, advance: Advance) -> Iterator[Batch]:
    """Read a CSV file, the cells as text at first."""
    import pyarrow as pa
    from pyarrow import csv

    chosen = list(dict.fromkeys(reading.columns.chosen))
    if any(name != name.strip() for name in header):
        raise Stumbled
    size, cells = max(path.stat().st_size, 1), Cells(reading)
    try:
        with pa.OSFile(str(path)) as file:
            batches = csv.open_csv(
                pa.CompressedInputStream(file, "gzip") if is_zipped(path) else file,
                read_options=csv.ReadOptions(block_size=BLOCK),
                parse_options=csv.ParseOptions(delimiter=separator(path), newlines_in_values=True),
                convert_options=csv.ConvertOptions(
                    include_columns=chosen,
                    column_types=dict.fromkeys(chosen, pa.string()),
                    strings_can_be_null=False,
                    null_values=[],
                ),
            )
            for batch in batches:
                if batch.num_rows:
                    yield _batch(batch, reading, cells, text=True)
                    advance(min(file.tell() / size, 1.0))
    except (pa.ArrowException, OSError) as wrong:
        raise Stumbled from wrong


def from_parquet_file(path: Path, reading: Reading, advance: Advance) -> Iterator[Batch]:
    """Read a Parquet file, fast."""
    import pyarrow as pa

    read, cells = 0, Cells(reading)
    try:
        with _parquet(path, reading) as file:
            total = max(file.metadata.num_rows, 1)
            for batch in file.iter_batches(ROWS, columns=list(dict.fromkeys(reading.columns.chosen))):
                yield _batch(batch, reading, cells)
                read += batch.num_rows
                advance(read / total)
    except pa.ArrowException as wrong:
        raise Stumbled from wrong


def rows_of_parquet_file(path: Path, reading: Reading, advance: Advance) -> Iterator[Batch]:
    """Read a Parquet file row by row."""
    with _parquet(path, reading) as file:
        total = max(file.metadata.num_rows, 1)

        def numbered() -> Iterator[tuple[int, Any]]:
            line = 0
            for batch in file.iter_batches(ROWS, columns=list(dict.fromkeys(reading.columns.chosen))):
                for row in batch.to_pylist():
                    line += 1
                    yield line, row
                advance(line / total)

        yield from from_rows(numbered(), reading)


def _parquet(path: Path, reading: Reading) -> Any:
    """Open a Parquet file that has the columns."""
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ModuleNotFoundError:
        raise ModuleNotFoundError("a Parquet file needs pyarrow: pip install 'bestbefore[log]'") from None
    try:
        file = parquet.ParquetFile(path)
    except pa.ArrowException as wrong:
        raise ValueError(f"{path} is not a Parquet file: {wrong}") from None
    names = file.schema_arrow.names
    for column in reading.columns.chosen:
        if column not in names:
            raise ValueError(f"{path}: a column must be called {column!r}; columns are {', '.join(names)}")
    return file


def from_frame(frame: Any, reading: Reading, advance: Advance) -> Iterator[Batch]:
    """Read a DataFrame of pandas or Polars."""
    import pyarrow as pa

    columns_of_frame(frame, reading)
    chosen, rows, cells = list(dict.fromkeys(reading.columns.chosen)), len(frame), Cells(reading)
    try:
        for start in range(0, rows, ROWS):
            part = piece_of(frame, chosen, start)
            table = pa.Table.from_pandas(part, preserve_index=False) if hasattr(part, "iloc") else part.to_arrow()
            for batch in table.combine_chunks().to_batches():
                yield _batch(batch, reading, cells)
            advance(min(start + ROWS, rows) / rows)
    except pa.ArrowException as wrong:
        raise Stumbled from wrong


def _batch(batch: Any, reading: Reading, cells: Cells, *, text: bool = False) -> Batch:
    """Return a batch of arrays from one of Arrow."""
    import pyarrow as pa

    columns, (low, high) = reading.columns, reading.scale
    if any(batch.column(batch.schema.get_field_index(column)).null_count for column in columns.chosen):
        raise Stumbled
    arms = batch.column(columns.arm)
    if pa.types.is_floating(arms.type):
        raise Stumbled
    coded = arms if pa.types.is_dictionary(arms.type) else arms.dictionary_encode()
    names = coded.dictionary.to_pylist()
    if any(isinstance(name, str) and not name.strip() for name in names):
        raise Stumbled
    rewards = _numbers(batch.column(columns.reward), text=text)
    if not ((rewards >= low) & (rewards <= high)).all():
        raise Stumbled
    times = _times(batch.column(columns.time), reading, cells)
    arrived = NO_TIMES if columns.arrived is None else _times(batch.column(columns.arrived), reading, cells)
    chances = NOTHING if columns.chance is None else _numbers(batch.column(columns.chance), text=text)
    if not ((chances > 0) & (chances <= 1)).all():
        raise Stumbled
    codes = coded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    return Batch(names, codes, (rewards - low) / (high - low), times, arrived, chances)


def _numbers(column: Any, *, text: bool) -> Floats:
    """Return numbers, if they are."""
    import pyarrow as pa

    kind = column.type
    if not (text or pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)):
        raise Stumbled
    found: Floats = column.cast(pa.float64()).to_numpy(zero_copy_only=False)
    return found


def _times(column: Any, reading: Reading, cells: Cells) -> Ints:
    """Return microseconds, of numbers or dates."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        column = _parsed(column, cells)
        kind = column.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        seconds = column.cast(pa.float64()).to_numpy(zero_copy_only=False) / UNITS[reading.unit]
        if not ((seconds >= 0) & (seconds < MOST / 1e6)).all():
            raise Stumbled
        found: Ints = np.rint(seconds * 1e6).astype(np.int64)
        return found
    if not pa.types.is_timestamp(kind):
        raise Stumbled
    if kind.tz is None:
        if reading.zone is None:
            raise Stumbled
        column = pc.assume_timezone(column, reading.zone.key, ambiguous="raise", nonexistent="raise")
    micros: Ints = column.cast(pa.timestamp("us", "UTC"), safe=False).cast(pa.int64()).to_numpy(zero_copy_only=False)
    if not ((micros >= 0) & (micros < MOST)).all():
        raise Stumbled
    return micros


def _parsed(column: Any, cells: Cells) -> Any:
    """Return text as numbers or dates, all of the kind that the first of the log is of."""
    import pyarrow as pa

    try:
        cells.time(1, column[0].as_py(), "time")
    except Malformed:
        raise Stumbled from None
    if cells.kind == "number":
        return column.cast(pa.float64())
    return column.cast(pa.timestamp("us", "UTC" if cells.kind == "with a time zone" else None))
