"""A log looked at: what is in it, what memory buys, what a player would have gained; as words, as JSON, as a page."""

import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from bestbefore.clock import Length
from bestbefore.replay import contents as contents_room
from bestbefore.replay import trade as trade_room
from bestbefore.replay.contents import Contents, contents_of, quantiles
from bestbefore.replay.estimate import Estimate, estimate
from bestbefore.replay.trade import PAIRS, Trade, as_told, trade_of
from bestbefore.streams import Log

ASSUMED: Final = (
    "Assumed: arms were shown at random with the probabilities that the log gives, or uniformly where that was said; a "
    "reward depends on the arm and on chance, and not on how often the arm was shown before; nothing else would have "
    "changed.  By rejection the player learns only from rows that show what it has chosen: a small part of the "
    "traffic.  By weighting it learns from all rows, but the log has spread them over all arms.  A player that steers "
    "its own traffic learns faster, so both are usually below the simulation above."
)
INTERVALS: Final = (
    "Each interval is about what the player chose on this very log: on about 95 of 100 logs it holds the true mean "
    "reward of those choices.  It is not about other arms, other days, or the luck of learning: on another log of the "
    "same arms the player would choose better or worse.  By rejection, where it learns from few rows, that luck is "
    "large: the mean over many such logs was outside the interval in 17% to 32% of our tests, by weighting in 5% to 8%."
)
"""The shares are those of `benchmarks/off_policy.py`, in docs/replay.md."""
TITLES: Final = {"rejection": "Replay by rejection", "weighting": "Weighting by inverse propensity"}


class Said(NamedTuple):
    """An estimate in words."""

    title: str
    text: str
    refused: bool


@dataclass(frozen=True)
class Report:
    """The three answers."""

    log: Log
    """The log."""
    window: Length
    """How long arms are valid."""
    contents: Contents
    """What is in the log."""
    trade: Trade
    """What memory buys on it."""
    gains: list[Estimate]
    """What a player would have gained."""

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers and words, ready for JSON."""
        return {
            "log": self.log.name,
            "window": as_told(self.window),
            "scale": list(self.log.scale),
            "contents": self.contents.to_dict(),
            "memory": self.trade.to_dict(),
            "gain": [one.to_dict() for one in self.gains],
            "words": {"contents": self.said(), "memory": self.advice(), "gain": [one.text for one in self.gained()]},
            "assumed": ASSUMED,
            "intervals": INTERVALS,
        }

    @property
    def assumed(self) -> list[str]:
        """What the intervals are about, and what the estimates assume, in words; nothing where there is no estimate."""
        return [INTERVALS, ASSUMED] if any(one.refused is None for one in self.gains) else []

    def said(self) -> list[str]:
        """Say what is in the log."""
        return contents_room.in_words(self.contents, as_told(self.window))

    def advice(self) -> list[str]:
        """Say what memory buys."""
        return trade_room.in_words(self.trade, self.contents)

    def gained(self) -> list[Said]:
        """Say what the player would have gained; one refusal where all are refused for the same reason."""
        whys = {one.refused for one in self.gains}
        if len(whys) == 1 and None not in whys:
            return [Said("The log cannot say", str(whys.pop()), True)]
        return [Said(TITLES[one.method], of_estimate(one), one.refused is not None) for one in self.gains]


def look_at(
    log: Log,
    window: Length,
    *,
    propensity: str | int | None = None,
    uniform: bool = False,
    memory: list[int] | None = None,
    runs: int = 5,
    seed: int = 0,
    jobs: int | None = None,
    progress: bool | None = None,
) -> Report:
    """Answer the three questions about a log; see `bestbefore.replay.estimate` for `propensity` and `uniform`.

    Parameters
    ----------
    log
        A log, as `streams.read_log` returns it.
    window
        A time such as "24h", or a number of arrivals.
    propensity
        The column with the probability with which the arm of a row was shown.
    uniform
        Whether arms in rotation were shown uniformly at random.
    memory
        The slots to try.
    runs
        How many runs of each simulation.
    seed
        The same seed gives the same result.
    jobs
        How many threads or processes work at once; unless given, one for each core.
    progress
        Whether to show a progress bar; unless given, if standard error is a terminal.
    """
    found = contents_of(log, window, progress=progress)
    made = trade_of(log, found, window, memory=memory, runs=runs, seed=seed, jobs=jobs, progress=progress)
    best = made.advice
    rules: Any = {"keep": best.keep, "pull": best.pull, "seed": seed, "progress": progress}
    gains = estimate(log, window, best.memory, propensity=propensity, uniform=uniform, **rules)
    return Report(log, window, found, made, gains)


def of_estimate(one: Estimate) -> str:
    """Say what an estimate says."""
    if one.refused is not None or one.value is None or one.earned is None or one.gain is None:
        return str(one.refused)
    sure = "more" if (one.gain_low or 0) > 0 else "less" if (one.gain_high or 0) < 0 else None
    against = f"{abs(one.gain):.3g} {sure}" if sure else "no clear difference"
    times = f", {one.value / one.earned:.2g} times as much" if sure == "more" and one.earned > 0 else ""
    return (
        f"{one.value:.4g} a row (95%: {one.low:.4g} to {one.high:.4g}), where {one.earned:.4g} was earned: {against} "
        f"(95%: {one.gain_low:+.3g} to {one.gain_high:+.3g}){times}.  Effective sample {one.effective:,.0f}, of "
        f"{one.matched:,} rows that show what the player has chosen, of {one.rows:,}."
    )


def write_page(path: Path, report: Report, made: dict[str, str]) -> None:
    """Write the page of a report, whole or not at all.

    Parameters
    ----------
    path
        The file to write.
    report
        What `look_at` returned.
    made
        What the page says of how it was made, by heading.
    """
    text = _page(report, made)
    half = _half(path)
    try:
        half.write_text(text, encoding="utf-8")
        half.replace(path)
    finally:
        half.unlink(missing_ok=True)


def check_writable(path: Path) -> None:
    """Complain of a place where no file can be written, before the work begins.

    Parameters
    ----------
    path
        The file that is to be written.
    """
    half = _half(path)
    try:
        half.touch()
        half.unlink()
    except OSError as wrong:
        raise OSError(f"{str(path)!r} cannot be written: {wrong.strerror}") from None


def _half(path: Path) -> Path:
    """Return where a file is until it is whole."""
    return path.with_name(f".{path.name}.{os.getpid()}")


def _page(report: Report, made: dict[str, str]) -> str:
    """Fill the template in; the style is that of the paper's report."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    from bestbefore.replay import figures

    log, found, trade = report.log, report.contents, report.trade
    drawn = {
        "arms": figures.draw_arms(found),
        "valid": figures.draw_valid(found, log.arrived[log.kept]),
        "spread": figures.draw_spread(found),
        "ages": figures.draw_ages(found),
        "regret": figures.draw_regret(trade),
        "error": figures.draw_error(trade),
    }
    own = PackageLoader("bestbefore.replay", "templates")
    style = PackageLoader("bestbefore.paper.report", "templates")
    environment = Environment(
        loader=ChoiceLoader([own, style]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    regrets: dict[int, dict[str, float]] = {}
    for row in trade.play.summary(["memory", "keep", "pull"], "regret"):
        regrets.setdefault(int(row["memory"]), {})[f"{row['keep']} x {row['pull']}"] = float(row["regret"])
    older = 1 - float(found.rows_by_age.sum()) / max(found.rows, 1)
    low, high = log.scale
    return environment.get_template("replay.html.jinja").render(
        log=log,
        many=contents_room.many,
        contents=found,
        trade=trade,
        window=as_told(report.window),
        columns=log.reading.columns,
        scale=None if (low, high) == (0.0, 1.0) else (f"{low:g}", f"{high:g}"),
        advice=report.advice(),
        said=report.said(),
        figures={name: Markup(svg) for name, svg in drawn.items()},  # noqa: S704
        noise="" if math.isnan(found.spread.noise) else f"{found.spread.noise:.0%}",
        beyond=f"{older:.0%}" if older >= 0.005 else "",
        counted={
            "Arms valid at once": quantiles(found.valid),
            "Rows of an arm": quantiles(found.of_arm),
            "Rows of an arm while it is valid": quantiles(found.in_window),
            "Rows from one arrival to the next": quantiles(found.traffic),
        },
        pairs=[" x ".join(pair) for pair in PAIRS],
        regrets=dict(sorted(regrets.items())),
        gained=report.gained(),
        assumed=report.assumed,
        made=made,
    )
