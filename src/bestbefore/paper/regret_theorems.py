"""Theorem 3 as experiments: regret with too few slots, and with a window of them."""

from dataclasses import replace
from typing import Any

import numpy as np

from bestbefore import bounds, simulate, streams
from bestbefore.arguments import whole
from bestbefore.paper.finding import Finding, average
from bestbefore.rules import KEEP_TO_PLAY
from bestbefore.simulate import budgets as schedules
from bestbefore.simulate.epochs import Setup


def regret_lower(window: int = 21, budget: int = 1000, runs: int = 30, seed: int = 0) -> list[Finding]:
    """Theorem 3, below: with (W - 1) / 2 slots, regret on EPOCH is at least T / (64 W^2), for every keep rule.

    Once with rewards of 0 and 1, and once without noise, where nothing has to be learnt and only memory is short.
    """
    window = whole("window", window, at_least=3)
    arms, slots = 16 * window, (window - 1) // 2
    bound = bounds.regret_lower(budget * (arms - window + 1), window)
    hard = streams.epoch(arms, window)
    findings = []
    for kind, stream in {"rewards 0 or 1": hard, "rewards without noise": hard.gaussian(1e-6)}.items():
        table = simulate.play(
            stream, window, budget, slots, KEEP_TO_PLAY, "moss", partial=False, runs=runs, seed=seed, progress=False
        )
        rules = [
            average(
                table.where(keep=keep)["regret"].tolist(),
                at_least=bound,
                theorem="regret-lower",
                statement="with (W - 1) / 2 slots, regret on EPOCH is at least T / (64 W^2)",
                setting=f"W = {window}, {slots} slots, n = 16 W = {arms}, T_j = {budget:,}, {kind}, moss",
                measured=f"mean regret of the best keep rule ({keep})",
            )
            for keep in KEEP_TO_PLAY
        ]
        best = min(rules, key=lambda finding: finding.low)  # no rule's interval reaches lower
        ratio = best.estimate / bound
        remark = f"{ratio:,.0f} times the bound, which counts a single lost epoch in each 2 W: it looks loose"
        findings.append(replace(best, remark=remark))
    return findings


def regret_upper(window: int = 10, arms: int = 60, budget: int = 400, runs: int = 20, seed: int = 0) -> list[Finding]:
    """Theorem 3, above: with W slots, regret is of order sum_j sqrt(W T_j), hence of order sqrt(W (n - W + 1) T).

    `fifo` with `inf`, which the paper names, and with `moss`, each window begun afresh; with equal budgets, random ones
    and nearly all pulls in one window.  "Of order" is judged by the constants of the pull rules' own theorems:
    4 (Zimmert and Seldin 2021, Tsallis-INF) and 49 (Audibert and Bubeck 2009, MOSS).  With few pulls nobody could
    break these, so `moss`, which is fast, gets a hundred times the budget; and whoever has one slot, and so has to pull
    the newest arm, must break them.
    """
    findings = []
    for pull, constant, each in (("inf", 4.0, budget), ("moss", 49.0, 100 * budget)):
        total = each * (arms - window + 1)
        one_window = schedules.concentrated(total)
        sorts = {"equal": schedules.equal(each), "random": schedules.spread(total), "one window": one_window}
        blind = float(np.mean(_ratios(streams.uniform(arms), window, one_window, pull, total, runs, seed, slots=1)[0]))
        worst: list[float] = []
        forms: list[float] = []
        where = ""
        for stream in (streams.uniform(arms), streams.two_level(arms, window), streams.epoch(arms, window)):
            for name, sort in sorts.items():
                ratios, wide = _ratios(stream, window, sort, pull, total, runs, seed)
                forms.append(float(np.mean(wide)))
                if not worst or np.mean(ratios) > np.mean(worst):
                    worst, where = ratios, f"{stream.name}, {name} budgets"
        setting = f"fifo x {pull}, W = {window} slots, n = {arms}, T = {total:,}, three streams, three sorts of budgets"
        findings.append(
            average(
                worst,
                at_most=constant,
                theorem="regret-upper",
                statement="with W slots, regret is of order sum_j sqrt(W T_j)",
                setting=setting,
                measured=f"mean regret / sum_j sqrt(W T_j), at its worst ({where})",
                sound=max(forms) <= constant < blind,
                remark=f"over sqrt(W (n - W + 1) T), the Cauchy-Schwarz form: {max(forms):.2f} at most; with one slot, "
                f"uniform means and one window it is {blind:,.0f} times sum_j sqrt(W T_j)",
            )
        )
    return findings


def _ratios(
    stream: streams.Stream,
    window: int,
    sort: schedules.Budgets,
    pull: str,
    total: int,
    runs: int,
    seed: int,
    slots: int | None = None,
) -> tuple[list[float], list[float]]:
    """Return the regret of each run over the sum of sqrt(W T_j), and over its Cauchy-Schwarz form."""
    rules: Any = {"carry": False, "partial": False}
    memory = slots or window
    table = simulate.play(stream, window, sort, memory, "fifo", pull, runs=runs, seed=seed, progress=False, **rules)
    setup = Setup(stream, window, sort, window, "fifo", pull, **rules)
    sums = [bounds.regret_epochs(setup.budgets(seed, run).tolist(), window) for run in range(runs)]
    wide = bounds.regret_upper(total, window, stream.length)
    regrets = table["regret"].tolist()
    return [lost / size for lost, size in zip(regrets, sums, strict=True)], [lost / wide for lost in regrets]
