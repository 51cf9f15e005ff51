"""The paper's hard instances: the streams on which its lower bounds are proved.

Arrivals i and places j count from 1, as in the paper, and [m] is 1 .. m.

>>> import numpy as np
>>> next(exact_hard(window=2).blocks(np.random.default_rng(0))).means.round(2).tolist()
[0.83, 0.67, 0.5, 0.33]

Braverman, Wang, Wang and Zhou, "Online learning with recency: algorithms for sliding-window streaming multi-armed
bandits".
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bestbefore.arguments import between, whole
from bestbefore.streams.stream import Arms, Floats, Stream, bernoulli, block_sizes, from_means
from bestbefore.streams.synthetic import constant, decreasing, sawtooth

Ints = npt.NDArray[np.int64]


def exact_hard(window: int) -> Stream:
    """Make the stream of Theorem 1: n = 2 W arms, mu_i = 1 - i / (3 W).

    The best arm is always the oldest that is valid, so each arm will be the best: to know it takes order W slots.

    Parameters
    ----------
    window
        W: how many arms are valid at once.
    """
    window = whole("window", window)
    return _by_formula("exact-hard", 2 * window, lambda rng: lambda i: 1 - i / (3 * window))


def epoch(arms: int, window: int) -> Stream:
    """Make EPOCH(n, W) of Theorem 3: with (W - 1) / 2 slots or fewer, regret is T / (64 W^2) or more, if n >= 16 W.

    For k = 0, 1, ..., the arms i = 2 W k + j, j in [W], have mu_i = 1 - j / W, and the next W arms all have
    mu_i = 1 - (2 h + 1) / (2 W), with a fresh uniform h for each k: whoever let arm 2 W k + h go has lost an epoch.  So
    has whoever let another arm 2 W k + j go, j < h: regret is about 3 T / (32 W) or more, as docs/theory.md proves.

    The paper draws h "with probability 1 / W" from [W]; here it is drawn always, from [W - 1], as h = W would make a
    mean negative.  The proof holds: of the first W - 1 arms at least half are not stored, and h is one of them with
    probability 1/2 or more, whatever happened before.

    Parameters
    ----------
    arms
        How many arms.
    window
        W: how many arms are valid at once.
    """
    window = whole("window", window, at_least=2)

    def choose(rng: np.random.Generator) -> Callable[[Ints], Floats]:
        chosen, periods = np.zeros(0, np.int64), 0  # the last entry of `chosen` is h of the last period

        def means(i: Ints) -> Floats:
            nonlocal chosen, periods
            k, j = np.divmod(i - 1, 2 * window)
            chosen = np.concatenate([chosen[-1:], rng.integers(1, window, k[-1] + 1 - periods)])
            periods = k[-1] + 1
            h = chosen[k - periods]
            return np.where(j < window, 1 - (j + 1) / window, 1 - (2 * h + 1) / (2 * window))

        return means

    return _by_formula("epoch", whole("arms", arms), choose)


def dist(arms: int, sigma: float, beta: float) -> Stream:
    """Make DIST(m, sigma, beta) of Proposition D.1: all means are sigma, but one is sigma + beta.

    That one, i*, is uniform on [m].  Who keeps m / 8 arms that contain it two times in three needs m / (1200 beta^2)
    pulls or more.

    Parameters
    ----------
    arms
        How many arms.
    sigma
        The mean of all arms but the best.
    beta
        How much better the best arm is.
    """
    arms = whole("arms", arms)
    sigma, beta = between("sigma", sigma, 0, 1, closed="left"), between("beta", beta, 0, 1, closed="right")
    if sigma + beta > 1:
        raise ValueError(f"beta must be at most 1 - sigma = {1 - sigma:g}, not {beta!r}")

    def choose(rng: np.random.Generator) -> Callable[[Ints], Floats]:
        star = rng.integers(1, arms + 1)
        return lambda i: np.where(i == star, sigma + beta, sigma)

    return _by_formula("dist", arms, choose)


def const(arms: int, sigma: float) -> Stream:
    """Make CONST(m, sigma): mu_i = sigma for all i in [m].

    Parameters
    ----------
    arms
        How many arms.
    sigma
        The mean of every arm.
    """
    return replace(constant(arms, between("sigma", sigma, 0, 1, closed="both")), name="const")


def signal(arms: int, window: int, *, budget: int | None = None, beta: float | None = None) -> Stream:
    """Make SIGNAL(n, W, beta) of Theorem 4, for an everlasting best arm with an explicit flag.

    DIST(W, 3/5, beta), CONST(W, 1/5), then with probability 1/2 DIST(W, 2/5, beta), else DIST(W, 4/5, beta), then
    CONST(n - 3 W, 1/5).  With W / 8 slots, regret is T / 120 or more for T pulls and beta = `signal_beta(T, W)`: give
    either the `budget` T or `beta`.  The theorem says n >= 4 W; this stream, and the proof, need only n >= 3 W.

    Parameters
    ----------
    arms
        How many arms.
    window
        W: how many arms are valid at once.
    budget
        T, from which beta follows.
    beta
        How much better the best arm is.
    """
    return _signal("signal", arms, window, _one_beta(budget, beta, window, signal_beta))


def signal_beta(budget: int, window: int) -> float:
    """Return min(sqrt(W / (1200 T)), 1/10), so that T pulls are too few for Proposition D.1.

    Parameters
    ----------
    budget
        T: all pulls there are.
    window
        W: how many arms are valid at once.

    Examples
    --------
    >>> signal_beta(budget=75, window=9)
    0.01
    """
    return min(math.sqrt(whole("window", window) / (1200 * whole("budget", budget))), 1 / 10)


def signal_prime(arms: int, window: int, *, budget: int | None = None, beta: float | None = None) -> Stream:
    """Make SIGNAL'(n, W, beta) of Lemma D.2, for an everlasting best arm with an implicit flag.

    The arms are those of `signal`; only beta differs, which is `signal_prime_beta(T, W)` for a `budget` of T pulls.  As
    nobody can name the best arm, regret is T / 1800 or more even with n - 1 slots, for W >= 2.

    Parameters
    ----------
    arms
        How many arms.
    window
        W: how many arms are valid at once.
    budget
        T, from which beta follows.
    beta
        How much better the best arm is.
    """
    return _signal("signal-prime", arms, window, _one_beta(budget, beta, window, signal_prime_beta))


def signal_prime_beta(budget: int, window: int) -> float:
    """Return min(1, sqrt(W / T)) / 10: whoever pulls T times names i* of DIST with probability below 3/4 (W >= 2).

    The paper's min(1/10, c_1 W log(c_2) / (2 T)) has constants that nobody knows.  Ours follows from Pinsker's
    inequality: i* is named with probability at most 1 / W + sqrt(T kl / (2 W)), with
    kl = kl(sigma, sigma + beta) <= beta^2 / ((sigma + beta) (1 - sigma - beta)) <= beta^2 / 0.09
    for sigma of 2/5, 3/5 or 4/5 and beta <= 1/10.  That is at most 1 / W + 0.236.

    Parameters
    ----------
    budget
        T: all pulls there are.
    window
        W: how many arms are valid at once.

    Examples
    --------
    >>> signal_prime_beta(budget=10_000, window=100)
    0.01
    """
    return min(1.0, math.sqrt(whole("window", window) / whole("budget", budget))) / 10


def failing_king(arms: int) -> Stream:
    """Make the stream of Lemma E.1, mu_i = 1 - (i - 1) / n: `decreasing`, on which one slot must fail.

    Parameters
    ----------
    arms
        How many arms.
    """
    return replace(decreasing(arms), name="failing-king")


def memory_stairs(arms: int, window: int | None = None, *, epsilon: float | None = None) -> Stream:
    """Make the stream of Lemma E.2: each mean is 2 epsilon below the one before; at 0 they begin again from 1.

    mu_i = 1 - 2 epsilon (i - 1 - p floor((i - 1) / p)) with p = 1 / (2 epsilon) steps.  (The paper prints floor(i / p),
    which would begin again one arm early, with a mean above 1.)  Only the best arm is within epsilon of the best, so to
    know one takes order W slots.  The paper's epsilon is 1 / (100 W), with p = 50 W: give either `window` or `epsilon`.

    Parameters
    ----------
    arms
        How many arms.
    window
        W, from which the paper's epsilon follows.
    epsilon
        Half a step.

    Examples
    --------
    >>> next(memory_stairs(5, epsilon=1 / 8).blocks(np.random.default_rng(0))).means.tolist()
    [1.0, 0.75, 0.5, 0.25, 1.0]
    """
    if (window is None) == (epsilon is None):
        raise ValueError(f"either window or epsilon must be given, not {window!r} and {epsilon!r}")
    if epsilon is None:
        period = 50 * whole("window", window)  # type: ignore[arg-type]
    else:
        period = round(1 / (2 * between("epsilon", epsilon, 2**-53, 1 / 2, closed="both")))
        if not math.isclose(2 * epsilon * period, 1):
            raise ValueError(f"epsilon must be 1 / (2 p) with a whole number p, not {epsilon!r}")
    return replace(sawtooth(arms, period), name="memory-stairs")


def reduction(problems: Stream | Sequence[Sequence[float]] | Floats, window: int) -> Stream:
    """Make the stream of Lemma B.4: Z, X_1, Z, X_2, ..., where Z is W arms that always return 0.

    `problems` has a row of W means for each problem X, or is a stream of Bernoulli arms that is cut into problems of W.
    The answer at arrival 2 W i is one to problem i, for then all zero arms have expired.  (In Algorithm 2,
    arm'_{i 2W + j} should be arm'_{(i - 1) 2W + W + j}.)

    Parameters
    ----------
    problems
        A row of W means for each problem, or a stream that is cut into problems of W.
    window
        W: how many arms are valid at once.

    Examples
    --------
    >>> next(reduction([[0.5, 0.25], [0.125, 1]], window=2).blocks(np.random.default_rng(0))).means.tolist()
    [0.0, 0.0, 0.5, 0.25, 0.0, 0.0, 0.125, 1.0]
    """
    window = whole("window", window)
    real = problems if isinstance(problems, Stream) else from_means(_rows(problems, window).ravel())
    if real.length % window:
        raise ValueError(f"problems must have {window} arms each, not {real.length} in all")

    def choose(rng: np.random.Generator) -> Callable[[Ints], Floats]:
        blocks, ready = real.blocks(rng), np.zeros(0)

        def means(i: Ints) -> Floats:
            nonlocal ready
            here = (i - 1) % (2 * window) >= window
            needed = np.count_nonzero(here)
            while ready.size < needed:
                block = next(blocks)
                if block.levels.size or not block.noise.bounded:
                    raise ValueError("problems must be of Bernoulli arms; use rated() or gaussian() on the reduction")
                ready = np.concatenate([ready, block.means])
            made = np.zeros(i.size)
            made[here], ready = ready[:needed], ready[needed:]
            return made

        return means

    return _by_formula("reduction", 2 * real.length, choose)


def _by_formula(name: str, arms: int, choose: Callable[[np.random.Generator], Callable[[Ints], Floats]]) -> Stream:
    """Make a stream: `choose` draws what is random and returns the means as a function of arrivals, called in order."""

    def source(rng: np.random.Generator) -> Iterator[Arms]:
        means, start = choose(rng), 1
        for size in block_sizes(arms):
            yield bernoulli(means(np.arange(start, start + size)))
            start += size

    return Stream(name, arms, source)


def _signal(name: str, arms: int, window: int, beta: float) -> Stream:
    window = whole("window", window)
    arms = whole("arms", arms, at_least=3 * window)

    def choose(rng: np.random.Generator) -> Callable[[Ints], Floats]:
        early, late = rng.integers(1, window + 1), 2 * window + rng.integers(1, window + 1)
        levels = np.array([3 / 5, 1 / 5, 4 / 5 if rng.integers(2) else 2 / 5, 1 / 5])
        return lambda i: levels[np.minimum((i - 1) // window, 3)] + beta * ((i == early) | (i == late))

    return _by_formula(name, arms, choose)


def _one_beta(budget: int | None, beta: float | None, window: int, rule: Callable[[int, int], float]) -> float:
    if budget is not None and beta is None:
        return rule(budget, window)
    if beta is not None and budget is None:
        return between("beta", beta, 0, 1 / 5, closed="right")  # 4/5 + beta is a mean
    raise ValueError(f"either budget or beta must be given, not {budget!r} and {beta!r}")


def _rows(problems: Any, window: int) -> Floats:
    try:
        rows = np.asarray(problems, np.float64)
    except (TypeError, ValueError) as wrong:
        raise ValueError(f"problems must be rows of numbers: {wrong}") from None
    if rows.ndim != 2 or rows.shape[1] != window:
        raise ValueError(f"problems must have a row of {window} means each, not shape {rows.shape}")
    return rows
