"""Charts as SVG: shapes alone, which stretch to whatever width there is.  Words stand beside them, in HTML."""

from datetime import datetime, timedelta
from typing import Any, NamedTuple

from markupsafe import Markup

WIDTH, HEIGHT = 960.0, 100.0


class Scale(NamedTuple):
    """From where to where intervals are drawn."""

    low: float
    high: float

    def place(self, value: float) -> float:
        """Return where a value is, in hundredths."""
        width = self.high - self.low
        return 50.0 if width <= 0 else 100 * min(max((value - self.low) / width, 0.0), 1.0)


def scale_of(arms: list[dict[str, Any]]) -> Scale:
    """Return a scale that holds the intervals of all arms."""
    ends = [arm[end] for arm in arms for end in ("low", "mean", "high") if arm[end] is not None]
    return Scale(min(ends, default=0.0), max(ends, default=1.0))


def interval(arm: dict[str, Any], scale: Scale) -> Markup:
    """Return an arm's interval as a line, and its mean as a mark."""
    shapes = Markup('<line class="axis" x1="0" x2="100" y1="5" y2="5"/>')
    if arm["low"] is not None:
        ends = scale.place(arm["low"]), scale.place(arm["high"])
        shapes += Markup('<rect class="range" x="{:.2f}" width="{:.2f}" y="2" height="6" rx="1"/>').format(
            ends[0], max(ends[1] - ends[0], 0.5)
        )
    if arm["mean"] is not None:
        place = scale.place(arm["mean"])
        shapes += Markup('<line class="mean" x1="{0:.2f}" x2="{0:.2f}" y1="0" y2="10"/>').format(place)
    return _drawing("interval", "0 0 100 10", shapes, "")


def _drawing(kind: str, box: str, shapes: Markup, label: str) -> Markup:
    said = Markup('role="img" aria-label="{}"').format(label) if label else Markup('aria-hidden="true"')
    return Markup('<svg class="{}" viewBox="{}" preserveAspectRatio="none" {} focusable="false">{}</svg>').format(
        kind, box, said, shapes
    )


def steps(past: dict[str, Any]) -> list[dict[str, Any] | None]:
    """Return the totals of each step of a span, None where nothing happened."""
    start, step = datetime.fromisoformat(past["from"]), timedelta(seconds=past["step"])
    count = round((datetime.fromisoformat(past["to"]) - start) / step)
    known = {row["since"]: row for row in past["totals"]}
    return [known.get((start + place * step).isoformat()) for place in range(count)]


def traffic(past: dict[str, Any]) -> Markup:
    """Return pulls asked for as bars, with those that were told filled."""
    rows = steps(past)
    top, wide = max((row["asked"] for row in rows if row), default=0), WIDTH / len(rows)
    shapes = Markup()
    for place, row in enumerate(rows):
        for kind in ("asked", "told") if row and top else ():
            high = HEIGHT * min(row[kind] / top, 1.0)  # type: ignore[index]
            shapes += Markup('<rect class="{}" x="{:.2f}" y="{:.2f}" width="{:.2f}" height="{:.2f}"/>').format(
                kind, place * wide, HEIGHT - high, wide * 0.85, high
            )
    label = f"Pulls asked for and told, in {len(rows)} steps; the numbers are in the table below."
    return _drawing("chart", f"0 0 {WIDTH:g} {HEIGHT:g}", shapes, label)


def rate(past: dict[str, Any]) -> Markup:
    """Return the mean reward as a line, broken where nothing counted."""
    rows = steps(past)
    low, high = rate_range(past)
    wide, shapes, line = WIDTH / len(rows), Markup(), list[str]()
    for place, row in enumerate([*rows, None]):
        if row is not None and row["mean"] is not None:
            share = (row["mean"] - low) / (high - low) if high > low else 0.5
            line.append(f"{(place + 0.5) * wide:.2f},{HEIGHT * (1 - share):.2f}")
        elif line:
            line = (
                line if len(line) > 1 else [line[0], f"{float(line[0].split(',')[0]) + 2:.2f},{line[0].split(',')[1]}"]
            )
            shapes += Markup('<polyline class="rate" points="{}"/>').format(" ".join(line))
            line = []
    label = f"Mean reward, in {len(rows)} steps; the numbers are in the table below."
    return _drawing("chart", f"0 0 {WIDTH:g} {HEIGHT:g}", shapes, label)


def most_asked(past: dict[str, Any]) -> int:
    """Return the most pulls of a step."""
    return max((row["asked"] for row in past["totals"]), default=0)


def rate_range(past: dict[str, Any]) -> tuple[float, float]:
    """Return from where to where mean rewards are drawn: from 0, unless some are below."""
    means = [row["mean"] for row in past["totals"] if row["mean"] is not None]
    return min([0.0, *means]), max([0.0, *means])
