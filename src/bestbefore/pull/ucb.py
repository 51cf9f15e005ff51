"""UCB: pull the arm of the highest upper confidence bound, mean + sqrt(ln(T K / delta) / pulls).

T is the budget of the epoch and K the number of arms at hand; the index is that of the experiments of Braverman et al.
It stands still while other arms are pulled.

P. Auer, N. Cesa-Bianchi and P. Fischer, "Finite-time analysis of the multiarmed bandit problem", Machine Learning 47
(2002).

>>> ucb_index(pulls=100, total=50.0, log=4.0)
0.7
"""

import math

from bestbefore._jit import njit


@njit
def ucb_index(pulls: float, total: float, log: float) -> float:
    """Return mean + sqrt(log / pulls), for log = ln(T K / delta)."""
    return total / pulls + math.sqrt(log / pulls)
