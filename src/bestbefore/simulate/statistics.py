"""Statistics over runs: standard errors, confidence intervals, paired differences, winners.

A mean over n runs has the standard error s / sqrt(n) and the confidence interval mean +- t s /
sqrt(n).  Here s is the standard deviation of the runs (with n - 1), and t is the quantile of
Student's distribution with n - 1 degrees of freedom.  One run says nothing about its own error: the
standard error and the interval are then NaN.

In one run all rules see the same arms, so two rules are compared run by run, with the paired t
test: the differences take the place of the values, and "no difference" is rejected if the interval
of their mean does not contain 0.

If all differences are equal, their deviation is 0 and the t test is not defined.  If they are all
0, nothing differs (p = 1).  Otherwise the sign test takes over: n differences of the same sign have
p = 2 / 2^n.  So two runs in which one rule found the arm and the other missed it prove nothing yet.
Differences that are within rounding of 0, or of each other, count as equal.

>>> one, other = {0: 0.5, 1: 0.75, 2: 0.625}, {0: 0.25, 1: 0.5, 2: 0.5}
>>> compared = compare(one, other, confidence=0.95)
>>> round(compared.mean, 4), round(compared.se, 4), round(compared.p, 4), compared.runs
(0.2083, 0.0417, 0.0377, 3)
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

Row = dict[str, Any]
Names = tuple[Any, ...]
"""The values of some columns: of those that name a rule, for example."""
Floats = npt.NDArray[np.float64]

BEST: Final = ("lowest", "highest")
ROUNDING: Final = 1e-12
"""Values that differ by no more than this, relative to the largest of them, count as equal."""


MEASURED: Final = frozenset(
    {
        *("mean", "median", "max", "within", "gap", "certified"),
        *("regret", "found", "tests", "wasted", "pulls", "switches", "peak_memory"),
    }
)
"""Columns that a simulation measures; other columns say what was tried."""


class Estimate(NamedTuple):
    """A mean over runs, its standard error, and its confidence interval from `start` to `end`."""

    mean: float
    se: float
    start: float
    end: float
    runs: int


class Difference(NamedTuple):
    """A mean difference over runs, like an `Estimate`, and the p-value of "there is none"."""

    mean: float
    se: float
    start: float
    end: float
    runs: int
    p: float


def estimate(values: Floats, confidence: float) -> Estimate:
    """Return the mean of values, one per run, with its standard error and interval.

    >>> [round(number, 3) for number in estimate(np.array([1.0, 2.0, 3.0, 4.0]), confidence=0.95)]
    [2.5, 0.645, 0.446, 4.554, 4]
    >>> estimate(np.array([0.1, 0.1, 0.1]), confidence=0.95)
    Estimate(mean=0.1, se=0.0, start=0.1, end=0.1, runs=3)
    """
    from scipy.special import stdtrit

    runs = values.size
    if runs == 1:
        return Estimate(float(values[0]), math.nan, math.nan, math.nan, 1)
    if values.min() == values.max():
        return Estimate(float(values[0]), 0.0, float(values[0]), float(values[0]), runs)
    mean, se = float(values.mean()), float(values.std(ddof=1) / math.sqrt(runs))
    reach = float(stdtrit(runs - 1, (1 + confidence) / 2)) * se
    return Estimate(mean, se, mean - reach, mean + reach, runs)


def compare(one: Mapping[Any, float], other: Mapping[Any, float], confidence: float) -> Difference:
    """Compare two rules by their values in the same runs: one minus the other, paired t test."""
    from scipy.special import stdtr

    first, second = (np.array([values[run] for run in one], np.float64) for values in (one, other))
    differences = first - second
    rounding = ROUNDING * max(np.abs(first).max(), np.abs(second).max())
    if np.ptp(differences) <= rounding:
        differences[:] = 0.0 if abs(differences[0]) <= rounding else differences.mean()
    found = estimate(differences, confidence)
    if found.runs == 1:
        p = math.nan
    elif found.se == 0:
        p = 1.0 if found.mean == 0 else 2.0 / 2.0**found.runs
    else:
        p = 2 * float(stdtr(found.runs - 1, -abs(found.mean / found.se)))
    return Difference(*found, p)


def summary(rows: Sequence[Row], by: Sequence[str], columns: Sequence[str], confidence: float) -> list[Row]:
    """Return mean, standard error, interval and range of columns; see `Table.summary`."""
    found = []
    for key, group in grouped(rows, by).items():
        told: Row = dict(zip(by, key, strict=True))
        for column in columns:
            values = np.array(list(values_by_run(group, column).values()))
            one = estimate(values, confidence)
            told |= {column: one.mean, f"{column}_se": one.se, f"{column}_from": one.start, f"{column}_to": one.end}
            told |= {f"{column}_low": float(values.min()), f"{column}_high": float(values.max())}
        found.append(told | {"runs": len({row["run"] for row in group}) if "run" in group[0] else len(group)})
    return found


def differences(
    rows: Sequence[Row], column: str, between: Sequence[str], baseline: Names, by: Sequence[str], confidence: float
) -> list[Row]:
    """Return how far each rule is from the baseline, paired by run; see `Table.differences`."""
    known = grouped(rows, between)
    if baseline not in known:
        there = ", ".join(map(_shown, known)) or "there are no rows"
        raise ValueError(f"baseline must be one of the table's {' x '.join(between)} ({there}), not {_shown(baseline)}")
    found = []
    for key, group in grouped(rows, by).items():
        values = _paired(group, column, between, dict(zip(by, key, strict=True)))
        if baseline not in values:
            raise ValueError(f"baseline must have rows everywhere, but {_shown(baseline)} has none {_where(by, key)}")
        for name in values:
            if name != baseline:
                one = compare(values[name], values[baseline], confidence)
                names = dict(zip([*by, *between], [*key, *name], strict=True))
                found.append(names | {"baseline": _shown(baseline)} | _told(one, confidence))
    return found


def winners(
    rows: Sequence[Row], column: str, between: Sequence[str], by: Sequence[str], best: str, confidence: float
) -> dict[Names, tuple[Names | None, float]]:
    """Return for each combination of the columns `by` who wins, or None, and the p-value of that.

    A rule wins where its mean is best and its difference to every other rule is significant.  The
    p-value is the largest of these differences' p-values, times the number of comparisons in the
    whole table: of a rule with each rival, for each combination (Bonferroni).  So the chance that a
    table names a winner who is no better than some rival is at most 1 - confidence, as far as the t
    test holds.

    Proof: let a combination have K rules, let b be one that is truly best, and let q be the largest
    p-value that counts.  A wrong winner is one of the K - 1 others, who came out significantly
    better than b; or it is b, who came out significantly better than another that is truly as good.
    These are K events, each with a probability of at most q / 2, since each says which of two rules
    is better.  K q / 2 <= (K - 1) q for K >= 2, and (K - 1) q summed over all combinations is
    1 - confidence.
    """
    found: dict[Names, tuple[Names | None, float]] = {}
    groups = {
        key: _paired(group, column, between, dict(zip(by, key, strict=True)))
        for key, group in grouped(rows, by).items()
    }
    comparisons = sum(len(values) - 1 for values in groups.values())
    for key, values in groups.items():
        means = {name: math.fsum(own.values()) / len(own) for name, own in values.items()}
        leader = (min if best == "lowest" else max)(means, key=means.__getitem__)
        tests = [compare(values[leader], values[name], confidence).p for name in values if name != leader]
        worst = max((1.0 if math.isnan(p) else p for p in tests), default=1.0)
        p = min(1.0, max(comparisons, 1) * worst)
        found[key] = (leader if p <= 1 - confidence else None, p)
    return found


def grouped(rows: Sequence[Row], by: Sequence[str]) -> dict[Names, list[Row]]:
    """Return the rows of each combination of the columns `by`, in the order of the table."""
    groups: dict[Names, list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[column] for column in by), []).append(row)
    return groups


def values_by_run(rows: Sequence[Row], column: str) -> dict[Any, float]:
    """Return a column's value in each run: the mean of its rows.  Without runs, each row is one."""
    values: dict[Any, list[float]] = {}
    for place, row in enumerate(rows):
        values.setdefault(row.get("run", place), []).append(_number(row, column))
    return {run: own[0] if len(own) == 1 else math.fsum(own) / len(own) for run, own in values.items()}


def check_one_row_a_run(rows: Sequence[Row], by: Sequence[str], say: str) -> None:
    """Raise if the columns `by` leave several rows of one run: they do not tell settings apart."""
    if not rows or "run" not in rows[0]:
        return
    for key, group in grouped(rows, [*by, "run"]).items():
        if len(group) > 1:
            differ = [name for name in group[0] if len({repr(row[name]) for row in group}) > 1]
            settings = ", ".join(name for name in differ if name not in MEASURED)
            told = f"differ in {settings}" if settings else "are of the same setting"
            raise ValueError(
                f"{say} must tell settings apart, but {len(group)} rows {_where([*by, 'run'], key)} {told}; "
                "name more columns, or choose rows with where"
            )


def _paired(rows: Sequence[Row], column: str, between: Sequence[str], where: Row) -> dict[Names, dict[Any, float]]:
    """Return each rule's values by run, if all rules have the same runs."""
    by, key = list(where), tuple(where.values())
    check_one_row_a_run(rows, [*by, *between], "by and between")
    values = {name: values_by_run(own, column) for name, own in grouped(rows, between).items()}
    runs = {run: name for name, own in values.items() for run in own}
    for name, own in values.items():
        missing = [run for run in runs if run not in own]
        if missing:
            numbers = f"run{'s' * (len(missing) > 1)} {', '.join(map(str, missing))}"
            raise ValueError(
                f"rules must have the same runs to be compared, but {_where(by, key)} {_shown(name)} has no {numbers}, "
                f"and {_shown(runs[missing[0]])} has"
            )
    return values


def _told(one: Difference, confidence: float) -> Row:
    ends = {"difference_from": one.start, "difference_to": one.end, "p": one.p}
    significant = bool(one.p <= 1 - confidence)
    return {"difference": one.mean, "difference_se": one.se} | ends | {"significant": significant, "runs": one.runs}


def _number(row: Row, column: str) -> float:
    value = row[column]
    if isinstance(value, (bool, int, float, np.number, np.bool_)) and math.isfinite(value):
        return float(value)
    names = ", ".join(f"{name}={row[name]!r}" for name in row if name not in MEASURED and name != column)
    raise ValueError(f"{column} must be a finite number in each row, not {value!r} ({names})")


def _where(by: Sequence[str], key: Names) -> str:
    settings = ", ".join(f"{column}={value!r}" for column, value in zip(by, key, strict=True))
    return f"at {settings}" if settings else "in the table"


def _shown(name: Names) -> str:
    """Write the name of a rule, of one column or several.

    >>> _shown(("fifo",)), _shown(("fifo", "ucb"))
    ('fifo', 'fifo x ucb')
    """
    return " x ".join(map(str, name))
