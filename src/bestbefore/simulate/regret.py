"""Epoch-wise regret, simulated: what is lost by not pulling the best valid arm, for many rules, memories and runs."""

import threading
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from bestbefore import bounds, rules
from bestbefore.arguments import between, one_of, whole
from bestbefore.simulate.budgets import Budgets, Ints, as_budgets, checked
from bestbefore.simulate.drive import Drive, drive_play
from bestbefore.simulate.explore import memories_of
from bestbefore.simulate.made import Factory, Setting
from bestbefore.simulate.named import Named, each_once, named
from bestbefore.simulate.parallel import run_all
from bestbefore.simulate.play_kernel import (
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


def regret(
    stream: Stream | Iterable[float],
    window: int = 50,
    budgets: int | Sequence[int] | Budgets = 1000,
    memory: int | Sequence[int] | None = None,
    keep: Named = "staircase",
    pull: str | Sequence[str] = "moss",
    *,
    delta: float = 0.01,
    carry: bool = True,
    partial: bool = False,
    epsilon: float | str | None = None,
    leaps: bool = True,
    runs: int | Sequence[int] = 10,
    seed: int = 0,
    jobs: int | None = None,
    progress: bool | None = None,
) -> Table:
    """Play a stream with each keep rule, pull rule and memory, `runs` times; return a table, one row each.

    Each window position comes with a budget of exactly so many pulls: `budgets` is one number for all, a list, or one
    of `simulate.budgets`.  Epochs begin when the first window is full; `partial=True` begins with the first arrival.
    `memory` is the window unless given.  An arriving arm takes a slot before it is pulled.

    Statistics carry over from window to window; with `carry=False` each window begins afresh (as `inf` always does).
    `delta` is the confidence of `ucb`.  `epsilon` is that of `commit`: unless given, 3 / memory, and "best" is the one
    that makes its bound the least, for all budgets together.  `leaps=False` pulls one by one: the same distribution,
    slower.

    `keep` may also be a function that makes an agent with the four verbs, told what its parameters name, as
    in `explore`, and the `budget` of all epochs if it is the same;
    then `pull` says nothing to it.  A dict gives names, as in `explore`.

    Columns: keep, pull, memory, run, regret, pulls, switches (how often the arm that is pulled changed), peak_memory.

    `runs` is how many, or which ones, as in range(5, 10).  The same seed gives the same table, alone or in parallel.
    In one run all rules see the same arms and budgets.

    >>> table = regret([0.1, 0.9, 0.5, 0.3], window=2, budgets=100, memory=2, keep="fifo", pull=["ucb", "moss"], runs=1)
    >>> [(row["pull"], row["pulls"], row["peak_memory"], row["regret"] > 0) for row in table]
    [('ucb', 300, 2, True), ('moss', 300, 2, True)]
    """
    stream, window = as_stream(stream), whole("window", window)
    pulls: list[Any] = list(pull) if isinstance(pull, (list, tuple)) else [pull]
    if not each_once("pull", pulls):
        raise ValueError("pull must name at least one rule, not []")
    settings: Any = {"delta": delta, "carry": carry, "partial": partial, "epsilon": epsilon, "leaps": leaps}
    setups = [
        (name, RegretSetup(stream, window, budgets, slots, one, rule, **settings))
        for name, one in named("keep", keep, rules.KEEP_FOR_REGRET).items()
        for rule in (pulls if isinstance(one, str) else ["its own"])
        for slots in memories_of(window if memory is None else memory)
    ]
    seed = whole("seed", seed, at_least=0)
    pieces = [(name, setup, run) for name, setup in setups for run in run_numbers(runs)]

    def own(piece: tuple[str, RegretSetup, int]) -> Drive | None:
        _, setup, run = piece
        if not callable(setup.keep):
            return None
        told = {"delta": setup.delta, "epsilon": None if epsilon == "best" else epsilon}
        where = Setting(stream, window, setup.slots, seed, run, told)
        return Drive(drive_play, setup.keep, where, {"budgets": setup.budgets(seed, run), "first": setup.first})

    jobs = None if jobs is None else whole("jobs", jobs)
    measured = run_all(
        lambda piece, stop: _measured(*piece[1:], seed, stop),
        pieces,
        apart=own,
        jobs=jobs,
        label="playing",
        progress=progress,
    )
    names = [{"keep": name, "pull": one.pull, "memory": one.slots, "run": run} for name, one, run in pieces]
    return Table([name | row for name, row in zip(names, measured, strict=True)])


def epoch_regrets(
    stream: Stream | Iterable[float],
    window: int = 50,
    budgets: int | Sequence[int] | Budgets = 1000,
    memory: int | None = None,
    keep: str = "staircase",
    pull: str = "moss",
    *,
    run: int = 0,
    seed: int = 0,
    **settings: Any,
) -> Floats:
    """Return the regret of each epoch, in run number `run` of `regret` with the same arguments.

    >>> epoch_regrets([0.5, 0.5, 0.5], window=2, budgets=10).tolist()
    [0.0, 0.0]
    """
    stream, window = as_stream(stream), whole("window", window)
    (slots,) = memories_of(window if memory is None else whole("memory", memory))
    one_of("keep", keep, rules.KEEP_FOR_REGRET)
    setup = RegretSetup(stream, window, budgets, slots, keep, pull, **settings)
    regrets = np.zeros(stream.length)
    run, seed = whole("run", run, at_least=0), whole("seed", seed, at_least=0)
    _run_compiled(setup, seed, run, threading.Event(), regrets)
    return regrets[setup.first - 1 :]


class RegretSetup:
    """A pair of rules with a memory on a stream, the arguments checked and what they left open derived."""

    def __init__(
        self,
        stream: Stream,
        window: int,
        budgets: int | Sequence[int] | Budgets,
        slots: int,
        keep: str | Factory,
        pull: str,
        *,
        delta: float = 0.01,
        carry: bool = True,
        partial: bool = False,
        epsilon: float | str | None = None,
        leaps: bool = True,
    ) -> None:
        self.stream, self.window, self.slots = stream, window, slots
        self.keep = keep if callable(keep) else one_of("keep", keep, rules.KEEP_FOR_REGRET)
        self.pull = pull if callable(keep) else one_of("pull", pull, rules.PULL)
        self.delta, self.carry, self.leaps = between("delta", delta, 0, 1), bool(carry), bool(leaps)
        self.first = 1 if partial else window
        """The arrival with which the first epoch begins."""
        if stream.length < self.first:
            raise ValueError(
                f"window must be at most {stream.length}, the arms of the stream, not {window}, if not partial"
            )
        self.make_budgets, self.epsilon = as_budgets(budgets), epsilon
        if isinstance(epsilon, str):
            one_of("epsilon", epsilon, ["best"])
        elif epsilon is not None:
            between("epsilon", epsilon, 0, 1, closed="right")
        self.budgets(0, 0)

    def budgets(self, seed: int, run: int) -> Ints:
        """Return the budget of each arrival, 0 before the first epoch."""
        epochs = self.stream.length - self.first + 1
        made = np.zeros(self.stream.length, np.int64)
        made[self.first - 1 :] = checked(np.asarray(self.make_budgets(epochs, budget_generator(seed, run))), epochs)
        return made

    def tests(self, total: int) -> int:
        """Return s, the pulls of each new arm by `commit`, where all epochs together have `total`."""
        if self.epsilon == "best":
            epsilon = bounds.best_commit_epsilon(self.stream.length, max(total, 1))
        else:
            epsilon = 3 / self.slots if self.epsilon is None else float(self.epsilon)
        failure = bounds.failure(self.window, self.delta)  # as a player does, who does not know n
        return bounds.pulls_for_noise(epsilon / 3, failure, self.stream.sigma)


def _measured(setup: RegretSetup, run: int, seed: int, stop: threading.Event) -> Row:
    """Run once, and return the measured columns of the row."""
    done = _run_compiled(setup, seed, run, stop)
    counts = {"pulls": PULLS, "switches": SWITCHES, "peak_memory": PEAK}
    return {"regret": float(done.regret[0])} | {name: int(done.counts[place]) for name, place in counts.items()}


def _run_compiled(
    setup: RegretSetup, seed: int, run: int, stop: threading.Event, regrets: Floats | None = None
) -> Play:
    """Play a stream by rules that have names, block by block; fill `regrets`, of each arrival, if given."""
    arms_rng, rewards, luck = generators(seed, run)
    budgets = setup.budgets(seed, run)
    settings = Settings(
        rules.KEEP_FOR_REGRET[str(setup.keep)],
        rules.PULL[setup.pull],
        setup.window,
        setup.delta,
        setup.tests(int(budgets.sum())) if setup.pull == "commit" else 1,
        setup.carry,
        setup.leaps,
    )
    filled = np.zeros(0) if regrets is None else regrets
    play = start_play(setup.slots)
    start = 0
    for arms in setup.stream.blocks(arms_rng):
        rows = slice(start, start + arms.means.size)
        play = play_with_room_for(play, arms)
        play_block(play, arms, budgets[rows], settings, rewards, luck, filled[rows])
        start = rows.stop
        if stop.is_set():
            break
    return play
