"""Commit: pull each new arm s times, then the arm of the highest mean: explore, then commit.

With keep rule `topk` it is the baseline of Braverman et al. (Section 6), with `bucket` the first idea of their Section
5. s is that of Algorithm 1 for an epsilon: of the memory, 3 / m; or the one that makes the bound n ln(n) / epsilon^2 +
epsilon T the least, `bestbefore.bounds.best_commit_epsilon`.  It is capped by the budget of the epoch; an arm whose
test was cut short by the end of an epoch has it finished in the next.

>>> commit_index(pulls=5, total=5.0, s=10), commit_index(pulls=10, total=5.0, s=10)
(inf, 0.5)
"""

import numpy as np

from bestbefore._jit import njit


@njit
def commit_index(pulls: float, total: float, s: int) -> float:
    """Return the mean of an arm that has had s pulls; others come before all that have."""
    return np.inf if pulls < s else total / pulls
