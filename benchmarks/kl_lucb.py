"""Certified exploration against KL-LUCB, in pulls an arrival.

    python benchmarks/kl_lucb.py [epsilon ...]

KL-LUCB finds an arm within epsilon of the best of K with probability 1 - delta: E. Kaufmann and S. Kalyanakrishnan,
"Information complexity in bandit subset selection", COLT 2013.  After one pull of each arm, round t pulls two arms, the
one of the highest mean and the one of the highest upper bound among the others, until the upper bound of the second is
less than epsilon above the lower bound of the first.  Bounds are those of Chernoff: pulls * kl(mean, bound) is
ln(k1 K t^alpha / delta), with alpha = 1.1 and k1 = 405.5 as in Section 5 of their paper.

It knows no windows.  *Afresh*: all W arms are stored, and at each arrival it starts from nothing.  *Carried over*: the
arms keep their pulls from window to window, and t is the round that so many pulls belong to.  Their proof does not
cover that, but nothing cheaper could be made of it without new bounds.  Both store W arms.
"""

import math
import sys
from typing import Any, Final

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from bestbefore import bounds
from bestbefore._jit import njit
from bestbefore.divergence import upper_bound
from bestbefore.paper.trials import Trial, eleven_streams, run_trials, unlimited
from bestbefore.probe.certificates import settings_of
from bestbefore.simulate.certify_loop import PEAK, PULLS, logs_of

ALPHA: Final = 1.1
K1: Final = 405.5
GROWTH: Final = 1.01
"""Bounds of arms that were not pulled are computed anew when t has grown by a hundredth, and before the end."""
DELTA: Final = 0.05
WINDOW: Final = 50
PERIODS: Final = 10
"""The length of a stream, in windows."""
SAMPLED: Final = 20
"""Windows that KL-LUCB is run on afresh."""
RUNS: Final = 4


@njit
def bounds_of(pulls: Any, totals: Any, arm: int, log: float, lower: Any, upper: Any) -> None:
    """Compute both bounds of an arm."""
    upper[arm] = upper_bound(pulls[arm], totals[arm], log)
    lower[arm] = 1 - upper_bound(pulls[arm], pulls[arm] - totals[arm], log)


@njit
def rate(t: float, arms: int, delta: float) -> float:
    """Return beta(t, delta)."""
    return math.log(K1 * arms / delta) + ALPHA * math.log(t)


@njit
def two_arms(pulls: Any, totals: Any, upper: Any) -> tuple[int, int]:
    """Return the arm of the highest mean, and of the others that of the highest upper bound, -1 if there is none."""
    leader, best, rival = 0, -1.0, -1
    for arm in range(pulls.size):
        if totals[arm] / pulls[arm] > best:
            leader, best = arm, totals[arm] / pulls[arm]
    for arm in range(pulls.size):
        if arm != leader and (rival < 0 or upper[arm] > upper[rival]):
            rival = arm
    return leader, rival


@njit
def kl_lucb(means: Any, pulls: Any, totals: Any, epsilon: float, delta: float, rng: np.random.Generator) -> int:
    """Pull arms until one is within epsilon of the best; count them in `pulls` and `totals`, return how many."""
    arms, made = means.size, 0
    lower, upper = np.zeros(arms), np.ones(arms)
    for arm in range(arms):
        if pulls[arm] == 0:
            pulls[arm], totals[arm] = 1, 1.0 if rng.random() < means[arm] else 0.0
            made += 1
    t, seen = (pulls.sum() - arms) / 2 + 1, 0.0
    while True:
        if t >= GROWTH * seen:
            seen = t
            for arm in range(arms):
                bounds_of(pulls, totals, arm, rate(t, arms, delta), lower, upper)
        leader, rival = two_arms(pulls, totals, upper)
        if rival < 0:
            return made
        if upper[rival] - lower[leader] < epsilon:
            if seen == t:
                return made
            seen = 0.0
            continue
        t += 1
        for arm in (leader, rival):
            pulls[arm] += 1
            totals[arm] += 1.0 if rng.random() < means[arm] else 0.0
            bounds_of(pulls, totals, arm, rate(t, arms, delta), lower, upper)
        made += 2


@njit
def afresh(means: Any, window: int, times: Any, epsilon: float, delta: float, rng: np.random.Generator) -> float:
    """Return the pulls of a window that starts from nothing, on average over the windows that end at some times."""
    made = 0
    for time in times:
        made += kl_lucb(means[time - window : time], np.zeros(window), np.zeros(window), epsilon, delta, rng)
    return made / times.size


@njit
def carried_over(means: Any, window: int, epsilon: float, delta: float, rng: np.random.Generator) -> float:
    """Return the pulls an arrival where arms keep their pulls from window to window."""
    made, pulls, totals = 0, np.zeros(means.size), np.zeros(means.size)
    for time in range(1, means.size + 1):
        start = max(time - window, 0)
        made += kl_lucb(means[start:time], pulls[start:time], totals[start:time], epsilon, delta, rng)
    return made / means.size


def compare(console: Console, epsilon: float) -> None:
    """Print a table of pulls an arrival, for one epsilon."""
    arms, few = PERIODS * WINDOW, min(bounds.memory(epsilon), WINDOW)
    table = Table(title=f"Pulls an arrival: W = {WINDOW}, n = {arms}, epsilon = {epsilon}, delta = {DELTA}, weak")
    ours = [f"certify, {few} slots"] + ([f"certify, {WINDOW} slots"] if few < WINDOW else [])
    for column in ("stream", *ours, "stored", "KL-LUCB afresh", "ratios", "KL-LUCB carried over", "ratios"):
        table.add_column(column, justify="right")
    logs = logs_of(WINDOW, DELTA, "weak", arms)
    for name, stream in track(list(eleven_streams(arms, WINDOW, epsilon).items()), console=console, transient=True):
        settings = [settings_of(epsilon, slots, stream.noise, whole=slots == WINDOW) for slots in {few, WINDOW}]
        settings.sort(key=lambda one: one.slots)
        seen = run_trials([Trial(stream, WINDOW, logs, one, unlimited(RUNS)) for one in settings])
        certify = [float(one.counts[:, PULLS].sum() / (RUNS * arms)) for one in seen]
        stored = int(seen[0].counts[:, PEAK].max())
        rng = np.random.default_rng(1)
        (means,) = (block.means for block in stream.blocks(rng))
        times = np.linspace(WINDOW, arms, SAMPLED).astype(np.int64)
        lucb = afresh(means, WINDOW, times, epsilon, DELTA, rng), carried_over(means, WINDOW, epsilon, DELTA, rng)
        cells = [f"{one:,.0f}" for one in certify] + [str(stored)]
        for other in lucb:
            cells += [f"{other:,.0f}", ", ".join(f"{one / other:.2g}" for one in certify)]
        table.add_row(name, *cells)
    console.print(table)
    console.print(f"stored: by certify, at most; KL-LUCB stores {WINDOW}.  Ratios: pulls of certify over its pulls.")


if __name__ == "__main__":
    for told in sys.argv[1:] or ["0.2", "0.1", "0.05"]:
        compare(Console(width=160), float(told))
