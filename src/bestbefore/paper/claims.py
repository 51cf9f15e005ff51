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

from collections.abc import Callable
from dataclasses import dataclass

from bestbefore.arguments import one_of
from bestbefore.paper.numbers import Numbers
from bestbefore.paper.panels import BUDGET, TASKS

Test = Callable[[Numbers, str], bool | None]
"""Takes the numbers of a panel and a reading, "published" or "described"; None if memories or runs cannot tell."""


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
    slip: Slip | None = None
    """None if no slip is known: a difference between published and described is then chance."""


def _beats_the_baseline(numbers: Numbers, reading: str) -> bool:
    own, baseline = numbers.of(reading), numbers.of(reading, baseline=True)
    return all(own[memory] < baseline[memory] for memory in own)


def _memory_is_lost_on_the_baseline(numbers: Numbers, reading: str) -> bool | None:
    """Say whether the baseline's number with the most memory is still more than half of that with the least."""
    baseline = numbers.of(reading, baseline=True)
    return baseline[max(baseline)] > 0.5 * baseline[min(baseline)] if len(baseline) > 1 else None


def _rises_before_the_window(numbers: Numbers, reading: str) -> bool | None:
    """Say whether regret rises at the last memory before W above the least before it, and falls by half at W."""
    means, window = numbers.of(reading), numbers.panel.window
    before = [means[memory] for memory in sorted(means) if memory < window]
    if len(before) < 2 or window not in means:
        return None
    return before[-1] > min(before[:-1]) and means[window] < 0.5 * before[-1]


def _costs_nothing_with_a_window(numbers: Numbers, reading: str) -> bool | None:
    runs = numbers.runs(reading)
    regrets = [regret for memory, values in runs.items() if memory >= numbers.panel.window for regret in values]
    return max(regrets) == 0 if regrets else None


def _is_a_gamble_below(numbers: Numbers, reading: str) -> bool | None:
    """Say whether with half a window or less the worst run loses a tenth of all there is more than the best run."""
    few = [values for memory, values in numbers.runs(reading).items() if memory <= numbers.panel.window / 2]
    wide = [max(values) - min(values) for values in few if len(values) > 1]  # one run has no range
    return min(wide) > 0.1 * BUDGET * numbers.panel.arms if wide else None


_ALL = (
    Claim(
        "explore-beats-baseline",
        "explore",
        "Bucket's error is below the baseline's at every memory",
        _beats_the_baseline,
        Slip(
            ("integer_means",),
            "In the public code the top-k baseline keeps its means in an array of whole numbers, so that every mean "
            "below 1 is 0 and it cannot tell good arms from bad ones.",
        ),
    ),
    Claim(
        "explore-baseline-flat",
        "explore",
        "more memory does not help the baseline",
        _memory_is_lost_on_the_baseline,
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
        Slip(
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
    ),
    Claim(
        "everlasting-wide-range",
        "everlasting",
        "below W the range over runs is wide",
        _is_a_gamble_below,
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
