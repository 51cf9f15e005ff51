"""The summary of a reproduction in words: what a reader should know who reads nothing else, and what to use."""

import math

from bestbefore.paper.chance import LEAST_RUNS
from bestbefore.paper.costs import Costed
from bestbefore.paper.earnings import MEMORY, Cell, Earnings
from bestbefore.paper.summary import Explored, Played, RealOrder, Sought, Summary
from bestbefore.paper.words import CLOSE, at, between, cannot_tell, capital, many, share


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
        read += f"  Here there are {many(summary.runs, 'run')} only: a first look, and no judgement."
    return (" ".join(parts), read) if parts else (read,)


def _computed_right(explored: Explored | None) -> list[str]:
    if not explored or not explored.baseline_lower.all:
        return []
    votes = explored.baseline_lower
    why = ": in random order little has to be kept for later" if 2 * votes.hold > votes.all else ""
    return [
        f"Computed right, the top-k baseline has a lower error than Bucket at every memory in {votes.hold} of "
        f"{many(votes.all, 'panel')} of exploration{cannot_tell(votes)}{why}."
    ]


def _regret_computed_right(played: Played | None) -> list[str]:
    if not played or not played.falls.all:
        return []
    votes, (wins, duels) = played.falls, played.below_baseline
    return [
        "Computed right, the regret of reservoir and UCB falls with memory, and is nowhere a tenth higher than with "
        f"less, in {votes.hold} of {many(votes.all, 'panel')}{cannot_tell(votes)}, and is below the baseline's {wins} "
        f"times of {duels}, counting every memory of every panel."
    ]


def _in_real_order(real: RealOrder | None, *, survives: bool) -> list[str]:
    if not real:
        return []
    same, claims = real.only_published
    start = "All this survives where" if survives and same == claims else "Where"
    return [
        f"{start} movies arrive as they really did: {same} of {claims} claims on {many(real.panels, 'panel')} hold as "
        "published and fall as described."
    ]


def advice(summary: Summary) -> tuple[str, ...]:
    """Say what to use, by what was measured."""
    told = []
    if summary.explored:
        told.append(_to_explore(summary.explored))
    if summary.costed:
        told.append(_to_promise(summary.costed))
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
        f"{at(lower, memories)}, counting all panels, and {worse}{_about(explored.factor)}.  Told an epsilon, it "
        "keeps Bucket's guarantee, too."
    )
    if explored.baseline_as_good:
        text += "  The baseline, computed right, is as good here, in random order; where means fall it is not."
    return text


def _to_promise(costed: Costed) -> str:
    return (
        "To promise an epsilon with few pulls: staircase with certificates.  For the same epsilon, delta and slots it "
        f"takes {between(*costed.fewer)} times fewer pulls than Algorithm 1, and {_worst(costed)}."
    )


def _worst(costed: Costed) -> str:
    """Say whether certified answers were within epsilon."""
    if costed.above:
        return (
            f"its worst error was above epsilon in {costed.above} of {many(costed.settings, 'setting')}, up to "
            f"{costed.worst:.0%} of it"
        )
    return f"its worst error at any time of any run was {costed.worst:.0%} of epsilon"


def of_costs(costed: Costed) -> tuple[str, ...]:
    """Say how many pulls certificates save, whether they keep their word, and what is given up."""
    means = (
        f"in the median, the mean error is {_percent(costed.mean)} of epsilon, that of Algorithm 1 "
        f"{_percent(costed.mean_of_paper)}, and that of fixed tests by pairs, with "
        f"{between(*costed.fewer_than_pairs)} times as many pulls, {_percent(costed.mean_by_pairs)}"
    )
    answers = "all answers" if costed.certified == 1 else f"at least {costed.certified:.1%} of answers"
    more = ": in each panel the more, the smaller epsilon is" if costed.more_with_less else ""
    given_up = (
        f"What is given up: a certificate ends where epsilon is reached.  {capital(means)}."
        if costed.mean > costed.mean_by_pairs
        else f"Nothing is given up here: {means}."
    )
    return (
        f"What is saved: certificates take {between(*costed.fewer)} times fewer pulls than Algorithm 1, over "
        f"{many(costed.settings, 'setting')} of {many(costed.panels, 'panel')}{more}.",
        f"What is kept: {answers} were certified, and {_worst(costed).replace('its', 'the')}.",
        given_up,
    )


def _percent(share: float) -> str:
    """Say a share in percent, with a digit after the point where it is small.

    >>> _percent(0.183), _percent(0.0042)
    ('18%', '0.4%')
    """
    return f"{share:.0%}" if share >= 0.1 else f"{share:.1%}"


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
        f"{share(low, high)} of what the paper's algorithm loses with all of it."
    )


def _to_seek(sought: Sought) -> str:
    return (
        "To find the one arm that never expires: wait if there are W slots, and race if there are fewer.  Below W, "
        f"with {many(sought.runs, 'run')} at each memory of each panel, racing found it in "
        f"{sought.ours_found:.0%} of them and lost {sought.ours:.1%} of all there is in the mean; waiting with a "
        f"sample, as described, found it in {sought.described_found:.0%} and lost {sought.described:.1%}.  On the "
        "paper's hard instance nobody can do it."
    )


def of_earnings(earned: Earnings) -> tuple[str, ...]:
    """Say what memory costs, what the index earns, and where the keep rule matters."""
    few, window, least = MEMORY[1], MEMORY[-1], MEMORY[0]

    def times(high: Cell, low: Cell) -> str:
        return between(*earned.factor(high, low))

    def cell(keep: str, pull: str, memory: int, stream: str = "two-level") -> Cell:
        return Cell(stream, keep, pull, memory)

    def against_topk(memory: int, stream: str) -> str:
        low, high = earned.factor(cell("topk", "fresh", memory, stream), cell("heirs", "fresh", memory, stream))
        if low <= 1 <= high:
            return "cannot be told from it"
        return f"loses {between(low, high)} times less" if low > 1 else f"loses {between(1 / high, 1 / low)} times more"

    ours = cell("heirs", "fresh", few)
    return (
        f"What memory costs: heirs x fresh loses {times(ours, cell('heirs', 'fresh', window))} times as much "
        f"with {few} slots as with {window}, the whole window, and "
        f"{times(cell('heirs', 'fresh', least), cell('heirs', 'fresh', window))} times as much with {least}.  A "
        f"reservoir x ucb of {few} slots loses {times(cell('reservoir', 'ucb', few), cell('fifo', 'ucb', window))} "
        f"times what {window} do.",
        f"What the index earns: with all {window} slots, moss loses "
        f"{times(cell('fifo', 'ucb', window), cell('fifo', 'moss', window))} times less than ucb, and fresh "
        f"{times(cell('fifo', 'ucb', window), cell('fifo', 'fresh', window))} times less; with {few} slots and heirs, "
        f"fresh loses {times(cell('heirs', 'ucb', few), ours)} times less than ucb.",
        f"Where the keep rule matters: against topk, also with fresh, heirs {against_topk(few, 'two-level')} with "
        f"{few} slots in random order, and {against_topk(least, 'two-level')} with {least}; where means fall, it "
        f"{against_topk(few, 'sawtooth')} with {few} slots, and {against_topk(least, 'sawtooth')} with {least}.",
    )
