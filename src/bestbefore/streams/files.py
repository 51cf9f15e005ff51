"""Streams read from a file: CSV, an arm a line, in arrival order.

The first line names the columns.  Either one column is called `mean` (Bernoulli arms), or columns are called by rating
levels between 0 and 1, such as `0,0.25,0.5,0.75,1`, and hold how often the arm got each.  Others are passed over.
"""

import csv
import os
from pathlib import Path

from bestbefore.arguments import real
from bestbefore.streams.stream import Stream, from_means, from_ratings


def from_csv(path: "str | os.PathLike[str]") -> Stream:
    """Read a stream from a CSV file; an error names the file and the line."""
    path = Path(path)
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            lines = csv.reader(file, strict=True)
            header = [column.strip() for column in next(lines, [])]
            levels = [column for column in header if 0 <= _number(column) <= 1]
            if ("mean" in header) == bool(levels):
                raise _Malformed(1, f"needs a column 'mean' or columns of levels between 0 and 1, not {header!r}")
            columns = levels or ["mean"]
            if header.count("mean") > 1:
                raise _Malformed(1, f"needs one column 'mean', not {header!r}")
            if levels and (len(levels) < 2 or len({float(level) for level in levels}) < len(levels)):
                raise _Malformed(1, f"needs at least two levels, each once, not {levels!r}")
            places = [header.index(column) for column in columns]
            rows: list[list[float]] = []
            for line in lines:
                if line:
                    rows.append(_row(lines.line_num, line, header, places, rated=bool(levels)))
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
        return from_ratings(counts, [float(levels[column]) for column in order], name=path.stem)
    return from_means([row[0] for row in rows], name=path.stem)


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
        if not (0 <= number < float("inf") if rated else 0 <= number <= 1):
            allowed = "a count of at least 0" if rated else "a number between 0 and 1"
            raise _Malformed(line, f"{header[place]} must be {allowed}, not {cells[place]!r}")
    if rated and sum(numbers) == 0:
        raise _Malformed(line, "the arm has no rating")
    return numbers


def _number(text: str) -> float:
    """Read a number, or NaN."""
    try:
        return real(float(text))
    except ValueError:
        return float("nan")
