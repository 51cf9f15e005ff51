"""A tidy table: one row for each run, rule and memory, with statistics over runs and exports.

>>> table = Table([{"keep": "bucket", "run": 0, "mean": 0.25}, {"keep": "bucket", "run": 1, "mean": 0.5}])
>>> table["mean"].tolist(), len(table)
([0.25, 0.5], 2)
>>> [row] = table.summary(by="keep", columns="mean")
>>> row["mean"], row["mean_se"], row["mean_low"], row["mean_high"], row["runs"]
(0.375, 0.125, 0.25, 0.5, 2)
"""

import csv
import io
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from bestbefore.arguments import between as number_between
from bestbefore.arguments import one_of
from bestbefore.simulate import latex, statistics
from bestbefore.simulate.statistics import BEST, Row

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["RULES", "Row", "Table"]

RULES: Final = ("keep", "pull", "strategy")
"""Columns that name rules."""
Columns = str | Sequence[str]
"""One column, or several."""


class Table:
    """Rows that share their columns.

    Parameters
    ----------
    rows
        Dicts with the same keys.
    columns
        The names of the columns, if there are no rows.
    """

    def __init__(self, rows: Sequence[Row], columns: Sequence[str] = ()) -> None:
        self.rows = list(rows)
        self.columns = list(self.rows[0]) if self.rows else list(columns)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __getitem__(self, column: str) -> npt.NDArray[Any]:
        self._known(column)
        return np.array([row[column] for row in self.rows])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Table) and self.rows == other.rows

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<Table of {len(self)} rows: {', '.join(self.columns)}>"

    def where(self, **values: Any) -> "Table":
        """Return the rows that have these values, as in `table.where(keep="bucket", memory=10)`.

        Parameters
        ----------
        values
            What columns must be.
        """
        self._known(list(values))
        rows = [row for row in self.rows if all(row[column] == value for column, value in values.items())]
        return Table(rows, self.columns)

    def rules(self) -> list[str]:
        """Return the columns that name rules, such as ["keep", "pull"]."""
        found: list[str] = [column for column in RULES if column in self.columns]
        if not found:
            raise KeyError(f"no column names a rule ({', '.join(RULES)}); there are {', '.join(self.columns)}")
        return found

    def summary(self, by: Columns, columns: Columns, *, confidence: float = 0.95) -> list[Row]:
        """Return columns' means over runs and how sure they are, for each combination of `by`.

        The row of a combination has, for a column `mean`: `mean`; `mean_se`, its standard error;
        `mean_from` and `mean_to`, its confidence interval by Student's t; `mean_low` and
        `mean_high`, the lowest and the highest run; and `runs`, how many runs there are.  Of one
        run the standard error and the interval are NaN.  Where a run has several rows in a
        combination, their mean is its value: rows of one run are not independent.  True counts as 1
        and False as 0, so that the mean is a share.

        Parameters
        ----------
        by
            The columns whose combinations are told apart.
        columns
            The columns whose means are wanted.
        confidence
            The confidence of intervals and tests.
        """
        by, columns = self._known(by), self._known(columns)
        return statistics.summary(self.rows, by, columns, _confidence(confidence))

    def differences(
        self,
        column: str,
        baseline: Any,
        between: Columns | None = None,
        by: Columns = "memory",
        *,
        confidence: float = 0.95,
    ) -> list[Row]:
        """Return how far each rule is from the baseline, for each combination of the columns `by`.

        In one run all rules see the same arms, so the difference run by run is known far better
        than two means.  `between` are the columns that name a rule: unless given, those of keep,
        pull and strategy that there are.  With several, `baseline` has a name for each, as in
        ("staircase", "moss").

        A row has the columns `by` and `between`, `baseline`; `difference`, the rule's mean less the
        baseline's; `difference_se`, `difference_from` and `difference_to`; `p` of the paired t
        test; `significant`, whether p is at most 1 - confidence; and `runs`.  With one run nothing
        is significant.  Each row stands for itself: p-values are not adjusted for their number,
        unlike those of `winners`.

        Parameters
        ----------
        column
            The column that is compared.
        baseline
            The rule that others are compared with; with several columns, a name for each.
        between
            The columns that name a rule; unless given, those of keep, pull and strategy that there are.
        by
            The columns whose combinations are told apart.
        confidence
            The confidence of intervals and tests.

        Examples
        --------
        >>> table = Table([{"keep": keep, "memory": 5, "run": run, "mean": run + 0.1 * run * (keep == "fifo")}
        ...                for keep in ("fifo", "bucket") for run in range(3)])
        >>> [row] = table.differences("mean", baseline="bucket")
        >>> row["keep"], round(row["difference"], 6), round(row["p"], 4), row["significant"]
        ('fifo', 0.1, 0.2254, False)
        """
        by, rules = self._known(by), self._known(self.rules() if between is None else between)
        self._known([column, "run"])
        names = tuple(baseline) if isinstance(baseline, (list, tuple)) else (baseline,)
        if len(names) != len(rules):
            raise ValueError(f"baseline must have a name for each of {', '.join(rules)}, not {baseline!r}")
        return statistics.differences(self.rows, column, rules, names, by, _confidence(confidence))

    def winners(
        self,
        column: str,
        between: Columns | None = None,
        by: Columns = "memory",
        *,
        best: str = "lowest",
        confidence: float = 0.95,
    ) -> list[Row]:
        """Return who wins for each combination of the columns `by`, or None if nobody does.

        A winner's mean is best, and its difference to every rival is significant, paired by run.

        A row has the columns `by`; the columns `between`, which name the winner, or None if nobody
        wins; and `p`, the p-value of the leader's lead on the closest rival, adjusted (Bonferroni)
        for all comparisons of the table: the chance that it names anybody who is not the best is at
        most 1 - confidence, as far as the t test holds.

        Parameters
        ----------
        column
            The column that is compared.
        between
            The columns that name a rule; unless given, those of keep, pull and strategy that there are.
        by
            The columns whose combinations are told apart.
        best
            Whether the "lowest" or the "highest" wins.
        confidence
            The confidence of intervals and tests.
        """
        by, rules = self._known(by), self._known(self.rules() if between is None else between)
        self._known([column, "run"])
        one_of("best", best, BEST)
        found = statistics.winners(self.rows, column, rules, by, best, _confidence(confidence))
        nobody = (None,) * len(rules)
        return [
            dict(zip([*by, *rules, "p"], [*key, *(nobody if name is None else name), p], strict=True))
            for key, (name, p) in found.items()
        ]

    def _known(self, columns: Columns) -> list[str]:
        """Return columns as a list, if they are there."""
        several = [columns] if isinstance(columns, str) else list(columns)
        for column in several:
            if column not in self.columns:
                raise KeyError(f"no column {column!r}; there are {', '.join(self.columns)}")
        return several

    def to_csv(self, path: "str | os.PathLike[str] | None" = None) -> str:
        """Return the table as CSV, and write it to `path` if given.

        Parameters
        ----------
        path
            A file to write.
        """
        text = io.StringIO()
        writer = csv.DictWriter(text, self.columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.rows)
        return _written(text.getvalue(), path)

    def to_json(self, path: "str | os.PathLike[str] | None" = None) -> str:
        """Return the table as JSON, a list of rows, and write it to `path` if given.

        Parameters
        ----------
        path
            A file to write.
        """
        return _written(json.dumps(self.rows, indent=1) + "\n", path)

    def to_latex(
        self,
        column: str,
        between: Columns | None = None,
        by: Columns = "memory",
        *,
        spread: str | None = "error",
        best: str | None = "lowest",
        digits: int | None = None,
        confidence: float = 0.95,
        caption: str | None = None,
        label: str | None = None,
        path: "str | os.PathLike[str] | None" = None,
    ) -> str:
        r"""Return a LaTeX table of a column's mean over runs; write it to `path` if given.

        A row for each combination of the columns `by`, a column for each rule.  `spread` adds the
        standard error ("error"), the confidence interval ("interval"), or nothing (None).  The
        winner of a row is bold, if there is one (see `winners`); `best` says whether "lowest" or
        "highest" wins, or None.  A mean has as many digits as its standard error has with two;
        `digits` are the decimal places if given.  Names are escaped.  With a `caption`, which is
        LaTeX, the table floats, and the caption goes on to say what its numbers are; `label` is for
        `\ref`.

        Parameters
        ----------
        column
            The column that is compared.
        between
            The columns that name a rule; unless given, those of keep, pull and strategy that there are.
        by
            The columns whose combinations are told apart.
        spread
            What follows a mean: "error", "interval" or None.
        best
            Whether the "lowest" or the "highest" wins.
        digits
            Decimal places; unless given, two digits of the standard error.
        confidence
            The confidence of intervals and tests.
        caption
            LaTeX; with it the table floats.
        label
            For `\ref`.
        path
            A file to write.
        """
        by, rules = self._known(by), self._known(self.rules() if between is None else between)
        rows = self.summary([*by, *rules], column, confidence=confidence)
        statistics.check_one_row_a_run(self.rows, [*by, *rules], "by and between")
        winners = [] if best is None else self.winners(column, rules, by, best=best, confidence=confidence)
        won = {tuple(row[name] for name in by): tuple(row[name] for name in rules) for row in winners}
        look = latex.Look(column, spread, best, digits, confidence, caption, label)
        return _written(latex.booktabs(rows, by, rules, won, look), path)

    def to_pandas(self) -> "pd.DataFrame":
        """Return the table as a pandas frame; needs `pip install bestbefore[pandas]`."""
        try:
            import pandas as pd
        except ModuleNotFoundError:
            raise ModuleNotFoundError("to_pandas needs pandas: pip install 'bestbefore[pandas]'") from None

        return pd.DataFrame(self.rows, columns=self.columns)


def _confidence(confidence: float) -> float:
    return number_between("confidence", confidence, 0, 1)


def _written(text: str, path: "str | os.PathLike[str] | None") -> str:
    if path is not None:
        Path(path).write_text(text, encoding="utf-8")
    return text
