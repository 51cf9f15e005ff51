"""What a player would have earned on a log, from what the log shows: off-policy estimation, or a plain refusal.

Two ways, since each assumes something else:

- **rejection** (Li, Chu, Langford and Wang 2011): the player goes through the log and chooses before each row.  Where
  its choice is the arm that was shown, the row is accepted, and the player learns its reward; all other rows are passed
  over.  Where probabilities differ, a match is accepted with probability (least probability) / (its probability), so
  that each choice is accepted equally often.  It is the player as it would be with so much less traffic.
- **weighting** (self-normalised inverse propensity; Swaminathan and Joachims 2015): the player chooses before each row,
  but learns from all rows, as if it had shown what the log shows.  A row whose arm it has chosen has the weight
  1 / probability.  It is a player with all the traffic, which somebody else explores for.

Both estimate the mean reward of the player's choices, and a choice never knows what the row shows, so that errors are
a martingale: the 95% interval is the normal one.  It is about chance in the rewards and in what was shown.  It is not
about other arms, or other days, or how lucky the player was in what it learnt.

Both assume that an arm's reward depends on nothing that the player would change (who sees it is random, as the
probabilities say; showing an arm often does not wear it out), and that the probabilities are those with which arms were
really shown.  That an arm's mean stays the same during its life is assumed by the player, and not by the estimate.
"""

import math
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np

from bestbefore import plan
from bestbefore.arguments import whole
from bestbefore.clock import Length, window_of
from bestbefore.memory import empty_memory
from bestbefore.plan import plan_play
from bestbefore.replay.rows import Rows, numbers_of, rows_of
from bestbefore.simulate.replay_loop import (
    MATCHED,
    R2,
    SUMS,
    UNSEEN,
    W2,
    W2R,
    W2R2,
    WR,
    WR2,
    N,
    R,
    Rule,
    W,
    World,
    replay,
)
from bestbefore.streams import Log
from bestbefore.streams.log_cells import NoProbability
from bestbefore.streams.stream import Floats

METHODS: Final = ("rejection", "weighting")
NORMAL: Final = 1.959963984540054
"""Of a 95% interval."""
LEAST: Final = 100.0
"""The smallest effective sample that is good enough for the normal interval."""
RARE: Final = 10.0
"""So many effective rows must have a reward other than the lowest, and other than the highest."""
UNSUPPORTED: Final = 0.05
"""The largest share of choices that may be of arms that the log does not show any more."""
MOSTLY: Final = 0.2
"""Where so many choices are, that is why the sample is small."""
APART: Final = (4.0, 0.05)
"""Weights are 1 on average.  So many standard errors off, and by this much, they are not those of the log."""


@dataclass(frozen=True)
class Estimate:
    """The mean reward of a player's choices, in the reader's unit, with a 95% interval; or why there is none.

    The interval is for the true mean reward of what the player has chosen on this very log.  On another log of the same
    arms it would learn with more or less luck, and choose otherwise: the interval does not cover that.

    `earned` is the mean reward in the log and `gain` what the player has more; `effective` is the effective sample
    size, of `matched` rows, of `rows`.
    """

    method: str
    """How it was estimated."""
    rows: int
    """The rows of the log that count."""
    matched: int
    """Those that show what the player has chosen."""
    effective: float
    """The effective sample size."""
    refused: str | None
    """Why there is no estimate, or None."""
    value: float | None = None
    """The mean reward of the player's choices on this log."""
    low: float | None = None
    """The lower end of its 95% interval."""
    high: float | None = None
    """The upper end."""
    earned: float | None = None
    """The mean reward in the log."""
    gain: float | None = None
    """What the player has more."""
    gain_low: float | None = None
    """The lower end of its 95% interval."""
    gain_high: float | None = None
    """The upper end."""

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return asdict(self)


def estimate(
    log: Log,
    window: Length,
    memory: int | None = None,
    keep: str = plan.PLAY_KEEP,
    pull: str = plan.PLAY_PULL,
    *,
    propensity: str | int | None = None,
    uniform: bool = False,
    seed: int = 0,
    progress: bool | None = None,
) -> list[Estimate]:
    """Estimate what `Player(window, memory, keep, pull)` would have earned on a log, by both methods.

    `propensity` names the column with the probability with which the arm of a row was shown; or `uniform` says that
    arms in rotation were shown uniformly at random.  An estimate that the log cannot give says why in `refused`.

    Parameters
    ----------
    log
        A log, as `streams.read_log` returns it.
    window
        A time such as "24h", or a number of arrivals.
    memory
        Slots of the player.
    keep
        The player's keep rule.
    pull
        The player's pull rule.
    propensity
        The column with the probability with which the arm of a row was shown.
    uniform
        Whether arms in rotation were shown uniformly at random.
    seed
        The same seed gives the same result.
    progress
        Whether to show a progress bar; unless given, if standard error is a terminal.
    """
    span, made = window_of(window), plan_play(window, memory, keep, pull, most=None)
    seed = whole("seed", seed, at_least=0)
    if (propensity is not None) and uniform:
        raise ValueError("propensity must be left out where uniform says that all arms had the same")
    if propensity is None and not uniform:
        why = "The log does not say with which probability each arm was shown: name a column of propensities, or say "
        return [_refused(method, log, why + "that arms were shown uniformly at random.") for method in METHODS]
    try:
        rows = rows_of(log, propensity, progress=progress)
    except NoProbability as wrong:
        return [_refused(method, log, f"{_no_probability(str(wrong))} ({wrong}.)") for method in METHODS]
    world = world_of(rows, numbers_of(log, span), np.zeros(len(log.names)))
    rule = Rule(
        made.keep.number,
        made.keep.draws,
        made.pull.number,
        made.pull.index,
        span.length,
        span.by_time,
        made.delta,
        made.tests(),
    )
    checked = summed(world, rule, made.memory, "weighting", seed)
    return [
        judged(
            method, checked if method == "weighting" else summed(world, rule, made.memory, method, seed), checked, log
        )
        for method in METHODS
    ]


def world_of(rows: Rows, numbers: Any, truth: Floats) -> World:
    """Return what the compiled loop is told of a log."""
    order = np.argsort(rows.enters, kind="stable")
    given = (rows.arms, rows.rewards, rows.times, rows.chances)
    return World(*given, np.sort(numbers)[np.argsort(order)], rows.enters, order, rows.leaves, truth)


def summed(world: World, rule: Rule, memory: int, method: str, seed: int) -> Floats:
    """Let a player go through the log."""
    floor = float(world.chances.min()) if method == "rejection" else 0.0
    sums, rng = np.zeros(SUMS), np.random.default_rng(seed)
    replay(world, rule, empty_memory(memory), floor, rng, sums, np.zeros(0, np.int64))
    return sums


def judged(method: str, sums: Floats, checked: Floats, log: Log) -> Estimate:
    """Return the estimate, or why there is none; `checked` are the sums of weighting, which tell if the log fits."""
    rows, effective = int(sums[N]), float(sums[W] ** 2 / sums[W2]) if sums[W2] else 0.0
    counts: Any = {"method": method, "rows": rows, "matched": int(sums[MATCHED]), "effective": effective}
    if why := _doubt(sums, checked, effective):
        return Estimate(**counts, refused=why)
    value, earned, scale = float(sums[WR] / sums[W]), float(sums[R] / rows), log.scale
    spread = max(sums[W2R2] - 2 * value * sums[W2R] + value**2 * sums[W2], 0.0) / sums[W] ** 2
    logged = max(sums[R2] / rows - earned**2, 0.0) / rows
    shared = (sums[WR2] - (value + earned) * sums[WR] + value * earned * sums[W]) / (sums[W] * rows)
    reach = NORMAL * math.sqrt(spread)
    gain_reach = NORMAL * math.sqrt(max(spread + logged - 2 * shared, 0.0)) * scale.width
    gain = (value - earned) * scale.width
    return Estimate(
        **counts,
        refused=None,
        value=scale.outside(value),
        low=scale.outside(max(value - reach, 0.0)),
        high=scale.outside(min(value + reach, 1.0)),
        earned=scale.outside(earned),
        gain=gain,
        gain_low=gain - gain_reach,
        gain_high=gain + gain_reach,
    )


def _doubt(sums: Floats, checked: Floats, effective: float) -> str | None:
    """Return why the log cannot answer, or None."""
    rows = checked[N]
    if not rows:
        return "No row comes while an arm is known and valid."
    unseen = float(sums[UNSEEN] / sums[N])
    few = f"Too small a sample: {effective:,.0f} effective rows of {sums[N]:,.0f}"
    if effective < LEAST and unseen < MOSTLY:
        return f"{few}, and at least {LEAST:.0f} are needed."
    if unseen > UNSUPPORTED:
        return (
            f"Arms without support: {unseen:.0%} of the player's choices are arms that are still valid, but that the "
            "log does not show any more.  What they would have earned there nobody knows.  A shorter window may help."
        )
    mean = float(checked[W] / rows)
    error = math.sqrt(max(checked[W2] / rows - mean**2, 0.0) / rows)
    if effective >= LEAST and abs(mean - 1) > max(APART[0] * error, APART[1]):
        return (
            f"The probabilities are not those of this log: weights should be 1 on average, and are {mean:.2f}.  Arms "
            "were not shown with these probabilities, or arms that the player would choose were not shown at all.  If "
            "the log knows when arms arrived, name that column, too."
        )
    if effective < LEAST:
        return f"{few}, and at least {LEAST:.0f} are needed."
    above = effective * float(sums[WR] / sums[W])
    if min(above, effective - above) < RARE:
        rare = "are rewarded" if above < RARE else "are not rewarded"
        return f"{few}, of which {min(above, effective - above):.1f} {rare}: at least {RARE:.0f} are needed."
    return None


def _no_probability(wrong: str) -> str:
    """Say why there is no number: the words are those that `bestbefore log` writes."""
    if wrong.endswith("not 'deterministic'"):
        return (
            "Nothing was drawn when this log was made: it shows what its rule took for the best, and nobody knows what "
            "other arms would have earned there.  A rule that draws, such as inf, leaves a log that can answer."
        )
    if wrong.endswith("not 'unknown'"):
        return "Arms were drawn, but with which probability is not known."
    return "A propensity is not a probability."


def _refused(method: str, log: Log, why: str) -> Estimate:
    return Estimate(method, int(log.rows.sum()), 0, 0.0, why)
