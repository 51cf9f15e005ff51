"""The paper's panels as data: 45 of its own, and some beyond it.

A panel is a task on a stream, with a window and memory sizes.  Your own is a line:

>>> mine = Panel("explore", "uniform", arms=300, window=30, memory=(3, 6, 9))
>>> mine.name
'explore-uniform-n300-w30'
>>> len(PAPER), len({panel.name for panel in (*PAPER, *BEYOND)}) == len(PAPER) + len(BEYOND)
(45, True)
"""

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bestbefore import streams
from bestbefore.arguments import one_of, whole
from bestbefore.paper.deviations import AS_DESCRIBED, Deviations
from bestbefore.streams import Stream

TASKS = {
    "explore": "Exploration",
    "regret": "Regret",
    "everlasting": "The best arm that never expires",
}
RARE = ("everlasting",)
"""Tasks whose means need many runs: most runs lose nothing, and a few lose all."""
DATA = {
    "uniform": "synthetic arms",
    "two-level": "synthetic arms",
    "movielens": "MovieLens 1M",
    "movielens-release-year": "MovieLens 1M by year of release",
    "movielens-latest-small": "MovieLens latest-small",
    "movielens-latest-small-first-rating": "MovieLens latest-small by first rating",
    "movielens-latest-small-release-year": "MovieLens latest-small by year of release",
}
BUDGET = 1000
"""T_j in the text: pulls of an epoch; and for an everlasting best arm pulls for each arm of the stream."""
DELTA = 0.01


@dataclass(frozen=True)
class Panel:
    """What is tried: a task, arms, a window, and memory sizes."""

    task: str
    data: str
    arms: int
    window: int
    memory: tuple[int, ...]

    def __post_init__(self) -> None:
        one_of("task", self.task, TASKS)
        one_of("data", self.data, DATA)
        whole("arms", self.arms)
        whole("window", self.window)
        if not self.memory:
            raise ValueError("memory must name at least one number of slots, not ()")
        for slots in self.memory:
            whole("memory", slots)
        if len(set(self.memory)) < len(self.memory):
            raise ValueError(f"memory must name each number of slots once, not {self.memory!r}")

    @property
    def name(self) -> str:
        """A short name, good for a file."""
        return f"{self.task}-{self.data}-n{self.arms}-w{self.window}"

    @property
    def title(self) -> str:
        """A title that a person reads."""
        return f"{TASKS[self.task]}, {DATA[self.data]}, n = {self.arms:,}, W = {self.window}"

    @property
    def needs_movielens(self) -> bool:
        """Whether the panel needs data that does not come with the package."""
        return self.data.startswith("movielens")

    @property
    def dataset(self) -> str:
        """Which release of MovieLens the panel needs, if any; several sorts of data can come from one."""
        return "" if not self.needs_movielens else "latest-small" if "latest-small" in self.data else "1m"

    @property
    def in_real_order(self) -> bool:
        """Whether arms arrive in the order in which they really came, beyond what the paper tries."""
        return self.data.endswith(("first-rating", "release-year"))

    def stream(self, path: str | Path | None = None, deviations: Deviations = AS_DESCRIBED) -> Stream:
        """Make the arms, as the text describes them or with deviations from it.

        `path` is where MovieLens is, if it is not where it is looked for.
        """
        if self.data == "uniform":
            return streams.uniform(self.arms)
        if self.data == "two-level":
            two_level = streams.two_level_spread if deviations.spread_means else streams.two_level
            return two_level(self.arms, self.window)
        return self.movies(path, self.arms, first=deviations.first_movies)

    def budget(self, deviations: Deviations = AS_DESCRIBED) -> int:
        """Return T_j, the pulls of an epoch, as the text has it or with deviations from it."""
        return 100 * self.window if self.needs_movielens and deviations.large_budget else BUDGET

    @property
    def cheap_runs(self) -> int:
        """How many runs of a curve are cheap: 200; 100 where all panels have them; 40, or even 10, of long ones."""
        if self.task in RARE:
            return 100
        if self.task == "regret" and self.needs_movielens:
            return 40 if self.arms <= 500 else 10
        return 40 if self.arms > 2000 else 200

    def movies(self, path: str | Path | None = None, arms: int | None = None, *, first: bool = False) -> Stream:
        """Make the arms of a panel that needs MovieLens: so many movies, or all that there are."""
        dataset: Any = self.dataset
        order: Any = self.data.removeprefix("movielens").removeprefix("-latest-small").removeprefix("-") or "permuted"
        return streams.movielens(dataset, path=path, arms=arms, first=first, order=order)

    def smaller(self, arms: int = 300) -> "Panel":
        """Return the panel with fewer arms and every other memory size, for a quick look."""
        memory = self.memory[1::2] or self.memory
        return dataclasses.replace(self, arms=min(self.arms, max(arms, 2 * self.window)), memory=memory)


def _sizes(first: int, last: int, step: int) -> tuple[int, ...]:
    return tuple(range(first, last + 1, step))


# The memories of the paper's panels, by window; those of the everlasting arm are ours, up to beyond W.
EXPLORE_SIZES = {20: _sizes(2, 16, 2), 50: _sizes(2, 28, 2), 100: _sizes(5, 50, 5), 200: _sizes(10, 100, 10)}
REGRET_SIZES = {20: _sizes(2, 20, 2), 50: _sizes(5, 50, 5)}
EVERLASTING_SIZES = {10: _sizes(1, 12, 1), 20: _sizes(2, 24, 2), 50: _sizes(5, 60, 5)}

PAPER: tuple[Panel, ...] = (
    *(Panel("explore", "uniform", n, w, EXPLORE_SIZES[w]) for n in (1000, 2000, 5000, 10_000) for w in EXPLORE_SIZES),
    *(Panel("explore", "movielens", n, w, EXPLORE_SIZES[w]) for n in (1000, 2000, 3500) for w in EXPLORE_SIZES),
    *(Panel("regret", "two-level", n, w, REGRET_SIZES[w]) for n in (500, 1000) for w in REGRET_SIZES),
    *(Panel("regret", "movielens", n, w, REGRET_SIZES[w]) for n in (500, 1000) for w in REGRET_SIZES),
    *(
        Panel("everlasting", "uniform", n, w, EVERLASTING_SIZES[w])
        for n in (500, 1000, 2000)
        for w in EVERLASTING_SIZES
    ),
)
"""The 45 panels of the paper's figures."""

BEYOND: tuple[Panel, ...] = (
    Panel("explore", "movielens-release-year", 3500, 50, EXPLORE_SIZES[50]),
    Panel("explore", "movielens-latest-small-release-year", 5000, 50, EXPLORE_SIZES[50]),
    Panel("explore", "movielens-latest-small-first-rating", 5000, 50, EXPLORE_SIZES[50]),
    Panel("regret", "movielens-release-year", 1000, 50, REGRET_SIZES[50]),
    Panel("regret", "movielens-latest-small-first-rating", 1000, 50, REGRET_SIZES[50]),
)
"""Panels that the paper does not have: movies in the order in which they really came."""
