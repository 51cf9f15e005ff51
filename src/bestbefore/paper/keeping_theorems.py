"""What keep rules can do and cannot, as experiments: slices, the king of Assadi and Wang, the stairs."""

from typing import Any

import numpy as np
import numpy.typing as npt

from bestbefore import simulate, streams
from bestbefore.arguments import whole
from bestbefore.paper.exploration_theorems import NO_NOISE, right_times, rules_and_sizes
from bestbefore.paper.finding import Finding, average, share, short

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def slices(window: int = 40, memory: int = 8, runs: int = 5, seed: int = 0) -> list[Finding]:
    """Algorithm 1 without noise: m slots are m slices of [0, 1], and the answer is within one of the best.

    For `bucket` that is 1 / m, and for our `staircase` 1 / (m + 1); at all times, on streams that fall and on others.
    `topk`, the paper's baseline, promises something else: to hold the m best arms of a window.
    """
    window, memory, runs = whole("window", window), whole("memory", memory), whole("runs", runs)
    arms, sizes = 4 * window, sorted({min(2, memory), memory // 2 or 1, memory})
    periods = sorted({max(window // 2, 1), window, 2 * window, arms})
    made = [streams.uniform(arms), *(streams.sawtooth(arms, period=period) for period in periods)]
    findings = []
    for keep, extra in (("bucket", 0), ("staircase", 1)):
        wrong = [
            1 - right_times(one.gaussian(NO_NOISE), window, m, keep, 1 / (m + extra), runs, seed, tests=1).mean(axis=1)
            for one in made
            for m in sizes
        ]
        findings.append(
            average(
                np.max(wrong, axis=0).tolist(),
                at_most=0.0,
                theorem="slices",
                statement=f"with means known exactly, {keep} is always within 1 / "
                + ("(m + 1) of the best (ours)" if extra else "m of the best (Algorithm 1)"),
                setting=f"m in {{{', '.join(map(str, sizes))}}} slots, W = {window}, n = {arms}, {len(made)} streams, "
                "random and falling",
                measured="share of times with a larger error, on the worst stream with the worst m",
            )
        )
    return [*findings, _all_but_the_oldest(window, memory, runs, seed), _best_of_a_window(window, memory, runs, seed)]


def _all_but_the_oldest(window: int, memory: int, runs: int, seed: int, slack: float = 1.0) -> Finding:
    """Let the staircase pass over new arms, slack 1, and judge it by all valid arms but the oldest floor(W / m).

    Falls that are steep at first and then flat are those on which it passes over arms that will be needed.
    """
    exempt, wrong, whole_window = window // memory, [], []
    settings: Any = {"tests": 1, "slack": slack, "runs": 1, "seed": seed, "progress": False}
    for run in range(runs):
        rng = np.random.default_rng([seed, run])
        falls = [(1 - np.arange(5 * window) % period / period) ** 6 for period in (window, window + window // 5)]
        missed = []
        for means in (rng.random(5 * window), *(rng.uniform(0.9, 1) * fall for fall in falls)):
            stream = streams.from_means(means).gaussian(NO_NOISE)
            answers = simulate.trace(stream, window, memory, "staircase", **settings).answers[0]
            missed.append([_missed(means, answers, window, memory, age) for age in (window - exempt, window)])
        wrong.append(max(young for young, _ in missed))
        whole_window.append(max(every for _, every in missed))
    return average(
        wrong,
        at_most=0.0,
        theorem="slices",
        statement="with slack 1, staircase is within 1 / (m + 1) of all valid arms but the oldest floor(W / m) (ours)",
        setting=f"m = {memory} slots, W = {window}, n = {5 * window}, three streams, random and falling",
        measured="share of times with a larger error, on the worst stream",
        remark=f"with the oldest arms it would be {short(float(np.mean(whole_window)))}",
    )


def _missed(means: Floats, answers: Ints, window: int, memory: int, age: int) -> float:
    """Return the share of times at which the answer was worse by more than 1 / (m + 1) than an arm of this age or less.

    An answer that has expired is as bad as none.
    """
    now = np.arange(1, means.size + 1)
    seen = np.where(answers > now - window, means[answers - 1], -1.0)
    best = np.array([means[max(time - age, 0) : time].max() for time in now])
    return float(np.mean(best - seen > 1 / (memory + 1) + 1e-9))


def _best_of_a_window(window: int, memory: int, runs: int, seed: int) -> Finding:
    """Let a window of arms pass, then arms of mean 0: while the best that is left is one of the m best, it answers."""
    missed = []
    for run in range(runs):
        means = np.random.default_rng([seed, run]).random(window)
        stream = streams.from_means(np.concatenate([means, np.zeros(window - 1)])).gaussian(NO_NOISE)
        right = right_times(stream, window, memory, "topk", 1e-6, 1, seed, tests=1)[0, window - 1 :]
        best_left = [means[gone:].max() for gone in range(window)]
        missed.append(float(np.mean(~right[best_left >= np.sort(means)[-min(memory, window)]])))
    return average(
        missed,
        at_most=0.0,
        theorem="slices",
        statement="with means known exactly, topk holds the m best arms of a window until they expire (the baseline)",
        setting=f"m = {memory} slots, W = {window} uniform arms, then {window - 1} of mean 0",
        measured="share of times at which the best arm left was one of the m best, and another was the answer",
    )


def king(window: int = 50, arms: int = 150, runs: int = 100, seed: int = 0) -> list[Finding]:
    """Lemma E.1: the streaming algorithm of Assadi and Wang, one slot, fails here; without expiry it succeeds.

    So does `topk`, the paper's baseline, which is right without expiry.
    """
    window, runs = whole("window", window, at_least=2), whole("runs", runs)
    epsilon, delta, arms = 0.2, 0.1, whole("arms", arms, at_least=window + 1)
    fails = right_times(streams.failing_king(arms), window, 1, "king", 1 / (2 * arms), runs, seed, delta=delta)
    alone = [
        right_times(streams.uniform(arms), arms, slots, keep, epsilon, runs, seed, delta=delta)[:, -1]
        for keep, slots in (("king", 1), ("topk", 5))
    ]
    return [
        share(
            int((~fails[:, window]).sum()),
            runs,
            at_least=0.4,
            theorem="king",
            statement="one slot (Assadi and Wang) fails the decreasing stream at some time, with probability >= 0.4",
            setting=f"mu_i = 1 - (i - 1) / n, W = {window}, n = {arms}",
            measured="runs in which the answer was not the best arm at time W + 1, that of the proof",
            remark="the proof shows 0.4; a single slot that holds the best arm cannot hold the next",
        ),
        share(
            max(int((~right).sum()) for right in alone),
            runs,
            at_most=delta,
            theorem="king",
            statement="without expiry it succeeds, and so does topk",
            setting=f"uniform arms, n = W = {arms}, epsilon = {epsilon}, delta = {delta}",
            measured="runs in which the answer at the end was not epsilon-best, by the worse of king and topk",
        ),
    ]


def stairs(window: int = 32, runs: int = 200, seed: int = 0) -> list[Finding]:
    """Lemma E.2: on the 2-epsilon staircase, memory below order W = 1 / (100 epsilon) misses the epsilon-best arm.

    Rewards without noise, so that only memory is short.  The least success at any time counts: the lemma says that
    some time has less than 0.6.  Which time that is, is judged by as many other runs: to pick it by the same ones would
    make it look worse than it is.
    """
    epsilon, runs = 1 / (100 * whole("window", window, at_least=2)), whole("runs", runs)
    stream = streams.memory_stairs(3 * window, window).gaussian(NO_NOISE)

    def least(keep: str, memory: int) -> int:
        right = right_times(stream, window, memory, keep, epsilon, 2 * runs, seed, tests=1)
        return int(right[:runs, right[runs:].sum(axis=0).argmin()].sum())

    results = {(keep, size): least(keep, size) for keep, size in rules_and_sizes((1, window // 4, window // 2))}
    keep, memory = max(results, key=lambda pair: results[pair])
    nearly = least("reservoir", window - 1) / runs
    return [
        share(
            results[keep, memory],
            runs,
            at_most=0.6,
            theorem="stairs",
            statement="below order 1 / epsilon slots no rule has an epsilon-best arm at any time with probability 0.6",
            setting=f"epsilon = 1 / (100 W), W = {window}, n = {3 * window}, up to W / 2 slots, rewards without noise",
            measured=f"success at the worst time, by the best rule ({keep} with {memory} slots)",
            sound=least("fifo", window) == runs,
            remark=f"fifo with W slots never fails; reservoir with W - 1 is right with probability {nearly:.2f} at its"
            " worst time: the order of W is needed, not all of it",
        )
    ]
