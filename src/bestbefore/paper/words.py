"""Verdicts and summaries in words: facts come in as fields with ids, and become sentences here, once.

>>> of_ruling(Ruling(True, 10)), of_ruling(Ruling(None, 10)), of_ruling(Ruling(None, 200)), of_ruling(None)
('holds', 'ten runs cannot tell', '200 runs cannot tell', 'says nothing here')
>>> between(2.04, 2.51), between(19.6, 23.4), between(0.0, math.inf)
('2.0 to 2.5', '20 to 23', 'any number of')
"""

import math

from bestbefore.paper.chance import LEAST_RUNS
from bestbefore.paper.claims import Claim, claim
from bestbefore.paper.deviations import PUBLISHED
from bestbefore.paper.duels import UNTOLD, Duel, Side
from bestbefore.paper.earnings import MEMORY, Cell, Earnings
from bestbefore.paper.numbers import Economy
from bestbefore.paper.panels import Panel
from bestbefore.paper.summary import Explored, Played, RealOrder, Sought, Summary
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
        return f"{_many({10: 'ten'}.get(ruling.runs, ruling.runs), 'run')} cannot tell"
    return "holds" if ruling.holds else "does not hold"


def of_tally(one: Tally) -> str:
    """Say in how many panels a claim holds."""
    panels = _many(one.published.all, "panel")
    return (
        f"{of_claim(claim(one.claim))}: holds in {one.published.hold} of {panels} as published{_open(one.published)}, "
        f"in {one.described.hold} as described{_open(one.described)}."
    )


def of_votes(votes: Votes) -> str:
    """Say in how many of all panels something holds.

    >>> of_votes(Votes(3, 2, 1))
    '3 of 6, 1 cannot tell'
    """
    return f"{votes.hold} of {votes.all}{f', {votes.open} cannot tell' if votes.open else ''}"


def _open(votes: Votes) -> str:
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
        parts.append(f"{of_ruling(Ruling(None, duel.runs))} at {_at(len(duel.untold_at), memories)}")
    return f"{start}{'; '.join(parts)}."


def _lower(name: str, side: Side, duel: Duel, memories: int) -> str:
    times = f", {_times(duel)} in the median" if side.role == duel.lower else ""
    return f"{name} is lower at {_at(len(side.lower_at), memories)}{times}"


def _at(count: int, memories: int) -> str:
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
        f"{economy.memory} slots of ours lose {_share(economy.low, economy.high)} of what {economy.window} of theirs "
        "lose."
    )


def _share(low: float, high: float) -> str:
    """Say an interval of shares in percent.

    >>> _share(0.104, 0.271), _share(0.271, 0.273), _share(0.0, math.inf)
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


def lead(summary: Summary) -> tuple[str, ...]:
    """Say it all in a paragraph, and how to read the rest in another."""
    parts = []
    if summary.theorems:
        hold, lines = summary.theorems
        stands = "The theorems stand" if hold == lines else "Not all theorems were confirmed"
        parts.append(f"{stands}: {hold} of {lines} lines of experiments on them hold.")
    if summary.fallen:
        claims = "one claim" if len(summary.fallen) == 1 else f"{len(summary.fallen)} claims"
        never = all(summary.tally(id).described.hold == 0 for id in summary.fallen)
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
        "  A verdict rests on differences within runs and says something only with a confidence of 99%, else that the "
        "runs cannot tell."
    )
    if 0 < summary.runs < LEAST_RUNS:
        read += f"  Here there are {_many(summary.runs, 'run')} only: a first look, and no judgement."
    return (" ".join(parts), read) if parts else (read,)


def _computed_right(explored: Explored | None) -> list[str]:
    if not explored or not explored.baseline_lower.all:
        return []
    votes = explored.baseline_lower
    why = ": in random order little has to be kept for later" if 2 * votes.hold > votes.all else ""
    return [
        f"Computed right, the top-k baseline has a lower error than Bucket at every memory in {votes.hold} of "
        f"{_many(votes.all, 'panel')} of exploration{_open(votes)}{why}."
    ]


def _regret_computed_right(played: Played | None) -> list[str]:
    if not played or not played.falls.all:
        return []
    votes, (wins, duels) = played.falls, played.below_baseline
    return [
        "Computed right, the regret of reservoir and UCB falls with memory, and is nowhere a tenth higher than with "
        f"less, in {votes.hold} of {_many(votes.all, 'panel')}{_open(votes)}, and is below the baseline's {wins} times "
        f"of {duels}, counting every memory of every panel."
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
    lower, memories = explored.lower
    worse = "nowhere higher" if not explored.higher else f"higher at {explored.higher}"
    text = (
        "To know a good arm at any time: staircase.  At the same memory its error is lower than Bucket's at "
        f"{_at(lower, memories)}, counting all panels, and {worse}{_about(explored.factor)}.  Told an epsilon, it "
        "keeps Bucket's guarantee, too."
    )
    if explored.baseline_as_good:
        text += "  The baseline, computed right, is as good here, in random order; where means fall it is not."
    return text


def _about(factor: float) -> str:
    """Say a factor roughly, if it is one.

    >>> _about(23.4), _about(0.9), _about(math.inf)
    ('; in the median over panels it is about 20 times lower', '', '; in the median over panels it is 0')
    """
    if factor <= CLOSE:
        return ""
    if math.isinf(factor):
        return "; in the median over panels it is 0"
    return f"; in the median over panels it is about {float(f'{factor:.1g}'):,g} times lower"


def _to_play(played: Played) -> str:
    low, high = played.shares or (0.0, math.inf)
    return (
        "To spend traffic: staircase with MOSS.  With at most three tenths of the window as memory it loses "
        f"{_share(low, high)} of what the paper's algorithm loses with all of it."
    )


def _to_seek(sought: Sought) -> str:
    return (
        "To find the one arm that never expires: wait if there are W slots, and race if there are fewer.  Over all "
        f"memories below W, racing found it in {sought.ours_found:.0%} of {sought.runs:,} runs and lost "
        f"{sought.ours:.1%} of all there is in the mean; waiting with a sample, as described, found it in "
        f"{sought.described_found:.0%} and lost {sought.described:.1%}.  On the paper's hard instance nobody can do it."
    )


def of_earnings(earned: Earnings) -> tuple[str, ...]:
    """Say what memory costs, what the index earns, and where the staircase matters."""
    few, window, least = MEMORY[1], MEMORY[-1], MEMORY[0]

    def times(high: Cell, low: Cell) -> str:
        return between(*earned.factor(high, low))

    def cell(keep: str, pull: str, memory: int, stream: str = "two-level") -> Cell:
        return Cell(stream, keep, pull, memory)

    def against_topk(memory: int, stream: str) -> str:
        low, high = earned.factor(cell("topk", "moss", memory, stream), cell("staircase", "moss", memory, stream))
        if low <= 1 <= high:
            return "cannot be told from it"
        return f"loses {between(low, high)} times less" if low > 1 else f"loses {between(1 / high, 1 / low)} times more"

    ours = cell("staircase", "moss", few)
    return (
        f"What memory costs: staircase x moss loses {times(ours, cell('staircase', 'moss', window))} times as much "
        f"with {few} slots as with {window}, the whole window, and "
        f"{times(cell('staircase', 'moss', least), cell('staircase', 'moss', window))} times as much with {least}.  A "
        f"reservoir x ucb of {few} slots loses {times(cell('reservoir', 'ucb', few), cell('fifo', 'ucb', window))} "
        f"times what {window} do.",
        f"What the index earns: with all {window} slots, moss loses "
        f"{times(cell('fifo', 'ucb', window), cell('fifo', 'moss', window))} times less than ucb; with {few} slots "
        f"and staircase, {times(cell('staircase', 'ucb', few), ours)} times less.",
        f"Where the staircase matters: against topk, also with moss, it {against_topk(few, 'two-level')} with {few} "
        f"slots in random order, and {against_topk(least, 'two-level')} with {least}; where means fall, it "
        f"{against_topk(few, 'sawtooth')} with {few} slots, and {against_topk(least, 'sawtooth')} with {least}.",
    )


def _many(count: int | str, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
