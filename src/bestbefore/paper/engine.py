"""Many independent pieces of work on all cores or on a Dask cluster, each result stored as it arrives.

Both are executors of `concurrent.futures`, so there is one path: a few pieces are in flight at a time, and results come
back in the order of the pieces, whoever finished first.

A worker that dies takes the pieces in flight with it, and nobody can say which of them killed it.  They are run again,
and those to which it happens twice one at a time, so that only the guilty one is ever given up.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from typing import Any

from bestbefore._jit import SOURCES
from bestbefore.arguments import whole
from bestbefore.paper.store import Rows, Store
from bestbefore.paper.workers import Workers, cluster_workers, do, local_workers
from bestbefore.progress import progress_of_groups
from bestbefore.simulate.parallel import SECONDS_TO_LISTEN

ALONE = 2
"""A piece in flight at so many deaths of workers is run alone from then on."""

MOST_LOST = 3
"""So many pieces given up end it all: it is not the pieces that are wrong."""


def run_pieces(
    function: Callable[[Any], Rows],
    pieces: Mapping[str, Any],
    store: Store,
    *,
    jobs: int | None = None,
    cluster: str | None = None,
    progress: bool | None = None,
) -> dict[str, Rows]:
    """Return `function(piece)` for all pieces, by their names, from the store or else newly run and stored.

    `function` must be one of a module, and it and the pieces picklable; what it does should use one core.  It runs in
    `jobs` processes, one for each core unless given, or on the Dask cluster whose scheduler has the address `cluster`.

    What comes before the first "/" of a name is the group of the piece, for the progress shown on a terminal.

    On an error or Ctrl-C what is under way is stopped, and what has been stored stays.
    """
    jobs = None if jobs is None else whole("jobs", jobs)
    stored = store.load()
    results = {name: stored[name] for name in pieces if name in stored}
    line = _Line(name for name in pieces if name not in stored)
    with progress_of_groups(_groups(pieces), _groups(results), progress) as advance:

        def keep(name: str, rows: Rows) -> None:
            results[name] = store.add(name, rows)
            advance(_group(name))

        while line:  # again with new workers, whenever some have died
            with local_workers(jobs) if cluster is None else cluster_workers(cluster) as workers:
                _work(function, pieces, line, workers, keep)
    if line.lost:
        raise _given_up(line.lost)
    return {name: results[name] for name in pieces}


class _Line:
    """Who is next, by name: first and one at a time those under whom workers have died."""

    def __init__(self, names: Iterable[str]) -> None:
        self.waiting = deque(names)
        self.suspects: deque[str] = deque()
        self.deaths: Counter[str] = Counter()
        self.lost: list[str] = []

    def __bool__(self) -> bool:
        return bool(self.waiting or self.suspects)

    def next(self, in_flight: Sequence[str], room: int) -> str | None:
        """Return who may start now, if anybody: a suspect with nobody else in flight, and nobody beside a suspect."""
        if self.suspects:
            return None if in_flight else self.suspects.popleft()
        if not self.waiting or len(in_flight) >= room or any(self.deaths[name] >= ALONE for name in in_flight):
            return None
        return self.waiting.popleft()

    def back(self, name: str) -> None:
        """Let a piece stand in the line again."""
        (self.suspects if self.deaths[name] >= ALONE else self.waiting).appendleft(name)

    def died(self, name: str, deaths: int) -> None:
        """Note that so many more workers have died with this piece in flight; if it was alone, it is given up."""
        if self.deaths[name] < ALONE:
            self.deaths[name] += deaths
            self.back(name)
            return
        self.lost.append(name)
        if len(self.lost) == MOST_LOST:
            raise _given_up(self.lost)


def _work(
    function: Callable[[Any], Rows],
    pieces: Mapping[str, Any],
    line: _Line,
    workers: Workers,
    keep: Callable[[str, Rows], None],
) -> None:
    """Work until all is done; or until a worker has died, and all that was in flight then has ended somehow."""
    in_flight: dict[Future[Rows], str] = {}
    healthy = True
    while in_flight or (healthy and line):
        room = workers.room()
        while healthy and (name := line.next(list(in_flight.values()), room)) is not None:
            try:
                in_flight[workers.executor.submit(do, function, pieces[name], SOURCES)] = name
            except BrokenExecutor:  # just now: this piece has not begun
                line.back(name)
                healthy = False
        done, _ = wait(in_flight, SECONDS_TO_LISTEN, return_when=FIRST_COMPLETED)
        failed: list[BaseException] = []
        for future in done:
            name = in_flight.pop(future)
            if future.cancelled():
                failed.append(ConnectionError("the cluster is gone: what it had finished is stored, the rest is not"))
            elif (error := future.exception()) is None:
                keep(name, future.result())
            elif isinstance(error, workers.death):
                line.died(name, workers.deaths)
                healthy = False
            else:
                error.add_note(f"This was in the piece {name!r}.")
                failed.append(error)
        if failed:
            raise failed[0]


def _given_up(names: Sequence[str]) -> ChildProcessError:
    words = ", ".join(map(repr, names))
    return ChildProcessError(
        f"what is finished is stored, but workers died whenever they tried these, given up: {words}"
    )


def _group(name: str) -> str:
    return name.partition("/")[0]


def _groups(names: Iterable[str]) -> Counter[str]:
    return Counter(map(_group, names))
