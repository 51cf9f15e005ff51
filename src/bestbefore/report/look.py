"""One look for all figures: colours that everybody can tell apart, direct labels, little ink."""

from typing import Any, Final

COLOURS: Final = {  # Okabe and Ito's palette
    "bucket": "#0072B2",
    "topk": "#D55E00",
    "staircase": "#009E73",
    "fifo": "#56B4E9",
    "reservoir": "#CC79A7",
    "king": "#E69F00",
    "wait": "#0072B2",
    "rank": "#D55E00",
    "race": "#009E73",
    "stay": "#0072B2",
    "hope": "#D55E00",
    "weigh": "#009E73",
}
OTHERS: Final = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#555555", "#8c564b")

STYLE: Final[Any] = {
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e6e6e6",
    "axes.axisbelow": True,
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "figure.dpi": 150,
    "svg.fonttype": "none",
}


def colours_of(names: list[str]) -> dict[str, str]:
    """Return a colour for each name: a rule's own, or one of the others."""
    taken = {COLOURS[name] for name in names if name in COLOURS}
    strangers = iter([colour for colour in OTHERS if colour not in taken] * len(names))
    return {name: COLOURS.get(name) or next(strangers) for name in names}


def apart(heights: list[float], gap: float) -> list[float]:
    """Move labels up or down as little as needed for a gap between neighbours.

    >>> apart([0.0, 0.1, 5.0], gap=1.0)
    [-0.45, 0.55, 5.0]
    """
    order = sorted(range(len(heights)), key=heights.__getitem__)
    groups: list[list[int]] = []
    middles: list[float] = []
    for label in order:
        groups.append([label])
        middles.append(heights[label])
        while len(groups) > 1 and middles[-1] - middles[-2] < gap * (len(groups[-1]) + len(groups[-2])) / 2:
            merged = groups[-2] + groups.pop()
            middles.pop()
            groups[-1], middles[-1] = merged, sum(heights[member] for member in merged) / len(merged)
    placed = [0.0] * len(heights)
    for group, middle in zip(groups, middles, strict=True):
        for rank, label in enumerate(group):
            placed[label] = round(middle + gap * (rank - (len(group) - 1) / 2), 12)
    return placed
