"""How many slots a promise takes with fixed tests, what slots leave of epsilon, and what to say if they are too few.

>>> from bestbefore.rules import KEEP
>>> plan = {"keep": KEEP["bucket"], "most": 500, "top": 1, "spare": 0}
>>> least_memory(plan, pending=3, epsilon=0.1)
13
"""

import math
from typing import Any

from bestbefore import bounds
from bestbefore.rules import Keep


def words_of(*, top: int = 1, spare: int = 0, pending: int = 1) -> str:
    """Return those of the numbers that are not the defaults, as the caller wrote them: "top=3 and pending=2"."""
    defaults = {"top": 1, "spare": 0, "pending": 1}
    given = {"top": top, "spare": spare, "pending": pending}
    return " and ".join(f"{name}={value}" for name, value in given.items() if value != defaults[name])


def least_memory(common: dict[str, Any], pending: int, epsilon: float | None) -> int:
    """Return the slots below which nothing works: a place for each rank, and cells that are narrower than epsilon.

    Of the arms pending all but the newest take a slot as well.  A rule that can store a whole window needs no more.
    """
    rule, most = common["keep"], common["most"]
    slots = ranks = int(common["top"] + common["spare"])
    if epsilon is not None and rule.cells is not None:
        slots = ranks * max(math.floor(1 / epsilon + 1e-9) - rule.cells + 1, 1)
    if rule.whole and most is not None:
        slots = min(slots, most)
    return slots + pending - 1


def too_few(common: dict[str, Any], pending: int, epsilon: float | None, least: int, memory: int) -> str:
    """Say that memory is too small, in numbers that the caller gave."""
    rule, most = common["keep"], common["most"]
    said = words_of(top=common["top"], spare=common["spare"], pending=pending)
    wanted = "" if epsilon is None else f" to promise epsilon={epsilon:.12g}"
    reasons = []
    if rule.whole and least - (pending - 1) == most:
        reasons.append("that is one for each valid arm")
    if pending > 1:
        reasons.append("each arm pending but the newest takes one")
    why = f": {', and '.join(reasons)}" if reasons else ""
    instead = "" if epsilon is None else "; without epsilon, memory is put to the best use it has"
    with_rule = f" with keep={rule.name!r}" + (f" and {said}" if said else "")
    return f"memory must be at least {least} slots{wanted}{with_rule}, not {memory}{why}{instead}"


def slots_for(rule: Keep, most: int | None, epsilon: float, split: float | None, ranks: int) -> tuple[int, float]:
    """Return the slots that the rule needs for epsilon, and how far means may be off."""
    split = rule.split if split is None else split
    slots = bounds.memory(epsilon, split, ranks)
    if rule.whole and rule.cells is None and most is None:
        raise ValueError(
            f"memory or most must be given with a window by time and keep={rule.name!r}, not None: it stores all arms"
        )
    if rule.whole and most is not None and (rule.cells is None or slots >= most):
        return most, bounds.noise(epsilon, split=0)
    return slots, bounds.noise(epsilon, split)


def theta_for(rule: Keep, most: int | None, slots: int, epsilon: float | None, ranks: int) -> float:
    """Return how far means may be off if so many slots are to do; a third of epsilon where that follows from them."""
    width = cell_width(rule, most, slots, ranks)
    if epsilon is None:
        return (3 if width == 0 else 2) / (2 * max(slots // ranks, 1))
    if width is None:
        return bounds.noise(epsilon)
    return max((epsilon - width) / 2, 0.0)


def cell_width(rule: Keep, most: int | None, slots: int, ranks: int) -> float | None:
    """Return what slots cost of epsilon: 0 for a whole window, a cell where there are cells; None for no promise."""
    if rule.whole and most is not None and slots >= most:
        return 0.0
    return None if rule.cells is None else 1 / (slots // ranks + rule.cells)
