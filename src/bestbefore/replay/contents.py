"""What is in a log: how many arms and when, how many are valid at once, how much of their spread is only noise."""

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from bestbefore.clock import Length, Window, window_of
from bestbefore.replay.rows import numbers_of
from bestbefore.simulate.clocked import Expired
from bestbefore.streams import Log
from bestbefore.streams.arrivals import DAY, Ints
from bestbefore.streams.log_rows import Batch
from bestbefore.streams.stream import Floats

AGES: Final = 24
"""Parts into which three windows are cut, for what happens to an arm as it ages."""
DRAWS: Final = 400
"""Of arms, for the interval of their spread."""
WIDEST: Final = 0.5
"""The largest standard deviation that there is on a scale of 1."""
SHOWN: Final = 60
"""Arms that are drawn with their intervals."""


@dataclass(frozen=True)
class Spread:
    """How far the means of arms are apart, in the reader's unit: as observed, and without the noise of few rewards."""

    mean: float
    observed: float
    real: float
    low: float
    high: float
    noise: float
    """The share of the observed variance that is only noise."""


@dataclass(frozen=True)
class Contents:
    """What is in a log; all of arms with at least `least` rows, in the order of their arrival."""

    rows: int
    arms: int
    left_out: int
    days: Ints
    arms_by_day: Ints
    rows_by_day: Ints
    valid: Ints
    """How many arms are valid when each one arrives, itself included."""
    traffic: Ints
    """Rows from each arrival to the next one."""
    of_arm: Ints
    in_window: Ints
    """Rows of each arm while it is valid."""
    spread: Spread
    ranked: list[tuple[Any, int, float, float, float]]
    """Some arms from the best to the worst: name, rows, mean, and its 95% interval."""
    ages: Floats
    """Where parts of an arm's life begin, in windows."""
    rows_by_age: Ints
    worth_by_age: Floats
    """The mean reward at that age less the arm's own mean, in the reader's unit."""

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        whole = {"rows": self.rows, "arms": self.arms, "left_out": self.left_out}
        by_day = zip(self.days.tolist(), self.arms_by_day.tolist(), self.rows_by_day.tolist(), strict=True)
        ages = zip(self.ages.tolist(), self.rows_by_age.tolist(), self.worth_by_age.tolist(), strict=True)
        return whole | {
            "by_day": [{"day": str(np.datetime64(day, "D")), "arms": arms, "rows": rows} for day, arms, rows in by_day],
            "valid": quantiles(self.valid),
            "traffic": quantiles(self.traffic),
            "rows_of_an_arm": quantiles(self.of_arm),
            "rows_of_an_arm_while_valid": quantiles(self.in_window),
            "spread": vars(self.spread),
            "ranked": [dict(zip(("arm", "rows", "mean", "low", "high"), one, strict=True)) for one in self.ranked],
            "by_age": [
                {"windows": age, "rows": rows, "worth": None if math.isnan(worth) else worth}
                for age, rows, worth in ages
            ],
        }


def quantiles(numbers: Ints) -> dict[str, float]:
    """Return the least, the most, and what lies between."""
    found = np.quantile(numbers, [0, 0.1, 0.5, 0.9, 1])
    return dict(zip(("least", "tenth", "median", "ninth", "most"), found.tolist(), strict=True))


def contents_of(log: Log, window: Length, *, progress: bool | None = None) -> Contents:
    """Look through a log once more, and say what is in it."""
    span, kept = window_of(window), log.kept
    place = np.where(kept, np.cumsum(kept) - 1, -1)
    arrived, means = log.arrived[kept], log.total[kept] / log.rows[kept]
    ends, lasts = _ends(arrived, span, int(log.last.max()))
    first_day = int(log.arrived.min() // DAY)
    days = np.arange(first_day, int(log.last.max() // DAY) + 1)
    traffic, in_window = np.zeros(arrived.size, np.int64), np.zeros(arrived.size, np.int64)
    by_day, by_age, worth = np.zeros(days.size, np.int64), np.zeros(AGES, np.int64), np.zeros(AGES)

    def visit(batch: Batch) -> None:
        rows = place[batch.codes]
        known = rows >= 0
        rows, times, rewards = rows[known], batch.times[known], batch.rewards[known]
        np.add.at(by_day, times // int(DAY) - first_day, 1)
        epochs = np.searchsorted(arrived, times, side="right") - 1
        np.add.at(traffic, epochs[epochs >= 0], 1)
        age = (times - arrived[rows]) / lasts[rows]
        np.add.at(in_window, rows[times < ends[rows]], 1)
        part = np.minimum((age * (AGES / 3)).astype(np.int64), AGES - 1)
        young = age < 3
        np.add.at(by_age, part[young], 1)
        np.add.at(worth, part[young], (rewards - means[rows])[young])

    log.again(visit, label="looking", progress=progress)
    with np.errstate(invalid="ignore"):
        worth_by_age = np.where(by_age > 0, worth / by_age, np.nan) * log.scale.width
    return Contents(
        rows=int(log.rows[kept].sum()),
        arms=arrived.size,
        left_out=log.left_out,
        days=days,
        arms_by_day=np.bincount((arrived // int(DAY)) - first_day, minlength=days.size),
        rows_by_day=by_day,
        valid=_valid(log, span),
        traffic=traffic,
        of_arm=log.rows[kept],
        in_window=in_window,
        spread=_spread(log),
        ranked=_ranked(log),
        ages=np.arange(AGES) * 3 / AGES,
        rows_by_age=by_age,
        worth_by_age=worth_by_age,
    )


def _ends(arrived: Ints, span: Window, last: int) -> tuple[Ints, Floats]:
    """Return when each arm expires, and how long it is valid; in microseconds.

    By count, an arm expires when so many others have come.  Of one that never does, the life is taken to be as usual.
    """
    if span.by_time:
        return arrived + span.length, np.full(arrived.size, float(span.length))
    ends = np.full(arrived.size, last + 1)
    later = arrived[span.length :]
    ends[: later.size] = later
    usual = float(np.median(later - arrived[: later.size])) if later.size else float(last + 1 - arrived[0])
    lasts = np.where(np.arange(arrived.size) < later.size, ends - arrived, usual)
    return ends, np.maximum(lasts, 1.0)


def _valid(log: Log, span: Window) -> Ints:
    """Return how many arms are valid as each arrives."""
    numbers = numbers_of(log, span)[: int(log.kept.sum())] if not span.by_time else numbers_of(log, span)[log.kept]
    counted: Ints = np.arange(1, numbers.size + 1) - Expired(span.length).before(numbers)
    return counted


def _spread(log: Log) -> Spread:
    """Return the spread of true means: the variance of observed ones less that which few rewards make.

    The interval is the wider one of two: by drawing arms anew, which knows of arms that are far apart from the others,
    and as if means were normal, which knows what few arms cannot say.
    """
    from scipy.special import chdtri

    kept = log.kept
    rows, means = log.rows[kept].astype(float), log.total[kept] / log.rows[kept]
    if means.size < 2:
        return Spread(log.scale.outside(float(means[0])), 0.0, 0.0, 0.0, 0.0, math.nan)
    noise = _noise(rows, means, log.squares[kept])
    drawn = np.random.default_rng(0).integers(means.size, size=(DRAWS, min(means.size, 20_000)))
    again = np.sqrt(np.maximum(means[drawn].var(axis=1, ddof=1) - noise[drawn].mean(axis=1), 0.0))
    real = math.sqrt(max(means.var(ddof=1) - noise.mean(), 0.0))
    ends = real + (np.quantile(again, [0.025, 0.975]) - real) * math.sqrt(drawn.shape[1] / means.size)
    observed, freedom, width = float(means.var(ddof=1)), means.size - 1, log.scale.width
    normal = freedom * observed / chdtri(freedom, np.array([0.025, 0.975])) - float(noise.mean())
    low, high = np.sqrt(np.maximum(normal, 0.0)).tolist()
    return Spread(
        mean=log.scale.outside(float(means.mean())),
        observed=math.sqrt(observed) * width,
        real=real * width,
        low=max(min(float(ends[0]), low), 0.0) * width,
        high=max(float(ends[1]), min(high, WIDEST)) * width,
        noise=min(float(noise.mean()) / observed, 1.0) if observed else math.nan,
    )


def _noise(rows: Floats, means: Floats, squares: Floats) -> Floats:
    """Return the variance of each arm's observed mean; an arm of a single row has the rewards' usual variance.

    Where all arms have a single row, nothing tells arms from chance: all of the spread is taken for noise.
    """
    within = np.maximum(squares / rows - means**2, 0.0)
    many = rows > 1
    usual = float(np.sum((within * rows)[many]) / np.sum((rows - 1)[many])) if many.any() else float(means.var(ddof=1))
    return np.where(many, within / np.maximum(rows - 1, 1), usual)


def _ranked(log: Log) -> list[tuple[Any, int, float, float, float]]:
    """Return some arms from the best mean to the worst, with 95% intervals by Agresti and Coull's shift."""
    places = np.flatnonzero(log.kept)
    rows, total = log.rows[places].astype(float), log.total[places]
    middle = (total + 2) / (rows + 4)
    within = np.maximum((log.squares[places] + 2) / (rows + 4) - middle**2, 0.0)
    reach = 1.96 * np.sqrt(within / (rows + 4))
    order = np.argsort(-total / rows, kind="stable")
    chosen = order[np.unique(np.linspace(0, order.size - 1, min(SHOWN, order.size)).round().astype(int))]
    outside = log.scale.outside
    return [
        (
            log.names[places[one]],
            int(rows[one]),
            outside(float(total[one] / rows[one])),
            outside(max(min(float(middle[one] - reach[one]), float(total[one] / rows[one])), 0.0)),
            outside(min(max(float(middle[one] + reach[one]), float(total[one] / rows[one])), 1.0)),
        )
        for one in chosen
    ]


def many(count: int, noun: str) -> str:
    """Say how many of something, in the singular or the plural.

    >>> many(1, "row"), many(12000, "row")
    ('1 row', '12,000 rows')
    """
    return f"{count:,} {noun}{'s' * (count != 1)}"


def are(count: int) -> str:
    """Return the verb that goes with a number."""
    return "is" if count == 1 else "are"


def in_words(contents: Contents, window: Length) -> list[str]:
    """Say what is in a log in a few sentences."""
    valid, rows, spread = quantiles(contents.valid), quantiles(contents.in_window), contents.spread
    left_out = f"; {many(contents.left_out, 'more arm')} with too few rows {are(contents.left_out)} left out"
    told = [
        f"{many(contents.rows, 'row')} of {many(contents.arms, 'arm')} over {many(contents.days.size, 'day')}"
        f"{left_out if contents.left_out else ''}.",
        f"With a window of {window}, {many(round(valid['median']), 'arm')} {are(round(valid['median']))} valid at once "
        f"as a rule, and {valid['most']:,.0f} at most.",
        f"While it is valid, an arm gets {many(round(rows['median']), 'reward')} as a rule; one arm in ten gets "
        f"{rows['tenth']:,.0f} or fewer, one in ten {rows['ninth']:,.0f} or more.",
    ]
    if contents.arms == 1:
        return [*told, "There is only one arm, so there is nothing to choose."]
    if math.isnan(spread.noise):
        return [*told, "All arms have the same mean."]
    told.append(
        f"Means differ by {spread.observed:.2g} (standard deviation) around {spread.mean:.2g}; {spread.noise:.0%} of "
        f"that variance is only noise, and the real spread is {spread.real:.2g} (95%: {spread.low:.2g} to "
        f"{spread.high:.2g})."
    )
    old = contents.rows - int(contents.in_window.sum())
    if old:
        told.append(f"{old / contents.rows:.0%} of all rows are of arms that are older than the window.")
    return told
