"""MOSS: pull the arm of the highest mean + sqrt(max(ln(T / (K pulls)), 0) / pulls).

T is the budget of the epoch and K the number of arms at hand.  The bonus vanishes once an arm has had its share T / K
of the pulls, which takes the logarithm out of the regret: it is of order sqrt(K T), as no algorithm can better.

J.-Y. Audibert and S. Bubeck, "Minimax policies for adversarial and stochastic bandits", COLT 2009.

>>> moss_index(pulls=100, total=50.0, share=100.0)
0.5
>>> round(moss_index(pulls=10, total=5.0, share=100.0), 4)
0.9799
"""

import math

from bestbefore._jit import njit


@njit
def moss_index(pulls: float, total: float, share: float, scale: float = 1.0) -> float:
    """Return mean + scale sqrt(max(ln(share / pulls), 0) / pulls), for share = T / K; scale is 2 sigma."""
    return total / pulls + (scale * math.sqrt(math.log(share / pulls) / pulls) if pulls < share else 0.0)
