"""Streams read from a file: CSV, an arm a line, in arrival order.

The first line names the columns.  Either one column is called `mean` (Bernoulli arms), or columns are called by rating
levels between 0 and 1, such as `0,0.25,0.5,0.75,1`, and hold how often the arm got each, as whole numbers.  A column
called `time` says when arms arrive, for windows by time: seconds, or dates such as `2026-03-01T12:30:00+01:00`.  Others
are passed over.
"""

import csv
import math
import os
from datetime import datetime
from pathlib import Path

from bestbefore.arguments import real
from bestbefore.clock import microseconds
from bestbefore.streams.stream import Stream, from_means, from_ratings


def from_csv(path: "str | os.PathLike[str]") -> Stream:
    """Read a stream from a CSV file; an error names the file and the line.

    Parameters
    ----------
    path
        The file.
    """
    path = Path(path)
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            lines = csv.reader(file, strict=True)
            header = [column.strip() for column in next(lines, [])]
            levels = [column for column in header if 0 <= _number(column) <= 1]
            scale = len(levels) >= 2 and len({float(level) for level in levels}) == len(levels)
            if not (scale and "mean" not in header) and not (header.count("mean") == 1 and not levels):
                raise ValueError(
                    f"{path}: line 1 must name the columns, such as mean: either one of that name, or two or more "
                    f"different levels between 0 and 1, not {header!r}"
                )
            places = [header.index(column) for column in levels or ["mean"]]
            if header.count("time") > 1:
                raise ValueError(f"{path}: line 1 must name one column time, not {header.count('time')}")
            when = header.index("time") if "time" in header else None
            rows: list[list[float]] = []
            times: list[float | datetime] = []
            for line in lines:
                if line:
                    rows.append(_row(lines.line_num, line, header, places, rated=bool(levels)))
                    if when is not None:
                        times.append(_time(lines.line_num, line[when], times))
    except _Malformed as wrong:
        raise ValueError(f"{path}, line {wrong.line}: {wrong.what}") from None
    except csv.Error as wrong:
        raise ValueError(f"{path}, line {lines.line_num}: {wrong}") from None
    except UnicodeDecodeError as wrong:
        raise ValueError(f"{path} is not a CSV file in UTF-8: {wrong}") from None
    if not rows:
        raise ValueError(f"{path} has no arms: a line for each is needed under the header")
    if levels:
        order = sorted(range(len(levels)), key=lambda column: float(levels[column]))
        counts = [[row[column] for column in order] for row in rows]
        made = from_ratings(counts, [float(levels[column]) for column in order], name=path.stem)
    else:
        made = from_means([row[0] for row in rows], name=path.stem)
    return made if when is None else made.at(times)


class _Malformed(Exception):
    def __init__(self, line: int, what: str) -> None:
        super().__init__(line, what)
        self.line, self.what = line, what


def _row(line: int, cells: list[str], header: list[str], places: list[int], *, rated: bool) -> list[float]:
    """Read the numbers of one arm."""
    if len(cells) != len(header):
        raise _Malformed(line, f"{len(header)} columns are needed, not {len(cells)}")
    numbers = [_number(cells[place]) for place in places]
    for place, number in zip(places, numbers, strict=True):
        if not (number >= 0 and number.is_integer() if rated else 0 <= number <= 1):
            allowed = "a count, a whole number of at least 0" if rated else "a number between 0 and 1"
            unnamed = "; line 1 must name the columns, such as mean" if 0 < number < 1 else ""
            raise _Malformed(line, f"{header[place]} must be {allowed}, not {cells[place]!r}{unnamed}")
    if rated and sum(numbers) == 0:
        raise _Malformed(line, "the arm has no rating")
    return numbers


def _time(line: int, cell: str, before: list[float | datetime]) -> float | datetime:
    """Read when an arm arrives, if that is not before the last one."""
    seconds = _number(cell)
    try:
        at = datetime.fromisoformat(cell.strip()) if math.isnan(seconds) else seconds
        now = microseconds("time", at)
    except ValueError:
        raise _Malformed(
            line, f"time must be seconds of at least 0, or a date such as 2026-03-01T12:30:00+01:00, not {cell!r}"
        ) from None
    if before and now < microseconds("time", before[-1]):
        raise _Malformed(line, f"time must not be earlier than in the line before, not {cell!r}")
    return at


def _number(text: str) -> float:
    """Read a number, or NaN."""
    try:
        return real(float(text))
    except ValueError:
        return float("nan")
