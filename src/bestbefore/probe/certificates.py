"""Certificates: what is known of each stored arm, and of those that were dropped in its favour.

Each arm has a lower and an upper bound, L and U, of `bestbefore.confidence`, and a *charge* C: the highest max(U, C) of
the arms that were dropped in its favour, or 0.  max(U, C) is the arm's *claim*.  A dropped arm is older than its heir, so
its claim outlives it with the heir, and the charge is void once the newest arm that it stands for, `charged`, has
expired; that is before the heir itself expires.

Bounds are computed when they are asked for, not when rewards come: one that is not up to date is valid, only wide.

There is one slot more than may be stored, for the arriving arm.  `charge` and `charged` have one entry more than there
are slots: the last is that of arms whose heir was withdrawn when no other arm was there to take over.

>>> from bestbefore.noise import BOUNDED
>>> certificates = no_certificates(slots=2)
>>> settings = settings_of(epsilon=0.1, slots=2, noise=BOUNDED)
>>> first = admit(certificates, arrival=1, log_lower=7.0, log_upper=3.0)
>>> told(certificates, first, pulls=400, total=200.0)
>>> refresh(certificates, first, settings)
>>> round(certificates.lower[first], 2), round(certificates.upper[first], 2)
(0.39, 0.58)
"""

import math
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from bestbefore._jit import njit
from bestbefore.confidence import Bets, bets, lower, upper
from bestbefore.memory import Memory, drop, empty_memory, free_slot, put
from bestbefore.noise import Noise

RATE: Final = 3.0
"""The middle rate of the bounds, in units of what a cell leaves of epsilon: found by trial."""
KNOWN: Final = 0.9
"""An arm is not pulled any more once U - L is at most this share of what a cell leaves of epsilon."""
FEW: Final = 4.0
"""An arm with fewer pulls than this divided by epsilon is pulled in any case, to save time."""

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class Certificates(NamedTuple):
    """The slots, and for each of them L, U, the charge, the newest arm it stands for, ln(1 / share) of either bound,
    and the pulls that either bound rests on."""

    memory: Memory
    lower: Floats
    upper: Floats
    charge: Floats
    charged: Ints
    log_lower: Floats
    log_upper: Floats
    seen_lower: Ints
    seen_upper: Ints


class Settings(NamedTuple):
    """What the rule is told.

    `epsilon` is how far the answer may be from the best: a share of the best mean if `relative`, but then `least` at
    any rate.  `slots` is m; a `cell` is 1 / m, or 0 where memory is never full.
    """

    epsilon: float
    relative: bool
    least: float
    slots: int
    cell: float
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
    least: float = 0.0,
    tuned: float | None = None,
) -> Settings:
    """Return the settings for epsilon; `whole` if memory holds a whole window, and `tuned` if bounds are for another."""
    cell = 0.0 if whole else cell_of(epsilon, slots)
    aim = max(epsilon - cell, epsilon / 4) if tuned is None else tuned
    return Settings(epsilon, relative, least, slots, cell, FEW / aim, bets(RATE * aim, noise), noise)


def cell_of(epsilon: float, slots: int) -> float:
    """Return the width of a cell: 1 / m, or (1 - epsilon) / (m - 1) if that is less.

    No claim is above 1, so a newer arm covers all others if its L, rounded down, is at least 1 - epsilon.  Otherwise all
    but the oldest of m + 1 arms are in the m - 1 cells below 1 - epsilon, and again two share one.
    """
    return min(1 / slots, (1 - epsilon) / (slots - 1)) if slots > 1 else 1.0


def no_certificates(slots: int) -> Certificates:
    """Make `slots` empty slots and that of the arriving arm."""
    rows = slots + 1
    return Certificates(
        empty_memory(rows),
        np.zeros(rows),
        np.ones(rows),
        np.zeros(rows + 1),
        np.zeros(rows + 1, np.int64),
        np.zeros(rows),
        np.zeros(rows),
        np.zeros(rows, np.int64),
        np.zeros(rows, np.int64),
    )


@njit
def admit(c: Certificates, arrival: int, log_lower: float, log_upper: float) -> int:
    """Let an arm arrive whose bounds may fail with probabilities e^-log_lower and e^-log_upper; return its slot."""
    slot = free_slot(c.memory)
    if slot < 0:
        raise ValueError("an arm can arrive only when a slot is free")
    _clear(c, slot)
    put(c.memory, slot, arrival, 0, 0.0)
    c.log_lower[slot], c.log_upper[slot] = log_lower, log_upper
    return slot


@njit
def _clear(c: Certificates, slot: int) -> None:
    """Empty a slot, and leave nothing behind."""
    drop(c.memory, slot)
    c.lower[slot], c.upper[slot] = 0.0, 1.0
    c.charge[slot], c.charged[slot] = 0.0, 0
    c.log_lower[slot], c.log_upper[slot] = 0.0, 0.0
    c.seen_lower[slot], c.seen_upper[slot] = 0, 0


@njit
def expire(c: Certificates, oldest: int) -> None:
    """Drop every arm that arrived before `oldest`, and the charges that stand for none but such arms."""
    for slot in range(c.memory.arrival.size):
        if 0 < c.memory.arrival[slot] < oldest:
            _clear(c, slot)
    for slot in range(c.charge.size):
        if c.charged[slot] < oldest:
            c.charge[slot], c.charged[slot] = 0.0, 0


@njit
def told(c: Certificates, slot: int, pulls: int, total: float) -> None:
    """Count rewards for the arm in a slot."""
    c.memory.pulls[slot] += pulls
    c.memory.total[slot] += total


@njit
def refresh_lower(c: Certificates, slot: int, settings: Settings) -> None:
    """Bring a lower bound up to date; it never falls."""
    pulls, total = c.memory.pulls[slot], c.memory.total[slot]
    if c.seen_lower[slot] < pulls:
        last, log = c.lower[slot], c.log_lower[slot]
        c.lower[slot] = lower(pulls, total, log, settings.bets, settings.noise, last)
        c.seen_lower[slot] = pulls


@njit
def refresh_upper(c: Certificates, slot: int, settings: Settings) -> None:
    """Bring an upper bound up to date; it never rises."""
    pulls, total = c.memory.pulls[slot], c.memory.total[slot]
    if c.seen_upper[slot] < pulls:
        last, log = c.upper[slot], c.log_upper[slot]
        c.upper[slot] = upper(pulls, total, log, settings.bets, settings.noise, last)
        c.seen_upper[slot] = pulls


@njit
def refresh(c: Certificates, slot: int, settings: Settings) -> None:
    """Bring both bounds up to date."""
    refresh_lower(c, slot, settings)
    refresh_upper(c, slot, settings)


@njit
def claim(c: Certificates, slot: int) -> float:
    """Return max(U, C): how good the arm, and those dropped in its favour, may be."""
    return max(c.upper[slot], c.charge[slot])


@njit
def let_go(c: Certificates, slot: int) -> None:
    """Drop an arm that is no better than a newer one, nor are those dropped in its favour: no claim is left."""
    _clear(c, slot)


@njit
def hand_over(c: Certificates, slot: int, heir: int) -> None:
    """Drop an arm in favour of a newer one, which takes over its claim."""
    _charge(c, heir, claim(c, slot), c.memory.arrival[slot])
    _clear(c, slot)


@njit
def withdraw(c: Certificates, slot: int) -> None:
    """Take an arm out at once.  Its own claim goes with it; its charge goes to the newest arm, or waits for one."""
    value, charged, heir = c.charge[slot], c.charged[slot], c.charge.size - 1
    for other in range(c.memory.arrival.size):
        if other != slot and c.memory.arrival[other] > 0:
            if heir == c.charge.size - 1 or c.memory.arrival[other] > c.memory.arrival[heir]:
                heir = other
    _clear(c, slot)
    if charged > 0:
        _charge(c, heir, value, charged)


@njit
def _charge(c: Certificates, heir: int, value: float, arrival: int) -> None:
    c.charge[heir] = max(c.charge[heir], value)
    c.charged[heir] = max(c.charged[heir], arrival)


@njit
def allowed(ceiling: float, settings: Settings) -> float:
    """Return how far the answer may be from a best arm that may be as good as `ceiling`."""
    return max(settings.epsilon * ceiling, settings.least) if settings.relative else settings.epsilon


@njit
def is_known(c: Certificates, slot: int, settings: Settings) -> bool:
    """Say whether the bounds of an arm are so close that it is not pulled any more."""
    pulls = c.memory.pulls[slot]
    if pulls < settings.few:
        return False
    if pulls >= 2 * min(c.seen_lower[slot], c.seen_upper[slot]):
        refresh(c, slot, settings)
    within = allowed(c.lower[slot], settings)
    return bool(c.upper[slot] - c.lower[slot] <= KNOWN * max(within - settings.cell, within / 4))


def shares(
    window: int, delta: float, guarantee: str, arms: int | None, arrival: int, upper_share: float = 0.8
) -> tuple[float, float]:
    """Return ln(1 / p) of the lower and of the upper bound of an arm, as the guarantee needs it.

    - *weak*, of a stream that is fixed beforehand: at one time, one arm is the best (the newest, of several).  Only its
      upper bound matters, and the lower bounds of the W - 1 others: p = .8 delta, and .2 delta / (W - 1);
    - *strong*: all bounds of n arms, .8 delta / n and .2 delta / n;
    - *anytime*: as strong, with W k (k + 1) for n, where k = ceil(t / W), see `bestbefore.bounds`.

    >>> [round(math.exp(-log), 5) for log in shares(51, 0.05, "weak", None, 1)]
    [0.0002, 0.04]
    """
    upper_delta, lower_delta = upper_share * delta, (1 - upper_share) * delta
    if guarantee == "weak":
        return -math.log(lower_delta / max(window - 1, 1)), -math.log(upper_delta)
    if guarantee == "strong" and arms is not None:
        return -math.log(lower_delta / arms), -math.log(upper_delta / arms)
    if guarantee == "anytime":
        block = (arrival - 1) // window + 1
        at_risk = window * block * (block + 1)
        return -math.log(lower_delta / at_risk), -math.log(upper_delta / at_risk)
    raise ValueError(f"guarantee must be 'weak', 'strong' with arms, or 'anytime', not {guarantee!r} with arms={arms!r}")
