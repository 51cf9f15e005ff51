"""Which difference between the published code and the text does what: each one is switched off, and what changes seen.

One panel and one memory for each question, where the differences show.

>>> [trial.id for trial in TRIALS.values() if trial.question == "baseline"][:2]
['baseline/as-published', 'baseline/integer_means']
>>> TRIALS["baseline/integer_means"].label
'with means as fractions'
"""

import math
from dataclasses import dataclass
from typing import Any, Final

from bestbefore.paper import published
from bestbefore.paper.panels import Panel
from bestbefore.simulate.table import Row


@dataclass(frozen=True)
class Question:
    """A number of the published figures: of an algorithm, on a panel with one memory."""

    panel: Panel
    algorithm: str
    words: str

    @property
    def what(self) -> str:
        """What is measured, in words."""
        (memory,), panel = self.panel.memory, self.panel
        data = ", MovieLens 1M" if panel.needs_movielens else ""
        return f"{self.words}{data}, n = {panel.arms:,}, W = {panel.window}, memory {memory}"


QUESTIONS: Final = {
    "baseline": Question(Panel("explore", "uniform", 1000, 50, (10,)), "topk", "mean error of the top-k baseline"),
    "bucket": Question(Panel("explore", "uniform", 5000, 50, (2,)), "bucket", "mean error of Bucket"),
    "regret": Question(Panel("regret", "two-level", 1000, 50, (45,)), "reservoir", "regret of reservoir x UCB"),
    "movies": Question(Panel("explore", "movielens", 2000, 50, (8,)), "bucket", "mean error of Bucket"),
    "movies-regret": Question(Panel("regret", "movielens", 500, 20, (10,)), "reservoir", "regret of reservoir x UCB"),
}

INSTEAD: Final = {
    "integer_means": "means as fractions",
    "stale_minimum": "a look for the lowest mean whenever an arm arrives",
    "misaligned": "statistics that move up with their arms",
    "ignored_arms": "a first pull of every arm stored",
    "extra_step": "W steps of life, not W + 1",
    "extra_slot": "m slots for memory m, not m + 1",
    "late_admission": "admission with probability m / t, not m / (t + 1)",
    "closed_below": "slices closed above, not below",
    "spread_means": "one mean for all low arms",
    "first_movies": "n movies at random, not the first n",
    "bernoulli_ratings": "ratings as rewards, not 0 and 1",
    "large_budget": "1,000 pulls an epoch, not 100 W",
}
"""What there is with a switch of `published.Deviations` off."""


@dataclass(frozen=True)
class Trial:
    """The published code with some of its differences from the text switched off."""

    question: str
    off: tuple[str, ...]
    """The switches that are off."""

    @property
    def id(self) -> str:
        """A name that no other trial has."""
        return f"{self.question}/{_WHOLE.get(self.off) or '+'.join(self.off)}"

    @property
    def key(self) -> str:
        """A name that no other piece of work has."""
        return f"slips/{self.id}"

    @property
    def panel(self) -> Panel:
        """Where it is tried."""
        return QUESTIONS[self.question].panel

    @property
    def label(self) -> str:
        """What there is instead, in words."""
        if self.off in _WHOLE:
            return _WHOLE[self.off].replace("-", " ")
        return f"with {' and '.join(INSTEAD[switch] for switch in self.off)}"


_DESCRIBED = tuple(one for one in published.PUBLISHED._fields if one != "partial_windows")
_WHOLE = {(): "as-published", _DESCRIBED: "as-described"}
"""With no switch off and, but that all n epochs count, with all of them."""


def _trials(question: str, *switches: tuple[str, ...]) -> list[Trial]:
    return [Trial(question, off) for off in ((), *switches, _DESCRIBED)]


TRIALS: dict[str, Trial] = {
    trial.id: trial
    for trial in (
        *_trials("baseline", ("integer_means",), ("stale_minimum",), ("extra_step",), ("extra_slot",)),
        *_trials("bucket", ("closed_below",), ("extra_slot",)),
        *_trials(
            "regret",
            ("misaligned",),
            ("ignored_arms",),
            ("extra_step",),
            ("extra_slot",),
            ("late_admission",),
            ("spread_means",),
            ("misaligned", "ignored_arms"),
        ),
        *_trials("movies", ("first_movies",), ("bernoulli_ratings",), ("closed_below",), ("extra_slot",)),
        *_trials("movies-regret", ("first_movies",), ("bernoulli_ratings",), ("large_budget",)),
    )
}
"""The trials by id, in the order in which they are told."""


def run_trial(trial: Trial, seed: int = 0, runs: int = 10, path: str | None = None) -> list[Row]:
    """Run a trial, and return one row: the mean over runs, and its standard error; `path` is where MovieLens is."""
    deviations = published.PUBLISHED._replace(**dict.fromkeys(trial.off, False))
    settings: Any = {"deviations": deviations, "runs": runs, "seed": seed, "jobs": 1, "progress": False}
    panel, algorithm = trial.panel, QUESTIONS[trial.question].algorithm
    stream = panel.stream(path, deviations)
    if panel.task == "explore":
        values = published.explore(stream, panel.window, panel.memory, algorithm, **settings)["mean"]
    else:
        budget = panel.budget(deviations)
        values = published.regret(stream, panel.window, budget, panel.memory, algorithm, **settings)["regret"]
    error = float(values.std(ddof=1) / math.sqrt(runs))
    return [{"trial": trial.id, "runs": runs, "value": float(values.mean()), "error": error}]
