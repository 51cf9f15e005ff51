"""Certify: pull only what it takes to be sure that the answer is within epsilon of the best.

Every stored arm has bounds L and U and a claim max(U, C), see `bestbefore.probe.certificates`.  The answer a is
*certified* once no other arm, stored or dropped, can be more than epsilon better:

    L_a >= max(claims of all others, C_a) - epsilon.

- An arm whose claim is at most the lower bound of a newer one is dropped, at no cost: it can never be needed again.
- Until the answer is certified, pull the arm of the highest mean (the *leader*; means are shrunk to 1/2) or the one with
  the highest claim among the others (its *rival*): the leader if the rival's claim is a charge, or if
  .45 (mean - L) of the leader exceeds .55 (U - mean) of the rival.
- When memory is full, drop the arm that a newer one *covers*, claim <= L_newer + epsilon with L_newer rounded down to a
  multiple of a cell 1 / m, and let the newer one take over its claim.  If no arm is covered yet, certify a successor of
  the answer among the arms that are newer, then a successor of that one, and so on; at last pull the widest arm.

*It ends.*  An arm is not pulled any more once U - L <= KNOWN (epsilon - cell), which takes a limited number of pulls
whatever they return.  A charge is at most L + epsilon of its arm with L rounded down, when it is taken over and, since L
never falls, ever after.  So once all arms are known, the arm of the highest L is certified.  And of m + 1 arms two have
lower bounds in one of the m cells: the claim of the older one is at most its own L rounded down, plus epsilon, so the
newer one covers it.

*Why it is right* is proved in docs/certificates.md: as long as the bounds hold, the claim of the best valid arm, or one
that is as high, stands in memory, since it passes from heir to heir and each heir is newer.
"""

import math
from typing import Final, NamedTuple

import numpy as np

from bestbefore._jit import njit
from bestbefore.confidence import pulls_below
from bestbefore.memory import count
from bestbefore.probe.certificates import (
    Certificates,
    Settings,
    allowed,
    claim,
    hand_over,
    is_known,
    let_go,
    refresh,
    refresh_lower,
    refresh_upper,
)

BATCH: Final = 16
LEADER_SHARE: Final = 0.45
"""How much the leader's lower side counts against the rival's upper side when one of the two is to be pulled."""


class Survey(NamedTuple):
    """What there is to know of all arms newer than one.

    `leader` has the highest mean, `rival` the highest claim of the others, `top` the highest L, each -1 if there is
    none.  `ceiling` is how good the best may be if it is not the leader, `top_ceiling` if it is not `top`; `by_charge`
    says that no upper bound, but a charge, makes the ceiling.  `stale`: the leader's L or the rival's U is not up to date.
    """

    leader: int
    rival: int
    top: int
    ceiling: float
    top_ceiling: float
    by_charge: bool
    stale: bool


@njit
def next_pull(c: Certificates, settings: Settings) -> int:
    """Drop what may go; return the slot to pull next, or -1 once the answer is certified and m slots are enough.

    It is also -1 where no pull can help: a charge that was forced on an arm may be out of reach of them all.
    """
    while True:
        slot = _to_certify(c, 0, settings)
        if slot >= 0 or count(c.memory) <= settings.slots:
            return slot
        if not drop_covered(c, settings):
            slot = _to_make_room(c, settings)
            if slot >= 0:
                return slot
            give_way(c, settings)


@njit
def batch(c: Certificates, slot: int, settings: Settings) -> int:
    """Return how many pulls of an arm are made before bounds are computed anew: a sixteenth of those so far, at least 1.

    An arm that is ruled out no sooner than after k rewards of 0 is pulled k times.
    """
    pulls, total = c.memory.pulls[slot], c.memory.total[slot]
    wanted = max(pulls // BATCH, 1)
    if pulls < settings.few and settings.noise.bounded:
        level = _highest_lower(c) + settings.epsilon
        wanted = max(wanted, pulls_below(level, pulls, total, c.log_upper[slot], settings.bets))
    return wanted


@njit
def _highest_lower(c: Certificates) -> float:
    highest = 0.0
    lowers = c.lower
    for slot in range(lowers.size):
        highest = max(highest, lowers[slot])
    return highest


@njit
def next_ahead(c: Certificates, settings: Settings) -> int:
    """Return the slot to pull next for the answers to come, or -1 if all that will be needed is certified.

    When the answer has expired, the best of the arms newer than it will be wanted, then the best of those newer still.
    """
    after = 0
    while True:
        slot = _to_certify(c, after, settings)
        if slot >= 0:
            return slot
        leader = _survey(c, after).leader
        if leader < 0:
            return -1
        after = c.memory.arrival[leader]


@njit
def answer(c: Certificates, settings: Settings) -> tuple[int, float]:
    """Return the slot of the answer, or -1, and its gap: how far it may be from the best, as far as bounds hold.

    It is the leader if that is certified, else the leader or the arm of the highest L, whose gap is less.
    """
    seen = _survey(c, 0)
    if seen.leader < 0:
        return -1, 1.0
    gap, other = seen.ceiling - c.lower[seen.leader], seen.top_ceiling - c.lower[seen.top]
    if gap > allowed(seen.ceiling, settings) and other < gap:
        return seen.top, max(other, 0.0)
    return seen.leader, max(gap, 0.0)


@njit
def is_certified(c: Certificates, settings: Settings) -> bool:
    """Say whether the answer is within epsilon of the best, as far as bounds hold."""
    return _is_certified(c, _survey(c, 0), settings)


@njit
def _is_certified(c: Certificates, seen: Survey, settings: Settings) -> bool:
    """Say whether the leader, or the arm of the highest L, is within epsilon of the best of the arms seen."""
    if seen.leader < 0:
        return False
    if seen.ceiling - c.lower[seen.leader] <= allowed(seen.ceiling, settings):
        return True
    return bool(seen.top_ceiling - c.lower[seen.top] <= allowed(seen.top_ceiling, settings))


@njit
def _survey(c: Certificates, after: int) -> Survey:
    """Look at all arms newer than `after`, as if it had expired, and with it the charges that stand for none newer."""
    arrivals, pulls, totals = c.memory.arrival, c.memory.pulls, c.memory.total
    lowers, uppers, charges, charged = c.lower, c.upper, c.charge, c.charged
    leader, first, second, top = -1, -1, -1, -1
    best, highest, next_highest, top_lower = -np.inf, 0.0, 0.0, -np.inf
    loose = arrivals.size
    charge = charges[loose] if charged[loose] > after else 0.0
    for slot in range(arrivals.size):
        arrival = arrivals[slot]
        if arrival > after:
            mean = (totals[slot] + 0.5) / (pulls[slot] + 1)
            if mean > best or (mean == best and arrival > arrivals[leader]):
                leader, best = slot, mean
            if lowers[slot] > top_lower:
                top, top_lower = slot, lowers[slot]
            claimed = uppers[slot]
            if charged[slot] > after:
                charge = max(charge, charges[slot])
                claimed = max(claimed, charges[slot])
            if first < 0 or claimed > highest:
                first, second = slot, first
                highest, next_highest = claimed, highest
            elif second < 0 or claimed > next_highest:
                second, next_highest = slot, claimed
    if leader < 0:
        return Survey(-1, -1, -1, charge, charge, True, False)
    rival = second if first == leader else first
    ceiling = max(charge, next_highest if first == leader else highest)
    top_ceiling = max(charge, next_highest if first == top else highest)
    stale = c.seen_lower[leader] < pulls[leader] or (rival >= 0 and c.seen_upper[rival] < pulls[rival])
    return Survey(leader, rival, top, ceiling, top_ceiling, rival < 0 or uppers[rival] < charge, stale)


@njit
def _to_certify(c: Certificates, after: int, settings: Settings) -> int:
    """Return the slot to pull next to certify the best arm newer than `after`, or -1 if no pull is needed or helps."""
    seen = _survey(c, after)
    while seen.stale:
        refresh_lower(c, seen.leader, settings)
        _drop_older(c, seen.leader)
        if seen.rival >= 0:
            refresh_upper(c, seen.rival, settings)
        seen = _survey(c, after)
    if seen.leader < 0 or _is_certified(c, seen, settings):
        return -1
    if seen.by_charge:
        slot = _first_unknown(c, seen.leader, seen.rival, settings)
    else:
        slot = _of_two(c, seen.leader, seen.rival, settings)
    return slot if slot >= 0 else _widest(c, after, settings)


@njit
def _drop_older(c: Certificates, newer: int) -> None:
    """Drop the arms that are older than one, and whose claims are at most its lower bound."""
    arrivals, uppers, charges = c.memory.arrival, c.upper, c.charge
    bar, arrival = c.lower[newer], arrivals[newer]
    for slot in range(arrivals.size):
        if 0 < arrivals[slot] < arrival and uppers[slot] <= bar and charges[slot] <= bar:
            let_go(c, slot)


@njit
def _of_two(c: Certificates, low: int, high: int, settings: Settings) -> int:
    """Return which of two arms is to be pulled, so that L of the first comes near U of the second; -1 if both are known."""
    pulls, totals = c.memory.pulls, c.memory.total
    lower_side = (totals[low] + 0.5) / (pulls[low] + 1) - c.lower[low]
    upper_side = c.upper[high] - (totals[high] + 0.5) / (pulls[high] + 1)
    if LEADER_SHARE * lower_side > (1 - LEADER_SHARE) * upper_side:
        return _first_unknown(c, low, high, settings)
    return _first_unknown(c, high, low, settings)


@njit
def _first_unknown(c: Certificates, first: int, second: int, settings: Settings) -> int:
    """Return the first of two arms, or the second if the first is known, or -1 if both are."""
    if not is_known(c, first, settings):
        return first
    return second if second >= 0 and not is_known(c, second, settings) else -1


@njit
def shrunk_mean(c: Certificates, slot: int) -> float:
    """Return the mean that an arm would have after one more reward of 1/2."""
    return float((c.memory.total[slot] + 0.5) / (c.memory.pulls[slot] + 1))


@njit
def _widest(c: Certificates, after: int, settings: Settings) -> int:
    """Return the arm newer than `after` whose bounds are farthest apart, or -1 if all are known."""
    found, widest = -1, 0.0
    for slot in range(c.memory.arrival.size):
        if c.memory.arrival[slot] > after:
            refresh(c, slot, settings)
            width = c.upper[slot] - c.lower[slot]
            if (found < 0 or width > widest) and not is_known(c, slot, settings):
                found, widest = slot, width
    return found


@njit
def drop_covered(c: Certificates, settings: Settings) -> bool:
    """Drop an arm that a newer one covers, which takes over its claim; tell whether there was one.

    Of several, the one goes whose claim is least above the newer arm's L.
    """
    slot, heir = _least_excess(c, settings)
    if slot < 0:
        return False
    claimed, rounded = claim(c, slot), c.lower[heir]
    if claimed <= rounded:
        let_go(c, slot)
        return True
    if settings.cell > 0:
        rounded = min(math.floor(rounded / settings.cell) * settings.cell, rounded)
    if claimed - rounded > allowed(claimed, settings):
        return False
    hand_over(c, slot, heir)
    return True


@njit
def give_way(c: Certificates, settings: Settings) -> None:
    """Drop the arm whose claim is least above a newer arm's L, whatever that costs: the gap will show it."""
    slot, heir = _least_excess(c, settings)
    if slot < 0:
        raise ValueError("an arm can give way only to another")
    hand_over(c, slot, heir)


@njit
def _least_excess(c: Certificates, settings: Settings) -> tuple[int, int]:
    """Return the arm whose claim is least above the L of a newer arm, and the newer arm; or -1 and -1."""
    found, its_heir, heir, least = -1, -1, -1, np.inf
    for slot in np.argsort(-c.memory.arrival):
        if c.memory.arrival[slot] == 0:
            break
        refresh(c, slot, settings)
        if heir >= 0 and claim(c, slot) - c.lower[heir] < least:
            found, its_heir, least = slot, heir, claim(c, slot) - c.lower[heir]
        if heir < 0 or c.lower[slot] > c.lower[heir]:
            heir = slot
    return found, its_heir


@njit
def _to_make_room(c: Certificates, settings: Settings) -> int:
    """Return the slot to pull next until an arm is covered by a newer one, or -1 if no pull would help.

    It is one of the two arms that seem to need the fewest pulls until the newer covers the older; each older arm is
    paired with the newer arms of the highest L and of the highest mean.
    """
    older, newer, least, top, best = -1, -1, np.inf, -1, -1
    for slot in np.argsort(-c.memory.arrival):
        if c.memory.arrival[slot] == 0:
            break
        if top >= 0:
            for heir in (top, best):
                pulls = _pulls_to_cover(c, slot, heir, settings)
                if pulls < least:
                    older, newer, least = slot, heir, pulls
        if top < 0 or c.lower[slot] > c.lower[top]:
            top = slot
        if best < 0 or shrunk_mean(c, slot) > shrunk_mean(c, best):
            best = slot
    found = -1
    if older >= 0:
        if c.charge[older] > c.upper[older]:
            found = _first_unknown(c, newer, older, settings)
        else:
            found = _of_two(c, newer, older, settings)
    return found if found >= 0 else _widest(c, 0, settings)


@njit
def _pulls_to_cover(c: Certificates, older: int, newer: int, settings: Settings) -> float:
    """Return about how many pulls it takes until the newer of two arms covers the older, or infinity if it seems never.

    Widths shrink like the square root of the pulls, and half a cell is lost by rounding down.
    """
    mean, level, pulls = shrunk_mean(c, newer), c.charge[older], c.memory.pulls[newer] + 1
    if c.charge[older] <= c.upper[older]:
        level, pulls = shrunk_mean(c, older), pulls + c.memory.pulls[older] + 1
    claimed = claim(c, older)
    room = allowed(claimed, settings) - settings.cell / 2 - (level - mean)
    if room <= 0:
        return np.inf
    width = max(mean - c.lower[newer], 0.0) + max(claimed - level, 0.0)
    return float(pulls * max((width / room) ** 2 - 1, 0.0))
