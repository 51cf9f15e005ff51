"""The everlasting best arm, simulated: what it costs to find the one arm that never expires, or to miss it."""

import math
import threading
from collections.abc import Iterable, Sequence

from bestbefore import rules
from bestbefore.arguments import between, one_of, whole
from bestbefore.bounds import seek_tests
from bestbefore.pull.race import confidence
from bestbefore.simulate.drive import Drive, drive_seek
from bestbefore.simulate.explore import memories_of
from bestbefore.simulate.made import Setting
from bestbefore.simulate.named import Named, named
from bestbefore.simulate.parallel import run_all
from bestbefore.simulate.seeds import generators, run_numbers
from bestbefore.simulate.seek_kernel import (
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


def everlasting(
    stream: Stream | Iterable[float],
    window: int = 50,
    budget: int = 10**6,
    memory: int | Sequence[int] | None = None,
    flag: str = "explicit",
    strategy: Named | None = None,
    *,
    clock: str = "goes on",
    tests: int | None = None,
    pull: str = "moss",
    delta: float = 0.01,
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
    "weigh"; see `bestbefore.keep.seek`.  Unless given, all of the flag's.  If the best arm was not found when time
    ends, `pull` (an index rule) spends the rest on what is stored.  A strategy may also be a function that makes an
    agent with the verbs of `Seeker`, told what its parameters name, as in `explore`, and `budget`.  A dict
    gives names, as in `explore`.

    `clock`: after the last arrival time "goes on", until all arms but the best have expired, or "stops".  `tests` is
    how often an arm is tested: exactly (rank) or at most (all others); if not given, `bestbefore.bounds.seek_tests`.
    `memory` is the window unless given.

    Columns: strategy, memory, run, regret, found (whether a flag told which arm is the best), tests (pulls that were
    spent on testing), wasted (pulls of expired arms), pulls, peak_memory.

    `runs` is how many, or which ones, as in range(5, 10).  The same seed gives the same table, alone or in parallel.
    In one run all strategies see the same arms.

    >>> table = everlasting([0.5, 0.9, 0.1, 0.4, 0.3], window=2, budget=1000, memory=[1, 2], strategy="wait", runs=1)
    >>> [(row["memory"], row["found"], round(row["regret"], 3)) for row in table]
    [(1, True, 0.0), (2, True, 0.0)]
    """
    stream, window = as_stream(stream), whole("window", window)
    one_of("flag", flag, rules.STRATEGIES_OF_FLAG)
    allowed = rules.STRATEGIES_OF_FLAG[flag]
    strategies = named("strategy", allowed if strategy is None else strategy, allowed)
    sizes = memories_of(window if memory is None else memory)
    budget, clock = whole("budget", budget), one_of("clock", clock, rules.CLOCKS)
    tests = None if tests is None else whole("tests", tests)
    rule, delta = rules.PULL[one_of("pull", pull, rules.INDEXED)], between("delta", delta, 0, 1)
    seed = whole("seed", seed, at_least=0)
    pieces = [(name, slots, run) for name in strategies for slots in sizes for run in run_numbers(runs)]

    def work(piece: tuple[str, int, int], stop: threading.Event) -> Row:
        name, slots, run = piece
        one = str(strategies[name])
        most = seek_tests(budget, stream.length, one) if tests is None else tests
        settings = Settings(rules.STRATEGY[one], rule, window, 0, budget, most, confidence(most), delta, goes_on)
        return _measured(stream, slots, settings, seed, run, stop)

    def own(piece: tuple[str, int, int]) -> Drive | None:
        name, slots, run = piece
        one, how = strategies[name], {"budget": budget, "explicit": flag == "explicit", "goes_on": goes_on}
        if isinstance(one, str):
            return None
        where = Setting(stream, window, slots, seed, run, {"delta": delta})
        return Drive(drive_seek, one, where, how | {"best": best_of(stream, seed, run)})

    jobs, goes_on = None if jobs is None else whole("jobs", jobs), clock == "goes on"
    measured = run_all(work, pieces, apart=own, jobs=jobs, label="seeking", progress=progress)
    names = [{"strategy": name, "memory": slots, "run": run} for name, slots, run in pieces]
    return Table([name | row for name, row in zip(names, measured, strict=True)])


def _measured(stream: Stream, slots: int, settings: Settings, seed: int, run: int, stop: threading.Event) -> Row:
    """Run once, and return the measured columns of the row."""
    best, best_mean = best_of(stream, seed, run)
    settings = settings._replace(best=best)
    arms_rng, rewards, luck = generators(seed, run)
    seek = start_seek(slots)
    for arms in stream.blocks(arms_rng):
        seek = seek_with_room_for(seek, arms)
        seek_block(seek, arms, settings, rewards, luck)
        if stop.is_set() or seek.counts[FOUND]:
            break
    regret = float(spend_rest(seek, settings, best_mean, rewards))
    counts = {"tests": TESTS, "wasted": WASTED, "pulls": PULLS, "peak_memory": PEAK}
    measured = {name: int(seek.counts[place]) for name, place in counts.items()}
    measured["pulls"] += measured["wasted"]
    return {"regret": max(regret, 0.0), "found": bool(seek.counts[FOUND])} | measured


def best_of(stream: Stream, seed: int, run: int) -> tuple[int, float]:
    """Return the arrival of the best arm of a run, the first of equals, and its mean."""
    start, best, best_mean = 0, 0, -math.inf
    for arms in stream.blocks(generators(seed, run)[0]):
        if arms.means.max() > best_mean:
            best, best_mean = start + int(arms.means.argmax()) + 1, float(arms.means.max())
        start += arms.means.size
    return best, best_mean
