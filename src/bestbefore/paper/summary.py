"""The summary of a reproduction, by counting: which claims stand, which come from a slip, what to use instead.

It is data; `bestbefore.paper.words` makes sentences of it.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bestbefore.paper.claims import claim
from bestbefore.paper.finding import Finding
from bestbefore.paper.numbers import Numbers
from bestbefore.paper.panels import BUDGET, Panel
from bestbefore.paper.verdicts import Tally, Verdict, tally
from bestbefore.simulate.table import Row


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


class Count(NamedTuple):
    """How many of how many."""

    hits: int
    of: int


@dataclass(frozen=True)
class Explored:
    """What was seen of exploration."""

    baseline_lower: Count
    """Panels of the paper in which the baseline, as described, is lower than Bucket at every memory."""
    never_worse: bool
    """Whether ours is at most Bucket's, as described, at every memory of every panel."""
    factor: float
    """How many times lower ours is, in the median over memories and panels."""
    baseline_as_good: bool
    """Whether the baseline, as described, is within a tenth of ours in the median."""


@dataclass(frozen=True)
class Played:
    """What was seen of regret."""

    falls_steadily: Count
    """Panels of the paper in which regret, as described, falls with memory."""
    below_baseline: Count
    """Memories, over panels of the paper, at which it is below the baseline's."""
    shares: tuple[float, ...]
    """What ours loses with a few slots, as a share of what theirs does with W, for each panel that can tell."""


@dataclass(frozen=True)
class Sought:
    """What the worst runs below W lose of all there is, where the best arm never expires."""

    ours: float
    described: float


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
    runs: int
    """Of each curve; 0 if there are none."""

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
        stand=tuple(one.claim for one in tallies if one.panels and one.described == one.panels),
        fallen=tuple(one.claim for one in tallies if one.published > one.described and claim(one.claim).slip),
        explored=_explored(reproduction),
        played=_played(reproduction),
        sought=_sought(reproduction),
        real_order=_real_order([verdict for verdict in verdicts if verdict.panel.in_real_order]),
        runs=1 + max((row["run"] for rows in reproduction.rows.values() for row in rows), default=-1),
    )


def _explored(reproduction: Reproduction) -> Explored | None:
    every = _numbers(reproduction, "explore")
    if not every:
        return None
    papers = [one for one in every if not one.panel.in_real_order]
    lower = sum(
        all(baseline < own for own, baseline in _pairs(one, ("described", False), ("described", True)))
        for one in papers
    )
    pairs = [pair for one in every for pair in _pairs(one, ("ours", False), ("described", False))]
    factors = [theirs / ours for ours, theirs in pairs if ours > 0]
    beside = [pair for one in every for pair in _pairs(one, ("ours", False), ("described", True))]
    return Explored(
        Count(lower, len(papers)),
        never_worse=all(ours <= theirs for ours, theirs in pairs),
        factor=float(np.median(factors)) if factors else 1.0,
        baseline_as_good=bool(np.median([baseline - 1.1 * ours for ours, baseline in beside]) <= 0),
    )


def _played(reproduction: Reproduction) -> Played | None:
    every = _numbers(reproduction, "regret")
    if not every:
        return None
    papers = [one for one in every if not one.panel.in_real_order]
    duels = [pair for one in papers for pair in _pairs(one, ("described", False), ("described", True))]
    return Played(
        Count(sum(_falls_steadily(one.of("described")) for one in papers), len(papers)),
        Count(sum(own < baseline for own, baseline in duels), len(duels)),
        tuple(economy.share for one in every if (economy := one.economy)),
    )


def _sought(reproduction: Reproduction) -> Sought | None:
    panels = [panel for panel in reproduction.panels if panel.task == "everlasting"]
    if not panels:
        return None
    worst = {"ours": 0.0, "described": 0.0}
    for panel in panels:
        for row in reproduction.rows[panel.name]:
            if row["reading"] in worst and row["memory"] < panel.window:
                worst[row["reading"]] = max(worst[row["reading"]], row["regret"] / (BUDGET * panel.arms))
    return Sought(**worst)


def _real_order(verdicts: Sequence[Verdict]) -> RealOrder | None:
    if not verdicts:
        return None
    judgements = [one for verdict in verdicts for one in verdict.judgements]
    only = sum(one.published is True and one.described is False for one in judgements)
    return RealOrder(Count(only, len(judgements)), len(verdicts))


def _numbers(reproduction: Reproduction, task: str) -> list[Numbers]:
    """Return the numbers of the panels of a task."""
    panels = [panel for panel in reproduction.panels if panel.task == task]
    return [Numbers(panel, reproduction.rows[panel.name]) for panel in panels]


def _pairs(numbers: Numbers, one: tuple[str, bool], other: tuple[str, bool]) -> list[tuple[float, float]]:
    """Return the means of two curves, named by reading and whether they are the baseline, for each memory."""
    own, their = (numbers.of(reading, baseline=baseline) for reading, baseline in (one, other))
    return [(own[memory], their[memory]) for memory in own]


def _falls_steadily(means: Mapping[int, float]) -> bool:
    """Say whether a number falls as memory grows: no step up, nor the last above the lowest, by more than a tenth."""
    values = [means[memory] for memory in sorted(means)]
    steps = itertools.pairwise(values)
    return all(later <= 1.1 * earlier for earlier, later in steps) and values[-1] <= 1.1 * min(values)
