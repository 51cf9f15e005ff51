"""The theorems of Braverman et al. as formulas: what a guarantee costs in pulls and memory, and the other way round.

**Exploration.**  Cut [0, 1] into slices of width w and pull each arm until its empirical mean is within theta of its
mean.  The arm in the highest slice that is not empty is then within w + 2 theta of the best.  `split` is the share of
epsilon that goes to the slices: w = split * epsilon and theta = (1 - split) / 2 * epsilon.  The paper has split = 1/3,
a third for each of w, theta and theta; it is also the split with the least product of slots and pulls.

A sum of s rewards that are sigma-sub-Gaussian (rewards on [0, 1] are, with sigma = 1/2) misses by theta or more with
probability at most 2 exp(-s theta^2 / (2 sigma^2)).  Means lie in [0, 1] in either case.  So

    s = 2 sigma^2 / theta^2 * ln(2 / p)

pulls let each arm fail with probability p at most, where

- *weak* (any one fixed time, Theorem 2) has p = delta / (3 W): only the arms of one window count;
- *strong* (all of n times at once, Lemma 4.2) has p = delta / (3 n);
- *anytime* (all times of an endless stream at once, ours) has p = delta / (W k (k + 1)) for the arms of the k-th block
  of W arrivals, k = ceil(t / W).  These add up to delta over all blocks, so the guarantee of *strong* holds without
  knowing n, at a price that grows like ln(t) instead of standing still at ln(n).

>>> pulls(epsilon=0.3, window=50, delta=0.1), memory(epsilon=0.3)
(401, 10)
>>> pulls(epsilon=0.3, window=50, delta=0.1, split=STAIRCASE_SPLIT)
220
"""

import math
from collections.abc import Iterable
from typing import Final

from bestbefore.arguments import between, one_of, whole

__all__ = [
    "GUARANTEES",
    "LEAST_MEAN",
    "PAPER_SPLIT",
    "STAIRCASE_SPLIT",
    "UPPER_SHARE",
    "arms_at_risk",
    "best_commit_epsilon",
    "certificate_cell",
    "certificate_failures",
    "certificate_room",
    "certificate_slots",
    "commit_regret",
    "epsilon_for_memory",
    "epsilon_for_pulls",
    "exact_memory",
    "failure",
    "memory",
    "noise",
    "noise_for_pulls",
    "period_regret",
    "pulls",
    "pulls_for_noise",
    "pulls_for_relative_noise",
    "regret_epochs",
    "regret_known_means",
    "regret_lower",
    "regret_lower_sharp",
    "regret_upper",
    "seek_tests",
    "skyband",
    "strong_pulls_lower",
]

PAPER_SPLIT: Final = 1 / 3
"""Algorithm 1: a third of epsilon for the slices, a third for the noise each way.  The default of `bucket`."""

STAIRCASE_SPLIT: Final = 1 / 10
"""A tenth for the slices: 45% fewer pulls than the paper's.  The staircase holds few arms, however fine they are."""

UPPER_SHARE: Final = 0.8
"""The share of delta that is for upper bounds, where arms are certified."""

LEAST_MEAN: Final = 0.01
"""Where epsilon is a share of the best mean, nothing is promised while no mean is above this."""

EULER: Final = 0.5772156649015329
"""Euler's constant: what harmonic numbers are above the logarithm, in the limit."""

GUARANTEES: Final = ("weak", "strong", "anytime")
"""At one time that is fixed beforehand, at all times of n arms, at all times of an endless stream."""


def round_up(number: float) -> int:
    """Return the ceiling of `number`, where rounding errors do not count: 3 / 0.3 is 10, not 11.

    Parameters
    ----------
    number
        Any number.
    """
    if number > 2**53:
        raise ValueError("epsilon and noise must not be so small that what they need is beyond counting, 2^53")
    return math.ceil(number * (1 - 1e-12))


def noise(epsilon: float, split: float = PAPER_SPLIT) -> float:
    """Return theta, how far an empirical mean may be off: (1 - split) / 2 * epsilon.

    Parameters
    ----------
    epsilon
        How far the answer may be from the best, from 0 to 1.
    split
        The share of epsilon that goes to the slices.
    """
    return (1 - between("split", split, 0, 1, closed="left")) / 2 * between("epsilon", epsilon, 0, 1, closed="right")


def memory(epsilon: float, split: float = PAPER_SPLIT, top: int = 1) -> int:
    """Return the slots that Algorithm 1 needs: ceil(1 / (split * epsilon)), in the paper ceil(3 / epsilon) (Lemma B.1).

    For the best `top` arms it is `top` times as many: each slice keeps its newest `top`.

    Parameters
    ----------
    epsilon
        How far the answer may be from the best, from 0 to 1.
    split
        The share of epsilon that goes to the slices.
    top
        How many of the best arms are answered.

    Examples
    --------
    >>> memory(0.1), memory(0.07), memory(0.1, split=0.5), memory(0.1, top=3)
    (30, 43, 20, 90)
    """
    between("epsilon", epsilon, 0, 1, closed="right")
    width = between("split", split, 0, 1) * epsilon
    return whole("top", top) * round_up(1 / width if width > 0 else math.inf)


def epsilon_for_memory(memory: int, split: float = PAPER_SPLIT, top: int = 1) -> float:
    """Return the least epsilon that `memory` slots can promise: 1 / (split * memory), the inverse of `memory`.

    For the best `top` arms, only a `top`-th of the slots counts, rounded down.  Above 1 there is nothing to promise.

    Parameters
    ----------
    memory
        m: how many arms can be stored.
    split
        The share of epsilon that goes to the slices.
    top
        How many of the best arms are answered.

    Examples
    --------
    >>> epsilon_for_memory(30), epsilon_for_memory(92, top=3)
    (0.1, 0.1)
    """
    slices = whole("memory", memory, at_least=whole("top", top)) // top
    return 1 / (between("split", split, 0, 1) * slices)


def skyband(window: int, top: int = 1) -> float:
    """Return how many of W arms in random order have fewer than `top` newer ones that are no worse, on average.

    The i-th arm from the newest is one of the best k of i with probability min(1, k / i), so it is the sum of that over
    i = 1 .. W: with different means, exactly.  For k <= W it is about k (1 + ln(W / k)); for k = 1, the W-th harmonic
    number.  This is the memory of `staircase` where no slot is short.

    Parameters
    ----------
    window
        W: how many arms are valid at once.
    top
        How many of the best arms are answered.

    Examples
    --------
    >>> round(skyband(1000, top=3), 2), round(3 * (1 + math.log(1000 / 3)), 2)
    (19.96, 20.43)
    >>> skyband(2, top=5)
    2.0
    """
    window, top = whole("window", window), whole("top", top)
    return float(window) if top >= window else top * (1 + _harmonic(window) - _harmonic(top))


def _harmonic(number: int) -> float:
    """Return 1 + 1/2 + ... + 1/number; beyond a hundred by Euler and Maclaurin, within 1e-10."""
    if number <= 100:
        return math.fsum(1 / place for place in range(1, number + 1))
    return math.log(number) + EULER + 1 / (2 * number) - 1 / (12 * number**2)


def failure(
    window: int, delta: float, guarantee: str = "weak", arms: int | None = None, arrival: int | None = None
) -> float:
    """Return p, the probability with which one arm's empirical mean may be off by more than the noise.

    `arms` is n, which the strong guarantee needs; `arrival` is t, which the anytime one needs.

    Parameters
    ----------
    window
        W: how many arms are valid at once.
    delta
        The probability with which the guarantee may fail.
    guarantee
        "weak", "strong" or "anytime".
    arms
        n: how many arms the stream has.
    arrival
        t: the number of the arm in question, for the anytime guarantee.
    """
    window = whole("window", window)
    between("delta", delta, 0, 1)
    one_of("guarantee", guarantee, GUARANTEES)
    thirds = 1 if guarantee == "anytime" else 3  # the paper fails in three ways, each with a third of delta
    sharing = thirds * arms_at_risk(window, guarantee, arms, arrival)
    if delta / sharing == 0:
        raise ValueError(f"delta must not be so small that it cannot be shared by {sharing} arms, not {delta!r}")
    return delta / sharing


def arms_at_risk(window: int, guarantee: str, arms: int | None = None, arrival: int | None = None) -> int:
    """Return how many arms a guarantee counts: W (weak), n (strong) or W k (k + 1) for block k of W arrivals (anytime).

    The last is the count if all arms had a share of delta like that of the arm in question.

    Parameters
    ----------
    window
        W: how many arms are valid at once.
    guarantee
        "weak", "strong" or "anytime".
    arms
        n: how many arms the stream has.
    arrival
        t: the number of the arm in question, for the anytime guarantee.

    Examples
    --------
    >>> arms_at_risk(50, "weak"), arms_at_risk(50, "strong", arms=1000), arms_at_risk(50, "anytime", arrival=51)
    (50, 1000, 300)
    """
    if one_of("guarantee", guarantee, GUARANTEES) == "weak":
        return window
    if guarantee == "strong":
        if arms is None:
            raise ValueError("arms must be the length of the stream for guarantee='strong', not None; use 'anytime'")
        return whole("arms", arms)
    if arrival is None:
        raise ValueError("arrival must be the number of an arm for guarantee='anytime', not None")
    block = (whole("arrival", arrival) - 1) // window + 1
    return window * block * (block + 1)


def certificate_failures(
    window: int | None,
    delta: float,
    guarantee: str = "weak",
    arms: int | None = None,
    arrival: int | None = None,
    *,
    reacts: bool = False,
) -> tuple[float, float]:
    """Return the probabilities with which the lower and the upper bound of an arm's certificate may fail.

    A fifth of delta is for lower bounds, the rest for upper ones (`bestbefore.probe.certify` says which are needed):

    - *weak*: at one time that is fixed beforehand one arm is the best, the newest if there are several.  Only its upper
      bound counts, 4/5 delta, and the lower bounds of the W - 1 others, 1/5 delta / (W - 1).  If the stream `reacts` to
      what is answered or pulled, the best arm is not fixed beforehand, and all bounds of all W arms count;
    - *strong*: all bounds of all n arms;
    - *anytime*: all bounds of all arms, with W k (k + 1) for n in the k-th block of W arrivals, as in `failure`.

    A window by time may hold any number of arms, and W is None.  *Weak*: `arrival` is c, the number of valid arms when
    the arm arrives, itself included; its lower bound has 1/5 delta / (c (c + 1)).  Of the arms that are valid at one
    time the i-th to arrive had a c of at least i, so these add up to less than 1/5 delta.  *Anytime*: `arrival` is t,
    and n is t (t + 1).

    Parameters
    ----------
    window
        W: how many arms are valid at once.
    delta
        The probability with which the guarantee may fail.
    guarantee
        "weak", "strong" or "anytime".
    arms
        n: how many arms the stream has.
    arrival
        t: the number of the arm in question, for the anytime guarantee.
    reacts
        Whether what arrives may depend on what was answered or pulled.

    Examples
    --------
    >>> [round(p, 5) for p in certificate_failures(51, 0.05)]
    [0.0002, 0.04]
    >>> [round(p, 5) for p in certificate_failures(None, 0.05, arrival=9)]
    [0.00011, 0.04]
    """
    window = None if window is None else whole("window", window)
    between("delta", delta, 0, 1)
    one_of("guarantee", guarantee, GUARANTEES)
    if guarantee == "weak":
        if window is None:
            valid = whole("arrival", 1 if arrival is None else arrival)
            lower = valid * (valid + 1)
        else:
            lower = window if reacts else max(window - 1, 1)
        upper = lower if reacts else 1
    else:
        lower = upper = arms_at_risk(window or 1, guarantee, arms, arrival)
    shares = (1 - UPPER_SHARE) * delta / lower, UPPER_SHARE * delta / upper
    if min(shares) == 0:
        raise ValueError(f"delta must not be so small that it cannot be shared by {lower} arms, not {delta!r}")
    return shares


def certificate_cell(epsilon: float, slots: int, *, relative: bool = False) -> float:
    """Return the width of the cells that lower bounds are rounded down to, where m slots are fewer than a window.

    It is 1 / m, or (1 - epsilon) / (m - 1) if that is less.  Of m + 1 arms two share one of m cells.  And no claim is
    above 1, so a newer arm covers all older ones if its L, rounded down, is at least 1 - epsilon.  If there is none
    such, all arms but the oldest are in the m - 1 cells below 1 - epsilon, and again two share one.

    Where epsilon is a share of the best mean, cells are shares too: the width is that of the logarithm.  An arm whose
    U is at most `LEAST_MEAN` is covered by every newer one.  The L of every other arm that is known is above
    (1 - epsilon) times that; between this and 1 there are m - 1 cells, and all arms but the newest are in them.

    Parameters
    ----------
    epsilon
        How far the answer may be from the best, from 0 to 1.
    slots
        m: how many arms can be stored.
    relative
        Whether epsilon is a share of the best mean.

    Examples
    --------
    >>> round(certificate_cell(0.1, 30), 4), certificate_cell(0.1, 1)
    (0.031, 1.0)
    >>> round(certificate_cell(0.2, 50, relative=True), 4)
    0.0985
    """
    if relative:
        return -math.log(LEAST_MEAN * max(1 - epsilon, 1e-9)) / max(slots - 1, 1)
    if slots == 1:
        return 1.0
    return min(1 / slots, (1 - epsilon) / (slots - 1))


def certificate_room(epsilon: float, cell: float, *, relative: bool = False) -> float:
    """Return what cells leave of epsilon: how far apart the bounds of an arm may be that is known well enough.

    It is epsilon - cell; where epsilon is a share, it is e^(-cell) / (1 - epsilon) - 1, a share of L.

    Parameters
    ----------
    epsilon
        How far the answer may be from the best, from 0 to 1.
    cell
        The width of a cell, as `certificate_cell` returns it.
    relative
        Whether epsilon is a share of the best mean.

    Examples
    --------
    >>> round(certificate_room(0.1, 0.02), 2), round(certificate_room(0.2, 0.1, relative=True), 3)
    (0.08, 0.131)
    """
    return math.exp(-cell) / max(1 - epsilon, 1e-9) - 1 if relative else epsilon - cell


def certificate_slots(epsilon: float, window: int | None, *, relative: bool = False, share: float = 0.1) -> int:
    """Return the slots that certificates take so that cells cost a `share` of epsilon, or W if that is less and known.

    That is ceil(10 / epsilon), and 1 + ln(100 / (1 - epsilon)) / (share ln(1 / (1 - epsilon))) where epsilon is a
    share of the best mean.

    Parameters
    ----------
    epsilon
        How far the answer may be from the best, from 0 to 1.
    window
        W: how many arms are valid at once.
    relative
        Whether epsilon is a share of the best mean.
    share
        The part of epsilon that cells may cost.

    Examples
    --------
    >>> certificate_slots(0.1, window=1000), certificate_slots(0.1, window=50)
    (100, 50)
    >>> certificate_slots(0.2, window=1000, relative=True)
    218
    """
    between("epsilon", epsilon, 0, 1, closed="right")
    slots = round_up(1 / (share * epsilon))
    if relative:
        lost = -math.log(max(1 - epsilon, 1e-9))
        slots = 1 + round_up((lost - math.log(LEAST_MEAN)) / (share * lost))
    return slots if window is None else min(slots, whole("window", window))


def pulls_for_noise(noise: float, failure: float, sigma: float = 0.5) -> int:
    """Return s = 2 sigma^2 / noise^2 ln(2 / failure): pulls that tell a mean within `noise` (Prop. A.1).

    Parameters
    ----------
    noise
        How far off an empirical mean may be.
    failure
        The probability with which it may be further off.
    sigma
        Rewards are sigma-sub-Gaussian; those in [0, 1] are, with 1/2.

    Examples
    --------
    >>> pulls_for_noise(noise=0.1, failure=0.05)
    185
    """
    between("noise", noise, 0, math.inf)
    between("failure", failure, 0, 1)
    between("sigma", sigma, 0, math.inf)
    return round_up(2 * (sigma / noise) * (sigma / noise) * math.log(2 / failure))


def pulls_for_relative_noise(noise: float, mean: float, failure: float) -> int:
    """Return s = (2 + 2/3 noise) / (noise^2 mean) ln(2 / failure): pulls that tell a mean within a share `noise` of it.

    That is Bernstein's inequality for rewards in [0, 1], whose variance is at most their mean.  Hoeffding's, which is
    `pulls_for_noise(noise * mean, failure)`, takes 1 / (4 mean) times as many, for small shares: 8 times at 0.03.

    Parameters
    ----------
    noise
        How far off an empirical mean may be.
    mean
        The arm's mean.
    failure
        The probability with which it may be further off.

    Examples
    --------
    >>> pulls_for_relative_noise(noise=0.2, mean=0.03, failure=0.05), pulls_for_noise(0.2 * 0.03, failure=0.05)
    (6559, 51235)
    """
    between("noise", noise, 0, math.inf)
    between("mean", mean, 0, 1, closed="right")
    between("failure", failure, 0, 1)
    return round_up((2 + 2 / 3 * noise) / (noise * noise * mean) * math.log(2 / failure))


def noise_for_pulls(pulls: int, failure: float, sigma: float = 0.5) -> float:
    """Return how far off a mean of `pulls` rewards may be: sigma sqrt(2 ln(2 / failure) / pulls).

    Parameters
    ----------
    pulls
        How many pulls.
    failure
        The probability with which it may be further off.
    sigma
        Rewards are sigma-sub-Gaussian; those in [0, 1] are, with 1/2.
    """
    whole("pulls", pulls)
    between("failure", failure, 0, 1)
    return between("sigma", sigma, 0, math.inf) * math.sqrt(2 * math.log(2 / failure) / pulls)


def pulls(
    epsilon: float,
    window: int,
    delta: float,
    guarantee: str = "weak",
    *,
    arms: int | None = None,
    arrival: int | None = None,
    split: float = PAPER_SPLIT,
    sigma: float = 0.5,
) -> int:
    """Return s, the pulls of each arm.  With the paper's split it is 9 / (2 epsilon^2) ln(6 W / delta), or n for W.

    Theorem 2 (weak), Lemma 4.2 (strong); anytime is ours.

    Parameters
    ----------
    epsilon
        How far the answer may be from the best, from 0 to 1.
    window
        W: how many arms are valid at once.
    delta
        The probability with which the guarantee may fail.
    guarantee
        "weak", "strong" or "anytime".
    arms
        n: how many arms the stream has.
    arrival
        t: the number of the arm in question, for the anytime guarantee.
    split
        The share of epsilon that goes to the slices.
    sigma
        Rewards are sigma-sub-Gaussian; those in [0, 1] are, with 1/2.

    Examples
    --------
    >>> pulls(0.1, window=100, delta=0.05), pulls(0.1, window=100, delta=0.05, guarantee="strong", arms=10_000)
    (4227, 6300)
    >>> [pulls(0.1, 100, 0.05, "anytime", arrival=t) for t in (1, 100, 101, 10_000)]
    [4045, 4045, 4539, 7882]
    """
    return pulls_for_noise(noise(epsilon, split), failure(window, delta, guarantee, arms, arrival), sigma)


def epsilon_for_pulls(
    pulls: int,
    window: int,
    delta: float,
    guarantee: str = "weak",
    *,
    arms: int | None = None,
    arrival: int | None = None,
    split: float = PAPER_SPLIT,
    sigma: float = 0.5,
) -> float:
    """Return the least epsilon that `pulls` of each arm can promise, the inverse of `pulls`.  Above 1 it says nothing.

    Parameters
    ----------
    pulls
        How many pulls.
    window
        W: how many arms are valid at once.
    delta
        The probability with which the guarantee may fail.
    guarantee
        "weak", "strong" or "anytime".
    arms
        n: how many arms the stream has.
    arrival
        t: the number of the arm in question, for the anytime guarantee.
    split
        The share of epsilon that goes to the slices.
    sigma
        Rewards are sigma-sub-Gaussian; those in [0, 1] are, with 1/2.

    Examples
    --------
    >>> round(epsilon_for_pulls(4227, window=100, delta=0.05), 4)
    0.1
    """
    theta = noise_for_pulls(pulls, failure(window, delta, guarantee, arms, arrival), sigma)
    return 2 * theta / (1 - between("split", split, 0, 1, closed="left"))


def exact_memory(window: int, top: int = 1) -> int:
    """Return the slots below which no algorithm finds the exact best arm 99 times in 100: 49/50 W - 1 (Theorem 1).

    It is the same for the best `top` arms in their order, for the first of them is the best arm: who names them all
    solves the task of Theorem 1.  And W slots do for any `top`, so that no bound can grow by more than a fiftieth.

    Parameters
    ----------
    window
        W: how many arms are valid at once.
    top
        How many of the best arms are answered.

    Examples
    --------
    >>> exact_memory(100), exact_memory(100, top=3)
    (97, 97)
    """
    if whole("top", top) > whole("window", window):
        raise ValueError(f"top must be at most {window}, the arms valid at once, not {top}")
    return round_up(49 / 50 * window - 1)


def strong_pulls_lower(epsilon: float, window: int, arms: int) -> float:
    """Return n / epsilon^2 ln(n / W), the order of the pulls that every strong algorithm needs (Lemma 4.1, W <= n / 8).

    The constant is not known: it is that of Mannor and Tsitsiklis (2004).

    Parameters
    ----------
    epsilon
        How far the answer may be from the best, from 0 to 1.
    window
        W: how many arms are valid at once.
    arms
        n: how many arms the stream has.
    """
    between("epsilon", epsilon, 0, 1, closed="right")
    return whole("arms", arms) / epsilon**2 * math.log(max(arms / whole("window", window), 1))


def regret_lower(pulls: int, window: int) -> float:
    """Return T / (64 W^2), what (W - 1) / 2 slots or fewer must pay on some stream (Theorem 3, for n >= 16 W).

    It is the paper's; `regret_lower_sharp` has more by a factor of order W, on the same stream.

    Parameters
    ----------
    pulls
        How many pulls.
    window
        W: how many arms are valid at once.
    """
    return whole("pulls", pulls) / (64 * whole("window", window) ** 2)


def period_regret(window: int, memory: int) -> float:
    """Return what m slots must pay in each period of EPOCH, in expectation, if every epoch has one pull.

    With K = W - 1 - m arms left out it is max(K (3 K - 1) / 2, K^3 / (3 (m + 1))) / (2 W (W - 1)): docs/theory.md.
    For m = (W - 1) / 2 that is (3 W - 5) / (16 W), and for few slots about W / (6 m).

    Parameters
    ----------
    window
        W: how many arms are valid at once.
    memory
        m: how many arms can be stored.

    Examples
    --------
    >>> period_regret(21, memory=10) == (3 * 21 - 5) / (16 * 21), round(period_regret(1000, memory=9), 1)
    (True, 16.2)
    """
    window, memory = whole("window", window, at_least=2), whole("memory", memory, at_least=0)
    left_out = max(window - 1 - memory, 0)
    squares = max(left_out * (3 * left_out - 1) / 2, left_out**3 / (3 * (memory + 1)))
    return squares / (2 * window * (window - 1))


def regret_lower_sharp(pulls: int, window: int, memory: int, arms: int | None = None) -> float:
    """Return what m slots must pay on EPOCH, whatever the algorithm; of order T / m, up to m = (W - 1) / 2 (ours).

    `arms` is n: budgets are then equal, as in the paper.  Without it the T pulls are shared by the W - 1 epochs that
    matter of a single period, for any n >= 2 W - 2.  `regret_known_means` is the upper bound to it.

    Parameters
    ----------
    pulls
        How many pulls.
    window
        W: how many arms are valid at once.
    memory
        m: how many arms can be stored.
    arms
        n: how many arms the stream has.

    Examples
    --------
    >>> round(regret_lower_sharp(10**6, window=21, memory=10)), round(regret_lower_sharp(10**6, 21, 10, arms=336))
    (8631, 4369)
    >>> round(regret_lower(10**6, window=21), 1)
    35.4
    """
    window, pulls = whole("window", window, at_least=2), whole("pulls", pulls)
    if arms is None:
        return pulls // (window - 1) * period_regret(window, memory)
    periods, epochs = (whole("arms", arms) + 2) // (2 * window), max(arms - window + 1, 1)
    return periods * (pulls // epochs) * period_regret(window, memory)


def regret_known_means(pulls: int, memory: int) -> float:
    """Return T / m, at most what `bucket` pays with m slots where means are known: each pull is within 1 / m.

    Parameters
    ----------
    pulls
        How many pulls.
    memory
        m: how many arms can be stored.
    """
    return whole("pulls", pulls) / whole("memory", memory)


def regret_epochs(budgets: Iterable[int], window: int) -> float:
    """Return the sum over epochs of sqrt(W T_j), the order of the regret with W slots (Theorem 3).

    Parameters
    ----------
    budgets
        The pulls of each epoch.
    window
        W: how many arms are valid at once.

    Examples
    --------
    >>> regret_epochs([100, 400], window=4)
    60.0
    """
    window = whole("window", window)
    return sum(math.sqrt(window * whole("budgets", budget, at_least=0)) for budget in budgets)


def commit_regret(epsilon: float, arms: int, pulls: int) -> float:
    """Return n ln(n) / epsilon^2 + epsilon T, the order of the regret of testing arms, then committing (Section 5).

    Parameters
    ----------
    epsilon
        How far the answer may be from the best, from 0 to 1.
    arms
        n: how many arms the stream has.
    pulls
        How many pulls.
    """
    between("epsilon", epsilon, 0, 1, closed="right")
    return whole("arms", arms) * math.log(arms) / epsilon**2 + epsilon * whole("pulls", pulls)


def best_commit_epsilon(arms: int, pulls: int) -> float:
    """Return the epsilon that makes `commit_regret` the least: (2 n ln(n) / T)^(1/3), or 1 if that is more.

    The paper has it up to the constant; the regret is then of order T^(2/3) (n ln n)^(1/3).

    Parameters
    ----------
    arms
        n: how many arms the stream has.
    pulls
        How many pulls.

    Examples
    --------
    >>> round(best_commit_epsilon(1000, 10**6), 3)
    0.24
    """
    whole("arms", arms, at_least=2)
    return min(math.cbrt(2 * arms * math.log(arms) / whole("pulls", pulls)), 1.0)


def regret_upper(pulls: int, window: int, arms: int) -> float:
    """Return sqrt(W (n - W + 1) T), the order of the regret with W slots, whatever the budgets (Theorem 3).

    It is the Cauchy-Schwarz form of the sum over epochs of sqrt(W T_j), up to the pull rule's constant.

    Parameters
    ----------
    pulls
        How many pulls.
    window
        W: how many arms are valid at once.
    arms
        n: how many arms the stream has.
    """
    epochs = whole("arms", arms) - whole("window", window) + 1
    return math.sqrt(window * max(epochs, 0) * whole("pulls", pulls))


def seek_tests(budget: int, arms: int, share: int = 10) -> int:
    """Return how many pulls a seeker of the everlasting best arm tests an arriving arm by, at most.

    All tests together take one part in `share` of the budget.

    Parameters
    ----------
    budget
        All pulls there are.
    arms
        n: how many arms the stream has.
    share
        The part of epsilon that cells may cost.

    Examples
    --------
    >>> seek_tests(10**6, 1000), seek_tests(10**6, 1000, share=100)
    (100, 10)
    """
    return max(whole("budget", budget) // (whole("share", share) * whole("arms", arms)), 1)
