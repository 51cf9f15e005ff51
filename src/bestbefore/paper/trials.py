"""Many runs of certified exploration on eleven streams: what its guarantees are measured on.

Thousands of short runs would spend more time between runs than in them, so a compiled loop makes hundreds in a row, and
several such loops run at once.

>>> from bestbefore import bounds
>>> from bestbefore.probe.certificates import settings_of
>>> from bestbefore.simulate.certify_loop import logs_of
>>> stream = eleven_streams(arms=20, window=10, epsilon=0.4)["falling"]
>>> settings = settings_of(0.4, slots=bounds.memory(0.4), noise=stream.noise)
>>> (seen,) = run_trials([Trial(stream, 10, logs_of(10, 0.1, "weak", 20), settings, unlimited(300))])
>>> seen.errors.shape, bool((seen.gaps <= 0.4).all())
((300, 20), True)
"""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from bestbefore import streams
from bestbefore._jit import njit
from bestbefore.noise import Noise
from bestbefore.probe.certificates import Settings, expire
from bestbefore.simulate.apart import Do
from bestbefore.simulate.certify_loop import Run, Traced, certify_block, start_run, with_room_for
from bestbefore.simulate.parallel import run_all
from bestbefore.streams import Arms, Stream

EASY: Final = ("uniform", "beta(2,5)", "beta(5,2)", "near 1")
"""Streams in random order with a clear best arm, or with means so high that little can be better."""

ROWS: Final = 250
"""Runs that one compiled loop makes: enough that it does not matter what it takes to begin."""

NEVER: Final = 2**62
"""Later than all arrivals."""

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def eleven_streams(arms: int, window: int, epsilon: float) -> dict[str, Stream]:
    """Make the streams that all is measured on: random ones, falling and rising ones, and those with close calls.

    In "one arm better", one arm of each window is a little more than epsilon better than all the others.
    """
    one_better = np.full(arms, 0.5)
    one_better[window // 2 :: window] += 1.05 * epsilon
    return {
        "uniform": streams.uniform(arms),
        "beta(2,5)": streams.beta(arms, 2, 5),
        "beta(5,2)": streams.beta(arms, 5, 2),
        "near 1": streams.uniform(arms, 0.9, 1.0),
        "near 0": streams.uniform(arms, 0.0, 0.1),
        "two-level": streams.two_level(arms, window),
        "one arm better": streams.from_means(one_better),
        "falling": streams.decreasing(arms),
        "rising": streams.from_means(np.arange(arms) / arms),
        "sawtooth 2W": streams.sawtooth(arms, 2 * window),
        "all equal": streams.constant(arms),
    }


def unlimited(runs: int) -> Ints:
    """Return the budgets of so many runs without a limit."""
    return np.full(runs, -1, np.int64)


class Seen(NamedTuple):
    """What was seen: a row a run and a column a time, and the counts of `certify_loop`, a row a run."""

    answers: Ints
    errors: Floats
    gaps: Floats
    pulls: Ints
    counts: Ints


@dataclass(frozen=True)
class Trial:
    """Runs of a stream of at most `streams.BLOCK` arms, one for each of `budgets`: pulls an arrival, or -1.

    `first` is the number of its first run.
    """

    stream: Stream
    window: int
    logs: Floats
    settings: Settings
    budgets: Ints
    seed: int = 0
    first: int = 0

    def parts(self) -> "list[Trial]":
        """Cut it into parts that can be run at once; each draws numbers of its own."""
        cuts = range(0, self.budgets.size, ROWS)
        return [replace(self, budgets=self.budgets[start : start + ROWS], first=start) for start in cuts]

    def measure(self, stop: threading.Event, do: Do) -> Seen:
        """Run it all in one compiled loop."""
        runs, length = self.budgets.size, self.stream.length
        arms_rng, rewards = np.random.default_rng((self.seed, self.first)).spawn(2)
        drawn = [arms for _ in range(runs) for arms in self.stream.blocks(arms_rng)]
        means, weights = np.stack([arms.means for arms in drawn]), np.stack([arms.weights for arms in drawn])
        times = np.stack([arms.times for arms in drawn])
        state = with_room_for(start_run(self.settings.slots, runs * length), drawn[0])
        shape = (runs, length)
        seen = Seen(
            np.zeros(shape, np.int64),
            np.zeros(shape),
            np.zeros(shape),
            np.zeros(shape, np.int64),
            _no_counts(state, runs),
        )
        noise, levels, logs = self.stream.noise, drawn[0].levels, np.ascontiguousarray(self.logs)
        how = self.window, self.budgets, self.settings
        _run_rows(state, means, levels, weights, times, noise, logs, *how, rewards, seen)
        return seen


def run_trials(trials: Sequence[Trial]) -> list[Seen]:
    """Run all of them on all cores, in the order of the parts; return what was seen of each."""
    parts = [trial.parts() for trial in trials]
    done = iter(run_all([part for several in parts for part in several], progress=False))
    return [
        Seen(*(np.concatenate(rows) for rows in zip(*(next(done) for _ in several), strict=True))) for several in parts
    ]


def _no_counts(state: Run, runs: int) -> Ints:
    return np.zeros((runs, state.counts.size), np.int64)


@njit
def _run_rows(
    state: Run,
    means: Floats,
    levels: Floats,
    weights: Any,
    times: Ints,
    noise: Noise,
    logs: Floats,
    window: int,
    budgets: Ints,
    settings: Settings,
    rewards: np.random.Generator,
    seen: Seen,
) -> None:
    """Run a stream for each row of means, each from an empty memory."""
    crowded = np.zeros(0, np.bool_)
    for run in range(means.shape[0]):
        expire(state.certificates, NEVER)
        state.queue.marks[:] = 0
        state.counts[:] = 0
        arms = Arms(means[run], levels, weights[run], noise, times[run])
        traced = Traced(seen.answers[run], seen.errors[run], seen.gaps[run], seen.pulls[run])
        certify_block(state, arms, logs, window, budgets[run], settings, rewards, traced, crowded)
        seen.counts[run, :] = state.counts
