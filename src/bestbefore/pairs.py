"""Fixed tests, by pairs of arms: the same guarantee with a quarter of the pulls or fewer.

Pull each arm s times and keep arms by cells of width w (0 where memory holds a whole window).  The answer is then
a rival that is more than epsilon worse than the best arm b only if the rival's empirical mean is at least that of
b, less w.  `bestbefore.bounds.pulls` asks that every mean be known within (epsilon - w) / 2.  It is enough that no
*difference* is off by epsilon - w.

**Pairs.**  The difference of two means of s rewards is sub-Gaussian with variance 2 sigma^2 / s, so one rival looks
that good with probability exp(-s (epsilon - w)^2 / (4 sigma^2)) at most, and

    s = 4 sigma^2 ln(pairs / delta) / (epsilon - w)^2

pulls are enough, where `pairs` counts what may go wrong:

- *weak*: the best arm and each of the W - 1 others.  If the stream reacts to what is answered or pulled, it is not
  fixed beforehand which arm is the best: W (W - 1) ordered pairs of the window;
- *strong*: n (W - 1), each of n arms with the W - 1 that come after it.  Of two arms only the worse can be the rival;
  but a stream that reacts may choose which it is when the older one has been tested, and twice as many count;
- *anytime*: W (W - 1) k (k + 1), for the arms of the k-th block of W arrivals, as in `bestbefore.bounds`.  A pair
  has the share of its older arm; the newer one is pulled as often or more.  Twice as many, if the stream reacts.

**Exactly**, for Bernoulli rewards: with X ~ Bin(s, mu) of the best arm and r rivals that are just more than epsilon
worse, on a stream that does not react, a rival looks good enough with probability

    E[1 - (1 - P(Bin(s, mu - epsilon) >= X - w s))^r],

and nothing else can be worse: fewer or poorer rivals are less likely to, and arms within epsilon do no harm.  s is
such that this is at most delta for every mu.  It leaves no room: on that instance it fails as often as it may.

>>> pair_pulls(0.1, window=100, delta=0.05), exact_pulls(0.1, window=100, delta=0.05)
(760, 471)
>>> exact_pulls(0.1, window=100, delta=0.05, cell=1 / 30)          # with the paper's slots, where it has 4,227
1036
"""

import math
from functools import lru_cache
from typing import Any

from bestbefore.arguments import between, one_of, whole
from bestbefore.bounds import GUARANTEES, arms_at_risk, round_up


def pairs_at_risk(
    window: int, guarantee: str = "weak", arms: int | None = None, arrival: int | None = None, *, reacts: bool = False
) -> int:
    """Return how many pairs share delta with the one in question, if all shares were like its own; at least 1.

    >>> pairs_at_risk(50), pairs_at_risk(50, reacts=True), pairs_at_risk(50, "strong", arms=1000)
    (49, 2450, 49000)
    """
    others = max(whole("window", window) - 1, 1)
    if one_of("guarantee", guarantee, GUARANTEES) == "weak":
        return window * others if reacts else others
    return (2 if reacts else 1) * arms_at_risk(window, guarantee, arms, arrival) * others


def pair_pulls(
    epsilon: float,
    window: int,
    delta: float,
    guarantee: str = "weak",
    *,
    arms: int | None = None,
    arrival: int | None = None,
    reacts: bool = False,
    cell: float = 0.0,
    sigma: float = 0.5,
) -> int:
    """Return s, the pulls of each arm, by pairs.

    >>> pair_pulls(0.1, 50, 0.05), pair_pulls(0.1, 50, 0.05, cell=1 / 30), pair_pulls(0.1, 50, 0.05, reacts=True)
    (689, 1550, 1080)
    """
    room = _room(epsilon, cell)
    between("delta", delta, 0, 1)
    between("sigma", sigma, 0, math.inf)
    at_risk = pairs_at_risk(window, guarantee, arms, arrival, reacts=reacts)
    return round_up(max((2 * sigma / room) ** 2 * (math.log(at_risk) - math.log(delta)), 1.0))


def exact_pulls(
    epsilon: float, window: int, delta: float, guarantee: str = "weak", *, arms: int | None = None, cell: float = 0.0
) -> int:
    """Return an s that is just enough for Bernoulli rewards: at one time (weak), or at all of n at once (strong).

    With cells, one pull more may need a few more yet: w s is rounded to whole rewards.  At all times at
    once each of the n arms may be the best, and has W - 1 rivals before it and after it.

    >>> exact_pulls(0.2, 50, 0.05), exact_pulls(0.2, 50, 0.05, "strong", arms=1000)
    (107, 295)
    """
    _room(epsilon, cell)
    between("delta", delta, 0, 1)
    rivals = max(whole("window", window) - 1, 1)
    if one_of("guarantee", guarantee, GUARANTEES) == "anytime":
        raise ValueError("guarantee must be 'weak' or 'strong' for exact pulls, not 'anytime'; see pair_pulls")
    if guarantee == "strong":
        rivals, delta = 2 * rivals, delta / arms_at_risk(window, guarantee, arms)
    return _exact(float(epsilon), rivals, float(delta), float(cell))


@lru_cache(maxsize=256)
def _exact(epsilon: float, rivals: int, delta: float, cell: float) -> int:
    low, high = 0, round_up(max(math.log(rivals / delta) / (epsilon - cell) ** 2, 1.0))  # pairs are surely enough
    while high - low > 1:
        middle = (low + high) // 2
        if worst_failure(middle, epsilon, rivals, cell) <= delta:
            high = middle
        else:
            low = middle
    return high


def worst_failure(pulls: int, epsilon: float, rivals: int, cell: float = 0.0) -> float:
    """Return the probability that one of so many rivals looks good enough, for the mean at which it is highest.

    >>> round(worst_failure(471, 0.1, rivals=99), 4), round(worst_failure(470, 0.1, rivals=99), 4)
    (0.05, 0.0504)
    """
    import numpy as np
    from scipy.optimize import minimize_scalar

    means = np.linspace(epsilon, 1, 33)
    failures = [exact_failure(pulls, mean, epsilon, rivals, cell) for mean in means]
    place = int(np.argmax(failures))
    around = float(means[max(place - 1, 0)]), float(means[min(place + 1, means.size - 1)])
    found: Any = minimize_scalar(
        lambda mean: -exact_failure(pulls, mean, epsilon, rivals, cell), bounds=around, method="bounded"
    )
    return max(failures[place], -float(found.fun))


def exact_failure(pulls: int, mean: float, epsilon: float, rivals: int, cell: float = 0.0) -> float:
    """Return the probability that one of so many rivals of mean `mean` - epsilon looks good enough."""
    import numpy as np
    from scipy.stats import binom

    rewarded = np.arange(pulls + 1)
    least = np.ceil(rewarded - cell * pulls - 1e-9)
    looks_good = binom.sf(least - 1, pulls, max(mean - epsilon, 0.0))
    with np.errstate(divide="ignore"):
        some = -np.expm1(rivals * np.log1p(-looks_good))
    return float(binom.pmf(rewarded, pulls, mean) @ some)


def _room(epsilon: float, cell: float) -> float:
    """Return what cells leave of epsilon."""
    between("epsilon", epsilon, 0, 1, closed="right")
    return float(epsilon - between("cell", cell, 0, epsilon, closed="left"))
