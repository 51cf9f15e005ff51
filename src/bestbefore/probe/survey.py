"""Survey: the arms that decide whether an answer is certified, and which of them is to be pulled.

Of all arms, or of those that will be left once one has expired, these matter: the *leader*, which has the highest mean
(shrunk to 1/2), its *rival*, which has the highest claim of the others, and the arm of the highest lower bound.
"""

from typing import Final, NamedTuple

import numpy as np

from bestbefore._jit import inlined, njit
from bestbefore.probe.certificates import (
    CHARGE,
    CHARGED,
    LOWER,
    SEEN_LOWER,
    SEEN_UPPER,
    UPPER,
    Certificates,
    Settings,
    allowed,
    is_known,
    refresh,
)

LEADER_SHARE: Final = 0.45
"""How much the lower side of one arm counts against the upper side of another when one of them is to be pulled."""


class Survey(NamedTuple):
    """What there is to know of some arms; an arm is -1 if there is none.

    `top` has the highest L, and `first` the highest claim.  `ceiling` is how good the best may be if it is not the
    leader, `top_ceiling` if it is not `top`, `first_ceiling` if it is not `first`; `by_charge` says that the ceiling is
    a charge, and no upper bound.  `stale` says that the leader's L or the rival's U is not up to date.
    """

    leader: int
    rival: int
    top: int
    first: int
    ceiling: float
    top_ceiling: float
    first_ceiling: float
    by_charge: bool
    stale: bool


@njit
def survey(c: Certificates, after: int) -> Survey:
    """Look at all arms newer than `after`, as if it had expired, and with it charges that stand for none newer."""
    arrivals, pulls, totals = c.memory
    levels, counts = c.levels, c.counts
    leader, first, second, top = -1, -1, -1, -1
    best, highest, next_highest, top_lower = -np.inf, 0.0, 0.0, -np.inf
    nobody = arrivals.size
    charge = levels[nobody, CHARGE] if counts[nobody, CHARGED] > after else 0.0
    for slot in range(arrivals.size):
        arrival = arrivals[slot]
        if arrival > after:
            mean = (totals[slot] + 0.5) / (pulls[slot] + 1)
            if mean > best or (mean == best and arrival > arrivals[leader]):
                leader, best = slot, mean
            if levels[slot, LOWER] > top_lower:
                top, top_lower = slot, levels[slot, LOWER]
            claimed = levels[slot, UPPER]
            if counts[slot, CHARGED] > after:
                charge = max(charge, levels[slot, CHARGE])
                claimed = max(claimed, levels[slot, CHARGE])
            if first < 0 or claimed > highest:
                first, second = slot, first
                highest, next_highest = claimed, highest
            elif second < 0 or claimed > next_highest:
                second, next_highest = slot, claimed
    if leader < 0:
        return Survey(-1, -1, -1, -1, charge, charge, charge, True, False)
    rival = second if first == leader else first
    ceiling = max(charge, next_highest if first == leader else highest)
    top_ceiling = max(charge, next_highest if first == top else highest)
    stale = counts[leader, SEEN_LOWER] < pulls[leader] or (rival >= 0 and counts[rival, SEEN_UPPER] < pulls[rival])
    by_charge = rival < 0 or levels[rival, UPPER] < charge
    return Survey(leader, rival, top, first, ceiling, top_ceiling, max(charge, next_highest), by_charge, stale)


@inlined
def certifies(c: Certificates, seen: Survey, settings: Settings) -> bool:
    """Say whether the leader, or the arm of the highest L or claim, is within epsilon of the best of the arms seen.

    If it is neither of the last two, it is nobody: all arms but `first` have the same ceiling.
    """
    if seen.leader < 0:
        return False
    if seen.ceiling - c.levels[seen.leader, LOWER] <= allowed(seen.ceiling, settings):
        return True
    if seen.top_ceiling - c.levels[seen.top, LOWER] <= allowed(seen.top_ceiling, settings):
        return True
    return bool(seen.first_ceiling - c.levels[seen.first, LOWER] <= allowed(seen.first_ceiling, settings))


@inlined
def shrunk_mean(c: Certificates, slot: int) -> float:
    """Return the mean that an arm would have after one more reward of 1/2."""
    return float((c.memory.total[slot] + 0.5) / (c.memory.pulls[slot] + 1))


@inlined
def of_two(c: Certificates, low: int, high: int, settings: Settings) -> int:
    """Return which of two arms to pull, so that L of the first comes near U of the second; -1 if both are known."""
    _, pulls, totals = c.memory
    levels = c.levels
    lower_side = (totals[low] + 0.5) / (pulls[low] + 1) - levels[low, LOWER]
    upper_side = levels[high, UPPER] - (totals[high] + 0.5) / (pulls[high] + 1)
    if LEADER_SHARE * lower_side > (1 - LEADER_SHARE) * upper_side:
        return first_unknown(c, low, high, settings)
    return first_unknown(c, high, low, settings)


@inlined
def first_unknown(c: Certificates, first: int, second: int, settings: Settings) -> int:
    """Return the first of two arms, or the second if the first is known, or -1 if both are."""
    if not is_known(c, first, settings):
        return first
    return second if second >= 0 and not is_known(c, second, settings) else -1


@njit
def widest(c: Certificates, after: int, settings: Settings) -> int:
    """Return the arm newer than `after` whose bounds are farthest apart, or -1 if all are known."""
    found, most = -1, 0.0
    for slot in range(c.memory.arrival.size):
        if c.memory.arrival[slot] > after:
            refresh(c, slot, settings)
            width = c.levels[slot, UPPER] - c.levels[slot, LOWER]
            if width > most and not is_known(c, slot, settings):
                found, most = slot, width
    return found
