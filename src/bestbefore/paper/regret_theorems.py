"""Theorem 3 as experiments: regret with too few slots, and with a window of them."""

from dataclasses import replace
from typing import Any

import numpy as np

from bestbefore import bounds, simulate, streams
from bestbefore.arguments import whole
from bestbefore.paper.epoch_sets import least_regret
from bestbefore.paper.exploration_theorems import NO_NOISE
from bestbefore.paper.finding import Finding, average
from bestbefore.rules import KEEP_TO_PLAY
from bestbefore.simulate import budgets as schedules
from bestbefore.simulate.epochs import Setup


def regret_lower(window: int = 21, budget: int = 1000, runs: int = 30, seed: int = 0) -> list[Finding]:
    """Theorem 3, below: with (W - 1) / 2 slots, regret on EPOCH is of order T / W or more (the paper: T / (64 W^2)).

    Every keep rule is tried, once with rewards of 0 and 1, and once without noise, where nothing has to be learnt and
    only memory is short.  Then all sets of stored arms, and what is enough: docs/theory.md has the proofs.
    """
    window = whole("window", window, at_least=3)
    arms, slots = 16 * window, (window - 1) // 2
    total = budget * (arms - window + 1)
    sharp = bounds.regret_lower_sharp(total, window, slots, arms)
    said = {
        "with (W - 1) / 2 slots, regret on EPOCH is at least T / (64 W^2)": bounds.regret_lower(total, window),
        "with (W - 1) / 2 slots, regret on EPOCH is at least about 3 T / (32 W) (ours)": sharp,
    }
    hard = streams.epoch(arms, window)
    findings = []
    for kind, stream in {"rewards 0 or 1": hard, "rewards without noise": hard.gaussian(1e-6)}.items():
        table = simulate.play(
            stream, window, budget, slots, KEEP_TO_PLAY, "moss", partial=False, runs=runs, seed=seed, progress=False
        )
        regrets = {keep: table.where(keep=keep)["regret"].tolist() for keep in KEEP_TO_PLAY}
        for statement, bound in said.items():
            rules = [
                average(
                    values,
                    at_least=bound,
                    theorem="regret-lower",
                    statement=statement,
                    setting=f"W = {window}, {slots} slots, n = 16 W = {arms}, T_j = {budget:,}, {kind}, moss",
                    measured=f"mean regret of the best keep rule ({keep})",
                )
                for keep, values in regrets.items()
            ]
            best = min(rules, key=lambda finding: finding.low)  # no rule's interval reaches lower
            findings.append(replace(best, remark=f"{best.estimate / bound:,.3g} times the bound"))
    return [*findings, _all_sets(), _known_means(window, slots, runs, seed)]


def _all_sets(windows: range = range(5, 14)) -> Finding:
    """Compare the bound of `bounds.period_regret` with the best of all sets of arms that could be stored."""
    least = {window: float(least_regret(window, (window - 1) // 2)) for window in windows}
    ratios = [regret / bounds.period_regret(window, (window - 1) // 2) for window, regret in least.items()]
    shares = ", ".join(f"{least[window] / 2:.4f}" for window in windows if window % 2)
    return average(
        [min(ratios)],
        at_least=1 - 1e-12,  # both are rounded
        theorem="regret-lower",
        statement="whichever (W - 1) / 2 arms of EPOCH are stored, regret is at least that bound (ours)",
        setting=f"all sets, all h, means known, W = {windows[0]} to {windows[-1]}, one pull an epoch",
        measured="regret of the best set over the bound, at its least",
        remark=f"{max(ratios):.3f} at most; regret W / T of the best set, W odd: {shares}, and 0.108 in the limit",
    )


def _known_means(window: int, slots: int, runs: int, seed: int) -> Finding:
    """Show what is enough where means are known: `bucket` loses 1 / m a pull at most, so it pays T / m or less."""
    arms = 16 * window
    worst: list[float] = []
    where = ""
    for stream in (streams.epoch(arms, window), streams.uniform(arms), streams.sawtooth(arms, period=2 * window)):
        known = stream.gaussian(NO_NOISE)
        seen = simulate.trace(known, window, slots, "bucket", tests=1, runs=runs, seed=seed, progress=False)
        lost = (seen.errors[:, window - 1 :].mean(axis=1) / bounds.regret_known_means(1, slots)).tolist()
        if not worst or np.mean(lost) > np.mean(worst):
            worst, where = lost, stream.name
    return average(
        worst,
        at_most=1.0,
        theorem="regret-lower",
        statement="with means known, m slots pay T / m or less (bucket), so for m up to W / 2 that is the order (ours)",
        setting=f"W = {window}, {slots} slots, n = 16 W = {arms}, three streams, rewards without noise",
        measured=f"mean regret m / T, at its worst ({where})",
    )


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
