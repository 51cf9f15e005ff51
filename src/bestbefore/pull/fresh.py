"""Fresh: test a new arm as long as it is likely enough to be a better one, and while it may be an heir.

The index is the largest q with pulls * kl(mean, q) <= ln+(min(2 R sqrt(1 - q) / K, 1/2, T / 100) T / pulls), where T
is the budget of the epoch, K the number of arms at hand and ln+ the logarithm or 0.  It is MOSS in the form of KL-UCB,
with three changes:

- **R = W / age of the leader.**  In random order, a leader that has stood for so many arrivals is beaten by the next
  one with probability 1 / (age + 1).  So newcomers are tested long under a young leader, as where means rise, and
  briefly under an old one.
- **sqrt(1 - q).**  An arm that is better than q is better by 1 - q at most.  Where the leader is nearly perfect, a
  search for a better one cannot earn much.
- **1/2 and T / 100.**  No arm is explored beyond half of an epoch's traffic, and beyond less of it where T is below 50:
  where arms come faster than they can be told apart, most of them must not be tried to the end.

**Heirs.**  The best of the others takes over when the leader expires, so which one that is has to be known, too.  An
arm comes before all others while pulls * kl(mean, heir) < ln(T / (10 K pulls)), where `heir` is the second highest mean
at the beginning of the epoch: a short test that large budgets pay for, and small ones do not.

For Gaussian rewards kl(p, q) is (p - q)^2 / (2 sigma^2), and sqrt(1 - q) is left out.

J.-Y. Audibert and S. Bubeck, "Minimax policies for adversarial and stochastic bandits", COLT 2009.  P. Ménard and A.
Garivier, "A minimax and asymptotically optimal algorithm for stochastic bandits", ALT 2017.  D. Chakrabarti, R. Kumar,
F. Radlinski and E. Upfal, "Mortal multi-armed bandits", NIPS 2008.  Y. Wang, J.-Y. Audibert and R. Munos, "Algorithms
for infinitely many-armed bandits", NIPS 2008.

>>> from bestbefore.pull.horizon import horizon_of
>>> horizon = horizon_of(budget=400, arms=4, delta=0.01, tests=1, youth=2.0, heir=0.4)
>>> round(index(100, 50.0, horizon), 4), index(300, 150.0, horizon), index(9, 4.0, horizon)
(0.5587, 0.5, 1e+300)
"""

import math
from typing import Final

import numpy as np

from bestbefore._jit import njit
from bestbefore.divergence import divergence, upper_bound
from bestbefore.pull.blocks import block_for
from bestbefore.pull.horizon import Horizon

EAGER: Final = 2.0
"""How much longer than MOSS an arm is tested under a leader that has stood for a whole window."""
MOST: Final = 0.5
"""The share of an epoch's budget beyond which no arm is explored."""
AMPLE: Final = 100.0
"""That share is at most T divided by this."""
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
def _most(horizon: Horizon) -> float:
    """Return the share of the budget beyond which no arm is explored."""
    return min(MOST, horizon.budget / AMPLE)


@njit
def _limit(pulls: float, level: float, horizon: Horizon) -> float:
    """Return how much may speak against a true mean of `level` before the arm is given up."""
    above = math.sqrt(max(1 - level, 0.0)) if horizon.noise.bounded else 1.0
    share = min(EAGER * horizon.youth * above / horizon.arms, _most(horizon)) * horizon.budget / pulls
    return math.log(share) if share > 1 else 0.0


@njit
def _is_tested(pulls: float, total: float, later: float, horizon: Horizon) -> bool:
    """Tell whether an arm is still tested as an heir after `later` pulls, of which `pulls` count against it."""
    share = HEIRS * horizon.share / later
    if share <= 1:
        return False
    mean = total / pulls
    return mean >= horizon.heir or _evidence(pulls, mean, horizon.heir, horizon) < math.log(share)


@njit
def index(pulls: float, total: float, horizon: Horizon) -> float:
    """Return the largest q that the rewards do not contradict; an arm that is tested as an heir comes before others."""
    if _is_tested(pulls, total, pulls, horizon):
        return TESTED
    mean = total / pulls
    if not horizon.noise.bounded:
        return mean + horizon.noise.sigma * math.sqrt(2 * _limit(pulls, mean, horizon) / pulls)
    return _highest(pulls, total, horizon, 60)


@njit
def _highest(pulls: float, total: float, horizon: Horizon, steps: int) -> float:
    """Return the largest q whose evidence is within its limit."""
    falling = math.log(EAGER * horizon.youth * horizon.share / pulls)
    return upper_bound(pulls, total, math.log(_most(horizon) * horizon.budget / pulls), falling, steps)


@njit
def ceiling(pulls: float, total: float, horizon: Horizon) -> float:
    """Return a bound that is quick to have, and no lower than the index."""
    if not horizon.noise.bounded or HEIRS * horizon.share > pulls:
        return index(pulls, total, horizon)
    return _highest(pulls, total, horizon, 1) + 1e-12


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
    if horizon.noise.bounded and not 0 < level < 1:
        return False
    limit = _limit(later, level, horizon)
    if not horizon.noise.bounded:
        return mean + horizon.noise.sigma * math.sqrt(2 * limit / later) > level
    if limit <= 0:
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
        left = _limit(pulls, level, horizon) - pulls * divergence(empirical, level)
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
    mean, left, lowest = total / pulls, _limit(later, level, horizon) * (1 - 1e-9), total / later
    if mean < level:
        left -= pulls * divergence(mean, level)
        lowest = max(lowest, total / (pulls + max(left, 0.0) / math.log((1 - mean) / (1 - level))))
    return max(above, left / math.log((1 - lowest) / (1 - level)) - 1e-6)


@njit
def sure(pulls: int, horizon: Horizon) -> int:
    """Return how often an arm that leads is pulled, whatever it returns."""
    return 1
