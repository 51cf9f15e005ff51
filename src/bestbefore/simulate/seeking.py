"""The everlasting best arm, simulated: what it costs to find the one arm that never expires, or to miss it."""

import math
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from bestbefore import plan
from bestbefore.arguments import one_of, whole
from bestbefore.clock import Length
from bestbefore.plan import SeekPlan, plan_seek
from bestbefore.probe.race import confidence
from bestbefore.rules import CLOCKS, strategies_of
from bestbefore.simulate.apart import Do
from bestbefore.simulate.chosen import Chosen, Factory, chosen, numbers
from bestbefore.simulate.clocked import Numbers, check_times
from bestbefore.simulate.drive import Drive, drive_seek
from bestbefore.simulate.made import Setting
from bestbefore.simulate.parallel import run_all
from bestbefore.simulate.seeds import generators, run_numbers
from bestbefore.simulate.seek_loop import (
    FOUND,
    PEAK,
    PULLS,
    TESTS,
    WASTED,
    Settings,
    seek_block,
    seek_with_room_for,
    spend_rest,
    start_seek,
)
from bestbefore.simulate.table import Row, Table
from bestbefore.streams import Stream, as_stream


def seek(
    stream: Stream | Iterable[float],
    window: Length = plan.WINDOW,
    budget: int = 10**6,
    memory: int | Sequence[int] | None = None,
    flag: str = "explicit",
    strategy: Chosen | None = None,
    *,
    clock: str = "goes on",
    tests: int | None = None,
    pull: str = plan.SEEK_PULL,
    delta: float = plan.PLAY_DELTA,
    runs: int | Sequence[int] = 10,
    seed: int = 0,
    jobs: int | None = None,
    progress: bool | None = None,
) -> Table:
    """Seek the best arm of a stream, which alone never expires, with each strategy and memory; return a table.

    All `budget` pulls are spent, whenever a strategy likes.  Regret is the highest mean of the whole stream less that
    of the arm pulled, summed over all pulls.  With an *explicit* flag only valid arms can be pulled, and it is known
    which arms outlive their window; with an *implicit* one any arm in memory can, and a pull of one that has expired
    costs 1, of which nobody says anything.  If several arms share the highest mean, the first of them is everlasting.

    Strategies, explicit: "wait" pulls nothing until a flag tells (the paper's), "rank" tests each arm by a fixed number
    of pulls and keeps the best, "race" tests only as long as an arm could be the best; implicit: "stay", "hope" and
    "weigh"; see `bestbefore.keep.everlasting`.  Unless given, all of the flag's.  If the best arm was not found when
    time ends, `pull` (an index rule) spends the rest on what is stored.  A strategy may also be a function that makes
    an agent with the verbs of `Seeker`, called with `window`, `memory`, `budget` and `seed`.  A dict gives names, as
    in `explore`.

    `clock`: after the last arrival time "goes on", until all arms but the best have expired, or "stops".  `tests` is
    how often an arm is tested: exactly (rank) or at most (all others); if not given, `bestbefore.bounds.seek_tests`.
    `memory` is the window unless given.  `window` may be a time, such as "24h", on a stream that knows when its arms
    arrive, see `Stream.at`; `memory` must then be given, and strategies must be ours.

    Columns: strategy, memory, run, regret, found (whether a flag told which arm is the best), tests (pulls that were
    spent on testing), wasted (pulls of expired arms), pulls, peak_memory.

    In one run all strategies see the same arms.

    Parameters
    ----------
    stream
        The arms: a stream, or the means of Bernoulli arms.
    window
        Only the last W arrivals are valid, for a number W; or those of a time such as "24h", on a stream that knows
        when its arms arrive: see `Stream.at`.
    budget
        All pulls there are.
    memory
        Slots: a number, or several.  Unless given, the window; with a window by time it must be given.
    flag
        "explicit" or "implicit": whether it can be known which arms are valid.
    strategy
        A strategy: its name, a function that makes an agent with the verbs of `Seeker`, several of these, or a dict
        that names them.  Unless given, all of the flag's.
    clock
        After the last arrival time "goes on", until all arms but the best have expired, or "stops".
    tests
        How often an arm is tested: exactly (rank), or at most (all others).  Unless given,
        `bestbefore.bounds.seek_tests`.
    pull
        The index rule that spends the rest if the best arm was not found.
    delta
        The confidence of `ucb`.
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
    >>> table = seek([0.5, 0.9, 0.1, 0.4, 0.3], window=2, budget=1000, memory=[1, 2], strategy="wait", runs=1)
    >>> [(row["memory"], row["found"], round(row["regret"], 3)) for row in table]
    [(1, True, 0.0), (2, True, 0.0)]
    """
    settings: Any = {"flag": flag, "tests": tests, "pull": pull, "delta": delta}
    pieces = seek_pieces(stream, window, budget, memory, strategy, clock=clock, runs=runs, seed=seed, **settings)
    return Table(run_all(pieces, jobs=jobs, label="seeking", progress=progress))


def seek_pieces(
    stream: Stream | Iterable[float],
    window: Length,
    budget: int,
    memory: int | Sequence[int] | None,
    strategy: Chosen | None,
    *,
    flag: str,
    clock: str,
    runs: int | Sequence[int],
    seed: int,
    **settings: Any,
) -> list["SeekPiece"]:
    """Return the pieces of work of `seek`, one for each row of its table."""
    stream, seed = as_stream(stream), whole("seed", seed, at_least=0)
    allowed, goes_on = strategies_of(flag), one_of("clock", clock, CLOCKS) == "goes on"
    settings |= {"flag": flag, "budget": whole("budget", budget), "arms": stream.length}
    settings["sigma"] = None if stream.noise.bounded else stream.noise.sigma
    pieces = []
    for name, one in chosen("strategy", allowed if strategy is None else strategy, allowed).items():
        for slots in [None] if memory is None else numbers("memory", memory):
            rule, factory = (one, None) if isinstance(one, str) else (None, one)
            made = plan_seek(window, slots, strategy=rule, **settings)
            check_times(stream, window, made.by_time)
            if factory and made.by_time:
                raise ValueError(f"window must be a number of arrivals for an agent of your own here, not {window!r}")
            pieces += [SeekPiece(name, stream, made, factory, goes_on, run, seed) for run in run_numbers(runs)]
    return pieces


@dataclass(frozen=True)
class SeekPiece:
    """One run of one strategy with one memory."""

    name: str
    stream: Stream
    plan: SeekPlan
    factory: Factory | None
    goes_on: bool
    run: int
    seed: int

    def measure(self, stop: threading.Event, do: Do) -> Row:
        """Run once, and return the row of the table."""
        made, stream = self.plan, self.stream
        names = {"strategy": self.name, "memory": made.memory, "run": self.run}
        best = best_of(stream, self.seed, self.run, made.by_time)
        if self.factory is None:
            return names | self._run(best, stop)
        setting = Setting(
            stream, made.window, made.memory, self.seed, self.run, {"delta": made.delta, "flag": made.flag}
        )
        how = {"explicit": made.flag == "explicit", "goes_on": self.goes_on}
        arguments = {"budget": int(made.budget or 0), "best": best} | how
        measured: Row = do(Drive(drive_seek, self.factory, setting, arguments), stop)
        return names | measured

    def _run(self, best: tuple[int, float], stop: threading.Event) -> Row:
        """Run a stream through a strategy, block by block."""
        made, (arms_rng, rewards, rng) = self.plan, generators(self.seed, self.run)
        settings = Settings(
            made.strategy.number,
            made.flag == "explicit",
            made.pull.number,
            made.window,
            best[0],
            int(made.budget or 0),
            made.tests,
            confidence(made.tests),
            made.delta,
            self.goes_on,
        )
        state, numbers = start_seek(made.memory), Numbers(made.by_time, remember=False)
        for arms in self.stream.blocks(arms_rng):
            state, arms = seek_with_room_for(state, arms), numbers.of(arms)
            seek_block(state, arms, settings, rewards, rng)
            if stop.is_set() or state.counts[FOUND]:
                break
        regret = float(spend_rest(state, settings, best[1], rewards))
        counts = {"tests": TESTS, "wasted": WASTED, "pulls": PULLS, "peak_memory": PEAK}
        measured = {name: int(state.counts[place]) for name, place in counts.items()}
        measured["pulls"] += measured["wasted"]
        return {"regret": max(regret, 0.0), "found": bool(state.counts[FOUND])} | measured


@lru_cache(maxsize=64)
def best_of(stream: Stream, seed: int, run: int, by_time: bool = False) -> tuple[int, float]:
    """Return the number of the best arm of a run, the first of equals, and its mean; it serves all memories."""
    start, best, best_mean, numbers = 0, 0, -math.inf, Numbers(by_time, remember=False)
    for arms in map(numbers.of, stream.blocks(generators(seed, run)[0])):
        if arms.means.max() > best_mean:
            place, best_mean = int(arms.means.argmax()), float(arms.means.max())
            best = int(arms.times[place]) if by_time else start + place + 1
        start += arms.means.size
    return best, best_mean
