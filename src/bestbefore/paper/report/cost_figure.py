"""The figure of costs: pulls an arm against epsilon, side by side for two sorts of arms, a line for each window."""

import math
from collections.abc import Iterable, Sequence
from typing import Any, Final

from bestbefore.paper.costs import Costs
from bestbefore.paper.panels import DATA, Panel
from bestbefore.paper.report.panel import FOOT, HEAD, LINES, NOTE, OWN, ROLES, SIZE, TITLE, WIDTH, WORDS, saved
from bestbefore.paper.words import capital
from bestbefore.style import STYLE, apart, label, power, within

MOST: Final = 2
"""Sorts of arms side by side; the table has the others."""
HEIGHT: Final = 200.0
"""Of the axes, in points like all lengths here."""
LEFT, RIGHT = 50.0, 68.0
"""Room for the numbers of the axis, and for the names of the lines."""
GAP: Final = 12.0
LINE: Final = 12.0
"""Height of one more line of a title."""
NAMES: Final = {"paper": "Algorithm 1", "pairs": "by pairs", "certify": "certified"}
LOOKS: Final[dict[str, tuple[str, Any]]] = {
    "paper": ("paper", {"linewidth": 1.5, "markersize": 3.2}),
    "pairs": ("ours", {"linewidth": 1.2, "markersize": 2.6, "linestyle": "--"}),
    "certify": ("ours", {"linewidth": 2.4, "markersize": 4.0}),
}
"""Whose colour a line has, and how it is drawn."""
EPSILONS: Final = (0.03, 0.1, 0.3, 1.0)


def draw_cost_figure(costs: Costs, panels: Iterable[Panel]) -> str:
    """Return an SVG: to the right, epsilon is smaller, and pulls are more."""
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    own = [panel for panel in panels if panel.name in costs.rows]
    sorts = list(dict.fromkeys(panel.data for panel in own))[:MOST]
    titles = [capital(DATA[data]).replace(" by ", "\nby ") for data in sorts]  # a line is too narrow for it
    height = TITLE + HEAD + LINE * max(title.count("\n") for title in titles) + HEIGHT + FOOT + NOTE
    with mpl.rc_context(STYLE | OWN | {"svg.hashsalt": "costs"}):
        figure = Figure(figsize=(WIDTH / 72, height / 72), dpi=160)
        FigureCanvasAgg(figure)
        width = (WIDTH - LEFT) / len(sorts)
        for place, (data, title) in enumerate(zip(sorts, titles, strict=True)):
            frame = ((LEFT + place * width) / WIDTH, (FOOT + NOTE) / height, (width - RIGHT) / WIDTH, HEIGHT / height)
            axes = figure.add_axes(frame)
            axes.set_title(title, pad=6, x=0, y=1.0)
            _scale(axes, costs, numbered=place == 0)
            _draw(axes, costs, [panel.name for panel in own if panel.data == data])
        return saved(figure, png=False).svg


def _scale(axes: Any, costs: Costs, *, numbered: bool) -> None:
    """Make both axes logarithmic, and the same for all sorts of arms."""
    from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

    rows = [ways[way] for ways in costs.settings for way in NAMES]
    pulls, epsilons = [row["pulls"] for row in rows], [row["epsilon"] for row in rows]
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(max(epsilons) * 1.25, min(epsilons) / 1.25)
    axes.set_ylim(min(pulls) / 1.5, max(pulls) * 1.5)
    shown = [one for one in EPSILONS if min(epsilons) / 1.25 <= one <= max(epsilons) * 1.25]
    decades = range(math.ceil(math.log10(min(pulls) / 1.5)), math.floor(math.log10(max(pulls) * 1.5)) + 1)
    ticks = [10.0**decade for decade in decades]
    for axis, places, labels in (
        (axes.xaxis, shown, [label(one) for one in shown]),
        (axes.yaxis, ticks, [power(decade) for decade in decades]),
    ):
        axis.set_major_locator(FixedLocator(places))
        axis.set_major_formatter(FixedFormatter(labels))
        axis.set_minor_locator(NullLocator())
    axes.hlines(ticks, 0, 1, transform=axes.get_yaxis_transform(), **LINES)
    axes.vlines(shown, 0, 1, transform=axes.get_xaxis_transform(), **LINES)
    axes.set_xlabel("epsilon", va="top")
    axes.xaxis.set_label_coords(0.5, -15 / HEIGHT)
    axes.tick_params(left=False, bottom=False, labelleft=numbered, length=0, pad=3)


def _draw(axes: Any, costs: Costs, names: Sequence[str]) -> None:
    """Draw a line for each way and panel, and write the name of the way at the end of the longest."""
    ends = {}
    for way in NAMES:
        role, look = LOOKS[way]
        for name in names:
            rows = [ways[way] for _, ways in sorted(costs.rows[name].items())]
            axes.plot(
                [row["epsilon"] for row in rows], [row["pulls"] for row in rows], marker="o", color=ROLES[role], **look
            )
        ends[way] = min((ways[way] for name in names for ways in costs.rows[name].values()), key=_epsilon)
    box, points = axes.get_window_extent(), 72 / axes.figure.dpi
    heights = [float(axes.transData.transform((1, end["pulls"]))[1] - box.y0) * points for end in ends.values()]
    placed = within(apart(heights, GAP), GAP / 2, float(box.height) * points, GAP)
    for (way, end), height in zip(ends.items(), placed, strict=True):
        side = float(axes.transData.transform((end["epsilon"], 1))[0] - box.x0) * points + 6
        look = {"color": WORDS[LOOKS[way][0]], "weight": "bold", "size": SIZE - 0.5, "va": "center"}
        axes.annotate(NAMES[way], (0, 0), (side, height), textcoords="axes points", annotation_clip=False, **look)


def _epsilon(row: Any) -> float:
    return float(row["epsilon"])
