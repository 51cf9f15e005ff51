"""The theorems on exploration, as experiments: exact, weak, strong and anytime, their separation, the reduction."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from bestbefore import bounds, simulate, streams
from bestbefore.agents import Explorer
from bestbefore.arguments import whole
from bestbefore.paper.finding import Finding, average, share
from bestbefore.paper.reduction import solve
from bestbefore.rules import KEEP
from bestbefore.streams import Stream

NO_NOISE = 1e-12
"""The deviation of Gaussian rewards that tell the mean at once."""

Flags = npt.NDArray[np.bool_]


def right_times(
    stream: Stream,
    window: int,
    memory: int,
    keep: str,
    epsilon: float,
    runs: int | Sequence[int],
    seed: int,
    **settings: Any,
) -> Flags:
    """Return a row a run and a column a time: whether the answer was valid, and within epsilon of the best.

    Arms are tested alike, as in the paper.  Whether an answer is valid is checked here by its number, whatever the rule
    believes.
    """
    now = np.arange(1, stream.length + 1)
    named: Any = {"delta": 0.01, "guarantee": "strong", "epsilon": epsilon, "probe": KEEP[keep].probe} | settings
    seen = simulate.trace(stream, window, memory, keep, runs=runs, seed=seed, progress=False, **named)
    valid = (seen.answers > now - window) & (seen.answers <= now) & (seen.answers > 0)
    return valid & (seen.errors <= epsilon + 1e-12)


def exact_memory(window: int = 50, runs: int = 20, seed: int = 0) -> list[Finding]:
    """Theorem 1: the exact best arm takes order W slots, however often arms are pulled.

    On the decreasing stream, at times W + 1 .. 2 W, with fewer than 49/50 W slots: no keep rule is right at 99% of all
    times; `fifo` with W slots is, at all.
    """
    window = whole("window", window, at_least=2)
    few, half_a_step = math.ceil(49 / 50 * window) - 1, 1 / (6 * window)
    sizes = sorted({1, max(window // 10, 1), max(window // 2, 1), few})
    hard = streams.exact_hard(window)
    pulls = bounds.pulls_for_noise(half_a_step, 0.01 / (4 * window))
    kinds = {"rewards without noise": (hard.gaussian(NO_NOISE), 1), f"{pulls:,} pulls an arm": (hard, pulls)}
    findings = []
    for kind, (stream, s) in kinds.items():
        setting = f"mu_i = 1 - i / (3 W), W = {window}, n = {2 * window}, {kind}"
        shares = {
            (keep, size): right_times(stream, window, size, keep, half_a_step, runs, seed, tests=s).mean(axis=1)
            for keep, size in [*rules_and_sizes(sizes), ("fifo", window)]
        }
        all_slots = shares.pop(("fifo", window))
        keep, memory = max(shares, key=lambda pair: float(shares[pair].mean()))
        findings += [
            average(
                shares[keep, memory].tolist(),
                at_most=0.99,
                theorem="exact-memory",
                statement="the exact best arm takes order W slots: no rule is right 99% of the time with < 49/50 W",
                setting=setting,
                measured=f"share of times with the best arm, by the best rule ({keep} with {memory} slots)",
                remark="half of the times are in the first window, where every rule that keeps arm 1 is right",
            ),
            average(
                all_slots.tolist(),
                at_least=0.99,
                theorem="exact-memory",
                statement="W slots are enough: fifo is right 99% of the time",
                setting=setting,
                measured="share of times with the best arm, by fifo with W slots",
            ),
        ]
    return findings


def guarantees(
    window: int = 50, arms: int = 500, epsilon: float = 0.2, delta: float = 0.1, runs: int = 300, seed: int = 0
) -> list[Finding]:
    """Theorem 2 and Lemma 4.2: epsilon-exploration with 3 / epsilon slots, weak, strong and (ours) anytime.

    On streams in random order and on a sawtooth, with rewards of 0 and 1 and with Gaussian ones; weak is judged at the
    last time, the other two at all times.
    """
    words = {
        "weak": ("at one time an epsilon-best arm is returned with probability 1 - delta", "Theorem 2"),
        "strong": ("at all times at once", "Lemma 4.2"),
        "anytime": ("at all times of a stream of unknown length", "ours"),
    }
    findings = []
    for guarantee, (statement, source) in words.items():
        for rewards in ("0 or 1", "Gaussian"):
            count, most, spent = _worst_failures(window, arms, epsilon, delta, guarantee, rewards, runs, seed)
            slots = bounds.memory(epsilon)
            s = bounds.pulls(epsilon, window, delta, guarantee, arms=arms, arrival=arms)
            findings.append(
                share(
                    count,
                    runs,
                    at_most=delta,
                    theorem="guarantees",
                    statement=f"{guarantee} ({source}): {statement}, with {slots} = ceil(3 / epsilon) slots",
                    setting=f"epsilon = {epsilon}, delta = {delta}, W = {window}, n = {arms}, rewards {rewards}",
                    measured=f"failures, by the worse of bucket and staircase; {most} slots, {spent:,} pulls an arm",
                    sound=most <= slots and spent <= s,
                    remark="Hoeffding's bound and the union bound leave room: failures are far rarer than delta",
                )
            )
    return findings


def _worst_failures(
    window: int, arms: int, epsilon: float, delta: float, guarantee: str, rewards: str, runs: int, seed: int
) -> tuple[int, int, int]:
    """Return the most failures of a rule on a stream, the most slots in use, and the most pulls an arm."""
    worst = most = spent = 0
    settings: Any = {"epsilon": epsilon, "delta": delta, "guarantee": guarantee, "probe": "fixed"}
    for stream in (streams.uniform(arms), streams.sawtooth(arms, period=2 * window)):
        kind = stream if rewards == "0 or 1" else stream.gaussian(0.5)
        for keep in ("bucket", "staircase"):
            memory = bounds.memory(epsilon)
            right = right_times(kind, window, memory, keep, runs=runs, seed=seed, **settings)
            failed = ~right[:, -1] if guarantee == "weak" else ~right.all(axis=1)
            table = simulate.explore(kind, window, memory, keep, runs=1, seed=seed, progress=False, **settings)
            worst = max(worst, int(failed.sum()))
            most = max(most, int(table["peak_memory"].max()))
            spent = max(spent, math.ceil(table["pulls"].max() / arms))
    return worst, most, spent


def separation(arms: int = 100_000, runs: int = 80, seed: int = 0) -> list[Finding]:
    """Lemma 4.1 made visible: pulls that are enough at one time are too few for all times at once, if n >> W.

    Windows of two arms, one a little more than epsilon above the other, both at the edge of a slice; Algorithm 1 with
    the pulls of Theorem 2 and with those of Lemma 4.2.
    """
    window, epsilon, delta = 2, 0.5, 0.5
    stream = streams.from_means(np.where(np.arange(arms) % 2 == 0, 0.333, 0.834)).gaussian(0.5)
    setting = f"means 0.333 and 0.834 in turn, W = 2, n = {arms:,}, epsilon = delta = 0.5, Gaussian rewards, bucket"

    def right(guarantee: str) -> Flags:
        slots, settings = bounds.memory(epsilon), {"delta": delta, "guarantee": guarantee}
        return right_times(stream, window, slots, "bucket", epsilon, runs, seed, **settings)

    def found(failed: Any, guarantee: str, statement: str, measured: str, **bound: float) -> Finding:
        s = bounds.pulls(epsilon, window, delta, guarantee, arms=arms)
        words = {"theorem": "separation", "statement": statement, "measured": measured}
        return share(int(failed.sum()), runs, setting=f"{setting}, {s} pulls an arm", **words, **bound)

    weak, strong = right("weak"), right("strong")
    once, ever = "runs with a failure at the last time", "runs with a failure at any time"
    fails = "the weak task's pulls fail the strong one: that needs ln n where weak needs ln W"
    return [
        found(~weak[:, -1], "weak", "the weak task's pulls solve the weak task", once, at_most=delta),
        found(~weak.all(axis=1), "weak", fails, ever, at_least=delta),
        found(~strong.all(axis=1), "strong", "the strong task's pulls solve the strong one", ever, at_most=delta),
    ]


def reduction(
    window: int = 20, problems: int = 10, epsilon: float = 0.3, delta: float = 0.1, runs: int = 300, seed: int = 0
) -> list[Finding]:
    """Lemma B.4: an explorer with a strong guarantee solves n / (2 W) separate problems at once, with no more pulls.

    The chance of success is that of the compiled explorers, on Z, X_1, Z, X_2, ...; the pulls are those of Algorithm 2
    itself, run live with each keep rule on two problems.
    """
    arms = 2 * window * problems
    setting = f"{problems} problems of W = {window} uniform arms, n = {arms}, epsilon = {epsilon}, delta = {delta}"
    worst = 0
    for keep in ("bucket", "staircase"):
        stream = streams.reduction(streams.uniform(window * problems), window)
        right = right_times(
            stream, window, bounds.memory(epsilon), keep, epsilon, runs, seed, delta=delta, guarantee="strong"
        )
        worst = max(worst, int((~right[:, 2 * window - 1 :: 2 * window].all(axis=1)).sum()))
    live = [_live_reduction(keep, seed) for keep in KEEP]
    return [
        share(
            worst,
            runs,
            at_most=delta,
            theorem="reduction",
            statement="a strong explorer solves n / (2 W) separate problems at once, with no more pulls than it makes",
            setting=setting,
            measured="runs with a problem not solved, by the worse of bucket and staircase",
            sound=all(real <= made for real, made in live),
            remark=f"live, every keep rule, two problems: {sum(real for real, _ in live):,} pulls of real arms, "
            f"{sum(made for _, made in live):,} by the explorers",
        )
    ]


def _live_reduction(keep: str, seed: int) -> tuple[int, int]:
    """Run Algorithm 2 live on two problems of three arms; return the pulls of real arms, and those of the explorer."""
    rng = np.random.default_rng(seed)
    explorer = Explorer(3, 0.5, 0.1, keep, "strong", arms=12, memory=3 if keep == "fifo" else None, seed=seed)
    solved = solve(explorer, rng.random((2, 3)).tolist(), lambda mean: float(rng.random() < mean))
    return solved.pulls, explorer.pulls


def rules_and_sizes(sizes: Iterable[int]) -> list[tuple[str, int]]:
    """Pair every keep rule with every size; the king has one slot."""
    several = sorted(set(sizes) - {0})
    return [(keep, size) for keep, rule in KEEP.items() for size in ([rule.slots] if rule.slots else several)]
