"""EPOCH, exactly: the least regret that any choice of stored arms leaves, in one period.

When the second block of a period begins, some of the arms 1 .. W - 1 of the first are stored, S, at most m of them.
(Arm W, which has just arrived, is never needed.)  Until then no reward has anything to do with h.  So S may depend on
rewards and on coins, but not on h; and later no arm comes back.  Whatever the algorithm, its expected regret over the
epochs of arms 1 .. W - 1 is therefore at least that of some fixed S, for one who knows all means, and knows h as soon
as the second block begins.  That is what is computed here: the mean over h of the best valid mean less the best mean
of S, arm W and the second block, over those W - 1 epochs of one pull each.

`least_regret` tries all sets.  `least_by_gaps` has the same number for larger windows, by the formula of
docs/theory.md: with i = W - j for arm j, an arm that is not stored costs i^2 - p^2, in units of 1 / (2 W (W - 1)),
where p belongs to the next newer arm that is stored, or is 0.

>>> least_regret(window=7, memory=3), least_by_gaps(window=7, memory=3)
(Fraction(1, 7), Fraction(1, 7))
>>> float(least_by_gaps(window=201, memory=100))
0.21130597014925373
"""

from collections.abc import Iterable
from fractions import Fraction
from itertools import combinations

from bestbefore.arguments import whole


def regret_of(window: int, stored: Iterable[int]) -> Fraction:
    """Return the expected regret of a period, with one pull an epoch, if these of the arms 1 .. W - 1 are stored."""
    window, kept = whole("window", window, at_least=2), sorted(stored)
    total = 0  # all means are multiples of 1 / (2 W)
    for h in range(1, window):
        for oldest in range(1, window):  # the epoch of arm j, in which the arms j .. W and j - 1 of block two are valid
            second = 2 * window - (2 * h + 1) if oldest > 1 else 0
            first = next((2 * (window - arm) for arm in kept if arm >= oldest), 0)
            total += max(2 * (window - oldest), second) - max(first, second)
    return Fraction(total, 2 * window * (window - 1))


def least_regret(window: int, memory: int) -> Fraction:
    """Return the least of `regret_of`, over all sets of `memory` arms."""
    arms = range(1, whole("window", window, at_least=2))
    size = min(whole("memory", memory, at_least=0), window - 1)
    return min(regret_of(window, stored) for stored in combinations(arms, size))


def least_by_gaps(window: int, memory: int) -> Fraction:
    """Return the same, by dynamic programming over the gaps between stored arms, from the newest on."""
    last = whole("window", window, at_least=2) - 1
    least = {0: 0}  # the least cost of all arms before the last one stored, by its i; 0 stands for arm W
    for _ in range(min(whole("memory", memory, at_least=0), last)):
        least = {
            i: min(cost + _gap(before, i, last) for before, cost in least.items() if before < i)
            for i in range(min(least) + 1, last + 1)
        }
    costs = (cost + _gap(before, last + 1, last) for before, cost in least.items())
    return Fraction(min(costs), 2 * window * (window - 1))


def _gap(before: int, after: int, last: int) -> int:
    """Return what the arms between two stored ones cost; arm 1, whose i is the last, has no second block beside it."""
    cost = _squares(after - 1) - _squares(before) - (after - 1 - before) * before**2
    return cost + (last - before) ** 2 if before < last < after else cost


def _squares(most: int) -> int:
    """Return 1 + 4 + 9 + ... + most^2."""
    return most * (most + 1) * (2 * most + 1) // 6
