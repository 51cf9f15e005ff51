"""Which difference between the published code and the text does what: each one is switched off, and what changes seen.

One panel for each of the two claims that hold as published only: the error of the top-k baseline, and the regret of
reservoir x UCB just below memory W, both for n = 1000, W = 50.

>>> [trial.id for trial in TRIALS.values() if trial.task == "explore"][:2]
['explore/as-published', 'explore/integer_means']
>>> TRIALS["explore/integer_means"].label
'with means as fractions'
"""

from dataclasses import dataclass
from typing import Any

from bestbefore import streams
from bestbefore.paper import published
from bestbefore.simulate.table import Row

ARMS, WINDOW = 1000, 50
MEMORY = {"explore": 10, "regret": 45}
WHAT = {
    "explore": f"mean error of the top-k baseline, memory {MEMORY['explore']}",
    "regret": f"regret of reservoir x UCB, memory {MEMORY['regret']}",
}
"""What is measured, in words."""


INSTEAD = {
    "integer_means": "means as fractions",
    "stale_minimum": "a look for the lowest mean whenever an arm arrives",
    "misaligned": "statistics that move up with their arms",
    "ignored_arms": "a first pull of every arm stored",
    "extra_step": "W steps of life, not W + 1",
    "extra_slot": "m slots for memory m, not m + 1",
    "late_admission": "admission with probability m / t, not m / (t + 1)",
}
"""What there is with a switch of `published.Deviations` off."""


@dataclass(frozen=True)
class Trial:
    """The published code with some of its differences from the text switched off."""

    task: str
    off: tuple[str, ...]
    """The switches that are off."""

    @property
    def id(self) -> str:
        """A name that no other trial has."""
        return f"{self.task}/{_WHOLE.get(self.off) or '+'.join(self.off)}"

    @property
    def key(self) -> str:
        """A name that no other piece of work has."""
        return f"slips/{self.id}"

    @property
    def label(self) -> str:
        """What there is instead, in words."""
        if self.off in _WHOLE:
            return _WHOLE[self.off].replace("-", " ")
        return f"with {' and '.join(INSTEAD[switch] for switch in self.off)}"


_DESCRIBED = tuple(one for one in published.PUBLISHED._fields if one != "partial_windows")
_WHOLE = {(): "as-published", _DESCRIBED: "as-described"}
"""With no switch off and, but that all n epochs count, with all of them."""


def _trials(task: str, *switches: tuple[str, ...]) -> list[Trial]:
    return [Trial(task, off) for off in ((), *switches, _DESCRIBED)]


TRIALS: dict[str, Trial] = {
    trial.id: trial
    for trial in (
        *_trials("explore", ("integer_means",), ("stale_minimum",), ("extra_step",), ("extra_slot",)),
        *_trials(
            "regret",
            ("misaligned",),
            ("ignored_arms",),
            ("extra_step",),
            ("extra_slot",),
            ("late_admission",),
            ("misaligned", "ignored_arms"),
        ),
    )
}
"""The trials by id, in the order in which they are told."""


def run_trial(trial: Trial, seed: int = 0, runs: int = 10) -> list[Row]:
    """Run a trial, and return one row: the mean over runs, and the range."""
    deviations = published.PUBLISHED._replace(**dict.fromkeys(trial.off, False))
    settings: Any = {"deviations": deviations, "runs": runs, "seed": seed, "jobs": 1, "progress": False}
    memory = MEMORY[trial.task]
    if trial.task == "explore":
        values = published.explore(streams.uniform(ARMS), WINDOW, memory, "topk", **settings)["mean"]
    else:
        stream = streams.two_level_spread(ARMS, WINDOW)
        values = published.regret(stream, WINDOW, 1000, memory, "reservoir", **settings)["regret"]
    numbers = {"runs": runs, "value": float(values.mean()), "low": float(values.min()), "high": float(values.max())}
    return [{"trial": trial.id} | numbers]
