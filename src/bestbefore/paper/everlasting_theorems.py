"""Theorem 4 and Lemma D.2 as experiments: the best arm that never expires, with a flag and without."""

from dataclasses import replace
from typing import Any

import numpy as np

from bestbefore import simulate, streams
from bestbefore.arguments import whole
from bestbefore.paper.finding import Finding, average, share
from bestbefore.rules import strategies_of


def everlasting_explicit(window: int = 80, budget: int = 10**6, runs: int = 200, seed: int = 0) -> list[Finding]:
    """Theorem 4: with W / 8 slots, regret on SIGNAL is at least T / 120; with W slots it is 0."""
    window = whole("window", window, at_least=8)
    arms, slots = 4 * window, window // 8
    stream = streams.signal(arms, window, budget=budget)
    setting = f"SIGNAL(n, W, beta), W = {window}, n = 4 W, T = {budget:,}"
    table = simulate.seek(stream, window, budget, [slots, window], runs=runs, seed=seed, progress=False)
    wait = table.where(memory=window, strategy="wait")["regret"]
    few = _least(
        table.where(memory=slots),
        "explicit",
        at_least=budget / 120,
        theorem="everlasting-explicit",
        statement="with a flag and W / 8 slots, regret is at least T / 120",
        setting=f"{setting}, {slots} slots",
    )
    return [
        replace(few, remark=f"{few.estimate / few.bound:,.0f} times the bound"),
        average(
            wait.tolist(),
            at_most=0.0,
            theorem="everlasting-explicit",
            statement="with a flag and W slots, waiting costs nothing",
            setting=f"{setting}, {window} slots",
            measured="mean regret of wait",
        ),
    ]


def everlasting_implicit(window: int = 20, budget: int = 10**6, runs: int = 200, seed: int = 0) -> list[Finding]:
    """Lemma D.2: where nobody says who has expired, regret on SIGNAL' is T / 1800 or more, even with n - 1 slots."""
    arms = 8 * window
    stream = streams.signal_prime(arms, window, budget=budget)
    table = simulate.seek(stream, window, budget, arms - 1, flag="implicit", runs=runs, seed=seed, progress=False)
    least = _least(
        table,
        "implicit",
        at_least=budget / 1800,
        theorem="everlasting-implicit",
        statement="without a flag, regret is at least T / 1800 even with n - 1 slots",
        setting=f"SIGNAL'(n, W, beta), W = {window}, n = 8 W, T = {budget:,}, {arms - 1} slots",
    )
    times = f"{least.estimate / least.bound:,.0f} times the bound"
    return [replace(least, remark=f"{times}: the constant looks loose, or there are better strategies")]


def _least(table: simulate.Table, flag: str, **words: Any) -> Finding:
    """Return the finding of the strategy whose interval of regret reaches lowest, so that it speaks for all."""
    names = strategies_of(flag)
    best = "mean regret of the best of " + ", ".join(names)
    regrets = {name: table.where(strategy=name)["regret"].tolist() for name in names}
    findings = [average(regrets[name], measured=f"{best} ({name})", **words) for name in names]
    return min(findings, key=lambda finding: finding.low)


def sample(window: int = 40, runs: int = 500, seed: int = 0) -> list[Finding]:
    """Fewer than W slots and no pulls: a sample of m holds the best of n = W arms with probability m / W."""
    slots = whole("window", window, at_least=4) // 4
    findings = []
    for order, means in {"first": np.linspace(1, 0, window), "last": np.linspace(0, 1, window)}.items():
        table = simulate.seek(means, window, 1, slots, strategy="wait", runs=runs, seed=seed, progress=False)
        findings.append(
            share(
                int((table["regret"] == 0).sum()),
                runs,
                equal_to=slots / window,
                theorem="sample",
                statement="m of W slots that pull nothing (reservoir) hold the best arm with probability m / W",
                setting=f"n = W = {window} arms, the best one {order}, m = {slots} slots",
                measured="runs in which the best arm was stored, and so was found",
            )
        )
    return findings
