"""A panel as the published code sets it up: what memory m means in slots, and how often an arm is tested."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from bestbefore import bounds
from bestbefore.arguments import MOST, between, whole
from bestbefore.paper.deviations import Deviations
from bestbefore.paper.published_loop import BUCKET, RESERVOIR, Settings
from bestbefore.simulate.chosen import numbers
from bestbefore.simulate.seeds import run_numbers
from bestbefore.streams import Arms, Stream, as_stream
from bestbefore.streams.stream import bernoulli

Memories = int | Sequence[int] | None


def pulls_of_test(slots: int, arms: int, delta: float = 0.01) -> int:
    """Return how often an arm is tested: ceil(slots^2 / 2 ln(n / delta)).

    >>> pulls_of_test(slots=3, arms=1000)
    52
    """
    tests = math.ceil(slots**2 / 2 * math.log(arms / delta))
    if tests * arms > MOST:
        raise ValueError(f"memory must be so small that {arms} arms have at most 2**53 tests together, not {slots}")
    return tests


class PublishedPanel(NamedTuple):
    """What all runs of a table share, checked."""

    stream: Stream
    window: int
    sizes: list[int]
    deviations: Deviations
    delta: float

    @classmethod
    def of(
        cls,
        stream: Stream | Iterable[float],
        window: int,
        memory: Memories,
        published: Mapping[int, Sequence[int]],
        deviations: Deviations,
        delta: float,
        seed: int,
    ) -> "PublishedPanel":
        """Check the arguments; `published` has the memories of the paper's panels, by window."""
        stream, window = as_stream(stream), whole("window", window)
        if memory is None and window not in published:
            raise ValueError(f"memory must be given for window {window}; only {list(published)} have panels")
        whole("seed", seed, at_least=0)
        sizes = numbers("memory", published[window] if memory is None else memory)
        return cls(stream, window, sizes, deviations, between("delta", delta, 0, 1))

    def blocks(self, rng: np.random.Generator) -> Iterator[Arms]:
        """Hand out the arms of a run; if so switched, ratings become rewards of 0 and 1 with the same means."""
        for arms in self.stream.blocks(rng):
            yield bernoulli(arms.means) if self.deviations.bernoulli_ratings and arms.levels.size else arms

    def is_window(self, algorithm: int, size: int) -> bool:
        """Tell whether memory `size` stands for the whole window, every arm with its own statistics."""
        return algorithm == RESERVOIR and size + self.deviations.extra_slot >= self.window

    def slots(self, algorithm: int, size: int) -> int:
        """Return the slots of memory `size`."""
        return self.window if self.is_window(algorithm, size) else size + self.deviations.extra_slot

    def settings(self, algorithm: int, size: int) -> Settings:
        """Return what a run with memory `size` is told."""
        deviations, slots, exact = self.deviations, self.slots(algorithm, size), self.is_window(algorithm, size)
        life = self.window + (deviations.extra_step and not exact and algorithm != BUCKET)
        tests = 0 if algorithm == RESERVOIR else pulls_of_test(slots, self.stream.length, self.delta)
        epsilon = min(bounds.epsilon_for_memory(slots), 1.0)
        return Settings(algorithm, self.window, life, exact, tests, epsilon, self.delta, 0, deviations)

    def pieces(self, names: Sequence[str], runs: int | Sequence[int]) -> list[tuple[str, int, int]]:
        """Return the pieces of work: one for each algorithm, memory and run."""
        return [(name, size, run) for name in names for size in self.sizes for run in run_numbers(runs)]
