"""Verdicts and summaries in words: facts come in as fields with ids, and become sentences here, once.

>>> from bestbefore.paper.duels import Side, compare
>>> duel = compare(Side("paper", "bucket"), {2: 1.0, 8: 1.0}, Side("baseline", "topk"), {2: 2.0, 8: 5.0}, "described")
>>> of_duel(duel)
'As described, bucket is lower at every memory, by up to a factor of 5.0 with memory 8.'
>>> who_is_lower(duel)
'bucket, 3.5 times'
"""

import math

from bestbefore.paper.claims import Claim, claim
from bestbefore.paper.duels import LEVEL, Duel, Side
from bestbefore.paper.numbers import Economy
from bestbefore.paper.summary import Explored, Played, RealOrder, Sought, Summary
from bestbefore.paper.verdicts import Tally, Verdict

FEW_RUNS = 5
"""With fewer runs of each curve a reproduction is a first look."""


def capital(text: str) -> str:
    """Begin with a capital letter."""
    return text[:1].upper() + text[1:]


def of_claim(one: Claim) -> str:
    """Quote a claim."""
    return f"“{capital(one.text)}”"


def of_tally(one: Tally) -> str:
    """Say in how many panels a claim holds."""
    return (
        f"{of_claim(claim(one.claim))}: holds in {one.published} of {_many(one.panels, 'panel')} as published, in "
        f"{one.described} as described."
    )


def of_slip(one: Tally) -> str:
    """Say in how many panels a claim holds, and what in the public code makes it hold there."""
    slip = claim(one.claim).slip
    if slip is None:
        raise ValueError(f"claim must have a slip, and {one.claim!r} has none")
    return f"{of_tally(one)}  {slip.text}"


def of_verdict(verdict: Verdict) -> tuple[str, ...]:
    """Say of a panel who wins, at which memory, by what factor."""
    sentences = [of_duel(duel) for duel in verdict.duels]
    return (*sentences, *([of_economy(verdict.economy)] if verdict.economy else []))


def of_duel(duel: Duel) -> str:
    """Say who of two is lower at how many memories, and by what factor where it is most."""
    one, other = duel.sides
    if duel.reading == "ours":
        start, names = f"Ours ({one.curve}) against the paper's, as described: ", ("ours", "theirs")
    elif duel.reading in ("published", "described"):
        start, names = f"As {duel.reading}, ", (one.curve, "the baseline")
    else:
        raise ValueError(f"reading must be one of 'published', 'described', 'ours', not {duel.reading!r}")
    memories = len(one.lower_at) + len(other.lower_at) + len(duel.equal_at)
    parts = [_lower(name, side, memories) for name, side in zip(names, duel.sides, strict=True) if side.lower_at]
    if duel.equal_at:
        parts.append(f"they are equal at {_at(len(duel.equal_at), memories)}")
    return f"{start}{'; '.join(parts)}."


def _lower(name: str, side: Side, memories: int) -> str:
    return f"{name} is lower at {_at(len(side.lower_at), memories)}, by {_times(side.factor, side.at)}"


def _at(count: int, memories: int) -> str:
    return f"{count} of {memories} memories" if count < memories else "every memory"


def _times(factor: float, memory: int | None) -> str:
    """Say how much lower, and with what memory.

    >>> _times(1.04, 8), _times(2.5, 8), _times(math.inf, 8)
    ('less than 5%', 'up to a factor of 2.5 with memory 8', 'all of it, down to 0, with memory 8')
    """
    if math.isinf(factor):
        return f"all of it, down to 0, with memory {memory}"
    if factor < 1.05:
        return "less than 5%"
    return f"up to a factor of {_rounded(factor)} with memory {memory}"


def of_economy(economy: Economy) -> str:
    """Compare a few slots of ours with a window of theirs."""
    return (
        f"{economy.memory} slots of ours lose {economy.ours:,.0f}, {economy.window} of theirs {economy.theirs:,.0f}: "
        f"{economy.share:.0%}."
    )


def who_is_lower(duel: Duel) -> str:
    """Name who is lower in the median over memories, and how many times, as short as a table wants it."""
    if duel.lower == LEVEL:
        return "level"
    winner = duel.side(duel.lower).curve
    return f"{winner}, to 0" if math.isinf(duel.median) else f"{winner}, {_rounded(duel.median)} times"


def lead(summary: Summary) -> tuple[str, ...]:
    """Say it all in a paragraph, and how to read the rest in another."""
    parts = []
    if summary.theorems:
        hold, lines = summary.theorems
        stands = "The theorems stand" if hold == lines else "Not all theorems were confirmed"
        parts.append(f"{stands}: {hold} of {lines} lines of experiments on them hold.")
    if summary.fallen:
        claims = "one claim" if len(summary.fallen) == 1 else f"{len(summary.fallen)} claims"
        never = all(summary.tally(id).described == 0 for id in summary.fallen)
        less = "but not" if never else "and less often or not at all"
        parts.append(
            f"The figures need a footnote: {claims} of the paper on its own figures can be seen in what its public "
            f"code draws, {less} in what its text describes."
        )
    seen = [*_computed_right(summary.explored), *_regret_computed_right(summary.played)]
    parts += [*seen, *_in_real_order(summary.real_order, survives=bool(seen))]
    read = (
        "Every panel is read three ways: as described, the algorithms of the text computed right; as published, what "
        "the authors' public code does, re-enacted in our own; and ours.  Lines are means over runs, bands their range."
    )
    if 0 < summary.runs < FEW_RUNS:
        read += f"  Here they rest on {_many(summary.runs, 'run')} only: a first look, and no judgement."
    return (" ".join(parts), read) if parts else (read,)


def _computed_right(explored: Explored | None) -> list[str]:
    if not explored or not explored.baseline_lower.of:
        return []
    lower, panels = explored.baseline_lower
    why = ": in random order little has to be kept for later" if 2 * lower > panels else ""
    return [
        f"Computed right, the top-k baseline has a lower error than Bucket at every memory in {lower} of "
        f"{_many(panels, 'panel')} of exploration{why}."
    ]


def _regret_computed_right(played: Played | None) -> list[str]:
    if not played or not played.falls_steadily.of:
        return []
    steady, panels = played.falls_steadily
    wins, duels = played.below_baseline
    return [
        "Computed right, the regret of reservoir and UCB falls with memory, with no step up of more than a tenth, "
        f"in {steady} of {_many(panels, 'panel')}, and is below the baseline's {wins} times of {duels}, "
        "counting every memory of every panel."
    ]


def _in_real_order(real: RealOrder | None, *, survives: bool) -> list[str]:
    if not real:
        return []
    same, claims = real.only_published
    start = "All this survives where" if survives and same == claims else "Where"
    return [
        f"{start} movies arrive as they really did: {same} of {claims} claims on {_many(real.panels, 'panel')} hold as "
        "published and fall as described."
    ]


def advice(summary: Summary) -> tuple[str, ...]:
    """Say what to use, by what was measured."""
    told = []
    if summary.explored:
        told.append(_to_explore(summary.explored))
    if summary.played and summary.played.shares:
        told.append(_to_play(summary.played))
    if summary.sought:
        told.append(_to_seek(summary.sought))
    return tuple(told)


def _to_explore(explored: Explored) -> str:
    factor, lower = explored.factor, explored.factor > 1
    better = "nowhere worse than" if explored.never_worse else "mostly better than" if lower else "not better than"
    by = f", with an error lower by a factor of {_rounded(factor)} in the median" if lower else " here"
    text = (
        f"To know a good arm at any time: staircase, {better} Bucket at the same memory{by}.  Told an epsilon, it "
        "keeps Bucket's guarantee, too."
    )
    if explored.baseline_as_good:
        text += "  The baseline, computed right, is as good here, in random order; where means fall it is not."
    return text


def _to_play(played: Played) -> str:
    least, most = f"{min(played.shares):.0%}", f"{max(played.shares):.0%}"
    between = least if least == most else f"{least} to {most}"
    return (
        "To spend traffic: staircase with MOSS.  With at most three tenths of the window as memory it loses "
        f"{between} of what the paper's algorithm loses with all of it."
    )


def _to_seek(sought: Sought) -> str:
    worst = ""
    if sought.ours < sought.described:
        worst = (
            f", which loses {sought.ours:.1%} of all there is in its worst run here, where a sample loses "
            f"{sought.described:.1%} in its own"
        )
    return (
        f"To find the one arm that never expires: wait if there are W slots, and race if there are fewer{worst}.  On "
        "the paper's hard instance nobody can do it."
    )


def _rounded(factor: float) -> str:
    return f"{factor:,.0f}" if factor >= 10 else f"{factor:.1f}"


def _many(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
