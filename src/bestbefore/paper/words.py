"""Verdicts in words: facts come in as fields with ids, and become sentences here, once.

>>> of_ruling(Ruling(True, 10)), of_ruling(Ruling(None, 10)), of_ruling(Ruling(None, 200)), of_ruling(None)
('holds', 'ten runs cannot tell', '200 runs cannot tell', 'says nothing here')
>>> between(2.04, 2.51), between(19.6, 23.4), between(0.0, math.inf)
('2.0 to 2.5', '20 to 23', 'any number of')
"""

import math

from bestbefore.paper.claims import Claim, claim
from bestbefore.paper.deviations import PUBLISHED
from bestbefore.paper.duels import UNTOLD, Duel, Side
from bestbefore.paper.numbers import Economy
from bestbefore.paper.panels import Panel
from bestbefore.paper.verdicts import Ruling, Tally, Verdict, Votes

CLOSE = 1.05
"""Two curves are level if no factor beyond this is likely."""


def capital(text: str) -> str:
    """Begin with a capital letter."""
    return text[:1].upper() + text[1:]


def of_claim(one: Claim) -> str:
    """Quote a claim."""
    return f"“{capital(one.text)}”"


def of_ruling(ruling: Ruling | None) -> str:
    """Say whether a claim holds."""
    if ruling is None:
        return "says nothing here"
    if ruling.holds is None:
        return f"{many({10: 'ten'}.get(ruling.runs, ruling.runs), 'run')} cannot tell"
    return "holds" if ruling.holds else "does not hold"


def of_tally(one: Tally) -> str:
    """Say in how many panels a claim holds."""
    published, described = one.published, one.described
    return (
        f"{of_claim(claim(one.claim))}: holds in {published.hold} of {many(published.all, 'panel')} as published"
        f"{cannot_tell(published)}, in {described.hold} as described{cannot_tell(described)}."
    )


def of_votes(votes: Votes) -> str:
    """Say in how many of all panels something holds.

    >>> of_votes(Votes(3, 2, 1))
    '3 of 6, 1 cannot tell'
    """
    return f"{votes.hold} of {votes.all}{f', {votes.open} cannot tell' if votes.open else ''}"


def cannot_tell(votes: Votes) -> str:
    """Say how many panels cannot tell, if any."""
    return f" ({votes.open} cannot tell)" if votes.open else ""


def of_slip(one: Tally) -> str:
    """Say in how many panels a claim holds, and what in the public code makes it hold there."""
    slip = claim(one.claim).slip
    if slip is None:
        raise ValueError(f"claim must have a slip, and {one.claim!r} has none")
    return f"{of_tally(one)}  {slip.text}"


def of_setting(panel: Panel) -> str:
    """Say what is different between the readings of a panel but the algorithms; nothing if nothing is.

    >>> of_setting(Panel("regret", "movielens", arms=500, window=20, memory=(2,)))
    'As published, the first 500 movies by number, rewards of 0 and 1, and 2,000 pulls an epoch.'
    """
    if panel.data == "two-level":
        return "As published, the low arms have means from a Normal around 0.25."
    if not panel.needs_movielens:
        return ""
    pulls = f", and {panel.budget(PUBLISHED):,} pulls an epoch" if panel.task == "regret" else ""
    return (
        f"As published, the first {panel.arms:,} movies by number{',' if pulls else ' and'} rewards of 0 and 1{pulls}."
    )


def of_verdict(verdict: Verdict) -> tuple[str, ...]:
    """Say of a panel who wins, at which memory, by what factor."""
    sentences = [of_duel(duel) for duel in verdict.duels]
    return (*sentences, *([of_economy(verdict.economy)] if verdict.economy else []))


def of_duel(duel: Duel) -> str:
    """Say who of two is lower at how many memories, and how many times in the median over them."""
    one, other = duel.sides
    if duel.reading == "ours":
        start, names = f"Ours ({one.curve}) against the paper's, as described: ", ("ours", "theirs")
    elif duel.reading in ("published", "described"):
        start, names = f"As {duel.reading}, ", (one.curve, "the baseline")
    else:
        raise ValueError(f"reading must be one of 'published', 'described', 'ours', not {duel.reading!r}")
    memories = len(one.lower_at) + len(other.lower_at) + len(duel.untold_at)
    parts = [_lower(name, side, duel, memories) for name, side in zip(names, duel.sides, strict=True) if side.lower_at]
    if duel.untold_at:
        parts.append(f"{of_ruling(Ruling(None, duel.runs))} at {at(len(duel.untold_at), memories)}")
    return f"{start}{'; '.join(parts)}."


def _lower(name: str, side: Side, duel: Duel, memories: int) -> str:
    times = f", {_times(duel)} in the median" if side.role == duel.lower else ""
    return f"{name} is lower at {at(len(side.lower_at), memories)}{times}"


def at(count: int, memories: int) -> str:
    """Say at how many of all memories."""
    return f"{count} of {memories} memories" if count < memories else "every memory"


def _times(duel: Duel) -> str:
    """Say how many times lower, as an interval."""
    return "down to 0" if math.isinf(duel.low) else f"{between(duel.low, duel.high)} times"


def between(low: float, high: float) -> str:
    """Say an interval of factors with as few digits as tell its ends apart from 1 and from each other."""
    if low <= 0 and math.isinf(high):
        return "any number of"
    ends = [f"{end:,.0f}" if end >= 10 else f"{end:.1f}" for end in (low, high)]
    if ends[0] == "1.0":
        ends = [f"{end:.2f}" for end in (low, high)]
    if math.isinf(high):
        return f"{ends[0]} or more"
    return ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"


def of_economy(economy: Economy) -> str:
    """Compare a few slots of ours with a window of theirs."""
    return (
        f"{economy.memory} slots of ours lose {share(economy.low, economy.high)} of what {economy.window} of theirs "
        "lose."
    )


def measured(value: float, error: float) -> str:
    """Say a mean with its standard error, to two digits of the error.

    >>> measured(432_871, 14_211), measured(0.42049, 0.0124), measured(1164.2, 14.4), measured(3.0, 0.0)
    ('433,000 ± 14,000', '0.420 ± 0.012', '1,164 ± 14', '3 ± 0')
    """
    if error <= 0:
        return f"{value:,g} ± 0"
    digits = 1 - math.floor(math.log10(error))
    places = max(digits, 0)
    return f"{round(value, digits):,.{places}f} ± {round(error, digits):,.{places}f}"


def share(low: float, high: float) -> str:
    """Say an interval of shares in percent.

    >>> share(0.104, 0.271), share(0.271, 0.273), share(0.0, math.inf)
    ('10% to 27%', '27%', 'an unknown share')
    """
    if math.isinf(high):
        return "an unknown share"
    least, most = f"{low:.0%}", f"{high:.0%}"
    return least if least == most else f"{least} to {most}"


def who_is_lower(duel: Duel) -> str:
    """Name who is lower in the median over memories, and how many times, as short as a table wants it."""
    if duel.lower == UNTOLD:
        return "level" if duel.low >= 1 / CLOSE and duel.high <= CLOSE else "cannot tell"
    return f"{duel.side(duel.lower).curve}, {_times(duel)}"


def many(count: int | str, noun: str) -> str:
    """Say how many of something, in the singular or the plural."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
