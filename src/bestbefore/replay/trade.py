"""What memory buys on a log: error, pulls and regret against slots, with its own arms, arrivals and traffic.

Arms are those of the log, and a pull draws one of their own logged rewards.  They arrive when they did, and from one
arrival to the next there are as many pulls as there are rows in the log.
"""

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from bestbefore import plan, simulate
from bestbefore.arguments import whole
from bestbefore.clock import Length, Window, said, window_of
from bestbefore.replay.contents import Contents, are, many
from bestbefore.simulate import Table
from bestbefore.simulate.clocked import Expired, Numbers
from bestbefore.streams import Log, Stream
from bestbefore.streams.arrivals import DAY, Ints
from bestbefore.streams.stream import Floats

PAIRS: Final = ((plan.PLAY_KEEP, plan.PLAY_PULL), ("staircase", "moss"), ("fifo", plan.PLAY_PULL), ("reservoir", "ucb"))
"""Ours, the one before it, the newest arms only, and the paper's."""
KEEP: Final = ("staircase", "bucket", "topk")
MEMORY: Final = (2, 5, 10, 20, 50)
PARTS: Final = (2.0, 1.0, 0.5)
"""Epsilons that are tried, as parts of the real spread of means."""
MUCH: Final = 0.2
"""Where more than this share of the variance of means is noise, a simulation on them is too hopeful."""
NEAR: Final = 1.1
"""A smaller memory is good enough if it loses at most so many times what the best does."""
PULLS: Final = 3e7
"""Simulated pulls of a pair and memory, all runs together: a log of millions of rows has fewer runs."""


@dataclass(frozen=True)
class Advice:
    """What to set up: slots and a pair of rules, what they lose, and what the best of all that was tried loses."""

    window: int | str
    memory: int
    keep: str
    pull: str
    loses: float
    """The share of what the best valid arm would have earned."""
    best_memory: int
    best_loses: float
    at_random: float
    code: str


@dataclass(frozen=True)
class Trade:
    """Tables of what was simulated, and what follows from them; regret is in the reader's unit."""

    runs: int
    play: Table
    windows: list[dict[str, Any]]
    explore: Table
    tests: int
    epsilons: list[dict[str, Any]]
    advice: Advice

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {
            "runs": self.runs,
            "regret": self.play.summary(["keep", "pull", "memory"], ["regret", "pulls"]),
            "windows": self.windows,
            "error": self.explore.summary(["keep", "memory"], ["mean", "pulls"]),
            "tests": self.tests,
            "epsilons": self.epsilons,
            "advice": vars(self.advice),
        }


def trade_of(
    log: Log,
    contents: Contents,
    window: Length,
    *,
    memory: list[int] | None = None,
    runs: int = 5,
    seed: int = 0,
    jobs: int | None = None,
    progress: bool | None = None,
) -> Trade:
    """Simulate a log's stream with several rules and memories, windows and epsilons."""
    stream, span, budgets = log.stream, window_of(window), contents.traffic
    runs = whole("runs", runs)
    runs = max(1, min(runs, int(PULLS / max(int(budgets.sum()), 1))))
    most = int(contents.valid.max())
    slots = memory or [one for one in MEMORY if one < most] + ([most] if most <= MEMORY[-1] else [])
    common: Any = {"runs": runs, "seed": seed, "jobs": jobs, "progress": progress}
    play = _played(stream, window, budgets, slots, common)
    tests = max(int(np.median(budgets)), 1)
    told: Any = common | {"most": most} if span.by_time else common
    explore = simulate.explore(stream, window, slots, list(KEEP), probe="fixed", tests=tests, **told)
    unit = log.scale.width
    scaled = Table([row | {"mean": row["mean"] * unit} for row in explore])
    regrets = Table([row | {"regret": row["regret"] * unit} for row in play])
    advice = advised(regrets, best_and_random(log, span, budgets), window, log)
    return Trade(
        runs=runs,
        play=regrets,
        windows=_windows(log, span, budgets, advice, common),
        explore=scaled,
        tests=tests,
        epsilons=_epsilons(stream, window, contents, unit, common),
        advice=advice,
    )


def _played(stream: Stream, window: Length, budgets: Ints, slots: list[int], common: Any) -> Table:
    """Play each pair of rules with each memory."""
    rows: list[dict[str, Any]] = []
    for keep, pull in PAIRS:
        rows += simulate.play(stream, window, budgets.tolist(), slots, keep, pull, **common).rows
    return Table(rows)


def best_and_random(log: Log, span: Window, budgets: Ints) -> tuple[float, float]:
    """Return what the best valid arm would have earned in all, and a valid arm at random, as shares of the scale."""
    arms = log.arms
    numbers = Numbers(by_time=True).of(arms).times if span.by_time else np.arange(1, arms.means.size + 1)
    gone = Expired(span.length).before(numbers)
    sums = np.concatenate([[0.0], np.cumsum(arms.means)])
    places = np.arange(1, arms.means.size + 1)
    at_random = (sums[places] - sums[gone]) / (places - gone)
    return float(_highest(arms.means, gone) @ budgets), float(at_random @ budgets)


def _highest(means: Floats, gone: Ints) -> Floats:
    """Return the highest mean among valid arms, as each arrives."""
    queue: list[int] = []
    head, found = 0, np.zeros(means.size)
    for arm, mean in enumerate(means.tolist()):
        while len(queue) > head and means[queue[-1]] <= mean:
            queue.pop()
        queue.append(arm)
        while queue[head] < gone[arm]:
            head += 1
        found[arm] = means[queue[head]]
    return found


def advised(table: Table, earned: tuple[float, float], window: Length, log: Log) -> Advice:
    """Choose the smallest memory that loses about as little as any, and the pair that loses least with it.

    The default pair is chosen unless another one loses clearly less, and less in each of several runs.
    """
    found = {
        (row["memory"], row["keep"], row["pull"]): row["regret"]
        for row in table.summary(["memory", "keep", "pull"], "regret")
    }
    rows = {key: regret for key, regret in found.items() if key[1:] == PAIRS[0] or _always_less(table, key)}
    best = min(rows, key=lambda key: (rows[key], key))
    near = [key for key in rows if rows[key] <= NEAR * rows[best]]
    slots = min(memory for memory, _, _ in near)
    usual = (slots, *PAIRS[0])
    chosen = usual if usual in near else min((key for key in near if key[0] == slots), key=lambda key: rows[key])
    whole = max(earned[0], 1e-300) * log.scale.width
    return Advice(
        window=as_told(window),
        memory=slots,
        keep=chosen[1],
        pull=chosen[2],
        loses=rows[chosen] / whole,
        best_memory=best[0],
        best_loses=rows[best] / whole,
        at_random=(earned[0] - earned[1]) / max(earned[0], 1e-300),
        code=code_of(as_told(window), slots, chosen[1], chosen[2], log),
    )


def _always_less(table: Table, key: tuple[int, str, str]) -> bool:
    """Say whether a pair has lost less than the default one in each run, of two or more."""
    regrets = [
        {row["run"]: row["regret"] for row in table if (row["memory"], row["keep"], row["pull"]) == one}
        for one in (key, (key[0], *PAIRS[0]))
    ]
    return len(regrets[0]) > 1 and all(regret < regrets[1].get(run, math.inf) for run, regret in regrets[0].items())


def code_of(window: int | str, memory: int, keep: str, pull: str, log: Log) -> str:
    """Return the line that sets a player up."""
    told = f"window={window!r}, memory={memory}"
    if (keep, pull) != PAIRS[0]:
        told += f", keep={keep!r}, pull={pull!r}"
    low, high = log.scale
    if (low, high) != (0.0, 1.0):
        told += f", scale=({low:g}, {high:g})"
    return f"Player({told})".replace("'", '"')


def as_told(window: Length) -> int | str:
    """Return a window in the reader's own words."""
    return window if isinstance(window, (int, str)) else said(window_of(window))


def _windows(log: Log, span: Window, budgets: Ints, advice: Advice, common: Any) -> list[dict[str, Any]]:
    """Play the advised pair with half the window, the window, and twice the window."""
    found = []
    for factor in (0.5, 1, 2):
        other = Window(max(round(span.length * factor), 1), span.by_time)
        best, _ = best_and_random(log, other, budgets)
        table = simulate.play(
            log.stream, other.told, budgets.tolist(), advice.memory, advice.keep, advice.pull, **common
        )
        [row] = table.summary("keep", ["regret", "pulls"])
        pulls = max(row["pulls"], 1)
        found.append(
            {
                "window": in_days(other),
                "best": log.scale.outside(best / pulls),
                "earned": log.scale.outside((best - row["regret"]) / pulls),
                "regret": row["regret"] * log.scale.width,
                "loses": row["regret"] / max(best, 1e-300),
            }
        )
    return found


def in_days(window: Window) -> int | str:
    """Return a window as a text, in days where it is a few and a half.

    >>> in_days(window_of("4380h")), in_days(window_of("150min")), in_days(window_of(7))
    ('182.5d', '150min', 7)
    """
    days = window.length / DAY
    return f"{days:g}d" if window.by_time and days > 2 and (2 * days).is_integer() else said(window)


def _epsilons(stream: Stream, window: Length, contents: Contents, unit: float, common: Any) -> list[dict[str, Any]]:
    """Certify answers for several epsilons: how many pulls an arm that takes, and how many an arm has."""
    spread = contents.spread.real / unit
    wanted = sorted({_rounded(part * spread) for part in PARTS}, reverse=True) if spread > 0 else [0.1]
    has = float(np.median(contents.in_window))
    found = []
    for epsilon in (one for one in wanted if 0.002 <= one <= 0.5):
        table = simulate.explore(stream, window, epsilon=epsilon, **common)
        [row] = table.summary("keep", ["mean", "pulls", "peak_memory"])
        pulls = row["pulls"] / stream.length
        names = {"epsilon": epsilon * unit, "pulls": pulls, "has": has, "enough": bool(pulls <= has)}
        found.append(names | {"error": row["mean"] * unit, "slots": row["peak_memory"]})
    return found


def _rounded(number: float) -> float:
    """Return a number with one digit."""
    return float(f"{number:.1g}")


def in_words(trade: Trade, contents: Contents) -> list[str]:
    """Say what to do, and why."""
    advice, most = trade.advice, int(contents.valid.max())
    told = [
        f"Use {_slots(advice.memory)} with {advice.keep} x {advice.pull}.  On these arms that loses "
        f"{_share(advice.loses)} of what the best valid arm would have earned; a valid arm at random loses "
        f"{_share(advice.at_random)}."
    ]
    if advice.best_memory != advice.memory:
        told.append(
            f"The best of all that was tried, with {_slots(advice.best_memory)}, loses {_share(advice.best_loses)}."
        )
    if advice.memory < most:
        told.append(f"Up to {many(most, 'arm')} {are(most)} valid at once: there is no need to store them all.")
    if contents.arms > 1 and contents.spread.real == 0:
        told.append(
            "Nothing shows that these arms differ at all: their means are no further apart than chance alone would set "
            "them.  So the numbers here are those of luck, and more rows an arm would tell more."
        )
    elif contents.spread.noise > MUCH:
        told.append(
            f"Take this with care: {contents.spread.noise:.0%} of the spread is only noise, and the simulation takes "
            "logged means for true ones, so that arms with few rows look better or worse than they are.  Leave them "
            "out with least=20."
        )
    enough = [row for row in trade.epsilons if row["enough"]]
    if enough:
        least = min(row["epsilon"] for row in enough)
        told.append(f"There is traffic enough to know the best valid arm within {least:.2g}, with a certificate.")
    elif trade.epsilons:
        row = max(trade.epsilons, key=lambda one: float(one["epsilon"]))
        told.append(
            f"Rewards are too few for a certificate: an answer within {row['epsilon']:.2g} takes {row['pulls']:,.0f} "
            f"pulls an arm, and an arm has {row['has']:,.0f}.  Spend the traffic with a Player instead of an Explorer."
        )
    return told


def _slots(count: int) -> str:
    return many(count, "slot")


def _share(share: float) -> str:
    """Write a share in percent, with digits where it is small."""
    return f"{share:.0%}" if share >= 0.1 or math.isnan(share) else f"{share:.1%}"
