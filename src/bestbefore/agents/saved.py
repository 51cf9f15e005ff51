"""Saved states: plain dicts, ready for JSON, checked when they are read back."""

import math
from collections.abc import Hashable, Mapping
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from inspect import signature
from typing import Any

import numpy as np

from bestbefore.arguments import MOST, is_name
from bestbefore.clock import said, window_of
from bestbefore.rules import name_of

OWN = "own"
"""Stands for the name of a user's own rule."""

UNSAVED = ("seed", "valid")
"""Arguments of constructors that are not saved: the generator's state is, and functions cannot be."""


_PLAIN = frozenset({int, float, str, bool, type(None)})

VERSION = 5
"""The version of states that are saved now; those of earlier versions are read as well."""


def checked_agent(state: Any, agent: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of an agent's saved state, as the newest version has them, or say what is wrong with it."""
    if not isinstance(state, dict):
        raise ValueError(f"state must be a dict as given by state(), not {type(state).__name__}")
    if state.get("agent") != agent:
        raise ValueError(f"state must be that of an agent {agent!r}, not {state.get('agent')!r}")
    if state.get("version") not in range(1, VERSION + 1):
        raise ValueError(f"state must be of version 1 to {VERSION}, not {state.get('version')!r}")
    if state["version"] == 1:
        state = _from_version_1(state)
    if state["version"] <= 2:
        state = _from_version_2(state)
    if state["version"] <= 3:
        state = _from_version_3(state)
    if state["version"] <= 4:
        state = _from_version_4(state)
    return checked({field: value for field, value in state.items() if field not in ("agent", "version")}, fields)


def _from_version_1(state: dict[str, Any]) -> dict[str, Any]:
    """Return a state of version 1 as version 2 has it: explorers had no certificates then."""
    arguments = state.get("arguments")
    if state["agent"] != "Explorer" or not isinstance(arguments, dict):
        return state
    probe = "fixed" if arguments.get("keep") == "staircase" else arguments.get("probe")
    more = {"budget": None, "relative": False, "reacts": False, "probe": probe}
    return state | {"arguments": arguments | more}


def _from_version_2(state: dict[str, Any]) -> dict[str, Any]:
    """Return a state of version 2 as version 3 has it: windows were by count then, and no arm was withdrawn."""
    try:
        roster, arms, ticks = state["roster"], state["arms"], state.get("ticks", 0)
        now, arguments = roster["now"], state["arguments"] | {"tolerance": None, "scale": [0.0, 1.0]}
        clock = {"time": now, "newest": now, "arrivals": now - ticks, "on_wall": 0, "recent": []}
        state = {field: value for field, value in state.items() if field != "ticks"}
        state |= {"roster": {"clock": clock, "let_go": roster["let_go"]}}
        state |= {"arms": [arm | {"counted": arm["arrival"]} for arm in arms]}
        if state["agent"] != "Seeker":
            arguments |= {"most": None}
        if state["agent"] == "Player":
            state |= {"began": min(now, 1)}
        if state["agent"] == "Explorer":
            arguments |= {"patience": None, "top": 1, "spare": 0}
            state |= {"withdrawn": [], "probe": _with_freed(state["probe"], arms)}
        return state | {"arguments": arguments}
    except (TypeError, KeyError) as wrong:
        raise ValueError(f"state is damaged: version {state['version']} should have what is missing: {wrong}") from None


def _from_version_3(state: dict[str, Any]) -> dict[str, Any]:
    """Return a state of version 3 as version 4 has it: players did not learn their traffic then."""
    if state["agent"] != "Player":
        return state
    try:
        pulls, arrivals = state["pulls"], state["roster"]["clock"]["arrivals"]
        learnt = {"pace": pulls / max(arrivals, 1), "epochs": min(arrivals, 1), "used": 1.0}
        return state | learnt | {"delay": 0.0, "delays": 0, "youth": 1.0}
    except (TypeError, KeyError) as wrong:
        raise ValueError(f"state is damaged: version {state['version']} should have what is missing: {wrong}") from None


def _from_version_4(state: dict[str, Any]) -> dict[str, Any]:
    """Return a state of version 4 as version 5 has it: how noisy rewards are was not learnt then.

    Instead it had how good the second best was, for `fresh`, which does not ask any more.
    """
    if state["agent"] != "Player":
        return state
    try:
        arms = [arm | {"shades": 0.0} for arm in state["arms"]]
        kept = {field: value for field, value in state.items() if field != "heir"}
        return kept | {"arms": arms, "dispersion": 1.0}
    except (TypeError, KeyError) as wrong:
        raise ValueError(f"state is damaged: version {state['version']} should have what is missing: {wrong}") from None


def _with_freed(probe: list[Any], arms: list[Any]) -> list[Any]:
    """Return what certificates remember, where it was not noted in whose favour arms were dropped at no cost.

    So it must be feared of all arms before each.
    """
    if not probe or not isinstance(probe[0], dict):
        return probe
    freed = [arm["arrival"] - 1 for arm in arms] + [0]
    return [probe[0] | {"late": 0}, *({**row, "freed": number} for row, number in zip(probe[1:], freed, strict=False))]


def checked(state: Any, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return a part of a saved state, if it has these fields, of these kinds, and no other.

    Whole numbers must be from 0 to 2**53, and floats must be finite.  They come in the order of `fields`, whatever the
    order of keys was.
    """
    if not isinstance(state, dict):
        raise ValueError(f"state is damaged: {state!r} should have fields {sorted(fields)}")
    if set(state) != set(fields):
        missing, extra = sorted(set(fields) - set(state)), sorted(map(str, set(state) - set(fields)))
        raise ValueError(f"state is damaged: fields missing {missing}, fields unknown {extra}")
    for field, kind in fields.items():
        value = state[field]
        allowed = (float, int) if kind is float else kind
        out_of_range = kind is not float and isinstance(value, int) and not 0 <= value <= MOST
        endless = isinstance(value, float) and not math.isfinite(value)
        if kind is not object and (
            not isinstance(value, allowed) or isinstance(value, bool) or out_of_range or endless
        ):
            raise ValueError(f"state is damaged: {field} cannot be {value!r}")
    return {field: float(state[field]) if kind is float else state[field] for field, kind in fields.items()}


def arguments_of(**given: Any) -> dict[str, Any]:
    """Return the arguments of a constructor as they are saved: numbers are Python's own."""
    return {name: _argument(name, value) for name, value in given.items()}


def _argument(name: str, value: Any) -> Any:
    if isinstance(value, (Fraction, Decimal)):
        return float(value)
    a_time = name in ("window", "patience", "tolerance") and isinstance(value, (timedelta, str))
    return said(window_of(value, name)) if a_time else plain(value)


def with_rules(arguments: dict[str, Any], **chosen: Any) -> dict[str, Any]:
    """Return arguments with the rules that were chosen, by name; of a user's own rule only its name is saved."""
    return arguments | {kind: {OWN: name_of(rule)} if callable(rule) else rule for kind, rule in chosen.items()}


def checked_arguments(arguments: dict[str, Any], agent: type, functions: Mapping[str, Any]) -> dict[str, Any]:
    """Return saved arguments of an agent's constructor with the functions among them, or say what is wrong."""
    expected = _saved(agent)
    if set(arguments) != expected:
        raise ValueError(f"state is damaged: arguments must be {sorted(expected)}, not {sorted(map(str, arguments))}")
    given = {kind: function for kind, function in functions.items() if function is not None}
    for kind, rule in arguments.items():
        if not isinstance(rule, dict):
            continue
        if set(rule) != {OWN}:
            raise ValueError(f"state is damaged: {kind} cannot be {rule!r}")
        if kind not in given or name_of(given[kind]) != rule[OWN]:
            raise ValueError(f"{kind} must be given again: the agent that was saved had its own, called {rule[OWN]!r}")
    for kind in set(given) & set(arguments):
        if not isinstance(arguments[kind], dict):
            raise ValueError(f"{kind} must be left out: the agent that was saved had {arguments[kind]!r}")
    return arguments | given


@lru_cache
def _saved(agent: type) -> frozenset[str]:
    """Return which arguments of an agent's constructor are saved."""
    return frozenset(signature(agent).parameters) - set(UNSAVED)


def name(saved: Any) -> Hashable:
    """Return an arm's name as it was: what JSON has made a list was a tuple, for a list is no name."""
    restored = tuple(map(name, saved)) if isinstance(saved, (list, tuple)) else saved
    if not is_name(restored):
        raise ValueError(f"state is damaged: {saved!r} cannot be the name of an arm")
    return restored


def plain(value: Any) -> Any:
    """Return a copy as JSON has it: numbers and arrays are Python's own, tuples are lists."""
    if isinstance(value, dict):  # most of a state is numbers, which cost a call each otherwise
        return {key: item if type(item) in _PLAIN else plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [item if type(item) in _PLAIN else plain(item) for item in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    return value
