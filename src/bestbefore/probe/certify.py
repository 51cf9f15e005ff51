"""Certify: pull only what it takes to be sure that the answer is within epsilon of the best.

Every stored arm has bounds L and U and a claim max(U, C), see `bestbefore.probe.certificates`.  The answer a is
*certified* once no other arm, stored or dropped, can be more than epsilon better:

    L_a >= max(claims of all others, C_a) - epsilon.

- An arm whose claim is at most the L of a newer one is dropped, at no cost: it will never be needed again.
- Until the answer is certified, pull the leader, which has the highest mean, or its rival, which has the highest
  claim of the others: the leader if a charge is higher than all other upper bounds, or if .45 (mean - L) of the
  leader exceeds .55 (U - mean) of the rival.
- When memory is full, drop the arm that a newer one covers (`bestbefore.probe.room`): claim <= L_newer + epsilon,
  where L_newer is rounded down to a multiple of a cell.  The newer one takes over its claim.  If no arm is
  covered yet, pull one of the two arms that seem to need the fewest pulls until the newer covers the older;
  at last pull the widest arm.

Where no epsilon is given, but a budget: the answer is certified for a wide target, then the successors that will be
needed once it has expired, and room is made; then for a narrower one, until the budget is spent.  If slots are still
too few then, the arm goes whose claim is least above a newer arm's L.

*It ends.*  An arm is *known*, and not pulled any more, once U - L < epsilon - cell by a tenth.  That takes a
limited number of pulls, whatever they return.  A charge that is taken over is at most epsilon above the L of its
heir, rounded down, and stays so, since L never falls.  So once all arms are known, the arm of the highest L is
certified.  And two of m + 1 arms have an L in the same cell: the claim of the older one is at most its own L,
rounded down, plus epsilon, so the newer one covers it.  (Where slots are too few for epsilon, or a budget is
spent, the arm that costs least gives way: then a charge may be higher, and `gap` shows it.)

*It is right.*  Let b be the best arm that is valid at time t, the newest of several.  Suppose that U of b holds,
and L of all other arms of that window.  As long as b is stored, its claim is at least mu_b.  If b is dropped, its
heir is newer, so it is valid at t, and its claim is at least mu_b; and so on from heir to heir.  None of them is
dropped without an heir: that takes a newer arm with mu_b <= claim <= L <= its mean, and there is none.  So at
time t either b is stored, or an arm carries a charge of mu_b or more.  If the answer a is not b itself, mu_b is
at most max(claims of all others, C_a), and mu_a is at least L_a: the error is at most the gap.  Bounds hold at
all numbers of pulls at once, so it does not matter how it is decided what to pull, nor how late rewards come, as
long as their delay does not depend on their value.  `bestbefore.bounds.certificate_failures` adds up the
probabilities with which bounds may fail.

The rule of leader and rival is that of LUCB: S. Kalyanakrishnan, A. Tewari, P. Auer and P. Stone, "PAC subset
selection in stochastic multi-armed bandits", ICML 2012.

>>> from bestbefore.noise import BOUNDED
>>> from bestbefore.probe.certificates import admit, no_certificates, settings_of, told
>>> c, settings = no_certificates(slots=3), settings_of(epsilon=0.2, slots=3, noise=BOUNDED, whole=True)
>>> good, poor = admit(c, 1, 6.0, 3.0), admit(c, 2, 6.0, 3.0)
>>> while (decision := decide(c, -1, settings))[0] >= 0:     # rewards of 0.9 and 0.3, without noise
...     slot, pulls = decision
...     told(c, slot, pulls, pulls * (0.9 if slot == good else 0.3), settings)
>>> c.memory.pulls.tolist()
[20, 18, 0, 0]
>>> best, gap, certified = answer(c, settings)
>>> best == good, round(gap, 2), certified
(True, 0.19, True)
"""

from typing import Final

from bestbefore._jit import njit
from bestbefore.confidence import pulls_below
from bestbefore.memory import count
from bestbefore.probe.certificates import (
    CHARGE,
    LOG_UPPER,
    LOWER,
    UPPER,
    Certificates,
    Settings,
    aimed_at,
    allowed,
    copied,
    free,
    note,
    refresh_lower,
    refresh_upper,
)
from bestbefore.probe.room import drop_covered, give_way, is_covered, to_make_room
from bestbefore.probe.survey import certifies, first_unknown, of_two, shrunk_mean, survey, widest

NARROWER: Final = 0.8
"""Without a target: the factor from one to the next narrower."""
NARROWEST: Final = 0.002
"""Without a target: the last one before 0."""
BATCH: Final = 16
"""Bounds of an arm are computed anew after a sixteenth of its pulls so far."""
LEAP: Final = 8
"""An arm with few pulls may be pulled so often at once, or as often as it was pulled before."""


@njit
def next_pull(c: Certificates, settings: Settings) -> tuple[int, int]:
    """Drop what may go; return the slot to pull next, or -1 once the answer is certified and m slots are enough.

    It is also -1 where no pull can help: after an arm had to give way, a charge may be out of reach.  The second number
    is how many pulls to make at least.
    """
    while True:
        slot = _to_certify(c, 0, settings)
        if slot >= 0 or count(c.memory) <= settings.slots:
            return slot, 0
        if not drop_covered(c, settings):
            slot, pulls = to_make_room(c, settings)
            if slot >= 0:
                return slot, pulls
            give_way(c, settings)


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
        leader = survey(c, after).leader
        if leader < 0:
            return -1
        after = c.memory.arrival[leader]


@njit
def batch(c: Certificates, slot: int, settings: Settings) -> int:
    """Return how many pulls of an arm to make before bounds are computed anew: a sixteenth of those so far.

    While these are few it is an eighth, to save time.  An arm that cannot be ruled out before it has returned k
    more rewards of 0 is pulled k times.
    """
    pulls = c.memory.pulls[slot]
    wanted = max(pulls // BATCH, min(2 * pulls // BATCH, int(settings.few) // 2), 1)
    if pulls < settings.few and settings.noise.bounded:
        highest, levels = 0.0, c.levels
        for other in range(levels.shape[0]):
            highest = max(highest, levels[other, LOWER])
        level = highest + allowed(highest, settings)
        if pulls == 0 or shrunk_mean(c, slot) < level:
            leap = pulls_below(level, pulls, c.memory.total[slot], levels[slot, LOG_UPPER], settings.bets)
            wanted = max(wanted, min(leap, max(pulls, LEAP)))
    return int(wanted)


@njit
def decide(c: Certificates, left: int, settings: Settings) -> tuple[int, int]:
    """Drop what may go; return the slot to pull next and how often, or -1 and 0 if that is enough.

    At most `left` pulls may be made, and what the answer does not need is spent ahead; below 0 there is no limit.
    """
    if settings.epsilon > 0:
        slot, pulls = next_pull(c, settings)
    else:
        slot, pulls = _to_narrow(c, settings), 0
    if slot < 0 and left >= 0:
        slot = next_ahead(c, settings)
    if slot < 0:
        return -1, 0
    pulls = max(pulls, batch(c, slot, settings))
    return slot, min(pulls, left) if left >= 0 else pulls


@njit
def _to_narrow(c: Certificates, settings: Settings) -> int:
    """Return the slot to pull next where there is no target, and the gaps are to be as small as possible.

    The answer is certified for a wide target, then its successors, and room is made; then for a narrower target.
    """
    target = 1.0
    while target > NARROWEST:
        target *= NARROWER
        aimed = aimed_at(target, settings)
        slot = next_ahead(c, aimed)
        if slot < 0 and count(c.memory) > settings.slots and not is_covered(c, aimed):
            slot, _ = to_make_room(c, aimed)
        if slot >= 0:
            return slot
    return _to_certify(c, 0, settings)


@njit
def settle(c: Certificates, slot: int, left: int, settings: Settings) -> tuple[int, int, int]:
    """Decide once the rewards of a batch have been counted: the slot to pull next, how often, and how many are stored.

    `slot` is that of the batch, or -1.  See `decide` for the rest.
    """
    if slot >= 0:
        note(c, slot, settings)
    chosen, pulls = decide(c, left, settings) if left != 0 else (-1, 0)
    return chosen, pulls, count(c.memory)


@njit
def answer(c: Certificates, settings: Settings) -> tuple[int, float, bool]:
    """Return the slot of the answer, or -1; its gap; and whether it is certified.

    The gap is how far the answer may be from the best, as far as bounds hold.  The answer is the leader if that is
    certified, else the arm of the least gap, which has the highest L or the highest claim; where epsilon is a share,
    one that is certified comes before one with a smaller gap.  Nothing is changed: where bounds are not up to date,
    they are brought so on a copy.
    """
    seen = survey(c, 0)
    if seen.leader < 0:
        return -1, 1.0, False
    if seen.stale:
        c = copied(c)
        while seen.stale:
            refresh_lower(c, seen.leader, settings)
            if seen.rival >= 0:
                refresh_upper(c, seen.rival, settings)
            seen = survey(c, 0)
    best, ceiling, gap = seen.leader, seen.ceiling, seen.ceiling - c.levels[seen.leader, LOWER]
    certified = gap <= allowed(ceiling, settings)
    if not certified:
        for other, its_ceiling in ((seen.top, seen.top_ceiling), (seen.first, seen.first_ceiling)):
            its_gap = its_ceiling - c.levels[other, LOWER]
            sure = its_gap <= allowed(its_ceiling, settings)
            if sure > certified or (sure == certified and its_gap < gap):
                best, gap, certified = other, its_gap, sure
    return best, max(gap, 0.0), certified


@njit
def _to_certify(c: Certificates, after: int, settings: Settings) -> int:
    """Return the slot to pull next to certify the best arm newer than `after`, or -1 if no pull is needed or helps."""
    seen = survey(c, after)
    while seen.stale:
        refresh_lower(c, seen.leader, settings)
        _drop_older(c, seen.leader)
        if seen.rival >= 0:
            refresh_upper(c, seen.rival, settings)
        seen = survey(c, after)
    if seen.leader < 0 or certifies(c, seen, settings):
        return -1
    if seen.by_charge:
        slot = first_unknown(c, seen.leader, seen.rival, settings)
    else:
        slot = of_two(c, seen.leader, seen.rival, settings)
    return slot if slot >= 0 else widest(c, after, settings)


@njit
def _drop_older(c: Certificates, newer: int) -> None:
    """Drop the arms that are older than one, and whose claims are at most its lower bound."""
    arrivals, levels = c.memory.arrival, c.levels
    bar, arrival = levels[newer, LOWER], arrivals[newer]
    for slot in range(arrivals.size):
        if 0 < arrivals[slot] < arrival and levels[slot, UPPER] <= bar and levels[slot, CHARGE] <= bar:
            free(c, slot, newer)
