"""A finding: what a theorem says, what was measured, with a confidence interval, and whether it holds.

>>> words = {"theorem": "coin", "statement": "a coin is fair", "setting": "ours", "measured": "share of heads"}
>>> share(490, 1000, equal_to=0.5, **words).verdict, share(400, 1000, equal_to=0.5, **words).verdict
('holds', 'does not hold')
>>> share(0, 3, at_most=0.5, **words).verdict                               # too few runs to say either
'cannot tell'
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

CONFIDENCE = 0.99
"""Of the intervals: each is off by chance once in a hundred times."""

SIDES = {"at_most": "at most", "at_least": "at least", "equal_to": "equal to"}
"""What the number must be, measured by its bound."""


@dataclass(frozen=True)
class Finding:
    """One line of the table: a statement of the paper, put to the test."""

    theorem: str
    """The name of the experiment."""
    statement: str
    setting: str
    measured: str
    """What the number is, in words."""
    estimate: float
    low: float
    high: float
    side: str
    """One of `SIDES`."""
    bound: float
    remark: str = ""
    sound: bool = True
    """Whether all else held that the statement needs, beside the number."""

    @property
    def holds(self) -> bool:
        """Say whether the whole interval is on the right side of the bound, or holds what the number must be."""
        below, above = self.high <= self.bound, self.low >= self.bound
        within = {"at most": below, "at least": above, "equal to": self.low <= self.bound <= self.high}
        return self.sound and within[self.side]

    @property
    def verdict(self) -> str:
        """The same in words: "cannot tell" where the bound is within the interval, so that more runs are needed."""
        if self.holds:
            return "holds"
        unsettled = self.sound and self.side != "equal to" and self.low <= self.bound <= self.high
        return "cannot tell" if unsettled else "does not hold"

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as a plain dict."""
        return asdict(self) | {"holds": self.holds, "verdict": self.verdict}

    @classmethod
    def from_dict(cls, saved: dict[str, Any]) -> "Finding":
        """Make the finding that `to_dict` gave."""
        return cls(**{name: value for name, value in saved.items() if name not in ("holds", "verdict")})


def share(count: int, runs: int, **words: Any) -> Finding:
    """Make a finding of how many of `runs` runs had something, with Wilson's interval.

    One of the words must be `at_most`, `at_least` or `equal_to`, the bound; the others are fields of `Finding`.
    """
    return _finding(count / runs, *wilson(count, runs, CONFIDENCE), words)


def wilson(count: int, runs: int, confidence: float) -> tuple[float, float]:
    """Return Wilson's interval of a share.

    >>> [round(end, 2) for end in wilson(0, 10, confidence=0.95)]
    [0.0, 0.28]
    """
    from scipy.stats import binomtest

    interval = binomtest(count, runs).proportion_ci(confidence, method="wilson")
    return float(interval.low), float(interval.high)


def average(values: Sequence[float], **words: Any) -> Finding:
    """Make a finding of a mean over runs, with Student's interval; for `words` see `share`."""
    from scipy.stats import sem, t

    mean, runs = float(np.mean(values)), len(values)
    half = float(t.ppf((1 + CONFIDENCE) / 2, runs - 1) * sem(values)) if runs > 1 else 0.0
    return _finding(mean, mean - half, mean + half, words)


def _finding(estimate: float, low: float, high: float, words: dict[str, Any]) -> Finding:
    (side,) = set(words) & set(SIDES)
    others = {word: value for word, value in words.items() if word != side}
    bound = float(words[side])
    return Finding(**others, estimate=float(estimate), low=float(low), high=float(high), side=SIDES[side], bound=bound)


def short(value: float) -> str:
    """Write a number so that it can be read at a glance.

    >>> short(6989.2), short(0.97999), short(0.0), short(0.0000195)
    ('6,989', '0.98', '0', '0.00002')
    """
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.5f}".rstrip("0") if 0.00001 <= abs(value) < 0.0001 else f"{value:.3g}"
