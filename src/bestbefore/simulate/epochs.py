"""Epoch-wise regret, simulated: what is lost by not pulling the best valid arm, for many rules, memories and runs."""

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bestbefore import bounds, plan
from bestbefore.arguments import one_of, whole
from bestbefore.clock import Length
from bestbefore.own import pointer
from bestbefore.plan import PlayPlan, plan_play
from bestbefore.rules import KEEP_TO_PLAY, PULL
from bestbefore.simulate.apart import Do, here
from bestbefore.simulate.budgets import Budgets, Ints, as_budgets, checked
from bestbefore.simulate.chosen import Chosen, Factory, chosen, factory_of, numbers
from bestbefore.simulate.clocked import Numbers, check_times
from bestbefore.simulate.drive import Drive, drive_play
from bestbefore.simulate.index_check import check_index
from bestbefore.simulate.made import Setting
from bestbefore.simulate.parallel import run_all
from bestbefore.simulate.play_loop import (
    PEAK,
    PULLS,
    SWITCHES,
    Floats,
    Play,
    Settings,
    play_block,
    play_with_room_for,
    start_play,
)
from bestbefore.simulate.seeds import budget_generator, generators, run_numbers
from bestbefore.simulate.table import Row, Table
from bestbefore.streams import Stream, as_stream

ITS_OWN = "its own"
"""The pull rule of an agent."""


def play(
    stream: Stream | Iterable[float],
    window: Length = plan.WINDOW,
    budgets: int | Sequence[int] | Budgets = 1000,
    memory: int | Sequence[int] | None = None,
    keep: Chosen = plan.PLAY_KEEP,
    pull: Chosen = plan.PLAY_PULL,
    *,
    delta: float = plan.PLAY_DELTA,
    carry: bool = True,
    partial: bool = True,
    epsilon: float | str | None = None,
    leaps: bool = True,
    most: int | None = None,
    runs: int | Sequence[int] = 10,
    seed: int = 0,
    jobs: int | None = None,
    progress: bool | None = None,
) -> Table:
    """Play a stream with each keep rule, pull rule and memory, `runs` times; return a table, one row each.

    Each window position comes with a budget of exactly so many pulls: `budgets` is one number for all, a list, or one
    of `simulate.budgets`.  Epochs begin with the first arrival; `partial=False` begins when the first window is full,
    as the paper defines it; by time, with the first arrival that comes a window after the very first.  `memory` is 20
    unless given, or the window if that is less, as for a `Player`.  An arriving arm takes a slot before it is pulled.

    Statistics carry over from window to window; with `carry=False` each window begins afresh (as `inf` always does).
    `delta` is the confidence of `ucb`.  `epsilon` is that of `commit`: unless given, 3 / memory, and "best" is the one
    that makes its bound the least, for all budgets together.  `leaps=False` pulls one by one: the same distribution,
    slower.

    `keep` may also be a function with the signature of a keep rule, see `bestbefore.keep`, and `pull` one with that of
    an index, see `bestbefore.pull`; or `keep` a function that makes an agent, see `bestbefore.simulate.drive`: `pull`
    then says nothing to it.  A dict gives names, as in `explore`.

    `window` may be a time, such as "24h", on a stream that knows when its arms arrive, see `Stream.at`.  `most`, how
    many arms may be valid at once, is then needed by `commit`.

    Columns: keep, pull, memory, run, regret, pulls, switches (how often the arm that is pulled changed), peak_memory.
    How hard the arms of a run are, its gaps and the Lai-Robbins constant of each window, is said by `simulate.gaps`.

    In one run all rules see the same arms and budgets.

    Parameters
    ----------
    stream
        The arms: a stream, or the means of Bernoulli arms.
    window
        Only the last W arrivals are valid, for a number W; or those of a time such as "24h", on a stream that knows
        when its arms arrive: see `Stream.at`.
    budgets
        The pulls of each epoch: one number for all, a list, or one of `simulate.budgets`.
    memory
        Slots: a number, or several.  Unless given 20, or the window if that is less.
    keep
        A keep rule: its name, a function, a function that makes an agent, several of these, or a dict that names them.
    pull
        A pull rule: its name, an index of your own, several of these, or a dict that names them.
    delta
        The confidence of `ucb`.
    carry
        Whether statistics carry over from window to window.
    partial
        Whether epochs begin with the first arrival, or when the first window is full.
    epsilon
        That of `commit`: unless given 3 / memory; "best" is the one that makes its bound the least.
    leaps
        Whether many pulls are drawn at once; without, the same distribution, slower.
    most
        With a window by time: how many arms may be valid at once.
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
    >>> table = play([0.1, 0.9, 0.5, 0.3], window=2, budgets=100, memory=2, keep="fifo", pull=["ucb", "moss"], runs=1)
    >>> [(row["pull"], row["pulls"], row["peak_memory"], row["regret"] > 0) for row in table]
    [('ucb', 400, 2, True), ('moss', 400, 2, True)]
    """
    settings: Any = {"delta": delta, "carry": carry, "partial": partial, "epsilon": epsilon, "leaps": leaps}
    settings["most"] = most
    pieces = play_pieces(stream, window, budgets, memory, keep, pull, runs=runs, seed=seed, **settings)
    return Table(run_all(pieces, jobs=jobs, label="playing", progress=progress))


def play_pieces(
    stream: Stream | Iterable[float],
    window: Length,
    budgets: int | Sequence[int] | Budgets,
    memory: int | Sequence[int] | None,
    keep: Chosen,
    pull: Chosen,
    *,
    runs: int | Sequence[int],
    seed: int,
    **settings: Any,
) -> list["PlayPiece"]:
    """Return the pieces of work of `play`, one for each row of its table."""
    stream, seed = as_stream(stream), whole("seed", seed, at_least=0)
    pulls = chosen("pull", pull, PULL)
    setups = [
        (name, rule, Setup(stream, window, budgets, slots, one, pulls.get(rule), **settings))
        for name, one in chosen("keep", keep, KEEP_TO_PLAY).items()
        for rule in ([ITS_OWN] if factory_of("keep", one) else pulls)
        for slots in ([None] if memory is None else numbers("memory", memory))
    ]
    return [PlayPiece(name, rule, setup, run, seed) for name, rule, setup in setups for run in run_numbers(runs)]


def epoch_regrets(
    stream: Stream | Iterable[float],
    window: Length = plan.WINDOW,
    budgets: int | Sequence[int] | Budgets = 1000,
    memory: int | None = None,
    keep: str | Factory = plan.PLAY_KEEP,
    pull: str | Factory = plan.PLAY_PULL,
    *,
    run: int = 0,
    runs: int | Sequence[int] | None = None,
    seed: int = 0,
    jobs: int | None = None,
    progress: bool | None = None,
    **settings: Any,
) -> Floats:
    """Return the regret of each epoch in run number `run` of `play`, or in each of `runs`, a row a run.

    Parameters
    ----------
    stream
        The arms: a stream, or the means of Bernoulli arms.
    window
        Only the last W arrivals are valid, for a number W; or those of a time such as "24h", on a stream that knows
        when its arms arrive: see `Stream.at`.
    budgets
        The pulls of each epoch, as in `play`.
    memory
        Slots.
    keep
        One keep rule, or a function that makes an agent.
    pull
        One pull rule.
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
        Other arguments of `play`.

    Examples
    --------
    >>> epoch_regrets([0.5, 0.5, 0.5], window=2, budgets=10).tolist()
    [0.0, 0.0, 0.0]
    """
    asked = [whole("run", run, at_least=0)] if runs is None else run_numbers(runs)
    slots = None if memory is None else whole("memory", memory)
    pieces = play_pieces(stream, window, budgets, slots, [keep], [pull], runs=asked, seed=seed, **settings)
    setup = pieces[0].setup
    regrets = np.zeros((len(pieces), setup.stream.length))
    rows = [EpochPiece(piece, row) for piece, row in zip(pieces, regrets, strict=True)]
    run_all(rows, jobs=jobs, label="playing", progress=progress)
    firsts = {setup.first(seed, one) for one in asked}
    if len(firsts) > 1:
        raise ValueError(f"runs must be one at a time with partial=False and a window by time, not {runs!r}")
    begin = firsts.pop() - 1
    return regrets[0, begin:] if runs is None else regrets[:, begin:]


class Setup:
    """A pair of rules, or an agent, with a memory on a stream: what is to be played, the arguments checked."""

    def __init__(
        self,
        stream: Stream,
        window: Length,
        budgets: int | Sequence[int] | Budgets,
        memory: int | None,
        keep: str | Factory,
        pull: str | Factory | None,
        *,
        epsilon: float | str | None = None,
        leaps: bool = True,
        **settings: Any,
    ) -> None:
        self.stream = stream
        self.factory = factory_of("keep", keep)
        self.best_epsilon = isinstance(epsilon, str) and one_of("epsilon", epsilon, ["best"]) == "best"
        settings |= {} if self.factory else {"keep": keep, "pull": pull}
        settings |= {"epsilon": None if self.best_epsilon else epsilon}
        sigma = None if stream.noise.bounded else stream.noise.sigma
        self.plan: PlayPlan = plan_play(window, memory, sigma=sigma, **settings)
        check_times(stream, window, self.plan.by_time)
        self.told, self.memory_is_open = {"epsilon": self.plan.epsilon} | settings, memory is None
        self.leaps = bool(leaps)
        if self.plan.pull.own is not None and self.leaps and stream.noise.bounded:
            check_index(self.plan.pull.own)
        if not self.plan.by_time and stream.length < self.plan.first:
            raise ValueError(
                f"window must be at most {stream.length}, the arms of the stream, not {window}, if not partial"
            )
        self.make_budgets = as_budgets(budgets)
        self.budgets(0, 0)

    def first(self, seed: int, run: int) -> int:
        """Return the arrival with which the first epoch of a run begins, counted from 1."""
        if self.plan.partial or not self.plan.by_time:
            return self.plan.first
        blocks, clock = self.stream.blocks(generators(seed, run)[0]), Numbers(by_time=True, remember=False)
        numbers = np.concatenate([clock.of(arms).times for arms in blocks])
        first = int(np.searchsorted(numbers, numbers[0] + self.plan.first - 1)) + 1
        if first > self.stream.length:
            seconds = (numbers[-1] - numbers[0]) / 1e6
            raise ValueError(
                f"window must be at most the {seconds:g} s from the first arm to the last, not "
                f"{self.plan.window / 1e6:g} s, if not partial"
            )
        return first

    def budgets(self, seed: int, run: int) -> Ints:
        """Return the budget of each arrival, 0 before the first epoch."""
        first = self.first(seed, run)
        epochs = self.stream.length - first + 1
        made = np.zeros(self.stream.length, np.int64)
        made[first - 1 :] = checked(np.asarray(self.make_budgets(epochs, budget_generator(seed, run))), epochs)
        return made

    def tests(self, total: int) -> int:
        """Return the pulls of each new arm by `commit`, where all epochs together have `total`."""
        if not self.best_epsilon:
            return self.plan.tests()
        return self.plan.tests(bounds.best_commit_epsilon(self.stream.length, max(total, 1)))


@dataclass(frozen=True)
class PlayPiece:
    """One run of one pair of rules with one memory."""

    keep: str
    pull: str
    setup: Setup
    run: int
    seed: int

    def measure(self, stop: threading.Event, do: Do, regrets: Floats | None = None) -> Row:
        """Play once, and return the row of the table; fill `regrets`, of each arrival, if given."""
        setup = self.setup
        names = {"keep": self.keep, "pull": self.pull, "memory": setup.plan.memory, "run": self.run}
        budgets = setup.budgets(self.seed, self.run)
        if setup.factory:
            where = (setup.stream, setup.plan.window, setup.plan.memory, self.seed, self.run)
            setting = Setting(*where, setup.told, setup.memory_is_open, setup.plan.by_time)
            arguments = {"budgets": budgets, "first": setup.first(self.seed, self.run), "regrets": regrets}
            measured: Row = do(Drive(drive_play, setup.factory, setting, arguments), stop)
            return names | measured
        done = self._play(budgets, stop, np.zeros(0) if regrets is None else regrets)
        counts = {"pulls": PULLS, "switches": SWITCHES, "peak_memory": PEAK}
        measured = {name: int(done.counts[place]) for name, place in counts.items()}
        return names | {"regret": float(done.regret[0])} | measured

    def _play(self, budgets: Ints, stop: threading.Event, regrets: Floats) -> Play:
        """Play a stream by rules, block by block."""
        setup, made = self.setup, self.setup.plan
        arms_rng, rewards, rng = generators(self.seed, self.run)
        tests = setup.tests(int(budgets.sum()))
        keep, pull = made.keep, made.pull
        settings = Settings(
            keep.number, keep.draws, pull.number, pull.index, made.window, made.delta, tests, made.carry, setup.leaps
        )
        own_keep = None if keep.own is None else pointer("keep", keep.own)
        own_index = None if pull.own is None else pointer("pull", pull.own)
        state, numbers = start_play(made.memory), Numbers(made.by_time, remember=False)
        start = 0
        for arms in setup.stream.blocks(arms_rng):
            rows = slice(start, start + arms.means.size)
            state, arms = play_with_room_for(state, arms), numbers.of(arms)
            try:
                play_block(state, arms, budgets[rows], settings, own_keep, own_index, rewards, rng, regrets[rows])
            except ValueError as wrong:
                raise ValueError(f"rules {keep.name!r} and {pull.name!r}: {wrong}") from None
            start = rows.stop
            if stop.is_set():
                break
        return state


@dataclass(frozen=True)
class EpochPiece:
    """One run, epoch by epoch."""

    piece: PlayPiece
    regrets: Floats

    def measure(self, stop: threading.Event, do: Do) -> None:
        """Play once, in this process, and fill the array."""
        self.piece.measure(stop, here, self.regrets)
