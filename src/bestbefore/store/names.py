"""Names of arms as JSON, and agents' states without them.

A name stands in a row of its own and nowhere else: the state that is saved refers to it by the arm's number.
"""

import json
import math
from collections.abc import Mapping
from typing import Any, Final

from bestbefore.agents import saved

LONGEST: Final = 2000
"""The longest name of an arm, in bytes of JSON."""

_ARM, _PAIRS = "~arm", "~pairs"


def text_of(arm: Any) -> str:
    """Return the name of an arm as JSON, if it is a string, a number, a boolean, or a tuple of these.

    >>> text_of(("storm", 3))
    '["storm",3]'
    >>> text_of({"storm"})
    Traceback (most recent call last):
    ValueError: arm must be a string, a number, a boolean or a tuple of these in a durable stream, not {'storm'}
    """
    if not _is_plain(arm):
        raise ValueError(
            f"arm must be a string, a number, a boolean or a tuple of these in a durable stream, not {_repr(arm)}"
        )
    text = compact(arm)
    check_text("arm", text)
    if len(text.encode()) > LONGEST:
        raise ValueError(f"arm must have at most {LONGEST} bytes as JSON in a durable stream, not {len(text.encode())}")
    return text


def _repr(arm: Any) -> str:
    try:
        return repr(arm)[:LONGEST]
    except ValueError:
        return "a number of thousands of digits"


def _is_plain(arm: Any) -> bool:
    if isinstance(arm, tuple):
        return all(map(_is_plain, arm))
    if type(arm) is int:
        return arm.bit_length() <= 4 * LONGEST  # much longer ones cannot even be written down
    return type(arm) in (str, bool) or (type(arm) is float and math.isfinite(arm))


def stream_name(name: Any) -> str:
    """Return the name of a stream, if it can be one."""
    if not isinstance(name, str) or not 1 <= len(name) <= 200 or "\0" in name:
        raise ValueError(f"name must be a text of 1 to 200 characters, not {name!r}")
    check_text("name", name)
    return name


def check_text(name: str, text: str) -> None:
    """Raise a `ValueError` if a text cannot be stored."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{name} must be text that can be written as UTF-8, not {text!r}") from None


def name_of(text: str) -> Any:
    """Return the name that `text_of` made a text of."""
    return saved.name(json.loads(text))


def compact(value: Any) -> str:
    """Return a value as JSON, without spaces, letters as they are."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def hidden(state: dict[str, Any], numbers: Mapping[str, int], *, ours: bool) -> dict[str, Any]:
    """Return an agent's state with numbers in place of names; `numbers` has those of the arms here, by their texts.

    Where the names stand in the states of our own agents is known.  In other states, every value that equals a name is
    replaced, wherever it stands: put back, it is the same again.

    >>> hidden({"agent": "Mine", "means": {"storm": 0.5}, "order": ["storm"]}, {'"storm"': 7}, ours=False)
    {'agent': 'Mine', 'means': {'~pairs': [[{'~arm': 7}, 0.5]]}, 'order': [{'~arm': 7}]}
    """
    if not ours:
        return _hidden(state, numbers)  # type: ignore[no-any-return]
    if state["roster"]["let_go"]:
        raise ValueError("state must not name arms that have gone: advance() hands them out")
    return state | {"arms": [arm | {"arm": None} for arm in state["arms"]]}


def shown(state: dict[str, Any], names: Mapping[int, Any], *, ours: bool) -> dict[str, Any]:
    """Return a state that was saved with the names put back; a number without a name is a `KeyError`."""
    if not ours:
        return _shown(state, names)  # type: ignore[no-any-return]
    return state | {"arms": [arm | {"arm": names[arm["arrival"]]} for arm in state["arms"]]}


def _hidden(value: Any, numbers: Mapping[str, int]) -> Any:
    if isinstance(value, dict):
        if not any(compact(key) in numbers for key in value):
            return {key: _hidden(item, numbers) for key, item in value.items()}
        return {_PAIRS: [[_hidden(key, numbers), _hidden(item, numbers)] for key, item in value.items()]}
    if value is not None and (text := compact(value)) in numbers:
        return {_ARM: numbers[text]}
    return [_hidden(item, numbers) for item in value] if isinstance(value, (list, tuple)) else value


def _shown(value: Any, names: Mapping[int, Any]) -> Any:
    if isinstance(value, list):
        return [_shown(item, names) for item in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == {_ARM}:
        return saved.plain(names[value[_ARM]])
    if value.keys() == {_PAIRS}:
        return {_shown(key, names): _shown(item, names) for key, item in value[_PAIRS]}
    return {key: _shown(item, names) for key, item in value.items()}
