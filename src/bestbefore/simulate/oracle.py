"""The oracle: what only the simulation knows, the true arms, the best valid mean at each time, the error of the answer.

The best of a sliding window is kept by the classic queue of falling means: an arm that is older and no better than
another can never be the best again.  On streams in random order the queue holds about ln W arms, and an arrival costs
constant time, amortised.

>>> queue = empty_queue(3)
>>> [next_best(queue, mean, window=2) for mean in (0.9, 0.5, 0.6)]
[0.9, 0.9, 0.6]
>>> errors = no_errors(length=2)
>>> record(errors, 0.2, epsilon=0.1)
>>> record(errors, 0.0, epsilon=0.1)
>>> summary(errors)
{'mean': 0.1, 'median': 0.1, 'max': 0.2, 'within': 0.5}
"""

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from bestbefore._jit import njit
from bestbefore.simulate.quantile import Sample, add, empty_sample, median
from bestbefore.streams import Arms
from bestbefore.streams.stream import bernoulli

NOW: Final = 0  # the number of the newest arrival on the stream's clock
HEAD: Final = 1
TAIL: Final = 2
ARRIVALS: Final = 3  # arrivals so far

WITHIN: Final = 0  # times at which the error was at most epsilon

SUM: Final = 0
MAX: Final = 1

ROUNDING: Final = 1e-12
"""An error of exactly epsilon counts as within, whatever the last bit of a subtraction says."""


class Queue(NamedTuple):
    """The arms that may still be the best of a window: numbers rising, means falling, between head and tail."""

    arrival: npt.NDArray[np.int64]
    mean: npt.NDArray[np.float64]
    marks: npt.NDArray[np.int64]


class Errors(NamedTuple):
    """The errors so far, summed up."""

    counts: npt.NDArray[np.int64]
    sums: npt.NDArray[np.float64]
    sample: Sample


def empty_queue(room: int) -> Queue:
    """Make an empty queue that takes `room` arrivals before it needs more."""
    return Queue(np.zeros(room, np.int64), np.zeros(room), np.zeros(4, np.int64))


def with_room(queue: Queue, arrivals: int) -> Queue:
    """Return the same queue with room for so many more arrivals: arms at its front, size no more than needed."""
    now, head, tail, before = queue.marks.tolist()
    moved = empty_queue(tail - head + arrivals)
    moved.arrival[: tail - head] = queue.arrival[head:tail]
    moved.mean[: tail - head] = queue.mean[head:tail]
    moved.marks[:] = now, 0, tail - head, before
    return moved


def true_arms(slots: int, like: Arms | None = None, before: Arms | None = None) -> Arms:
    """Make a row for each slot, for its arm as the stream gave it; with `before`, the same rows for another block.

    The kind of rewards is that of the block of arms `like`.
    """
    if like is None:
        return bernoulli(np.zeros(slots))
    means = np.zeros(slots) if before is None else before.means
    same = before is not None and before.levels.size == like.levels.size
    weights = before.weights if before is not None and same else np.zeros((slots, like.levels.size))
    return Arms(means, like.levels, weights, like.noise, np.zeros(0, np.int64))


@njit
def note_arm(true: Arms, slot: int, arms: Arms, arm: int) -> None:
    """Take note of the arm that stands in a slot from now on."""
    true.means[slot] = arms.means[arm]
    if arms.levels.size > 0:
        true.weights[slot, :] = arms.weights[arm, :]


def no_errors(length: int) -> Errors:
    """Make the record of a stream of `length` arms before it begins."""
    return Errors(np.zeros(1, np.int64), np.array([0.0, 0.0]), empty_sample(length))


@njit
def number_of(arms: Arms, arm: int) -> int:
    """Return the number of an arm on the stream's clock, or 0 where arrivals are counted."""
    return arms.times[arm] if arms.times.size > 0 else 0


@njit
def next_best(queue: Queue, mean: float, window: int, number: int = 0) -> float:
    """Let an arm of this mean arrive; return the best valid mean.  Without a number, arrivals are counted."""
    now = number if number > 0 else queue.marks[NOW] + 1
    head, tail = queue.marks[HEAD], queue.marks[TAIL]
    while tail > head and queue.mean[tail - 1] <= mean:
        tail -= 1
    while head < tail and queue.arrival[head] <= now - window:
        head += 1
    queue.arrival[tail] = now
    queue.mean[tail] = mean
    queue.marks[NOW], queue.marks[HEAD], queue.marks[TAIL] = now, head, tail + 1
    queue.marks[ARRIVALS] += 1
    return float(queue.mean[head])


@njit
def best_of_block(queue: Queue, arms: Arms, window: int) -> npt.NDArray[np.float64]:
    """Let a block of arms arrive, one after the other; return the best valid mean after each."""
    best = np.empty(arms.means.size)
    for arm in range(arms.means.size):
        best[arm] = next_best(queue, arms.means[arm], window, number_of(arms, arm))
    return best


@njit
def record(errors: Errors, error: float, epsilon: float) -> None:
    """Take the error of one time."""
    errors.sums[SUM] += error
    errors.sums[MAX] = max(errors.sums[MAX], error)
    errors.counts[WITHIN] += error <= epsilon + ROUNDING
    add(errors.sample, error)


@njit
def record_block(errors: Errors, block: npt.NDArray[np.float64], epsilon: float) -> None:
    """Take the errors of several times."""
    for error in block:
        record(errors, error, epsilon)


def summary(errors: Errors) -> dict[str, float]:
    """Return mean, median and maximum error, and the share of times within epsilon."""
    size = max(int(errors.sample.size[0]), 1)
    return {
        "mean": float(errors.sums[SUM] / size),
        "median": median(errors.sample),
        "max": float(errors.sums[MAX]),
        "within": float(errors.counts[WITHIN] / size),
    }
