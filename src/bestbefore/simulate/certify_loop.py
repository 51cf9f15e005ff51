"""The compiled loop of certified exploration: a block of arms runs through the rule of `bestbefore.probe.certify`.

Each arrival expires what is too old, is admitted, and is followed by pulls until the answer is certified and m slots
are enough, or the budget is spent.  An arm is pulled in batches of a sixteenth of its pulls so far, drawn at once.
"""

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from bestbefore._jit import njit
from bestbefore.memory import count
from bestbefore.probe.certificates import Certificates, Settings, admit, allowed, expire, no_certificates, told
from bestbefore.probe.certify import answer, batch, give_way, next_ahead, next_pull
from bestbefore.simulate.oracle import (
    NOW,
    Errors,
    Queue,
    empty_queue,
    next_best,
    no_errors,
    note_arm,
    record,
    true_arms,
    with_room,
)
from bestbefore.simulate.rewards import total_of
from bestbefore.streams import Arms

PULLS: Final = 0
PEAK: Final = 1
CERTIFIED: Final = 2  # times at which the answer was certified
BROKEN: Final = 3  # times at which the error was above the gap
MOST: Final = 4  # pulls after one arrival, at most

BATCH: Final = 16
"""An arm is pulled one time in so many of its pulls so far before bounds are computed anew."""
ROUNDING: Final = 1e-12

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


class Run(NamedTuple):
    """All that a run carries from block to block; `true` has a row for each slot, its arm as the stream gave it."""

    certificates: Certificates
    true: Arms
    queue: Queue
    errors: Errors
    counts: Ints


class Traced(NamedTuple):
    """Time by time: the answer's arrival, 0 for none, its error, its gap, and the pulls; empty if nobody asked."""

    answers: Ints
    errors: Floats
    gaps: Floats
    pulls: Ints


def start_run(slots: int, length: int) -> Run:
    """Make the state before the first arrival of a stream of `length` arms."""
    counts = np.zeros(5, np.int64)
    return Run(no_certificates(slots), true_arms(slots + 1), empty_queue(0), no_errors(length), counts)


def with_room_for(run: Run, arms: Arms) -> Run:
    """Return the same state with room for a block of arms and their kind of rewards."""
    true = true_arms(run.certificates.memory.arrival.size, arms, run.true)
    return run._replace(true=true, queue=with_room(run.queue, arms.means.size))


def no_trace() -> Traced:
    """Return what is filled when nobody wants to know each time."""
    return traced(0)


def traced(length: int) -> Traced:
    """Make room for so many times."""
    return Traced(np.zeros(length, np.int64), np.zeros(length), np.zeros(length), np.zeros(length, np.int64))


@njit
def certify_block(
    run: Run,
    arms: Arms,
    logs: Floats,
    window: int,
    budget: int,
    settings: Settings,
    rewards: np.random.Generator,
    trace: Traced,
) -> None:
    """Run a block of arms; row i of `logs` is ln(1 / p) of the lower and of the upper bound of arm i.

    At most `budget` pulls follow an arrival; below 0 there is no limit.
    """
    c = run.certificates
    for arm in range(arms.means.size):
        best = next_best(run.queue, arms.means[arm], window)
        now = run.queue.marks[NOW]
        expire(c, now - window + 1)
        slot = admit(c, now, logs[arm, 0], logs[arm, 1])
        note_arm(run.true, slot, arms, arm)
        spent = _spend(run, budget, settings, rewards)
        run.counts[PULLS] += spent
        run.counts[MOST] = max(run.counts[MOST], spent)
        run.counts[PEAK] = max(run.counts[PEAK], count(c.memory))
        chosen, gap = answer(c, settings)
        error = best - run.true.means[chosen]
        record(run.errors, error, settings.epsilon)
        run.counts[CERTIFIED] += gap <= allowed(c.lower[chosen] + gap, settings)
        run.counts[BROKEN] += error > gap + ROUNDING
        if trace.answers.size > 0:
            trace.answers[arm], trace.errors[arm] = c.memory.arrival[chosen], error
            trace.gaps[arm], trace.pulls[arm] = gap, spent


@njit
def _spend(run: Run, budget: int, settings: Settings, rewards: np.random.Generator) -> int:
    """Pull after an arrival until that is enough or the budget is spent; return the pulls."""
    c, spent = run.certificates, 0
    while budget < 0 or spent < budget:
        slot = next_pull(c, settings)
        if slot < 0 and budget >= 0:
            slot = next_ahead(c, settings)
        if slot < 0:
            break
        pulls = batch(c, slot, settings)
        if budget >= 0:
            pulls = min(pulls, budget - spent)
        told(c, slot, pulls, total_of(run.true, slot, pulls, rewards))
        spent += pulls
    while count(c.memory) > settings.slots:
        give_way(c, settings)
    return spent
