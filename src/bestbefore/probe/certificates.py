"""Certificates: what is known of each stored arm, and of those that were dropped in its favour.

Each arm has a lower and an upper bound, L and U, of `bestbefore.confidence`, and a *charge* C: the highest
max(U, C) of the arms that were dropped in its favour, or 0.  max(U, C) is the arm's *claim*.  A dropped arm is
older than its heir, so it expires first.  Each charge knows the newest arm that it stands for, and is void once
that one has expired; so when an arm expires, the charge that it carried stands for no valid arm.

Bounds are computed when they are needed, not whenever rewards come: one that is not up to date is valid, only
wide.  L never falls and U never rises, since a bound of fewer pulls is as valid.

There is one slot more than may be stored, for the arriving arm.

>>> from bestbefore.noise import BOUNDED
>>> certificates = no_certificates(slots=2)
>>> settings = settings_of(epsilon=0.6, slots=2, noise=BOUNDED)
>>> first = admit(certificates, arrival=1, log_lower=7.0, log_upper=3.0)
>>> told(certificates, first, 400, 200.0, settings)
>>> refresh(certificates, first, settings)
>>> certificates.levels[first, [LOWER, UPPER]].round(2).tolist()
[0.4, 0.58]
"""

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from bestbefore._jit import inlined, njit
from bestbefore.bounds import LEAST_MEAN, certificate_cell, certificate_room
from bestbefore.confidence import Bets, bets, lower, upper
from bestbefore.memory import Memory, count, drop, empty_memory, free_slot, put
from bestbefore.mixture import KNOWN, middle_rate
from bestbefore.noise import Noise

FEW: Final = 4.0
"""An arm with fewer pulls than this divided by epsilon may always be pulled: that is quicker to tell."""

LAG: Final = 4
"""Whether an arm is known is looked at anew after a fourth more pulls."""

LOWER: Final = 0  # columns of `levels`
UPPER: Final = 1
CHARGE: Final = 2
LOG_LOWER: Final = 3  # ln(1 / p), where p is the probability with which the lower bound may fail
LOG_UPPER: Final = 4

CHARGED: Final = 0  # columns of `counts`: the newest arm that the charge stands for
SEEN_LOWER: Final = 1  # the pulls that the lower bound rests on
SEEN_UPPER: Final = 2
FREED: Final = 3  # the newest arm that was dropped without a charge, since this one was surely no worse
BY_AGE: Final = 4

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class Certificates(NamedTuple):
    """The slots, and a row of `levels` and of `counts` for each.

    There is one row more, for a charge whose heir was withdrawn when no other arm was there to take it over.  The last
    column of `counts` has nothing to do with its rows: it lists the slots of arms, the oldest first.
    """

    memory: Memory
    levels: Floats
    counts: Ints


class Settings(NamedTuple):
    """What the rule is told.

    The answer may be worse than the best by `epsilon`, or by a share epsilon of the best mean if `relative`.  `slots`
    is m; `cell` is the width of a cell, 0 where memory is never full; `room` is what cells leave of epsilon.  Arms
    with fewer pulls than `few` are never known well enough.
    """

    epsilon: float
    relative: bool
    slots: int
    cell: float
    room: float
    few: float
    bets: Bets
    noise: Noise


def settings_of(
    epsilon: float,
    slots: int,
    noise: Noise,
    *,
    whole: bool = False,
    relative: bool = False,
    tuned: float | None = None,
) -> Settings:
    """Return the settings for epsilon, a share of the best mean if `relative`; `whole` if slots hold a window.

    Without a target, epsilon is 0: bounds are then `tuned` for another, and a budget must limit the pulls.
    """
    if not epsilon > 0 and tuned is None:
        raise ValueError(f"epsilon must be above 0 unless bounds are tuned for another, not {epsilon!r}")
    cell = 0.0 if whole else certificate_cell(epsilon, slots, relative=relative)
    room = max(certificate_room(epsilon, cell, relative=relative), epsilon / 4)
    aim = min(room, 1.0) if tuned is None else tuned
    few = FEW / (aim * LEAST_MEAN if relative else aim)
    return Settings(epsilon, relative, slots, cell, room, few, bets(middle_rate(aim, relative=relative), noise), noise)


@njit
def aimed_at(epsilon: float, settings: Settings) -> Settings:
    """Return the settings for another epsilon, without cells."""
    return Settings(
        epsilon, settings.relative, settings.slots, 0.0, epsilon, settings.few, settings.bets, settings.noise
    )


def no_certificates(slots: int) -> Certificates:
    """Make `slots` empty slots and that of the arriving arm."""
    rows = slots + 1
    levels = np.zeros((rows + 1, 5))
    levels[:rows, UPPER] = 1.0
    return Certificates(empty_memory(rows), levels, np.zeros((rows + 1, BY_AGE + 1), np.int64))


@njit
def copied(c: Certificates) -> Certificates:
    """Return a copy, which may be changed without a trace."""
    arrival, pulls, total = c.memory
    memory = Memory(arrival.copy(), pulls.copy(), total.copy())
    return Certificates(memory, c.levels.copy(), c.counts.copy())


@njit
def admit(c: Certificates, arrival: int, log_lower: float, log_upper: float) -> int:
    """Let an arm arrive whose bounds may fail with probabilities e^-log_lower and e^-log_upper; return its slot."""
    slot = free_slot(c.memory)
    if slot < 0:
        raise ValueError("an arm can arrive only when a slot is free")
    c.counts[count(c.memory), BY_AGE] = slot
    put(c.memory, slot, arrival, 0, 0.0)
    c.levels[slot, LOG_LOWER], c.levels[slot, LOG_UPPER] = log_lower, log_upper
    return slot


@njit
def let_go(c: Certificates, slot: int) -> None:
    """Drop an arm, its claim and its charge, and leave nothing behind."""
    found = False
    for place in range(count(c.memory) - 1):
        found = found or c.counts[place, BY_AGE] == slot
        if found:
            c.counts[place, BY_AGE] = c.counts[place + 1, BY_AGE]
    drop(c.memory, slot)
    c.levels[slot, :] = 0.0
    c.levels[slot, UPPER] = 1.0
    c.counts[slot, :BY_AGE] = 0


@njit
def expire(c: Certificates, oldest: int) -> None:
    """Drop every arm that arrived before `oldest`, and the charges that stand for none but such arms."""
    for slot in range(c.memory.arrival.size):
        if 0 < c.memory.arrival[slot] < oldest:
            let_go(c, slot)
    for row in range(c.counts.shape[0]):
        if c.counts[row, CHARGED] < oldest:
            c.levels[row, CHARGE], c.counts[row, CHARGED] = 0.0, 0
        if c.counts[row, FREED] < oldest:
            c.counts[row, FREED] = 0


@inlined
def told(c: Certificates, slot: int, pulls: int, total: float, settings: Settings) -> None:
    """Count rewards for the arm in a slot."""
    _, all_pulls, totals = c.memory
    all_pulls[slot] += pulls
    totals[slot] += total
    note(c, slot, settings)


@inlined
def note(c: Certificates, slot: int, settings: Settings) -> None:
    """Take note of rewards that were counted: an arm with few is likely to be a rival, whose U is needed next."""
    if c.memory.pulls[slot] < settings.few:
        refresh_upper(c, slot, settings)


@njit
def refresh_lower(c: Certificates, slot: int, settings: Settings) -> None:
    """Bring a lower bound up to date; it never falls."""
    _, pulls, totals = c.memory
    levels, counts = c.levels, c.counts
    if counts[slot, SEEN_LOWER] < pulls[slot]:
        last, log = levels[slot, LOWER], levels[slot, LOG_LOWER]
        levels[slot, LOWER] = lower(pulls[slot], totals[slot], log, settings.bets, settings.noise, last)
        counts[slot, SEEN_LOWER] = pulls[slot]


@njit
def refresh_upper(c: Certificates, slot: int, settings: Settings) -> None:
    """Bring an upper bound up to date; it never rises."""
    _, pulls, totals = c.memory
    levels, counts = c.levels, c.counts
    if counts[slot, SEEN_UPPER] < pulls[slot]:
        last, log = levels[slot, UPPER], levels[slot, LOG_UPPER]
        levels[slot, UPPER] = upper(pulls[slot], totals[slot], log, settings.bets, settings.noise, last)
        counts[slot, SEEN_UPPER] = pulls[slot]


@njit
def refresh(c: Certificates, slot: int, settings: Settings) -> None:
    """Bring both bounds up to date."""
    refresh_lower(c, slot, settings)
    refresh_upper(c, slot, settings)


@inlined
def claim(c: Certificates, slot: int) -> float:
    """Return max(U, C): how good the arm, and those dropped in its favour, may be."""
    return float(max(c.levels[slot, UPPER], c.levels[slot, CHARGE]))


@njit
def free(c: Certificates, slot: int, better: int) -> None:
    """Drop an arm that is surely no better than a newer one: nobody is charged, unless the newer one is withdrawn."""
    c.counts[better, FREED] = max(c.counts[better, FREED], c.memory.arrival[slot])
    let_go(c, slot)


@njit
def hand_over(c: Certificates, slot: int, heir: int) -> None:
    """Drop an arm in favour of a newer one, which takes over its claim."""
    _charge(c, heir, claim(c, slot), c.memory.arrival[slot])
    let_go(c, slot)


@njit
def withdraw(c: Certificates, slot: int) -> None:
    """Take an arm out at once.  Its own claim goes with it; its charge goes to the newest arm, or to nobody.

    Arms that were dropped without a charge, since it was surely no worse, have means of at most its L: from now on they
    are charged that.  An arm can stand only for older ones: it must not expire before them.
    """
    charge, charged, freed = c.levels[slot, CHARGE], c.counts[slot, CHARGED], c.counts[slot, FREED]
    if freed > 0:
        charge, charged = max(charge, c.levels[slot, LOWER]), max(charged, freed)
    let_go(c, slot)
    newest = 0
    for other in range(1, c.memory.arrival.size):
        if c.memory.arrival[other] > c.memory.arrival[newest]:
            newest = other
    if charged > 0:
        nobody = c.counts.shape[0] - 1
        _charge(c, newest if c.memory.arrival[newest] > charged else nobody, charge, charged)


@njit
def _charge(c: Certificates, heir: int, charge: float, charged: int) -> None:
    """Let an arm take over a charge that stands for arms as new as `charged`."""
    c.levels[heir, CHARGE] = max(c.levels[heir, CHARGE], charge)
    c.counts[heir, CHARGED] = max(c.counts[heir, CHARGED], charged)


@inlined
def allowed(ceiling: float, settings: Settings) -> float:
    """Return how far the answer may be from a best arm that may be as good as `ceiling`.

    Where epsilon is a share of the best mean, and all means are small, any answer will do.
    """
    if not settings.relative:
        return settings.epsilon
    return settings.epsilon * ceiling if ceiling > LEAST_MEAN else ceiling


@njit
def is_known(c: Certificates, slot: int, settings: Settings) -> bool:
    """Say whether the bounds of an arm are so close that it is not pulled any more."""
    pulls = c.memory.pulls[slot]
    if pulls < settings.few:
        return False
    if LAG * pulls >= (LAG + 1) * min(c.counts[slot, SEEN_LOWER], c.counts[slot, SEEN_UPPER]):
        refresh(c, slot, settings)
    low, high = c.levels[slot, LOWER], c.levels[slot, UPPER]
    if settings.relative:
        return bool(high <= LEAST_MEAN or high - low <= KNOWN * settings.room * low)
    return bool(high - low <= KNOWN * settings.room)
