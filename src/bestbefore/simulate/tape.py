"""A tape of rewards for each arm, fixed by seed, run and arrival: all who pull it read the same.

Two algorithms that pull an arm equally often get the same rewards from it, in the same order and
with the same total, whatever else they did.  So a difference between them is never one of luck with
the same arm (common random numbers).

The first rewards of all arms of a block are drawn at once.  What follows is written in chunks, each
twice as long as the one before.  Of a chunk only the sum is drawn at first, from its exact
distribution; it is split in halves, and these in halves, only where somebody stops in the middle.
So the total of s rewards costs O(log s), and is the sum of the same s rewards read one by one.
Each split has random numbers of its own, by its place on the tape: a counter-based generator
(Philox) finds them.

>>> import numpy as np
>>> from bestbefore.streams.stream import bernoulli
>>> arm = bernoulli(np.array([0.3]))
>>> one_by_one, at_once = (next(Tapes(seed=0, run=0).of_block(arm)) for _ in range(2))
>>> sum(one_by_one.one() for _ in range(1000)) == at_once.total(1000)
True

Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3" (Philox).
"""

import math
from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from bestbefore.simulate.seeds import tape_seeds
from bestbefore.streams import Arms

Floats = npt.NDArray[np.float64]

FIRST: Final = 16
"""Rewards of each arm that are drawn with those of its block."""

SMALLEST: Final = 64
"""Rewards of the first chunk after them."""

LARGEST: Final = 2**28
"""Rewards of a chunk, at most: NumPy's hypergeometric numbers go up to 10^9."""

LEAF: Final = 512
"""Rewards that are written out together."""


class Tapes:
    """The tapes of all arms of a run, made as the arms arrive."""

    def __init__(self, seed: int, run: int) -> None:
        first, keyed = tape_seeds(seed, run)
        self._rng, self._places = np.random.default_rng(first), Places(keyed)
        self._arrivals = 0

    def of_block(self, arms: Arms) -> Iterator["Tape"]:
        """Give the tape of each arm of the next block, in arrival order."""
        size, start = arms.means.size, self._arrivals
        self._arrivals += size
        first, means, places = self._first(arms), arms.means.tolist(), self._places
        for row in range(size):
            common = places, start + row + 1, means[row], first[row].tolist()
            if not arms.noise.bounded:
                yield GaussianTape(*common, arms.noise.sigma)
            elif arms.levels.size > 0:
                yield RatedTape(*common, arms.levels, arms.weights[row].copy())
            else:
                yield BernoulliTape(*common)

    def _first(self, arms: Arms) -> Floats:
        """Draw the first rewards of all arms of a block, a row for each.

        Numbers are drawn row by row, so it does not matter how a stream is cut into blocks.
        """
        shape = arms.means.size, FIRST
        if not arms.noise.bounded:
            return arms.means[:, None] + arms.noise.sigma * self._rng.standard_normal(shape)
        coins = self._rng.random(shape)
        if arms.levels.size == 0:
            return (coins < arms.means[:, None]).astype(np.float64)
        level = np.zeros(shape, np.int64)
        for below in np.cumsum(arms.weights, axis=1).T[:-1]:
            level += coins >= below[:, None]
        drawn: Floats = arms.levels[level]
        return drawn


class Places:
    """A generator that can go to any place on the tape of any arm, and draws the same there."""

    def __init__(self, seed: np.random.SeedSequence) -> None:
        self._bits = np.random.Philox(key=seed.generate_state(2, np.uint64))
        self._rng, self._state = np.random.Generator(self._bits), self._bits.state
        self._counter = self._state["state"]["counter"]

    def at(self, arrival: int, chunk: int, node: int) -> np.random.Generator:
        """Go to a place; the generator is good until it goes to the next."""
        self._counter[:] = 0, node, chunk, arrival  # numbers drawn here count up the first of the four
        self._bits.state = self._state
        return self._rng


class Tape:
    """The rewards of one arm, read from the front; its three kinds know how rewards are drawn.

    `rewards` are those written out and not yet read, the next one last.
    """

    __slots__ = ("_arrival", "_begin", "_chunk", "_places", "_read", "_size", "mean", "rewards")

    def __init__(self, places: Places, arrival: int, mean: float, first: list[float]) -> None:
        self.mean, self.rewards = mean, first
        self._places, self._arrival = places, arrival
        self._read = 0  # where the rewards begin that are not yet written out; the first ones do not count
        self._chunk, self._begin, self._size = 0, 0, SMALLEST

    def one(self) -> float:
        """Read the next reward."""
        return self.rewards.pop() if self.rewards else self._total(1)

    def total(self, pulls: int) -> float:
        """Read the next `pulls` rewards, at least one, and return their sum."""
        ready = self.rewards[-pulls:]
        del self.rewards[-pulls:]
        total = math.fsum(ready)
        return total if len(ready) == pulls else total + self._total(pulls - len(ready))

    def _total(self, pulls: int) -> float:
        """Read on where nothing is written out."""
        total, stop = 0.0, self._read + pulls
        while self._read < stop:
            if self._read == self._begin + self._size:
                self._chunk, self._begin = self._chunk + 1, self._begin + self._size
                self._size = min(2 * self._size, LARGEST)
            whole = self._drawn(self._size, self._places.at(self._arrival, self._chunk, 0))
            more, self._read = self._under(1, whole, self._begin, self._size, stop)
            total += more
        return total

    def _under(self, node: int, sum_of: Any, begin: int, size: int, stop: int) -> tuple[float, int]:
        """Return the sum of what is read under a node, and where writing has come to.

        The node has the rewards from `begin` on, `size` of them, and `sum_of` is what is known of
        their sum.  What is read lies between `self._read` and `stop`.
        """
        end, middle = begin + size, begin + size // 2
        if self._read <= begin and end <= stop:
            return self._value(sum_of), end
        rng = self._places.at(self._arrival, self._chunk, node)
        if size <= LEAF:
            written = self._written(sum_of, size, rng)
            self.rewards = written[: end - stop]
            return math.fsum(written[end - stop :]), end
        left, total, so_far = self._half(sum_of, size, rng), 0.0, begin
        if self._read < middle:
            total, so_far = self._under(2 * node, left, begin, size // 2, stop)
        if stop > middle:
            more, so_far = self._under(2 * node + 1, sum_of - left, middle, size // 2, stop)
            total += more
        return total, so_far

    def _drawn(self, size: int, rng: np.random.Generator) -> Any:
        """Draw the sum of `size` rewards."""
        raise NotImplementedError

    def _half(self, sum_of: Any, size: int, rng: np.random.Generator) -> Any:
        """Draw the sum of the first half of `size` rewards, of which all have this sum."""
        raise NotImplementedError

    def _written(self, sum_of: Any, size: int, rng: np.random.Generator) -> list[float]:
        """Draw `size` rewards that have this sum."""
        raise NotImplementedError

    def _value(self, sum_of: Any) -> float:
        """Return a sum as a number."""
        return float(sum_of)


class BernoulliTape(Tape):
    """Ones among k rewards are Binomial, those of one half of them hypergeometric, in any order."""

    __slots__ = ()

    def _drawn(self, size: int, rng: np.random.Generator) -> Any:
        return rng.binomial(size, self.mean)

    def _half(self, sum_of: Any, size: int, rng: np.random.Generator) -> Any:
        return rng.hypergeometric(sum_of, size - sum_of, size // 2)

    def _written(self, sum_of: Any, size: int, rng: np.random.Generator) -> list[float]:
        rewards = np.zeros(size)
        rewards[:sum_of] = 1.0
        rng.shuffle(rewards)
        return rewards.tolist()


class RatedTape(Tape):
    """The same for several levels: what is known of a sum is how often each of them came."""

    __slots__ = ("_levels", "_weights")

    def __init__(
        self, places: Places, arrival: int, mean: float, first: list[float], levels: Floats, weights: Floats
    ) -> None:
        super().__init__(places, arrival, mean, first)
        self._levels, self._weights = levels, weights

    def _drawn(self, size: int, rng: np.random.Generator) -> Any:
        return rng.multinomial(size, self._weights)

    def _half(self, sum_of: Any, size: int, rng: np.random.Generator) -> Any:
        return rng.multivariate_hypergeometric(sum_of, size // 2, method="marginals")

    def _written(self, sum_of: Any, size: int, rng: np.random.Generator) -> list[float]:
        rewards = np.repeat(self._levels, sum_of)
        rng.shuffle(rewards)
        return rewards.tolist()

    def _value(self, sum_of: Any) -> float:
        return float(sum_of @ self._levels)


class GaussianTape(Tape):
    """A sum S of k normal rewards is normal.

    So is, given S, that of half of them, around S / 2 with variance k sigma^2 / 4.  Independent
    normal numbers, all moved by the same amount so that their sum is S, are k rewards given S.
    """

    __slots__ = ("_sigma",)

    def __init__(self, places: Places, arrival: int, mean: float, first: list[float], sigma: float) -> None:
        super().__init__(places, arrival, mean, first)
        self._sigma = sigma

    def _drawn(self, size: int, rng: np.random.Generator) -> Any:
        return rng.normal(size * self.mean, math.sqrt(size) * self._sigma)

    def _half(self, sum_of: Any, size: int, rng: np.random.Generator) -> Any:
        return rng.normal(sum_of / 2, math.sqrt(size) * self._sigma / 2)

    def _written(self, sum_of: Any, size: int, rng: np.random.Generator) -> list[float]:
        noise = rng.normal(0.0, self._sigma, size)
        rewards: list[float] = (noise + (sum_of / size - noise.mean())).tolist()
        return rewards
