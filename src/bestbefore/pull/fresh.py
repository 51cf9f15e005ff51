"""Fresh: test an arm the longer, the likelier it is to be better than the leader, and the more traffic there is.

The index is the largest q with n * kl(mean, q) <= D_n ln+(H / n), where n is the arm's pulls, and ln+ the logarithm or
0.  H is how long an arm is explored at most:

    H = R T sqrt(T / K) / 48,

with T the budget of the epoch, K the number of arms at hand, and R = W / age of the leader as the epoch begins.  With
H = T / K and D_n = 1 it would be MOSS in the form of KL-UCB.  What is different:

- **R.**  In random order, a leader that has stood for so many arrivals is beaten by the next one with probability
  1 / (age + 1).  So newcomers are tested long under a young leader, as where means rise, and briefly under an old one.
- **The power of T.**  What is learnt of an arm serves all epochs that it lives to see, so it may cost more than one of
  them.  But where T is small, arms come faster than they can be told apart: most must not be tried to the end.
- **The power of K.**  Most of the arms at hand are known already, so that more of them leave nearly as much for a test.
- **The dispersion D.**  kl takes each reward for 0 or 1, which is how rewards of a given mean vary most.  D is what
  part of that they do vary, as known when the epoch begins: about 1/4 for ratings in stars, and then a quarter of the
  evidence is enough.  But a newcomer may be unlike the others: D_n = D + (1 - D) / n^2, so that it is seldom given up
  for its first reward alone.

The powers, and 48, were found by trial on made streams and movies: benchmarks/choose.py shows what they give.

J.-Y. Audibert and S. Bubeck, "Minimax policies for adversarial and stochastic bandits", COLT 2009.  P. Ménard and A.
Garivier, "A minimax and asymptotically optimal algorithm for stochastic bandits", ALT 2017.  D. Chakrabarti, R. Kumar,
F. Radlinski and E. Upfal, "Mortal multi-armed bandits", NIPS 2008.  Y. Wang, J.-Y. Audibert and R. Munos, "Algorithms
for infinitely many-armed bandits", NIPS 2008.

>>> from bestbefore.pull.horizon import horizon_of
>>> horizon = horizon_of(budget=200, arms=4, delta=0.01, tests=1, youth=2.0)
>>> round(index(20, 10.0, horizon), 4), index(100, 75.0, horizon)
(0.66, 0.75)
"""

import math
from typing import Final

from bestbefore._jit import njit
from bestbefore.pull import kl
from bestbefore.pull.horizon import Horizon

SPARING: Final = 48.0
"""By how much less than R T sqrt(T / K) an arm is explored."""


@njit
def _limit(pulls: float, horizon: Horizon) -> float:
    """Return D_n ln+(H / n), for n pulls: how much may speak for a lower mean before an arm is given up."""
    longest = horizon.youth * horizon.budget * math.sqrt(horizon.share) * (1 / SPARING)
    dispersion = horizon.dispersion + (1 - horizon.dispersion) / (pulls * pulls)
    return dispersion * math.log(longest / pulls) if longest > pulls else 0.0


@njit
def index(pulls: float, total: float, horizon: Horizon) -> float:
    """Return the largest q with n * kl(mean, q) <= D_n ln+(H / n), for n pulls."""
    return kl.index(pulls, total, _limit(pulls, horizon), horizon.noise)


@njit
def ceiling(pulls: float, total: float, horizon: Horizon) -> float:
    """Return a bound that is quick to have, and no lower than the index."""
    return kl.ceiling(pulls, total, _limit(pulls, horizon), horizon.noise)


@njit
def is_above(pulls: float, total: float, later: float, horizon: Horizon, level: float) -> bool:
    """Tell whether the index is above `level` after `later` pulls, if these have the mean of `total` in `pulls`."""
    return kl.is_above(pulls, total, later, _limit(later, horizon), horizon.noise, level)


@njit
def block(pulls: int, total: float, mean: float, horizon: Horizon, level: float) -> int:
    """Return how many pulls to draw at once: a guess at how many will be the leader's."""
    return kl.block(pulls, total, mean, _limit(pulls, horizon), level)


@njit
def room(pulls: int, total: float, later: int, horizon: Horizon, level: float) -> float:
    """Return how many rewards of 0 surely leave the index above `level` up to `later` pulls: fewer than this."""
    return kl.room(pulls, total, later, _limit(later, horizon), level)


@njit
def sure(pulls: int, horizon: Horizon) -> int:
    """Return how often an arm that leads is pulled, whatever it returns."""
    return 1
