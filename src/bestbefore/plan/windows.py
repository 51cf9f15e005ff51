"""What a window holds, from what a person says."""

from bestbefore.arguments import whole
from bestbefore.clock import Window


def most_of(window: Window, most: int | None) -> int | None:
    """Return how many arms may be valid at once: the window by count, or what was said; None if that is not known."""
    if window.by_time:
        return None if most is None else whole("most", most)
    if most is not None:
        raise ValueError(f"most must be left out with a window by count, not {most!r}: it is the window")
    return window.length
