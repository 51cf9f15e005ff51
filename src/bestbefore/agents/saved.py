"""Saved states: plain dicts, ready for JSON, checked when they are read back."""

import math
from collections.abc import Hashable, Mapping
from inspect import signature
from typing import Any

import numpy as np

from bestbefore.arguments import is_hashable

BIT_GENERATORS = ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")


def checked_agent(state: Any, agent: str, version: int, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of the saved state of an agent of this version, or say what is wrong with it."""
    if not isinstance(state, dict):
        raise ValueError(f"state must be a dict as given by state(), not {type(state).__name__}")
    if state.get("agent") != agent:
        raise ValueError(f"state must be that of an agent {agent!r}, not {state.get('agent')!r}")
    if state.get("version") != version:
        raise ValueError(f"state must be of version {version}, not {state.get('version')!r}")
    return checked({field: value for field, value in state.items() if field not in ("agent", "version")}, fields)


def checked(state: Any, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return a part of a saved state, if it has these fields, of these kinds, and no other.

    Whole numbers must not be negative, and floats must be finite.
    """
    if not isinstance(state, dict):
        raise ValueError(f"state is damaged: {state!r} should have fields {sorted(fields)}")
    if set(state) != set(fields):
        missing, extra = sorted(set(fields) - set(state)), sorted(map(str, set(state) - set(fields)))
        raise ValueError(f"state is damaged: fields missing {missing}, fields unknown {extra}")
    for field, kind in fields.items():
        value = state[field]
        allowed = (float, int) if kind is float else kind
        negative = kind is int and isinstance(value, int) and value < 0
        endless = isinstance(value, float) and not math.isfinite(value)
        if kind is not object and (not isinstance(value, allowed) or isinstance(value, bool) or negative or endless):
            raise ValueError(f"state is damaged: {field} cannot be {value!r}")
    return state


def checked_arguments(arguments: dict[str, Any], agent: type) -> dict[str, Any]:
    """Return the saved arguments of an agent's constructor, all but the seed, or say which are wrong."""
    expected = set(signature(agent).parameters) - {"seed"}
    if set(arguments) != expected:
        raise ValueError(f"state is damaged: arguments must be {sorted(expected)}, not {sorted(map(str, arguments))}")
    return arguments


def name(saved: Any) -> Hashable:
    """Return an arm's name as it was: what JSON has made a list was a tuple, for a list is no name."""
    restored = tuple(map(name, saved)) if isinstance(saved, (list, tuple)) else saved
    if restored is None or not is_hashable(restored):
        raise ValueError(f"state is damaged: {saved!r} cannot be the name of an arm")
    return restored


def plain(value: Any) -> Any:
    """Return numbers and arrays of NumPy as Python's own, throughout dicts."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value


def generator_state(generator: np.random.Generator) -> dict[str, Any]:
    """Return where a random generator stands."""
    state: dict[str, Any] = plain(generator.bit_generator.state)
    return state


def generator(state: dict[str, Any]) -> np.random.Generator:
    """Return a random generator that stands where the saved one stood."""
    kind = state.get("bit_generator")
    if kind not in BIT_GENERATORS:
        raise ValueError(f"state is damaged: the generator must be one of {', '.join(BIT_GENERATORS)}, not {kind!r}")
    bits = getattr(np.random, kind)()
    try:
        bits.state = state
    except (TypeError, ValueError, KeyError, OverflowError) as wrong:
        raise ValueError(f"state is damaged: the random generator cannot be restored: {wrong}") from None
    return np.random.Generator(bits)


def fill(arrays: tuple[Any, ...], values: list[Any]) -> None:
    """Fill arrays with saved values of the same shape."""
    try:
        fresh = [np.array(value, array.dtype) for array, value in zip(arrays, values, strict=True)]
        for array, value in zip(arrays, fresh, strict=True):
            if value.shape != array.shape:
                raise ValueError(f"shape {value.shape}, not {array.shape}")
            array[...] = value
    except (TypeError, ValueError, OverflowError) as wrong:
        raise ValueError(f"state is damaged: {wrong}") from None
