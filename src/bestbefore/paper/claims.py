"""What the paper says of its own figures: one table of claims, each with its test and, if it has one, its slip.

Everything else refers to a claim by its id; its words are written here, and nowhere else.

>>> claim("regret-cliff").text
'regret goes up before memory is W, and falls there'
>>> [one.id for one in claims_of("explore")]
['explore-beats-baseline', 'explore-baseline-flat']
>>> claim("regret-clif")
Traceback (most recent call last):
ValueError: claim must be one of 'explore-beats-baseline', ..., not 'regret-clif'
"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bestbefore.arguments import one_of
from bestbefore.paper.chance import LEAST_RUNS, above_somewhere, below, both
from bestbefore.paper.numbers import Numbers
from bestbefore.paper.panels import BUDGET, TASKS, Panel

Test = Callable[[Numbers, str], bool | None]
"""Takes the numbers of a panel and a reading, "published" or "described"; None if the runs cannot tell."""


@dataclass(frozen=True)
class Slip:
    """What in the public code makes a claim hold that does not hold as described."""

    switches: tuple[str, ...]
    """Of `bestbefore.paper.deviations.Deviations`."""
    text: str


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper on the figures of a task, with its test."""

    id: str
    task: str
    text: str
    test: Test
    roles: tuple[str, ...]
    """Whose curves the test looks at: the "paper"'s, the "baseline"'s."""
    asked: Callable[[Panel], bool] = lambda panel: True
    """Whether the claim says anything of a panel, by its memories."""
    slip: Slip | None = None
    """None if no slip is known: a difference between published and described is then chance."""


TENTH = 0.1
"""What counts as a change: more than this share of a number."""
RANGE = 10
"""The paper's ranges are those of so many runs."""


def _beats_the_baseline(numbers: Numbers, reading: str) -> bool | None:
    """Say whether the algorithm's number is below the baseline's at every memory."""
    own, baseline = numbers.paired((reading, "paper"), (reading, "baseline"))
    return below({memory: own[memory] - baseline[memory] for memory in own})


def _memory_is_lost_on_the_baseline(numbers: Numbers, reading: str) -> bool | None:
    """Say whether the baseline's number falls by more than a tenth from no memory to a larger one."""
    baseline = numbers.runs(reading, "baseline")
    pairs = itertools.combinations(sorted(baseline), 2)
    return below({pair: (1 - TENTH) * baseline[pair[0]] - baseline[pair[1]] for pair in pairs})


def _rises_before_the_window(numbers: Numbers, reading: str) -> bool | None:
    """Say whether regret at the last memory before W is above that at a smaller one, and above that at W, too."""
    regrets, window = numbers.runs(reading, "paper"), numbers.panel.window
    *before, last = (memory for memory in sorted(regrets) if memory < window)
    rises = above_somewhere({memory: regrets[last] - regrets[memory] for memory in before})
    return both(rises, below({window: regrets[window] - regrets[last]}))


def _costs_nothing_with_a_window(numbers: Numbers, reading: str) -> bool | None:
    """Say whether every run has a regret of 0 with W slots or more: one run that has not is enough to say no."""
    runs, window = numbers.runs(reading, "paper"), numbers.panel.window
    regrets = np.array([values for memory, values in runs.items() if memory >= window])
    if regrets.max() > 0:
        return False
    return True if regrets.shape[1] >= LEAST_RUNS else None


def _is_a_gamble_below(numbers: Numbers, reading: str) -> bool | None:
    """Say whether with half a window or less the range of ten runs is more than a tenth of all there is.

    Ranges grow with the number of runs, so runs are taken ten by ten, and the mean of the ranges is tested.
    """
    panel, narrow = numbers.panel, {}
    for memory, values in numbers.runs(reading, "paper").items():
        if memory <= panel.window / 2:
            tens = values[: len(values) // RANGE * RANGE].reshape(-1, RANGE)
            narrow[memory] = TENTH * BUDGET * panel.arms - np.ptp(tens, axis=1)
    return below(narrow)


def _has_slope(panel: Panel) -> bool:
    return len(panel.memory) > 1


def _reaches_the_window(panel: Panel) -> bool:
    return panel.window in panel.memory and sum(memory < panel.window for memory in panel.memory) > 1


def _holds_a_window(panel: Panel) -> bool:
    return max(panel.memory) >= panel.window


def _holds_half_a_window(panel: Panel) -> bool:
    return min(panel.memory) <= panel.window / 2


_ALL = (
    Claim(
        "explore-beats-baseline",
        "explore",
        "Bucket's error is below the baseline's at every memory",
        _beats_the_baseline,
        ("paper", "baseline"),
        slip=Slip(
            ("integer_means",),
            "In the public code the top-k baseline keeps its means in an array of whole numbers, so that every mean "
            "below 1 is 0 and it cannot tell good arms from bad ones.",
        ),
    ),
    Claim(
        "explore-baseline-flat",
        "explore",
        "more memory does not help the baseline: its error never falls by more than a tenth",
        _memory_is_lost_on_the_baseline,
        ("baseline",),
        _has_slope,
        Slip(
            ("integer_means",),
            "This comes from the same array: a baseline that cannot rank arms gains nothing from room for more of "
            "them.",
        ),
    ),
    Claim(
        "regret-beats-baseline",
        "regret",
        "the paper's algorithm loses less than the baseline at every memory",
        _beats_the_baseline,
        ("paper", "baseline"),
        slip=Slip(
            ("integer_means",),
            "The baseline of regret keeps the same array of whole numbers.  Computed right, it is better with the "
            "least memories, where its tests are short; with more, they take up the budget of whole epochs.",
        ),
    ),
    Claim(
        "regret-cliff",
        "regret",
        "regret goes up before memory is W, and falls there",
        _rises_before_the_window,
        ("paper",),
        _reaches_the_window,
        Slip(
            ("misaligned", "ignored_arms"),
            "In the reservoir of the public code, arms that expire leave the list, but not the arrays of statistics "
            "beside it, so that the means and counts belong to other arms; and an arm that takes a free place is not "
            "pulled at all.  Both end only when memory holds the whole window.  It is no artifact of reservoir "
            "sampling, as the paper supposes.",
        ),
    ),
    Claim(
        "everlasting-no-regret",
        "everlasting",
        "regret is 0 in every run once memory is W",
        _costs_nothing_with_a_window,
        ("paper",),
        _holds_a_window,
    ),
    Claim(
        "everlasting-wide-range",
        "everlasting",
        "with half a window or less, ten runs range over more than a tenth of all there is",
        _is_a_gamble_below,
        ("paper",),
        _holds_half_a_window,
    ),
)
CLAIMS: dict[str, Claim] = {one.id: one for one in _ALL}
"""The claims by id, in the order in which they are told."""


def claim(id: str) -> Claim:
    """Return the claim of an id."""
    return CLAIMS[one_of("claim", id, CLAIMS)]


def claims_of(task: str) -> tuple[Claim, ...]:
    """Return the claims on a task."""
    one_of("task", task, TASKS)
    return tuple(one for one in CLAIMS.values() if one.task == task)
