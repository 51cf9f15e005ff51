"""Simulations: a stream through keep rule x pull rule, compiled, over many runs in parallel."""

from bestbefore.simulate import budgets
from bestbefore.simulate.everlasting import everlasting
from bestbefore.simulate.explore import Trace, explore, trace
from bestbefore.simulate.figures import plot
from bestbefore.simulate.regret import epoch_regrets, regret
from bestbefore.simulate.table import Table

__all__ = ["Table", "Trace", "budgets", "epoch_regrets", "everlasting", "explore", "plot", "regret", "trace"]
