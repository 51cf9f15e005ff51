"""The guarantees of merged explorers, and of shares of small means, as experiments.

Each of three live explorers sees a part of one stream; what they know is merged, see `bestbefore.agents.merging`.  Live
agents take tens of microseconds a verb, so the windows are small.
"""

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from bestbefore import bounds, streams
from bestbefore.agents import Explorer
from bestbefore.arguments import whole
from bestbefore.paper.certificate_theorems import failures
from bestbefore.paper.finding import Finding, average, share
from bestbefore.paper.trials import Trial, eleven_streams, run_trials, unlimited
from bestbefore.plan import plan_exploration
from bestbefore.simulate.certify_loop import CERTIFIED, PEAK, PULLS, logs_of

PARTS: Final = 3
ROUNDING: Final = 1e-9
"""An error of exactly what is allowed is no failure."""

BLOCK: Final = 4
"""Arms in a row for one part, where they are dealt in blocks; anytime is judged after every so many arrivals."""

TRIED: Final = ("uniform", "falling", "one arm better")
"""The streams of the runs, in turn."""

WAYS: Final[dict[str, dict[str, Any]]] = {
    "fixed tests": {"keep": "staircase", "probe": "fixed"},
    "certificates": {"keep": "staircase", "probe": "certify"},
}

WORDS: Final = {
    "weak": "at one time the answer is within epsilon of the best with probability 1 - delta",
    "anytime": f"at all times the error is at most the gap, judged after every {BLOCK} arrivals",
}

FAILURES: Final = {"weak": "answers that are not within epsilon", "anytime": "runs with an error above the gap"}

LOWEST: Final = 0.01
MIDDLE: Final = 0.03
HIGHEST: Final = 0.08
"""Means where rewards are clicks."""

Floats = npt.NDArray[np.float64]


class Outcome(NamedTuple):
    """What came of a run: whether the merged explorer and the first part alone failed, and what it took."""

    failed: bool
    alone: bool
    certified: bool
    pulls: int
    anew: int
    peak: int


def merged_parts(
    window: int = 12, epsilon: float = 0.45, delta: float = 0.1, runs: int = 100, seed: int = 0
) -> list[Finding]:
    """Ours: explorers of three parts of a stream, merged, keep the promise of one that saw it all, with no more slots.

    Arms are dealt at random or in blocks, on three streams in turn.  Weak is judged at the end, when merged
    certificates have been certified anew.  Anytime is judged after every few arrivals, without further pulls: with
    certificates, the error must be at most the gap.  One part alone breaks the promise.
    """
    arms, slots = 2 * whole("window", window, at_least=2), bounds.memory(epsilon)
    setting = f"epsilon = {epsilon}, delta = {delta}, W = {window}, n = {arms}, {slots} slots, 3 streams in turn"
    findings, alone = [], 0
    for guarantee, words in WORDS.items():
        for way, told in WAYS.items():
            settings = told | {"window": window, "epsilon": epsilon, "delta": delta, "guarantee": guarantee}
            for deal in ("at random", "in blocks"):
                seen = [_one_run(settings | {"memory": slots}, deal, run, seed) for run in range(runs)]
                most = plan_exploration(**settings, memory=slots).tests_of(arms)
                alone = max(alone, sum(one.alone for one in seen))
                findings.append(
                    share(
                        sum(one.failed for one in seen),
                        runs,
                        at_most=delta,
                        theorem="merged-parts",
                        statement=f"{guarantee} ({way}, ours): {PARTS} explorers, merged: {words}",
                        setting=f"{setting}, arms dealt {deal}",
                        measured=f"{FAILURES[guarantee]}; {np.mean([one.pulls for one in seen]) / arms:,.0f} pulls an "
                        f"arm, of {most:,} at most",
                        remark=_anew(seen) if way == "certificates" and guarantee == "weak" else "",
                        sound=all(one.peak <= slots and one.pulls + one.anew <= arms * most for one in seen),
                    )
                )
    return [
        *findings,
        share(
            alone,
            runs,
            at_least=delta,
            theorem="merged-parts",
            statement="one part alone breaks the promise: it has not seen the other arms",
            setting=setting,
            measured="failures of the first part, at the end",
        ),
    ]


def _anew(seen: list[Outcome]) -> str:
    """Say what it took to certify answers anew."""
    anew = np.mean([one.anew for one in seen]) / np.mean([one.pulls for one in seen])
    return f"{np.mean([one.certified for one in seen]):.0%} could be certified anew, with {anew:.1%} more pulls"


def _one_run(settings: dict[str, Any], deal: str, run: int, seed: int) -> Outcome:
    """Deal a stream to three explorers, and merge them: now and then (anytime) or at the end."""
    window, epsilon, anytime = settings["window"], settings["epsilon"], settings["guarantee"] == "anytime"
    rng, name = np.random.default_rng([seed, run]), TRIED[run % len(TRIED)]
    means = next(eleven_streams(2 * window, window, epsilon)[name].blocks(rng)).means
    parts = [Explorer(**settings) for _ in range(PARTS)]
    at_random, failed = rng.integers(PARTS, size=means.size).tolist(), False
    for number in range(1, means.size + 1):
        part = parts[at_random[number - 1] if deal == "at random" else (number - 1) // BLOCK % PARTS]
        part.arrive(number, at=number)
        _pull(part, means, rng)
        if anytime and number % BLOCK == 0:
            both = Explorer.merged(parts)
            failed = failed or _error(both, means[:number], window) > both.gap + ROUNDING
    both = Explorer.merged(parts)
    pulls, certified = both.pulls, both.certified
    if not anytime:
        _pull(both, means, rng)
        certified, failed = both.certified, _error(both, means, window) > epsilon + ROUNDING
    parts[0].advance(to=means.size)
    alone = _error(parts[0], means, window) > epsilon + ROUNDING
    return Outcome(failed, alone, certified, pulls, both.pulls - pulls, both.peak_memory)


def _pull(explorer: Explorer, means: Floats, rng: np.random.Generator) -> None:
    """Pull what is asked for, as often as it is wanted."""
    while (arm := explorer.ask()) is not None:
        pulls = max(explorer.wanted(arm), 1)
        explorer.tell(arm, float(rng.binomial(pulls, means[arm - 1])), pulls=pulls)


def _error(explorer: Explorer, means: Floats, window: int) -> float:
    """Return how much worse the answer is than the best valid arm; all of its mean if there is no answer."""
    best, answer = float(means[-window:].max()), explorer.best()
    return best if answer is None else best - float(means[answer - 1])


def small_means(
    window: int = 30, epsilon: float = 0.4, delta: float = 0.05, slots: int = 25, runs: int = 300, seed: int = 0
) -> list[Finding]:
    """Ours: where epsilon is a share of the best mean, and means are 0.01 to 0.08, the promise holds at a fair price.

    The pulls of a run are compared with what the formula says for an arm of each mean, `ExplorePlan.tests_at`.
    """
    arms = 2 * whole("window", window, at_least=2)
    means = np.random.default_rng([seed, 1]).uniform(LOWEST, HIGHEST, arms)
    best = np.array([means[max(now - window, 0) : now].max() for now in range(1, arms + 1)])
    stream, findings = streams.from_means(means), []
    setting = f"epsilon = {epsilon} of the best mean, delta = {delta}, W = {window}, n = {arms}, {slots} slots"
    setting += f", means {LOWEST} to {HIGHEST}, rewards 0 or 1"
    for guarantee, words in (("weak", "at one time"), ("anytime", "at all times of a stream of unknown length")):
        made = plan_exploration(
            window=window, epsilon=epsilon, delta=delta, guarantee=guarantee, memory=slots, relative=True
        )
        logs = logs_of(window, delta, guarantee, arms)
        (seen,) = run_trials([Trial(stream, window, logs, made.certificates(), unlimited(runs), seed)])
        sound = bool((seen.counts[:, PEAK] <= slots).all() and (seen.counts[:, CERTIFIED] == arms).all())
        told = [made.tests_at(float(mean), arrival) for arrival, mean in enumerate(means, start=1)]
        hoeffding = bounds.pulls_for_noise(epsilon * MIDDLE / 2, bounds.failure(window, delta))
        findings += [
            share(
                failures(seen.errors > epsilon * best + ROUNDING, guarantee, window),
                runs,
                at_most=delta,
                theorem="small-means",
                statement=f"{guarantee} (certify, ours): {words} the answer is at least (1 - epsilon) times the best",
                setting=setting,
                measured="failures",
                sound=sound,
                remark="the answer was always certified, and memory never held more than its slots" * sound,
            ),
            average(
                (seen.counts[:, PULLS] / sum(told)).tolist(),
                at_most=1,
                theorem="small-means",
                statement=f"{guarantee} (certify, ours): an arm takes no more pulls than the formula says for its mean",
                setting=setting,
                measured=f"pulls of a run over those of the formula, {np.mean(told):,.0f} an arm",
                remark=f"{seen.counts[:, PULLS].mean() / arms:,.0f} pulls an arm were made; fixed tests that tell a "
                f"mean of {MIDDLE} within half of epsilon take {hoeffding:,} by Hoeffding's bound",
            ),
        ]
    return findings
