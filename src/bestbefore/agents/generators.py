"""Random generators of agents: a seed or a generator comes in, and its state can be saved and restored."""

import json
from typing import Any

import numpy as np

from bestbefore.agents.saved import plain
from bestbefore.arguments import whole

BIT_GENERATORS = ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")


def generator_from(seed: Any) -> np.random.Generator:
    """Return a generator made from a seed, a fresh one for None, or the generator given."""
    if isinstance(seed, np.random.Generator):
        return seed
    return np.random.default_rng(None if seed is None else whole("seed", seed, at_least=0))


def generator_state(generator: np.random.Generator) -> str:
    """Return the state of a generator as text: its numbers have more digits than most readers of JSON keep."""
    return json.dumps(plain(generator.bit_generator.state))


def restored_generator(text: str) -> np.random.Generator:
    """Return a generator in the state that was saved."""
    try:
        state = json.loads(text)
        kind = state.get("bit_generator")
    except (ValueError, AttributeError):
        kind = None
    if kind not in BIT_GENERATORS:
        raise ValueError(f"state is damaged: the generator must be one of {', '.join(BIT_GENERATORS)}, not {kind!r}")
    bits = getattr(np.random, kind)()
    try:
        bits.state = state
    except (TypeError, ValueError, LookupError, OverflowError) as wrong:
        raise ValueError(f"state is damaged: the random generator cannot be restored: {wrong}") from None
    generator = np.random.Generator(bits)
    if generator_state(generator) != text or not _is_within(state):
        raise ValueError("state is damaged: the random generator is not as it was saved")
    return generator


def _is_within(state: dict[str, Any]) -> bool:
    """Say whether positions lie within their buffers: NumPy does not look, and would read beyond them."""
    position = state["state"].get("pos", 0) if isinstance(state["state"], dict) else 0
    return bool(0 <= position <= 624 and 0 <= state.get("buffer_pos", 0) <= 4 and state.get("has_uint32", 0) in (0, 1))
