"""The figures of a replay, drawn for a page: narrow and tall, with the colours and the font of the page."""

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from bestbefore.paper.report.inline import inline
from bestbefore.paper.report.panel import FOOT, HEAD, INK, LINES, NOTE, OWN, ROLES, TITLE, WIDTH, WORDS, saved
from bestbefore.replay.contents import Contents
from bestbefore.replay.trade import PAIRS, Trade
from bestbefore.simulate import Table
from bestbefore.style import STYLE, apart, label, scale_to_zero, within

HEIGHT: Final = 190.0
"""Of axes, in points like all lengths here."""
LEFT, RIGHT = 52.0, 14.0
NAMES: Final = 92.0
"""Room for the names of lines."""
LOOKS: Final = ("ours", "paper", "baseline", "ink")
"""Colours of lines, in the order in which they are drawn."""


def _figure(name: str, title: str, alt: str, draw: Callable[[Any], None], right: float = RIGHT) -> str:
    """Draw one chart, and return its SVG for a page."""
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    height = TITLE + HEAD + HEIGHT + FOOT + NOTE
    with mpl.rc_context(STYLE | OWN | {"svg.hashsalt": name}):
        figure = Figure(figsize=(WIDTH / 72, height / 72), dpi=160)
        FigureCanvasAgg(figure)
        frame = (LEFT / WIDTH, (FOOT + NOTE) / height, (WIDTH - LEFT - right) / WIDTH, HEIGHT / height)
        axes = figure.add_axes(frame)
        axes.set_title(title, pad=6, x=0, y=1.0)
        axes.tick_params(left=False, bottom=False, length=0, pad=3)
        draw(axes)
        return inline(saved(figure, png=False).svg, name, alt)


def _label_below(axes: Any, text: str) -> None:
    axes.set_xlabel(text, va="top")
    axes.xaxis.set_label_coords(0.5, -15 / HEIGHT)


def _even(axes: Any, top: float, unit: Callable[[float], str] = label, *, counts: bool = False) -> None:
    """Have an axis from 0, with a few lines, at whole numbers where it counts."""
    from matplotlib.ticker import FixedFormatter, FixedLocator, MaxNLocator

    ticks = [
        float(tick)
        for tick in MaxNLocator(5, integer=counts).tick_values(0, max(top, 1e-12))
        if 0 <= tick <= 1.05 * top
    ]
    axes.yaxis.set_major_locator(FixedLocator(ticks))
    axes.yaxis.set_major_formatter(FixedFormatter([unit(tick) for tick in ticks]))
    axes.hlines(ticks, 0, 1, transform=axes.get_yaxis_transform(), **LINES)
    axes.set_ylim(0, 1.06 * top)


def _days(axes: Any, days: Sequence[int]) -> None:
    """Name a few days."""
    from matplotlib.ticker import FixedFormatter, FixedLocator

    places = sorted({round(place) for place in np.linspace(days[0], days[-1], 4)})
    axes.xaxis.set_major_locator(FixedLocator(places))
    axes.xaxis.set_major_formatter(FixedFormatter([str(np.datetime64(place, "D")) for place in places]))
    axes.set_xlim(days[0] - 0.6, days[-1] + 0.6)
    for text, side in zip(axes.get_xticklabels(), ["left", *["center"] * (len(places) - 2), "right"], strict=False):
        text.set_horizontalalignment(side)
    _label_below(axes, "day (UTC)")


def draw_arms(contents: Contents) -> str:
    """Draw how many arms arrive by day; of many days, their means over some."""

    def draw(axes: Any) -> None:
        days, arms = _thinned(contents.days, contents.arms_by_day)
        axes.fill_between(days, 0, arms, step="mid", color=ROLES["ours"], alpha=0.35, linewidth=0)
        axes.step(days, arms, where="mid", color=ROLES["ours"], linewidth=1.2)
        _even(axes, float(arms.max()), counts=True)
        _days(axes, contents.days.tolist())

    return _figure("arms", "New arms a day", "Arms that arrive by day.", draw)


def draw_valid(contents: Contents, arrived: Any) -> str:
    """Draw how many arms are valid at once."""

    def draw(axes: Any) -> None:
        days = arrived / 86400e6
        chosen = np.unique(np.linspace(0, days.size - 1, min(days.size, 600)).round().astype(int))
        axes.plot(days[chosen], contents.valid[chosen], color=ROLES["paper"], linewidth=1.2)
        _even(axes, float(contents.valid.max()), counts=True)
        _days(axes, contents.days.tolist())

    return _figure("valid", "Arms valid at once", "How many arms are valid as each one arrives.", draw)


def draw_spread(contents: Contents) -> str:
    """Draw the means of some arms from the best to the worst, with their intervals."""

    def draw(axes: Any) -> None:
        from matplotlib.ticker import FixedFormatter, FixedLocator

        means, low, high = (np.array([one[place] for one in contents.ranked]) for place in (2, 3, 4))
        places = np.linspace(0, 100, means.size)
        axes.vlines(places, low, high, color=ROLES["paper"], linewidth=2.2, alpha=0.35)
        axes.plot(places, means, "o", color=ROLES["paper"], markersize=3)
        axes.set_xlim(-2, 102)
        axes.xaxis.set_major_locator(FixedLocator([0, 25, 50, 75, 100]))
        axes.xaxis.set_major_formatter(FixedFormatter(["best", "", "middle", "", "worst"]))
        ends = float(low.min()), float(high.max())
        if ends[0] >= 0:
            _even(axes, ends[1])
        axes.axhline(contents.spread.mean, color=INK, linewidth=0.8, linestyle=":")
        _label_below(axes, "arms from the best mean to the worst")

    return _figure("spread", "Mean reward of arms, with 95% intervals", "Means of arms with their intervals.", draw)


def draw_ages(contents: Contents) -> str:
    """Draw which share of all rows an arm has at which age."""

    def draw(axes: Any) -> None:
        from matplotlib.ticker import FixedFormatter, FixedLocator

        shares = 100 * contents.rows_by_age / max(contents.rows, 1)
        width = float(contents.ages[1])
        valid = contents.ages < 1
        for chosen, role in ((valid, "ours"), (~valid, "baseline")):
            axes.bar(contents.ages[chosen] + width / 2, shares[chosen], 0.9 * width, color=ROLES[role], linewidth=0)
        axes.axvline(1, color=INK, linewidth=0.8, linestyle=":")
        _even(axes, float(shares.max()) or 1.0, lambda number: f"{label(number)}%")
        axes.xaxis.set_major_locator(FixedLocator([0, 1, 2, 3]))
        axes.xaxis.set_major_formatter(FixedFormatter(["0", "1 window", "2 windows", "3"]))
        axes.set_xlim(0, 3.02)
        _label_below(axes, "age of the arm")

    return _figure("ages", "Rows by the age of their arm", "The share of rows by the age of the arm.", draw)


def draw_regret(trade: Trade) -> str:
    """Draw regret against slots, a line for each pair."""
    names = [" x ".join(pair) for pair in PAIRS]
    return _lines("regret", "Regret", trade.play, ["keep", "pull"], names, "regret", 0)


def draw_error(trade: Trade) -> str:
    """Draw the error of the answer against slots, a line for each keep rule."""
    names = list(dict.fromkeys(row["keep"] for row in trade.explore))
    return _lines("error", "Mean error of the answer", trade.explore, ["keep"], names, "mean", -5)


def _lines(name: str, title: str, table: Table, rules: list[str], names: list[str], column: str, least: int) -> str:
    """Draw a column against slots."""

    def draw(axes: Any) -> None:
        from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

        summed = table.summary([*rules, "memory"], column)
        numbers = [float(row[column]) for row in summed]
        axes.set_xscale("log")
        scale_to_zero(axes, numbers, least, most=8)
        ticks = [tick for tick in axes.get_yticks() if axes.get_ylim()[0] <= tick <= axes.get_ylim()[1]]
        axes.yaxis.set_minor_locator(NullLocator())
        axes.hlines(ticks, 0, 1, transform=axes.get_yaxis_transform(), **LINES)
        slots = sorted({int(row["memory"]) for row in summed})
        axes.xaxis.set_major_locator(FixedLocator(slots))
        axes.xaxis.set_major_formatter(FixedFormatter([str(one) for one in slots]))
        axes.xaxis.set_minor_locator(NullLocator())
        ends = []
        for rank, rule in enumerate(names):
            own = [row for row in summed if " x ".join(row[one] for one in rules) == rule]
            role = LOOKS[rank % len(LOOKS)]
            look: Any = {"linewidth": 2.6 if rank == 0 else 1.4, "markersize": 4.0 if rank == 0 else 3.0, "marker": "o"}
            axes.plot([row["memory"] for row in own], [row[column] for row in own], color=ROLES.get(role, INK), **look)
            ends.append(float(own[-1][column]))
        box, points = axes.get_window_extent(), 72 / axes.figure.dpi
        gap = 24.0 if len(rules) > 1 else 13.0
        heights = [float(axes.transData.transform((1, end))[1] - box.y0) * points for end in ends]
        placed = within(apart(heights, gap), gap / 2, float(box.height) * points, gap)
        for rank, (rule, height) in enumerate(zip(names, placed, strict=True)):
            side = float(box.width) * points + 4
            look = {"color": WORDS.get(LOOKS[rank % len(LOOKS)], INK), "weight": "bold", "size": 9.5, "va": "center"}
            words = rule.replace(" x ", "\nx ")
            axes.annotate(words, (0, 0), (side, height), textcoords="axes points", annotation_clip=False, **look)
        _label_below(axes, "memory (slots)")

    return _figure(name, title, f"{title} against memory.  The table has the numbers.", draw, NAMES)


def _thinned(days: Any, numbers: Any, most: int = 120) -> tuple[Any, Any]:
    """Return means over so many days that there are at most `most` steps."""
    size = math.ceil(days.size / most)
    cuts = np.arange(0, days.size, size)
    lengths = np.diff(np.append(cuts, days.size))
    return days[cuts] + (lengths - 1) / 2, np.add.reduceat(numbers, cuts) / lengths
