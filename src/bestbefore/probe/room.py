"""Room: which arm goes when memory is full, and which arm to pull until one may go.

A newer arm *covers* an older one if the claim of the older is at most epsilon above the L of the newer, rounded
down to a multiple of a cell.  The older one may then go, and the newer one takes over its claim.
"""

import math
from typing import Final

import numpy as np

from bestbefore._jit import inlined, njit
from bestbefore.memory import count
from bestbefore.probe.certificates import (
    BY_AGE,
    CHARGE,
    LOWER,
    SEEN_LOWER,
    SEEN_UPPER,
    UPPER,
    Certificates,
    Settings,
    allowed,
    claim,
    free,
    hand_over,
    refresh,
)
from bestbefore.probe.survey import first_unknown, of_two, shrunk_mean, widest

AT_ONCE: Final = 1 / 8
"""The share of the pulls that two arms seem to need which is made at once: to look for the next pair takes longest.

It is never more than an arm has had: what seems to be needed has no limit where two arms are nearly too far apart.
"""


@njit
def drop_covered(c: Certificates, settings: Settings) -> bool:
    """Drop an arm that a newer one covers, which takes over its claim; tell whether there was one.

    Of several, the one goes whose claim is least above the newer arm's L, rounded down.  An arm whose claim is
    not above the newer arm's L at all goes first, and has no heir.
    """
    slot, heir, excess = _least_excess(c, settings)
    if slot < 0 or excess > 0:
        return False
    _drop(c, slot, heir)
    return True


@njit
def is_covered(c: Certificates, settings: Settings) -> bool:
    """Say whether there is an arm that a newer one covers."""
    slot, _, excess = _least_excess(c, settings)
    return slot >= 0 and excess <= 0


@njit
def give_way(c: Certificates, settings: Settings) -> None:
    """Drop the arm whose claim is least above a newer arm's L, whatever that costs: the gap will show it."""
    slot, heir, _ = _least_excess(c, settings)
    if slot < 0:
        raise ValueError("an arm can give way only to a newer one")
    _drop(c, slot, heir)


@njit
def _drop(c: Certificates, slot: int, heir: int) -> None:
    """Drop an arm, and charge its heir unless that is surely no worse."""
    if claim(c, slot) <= c.levels[heir, LOWER]:
        free(c, slot, heir)
    else:
        hand_over(c, slot, heir)


@njit
def _least_excess(c: Certificates, settings: Settings) -> tuple[int, int, float]:
    """Return the arm whose claim is least above what a newer arm covers, the newer arm, and by how much.

    A newer arm covers what is at most epsilon above its L, rounded down.  The arms are -1 if there is but one.
    """
    found, its_heir, heir, least = -1, -1, -1, np.inf
    for place in range(count(c.memory) - 1, -1, -1):
        slot = c.counts[place, BY_AGE]
        if min(c.counts[slot, SEEN_LOWER], c.counts[slot, SEEN_UPPER]) < c.memory.pulls[slot]:
            refresh(c, slot, settings)
        if heir >= 0:
            claimed = claim(c, slot)
            excess = claimed - _rounded(c.levels[heir, LOWER], settings) - allowed(claimed, settings)
            if claimed <= c.levels[heir, LOWER]:
                return slot, heir, -np.inf
            if excess < least:
                found, its_heir, least = slot, heir, excess
        if heir < 0 or c.levels[slot, LOWER] > c.levels[heir, LOWER]:
            heir = slot
    return found, its_heir, least


@inlined
def _rounded(level: float, settings: Settings) -> float:
    """Return a level rounded down to a multiple of a cell, or its logarithm; as it is, where there are no cells."""
    if settings.cell == 0 or level <= 0:
        return level
    if settings.relative:
        return min(math.exp(math.floor(math.log(level) / settings.cell) * settings.cell), level)
    return min(math.floor(level / settings.cell) * settings.cell, level)


@njit
def to_make_room(c: Certificates, settings: Settings) -> tuple[int, int]:
    """Return the slot to pull next until an arm is covered by a newer one, or -1 if no pull would help; and how often.

    It is one of the two arms that seem to need the fewest pulls until the newer covers the older, where each
    older arm is paired with the newer arms of the highest L and of the highest mean.
    """
    older, newer, fewest, top, best = -1, -1, np.inf, -1, -1
    for place in range(count(c.memory) - 1, -1, -1):
        slot = c.counts[place, BY_AGE]
        if top >= 0:
            for heir in (top, best):
                pulls = _pulls_to_cover(c, slot, heir, settings)
                if pulls < fewest:
                    older, newer, fewest = slot, heir, pulls
        if top < 0 or c.levels[slot, LOWER] > c.levels[top, LOWER]:
            top = slot
        if best < 0 or shrunk_mean(c, slot) > shrunk_mean(c, best):
            best = slot
    found = -1
    if older >= 0:
        if c.levels[older, CHARGE] > c.levels[older, UPPER]:
            found = first_unknown(c, newer, older, settings)
        else:
            found = of_two(c, newer, older, settings)
    if found >= 0:
        so_far = c.memory.pulls[found]
        return found, int(min(fewest * AT_ONCE, so_far)) if so_far < settings.few else 0
    return widest(c, 0, settings), 0


@inlined
def _pulls_to_cover(c: Certificates, older: int, newer: int, settings: Settings) -> float:
    """Return about how many pulls it takes until the newer of two arms covers the older, infinity if it seems never.

    Widths shrink like the square root of the pulls, and half a cell is lost by rounding down.
    """
    mean, level, pulls = shrunk_mean(c, newer), c.levels[older, CHARGE], c.memory.pulls[newer] + 1
    if c.levels[older, CHARGE] <= c.levels[older, UPPER]:
        level, pulls = shrunk_mean(c, older), pulls + c.memory.pulls[older] + 1
    claimed = claim(c, older)
    rounding = settings.cell / 2 * (mean if settings.relative else 1.0)
    room = allowed(claimed, settings) - rounding - (level - mean)
    if room <= 0:
        return np.inf
    width = max(mean - c.levels[newer, LOWER], 0.0) + max(claimed - level, 0.0)
    return float(pulls * max((width / room) ** 2 - 1, 0.0))
