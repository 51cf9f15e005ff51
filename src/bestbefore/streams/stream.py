"""A stream: arms in arrival order, handed out in blocks, so that a long stream need never be in memory at once.

Rewards are of three kinds.  *Bernoulli*: 1 with probability equal to the mean, else 0.  *Ratings*: one of a small set
of levels in [0, 1], with a probability for each.  *Gaussian*: normal around the mean with standard deviation sigma.

For windows by time a stream can say when its arms arrive: `Stream.at`.

>>> import numpy as np
>>> stream = from_means([0.2, 0.9, 0.4])
>>> [block.means.tolist() for block in stream.blocks(np.random.default_rng(0))]
[[0.2, 0.9, 0.4]]
>>> stream.rated([0, 0.5, 1]).blocks(np.random.default_rng(0)).__next__().weights.round(2).tolist()
[[0.6, 0.4, 0.0], [0.0, 0.2, 0.8], [0.2, 0.8, 0.0]]
>>> stream.timed, stream.at([0.5, 0.5, 60]).blocks(np.random.default_rng(0)).__next__().times.tolist()
(False, [500000, 500000, 60000000])
"""

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from bestbefore.arguments import between, whole
from bestbefore.noise import BOUNDED, Noise
from bestbefore.streams.arrivals import NO_TIMES, Arrivals, Ints, told

BLOCK: Final = 8192
"""Arms in a block: enough that compiled code is called rarely, few enough to stay small."""

Floats: TypeAlias = npt.NDArray[np.float64]


class Arms(NamedTuple):
    """A block of arms: their means, and what a pull of each returns.

    Ratings have `levels` and a row of `weights` (probabilities) for each arm; Gaussian rewards have a `noise` that is
    not bounded; Bernoulli rewards have neither.  `times` are microseconds, none earlier than the one before; there are
    none where it is not known when arms arrive.
    """

    means: Floats
    """The mean of each arm."""
    levels: Floats
    """The rewards that there are, if arms are rated."""
    weights: Floats
    """The probability of each level, a row for each arm."""
    noise: Noise
    """How noisy rewards are."""
    times: Ints = NO_TIMES
    """When each arm arrives, in microseconds, if that is known."""


@dataclass(frozen=True)
class Stream:
    """`length` arms whose blocks `source` makes from a generator, the same arms from the same generator.

    `noise` is that of the rewards of all arms; a `timed` stream knows when its arms arrive.
    """

    name: str
    """What it is called in tables and figures."""
    length: int
    """How many arms it has."""
    source: Callable[[np.random.Generator], Iterator[Arms]]
    """Makes the blocks of arms from a generator."""
    noise: Noise = BOUNDED
    """How noisy the rewards of all arms are."""
    timed: bool = False
    """Whether it is known when arms arrive."""

    def blocks(self, rng: np.random.Generator) -> Iterator[Arms]:
        """Hand out the arms in arrival order, in blocks of at most `BLOCK`.

        Parameters
        ----------
        rng
            The generator that makes the arms, and nothing else.
        """
        arms = 0
        for block in self.source(rng):
            arms += block.means.size
            if arms > self.length:
                break
            if block.times.size != (block.means.size if self.timed else 0):
                needed = "a time for each arm" if self.timed else "no times, since it is not timed"
                raise ValueError(f"source must yield {needed}, not {block.times.size} for {block.means.size} arms")
            yield block
        if arms != self.length:
            raise ValueError(f"source must yield the {self.length} arms that length says, not {arms} or more")

    def gaussian(self, sigma: float) -> "Stream":
        """Return the same arms with normal rewards of standard deviation `sigma`.

        Parameters
        ----------
        sigma
            The standard deviation of rewards.
        """
        noise = Noise(between("sigma", sigma, 0, np.inf), False)

        def source(rng: np.random.Generator) -> Iterator[Arms]:
            for block in self.source(rng):
                yield bernoulli(block.means)._replace(noise=noise, times=block.times)

        return replace(self, source=source, noise=noise)

    def rated(self, levels: Sequence[float]) -> "Stream":
        """Return arms of the same means whose rewards are one of two neighbours among `levels`, such as stars.

        Parameters
        ----------
        levels
            The rewards that there are, rising, from 0 to 1.
        """
        scale = rating_scale(levels)

        def source(rng: np.random.Generator) -> Iterator[Arms]:
            for block in self.source(rng):
                if block.means.min() < scale[0] or block.means.max() > scale[-1]:
                    raise ValueError(f"levels must reach from the lowest mean to the highest, not {list(levels)!r}")
                above = np.clip(np.searchsorted(scale, block.means), 1, scale.size - 1)
                share = (block.means - scale[above - 1]) / (scale[above] - scale[above - 1])
                weights = np.zeros((block.means.size, scale.size))
                rows = np.arange(block.means.size)
                weights[rows, above - 1] = 1 - share
                weights[rows, above] = share
                yield Arms(block.means, scale, weights, BOUNDED, block.times)

        return replace(self, source=source, noise=BOUNDED)

    def at(self, times: Arrivals | Iterable[float | datetime]) -> "Stream":
        """Return the same arms, arriving at these times.

        `times` are seconds or aware datetimes, one for each arm, none earlier than the one before; or an arrival
        process, such as `streams.poisson("10/h")`, which draws other times in each run.  It draws them from a generator
        of its own, so the same seed gives the same means with and without times.

        Parameters
        ----------
        times
            Seconds or aware datetimes, one for each arm, none earlier than the one before; or an arrival process.
        """
        process = times if isinstance(times, Arrivals) else told(times, self.length)

        def source(rng: np.random.Generator) -> Iterator[Arms]:
            draw = process.start(rng.spawn(1)[0])
            for block in self.source(rng):
                yield block._replace(times=draw(block.means.size))

        return replace(self, source=source, timed=True)


def bernoulli(means: Floats) -> Arms:
    """Make a block of Bernoulli arms."""
    return Arms(means, np.zeros(0), np.zeros((0, 0)), BOUNDED)


def block_sizes(length: int) -> Iterator[int]:
    """Cut `length` arms into blocks."""
    full, rest = divmod(length, BLOCK)
    return itertools.chain(itertools.repeat(BLOCK, full), [rest] if rest else [])


def from_means(means: Iterable[float], *, length: int | None = None, name: str = "means") -> Stream:
    """Make a stream of Bernoulli arms from their means: an array, a list, or anything else that yields numbers.

    Of an endless source, `length` says how many to take.

    Parameters
    ----------
    means
        Numbers from 0 to 1: an array, a list, or anything else that yields them.
    length
        How many means to take.
    name
        What the stream is called in tables and figures.
    """
    array = _as_array(means, None if length is None else whole("length", length))
    if length is not None and array.size < length:
        raise ValueError(f"length must be at most the number of means, {array.size}, not {length}")
    if array.ndim != 1 or array.size == 0:
        raise ValueError(f"means must be a sequence of at least one number, not of shape {array.shape}")
    wrong = np.flatnonzero(~((array >= 0) & (array <= 1)))
    if wrong.size:
        raise ValueError(f"means must lie between 0 and 1, but arm {wrong[0] + 1} has {float(array[wrong[0]])!r}")
    return _from_array(name, bernoulli(array))


def from_ratings(counts: npt.ArrayLike, levels: Sequence[float], *, name: str = "ratings") -> Stream:
    """Make a stream of rated arms: row i of `counts` says how often arm i got each of `levels`.

    A pull is one of the arm's ratings at random.

    Parameters
    ----------
    counts
        A row for each arm: how often it got each level.
    levels
        The rewards that there are, rising, from 0 to 1.
    name
        What the stream is called in tables and figures.

    Examples
    --------
    >>> stream = from_ratings([[1, 1, 2], [0, 0, 5]], levels=[0, 0.5, 1])
    >>> next(stream.blocks(np.random.default_rng(0))).means.tolist()
    [0.625, 1.0]
    """
    return _from_array(name, rated_arms(counts, levels))


def rated_arms(counts: npt.ArrayLike, levels: Sequence[float] | Floats) -> Arms:
    """Make a block of rated arms, however many."""
    scale = rating_scale(levels)
    try:
        matrix = np.asarray(counts, np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"counts must be numbers: {error}") from None
    if matrix.ndim != 2 or matrix.shape[0] == 0 or matrix.shape[1] != scale.size:
        raise ValueError(f"counts must have a row for each arm and {scale.size} columns, not shape {matrix.shape}")
    rated = matrix.sum(axis=1)
    wrong = np.flatnonzero(~((matrix >= 0).all(axis=1) & np.isfinite(rated) & (rated > 0)))
    if wrong.size:
        row = matrix[wrong[0]].tolist()
        raise ValueError(f"counts must not be negative, nor all 0, but arm {wrong[0] + 1} has {row}")
    weights = matrix / rated[:, None]
    return Arms(weights @ scale, scale, weights, BOUNDED)


def rating_scale(levels: Sequence[float] | Floats) -> Floats:
    """Check a rating scale: at least two levels, rising, within [0, 1]."""
    try:
        scale = np.asarray(levels, np.float64)
    except (TypeError, ValueError):
        scale = np.zeros(0)
    if scale.ndim != 1 or scale.size < 2 or not (np.diff(scale) > 0).all() or not (scale[0] >= 0 and scale[-1] <= 1):
        raise ValueError(f"levels must be at least two rising numbers between 0 and 1, not {levels!r}")
    return scale


def as_stream(arms: "Stream | Iterable[float]") -> Stream:
    """Return a stream as it is, and means as a stream of Bernoulli arms.

    Parameters
    ----------
    arms
        A stream, or the means of arms.
    """
    return arms if isinstance(arms, Stream) else from_means(arms)


def _as_array(means: Iterable[float], length: int | None) -> Floats:
    """Read numbers from anything that yields them."""
    if isinstance(means, (str, bytes)) or not isinstance(means, Iterable):
        raise ValueError(f"a stream must be a Stream or yield the means of arms, not {means!r}")
    try:
        taken = means if hasattr(means, "__array__") and length is None else list(itertools.islice(means, length))
        if isinstance(taken, list) and any(isinstance(mean, (str, bytes)) for mean in taken):
            raise ValueError("text is none")
        return np.array(taken, np.float64)
    except (TypeError, ValueError) as wrong:
        raise ValueError(f"means must be numbers: {wrong}") from None


def in_blocks(arms: Arms) -> Iterator[Arms]:
    """Cut arms that are all known into blocks."""
    start = 0
    for size in block_sizes(arms.means.size):
        rows = slice(start, start + size)
        yield Arms(arms.means[rows], arms.levels, arms.weights[rows], arms.noise, arms.times[rows])
        start += size


def _from_array(name: str, arms: Arms) -> Stream:
    """Make a stream of arms that are all known."""
    return Stream(name, arms.means.size, lambda rng: in_blocks(arms), timed=arms.times.size > 0)
