"""Simulations: a stream through rules, compiled, over many runs in parallel."""

from typing import Any

from bestbefore.simulate import budgets
from bestbefore.simulate.epochs import epoch_regrets, play
from bestbefore.simulate.exploration import Trace, explore, trace
from bestbefore.simulate.figures import plot
from bestbefore.simulate.seeking import seek
from bestbefore.simulate.sweep import grid
from bestbefore.simulate.table import Table
from bestbefore.simulate.window_gaps import Gaps, gaps

__all__ = [
    "Gaps",
    "Table",
    "Trace",
    "budgets",
    "epoch_regrets",
    "explore",
    "gaps",
    "grid",
    "play",
    "plot",
    "seek",
    "trace",
]

_RENAMED = {"regret": "play", "everlasting": "seek"}


def __getattr__(name: str) -> Any:
    if name in _RENAMED:
        raise AttributeError(f"simulate.{name} is called simulate.{_RENAMED[name]}, like the command and the agent")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
