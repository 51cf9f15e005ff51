"""The guarantees for windows by time, as an experiment: arms come in bursts, and nobody knows how many."""

from typing import Any, Final

import numpy as np

from bestbefore import bounds, simulate, streams
from bestbefore.paper.finding import Finding, share
from bestbefore.paper.trials import eleven_streams
from bestbefore.plan import plan_exploration

ROUNDING: Final = 1e-9
"""An error of exactly what is allowed is no failure."""

WINDOW: Final = "2h"
BURST: Final = 5
"""Arms that come together; on average there are bursts once an hour."""
ARMS: Final = 40
MOST: Final = 20
"""What fixed tests are told that a window holds at most; sometimes it holds more."""
TRIED: Final = ("uniform", "falling", "one arm better")

WAYS: Final[dict[str, dict[str, Any]]] = {
    "fixed tests, bucket": {"keep": "bucket", "most": MOST},
    "fixed tests, staircase": {"keep": "staircase", "probe": "fixed", "most": MOST},
    "certificates": {"keep": "staircase", "probe": "certify"},
}
"""How arms are tested; certificates are not told how many arms a window holds."""

WORDS: Final = {
    "weak": "at one time the error is at most the gap with probability 1 - delta, by time",
    "anytime": "at all times of a stream of unknown length, by time",
}


def windows_by_time(epsilon: float = 0.4, delta: float = 0.05, runs: int = 300, seed: int = 0) -> list[Finding]:
    """Ours: windows by time keep the guarantees, weak and anytime, whether or not it is known how many arms they hold.

    On three streams whose arms come in bursts.  The gap is epsilon or less; it is 1, and nothing is promised, while
    more arms are valid than fixed tests were told.  With a thirtieth of the tests the promise is broken.
    """
    setting = f"epsilon = {epsilon}, delta = {delta}, window {WINDOW}, n = {ARMS} in bursts of {BURST}, an hour apart"
    findings = []
    for guarantee, words in WORDS.items():
        for way, told in WAYS.items():
            settings = told | {"epsilon": epsilon, "delta": delta, "guarantee": guarantee}
            counts, silent = {}, []
            for name in TRIED:
                seen = _seen(name, epsilon, runs, seed, **settings)
                counts[name] = failures(seen.errors > seen.gaps + ROUNDING, guarantee)
                silent.append((seen.gaps == 1).mean())
            findings.append(
                share(
                    max(counts.values()),
                    runs,
                    at_most=delta,
                    theorem="windows-by-time",
                    statement=f"{guarantee} ({way}, ours): {words}",
                    setting=setting + f", told at most {MOST} valid" * ("most" in told),
                    measured="failures on the worst of three streams",
                    remark=f"nothing was promised at {np.mean(silent):.1%} of times" * ("most" in told),
                )
            )
    return [*findings, _too_few_tests(epsilon, delta, runs, seed, setting)]


def _too_few_tests(epsilon: float, delta: float, runs: int, seed: int, setting: str) -> Finding:
    """Show that failures are noticed."""
    enough = plan_exploration("bucket", WINDOW, epsilon=epsilon, delta=delta, most=MOST).tests_of(1)
    few, slots = bounds.round_up(enough / 30), bounds.memory(epsilon)
    seen = _seen("one arm better", epsilon, runs, seed, keep="bucket", memory=slots, epsilon=epsilon, tests=few)
    return share(
        failures(seen.errors > epsilon + ROUNDING, "weak"),
        runs,
        at_least=delta,
        theorem="windows-by-time",
        statement=f"{few} of {enough} tests break the promise, by time",
        setting=f"{setting}, bucket with {slots} slots, one arm better",
        measured="failures at the worst of four times",
    )


def _seen(name: str, aim: float, runs: int, seed: int, **settings: Any) -> simulate.Trace:
    """Run a stream in bursts, other ones in each run."""
    stream = eleven_streams(ARMS, 2 * BURST, aim)[name].at(streams.bursts(BURST, quiet="1h", within="1s"))
    return simulate.trace(stream, WINDOW, runs=runs, seed=seed, progress=False, **settings)


def failures(failed: "np.typing.NDArray[np.bool_]", guarantee: str) -> int:
    """Count the runs that failed: at the worst of four arrivals that are fixed beforehand (weak), or at any time."""
    if guarantee == "weak":
        times = [failed.shape[1] * part // 4 - 1 for part in (1, 2, 3, 4)]
        return int(failed[:, times].sum(axis=0).max())
    return int(failed.any(axis=1).sum())
