"""The whole paper at once: all panels in all readings and all theorems, cut into pieces, stored as they are done."""

import fnmatch
import hashlib
import itertools
import os
import platform
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import bestbefore
from bestbefore.arguments import whole
from bestbefore.errors import DataMissing
from bestbefore.paper import theorems
from bestbefore.paper.costs import Price, prices_of, run_price
from bestbefore.paper.earnings import CELLS, Cell, run_cell
from bestbefore.paper.engine import run_pieces
from bestbefore.paper.finding import Finding
from bestbefore.paper.panels import BEYOND, DATA, PAPER, RARE, Panel
from bestbefore.paper.readings import CURVES, Curve, Piece, run_piece
from bestbefore.paper.slips import TRIALS, Trial, run_trial
from bestbefore.paper.store import Rows, Store
from bestbefore.paper.summary import Reproduction
from bestbefore.paper.verdicts import judge
from bestbefore.simulate.table import Row
from bestbefore.streams.movielens_files import RELEASES
from bestbefore.streams.movielens_place import find

QUICK_RUNS = 2
MORE_RUNS = (50, 200)
"""Where the runs of the figure cannot tell whether a claim holds, there are so many; and if these cannot, so many."""
MOST = MORE_RUNS[-1]
BLOCK = 10
"""More runs than those of the figure are done so many at a time."""
THEOREMS = "theorems"
"""What the theorems are called among the panels, in patterns and reasons."""


@dataclass(frozen=True)
class Aside:
    """A piece of work beside the panels: an experiment on a theorem, by its name, on a slip, a rule, or a price."""

    of: str | Trial | Cell | Price
    seed: int
    path: str | None = None
    """Where MovieLens is, for a trial or a price that needs it."""
    fingerprint: str = ""

    @property
    def key(self) -> str:
        """A name that no other piece has."""
        if isinstance(self.of, str):
            return f"{THEOREMS}/{self.of}"
        return f"{self.of.key}/{self.fingerprint}" if self.fingerprint else self.of.key


def run_any(piece: Piece | Aside) -> Rows:
    """Do a piece of work of any kind."""
    if isinstance(piece, Piece):
        return run_piece(piece)
    if isinstance(piece.of, Trial):
        return run_trial(piece.of, piece.seed, path=piece.path)
    if isinstance(piece.of, Cell):
        return run_cell(piece.of, piece.seed)
    if isinstance(piece.of, Price):
        return run_price(piece.of, piece.seed, piece.path)
    return [finding.to_dict() for finding in theorems.run([piece.of], seed=piece.seed, progress=False)]


def chosen(only: str | None = None, *, quick: bool = False, panels: Iterable[Panel] = (*PAPER, *BEYOND)) -> list[Panel]:
    """Return the panels whose names are the pattern, such as "explore-*-w50", or else have it in them, as "regret".

    If quick, they are smaller.

    >>> [panel.name for panel in chosen("everlasting-*-n500-*", quick=True)]
    ['everlasting-uniform-n300-w10', 'everlasting-uniform-n300-w20', 'everlasting-uniform-n300-w50']
    """
    known = list(panels)
    whole_names = [panel for panel in known if only is not None and fnmatch.fnmatch(panel.name, only)]
    found = whole_names or [panel for panel in known if _matches(panel.name, only)]
    if not quick:
        return found
    return list(dict.fromkeys(panel.smaller() for panel in found))


def with_theorems(only: str | None, *, quick: bool) -> bool:
    """Say whether the theorems are among what was chosen."""
    return _matches(THEOREMS, only) and (not quick or only is not None)


def reproduce(
    panels: Sequence[Panel],
    folder: str | Path,
    *,
    runs: int = 10,
    more_runs: int | None = None,
    seed: int = 0,
    theorems_too: bool = True,
    data: str | Path | None = None,
    jobs: int | None = None,
    cluster: str | None = None,
    fresh: bool = False,
    progress: bool | None = None,
) -> Reproduction:
    """Run the panels in all readings, the theorems, the trials of slips and the costs; return all that a report tells.

    Figures show `runs` runs of each curve.  Where these cannot tell whether a claim holds, the verdict rests on
    `more_runs`: unless given, on 50, then on 200, or on as many as are cheap.  Means of what is rare, everlasting
    panels, rest on the most of these.

    Results are stored in `folder` as they arrive, and those that are there already, of the same settings and sources,
    are not computed again; `fresh` computes these anew.  MovieLens is looked for at `data`; panels whose data is
    not there are left out, with the reason, but it is an error if `data` has nothing for any of them.

    For `jobs` and `cluster` see `bestbefore.paper.engine.run_pieces`.
    """
    runs, seed = whole("runs", runs), whole("seed", seed, at_least=0)
    more_runs = None if more_runs is None else whole("more_runs", more_runs, at_least=0)
    names = [panel.name for panel in panels]
    if twice := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
        raise ValueError(f"panels must have different names, by task, data, arms or window: {', '.join(twice)}")
    began = time.perf_counter()
    path = None if data is None else str(Path(data).expanduser().absolute())  # workers stand in other folders
    prints, left_out = _movielens(panels, path)
    if data is not None and left_out and not prints:
        raise DataMissing("; ".join(dict.fromkeys(left_out.values())))
    here = tuple(panel for panel in panels if panel.name not in left_out)
    work = _Work(here, runs, more_runs, seed, path, prints)
    pieces = work.first(theorems_too=theorems_too)
    if not pieces:
        reasons = "; ".join(dict.fromkeys(left_out.values()))
        raise ValueError(f"there is nothing to run: {reasons or 'no panel was chosen'}")
    with Store(folder, {"seed": seed}) as store:

        def results_of(wanted: Sequence[Piece | Aside]) -> dict[str, Rows]:
            by_key: dict[str, Piece | Aside] = {piece.key: piece for piece in _spread(wanted)}
            if fresh:
                store.clear(by_key)
            return run_pieces(run_any, by_key, store, jobs=jobs, cluster=cluster, progress=progress)

        results = results_of(pieces)
        for start, stop in itertools.pairwise((runs, *MORE_RUNS) if more_runs is None else (runs, more_runs)):
            more = work.where_they_cannot_tell(_rows(here, pieces, results), start, stop)
            if more:
                results |= results_of(more)
                pieces += more
    rows = _rows(here, pieces, results)

    def told(kind: type) -> list[Row]:
        asides = [piece for piece in pieces if isinstance(piece, Aside) and isinstance(piece.of, kind)]
        return [row for piece in asides for row in results[piece.key]]

    return Reproduction(
        here,
        rows,
        {panel.name: judge(panel, rows[panel.name]) for panel in here},
        left_out,
        tuple(map(Finding.from_dict, told(str))),
        _made(runs, seed, jobs, cluster, time.perf_counter() - began),
        runs,
        tuple(told(Trial)),
        tuple(told(Cell)),
        tuple(told(Price)),
    )


@dataclass(frozen=True)
class _Work:
    """The pieces of a reproduction: those of the figures and, where these cannot tell whether a claim holds, more."""

    panels: tuple[Panel, ...]
    runs: int
    more_runs: int | None
    seed: int
    path: str | None
    prints: Mapping[str, str]

    def first(self, *, theorems_too: bool) -> list[Piece | Aside]:
        """Return the runs of the figures, more of them where something is rare, and what is beside the panels."""
        pieces: list[Piece | Aside] = []
        for panel in self.panels:
            for curve in CURVES[panel.task]:
                pieces += [self._piece(panel, curve, range(run, run + 1)) for run in range(self.runs)]
                if panel.task in RARE:
                    pieces += self._more(panel, curve, self.runs, MOST if self.more_runs is None else self.more_runs)
        return pieces + (self._asides() if theorems_too else [])

    def where_they_cannot_tell(self, rows: Mapping[str, Sequence[Row]], start: int, stop: int) -> list[Piece | Aside]:
        """Return more runs, from `start` to `stop`, of the curves of which these could decide a claim that is open."""
        pieces: list[Piece | Aside] = []
        for panel in self.panels:
            wanted = {(reading, role) for one, reading in judge(panel, rows[panel.name]).open() for role in one.roles}
            for curve in CURVES[panel.task]:
                if panel.task not in RARE and (curve.reading, curve.role) in wanted:
                    pieces += self._more(panel, curve, start, stop)
        return pieces

    def _asides(self) -> list[Piece | Aside]:
        """Return what is tried beside the panels; trials on movies only where there are movies."""
        prints = self.prints
        trials = [trial for trial in TRIALS.values() if not trial.panel.needs_movielens or trial.panel.data in prints]
        on_panels: list[Trial | Price] = [*trials, *prices_of(self.panels)]
        return [
            *(Aside(name, self.seed) for name in theorems.THEOREMS),
            *(Aside(one, self.seed, self.path, prints.get(one.panel.data, "")) for one in on_panels),
            *(Aside(cell, self.seed) for cell in CELLS),
        ]

    def _piece(self, panel: Panel, curve: Curve, runs: range) -> Piece:
        return Piece(panel, curve, runs, self.seed, self.path, self.prints.get(panel.data, ""))

    def _more(self, panel: Panel, curve: Curve, start: int, stop: int) -> list[Piece]:
        most = stop if self.more_runs is not None else min(stop, panel.cheap_runs)
        return [self._piece(panel, curve, range(run, min(run + BLOCK, most))) for run in range(start, most, BLOCK)]


def _rows(
    panels: Iterable[Panel], pieces: Iterable[Piece | Aside], results: Mapping[str, Rows]
) -> dict[str, list[Row]]:
    """Return the rows of each panel, in the order of the pieces."""
    rows: dict[str, list[Row]] = {panel.name: [] for panel in panels}
    for piece in pieces:
        if isinstance(piece, Piece):
            rows[piece.panel.name] += results[piece.key]
    return rows


def _matches(name: str, only: str | None) -> bool:
    return only is None or fnmatch.fnmatch(name, f"*{only}*")


def _movielens(panels: Sequence[Panel], path: str | None) -> tuple[dict[str, str], dict[str, str]]:
    """Return a fingerprint of each kind of movies that is here, and the panels to leave out, with the reason.

    The fingerprint is that of all movies, whichever panels are chosen.
    """
    places, absent = _places(panels, path)
    missing = {panel.data: absent[panel.dataset] for panel in panels if panel.dataset in absent}
    prints: dict[str, str] = {}
    movies: dict[str, int] = {}
    left_out: dict[str, str] = {}
    for panel in panels:
        if not panel.needs_movielens:
            continue
        if panel.data not in prints and panel.data not in missing:
            try:
                stream = panel.movies(places[panel.dataset])
            except DataMissing as why:
                missing[panel.data] = _reason(why)
            else:
                digest = hashlib.sha256()
                for arms in stream.blocks(np.random.default_rng(0)):
                    digest.update(arms.weights.tobytes())
                prints[panel.data], movies[panel.data] = digest.hexdigest()[:16], stream.length
        if panel.data in missing:
            left_out[panel.name] = missing[panel.data]
        elif panel.arms > movies[panel.data]:
            left_out[panel.name] = f"only {movies[panel.data]} movies are rated in this {DATA[panel.data]}"
    return prints, left_out


def _places(panels: Sequence[Panel], path: str | None) -> tuple[dict[str, Path], dict[str, str]]:
    """Return where each release of MovieLens is that the panels need, or else why it cannot be had.

    Each is looked for once, though several sorts of data come from it: a download that failed would only fail again.
    """
    places: dict[str, Path] = {}
    absent: dict[str, str] = {}
    for dataset in dict.fromkeys(panel.dataset for panel in panels if panel.needs_movielens):
        try:
            places[dataset] = find(RELEASES[dataset], path)
        except DataMissing as why:
            absent[dataset] = _reason(why)
    return places, absent


def _reason(why: DataMissing) -> str:
    return f"{why}; --data names a place, too"


def _spread(pieces: Sequence[Piece | Aside]) -> list[Piece | Aside]:
    """Put one piece of each kind first, so that workers compile different rules and find the others' on the disk."""
    kinds: dict[Any, Piece | Aside] = {}
    for piece in pieces:
        kind = (piece.panel.task, piece.curve) if isinstance(piece, Piece) else type(piece.of)
        kinds.setdefault(kind, piece)
    first = list(kinds.values())
    return first + [piece for piece in pieces if piece not in first]


def _made(runs: int, seed: int, jobs: int | None, cluster: str | None, seconds: float) -> dict[str, str]:
    """Say how a reproduction was made."""
    import numba

    processes = jobs or os.cpu_count() or 1
    where = f"the cluster at {cluster}" if cluster else "1 process" if processes == 1 else f"{processes} processes"
    return {
        "bestbefore": bestbefore.__version__,
        "Python": f"{platform.python_version()}, NumPy {np.__version__}, numba {numba.__version__}",
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "work": f"{where}, {seconds:.0f} s for what was not stored before",
        "runs": f"{runs} of each curve and memory",
        "seed": f"{seed}",
        "made": time.strftime("%Y-%m-%d %H:%M"),
    }
