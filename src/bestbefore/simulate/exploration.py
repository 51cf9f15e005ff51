"""Exploration, simulated: how far the answer is from the best valid arm, for many rules, memories and runs."""

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bestbefore import plan
from bestbefore.arguments import MOST, whole
from bestbefore.clock import Length, window_of
from bestbefore.own import pointer
from bestbefore.plan import ExplorePlan, plan_exploration
from bestbefore.probe.challenge import challenge_unit
from bestbefore.rules import KEEP, PROBE
from bestbefore.simulate import certify_loop
from bestbefore.simulate.apart import Do, here
from bestbefore.simulate.certify_loop import certify_stream, logs_of
from bestbefore.simulate.chosen import Chosen, Factory, chosen, factory_of, numbers
from bestbefore.simulate.clocked import NEVER, Crowd, Numbers, Shares, check_times
from bestbefore.simulate.drive import Drive, drive_explore
from bestbefore.simulate.explore_loop import (
    PEAK,
    PULLS,
    Floats,
    Ints,
    Run,
    Settings,
    explore_block,
    start_run,
    with_room_for,
)
from bestbefore.simulate.made import Setting
from bestbefore.simulate.oracle import summary
from bestbefore.simulate.parallel import run_all
from bestbefore.simulate.ranks import no_ranks
from bestbefore.simulate.ranks import summary as summary_of_ranks
from bestbefore.simulate.seeds import generators, run_numbers
from bestbefore.simulate.table import Row, Table
from bestbefore.streams import Stream, as_stream


def explore(
    stream: Stream | Iterable[float],
    window: Length = plan.WINDOW,
    memory: int | Sequence[int] | None = None,
    keep: Chosen = plan.KEEP,
    *,
    epsilon: float | None = None,
    delta: float = plan.DELTA,
    guarantee: str = plan.GUARANTEE,
    probe: str | None = None,
    budget: int | None = None,
    relative: bool = False,
    reacts: bool = False,
    most: int | None = None,
    split: float | None = None,
    tests: int | str | None = None,
    slack: float | None = None,
    top: int = 1,
    spare: int = 0,
    runs: int | Sequence[int] = 10,
    seed: int = 0,
    jobs: int | None = None,
    progress: bool | None = None,
) -> Table:
    """Run a stream through each keep rule with each memory, `runs` times; return a table, one row each.

    `stream` is a stream, or the means of Bernoulli arms.  `keep` is a rule's name; or a function with the signature of
    a rule, see `bestbefore.keep`; or a function that makes an agent, see `bestbefore.simulate.drive`; or several of
    these; or a dict that gives them the names they have in the table, as in {"two tests": partial(Mine, tests=2)}.

    Slots and pulls are those of an `Explorer` with the same arguments: `memory` and `epsilon` may both be left out.
    With `memory` alone, epsilon is 3 / memory, and all arms are tested alike.  With an epsilon or a budget `staircase`
    certifies its answers instead, unless `probe` says otherwise.  `king` spends pulls in its own way, in one slot.

    `window` is a number of arrivals; or a time, such as "24h", on a stream that knows when its arms arrive, see
    `Stream.at`.  By time, `most` is how many arms may be valid at once: fixed tests need it, certificates do not, and
    while there are more, nothing is promised.

    Columns: keep, memory, run; mean, median and max error over all times, where the error is the best valid mean less
    the mean of the answer, and with no answer the best valid mean itself; within, the share of times with an error
    of at most epsilon; epsilon; pulls, of all arms together; peak_memory; gap, the mean over all times of how far the
    answer may be from the best with probability 1 - delta, which is 1 where nothing is promised; certified, the share
    of times at which it is promised that the answer is within epsilon.

    With `top` above 1 the best `top` arms are answered, of which mean, median and max describe the first; within is of
    all ranks at once; and mean_1, mean_2 ... are mean errors by rank: how far the mean of the r-th answer is from the
    r-th highest of valid arms.  `spare` is how many more ranks are kept.

    In one run all rules see the same arms.

    Parameters
    ----------
    stream
        The arms: a stream, or the means of Bernoulli arms.
    window
        Only the last W arrivals are valid, for a number W; or those of a time such as "24h", on a stream that knows
        when its arms arrive: see `Stream.at`.
    memory
        Slots: a number, or several.  Unless given, as many as epsilon needs.
    keep
        A keep rule: its name; a function with the signature of one, see `bestbefore.keep`; a function that makes an
        agent; several of these; or a dict that gives them the names that they have in the table.
    epsilon
        How far the answer may be from the best; with `memory` alone it is 3 / memory, and all arms are tested alike.
    delta
        The probability with which the guarantee may fail.
    guarantee
        "weak", "strong" or "anytime".
    probe
        "certify", "fixed" or "challenge"; unless given, what an `Explorer` would do.
    budget
        With certificates: at most so many pulls after each arrival.
    relative
        With certificates: epsilon is a share of the best mean.
    reacts
        With certificates: what arrives may depend on what was answered or pulled.
    most
        With a window by time: how many arms may be valid at once.
    split
        With fixed tests: the share of epsilon for the slices, see `bestbefore.bounds`.
    tests
        With fixed tests: pull each arm exactly this many times; or "paper", "pairs" or "exact".
    slack
        With fixed tests: how freely `staircase` may pass over new arms.
    top
        How many of the best arms are answered.
    spare
        How many more ranks are kept.
    runs
        How many runs, or which ones, as in range(5, 10).
    seed
        The same seed gives the same result, alone or in parallel.
    jobs
        How many threads or processes work at once; unless given, one for each core.
    progress
        Whether to show a progress bar; unless given, if standard error is a terminal.

    Examples
    --------
    >>> table = explore([0.1, 0.9, 0.6, 0.3], window=2, memory=2, keep=["fifo", "bucket"], runs=1, tests=1000)
    >>> [(row["keep"], round(row["max"], 6), row["pulls"], row["peak_memory"]) for row in table]
    [('fifo', 0.0, 4000, 2), ('bucket', 0.3, 4000, 2)]
    """
    settings: Any = {"epsilon": epsilon, "delta": delta, "guarantee": guarantee}
    settings |= {"probe": probe, "budget": budget, "relative": relative, "reacts": reacts}
    settings |= {"most": most, "split": split, "tests": tests, "slack": slack, "top": top, "spare": spare}
    pieces = explore_pieces(stream, window, memory, keep, runs=runs, seed=seed, **settings)
    return Table(run_all(pieces, jobs=jobs, label="exploring", progress=progress))


def explore_pieces(
    stream: Stream | Iterable[float],
    window: Length,
    memory: int | Sequence[int] | None,
    keep: Chosen,
    *,
    runs: int | Sequence[int],
    seed: int,
    **settings: Any,
) -> list["ExplorePiece"]:
    """Return the pieces of work of `explore`, one for each row of its table."""
    stream, seed = as_stream(stream), whole("seed", seed, at_least=0)
    setups = [
        (name, Setup(stream, window, slots, one, **settings))
        for name, one in chosen("keep", keep, KEEP).items()
        for slots in ([None] if memory is None else numbers("memory", memory))
    ]
    return [ExplorePiece(name, setup, run, seed) for name, setup in setups for run in run_numbers(runs)]


@dataclass(frozen=True)
class Trace:
    """Time by time, the answer (its arrival, 0 for none), its error, and its gap; with many runs, a row for each.

    The gap is how far the answer may be from the best with probability 1 - delta, 1 where nothing is promised.  Where
    the best k are answered, answers and errors have one more dimension, for ranks.
    """

    answers: Ints
    """The number of the arrival that is answered; 0 for none."""
    errors: Floats
    """How far its mean is from the best valid one."""
    gaps: Floats
    """How far it may be, with probability 1 - delta; 1 where nothing is promised."""


def trace(
    stream: Stream | Iterable[float],
    window: Length = plan.WINDOW,
    memory: int | None = None,
    keep: str | Factory = plan.KEEP,
    *,
    run: int = 0,
    runs: int | Sequence[int] | None = None,
    seed: int = 0,
    jobs: int | None = None,
    progress: bool | None = None,
    **settings: Any,
) -> Trace:
    """Return run number `run` of `explore`, time by time, or each of `runs`, a row a run.

    `settings` are others of its arguments, `epsilon` to `spare`.

    Parameters
    ----------
    stream
        The arms: a stream, or the means of Bernoulli arms.
    window
        Only the last W arrivals are valid, for a number W; or those of a time such as "24h", on a stream that knows
        when its arms arrive: see `Stream.at`.
    memory
        Slots.
    keep
        One keep rule, or a function that makes an agent.
    run
        The number of the run.
    runs
        How many runs, or which ones, as in range(5, 10).
    seed
        The same seed gives the same result, alone or in parallel.
    jobs
        How many threads or processes work at once; unless given, one for each core.
    progress
        Whether to show a progress bar; unless given, if standard error is a terminal.
    settings
        Other arguments of `explore`, from `epsilon` to `spare`.

    Examples
    --------
    >>> trace([0.1, 0.9, 0.5, 0.3], window=2, memory=2, tests=1000).answers.tolist()
    [1, 2, 2, 3]
    """
    asked = [whole("run", run, at_least=0)] if runs is None else run_numbers(runs)
    slots = None if memory is None else whole("memory", memory)
    pieces = explore_pieces(stream, window, slots, [keep], runs=asked, seed=seed, **settings)
    length = pieces[0].setup.stream.length
    size, top = (len(pieces), length), pieces[0].setup.plan.top
    ranked = size if top == 1 else (*size, top)
    result = Trace(np.zeros(ranked, np.int64), np.zeros(ranked), np.ones(size))
    traces = [Trace(*one) for one in zip(result.answers, result.errors, result.gaps, strict=True)]
    rows = [TracePiece(piece, one) for piece, one in zip(pieces, traces, strict=True)]
    run_all(rows, jobs=jobs, label="tracing", progress=progress)
    return traces[0] if runs is None else result


class Setup:
    """A rule, or an agent, with a memory on a stream: what is to be run, the arguments checked."""

    def __init__(
        self, stream: Stream, window: Length, memory: int | None, keep: str | Factory, **settings: Any
    ) -> None:
        self.stream, self.told, self.memory_is_open = stream, settings, memory is None
        self.factory = factory_of("keep", keep)
        by_time = window_of(window).by_time
        if self.factory and by_time and settings.get("most") is None:
            settings = settings | {"most": 1}  # for the tests of a rule, which an agent does not have
        rule = "topk" if self.factory else keep  # an agent promises nothing here, whatever its memory
        sigma = None if stream.noise.bounded else stream.noise.sigma
        self.plan: ExplorePlan = plan_exploration(
            rule, window, memory=memory, arms=stream.length, sigma=sigma, **settings
        )
        check_times(stream, window, by_time)
        self.memory = self.plan.memory if memory is None else memory
        self.epsilon = min(self.plan.epsilon, 1.0)
        if self.plan.budget is not None and self.plan.budget * stream.length > MOST:
            raise ValueError(f"budget must be below 2**53 for {stream.length} arms together, not {self.plan.budget}")
        if self.plan.budget is None and self.plan.tests_of(stream.length) * stream.length > MOST:
            raise ValueError(
                f"tests must be fewer than 2**53 for {stream.length} arms together; raise epsilon or lower n"
            )

    def tests_after(self, start: int, size: int) -> Ints:
        """Return how often each of `size` arms is pulled that come after the first `start`."""
        if self.plan.guarantee != "anytime":
            return np.full(size, self.plan.tests_of(1), np.int64)
        length = self.plan.most or 1  # within a block of so many arrivals it is the same
        blocks, places = np.unique(np.arange(start, start + size) // length, return_inverse=True)
        tests = [self.plan.tests_of(int(block) * length + 1) for block in blocks]
        return np.array(tests, np.int64)[places]


@dataclass(frozen=True)
class ExplorePiece:
    """One run of one rule with one memory."""

    name: str
    setup: Setup
    run: int
    seed: int

    def measure(self, stop: threading.Event, do: Do, traced: Trace | None = None) -> Row:
        """Run once, and return the row of the table; fill `traced` if given."""
        setup = self.setup
        names = {"keep": self.name, "memory": setup.memory, "run": self.run}
        if setup.factory:
            where = (setup.stream, setup.plan.window, setup.memory, self.seed, self.run)
            setting = Setting(*where, setup.told, setup.memory_is_open, setup.plan.by_time)
            arguments = {"epsilon": setup.epsilon} | (vars(traced) if traced else {})
            measured: Row = do(Drive(drive_explore, setup.factory, setting, arguments), stop)
            return names | measured
        made = setup.plan
        if made.probe == "certify":
            return names | self._certify(stop, traced)
        done, crowded = self._run(stop, traced)
        counts = {"epsilon": setup.epsilon, "pulls": int(done.counts[PULLS]), "peak_memory": int(done.counts[PEAK])}
        kept, length = setup.stream.length - crowded, setup.stream.length
        gap, certified = ((made.promise or 1.0) * kept + crowded) / length, kept / length * (made.promise is not None)
        shares = {"gap": gap if crowded else made.promise or 1.0, "certified": certified}
        errors = summary(done.errors)
        if made.top > 1:
            errors |= summary_of_ranks(done.ranks)
        return names | errors | counts | shares

    def _certify(self, stop: threading.Event, traced: Trace | None) -> Row:
        """Run a stream through certificates; return what was measured."""
        setup, made = self.setup, self.setup.plan
        counted = (made.window, made.delta, made.guarantee, setup.stream.length)
        logs = Shares(made) if made.by_time else logs_of(*counted, reacts=made.reacts)
        seen = certify_loop.traced(setup.stream.length) if traced else certify_loop.traced(0)
        budget = -1 if made.budget is None else made.budget
        done, _ = certify_stream(
            setup.stream,
            made.window,
            logs,
            made.certificates(),
            most=made.most,
            budget=budget,
            seed=self.seed,
            run=self.run,
            seen=seen,
            stop=stop.is_set,
        )
        if traced:
            traced.answers[:], traced.errors[:], traced.gaps[:] = seen.answers, seen.errors, seen.gaps
        counts = {"epsilon": setup.epsilon, "pulls": int(done.counts[PULLS]), "peak_memory": int(done.counts[PEAK])}
        times = max(setup.stream.length, 1)
        certified = float(done.counts[certify_loop.CERTIFIED] / times)
        return summary(done.errors) | counts | {"gap": float(done.gaps[0] / times), "certified": certified}

    def _run(self, stop: threading.Event, traced: Trace | None) -> tuple[Run, int]:
        """Run a stream through a rule, block by block; return at how many times nothing was promised, too.

        By time that is so while there are more valid arms than was said.
        """
        setup, made = self.setup, self.setup.plan
        arms_rng, rewards, rng = generators(self.seed, self.run)
        unit = challenge_unit(setup.epsilon, made.delta, made.noise.sigma)
        keep, probe = made.keep, PROBE[made.probe].number
        given = (probe, keep.number, keep.draws, made.window, setup.epsilon, made.slack, unit)
        settings = Settings(*given, made.ranks, made.top)
        own = None if keep.own is None else pointer("keep", keep.own)
        alone = traced is not None and made.top == 1
        answers, errors = (traced.answers, traced.errors) if traced and alone else (np.zeros(0, np.int64), np.zeros(0))
        ranks = no_ranks(made.top)
        if traced and not alone:
            ranks = ranks._replace(answers=traced.answers, errors=traced.errors)
        state = start_run(made.slots, setup.stream.length, ranks)
        numbers = Numbers(made.by_time, remember=traced is not None)
        crowd = Crowd(made.window, made.most) if made.by_time and made.most is not None else None
        start = crowded = 0
        for arms in setup.stream.blocks(arms_rng):
            rows = slice(start, start + arms.means.size)
            state, arms = with_room_for(state, arms), numbers.of(arms)
            tests = setup.tests_after(start, arms.means.size)
            if made.tests == "exact" and arms.levels.size > 2:
                raise ValueError(
                    "tests must be 'paper', 'pairs' or a number for ratings, not 'exact': that is for 0 and 1"
                )
            try:
                explore_block(state, arms, tests, settings, own, rewards, rng, answers[rows], errors[rows])
            except ValueError as wrong:
                raise ValueError(f"keep rule {keep.name!r}: {wrong}") from None
            beyond = NEVER if crowd is None else crowd.beyond(arms.times)
            crowded += int(beyond.sum())
            if traced:
                traced.gaps[rows] = made.promise or 1.0
                traced.gaps[rows][beyond.nonzero()] = 1.0
            start = rows.stop
            if stop.is_set():
                break
        if traced:
            traced.answers[:] = numbers.arrivals(traced.answers)
        return state, crowded


@dataclass(frozen=True)
class TracePiece:
    """One run, time by time."""

    piece: ExplorePiece
    traced: Trace

    def measure(self, stop: threading.Event, do: Do) -> None:
        """Run once, in this process, and fill the arrays."""
        self.piece.measure(stop, here, self.traced)
