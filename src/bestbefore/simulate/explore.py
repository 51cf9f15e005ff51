"""Exploration, simulated: how far the answer is from the best valid arm, for many rules, memories and runs."""

import math
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bestbefore import bounds, rules
from bestbefore.arguments import MOST, between, one_of, whole
from bestbefore.pull.challenge import challenge_unit
from bestbefore.simulate.drive import Drive, drive_explore
from bestbefore.simulate.kernel import PEAK, PULLS, Floats, Ints, Run, Settings, explore_block, start_run, with_room_for
from bestbefore.simulate.made import Factory, Setting
from bestbefore.simulate.named import Named, named
from bestbefore.simulate.parallel import run_all
from bestbefore.simulate.seeds import generators, run_numbers
from bestbefore.simulate.table import Row, Table
from bestbefore.simulate.truth import summary
from bestbefore.streams import Stream, as_stream


def explore(
    stream: Stream | Iterable[float],
    window: int = 50,
    memory: int | Sequence[int] | None = None,
    keep: Named = "staircase",
    *,
    epsilon: float | None = None,
    delta: float = 0.01,
    guarantee: str = "strong",
    split: float = bounds.PAPER_SPLIT,
    pulls: int | None = None,
    slack: float | None = None,
    runs: int | Sequence[int] = 10,
    seed: int = 0,
    jobs: int | None = None,
    progress: bool | None = None,
) -> Table:
    """Run a stream through each keep rule with each memory, `runs` times; return a table, one row each.

    `stream` is a stream, or the means of Bernoulli arms.  `keep` is a rule's name, or a function that makes an agent
    with the four verbs, told what its parameters name of `window`, `memory`, `seed`, `epsilon`, `delta` and `arms`, and
    held to its memory; or several of these; or a dict that gives them the
    names they have in the table, as in {"two tests": partial(Mine, tests=2)}.

    All rules pull each arm equally often (`king` spends pulls in its own way): as often as Algorithm 1 does to promise
    `epsilon`, or with no `epsilon` the least one that the memory can promise, 3 / memory; or `pulls` times, if given.

    `slack` is that of `staircase`: unless given, 0 (strict) with an `epsilon` to promise, and 1 without.

    Columns: keep, memory, run; mean, median and max error over all times, where the error is the best valid mean less
    the mean of the answer, and with no answer the best valid mean itself; within, the share of times with an error
    of at most epsilon; epsilon; pulls, of all arms together; peak_memory.

    `runs` is how many, or which ones, as in range(5, 10).  The same seed gives the same table, alone or in parallel.
    In one run all rules see the same arms.

    >>> table = explore([0.1, 0.9, 0.6, 0.3], window=2, memory=2, keep=["fifo", "bucket"], runs=1, pulls=1000)
    >>> [(row["keep"], round(row["max"], 6), row["pulls"], row["peak_memory"]) for row in table]
    [('fifo', 0.0, 4000, 2), ('bucket', 0.3, 4000, 2)]
    """
    stream, memories = as_stream(stream), _memories(memory, epsilon, split)
    settings: Any = {"epsilon": epsilon, "delta": delta, "guarantee": guarantee}
    settings |= {"split": split, "pulls": pulls, "slack": slack}
    setups = [
        (name, Setup(stream, rule, slots, window, **settings))
        for name, rule in named("keep", keep, rules.KEEP).items()
        for slots in memories
    ]
    seed = whole("seed", seed, at_least=0)
    pieces = [(name, setup, run) for name, setup in setups for run in run_numbers(runs)]

    def own(piece: tuple[str, Setup, int]) -> Drive | None:
        _, setup, run = piece
        told = {"epsilon": epsilon, "delta": setup.delta}
        where = Setting(stream, setup.window, setup.slots, seed, run, told)
        return Drive(drive_explore, setup.keep, where, {"epsilon": setup.epsilon}) if callable(setup.keep) else None

    jobs = None if jobs is None else whole("jobs", jobs)
    measured = run_all(
        lambda piece, stop: _measured(*piece[1:], seed, stop),
        pieces,
        apart=own,
        jobs=jobs,
        label="exploring",
        progress=progress,
    )
    names = [{"keep": name, "memory": setup.slots, "run": run} for name, setup, run in pieces]
    return Table([name | row for name, row in zip(names, measured, strict=True)])


@dataclass(frozen=True)
class Trace:
    """One run, time by time: the answer (its arrival, 0 for none) and its error."""

    answers: Ints
    errors: Floats


def trace(
    stream: Stream | Iterable[float],
    window: int = 50,
    memory: int | None = None,
    keep: str = "staircase",
    *,
    run: int = 0,
    seed: int = 0,
    **settings: Any,
) -> Trace:
    """Return run number `run` of `explore`, time by time; `settings` are others of its arguments, `epsilon` to `slack`.

    >>> trace([0.1, 0.9, 0.5, 0.3], window=2, memory=2, pulls=1000).answers.tolist()
    [1, 2, 2, 3]
    """
    stream = as_stream(stream)
    slots = _memories(memory, settings.get("epsilon"), settings.get("split", bounds.PAPER_SPLIT))
    if len(slots) != 1:
        raise ValueError(f"memory must be one number of slots, not {memory!r}")
    setup = Setup(stream, one_of("keep", keep, rules.KEEP), slots[0], window, **settings)
    result = Trace(np.zeros(stream.length, np.int64), np.zeros(stream.length))
    run, seed = whole("run", run, at_least=0), whole("seed", seed, at_least=0)
    _run_compiled(setup, seed, run, threading.Event(), result)
    return result


class Setup:
    """A rule with a memory on a stream, its arguments checked and what they left open derived."""

    def __init__(
        self,
        stream: Stream,
        keep: str | Factory,
        slots: int,
        window: int,
        *,
        epsilon: float | None = None,
        delta: float = 0.01,
        guarantee: str = "strong",
        split: float = bounds.PAPER_SPLIT,
        pulls: int | None = None,
        slack: float | None = None,
    ) -> None:
        self.stream, self.slots, self.window = stream, slots, whole("window", window)
        self.keep = keep if callable(keep) else one_of("keep", keep, rules.KEEP)
        self.delta = between("delta", delta, 0, 1)
        self.guarantee = one_of("guarantee", guarantee, bounds.GUARANTEES)
        self.pulls = None if pulls is None else whole("pulls", pulls)
        if slack is None:
            slack = 1.0 if epsilon is None else 0.0
        self.slack = between("slack", slack, 0, math.inf, closed="left")
        if epsilon is None:
            self.epsilon, self.noise = min(bounds.epsilon_for_memory(slots), 1.0), 1 / slots
        else:
            self.epsilon, self.noise = float(epsilon), bounds.noise(epsilon, split)
        if self.pulls_of(stream.length) * stream.length > MOST:
            raise ValueError(
                f"pulls must be fewer than 2**53 for {stream.length} arms together; raise epsilon or lower n"
            )

    def pulls_of(self, arrival: int) -> int:
        """Return how often the arm of this arrival is pulled."""
        if self.pulls is not None:
            return self.pulls
        failure = bounds.failure(self.window, self.delta, self.guarantee, self.stream.length, arrival)
        return bounds.pulls_for_noise(self.noise, failure, self.stream.sigma)

    def pulls_after(self, start: int, size: int) -> Ints:
        """Return how often each of `size` arms is pulled that come after the first `start`."""
        if self.guarantee != "anytime":
            return np.full(size, self.pulls_of(1), np.int64)
        blocks, places = np.unique(np.arange(start, start + size) // self.window, return_inverse=True)
        return np.array([self.pulls_of(int(block) * self.window + 1) for block in blocks], np.int64)[places]


def _memories(memory: int | Sequence[int] | None, epsilon: float | None, split: float) -> list[int]:
    """Return the memory sizes asked for, or the one that Algorithm 1 needs for epsilon."""
    if memory is not None:
        return memories_of(memory)
    if epsilon is None:
        raise ValueError("memory or epsilon must be given: a number of slots, or the accuracy that they are for")
    return [bounds.memory(epsilon, split)]


def memories_of(memory: int | Sequence[int]) -> list[int]:
    """Return the memory sizes asked for, one or many."""
    sizes: Any = memory if isinstance(memory, Iterable) else [memory]
    found = [whole("memory", size) for size in sizes]
    if not found:
        raise ValueError("memory must name at least one number of slots, not []")
    return found


def _measured(setup: Setup, run: int, seed: int, stop: threading.Event) -> Row:
    """Run once, and return the measured columns of the row."""
    done = _run_compiled(setup, seed, run, stop)
    counts = {"epsilon": setup.epsilon, "pulls": int(done.counts[PULLS]), "peak_memory": int(done.counts[PEAK])}
    return summary(done.errors) | counts


def _run_compiled(setup: Setup, seed: int, run: int, stop: threading.Event, result: Trace | None = None) -> Run:
    """Run a stream through a rule by name, block by block; fill `result` if given."""
    arms_rng, rewards, luck = generators(seed, run)
    unit = challenge_unit(setup.epsilon, setup.delta, setup.stream.sigma)
    settings = Settings(rules.KEEP[str(setup.keep)], setup.window, setup.epsilon, setup.slack, unit)
    slots = 1 if setup.keep == "king" else setup.slots
    answers, errors = (result.answers, result.errors) if result else (np.zeros(0, np.int64), np.zeros(0))
    state = start_run(slots, setup.stream.length)
    start = 0
    for arms in setup.stream.blocks(arms_rng):
        rows = slice(start, start + arms.means.size)
        state = with_room_for(state, arms)
        pulls = setup.pulls_after(start, arms.means.size)
        explore_block(state, arms, pulls, settings, rewards, luck, answers[rows], errors[rows])
        start = rows.stop
        if stop.is_set():
            break
    return state
