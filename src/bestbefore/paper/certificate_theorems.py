"""The guarantees of certified exploration, as experiments: right answers, honest gaps, and few pulls.

These are ours, not the paper's; `bestbefore.probe.certify` has the proof.  The windows are small, so that thousands of
runs take no more than a minute; benchmarks/certify.py has larger ones.
"""

from typing import Final

import numpy as np
import numpy.typing as npt

from bestbefore import bounds
from bestbefore.arguments import whole
from bestbefore.paper.finding import Finding, average, share
from bestbefore.paper.trials import EASY, Floats, Ints, Seen, Trial, eleven_streams, run_trials, unlimited
from bestbefore.probe.certificates import settings_of
from bestbefore.simulate.certify_loop import CERTIFIED, PEAK, PULLS, logs_of
from bestbefore.streams import Stream

ROUNDING: Final = 1e-9
"""An error of exactly what is allowed is no failure."""

SIGMA: Final = 0.5
"""The standard deviation of Gaussian rewards."""

MOST: Final = 100
"""The largest budget: pulls an arrival, where gaps are judged."""

WORDS: Final = {
    "weak": "at one time the answer is within epsilon of the best with probability 1 - delta",
    "strong": "at all times at once",
    "anytime": "at all times of a stream of unknown length",
}

Flags = npt.NDArray[np.bool_]


def rewards_of(stream: Stream) -> dict[str, Stream]:
    """Return the same arms with three kinds of rewards."""
    return {"0 or 1": stream, "0, 1/2 or 1": stream.rated([0, 0.5, 1]), "Gaussian": stream.gaussian(SIGMA)}


def certificates(
    window: int = 8, epsilon: float = 0.45, delta: float = 0.05, runs: int = 2000, seed: int = 0
) -> list[Finding]:
    """Ours: certified answers are within epsilon of the best, weakly, strongly and at any time, with 3 / epsilon slots.

    On eleven streams with three kinds of rewards; weak is judged at the worst of four times.  With bounds half as wide
    the promise is broken.
    """
    arms, slots = 2 * whole("window", window, at_least=2), bounds.memory(epsilon)
    setting = f"epsilon = {epsilon}, delta = {delta}, W = {window}, n = {arms}, {slots} slots, 11 streams"
    findings = []
    for guarantee, words in WORDS.items():
        logs = logs_of(window, delta, guarantee, arms)
        for kind in rewards_of(eleven_streams(arms, window, epsilon)["uniform"]):
            seen = _on_all(window, epsilon, logs, slots, kind, unlimited(runs), seed)
            counts = {name: failures(one.errors > epsilon + ROUNDING, guarantee, window) for name, one in seen.items()}
            count, place = _worst(counts)
            sound = all(kept_to(one, slots) for one in seen.values())
            kept = "the answer was certified at all times, and memory never held more than its slots"
            each = sum(int(one.counts[:, PULLS].sum()) for one in seen.values()) / (len(seen) * runs * arms)
            findings.append(
                share(
                    count,
                    runs,
                    at_most=delta,
                    theorem="certificates",
                    statement=f"{guarantee} (certify, ours): {words}",
                    setting=f"{setting}, rewards {kind}",
                    measured=f"failures {place}; {each:,.0f} pulls an arm on average",
                    sound=sound,
                    remark=kept if sound else f"it is not so that {kept}",
                )
            )
    return [*findings, _half_as_wide(delta, runs, seed)]


def _half_as_wide(delta: float, runs: int, seed: int) -> Finding:
    """Show that failures are noticed: with bounds half as wide, the one better arm is overlooked too often.

    The more arms it is one of, the more often: so the window is larger here.
    """
    window, epsilon, name = 20, 0.25, "one arm better"
    arms, slots = 2 * window, bounds.memory(epsilon)
    stream = eleven_streams(arms, window, epsilon)[name]
    logs, settings = logs_of(window, delta, "weak", arms) / 4, settings_of(epsilon, slots, stream.noise)
    (seen,) = run_trials([Trial(stream, window, logs, settings, unlimited(runs), seed)])
    return share(
        failures(seen.errors > epsilon + ROUNDING, "weak", window),
        runs,
        at_least=delta,
        theorem="certificates",
        statement="bounds half as wide break the promise: failures are rare because bounds are wide",
        setting=f"epsilon = {epsilon}, delta = {delta}, W = {window}, n = {arms}, {slots} slots, {name}, 0 or 1",
        measured="failures at the worst of four times",
    )


def _on_all(
    window: int, epsilon: float, logs: Floats, slots: int, kind: str, budgets: Ints, seed: int
) -> dict[str, Seen]:
    """Run all eleven streams with one kind of rewards."""
    chosen = eleven_streams(logs.shape[0], window, epsilon)
    with_rewards = [rewards_of(stream)[kind] for stream in chosen.values()]
    trials = [
        Trial(stream, window, logs, settings_of(epsilon, slots, stream.noise), budgets, seed) for stream in with_rewards
    ]
    return dict(zip(chosen, run_trials(trials), strict=True))


def failures(failed: Flags, guarantee: str, window: int) -> int:
    """Count the runs that failed: at the worst of four times that are fixed beforehand (weak), or at any time."""
    if guarantee == "weak":
        times = [window // 2, window, 3 * window // 2 - 1, 2 * window - 1]
        return int(failed[:, times].sum(axis=0).max())
    return int(failed.any(axis=1).sum())


def _worst(counts: dict[str, int]) -> tuple[int, str]:
    """Return the highest count, and in words where that was."""
    name = max(counts, key=lambda one: counts[one])
    return counts[name], f"on the worst stream ({name})" if counts[name] else "on each of the streams"


def kept_to(seen: Seen, slots: int) -> bool:
    """Say whether all answers were certified, with so many slots."""
    return bool((seen.counts[:, CERTIFIED] == seen.errors.shape[1]).all() and (seen.counts[:, PEAK] <= slots).all())


def gap(window: int = 10, epsilon: float = 0.2, delta: float = 0.05, runs: int = 2000, seed: int = 0) -> list[Finding]:
    """Ours: the error is above the gap with probability delta at most, however few pulls and slots there were.

    Runs with half a window of slots and random budgets, 1 to 100 pulls an arrival, are stopped at a random time, on
    eleven streams; once with epsilon as a share of the best mean, and all slots.  With bounds a third as wide,
    gaps are not honest.
    """
    arms, rng = 2 * whole("window", window, at_least=2), np.random.default_rng((seed, 1))
    budgets, times = (MOST ** rng.random(runs)).astype(np.int64), rng.integers(arms, size=runs)
    logs = logs_of(window, delta, "weak", arms)
    findings = []
    for kind in rewards_of(eleven_streams(arms, window, epsilon)["uniform"]):
        seen = _on_all(window, epsilon, logs, window // 2, kind, budgets, seed)
        setting = f"W = {window}, n = {arms}, {window // 2} slots, epsilon = {epsilon}, rewards {kind}"
        findings.append(_honesty(seen, times, setting, epsilon, delta))
    chosen = eleven_streams(arms, window, epsilon)
    trials = [
        Trial(
            stream, window, logs, settings_of(epsilon, window, stream.noise, whole=True, relative=True), budgets, seed
        )
        for stream in chosen.values()
    ]
    seen = dict(zip(chosen, run_trials(trials), strict=True))
    setting = f"W = {window} slots, n = {arms}, epsilon = {epsilon} of the best mean, rewards 0 or 1"
    findings.append(_honesty(seen, times, setting, epsilon, delta))
    return [*findings, _a_third_as_wide(window, epsilon, delta, budgets, times, seed)]


def _a_third_as_wide(window: int, epsilon: float, delta: float, budgets: Ints, times: Ints, seed: int) -> Finding:
    """Show that gaps which are not honest are noticed."""
    arms, name = 2 * window, "one arm better"
    stream = eleven_streams(arms, window, epsilon)[name]
    logs, settings = logs_of(window, delta, "weak", arms) / 9, settings_of(epsilon, window, stream.noise, whole=True)
    (seen,) = run_trials([Trial(stream, window, logs, settings, budgets, seed)])
    return share(
        broken_gaps(seen, times),
        times.size,
        at_least=delta,
        theorem="gap",
        statement="gaps of bounds a third as wide are not honest",
        setting=f"W = {window} slots, n = {arms}, epsilon = {epsilon}, delta = {delta}, {name}, rewards 0 or 1",
        measured="runs, stopped at random, with an error above the gap",
    )


def broken_gaps(seen: Seen, times: Ints) -> int:
    """Count the runs whose error was above the gap when they were stopped."""
    return int((seen.errors > seen.gaps + ROUNDING)[np.arange(times.size), times].sum())


def _honesty(seen: dict[str, Seen], times: Ints, setting: str, epsilon: float, delta: float) -> Finding:
    """Judge the gaps by the stream on which they were too small most often."""
    rows = np.arange(times.size)
    broken = {name: broken_gaps(one, times) for name, one in seen.items()}
    count, place = _worst(broken)
    wide = float(np.mean([(one.gaps[rows, times] > epsilon).mean() for one in seen.values()]))
    return share(
        count,
        times.size,
        at_most=delta,
        theorem="gap",
        statement="whatever was pulled, the error is at most the gap with probability 1 - delta (certify, ours)",
        setting=f"{setting}, delta = {delta}, 11 streams, 1 to {MOST} pulls an arrival",
        measured=f"runs, stopped at random, with an error above the gap, {place}",
        remark=f"the gap was above {epsilon} in {wide:.0%} of the runs: too few pulls",
    )


def certified_pulls(
    window: int = 50, epsilon: float = 0.1, delta: float = 0.05, periods: int = 10, runs: int = 4, seed: int = 0
) -> list[Finding]:
    """Ours: certified exploration takes at most a seventh of the paper's pulls, on most random streams a thirtieth."""
    arms, paper = periods * whole("window", window, at_least=2), bounds.pulls(epsilon, window, delta)
    chosen, logs = eleven_streams(arms, window, epsilon), logs_of(window, delta, "weak", arms)
    settings = {name: settings_of(epsilon, window, stream.noise, whole=True) for name, stream in chosen.items()}
    trials = [Trial(stream, window, logs, settings[name], unlimited(runs), seed) for name, stream in chosen.items()]
    seen = dict(zip(chosen, run_trials(trials), strict=True))
    shares = {name: one.counts[:, PULLS] / (arms * paper) for name, one in seen.items()}
    findings = []
    for names, words, bound in ((tuple(chosen), "every stream", 1 / 7), (EASY, ", ".join(EASY), 1 / 30)):
        name = max(names, key=lambda one: float(shares[one].mean()))
        findings.append(
            average(
                shares[name].tolist(),
                at_most=bound,
                theorem="certified-pulls",
                statement=f"certify takes at most 1/{1 / bound:.0f} of the paper's pulls: {words} (ours)",
                setting=f"weak, epsilon = {epsilon}, delta = {delta}, W = {window} slots, n = {arms}, rewards 0 or 1",
                measured=f"pulls an arm over the paper's {paper:,}, on the worst stream ({name})",
                sound=all(kept_to(seen[one], window) for one in names),
            )
        )
    return findings
