"""A tidy table: one row for each run, rule and memory; it writes CSV and JSON, and becomes a pandas frame.

>>> table = Table([{"keep": "bucket", "run": 0, "mean": 0.25}, {"keep": "bucket", "run": 1, "mean": 0.5}])
>>> table["mean"].tolist(), len(table)
([0.25, 0.5], 2)
>>> table.summary(by=["keep"], columns=["mean"])
[{'keep': 'bucket', 'mean': 0.375, 'mean_low': 0.25, 'mean_high': 0.5, 'runs': 2}]
"""

import csv
import io
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pandas as pd

Row = dict[str, Any]


class Table:
    """Rows that share their columns."""

    def __init__(self, rows: Sequence[Row], columns: Sequence[str] = ()) -> None:
        self.rows = list(rows)
        self.columns = list(self.rows[0]) if self.rows else list(columns)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __getitem__(self, column: str) -> npt.NDArray[Any]:
        if column not in self.columns:
            raise KeyError(f"no column {column!r}; there are {', '.join(self.columns)}")
        return np.array([row[column] for row in self.rows])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Table) and self.rows == other.rows

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<Table of {len(self)} rows: {', '.join(self.columns)}>"

    def where(self, **values: Any) -> "Table":
        """Return the rows that have these values, as in `table.where(keep="bucket", memory=10)`."""
        for column in values:
            self[column]
        rows = [row for row in self.rows if all(row[column] == value for column, value in values.items())]
        return Table(rows, self.columns)

    def summary(self, by: Sequence[str], columns: Sequence[str]) -> list[Row]:
        """Return each column's mean over runs, lowest and highest, for each combination of the columns `by`."""
        for column in [*by, *columns]:
            self[column]
        groups: dict[tuple[Any, ...], list[Row]] = {}
        for row in self.rows:
            groups.setdefault(tuple(row[column] for column in by), []).append(row)
        return [_summed_up(dict(zip(by, key, strict=True)), rows, columns) for key, rows in groups.items()]

    def to_csv(self, path: "str | os.PathLike[str] | None" = None) -> str:
        """Return the table as CSV, and write it to `path` if given."""
        text = io.StringIO()
        writer = csv.DictWriter(text, self.columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.rows)
        return _written(text.getvalue(), path)

    def to_json(self, path: "str | os.PathLike[str] | None" = None) -> str:
        """Return the table as JSON, a list of rows, and write it to `path` if given."""
        return _written(json.dumps(self.rows, indent=1) + "\n", path)

    def to_pandas(self) -> "pd.DataFrame":
        """Return the table as a pandas frame; needs pandas, as in `pip install bestbefore[pandas]`."""
        try:
            import pandas as pd
        except ModuleNotFoundError:
            raise ModuleNotFoundError("to_pandas needs pandas: pip install 'bestbefore[pandas]'") from None

        return pd.DataFrame(self.rows, columns=self.columns)


def _summed_up(group: Row, rows: list[Row], columns: Sequence[str]) -> Row:
    for column in columns:
        values = [row[column] for row in rows]
        group |= {column: float(np.mean(values)), f"{column}_low": min(values), f"{column}_high": max(values)}
    return group | {"runs": len(rows)}


def _written(text: str, path: "str | os.PathLike[str] | None") -> str:
    if path is not None:
        Path(path).write_text(text, encoding="utf-8")
    return text
