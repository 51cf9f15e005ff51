"""The summary of a reproduction: which claims stand, which come from a slip in the code, what to use instead."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bestbefore.paper.finding import Finding
from bestbefore.paper.panels import BUDGET, Panel
from bestbefore.paper.verdicts import Numbers, Tally, Verdict, tally
from bestbefore.simulate.table import Row

SLIPS = {
    "Bucket's error is below the baseline's at every memory": (
        "In the public code the top-k baseline keeps its means in an array of whole numbers, so that every mean below "
        "1 is 0 and it cannot tell good arms from bad ones."
    ),
    "more memory does not help the baseline": (
        "This comes from the same array: a baseline that cannot rank arms gains nothing from room for more of them."
    ),
    "the paper's algorithm loses less than the baseline at every memory": (
        "The baseline of regret keeps the same array of whole numbers.  Computed right, it is better with the least "
        "memories, where its tests are short; with more, they take up the budget of whole epochs."
    ),
    "regret goes up before memory is W, and falls there": (
        "In the reservoir of the public code, arms that expire leave the list, but not the arrays of statistics beside "
        "it, so that the means and counts belong to other arms; and an arm that takes a free place is not pulled at "
        "all.  Both end only when memory holds the whole window.  It is no artifact of reservoir sampling, as the "
        "paper supposes."
    ),
}
"""What makes a claim hold as published, where it does not as described."""


FEW_RUNS = 5
"""With fewer runs of each curve a reproduction is a first look."""


@dataclass(frozen=True)
class Reproduction:
    """All that a report tells."""

    panels: tuple[Panel, ...]
    """Those that were run, in order."""
    rows: Mapping[str, Sequence[Row]]
    """By the name of the panel."""
    verdicts: Mapping[str, Verdict]
    left_out: Mapping[str, str]
    """Panels that were not run, and why."""
    findings: tuple[Finding, ...]
    """Of the theorems."""
    made: Mapping[str, str]
    """How it was made: version, seed, runs, machine, time."""
    slips: tuple[Row, ...] = ()
    """What each slip does: see `bestbefore.paper.slips`."""


@dataclass(frozen=True)
class Summary:
    """What a reader should know who reads nothing else."""

    lead: tuple[str, ...]
    """Paragraphs; the first says it all."""
    stand: tuple[str, ...]
    """Claims that hold as published and as described."""
    slips: tuple[str, ...]
    """Claims that hold as published only, and why."""
    advice: tuple[str, ...]
    """What a practitioner should use."""
    tallies: tuple[Tally, ...]


def summarise(reproduction: Reproduction) -> Summary:
    """Sum a reproduction up, by counting."""
    papers = [verdict for verdict in reproduction.verdicts.values() if not verdict.panel.in_real_order]
    tallies = tuple(tally(papers))
    stand = tuple(_counted(one) for one in tallies if one.panels and one.described == one.panels)
    slips = tuple(_counted(one) + "  " + SLIPS[one.claim] for one in _fallen(tallies))
    return Summary(tuple(_lead(reproduction, tallies)), stand, slips, tuple(_advice(reproduction)), tallies)


def _fallen(tallies: Sequence[Tally]) -> list[Tally]:
    """Return the claims that a slip makes hold more often; where there is none, a difference is chance."""
    return [one for one in tallies if one.published > one.described and one.claim in SLIPS]


def _counted(one: Tally) -> str:
    """Say in how many panels a claim holds."""
    return (
        f"“{one.claim[0].upper()}{one.claim[1:]}”: holds in {one.published} of {_many(one.panels, 'panel')} as "
        f"published, in {one.described} as described."
    )


def _rounded(factor: float) -> str:
    return f"{factor:,.0f}" if factor >= 10 else f"{factor:.1f}"


def _many(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _lead(reproduction: Reproduction, tallies: Sequence[Tally]) -> list[str]:
    """Say it all in a paragraph, and how to read the rest in another."""
    parts = []
    if reproduction.findings:
        hold = sum(finding.holds for finding in reproduction.findings)
        lines = len(reproduction.findings)
        stands = "The theorems stand" if hold == lines else "Not all theorems were confirmed"
        parts.append(f"{stands}: {hold} of {lines} lines of experiments on them hold.")
    fallen = _fallen(tallies)
    if fallen:
        claims = "one claim" if len(fallen) == 1 else f"{len(fallen)} claims"
        never = all(one.described == 0 for one in fallen)
        less = "but not" if never else "and less often or not at all"
        parts.append(
            f"The figures need a footnote: {claims} of the paper on its own figures can be seen in what its public "
            f"code draws, {less} in what its text describes."
        )
    parts += _falls(reproduction)
    read = (
        "Every panel is read three ways: as described, the algorithms of the text computed right; as published, what "
        "the authors' public code does, re-enacted in our own; and ours.  Lines are means over runs, bands their range."
    )
    runs = 1 + max((row["run"] for rows in reproduction.rows.values() for row in rows), default=FEW_RUNS)
    if runs < FEW_RUNS:
        read += f"  Here they rest on {_many(runs, 'run')} only: a first look, and no judgement."
    return [" ".join(parts), read] if parts else [read]


def _falls(reproduction: Reproduction) -> list[str]:
    """Say what the algorithms of the text do when they are computed right."""
    sentences = []
    explored = _panels(reproduction, "explore", real=False)
    if explored:
        lower = sum(_always_lower(one.of("described", baseline=True), one.of("described")) for one in explored)
        why = ": in random order little has to be kept for later" if 2 * lower > len(explored) else ""
        sentences.append(
            f"Computed right, the top-k baseline has a lower error than Bucket at every memory in {lower} of "
            f"{_many(len(explored), 'panel')} of exploration{why}."
        )
    played = _panels(reproduction, "regret", real=False)
    if played:
        steady = sum(_falls_steadily(one.of("described")) for one in played)
        duels = [pair for one in played for pair in _against_the_baseline(one)]
        wins = sum(own < baseline for own, baseline in duels)
        sentences.append(
            "Computed right, the regret of reservoir and UCB falls with memory, with no step up of more than a tenth, "
            f"in {steady} of {_many(len(played), 'panel')}, and is below the baseline's {wins} times of {len(duels)}, "
            "counting every memory of every panel."
        )
    real = [verdict for verdict in reproduction.verdicts.values() if verdict.panel.in_real_order]
    if real:
        claims = [one for verdict in real for one in verdict.judgements]
        same = sum(one.published is True and one.described is False for one in claims)
        counted = (
            f"{same} of {len(claims)} claims on {_many(len(real), 'panel')} hold as published and fall as described"
        )
        survives = "All this survives where" if sentences and same == len(claims) else "Where"
        sentences.append(f"{survives} movies arrive as they really did: {counted}.")
    return sentences


def _advice(reproduction: Reproduction) -> list[str]:
    """Say what to use, by what was measured."""
    advice = []
    explored = _panels(reproduction, "explore")
    if explored:
        never = all(ours <= theirs for one in explored for ours, theirs in _pairs(one))
        factors = [theirs / ours for one in explored for ours, theirs in _pairs(one) if ours > 0]
        factor = float(np.median(factors)) if factors else 1.0
        better = "nowhere worse than" if never else "mostly better than" if factor > 1 else "not better than"
        by = f", with an error lower by a factor of {_rounded(factor)} in the median" if factor > 1 else " here"
        advice.append(
            f"To know a good arm at any time: staircase, {better} Bucket at the same memory{by}.  Told an epsilon, it "
            f"keeps Bucket's guarantee, too.{_as_good(explored)}"
        )
    played = [panel for panel in reproduction.panels if panel.task == "regret"]
    compared = [Numbers(panel, reproduction.rows[panel.name]).at_three_tenths(panel) for panel in played]
    shares = [pair[1] / pair[2] for pair in compared if pair]
    if shares:
        least, most = f"{min(shares):.0%}", f"{max(shares):.0%}"
        between = least if least == most else f"{least} to {most}"
        advice.append(
            "To spend traffic: staircase with MOSS.  With at most three tenths of the window as memory it loses "
            f"{between} of what the paper's algorithm loses with all of it."
        )
    sought = [panel for panel in reproduction.panels if panel.task == "everlasting"]
    if sought:
        advice.append(
            f"To find the one arm that never expires: wait if there are W slots, and race if there are fewer"
            f"{_worst(reproduction, sought)}.  On the paper's hard instance nobody can do it."
        )
    return advice


def _as_good(explored: Sequence[Numbers]) -> str:
    """Say that the baseline is as good as ours, where it is, and where it is not."""
    pairs = [
        (baseline[memory], ours[memory])
        for baseline, ours in ((one.of("described", baseline=True), one.of("ours")) for one in explored)
        for memory in ours
    ]
    if np.median([theirs - 1.1 * ours for theirs, ours in pairs]) > 0:
        return ""
    return "  The baseline, computed right, is as good here, in random order; where means fall it is not."


def _worst(reproduction: Reproduction, panels: Sequence[Panel]) -> str:
    """Say what the worst runs with less memory than the window lose, as a share of all there is."""
    worst = {"ours": 0.0, "described": 0.0}
    for panel in panels:
        for row in reproduction.rows[panel.name]:
            if row["reading"] in worst and row["memory"] < panel.window:
                worst[row["reading"]] = max(worst[row["reading"]], row["regret"] / (BUDGET * panel.arms))
    ours, theirs = worst["ours"], worst["described"]
    if not ours < theirs:
        return ""
    return (
        f", which loses {ours:.1%} of all there is in its worst run here, where a sample loses {theirs:.1%} in its own"
    )


def _panels(reproduction: Reproduction, task: str, *, real: bool = True) -> list[Numbers]:
    """Return the numbers of the panels of a task, those in real order among them or not."""
    panels = [panel for panel in reproduction.panels if panel.task == task and (real or not panel.in_real_order)]
    return [Numbers(panel, reproduction.rows[panel.name]) for panel in panels]


def _pairs(numbers: Numbers) -> list[tuple[float, float]]:
    """Return our number and that of the paper's algorithm as described, for each memory."""
    ours, theirs = numbers.of("ours"), numbers.of("described")
    return [(ours[memory], theirs[memory]) for memory in ours]


def _against_the_baseline(numbers: Numbers) -> list[tuple[float, float]]:
    """Return the number of the paper's algorithm as described, and that of its baseline, for each memory."""
    own, baseline = numbers.of("described"), numbers.of("described", baseline=True)
    return [(own[memory], baseline[memory]) for memory in own]


def _always_lower(one: Mapping[int, float], other: Mapping[int, float]) -> bool:
    return all(one[memory] < other[memory] for memory in one)


def _falls_steadily(means: Mapping[int, float]) -> bool:
    """Say whether a number falls as memory grows: no step up, nor the last above the lowest, by more than a tenth."""
    values = [means[memory] for memory in sorted(means)]
    steps = itertools.pairwise(values)
    return all(later <= 1.1 * earlier for earlier, later in steps) and values[-1] <= 1.1 * min(values)
