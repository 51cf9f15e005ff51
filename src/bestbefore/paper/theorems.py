"""Every theorem of the paper as an experiment: what it says, what we measured, and whether it holds.

A lower bound speaks of all algorithms, and no experiment can prove that: what is shown is that none of ours breaks it.

>>> [finding.verdict for finding in run(["reduction"], runs=80)]
['holds']
"""

from collections.abc import Callable, Iterable

from bestbefore.arguments import one_of, whole
from bestbefore.paper.certificate_theorems import certificates, certified_pulls, gap
from bestbefore.paper.everlasting_theorems import everlasting_explicit, everlasting_implicit, sample
from bestbefore.paper.exploration_theorems import exact_memory, guarantees, reduction, separation
from bestbefore.paper.finding import Finding
from bestbefore.paper.keeping_theorems import king, slices, stairs
from bestbefore.paper.merge_theorems import merged_parts, small_means
from bestbefore.paper.pair_theorems import fixed_tests
from bestbefore.paper.regret_theorems import regret_lower, regret_upper
from bestbefore.paper.time_theorems import windows_by_time
from bestbefore.paper.top_theorems import best_k
from bestbefore.progress import progress_bar

CAVEAT = (
    "A lower bound speaks of all algorithms, which no experiment can try: 'holds' says that none of ours breaks it.  "
    "Intervals are at 99%, each for itself."
)

THEOREMS: dict[str, Callable[..., list[Finding]]] = {
    "exact-memory": exact_memory,
    "guarantees": guarantees,
    "slices": slices,
    "separation": separation,
    "reduction": reduction,
    "regret-lower": regret_lower,
    "regret-upper": regret_upper,
    "everlasting-explicit": everlasting_explicit,
    "everlasting-implicit": everlasting_implicit,
    "sample": sample,
    "king": king,
    "stairs": stairs,
    "certificates": certificates,
    "gap": gap,
    "certified-pulls": certified_pulls,
    "fixed-tests": fixed_tests,
    "best-k": best_k,
    "windows-by-time": windows_by_time,
    "merged-parts": merged_parts,
    "small-means": small_means,
}
"""The experiments by name."""


def run(
    names: Iterable[str] | None = None, *, runs: int | None = None, seed: int = 0, progress: bool | None = None
) -> list[Finding]:
    """Run the experiments of these names, or all; `runs` replaces how often each is repeated."""
    chosen = list(THEOREMS) if names is None else [one_of("theorem", name, THEOREMS) for name in names]
    settings = {"seed": whole("seed", seed, at_least=0)}
    if runs is not None:
        settings["runs"] = whole("runs", runs, at_least=2)
    findings: list[Finding] = []
    with progress_bar("theorems", len(chosen), progress) as advance:
        for name in chosen:
            findings += THEOREMS[name](**settings)
            advance()
    return findings
