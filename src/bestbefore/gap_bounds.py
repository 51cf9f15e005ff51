"""What index rules lose by the gaps of a stream, where the whole window is stored and statistics carry over.

Each arm pays once, and not once a window: docs/theory.md, Propositions 11 and 12, has the proof.  An index of *level* L
is the highest mean q that `pulls` rewards do not contradict: pulls kl(mean, q) <= L, or mean + sigma sqrt(2 L / pulls).
`kl_ucb` has L = ln T, and `ucb` has L = 2 ln(T K / delta), with T the budget of the epoch and K the arms at hand.

`simulate.gaps` has the gaps of a stream:

>>> gaps_of_arms, least_gaps, valid = [0.4, math.inf, 0.4, 0.1], [math.inf, 0.4, 0.4, 0.1], [1, 2, 2, 2]
>>> budgets = [10**4] * 4
>>> round(regret(gaps_of_arms, least_gaps, valid, budgets, ucb_levels(valid, budgets, delta=0.01)))
961
>>> round(regret(gaps_of_arms, least_gaps, valid, budgets, kl_ucb_levels(budgets)))
846
"""

import math
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from bestbefore.arguments import between

__all__ = [
    "arms_pay",
    "failures",
    "kl_ucb_levels",
    "regret",
    "ucb_levels",
]

Floats: TypeAlias = npt.NDArray[np.float64]
Numbers: TypeAlias = Sequence[float] | npt.NDArray[np.float64] | npt.NDArray[np.int64]


def ucb_levels(valid: Numbers, budgets: Numbers, delta: float) -> Floats:
    """Return the level of `ucb` in each epoch, 2 ln(T K / delta): `valid` arms are at hand; 0 where T is 0.

    Parameters
    ----------
    valid
        How many arms are valid in each epoch.
    budgets
        The pulls of each epoch.
    delta
        The confidence of `ucb`.
    """
    between("delta", delta, 0, 1)
    arms, pulls = _numbers("valid", valid, least=1), _numbers("budgets", budgets, _size("valid", valid))
    return np.where(pulls > 0, 2 * np.log(np.maximum(pulls, 1) * arms / delta), 0.0)


def kl_ucb_levels(budgets: Numbers) -> Floats:
    """Return the level of `kl_ucb` in each epoch, ln T; 0 where T is 0.

    Parameters
    ----------
    budgets
        The pulls of each epoch.
    """
    return np.log(np.maximum(_numbers("budgets", budgets), 1))


def arms_pay(gaps: Numbers, level: float, sigma: float = 0.5) -> float:
    """Return A, the sum over arms of 4 sigma^2 (2 L + sqrt(L / 2) + 2 + 1 / L) / gap, with L at least 1.

    Parameters
    ----------
    gaps
        The least gap above 0 of each arm, inf where there is none.
    level
        The level of the index, L.
    sigma
        Rewards are sigma-sub-Gaussian.

    Examples
    --------
    >>> round(arms_pay([0.1, 0.2, math.inf], level=8.0), 3)
    301.875
    """
    high = max(between("level", level, 0, math.inf, closed="left"), 1.0)
    scale = 4 * between("sigma", sigma, 0, math.inf) ** 2
    return float(scale * (2 * high + math.sqrt(high / 2) + 2 + 1 / high) * (1 / _gaps("gaps", gaps)).sum())


def failures(valid: Numbers, budgets: Numbers, levels: Numbers) -> Floats:
    """Return the most that each epoch loses, on average, because the index of its best arm is below its mean.

    It is T min(1, S e^-L, e max(ceil(L ln S), 1) e^-L), with S the pulls that the best arm can have had by the end.

    Parameters
    ----------
    valid
        How many arms are valid in each epoch.
    budgets
        The pulls of each epoch.
    levels
        The level of the index in each epoch.

    Examples
    --------
    >>> failures([1, 2], [100, 100], kl_ucb_levels([100, 100])).round(2).tolist()
    [59.8, 67.96]
    """
    size = _size("valid", valid)
    arms, pulls = _numbers("valid", valid, least=1), _numbers("budgets", budgets, size)
    level = _numbers("levels", levels, size)
    before = np.concatenate([[0.0], np.cumsum(pulls)])
    epochs = np.arange(size)
    so_far = np.maximum(before[epochs + 1] - before[np.maximum(epochs + 1 - arms.astype(np.int64), 0)], 1)
    slices = np.maximum(np.ceil(level * np.log(so_far)), 1)
    chance: Floats = np.minimum(np.minimum(so_far, math.e * slices) * np.exp(-level), 1)
    return pulls * chance


def regret(
    gaps: Numbers, least: Numbers, valid: Numbers, budgets: Numbers, levels: Numbers, sigma: float = 0.5
) -> float:
    """Return at most what `fifo` with the whole window loses on average, by an index of these levels that carries over.

    `gaps` has the least gap above 0 of each arm's life, inf for arms that have none.  The others have an entry for each
    epoch: `least` gap above 0, `valid` arms, the budget, and the level of the index.  With A what arms pay, it is the
    least of three numbers: all pulls T; the arms + A + `failures`; and the arms + (A^(1/3) + B^(1/3))^3, where B is the
    sum over epochs of 4 sigma^2 T e^-L / least gap.  Means are in [0, 1], so that the first pull of an arm costs 1 at
    most.

    Parameters
    ----------
    gaps
        The least gap above 0 of each arm, inf where there is none.
    least
        The least gap above 0 in each epoch, inf where there is none.
    valid
        How many arms are valid in each epoch.
    budgets
        The pulls of each epoch.
    levels
        The level of the index in each epoch.
    sigma
        Rewards are sigma-sub-Gaussian.
    """
    size = _size("valid", valid)
    of_arms, of_epochs = _gaps("gaps", gaps), _gaps("least", least, size)
    pulls, level = _numbers("budgets", budgets, size), _numbers("levels", levels, size)
    lost = failures(valid, budgets, levels)
    counts = np.isfinite(of_epochs) & (pulls > 0)  # elsewhere nothing can be lost
    pay = arms_pay(gaps, float(level[counts].max(initial=0)), sigma)
    behind = int(np.isfinite(of_arms).sum())
    slack = float((4 * sigma**2 * pulls * np.exp(-level) / of_epochs)[counts].sum())
    with_slack = (math.cbrt(pay) + math.cbrt(slack)) ** 3
    return min(float(pulls[counts].sum()), behind + pay + float(lost[counts].sum()), behind + with_slack)


def _size(name: str, numbers: Numbers) -> int:
    return _numbers(name, numbers).size


def _gaps(name: str, gaps: Numbers, size: int | None = None) -> Floats:
    """Return gaps as an array, if each is above 0; inf is allowed."""
    made = _numbers(name, gaps, size)
    if (made == 0).any():
        raise ValueError(f"{name} must be above 0, or inf where there is none, not 0 at place {made.argmin() + 1}")
    return made


def _numbers(name: str, numbers: Numbers, size: int | None = None, least: float = 0) -> Floats:
    """Return numbers as an array, if none is below `least`, and if there are `size`, where that is given."""
    try:
        made = np.asarray(numbers, np.float64)
    except (TypeError, ValueError):
        made = np.zeros((0, 0))
    if made.ndim != 1 or (size is not None and made.size != size):
        wanted = "a list of numbers" if size is None else f"a list of {size} numbers, one for each epoch"
        raise ValueError(f"{name} must be {wanted}, not {numbers!r}")
    wrong = np.flatnonzero(~(made >= least))
    if wrong.size:
        raise ValueError(f"{name} must be at least {least:g}, not {made[wrong[0]]:g} at place {wrong[0] + 1}")
    return made
