"""Best Before: find the best of what is still fresh, remembering only a few arms.

Names are imported when they are first used: `import bestbefore` alone does not wait for the compiler.
"""

import importlib
from typing import TYPE_CHECKING, Any

from bestbefore._version import __version__ as __version__
from bestbefore.errors import (
    Conflict,
    DataMissing,
    ExpiredArm,
    StoreDamaged,
    StoreUnavailable,
    UnknownArm,
    UnknownPull,
    UnknownStream,
)

if TYPE_CHECKING:
    from bestbefore import bounds, gap_bounds, memory, noise, peers, simulate, store, streams, testing
    from bestbefore.agents import Agent, Explorer, Player, Seeker
    from bestbefore.store import connect

__all__ = [
    "Agent",
    "Conflict",
    "DataMissing",
    "ExpiredArm",
    "Explorer",
    "Player",
    "Seeker",
    "StoreDamaged",
    "StoreUnavailable",
    "UnknownArm",
    "UnknownPull",
    "UnknownStream",
    "bounds",
    "connect",
    "gap_bounds",
    "memory",
    "noise",
    "peers",
    "simulate",
    "store",
    "streams",
    "testing",
]

_HOMES = dict.fromkeys(("Agent", "Explorer", "Player", "Seeker"), "bestbefore.agents") | {"connect": "bestbefore.store"}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    if name in __all__:
        return importlib.import_module(f"bestbefore.{name}")
    raise AttributeError(f"module 'bestbefore' has no attribute {name!r}")
