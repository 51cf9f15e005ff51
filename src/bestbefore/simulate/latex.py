r"""A table for a paper, in LaTeX with booktabs: rows of settings, columns of rules.

>>> escaped("50% of a_b & {c}")
'50\\% of a\\_b \\& \\{c\\}'
"""

import math
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from bestbefore.arguments import one_of, whole
from bestbefore.simulate.statistics import Names, Row

SPREADS: Final = ("error", "interval")
SPECIAL: Final = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "&": r"\&",
        "%": r"\%",
        "$": r"\$",
        "#": r"\#",
        "_": r"\_",
        "{": r"\{",
        "}": r"\}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "\n": " ",
    }
)


class Look(NamedTuple):
    """What a LaTeX table shows of a column; the words are those of `Table.to_latex`."""

    column: str
    spread: str | None
    best: str | None
    digits: int | None
    confidence: float
    caption: str | None
    label: str | None

    def checked(self) -> "Look":
        """Return the look, if it is one."""
        if self.spread is not None:
            one_of("spread", self.spread, SPREADS)
        if self.digits is not None:
            whole("digits", self.digits, at_least=0)
        if self.label is not None and self.caption is None:
            raise ValueError(f"label must come with a caption, which it refers to, not {self.label!r} alone")
        return self


def escaped(text: object) -> str:
    """Return a text as LaTeX prints it, its special characters escaped."""
    return str(text).translate(SPECIAL)


def booktabs(
    rows: Sequence[Row], by: Sequence[str], rules: Sequence[str], winners: Mapping[Names, Names], look: Look
) -> str:
    """Return the table as LaTeX: of rows of `Table.summary`, and of who wins in which row."""
    look = look.checked()
    if not rows:
        raise ValueError("a LaTeX table must have at least one row, and this table has none")
    cells = {(_names(row, by), _names(row, rules)): row for row in rows}
    names = list(dict.fromkeys(name for _, name in cells))
    lines = [" & ".join([*map(escaped, by), *(r" $\times$ ".join(map(escaped, name)) for name in names)])]
    for key in dict.fromkeys(key for key, _ in cells):
        own = [_cell(cells.get((key, name)), look, bold=winners.get(key) == name) for name in names]
        lines.append(" & ".join([*map(_setting, key), *own]))
    head, *body = (f"  {line} \\\\" for line in lines)
    tabular = [
        rf"\begin{{tabular}}{{{'r' * len(by)}{'c' * len(names)}}}",
        r"  \toprule",
        head,
        r"  \midrule",
        *body,
        r"  \bottomrule",
        r"\end{tabular}",
    ]
    said = _note(rows, look, marks=look.best is not None and len(names) > 1)
    return "\n".join(_floating(tabular, look, said) if look.caption is not None else [f"% {said}", *tabular]) + "\n"


def _floating(tabular: list[str], look: Look, said: str) -> list[str]:
    caption = rf"\caption{{{look.caption} {said}}}"
    label = [] if look.label is None else [rf"\label{{{look.label}}}"]
    return [r"\begin{table}", r"\centering", caption, *label, *tabular, r"\end{table}"]


def _names(row: Row, columns: Sequence[str]) -> Names:
    return tuple(row[column] for column in columns)


def _setting(value: object) -> str:
    """Write a value of a column `by`: numbers as numbers, all else as text."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return f"${_grouped(f'{value:,}')}$"
    return escaped(value)


def _cell(row: Row | None, look: Look, *, bold: bool) -> str:
    """Write a mean and its spread; a dash where there is none."""
    if row is None:
        return "--"
    mean, se = row[look.column], row[f"{look.column}_se"]
    places = _places(mean, se) if look.digits is None else look.digits
    number = _fixed(mean, places)
    text = rf"\mathbf{{{number}}}" if bold else number
    if look.spread is not None and not math.isnan(se):
        if look.spread == "error":
            text += rf" \pm {_fixed(se, places)}"
        else:
            ends = (_fixed(row[f"{look.column}_{end}"], places) for end in ("from", "to"))
            text += rf"\ [{', '.join(ends)}]"
    return f"${text}$"


def _places(mean: float, se: float) -> int:
    """Return the decimal places that show two digits of the error, or four of a mean without one.

    >>> _places(12.3456, 0.0123), _places(12345.6, 789.0), _places(0.25, 0.0), _places(0.0, 0.0)
    (3, 0, 4, 0)
    """
    size, digits = (se, 2) if se > 0 else (abs(mean), 4)
    power = int(f"{size:.{digits - 1}e}".partition("e")[2])  # of what is left after rounding
    return 0 if size == 0 else max(0, digits - 1 - power)


def _fixed(number: float, places: int) -> str:
    return _grouped(f"{number:z,.{places}f}")


def _grouped(digits: str) -> str:
    """Keep LaTeX from setting a space behind the comma of thousands."""
    return digits.replace(",", "{,}")


def _note(rows: Sequence[Row], look: Look, *, marks: bool) -> str:
    """Say in one sentence or two what the numbers are, and what bold means."""
    fewest, most = min(row["runs"] for row in rows), max(row["runs"] for row in rows)
    if most == 1:
        return "One run."
    percent = f"{100 * look.confidence:g}"
    spread = {
        None: "Mean",
        "error": r"Mean $\pm$ standard error",
        "interval": rf"Mean and {percent}\% confidence interval",
    }[look.spread]
    runs = f"{most}" if fewest == most else f"{fewest} to {most}"
    if not marks:
        return f"{spread} over {runs} runs."
    return (
        rf"{spread} over {runs} runs. Bold: {look.best} of its row at {percent}\% confidence "
        "(paired $t$ tests over runs, Bonferroni)."
    )
