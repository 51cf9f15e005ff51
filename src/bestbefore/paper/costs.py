"""What each answer costs: pulls an arm by fixed tests and by certificates, for the same promise with the same slots.

With m slots Algorithm 1 promises epsilon = 3 / m, and tests all arms alike.  Here the same epsilon, delta and slots are
given to fixed tests that take fewer pulls, and to certificates, which pull an arm only as long as the answer needs it.
Pulls an arm depend on the number of arms through a logarithm alone: of panels with the same data and window, the one
with the fewest arms is enough.

>>> panel = Panel("explore", "uniform", arms=60, window=10, memory=(2, 4, 6, 8))
>>> (few, _, _) = prices_of([panel])            # with 2 slots nothing is promised
>>> few.memory, few.epsilon
(4, 0.75)
>>> [(row["way"], row["peak_memory"] <= 4, row["max"] <= few.epsilon) for row in run_price(few)]
[('paper', True, True), ('pairs', True, True), ('exact', True, True), ('certify', True, True)]
"""

import itertools
import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from bestbefore import bounds, simulate
from bestbefore.paper.panels import DELTA, Panel
from bestbefore.simulate.table import Row

ARMS: Final = 2000
"""There are as many runs of a panel as have so many arms together, and at least one."""
EXACT_FROM: Final = 0.15
"""The search for the exact worst case takes seconds below this epsilon, and minutes far below it."""


class Way(NamedTuple):
    """A way to an answer: a keep rule, and how it is told to test arms."""

    keep: str
    settings: Mapping[str, Any]
    label: str


WAYS: Final = {
    "paper": Way("bucket", {}, "Algorithm 1"),
    "pairs": Way("staircase", {"tests": "pairs"}, "by pairs"),
    "exact": Way("staircase", {"tests": "exact"}, "exactly"),
    "certify": Way("staircase", {"probe": "certify"}, "certified"),
}
"""By id, from the most pulls to the fewest."""


@dataclass(frozen=True)
class Price:
    """What is asked: the cost of the epsilon that so many slots can promise, on a panel of exploration."""

    panel: Panel
    memory: int

    @property
    def key(self) -> str:
        """A name that no other piece of work has."""
        return f"costs/{self.panel.name}/{self.memory}"

    @property
    def epsilon(self) -> float:
        """What Algorithm 1 promises with these slots."""
        return bounds.epsilon_for_memory(self.memory)

    @property
    def ways(self) -> list[str]:
        """Ids of the ways that are tried; the exact worst case is that of rewards of 0 or 1."""
        exact = not self.panel.needs_movielens and self.epsilon >= EXACT_FROM
        return [way for way in WAYS if way != "exact" or exact]


def prices_of(panels: Iterable[Panel]) -> list[Price]:
    """Return what is asked of the panels: for each data and window with three memories, from few slots to many."""
    fewest: dict[tuple[str, int], Panel] = {}
    for panel in panels:
        known = fewest.get((panel.data, panel.window))
        if panel.task == "explore" and (known is None or panel.arms < known.arms):
            fewest[panel.data, panel.window] = panel
    return [Price(panel, memory) for panel in fewest.values() for memory in _spread(panel)]


def _spread(panel: Panel) -> list[int]:
    """Return the least, the middle and the most slots of a panel with which an epsilon below 1 can be promised."""
    enough = sorted(memory for memory in panel.memory if bounds.epsilon_for_memory(memory) < 1)
    return sorted({enough[0], enough[len(enough) // 2], enough[-1]}) if enough else []


def run_price(price: Price, seed: int = 0, path: str | None = None) -> list[Row]:
    """Explore in each way, and return a row each: pulls an arm and errors, `max` the worst at any time of any run.

    `path` is where MovieLens is.
    """
    panel = price.panel
    stream, runs = panel.stream(path), max(ARMS // panel.arms, 1)
    rows = []
    for way in price.ways:
        told: Any = {"epsilon": price.epsilon, "delta": DELTA, "guarantee": "strong", **WAYS[way].settings}
        told |= {"runs": runs, "seed": seed, "jobs": 1, "progress": False}
        table = simulate.explore(stream, panel.window, price.memory, WAYS[way].keep, **told)
        row: Row = {"panel": panel.name, "memory": price.memory, "epsilon": price.epsilon, "way": way, "runs": runs}
        row |= {"pulls": float(table["pulls"].mean()) / panel.arms, "mean": float(table["mean"].mean())}
        row |= {"max": float(table["max"].max()), "certified": float(table["certified"].mean())}
        rows.append(row | {"peak_memory": int(table["peak_memory"].max())})
    return rows


@dataclass(frozen=True)
class Costed:
    """What was seen of costs, over all panels and memories."""

    panels: int
    settings: int
    """Panels and memories together."""
    fewer: tuple[float, float]
    """How many times fewer pulls certificates take than Algorithm 1: from the least to the most."""
    fewer_than_pairs: tuple[float, float]
    more_with_less: bool
    """Whether, in every panel, certificates save the more against Algorithm 1, the smaller epsilon is."""
    worst: float
    """The worst error of a certified answer, as a share of epsilon."""
    above: int
    """In how many settings it was above epsilon."""
    certified: float
    """The least share of answers that were certified."""
    mean: float
    """The mean error of certified answers as a share of epsilon, in the median over settings."""
    mean_of_paper: float
    """The same of Algorithm 1."""
    mean_by_pairs: float
    """The same with fixed tests by pairs."""


class Costs:
    """The rows of all prices."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self.rows: dict[str, dict[int, dict[str, Row]]] = {}
        for row in rows:
            self.rows.setdefault(row["panel"], {}).setdefault(row["memory"], {})[row["way"]] = row

    @property
    def settings(self) -> list[dict[str, Row]]:
        """Return the rows of each panel and memory, by way."""
        return [ways for memories in self.rows.values() for ways in memories.values()]

    def summed(self) -> Costed:
        """Sum the rows up."""
        certified = [ways["certify"] for ways in self.settings]
        worst = [row["max"] / row["epsilon"] for row in certified]
        return Costed(
            panels=len(self.rows),
            settings=len(certified),
            fewer=self._fewer("paper"),
            fewer_than_pairs=self._fewer("pairs"),
            more_with_less=all(_rises(memories) for memories in self.rows.values()),
            worst=max(worst),
            above=sum(share > 1 for share in worst),
            certified=min(row["certified"] for row in certified),
            mean=self._mean("certify"),
            mean_of_paper=self._mean("paper"),
            mean_by_pairs=self._mean("pairs"),
        )

    def _fewer(self, way: str) -> tuple[float, float]:
        """Return how many times fewer pulls certificates take than another way: the least and the most."""
        times = [fewer(ways, way) for ways in self.settings]
        return min(times), max(times)

    def _mean(self, way: str) -> float:
        return float(statistics.median(ways[way]["mean"] / ways[way]["epsilon"] for ways in self.settings))


def fewer(ways: Mapping[str, Row], way: str = "paper") -> float:
    """Return how many times fewer pulls certificates take than another way, in one setting."""
    return float(ways[way]["pulls"] / ways["certify"]["pulls"])


def _rises(memories: Mapping[int, Mapping[str, Row]]) -> bool:
    """Say whether certificates save more with each step to a smaller epsilon; one epsilon shows nothing."""
    saved = [fewer(memories[memory]) for memory in sorted(memories)]
    return len(saved) > 1 and all(before < after for before, after in itertools.pairwise(saved))
