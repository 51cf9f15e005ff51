"""Checks of what a user passes in: each error names the parameter, the value and what is allowed."""

import math
import operator
from collections.abc import Iterable
from typing import Final, SupportsIndex

MOST: Final = 2**53
"""The largest whole number that is allowed anywhere: up to here all of them are floats, too."""


def whole(name: str, value: SupportsIndex, at_least: int = 1) -> int:
    """Return `value` as an int, if it is a whole number of at least `at_least`.

    >>> whole("window", 50)
    50
    >>> whole("window", 0)
    Traceback (most recent call last):
    ValueError: window must be a whole number of at least 1, not 0
    """
    if type(value) is int and at_least <= value <= MOST:  # what a caller of verbs nearly always passes
        return value
    try:
        number = operator.index(value)
    except TypeError:
        number = at_least - 1
    if isinstance(value, bool) or type(value).__name__ == "timedelta64" or number < at_least:
        raise ValueError(f"{name} must be a whole number of at least {at_least}, not {value!r}")
    if number > MOST:
        raise ValueError(f"{name} must be at most 2**53, not {value!r}")
    return number


def between(name: str, value: float, low: float, high: float, *, closed: str = "neither") -> float:
    """Return `value` as a float, if it lies between `low` and `high`; `closed` says which ends are allowed.

    >>> between("epsilon", 1, 0, 1, closed="right")
    1.0
    >>> between("delta", 1, 0, 1)
    Traceback (most recent call last):
    ValueError: delta must be a number above 0 and below 1, not 1
    """
    left, right = closed in ("left", "both"), closed in ("right", "both")
    number = real(value)
    if not ((number >= low if left else number > low) and (number <= high if right else number < high)):
        lower = f"of at least {low:g}" if left else f"above {low:g}"
        upper = "" if high == math.inf else f" and at most {high:g}" if right else f" and below {high:g}"
        raise ValueError(f"{name} must be a number {lower}{upper}, not {value!r}")
    return number


def finite(name: str, value: float) -> float:
    """Return `value` as a float, if it is a finite number."""
    number = real(value)
    if not math.isfinite(number):
        raise ValueError(f"{name} must be a finite number, not {value!r}")
    return number


def one_of(name: str, value: str, allowed: Iterable[str]) -> str:
    """Return `value`, if it is one of the words allowed.

    >>> one_of("keep", "bukcet", ["fifo", "bucket"])
    Traceback (most recent call last):
    ValueError: keep must be one of 'fifo', 'bucket', not 'bukcet'
    """
    words = list(allowed)
    if not isinstance(value, str) or value not in words:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, words))}, not {value!r}")
    return value


def is_name(value: object) -> bool:
    """Tell whether a value can be the name of an arm: neither None, nor NaN, nor anything that cannot be hashed."""
    if type(value) is str:
        return True
    try:
        hash(value)
    except TypeError:
        return False
    return value is not None and bool(value == value)  # NaN is not


def real(value: object) -> float:
    """Return `value` as a float, or NaN where it is none: NaN passes no comparison, so every check refuses it."""
    if type(value) is float:
        return value
    if isinstance(value, (str, bytes)):
        return math.nan
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return math.nan
