"""Streams made by a formula: random order to see what is usual, falling means to see the worst.

>>> import numpy as np
>>> next(sawtooth(6, period=3).blocks(np.random.default_rng(0))).means.round(2).tolist()
[1.0, 0.67, 0.33, 1.0, 0.67, 0.33]
"""

from collections.abc import Callable, Iterator

import numpy as np

from bestbefore.arguments import between, whole
from bestbefore.streams.stream import Arms, Floats, Stream, bernoulli, block_sizes


def uniform(arms: int = 1000, low: float = 0.0, high: float = 1.0) -> Stream:
    """Means uniform on [low, high]: the paper's synthetic arms for exploration.

    Parameters
    ----------
    arms
        How many arms.
    low
        The lowest mean there can be.
    high
        The highest.
    """
    _check_range(low, high)
    return _independent("uniform", arms, lambda rng, size: rng.uniform(low, high, size))


def beta(arms: int = 1000, a: float = 2.0, b: float = 5.0) -> Stream:
    """Means from a Beta(a, b) distribution: with a < b, good arms are rare.

    Parameters
    ----------
    arms
        How many arms.
    a
        The first parameter of the Beta distribution.
    b
        The second.
    """
    between("a", a, 0, np.inf)
    between("b", b, 0, np.inf)
    return _independent("beta", arms, lambda rng, size: rng.beta(a, b, size))


def constant(arms: int = 1000, mean: float = 0.5) -> Stream:
    """All means equal.

    Parameters
    ----------
    arms
        How many arms.
    mean
        The mean of every arm.
    """
    between("mean", mean, 0, 1, closed="both")
    return _independent("constant", arms, lambda rng, size: np.full(size, float(mean)))


def two_level(arms: int = 1000, window: int = 50, high: float = 0.95, low: float = 0.25) -> Stream:
    """Mean `high` for arms / window of the arms, `low` for all others, in random order: the paper's arms for regret.

    Parameters
    ----------
    arms
        How many arms.
    window
        W: how many arms are valid at once.
    high
        The mean of the good arms.
    low
        The mean of the others.
    """
    _check_range(low, high)
    return _two_level("two-level", arms, window, high, lambda rng, size: np.full(size, float(low)))


def two_level_spread(
    arms: int = 1000, window: int = 50, high: float = 0.95, low: float = 0.25, spread: float = 0.1
) -> Stream:
    """Mean `high` for arms / window of the arms, for all others Normal(low, spread) cut to [0, 2 low], in random order.

    These are the arms for regret of the paper's public code, where the text has `two_level`.

    Parameters
    ----------
    arms
        How many arms.
    window
        W: how many arms are valid at once.
    high
        The mean of the good arms.
    low
        The centre of the others' means.
    spread
        The standard deviation of the others' means.
    """
    between("low", low, 0, 0.5, closed="right")
    between("high", high, low, 1, closed="both")
    between("spread", spread, 0, np.inf)

    def draw(rng: np.random.Generator, size: int) -> Floats:
        means = rng.normal(low, spread, size)
        while (outside := np.abs(means - low) > low).any():
            means[outside] = rng.normal(low, spread, np.count_nonzero(outside))
        return means

    return _two_level("two-level spread", arms, window, high, draw)


def decreasing(arms: int = 1000, high: float = 1.0, low: float = 0.0) -> Stream:
    """Means that fall from `high` toward `low`, mu_i = high - (high - low) (i - 1) / n: every arm will be the best.

    Parameters
    ----------
    arms
        How many arms.
    high
        The first mean.
    low
        What the means fall toward.
    """
    return _falling("decreasing", arms, whole("arms", arms), high, low)


def sawtooth(arms: int = 1000, period: int = 100, high: float = 1.0, low: float = 0.0) -> Stream:
    """Means that fall from `high` toward `low` over each `period` arms, and begin again.

    Parameters
    ----------
    arms
        How many arms.
    period
        How many arms a fall takes.
    high
        The first mean of each fall.
    low
        What the means fall toward.
    """
    return _falling("sawtooth", arms, whole("period", period), high, low)


def _check_range(low: float, high: float) -> None:
    between("low", low, 0, 1, closed="both")
    between("high", high, low, 1, closed="both")


def _independent(name: str, arms: int, draw: Callable[[np.random.Generator, int], Floats]) -> Stream:
    """Make a stream of arms whose means do not depend on each other."""

    def source(rng: np.random.Generator) -> Iterator[Arms]:
        for size in block_sizes(arms):
            yield bernoulli(draw(rng, size))

    return Stream(name, whole("arms", arms), source)


def _two_level(
    name: str, arms: int, window: int, high: float, draw: Callable[[np.random.Generator, int], Floats]
) -> Stream:
    """Make a stream in random order, with arms / window good arms; `draw` makes the means of the others."""
    arms, window = whole("arms", arms), whole("window", window)

    def source(rng: np.random.Generator) -> Iterator[Arms]:
        good, bad = arms // window, arms - arms // window
        for size in block_sizes(arms):
            here = int(rng.hypergeometric(good, bad, size))  # good arms among the next `size` of a shuffled list
            means = draw(rng, size)
            means[:here] = high
            rng.shuffle(means)
            good, bad = good - here, bad - (size - here)
            yield bernoulli(means)

    return Stream(name, arms, source)


def _falling(name: str, arms: int, period: int, high: float, low: float) -> Stream:
    """Make a stream of arms whose means fall by equal steps over a period."""
    _check_range(low, high)

    def source(rng: np.random.Generator) -> Iterator[Arms]:
        start = 0
        for size in block_sizes(arms):
            yield bernoulli(high - (high - low) * (np.arange(start, start + size) % period / period))
            start += size

    return Stream(name, whole("arms", arms), source)
