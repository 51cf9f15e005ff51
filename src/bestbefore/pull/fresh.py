"""Fresh: test a new arm as long as it is likely enough to be a better one, and while it may be an heir.

The index is the largest q with pulls * kl(mean, q) <= ln+(H / pulls), where ln+ is the logarithm or 0.  H is how long
an arm is explored at most:

    H = sqrt(1 - best) min(2 R / K, 1, T / 100) T,

with T the budget of the epoch, K the number of arms at hand, and the mean and R = W / age of the leader as the epoch
begins.  With H = T / K it would be MOSS in the form of KL-UCB.  What is different:

- **R.**  In random order, a leader that has stood for so many arrivals is beaten by the next one with probability
  1 / (age + 1).  So newcomers are tested long under a young leader, as where means rise, and briefly under an old one.
- **sqrt(1 - best).**  No arm is better than the leader by more than 1 - best.  Where that is little, a search for a
  better one cannot earn much.
- **T / 100.**  Where arms come faster than they can be told apart, most of them must not be tried to the end.

**Heirs.**  The best of the others takes over when the leader expires, so which one that is has to be known, too.  An
arm comes before all others while pulls * kl(mean, heir) < ln(T / (10 K pulls)), where `heir` is half way from the
highest mean to the second, as the epoch begins: a short test that large budgets pay for, and small ones do not.

For Gaussian rewards kl(p, q) is (p - q)^2 / (2 sigma^2), and sqrt(1 - best) is left out.

J.-Y. Audibert and S. Bubeck, "Minimax policies for adversarial and stochastic bandits", COLT 2009.  P. Ménard and A.
Garivier, "A minimax and asymptotically optimal algorithm for stochastic bandits", ALT 2017.  D. Chakrabarti, R. Kumar,
F. Radlinski and E. Upfal, "Mortal multi-armed bandits", NIPS 2008.  Y. Wang, J.-Y. Audibert and R. Munos, "Algorithms
for infinitely many-armed bandits", NIPS 2008.

>>> from bestbefore.pull.horizon import Outlook, horizon_of
>>> horizon = horizon_of(budget=400, arms=4, delta=0.01, tests=1, outlook=Outlook(youth=2.0, best=0.5, heir=0.4))
>>> round(index(100, 50.0, horizon), 4), index(300, 150.0, horizon), index(9, 4.0, horizon)
(0.5719, 0.5, 1e+300)
"""

import math
from typing import Final

import numpy as np

from bestbefore._jit import njit
from bestbefore.divergence import divergence, quick_upper_bound, upper_bound
from bestbefore.pull.blocks import block_for
from bestbefore.pull.horizon import Horizon

EAGER: Final = 2.0
"""How much longer than MOSS an arm is tested under a leader that has stood for a whole window."""
AMPLE: Final = 100.0
"""No arm is explored beyond T / AMPLE of the budget."""
TESTED: Final = 1e300
"""The index of an arm that is tested as an heir: only one that was never pulled comes before it."""
HEIRS: Final = 0.1
"""The share of MOSS's horizon for which an arm is tested as an heir."""


@njit
def _evidence(pulls: float, mean: float, level: float, horizon: Horizon) -> float:
    """Return pulls * kl(mean, level): how much rewards of this mean speak against a true mean of `level`, above it."""
    if not horizon.noise.bounded:
        distance = (level - mean) / horizon.noise.sigma
        return pulls * distance * distance / 2
    return np.inf if level >= 1 else pulls * divergence(max(mean, 0.0), level)


@njit
def _limit(pulls: float, horizon: Horizon) -> float:
    """Return ln+(H / pulls): how much may speak for a lower mean before an arm is given up."""
    ample = horizon.budget * min(horizon.budget * (1 / AMPLE), 1.0)
    longest = horizon.above * min(EAGER * horizon.youth * horizon.share, ample)
    return math.log(longest / pulls) if longest > pulls else 0.0


@njit
def _is_tested(pulls: float, total: float, later: float, horizon: Horizon) -> bool:
    """Tell whether an arm is still tested as an heir after `later` pulls, of which `pulls` count against it."""
    longest = HEIRS * horizon.share
    if later >= longest or horizon.heir == -np.inf:
        return False
    mean = total / pulls
    return mean >= horizon.heir or _evidence(pulls, mean, horizon.heir, horizon) < math.log(longest / later)


@njit
def index(pulls: float, total: float, horizon: Horizon) -> float:
    """Return the largest q that the rewards do not contradict; an arm that is tested as an heir comes before others."""
    if _is_tested(pulls, total, pulls, horizon):
        return TESTED
    limit = _limit(pulls, horizon)
    if not horizon.noise.bounded:
        return total / pulls + horizon.noise.sigma * math.sqrt(2 * limit / pulls)
    return upper_bound(pulls, total, limit)


@njit
def ceiling(pulls: float, total: float, horizon: Horizon) -> float:
    """Return a bound that is quick to have, and no lower than the index."""
    if not horizon.noise.bounded or _is_tested(pulls, total, pulls, horizon):
        return index(pulls, total, horizon)
    return quick_upper_bound(pulls, total, _limit(pulls, horizon)) + 1e-12


@njit
def is_above(pulls: float, total: float, later: float, horizon: Horizon, level: float) -> bool:
    """Tell whether the index is above `level` after `later` pulls, if these have the mean of `total` in `pulls`.

    As with KL-UCB, rewards of 0 first are the worst that can happen, so the evidence is that of the pulls before the
    others; the limits are those after all of them, which are lower.
    """
    if level >= TESTED:
        return False
    mean = total / pulls
    if mean > level or _is_tested(pulls, total, later, horizon):
        return True
    limit = _limit(later, horizon)
    if not horizon.noise.bounded:
        return mean + horizon.noise.sigma * math.sqrt(2 * limit / later) > level
    if limit <= 0 or not 0 < level < 1:
        return False
    rounding = 1e-12 * pulls * (level - mean) / (level * (1 - level))  # what the last digits of an index may hide
    return _evidence(pulls, mean, level, horizon) < limit * (1 - 1e-9) - rounding


@njit
def block(pulls: int, total: float, mean: float, horizon: Horizon, level: float) -> int:
    """Return how many pulls to draw at once: a guess at how many will be the leader's."""
    empirical = total / pulls
    if level >= TESTED:
        return 0
    if 0 < level < 1 and empirical < level:
        left = _limit(pulls, horizon) - pulls * divergence(empirical, level)
        zeros = max(left, 0.0) / math.log((1 - empirical) / (1 - level))
        return int(min(0.6 * zeros / max(1 - mean, 1e-9), 4.0 * pulls))
    return block_for(pulls, total, empirical, mean, level)


@njit
def room(pulls: int, total: float, later: int, horizon: Horizon, level: float) -> float:
    """Return how many rewards of 0 surely leave the index above `level` up to `later` pulls: fewer than this.

    Each adds ln((1 - mean) / (1 - level)) to the evidence, with the mean as it is then: each more than the one before.
    If all added as little as the first, some z of them would be the room.  So it is less than z, and none of those in
    it adds more than the one after z.
    """
    if level <= 0:
        return np.inf
    above = total / level - pulls - 1e-6
    if above >= later - pulls or level >= 1 or total / later >= level:
        return above
    mean, left, lowest = total / pulls, _limit(later, horizon) * (1 - 1e-9), total / later
    if mean < level:
        left -= pulls * divergence(mean, level)
        lowest = max(lowest, total / (pulls + max(left, 0.0) / math.log((1 - mean) / (1 - level))))
    return max(above, left / math.log((1 - lowest) / (1 - level)) - 1e-6)


@njit
def sure(pulls: int, horizon: Horizon) -> int:
    """Return how often an arm that leads is pulled, whatever it returns."""
    return 1
