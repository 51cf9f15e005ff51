"""The oracle of the best k: the k highest means of valid arms at each time, and how far each answer is from its rank.

An arm can never be one of the best k again once k newer ones are no worse: what is left of the window is its k-skyband,
about k (1 + ln(W / k)) arms in random order.  Each arrival looks at all of them.

The error of rank r is the difference between the r-th highest mean of valid arms and the mean of the r-th answer,
either way; an answer that is missing counts as one of mean 0, and so does an arm that is.

>>> ranks = with_room(no_ranks(top=2), arrivals=3)
>>> for now, mean in enumerate((0.5, 0.9, 0.6), start=1):
...     next_means(ranks, now, mean, oldest=now - 1)
...     print(ranks.best.tolist())
[0.5, 0.0]
[0.9, 0.5]
[0.9, 0.6]
>>> take(ranks, np.array([2, 0]), np.array([0.9, 0.0]), epsilon=0.1)      # a second answer is missing
>>> summary(ranks)
{'within': 0.0, 'mean_1': 0.0, 'mean_2': 0.6}
"""

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from bestbefore._jit import njit
from bestbefore.memory import Memory, leaders, note_highest
from bestbefore.simulate.oracle import ROUNDING

SIZE: Final = 0  # arms in the skyband
TIMES: Final = 1
WITHIN: Final = 2  # times at which all ranks were within epsilon

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


class Ranks(NamedTuple):
    """The skyband, oldest arm first, each with the number of newer ones that are no worse; and errors so far, by rank.

    `answers` and `errors` have a row for each time and a column for each rank, or no rows if nobody asked.
    """

    arrival: Ints
    mean: Floats
    beaten: Ints
    counts: Ints
    best: Floats
    sums: Floats
    answers: Ints
    errors: Floats


def no_ranks(top: int, times: int = 0) -> Ranks:
    """Make the state before the first arrival; `times` is how many are to be traced."""
    band = np.zeros(0, np.int64), np.zeros(0), np.zeros(0, np.int64)
    traced = np.zeros((times, top), np.int64), np.zeros((times, top))
    return Ranks(*band, np.zeros(3, np.int64), np.zeros(top), np.zeros(top), *traced)


def with_room(ranks: Ranks, arrivals: int) -> Ranks:
    """Return the same state with room for so many more arrivals."""
    size = int(ranks.counts[SIZE])
    arrival, mean, beaten = (
        np.concatenate([column[:size], np.zeros(arrivals, column.dtype)])
        for column in (ranks.arrival, ranks.mean, ranks.beaten)
    )
    return ranks._replace(arrival=arrival, mean=mean, beaten=beaten)


@njit
def next_means(ranks: Ranks, now: int, mean: float, oldest: int) -> None:
    """Let an arm arrive, and all that came before `oldest` expire; `best` has the highest means then."""
    ranks.best[:] = 0.0
    kept = 0
    for place in range(ranks.counts[SIZE]):
        beaten = ranks.beaten[place] + (ranks.mean[place] <= mean)
        if ranks.arrival[place] >= oldest and beaten < ranks.best.size:
            ranks.arrival[kept], ranks.mean[kept] = ranks.arrival[place], ranks.mean[place]
            ranks.beaten[kept] = beaten
            note_highest(ranks.best, ranks.mean[kept])
            kept += 1
    ranks.arrival[kept], ranks.mean[kept], ranks.beaten[kept] = now, mean, 0
    note_highest(ranks.best, mean)
    ranks.counts[SIZE] = kept + 1


@njit
def take(ranks: Ranks, answers: Ints, means: Floats, epsilon: float) -> None:
    """Take the answers of a time, best first, by arrival (0 for none), and their means (0 for none)."""
    time, all_within = ranks.counts[TIMES], True
    for rank in range(ranks.best.size):
        error = abs(ranks.best[rank] - means[rank])
        all_within &= error <= epsilon + ROUNDING
        ranks.sums[rank] += error
        if time < ranks.errors.shape[0]:
            ranks.answers[time, rank], ranks.errors[time, rank] = answers[rank], error
    ranks.counts[WITHIN] += all_within
    ranks.counts[TIMES] = time + 1


@njit
def take_leaders(ranks: Ranks, memory: Memory, true_means: Floats, epsilon: float) -> None:
    """Take what is stored, by empirical mean, as the answers of a time; `true_means` are those of the slots."""
    answers, means = np.zeros(ranks.best.size, np.int64), np.zeros(ranks.best.size)
    slots = leaders(memory, ranks.best.size)
    for rank in range(slots.size):
        answers[rank], means[rank] = memory.arrival[slots[rank]], true_means[slots[rank]]
    take(ranks, answers, means, epsilon)


def summary(ranks: Ranks) -> dict[str, float]:
    """Return the share of times at which all ranks were within epsilon, and the mean error of each."""
    times = max(int(ranks.counts[TIMES]), 1)
    means = {f"mean_{rank}": float(total / times) for rank, total in enumerate(ranks.sums, start=1)}
    return {"within": float(ranks.counts[WITHIN] / times)} | means
