"""The compiled loop of certified exploration: a block of arms runs through the rule of `bestbefore.probe.certify`.

Each arrival expires what is too old, is admitted, and is followed by pulls until the answer is certified and m slots
are enough, or the budget is spent.  The pulls of a batch are drawn at once.
"""

from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from bestbefore import bounds
from bestbefore._jit import njit
from bestbefore.memory import count
from bestbefore.probe.certificates import Certificates, Settings, admit, allowed, expire, no_certificates, told
from bestbefore.probe.certify import answer, decide
from bestbefore.probe.room import give_way
from bestbefore.simulate.clocked import NEVER, Crowd, Flags, Numbers, Shares
from bestbefore.simulate.oracle import (
    NOW,
    ROUNDING,
    Errors,
    Queue,
    empty_queue,
    next_best,
    no_errors,
    note_arm,
    number_of,
    record,
    true_arms,
    with_room,
)
from bestbefore.simulate.rewards import total_of
from bestbefore.simulate.seeds import generators
from bestbefore.streams import Arms, Stream

PULLS: Final = 0
PEAK: Final = 1
CERTIFIED: Final = 2  # times at which the answer was certified
BROKEN: Final = 3  # times at which the error was above the gap
MOST: Final = 4  # pulls after one arrival, at most

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


class Run(NamedTuple):
    """All that a run carries from block to block.

    `true` has a row for each slot, its arm as the stream gave it; `gaps` has the sum of all gaps.
    """

    certificates: Certificates
    true: Arms
    queue: Queue
    errors: Errors
    counts: Ints
    gaps: Floats


class Traced(NamedTuple):
    """Time by time: the answer's number, 0 for none, its error, its gap, and the pulls; empty if nobody asked."""

    answers: Ints
    errors: Floats
    gaps: Floats
    pulls: Ints


def start_run(slots: int, length: int) -> Run:
    """Make the state before the first arrival of a stream of `length` arms."""
    counts = np.zeros(5, np.int64)
    return Run(no_certificates(slots), true_arms(slots + 1), empty_queue(0), no_errors(length), counts, np.zeros(1))


def with_room_for(run: Run, arms: Arms) -> Run:
    """Return the same state with room for a block of arms and their kind of rewards."""
    true = true_arms(run.certificates.memory.arrival.size, arms, run.true)
    return run._replace(true=true, queue=with_room(run.queue, arms.means.size))


def traced(length: int) -> Traced:
    """Make room for so many times; for none, if nobody wants to know."""
    return Traced(np.zeros(length, np.int64), np.zeros(length), np.zeros(length), np.zeros(length, np.int64))


def _rows_of(seen: Traced, rows: slice) -> Traced:
    """Return the part of a trace that belongs to a block of arms."""
    return Traced(seen.answers[rows], seen.errors[rows], seen.gaps[rows], seen.pulls[rows])


def logs_of(window: int, delta: float, guarantee: str, length: int, *, reacts: bool = False) -> Floats:
    """Return ln(1 / p) of the lower and of the upper bound of each of `length` arms, as a guarantee needs it.

    Where it is the same for all arms, it takes no memory.
    """
    if guarantee != "anytime":
        shares = bounds.certificate_failures(window, delta, guarantee, length, reacts=reacts)
        return np.broadcast_to(-np.log(shares), (length, 2))
    blocks = range((length - 1) // window + 1)
    of_blocks = [bounds.certificate_failures(window, delta, guarantee, arrival=block * window + 1) for block in blocks]
    return np.repeat(-np.log(np.array(of_blocks)), window, axis=0)[:length]


def certify_stream(
    stream: Stream,
    window: int,
    logs: Floats | Shares,
    settings: Settings,
    *,
    most: int | None = None,
    budget: int = -1,
    seed: int = 0,
    run: int = 0,
    seen: Traced | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> tuple[Run, Traced]:
    """Run a whole stream, block by block; return the state at its end, and what was seen at each time.

    With `Shares` for `logs` the window is by time, and nothing is promised while more than `most` arms are valid.  What
    was seen is left out if `seen` is empty; `stop` may end the run early.
    """
    by_time = isinstance(logs, Shares)
    arms_rng, rewards, _ = generators(seed, run)
    state, start = start_run(settings.slots, stream.length), 0
    seen = traced(stream.length) if seen is None else seen
    numbers = Numbers(by_time, remember=seen.answers.size > 0)
    crowd = Crowd(window, most) if by_time and most is not None else None
    for arms in stream.blocks(arms_rng):
        rows = slice(start, start + arms.means.size)
        state, arms = with_room_for(state, arms), numbers.of(arms)
        each = logs.of(arms.times) if isinstance(logs, Shares) else np.ascontiguousarray(logs[rows])
        crowded = NEVER if crowd is None else crowd.beyond(arms.times)
        certify_block(state, arms, each, window, budget, settings, rewards, _rows_of(seen, rows), crowded)
        start = rows.stop
        if stop():
            break
    seen.answers[:] = numbers.arrivals(seen.answers)
    return state, seen


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
    crowded: Flags,
) -> None:
    """Run a block of arms; row i of `logs` is ln(1 / p) of the lower and of the upper bound of arm i.

    At most `budget` pulls follow an arrival; below 0 there is no limit.  Where `crowded`, if it is not empty, more arms
    are valid than the bounds allow for: nothing is promised then.
    """
    c = run.certificates
    for arm in range(arms.means.size):
        best = next_best(run.queue, arms.means[arm], window, number_of(arms, arm))
        now = run.queue.marks[NOW]
        expire(c, now - window + 1)
        slot = admit(c, now, logs[arm, 0], logs[arm, 1])
        note_arm(run.true, slot, arms, arm)
        spent = _spend(run, budget, settings, rewards)
        run.counts[PULLS] += spent
        run.counts[MOST] = max(run.counts[MOST], spent)
        run.counts[PEAK] = max(run.counts[PEAK], count(c.memory))
        chosen, gap, certified = answer(c, settings)
        if crowded.size > 0 and crowded[arm]:
            gap, certified = 1.0, False
        error = best - run.true.means[chosen]
        record(run.errors, error, allowed(best, settings))
        run.counts[CERTIFIED] += certified
        run.gaps[0] += gap
        run.counts[BROKEN] += error > gap + ROUNDING
        if trace.answers.size > 0:
            trace.answers[arm], trace.errors[arm] = c.memory.arrival[chosen], error
            trace.gaps[arm], trace.pulls[arm] = gap, spent


@njit
def _spend(run: Run, budget: int, settings: Settings, rewards: np.random.Generator) -> int:
    """Pull after an arrival until that is enough or the budget is spent; return the pulls."""
    c, spent = run.certificates, 0
    while budget < 0 or spent < budget:
        slot, pulls = decide(c, budget - spent if budget >= 0 else -1, settings)
        if slot < 0:
            break
        told(c, slot, pulls, total_of(run.true, slot, pulls, rewards), settings)
        spent += pulls
    while count(c.memory) > settings.slots:
        give_way(c, settings)
    return spent
