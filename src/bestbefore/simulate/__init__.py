"""Simulations: a stream through rules, compiled, over many runs in parallel."""

from bestbefore.deprecation import renamed
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

__getattr__ = renamed(__name__, {"regret": "play", "everlasting": "seek"}, until="0.3")
