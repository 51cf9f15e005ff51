"""Gaps: how hard the windows of a stream are, as a yardstick for the regret of `play`.

The gap of an arm in an epoch is the best valid mean less the mean of the arm.  In one window that stands still, every
algorithm that does well on all instances has a regret of at least c ln T in the limit, where c is the *Lai-Robbins
constant*: the sum, over the valid arms that are not best, of gap / kl(mean, best mean).  The divergence is that of
Bernoulli rewards, or of normal ones where rewards are not bounded, so that a term is 2 sigma^2 / gap.  (For ratings,
which are not Bernoulli, it is what rules pay that know no more than that rewards lie in [0, 1].)

T. L. Lai and H. Robbins, "Asymptotically efficient adaptive allocation rules", Advances in Applied Mathematics 6
(1985).

**What it costs.**  While the best mean stays the same, an arm's term does too.  Sums over the window are then kept
without subtracting, which a huge term of a tiny gap would not forgive: sums from each arm up to a *pivot*, and one sum
of the arms after it.  All is added up anew when the best mean changes or the oldest valid arm passes the pivot.  In
random order that is a few times in a window, and an arrival costs constant time; where the best mean changes with every
arrival, as it does if means fall, it costs time in proportion to W.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from bestbefore import plan
from bestbefore._jit import njit
from bestbefore.arguments import whole
from bestbefore.clock import Length
from bestbefore.noise import Noise
from bestbefore.simulate.clocked import Numbers
from bestbefore.simulate.epochs import Setup
from bestbefore.simulate.oracle import best_of_block, empty_queue, with_room
from bestbefore.simulate.seeds import generators
from bestbefore.streams import Stream, as_stream

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

NEAR: Final = 1e-4
"""Below this share of the variance a gap is so small that the divergence is taken from its series."""


@dataclass(frozen=True)
class Gaps:
    """The gaps of one run: an entry for each epoch, but in `of_arms`, which has one for each arm of the stream."""

    best: Floats
    """The best valid mean."""
    least: Floats
    """The least gap above 0 of a valid arm; inf where all are equally good."""
    constant: Floats
    """The Lai-Robbins constant; 0 where all valid arms are equally good."""
    valid: Ints
    """How many arms are valid."""
    of_arms: Floats
    """The least gap above 0 that an arm has in any epoch of its life; inf for an arm that is always among the best."""


def gaps(
    stream: Stream | Iterable[float],
    window: Length = plan.WINDOW,
    *,
    partial: bool = True,
    run: int = 0,
    seed: int = 0,
) -> Gaps:
    """Return the gaps and the Lai-Robbins constant of each epoch, for the arms of run number `run` of `play`.

    Epochs are those of `play`: they begin with the first arrival, or with `partial=False` when the first window is
    full.  `bestbefore.gap_bounds` makes a bound on regret of them.

    Parameters
    ----------
    stream
        The arms: a stream, or the means of Bernoulli arms.
    window
        Only the last W arrivals are valid, for a number W; or those of a time such as "24h", on a stream that knows
        when its arms arrive: see `Stream.at`.
    partial
        Whether epochs begin with the first arrival, or when the first window is full.
    run
        The number of the run.
    seed
        The same seed gives the same result, alone or in parallel.

    Examples
    --------
    >>> found = gaps([0.5, 0.9, 0.5, 0.4], window=2)
    >>> found.least.round(3).tolist(), found.constant.round(2).tolist(), found.valid.tolist()
    ([inf, 0.4, 0.4, 0.1], [0.0, 0.78, 0.78, 4.97], [1, 2, 2, 2])
    >>> found.of_arms.round(3).tolist()                                # arm 3 is behind arm 2, and then the best
    [0.4, inf, 0.4, 0.1]
    """
    stream, run, seed = as_stream(stream), whole("run", run, at_least=0), whole("seed", seed, at_least=0)
    setup = Setup(stream, window, 0, None, plan.PLAY_KEEP, plan.PLAY_PULL, partial=partial)
    first, length = setup.first(seed, run) - 1, setup.plan.window
    queue, clock, blocks = empty_queue(0), Numbers(setup.plan.by_time, remember=False), []
    for block in stream.blocks(generators(seed, run)[0]):
        arms, queue = clock.of(block), with_room(queue, block.means.size)
        blocks.append((arms.means, best_of_block(queue, arms, length), arms.times))
    means, best, times = map(np.concatenate, zip(*blocks, strict=True))
    numbers = times if setup.plan.by_time else np.arange(1, means.size + 1)
    oldest = np.searchsorted(numbers, numbers - length, side="right")
    least, constant, of_arms = (np.full(means.size, np.inf) for _ in range(3))
    fill_epochs(means, best, oldest, stream.noise, least, constant)
    fill_arms(means, best, oldest, first, of_arms)
    valid = np.arange(1, means.size + 1) - oldest
    return Gaps(best[first:], least[first:], constant[first:], valid[first:], of_arms)


@njit
def term_of(mean: float, best: float, noise: Noise) -> float:
    """Return gap / kl(mean, best), an arm's part of the Lai-Robbins constant; 0 for one of the best.

    Where the gap is small against the variance, the terms of kl are almost all lost in their difference.  There kl is
    gap^2 / (2 v), with v the variance at two thirds of the way to the best mean, but for a share of 1e-8.
    """
    gap = best - mean
    if gap <= 0:
        return 0.0
    if not noise.bounded:
        return 2 * noise.sigma * noise.sigma / gap
    if best >= 1:
        return 0.0
    between = mean + 2 / 3 * gap
    variance = between * (1 - between)
    if gap < NEAR * variance:
        return 2 * variance / gap
    first = mean * math.log(mean / best) if mean > 0 else 0.0
    return gap / (first + (1 - mean) * math.log1p(gap / (1 - best)))


@njit
def fill_epochs(means: Floats, best: Floats, oldest: Ints, noise: Noise, least: Floats, constant: Floats) -> None:
    """Fill in the least gap and the constant of each epoch, where the arms from oldest[j] to j are valid in epoch j."""
    highs, sums = np.empty(means.size), np.empty(means.size)  # of the arms from each to the pivot
    pivot, high, added = 0, -np.inf, 0.0  # the first arm of the rest, and theirs: the highest mean below the best, sum
    for now in range(means.size):
        if oldest[now] >= pivot or best[now] != best[now - 1]:
            high, added = -np.inf, 0.0
            for arm in range(now, oldest[now] - 1, -1):
                high = max(high, means[arm]) if means[arm] < best[now] else high
                added += term_of(means[arm], best[now], noise)
                highs[arm], sums[arm] = high, added
            pivot, high, added = now + 1, -np.inf, 0.0
        else:
            high = max(high, means[now]) if means[now] < best[now] else high
            added += term_of(means[now], best[now], noise)
        least[now] = best[now] - max(high, highs[oldest[now]])
        constant[now] = added + sums[oldest[now]]


@njit
def fill_arms(means: Floats, best: Floats, oldest: Ints, first: int, least: Floats) -> None:
    """Fill in the least gap above 0 of each arm, over the epochs of its life from `first` on."""
    change = np.empty(means.size, np.int64)  # when the best mean is next another one
    after = means.size
    for epoch in range(means.size - 1, -1, -1):
        if epoch + 1 < means.size and best[epoch] != best[epoch + 1]:
            after = epoch + 1
        change[epoch] = after
    for arm in range(means.size):
        epoch = max(arm, first)
        while epoch < means.size and oldest[epoch] <= arm:
            if best[epoch] > means[arm]:
                least[arm] = min(least[arm], best[epoch] - means[arm])
            epoch = change[epoch]
