"""The summary of a reproduction, by counting: which claims stand, which come from a slip, what to use instead.

It is data; `bestbefore.paper.words` makes sentences of it.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bestbefore.paper.chance import below
from bestbefore.paper.claims import TENTH, claim
from bestbefore.paper.costs import Costed, Costs
from bestbefore.paper.duels import Duel
from bestbefore.paper.finding import Finding
from bestbefore.paper.numbers import Numbers, Which
from bestbefore.paper.panels import BUDGET, Panel
from bestbefore.paper.verdicts import Tally, Verdict, Votes, tally
from bestbefore.simulate.table import Row

OURS: Which = ("ours", "ours")
BASELINE: Which = ("described", "baseline")
PAPERS: Which = ("described", "paper")


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
    runs: int
    """Of each curve in the figures; verdicts may rest on more."""
    slips: tuple[Row, ...] = ()
    """What each slip does: see `bestbefore.paper.slips`."""
    earnings: tuple[Row, ...] = ()
    """What each keep rule, pull rule and memory loses: see `bestbefore.paper.earnings`."""
    costs: tuple[Row, ...] = ()
    """What an epsilon costs in pulls: see `bestbefore.paper.costs`."""


class Count(NamedTuple):
    """How many of how many."""

    hits: int
    of: int


@dataclass(frozen=True)
class Explored:
    """What was seen of exploration."""

    baseline_lower: Votes
    """Panels of the paper in which the baseline, as described, is lower than Bucket at every memory."""
    lower: Count
    """Memories, over all panels, at which ours is lower than Bucket, as described."""
    higher: int
    """Memories at which it is higher; at the others the runs cannot tell."""
    factor: float
    """How many times lower ours is, in the median over panels of the median over memories."""
    baseline_as_good: bool
    """Whether the baseline, as described, is within a tenth of ours in the median."""


@dataclass(frozen=True)
class Played:
    """What was seen of regret."""

    falls: Votes
    """Panels of the paper in which regret, as described, is nowhere a tenth higher than with less memory."""
    below_baseline: Count
    """Memories, over panels of the paper, at which it is below the baseline's."""
    shares: tuple[float, float] | None
    """What ours loses with a few slots, as a share of what theirs does with W: from the least to the most that the
    panels allow for."""


@dataclass(frozen=True)
class Sought:
    """What is lost below W of all there is, and how often the arm is found: means over runs, memories and panels."""

    ours: float
    described: float
    ours_found: float
    described_found: float
    runs: int
    """Of each curve at each memory."""


@dataclass(frozen=True)
class RealOrder:
    """Panels beyond the paper, in which arms arrive as they really did."""

    only_published: Count
    """Claims that hold as published and fall as described, of all judgements."""
    panels: int


@dataclass(frozen=True)
class Summary:
    """What a reader should know who reads nothing else; None where nothing was run."""

    theorems: Count | None
    """Lines of experiments on theorems that hold."""
    tallies: tuple[Tally, ...]
    stand: tuple[str, ...]
    """Ids of the claims that hold in all panels, as described."""
    fallen: tuple[str, ...]
    """Ids of the claims that a slip makes hold more often than they do as described."""
    explored: Explored | None
    played: Played | None
    sought: Sought | None
    real_order: RealOrder | None
    costed: Costed | None
    runs: int
    """Of each curve in the figures."""

    def tally(self, id: str) -> Tally:
        """Return the tally of a claim."""
        claim(id)
        for one in self.tallies:
            if one.claim == id:
                return one
        raise KeyError(f"claim {id!r} is on a task that was not run")


def summarise(reproduction: Reproduction) -> Summary:
    """Sum a reproduction up, by counting."""
    verdicts, findings = reproduction.verdicts.values(), reproduction.findings
    tallies = tuple(tally([verdict for verdict in verdicts if not verdict.panel.in_real_order]))
    return Summary(
        theorems=Count(sum(finding.holds for finding in findings), len(findings)) if findings else None,
        tallies=tallies,
        stand=tuple(one.claim for one in tallies if one.described.all and one.described.hold == one.described.all),
        fallen=tuple(one.claim for one in tallies if _falls(one)),
        explored=_explored(reproduction),
        played=_played(reproduction),
        sought=_sought(reproduction),
        real_order=_real_order([verdict for verdict in verdicts if verdict.panel.in_real_order]),
        costed=Costs(reproduction.costs).summed() if reproduction.costs else None,
        runs=reproduction.runs if reproduction.panels else 0,
    )


def _falls(one: Tally) -> bool:
    """Say whether a claim holds more often as published, where a slip explains it, and fails as described somewhere."""
    return one.published.hold > one.described.hold and one.described.fall > 0 and claim(one.claim).slip is not None


def _explored(reproduction: Reproduction) -> Explored | None:
    every = _numbers(reproduction, "explore")
    if not every:
        return None
    papers = [one for one in every if not one.panel.in_real_order]
    ours = _duels(reproduction, "explore", "ours")
    medians = [float(np.median(_ratio(one, PAPERS, OURS))) for one in every]
    beside = [ratio for one in every for ratio in _ratio(one, BASELINE, OURS)]
    return Explored(
        Votes.of(_below(one, BASELINE, PAPERS) for one in papers),
        lower=Count(sum(len(duel.side("ours").lower_at) for duel in ours), sum(len(one.panel.memory) for one in every)),
        higher=sum(len(duel.side("paper").lower_at) for duel in ours),
        factor=float(np.median(medians)),
        baseline_as_good=bool(np.median(beside) <= 1 + TENTH),
    )


def _played(reproduction: Reproduction) -> Played | None:
    every = _numbers(reproduction, "regret")
    if not every:
        return None
    papers = [one for one in every if not one.panel.in_real_order]
    described = list(_duels(reproduction, "regret", "described", papers_only=True))
    economies = [economy for one in every if (economy := one.economy)]
    shares = (min(one.low for one in economies), max(one.high for one in economies)) if economies else None
    return Played(
        Votes.of(_falls_with_memory(one) for one in papers),
        Count(
            sum(len(duel.side("paper").lower_at) for duel in described), sum(len(one.panel.memory) for one in papers)
        ),
        shares,
    )


def _sought(reproduction: Reproduction) -> Sought | None:
    panels = [panel for panel in reproduction.panels if panel.task == "everlasting"]
    lost: dict[str, list[float]] = {"ours": [], "described": []}
    found: dict[str, list[bool]] = {"ours": [], "described": []}
    runs = 0
    for panel in panels:
        for row in reproduction.rows[panel.name]:
            if row["reading"] in lost and row["memory"] < panel.window:
                lost[row["reading"]].append(row["regret"] / (BUDGET * panel.arms))
                found[row["reading"]].append(row["found"])
                runs = max(runs, row["run"] + 1)
    if not lost["ours"]:
        return None
    means = {reading: float(np.mean(values)) for reading, values in lost.items()}
    shares = {f"{reading}_found": float(np.mean(values)) for reading, values in found.items()}
    return Sought(**means, **shares, runs=runs)


def _real_order(verdicts: Sequence[Verdict]) -> RealOrder | None:
    if not verdicts:
        return None
    judgements = [one for verdict in verdicts for one in verdict.judgements]
    only = sum(
        bool(one.published and one.described and one.published.holds is True and one.described.holds is False)
        for one in judgements
    )
    return RealOrder(Count(only, len(judgements)), len(verdicts))


def _numbers(reproduction: Reproduction, task: str) -> list[Numbers]:
    """Return the numbers of the panels of a task."""
    panels = [panel for panel in reproduction.panels if panel.task == task]
    return [Numbers(panel, reproduction.rows[panel.name]) for panel in panels]


def _duels(reproduction: Reproduction, task: str, reading: str, *, papers_only: bool = False) -> list[Duel]:
    """Return the duels of a reading in the panels of a task."""
    verdicts = [one for one in reproduction.verdicts.values() if one.panel.task == task]
    chosen = [one for one in verdicts if not (papers_only and one.panel.in_real_order)]
    return [duel for verdict in chosen for duel in verdict.duels if duel.reading == reading]


def _ratio(numbers: Numbers, one: Which, other: Which) -> list[float]:
    """Return how many times higher the one is than the other, for each memory; 0 and 0 are level."""
    own, their = numbers.paired(one, other)
    means = [(own[memory].mean(), their[memory].mean()) for memory in own]
    return [1.0 if high == low else float(high / low) if low else np.inf for high, low in means]


def _below(numbers: Numbers, one: Which, other: Which) -> bool | None:
    """Say whether the one is below the other at every memory."""
    own, their = numbers.paired(one, other)
    return below({memory: own[memory] - their[memory] for memory in own})


def _falls_with_memory(numbers: Numbers) -> bool | None:
    """Say whether regret, as described, is at no memory a tenth higher than at a smaller one."""
    regrets = numbers.runs(*PAPERS)
    pairs = itertools.combinations(sorted(regrets), 2)
    return below({pair: regrets[pair[1]] - (1 + TENTH) * regrets[pair[0]] for pair in pairs})
