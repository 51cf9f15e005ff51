"""Race: pull an arriving arm only as long as it could still be the best of all.

The everlasting best arm beats every other arm of the stream, so whoever is surely worse than one that is stored cannot
be it.  An arm is ruled out once pulls * kl(mean, bar) > log with its mean below the bar; the bar is the lower
confidence bound of the best arm stored, and log the confidence of both.  A bad arm costs a few pulls, and few
arms are pulled to the end: a third of `tests` for one that trails the leader, all of `tests` for one that leads.

>>> from bestbefore.noise import BOUNDED
>>> goes_on(pulls=4, total=0.0, bar=0.9, lead=0.95, tests=300, log=5.0, noise=BOUNDED)      # all rewards were 0: enough
False
>>> goes_on(pulls=4, total=4.0, bar=0.9, lead=0.95, tests=300, log=5.0, noise=BOUNDED)      # all were 1: go on
True
"""

import math

from bestbefore._jit import njit
from bestbefore.divergence import divergence, upper_bound
from bestbefore.memory import Memory, leader, mean_of
from bestbefore.noise import Noise


@njit
def confidence(tests: int) -> float:
    """Return `log` for tests of at most so many pulls: where these are a tenth of the budget, ln(T / n)."""
    return math.log(10 * tests)


@njit
def evidence(pulls: int, total: float, level: float, noise: Noise) -> float:
    """Return how strongly rewards speak against a mean of `level` or more: pulls * kl(mean, level), 0 if not at all.

    For rewards that are not bounded it is pulls (level - mean)^2 / (2 sigma^2).
    """
    if pulls == 0 or total / pulls >= level:
        return 0.0
    mean = total / pulls
    if not noise.bounded:
        return float(pulls * (level - mean) ** 2 / (2 * noise.sigma**2))
    return float(pulls * divergence(max(mean, 0.0), level)) if level < 1 else math.inf


@njit
def lower_bound(pulls: int, total: float, log: float, noise: Noise) -> float:
    """Return the lowest mean that rewards do not contradict."""
    if pulls == 0:
        return -math.inf
    if not noise.bounded:
        return total / pulls - noise.sigma * math.sqrt(2 * log / pulls)
    return 1 - upper_bound(pulls, pulls - total, log)


@njit
def bar_of(memory: Memory, log: float, noise: Noise) -> tuple[float, float]:
    """Return the lower confidence bound of the leader of the arms stored, and its mean."""
    slot = leader(memory)
    if slot < 0:
        return -math.inf, -math.inf
    return lower_bound(memory.pulls[slot], memory.total[slot], log, noise), mean_of(memory, slot)


@njit
def goes_on(pulls: int, total: float, bar: float, lead: float, tests: int, log: float, noise: Noise) -> bool:
    """Say whether an arriving arm is to be pulled once more, where the arm to beat has the mean `lead`."""
    if pulls >= tests or evidence(pulls, total, bar, noise) > log:
        return False
    return pulls < max(tests // 3, 1) or total >= lead * pulls


@njit
def rivals_after(memory: Memory, pulls: int, total: float, rivals: float, noise: Noise) -> float:
    """Return how many arms may be as good as the leader, once an arm has been tested that is not stored yet.

    Each arm counts exp(-evidence), the evidence that it is not; if a new leader takes over, the old one and its rivals
    count as much as the old one does.
    """
    slot = leader(memory)
    if slot < 0 or memory.pulls[slot] == 0:
        return rivals
    lead = mean_of(memory, slot)
    if pulls == 0 or total < lead * pulls:
        return rivals + math.exp(-evidence(pulls, total, lead, noise))
    return (rivals + 1) * math.exp(-evidence(memory.pulls[slot], memory.total[slot], total / pulls, noise))
