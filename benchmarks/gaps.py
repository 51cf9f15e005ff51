"""Regret against gaps: the tables of docs/theory.md, "Measured", in the same form.

    python benchmarks/gaps.py [--runs N]

The default pair is that of `plan/defaults.py`, whatever it is.
"""

import argparse
import math

import numpy as np
from rich.progress import track

from bestbefore import gap_bounds, plan, simulate, streams

ARMS, WINDOW = 200, 20
BUDGETS = (100, 1000, 10_000)
GAPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5)
FEW = 6
"""Slots of the default pair, beside the whole window."""
QUIET = {"progress": False}


def row(*cells: object) -> None:
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def head(*cells: str) -> None:
    row(*cells)
    print("|---" + "|---:" * (len(cells) - 1) + "|", flush=True)


def measured(stream: streams.Stream, budget: int, memory: int, keep: str, pull: str, runs: int, **more: bool) -> float:
    """Return the mean regret of a pair."""
    table = simulate.play(stream, WINDOW, budget, memory, keep, pull, runs=runs, **QUIET, **more)
    return float(table["regret"].mean())


def bound(found: simulate.Gaps, budget: int, pull: str, most: float) -> float:
    """Return what is proved of `fifo` with the whole window, or `most` if that is less."""
    budgets = np.full(found.valid.size, budget)
    levels = {
        "ucb": gap_bounds.ucb_levels(found.valid, budgets, plan.PLAY_DELTA),
        "kl_ucb": gap_bounds.kl_ucb_levels(budgets),
    }
    return min(gap_bounds.regret(found.of_arms, found.least, found.valid, budgets, levels[pull]), most)


def carried(runs: int) -> None:
    """Print what it is worth to carry statistics over, beside c ln T of all windows, and the bound."""
    stream = streams.uniform(ARMS)
    print(f"\nUniform means, n = {ARMS}, W = {WINDOW}, {WINDOW} slots, {runs} runs\n")
    head("T_j", "rule", "carried over", "begun anew", "sum of c ln T", "bound, carried over")
    found = [simulate.gaps(stream, WINDOW, run=run) for run in range(runs)]
    for budget in BUDGETS:
        yardstick = np.mean([one.constant.sum() for one in found]) * math.log(budget)
        for pull in ("kl_ucb", "ucb"):
            regrets = [measured(stream, budget, WINDOW, "fifo", pull, runs, carry=carry) for carry in (True, False)]
            proved = np.mean([bound(one, budget, pull, math.inf) for one in found])
            says = f"{proved:,.0f}" if proved < budget * ARMS / 2 else "-"
            row(f"{budget:,}", f"`{pull}`", *(f"{regret:,.0f}" for regret in regrets), f"{yardstick:,.0f}", says)


def by_gap(budget: int, runs: int) -> None:
    """Print regret on two levels, 0.5 and 0.5 + gap, by the default pair and by the rules that have a proof."""
    default = (plan.PLAY_KEEP, plan.PLAY_PULL)
    print(f"\nTwo levels, n = {ARMS}, W = {WINDOW}, T_j = {budget:,}, {runs} runs: regret for each arrival\n")
    named = " x ".join(f"`{rule}`" for rule in default)
    pairs = [(FEW, *default), (WINDOW, *default), (WINDOW, "fifo", "kl_ucb"), (WINDOW, "fifo", "ucb")]
    titles = [
        f"{named}, {FEW} slots",
        f"{named}, {WINDOW} slots",
        "`fifo` x `kl_ucb`",
        "bound",
        "`fifo` x `ucb`",
        "bound",
    ]
    head("gap", "at random", *titles)
    for gap in track(GAPS, "gaps", transient=True):
        stream = streams.two_level(ARMS, WINDOW, high=0.5 + gap, low=0.5)
        found = [simulate.gaps(stream, WINDOW, run=run) for run in range(runs)]
        regrets = [measured(stream, budget, *pair, runs) for pair in pairs]
        proved = [
            np.mean([bound(one, budget, pull, gap * budget * ARMS) for one in found]) for pull in ("kl_ucb", "ucb")
        ]
        blind = np.mean([blind_loss(stream, run, budget) for run in range(runs)])
        says = [f"{number / ARMS:,.0f}" if number < blind else "-" for number in proved]
        cells = [f"{regret / ARMS:,.1f}" for regret in regrets]
        row(f"{gap:g}", f"{blind / ARMS:,.0f}", *cells[:3], says[0], cells[3], says[1])


def blind_loss(stream: streams.Stream, run: int, budget: int) -> float:
    """Return what pulling valid arms at random loses: the mean gap, at each pull."""
    table = simulate.play(stream, WINDOW, 1, 1, "fifo", "ucb", runs=[run], **QUIET)
    return budget * float(table["regret"][0])  # the newest arm is as good as one at random


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=20)
    runs = parser.parse_args().runs
    carried(runs)
    for budget in (1000, 100_000):
        by_gap(budget, runs)
