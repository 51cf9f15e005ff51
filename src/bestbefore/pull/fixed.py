"""Fixed: pull each arm s times when it arrives, and never again.

The pull rule of Algorithm 1 of Braverman et al.; `bestbefore.bounds.pulls` says how large s must be.

>>> fixed(pulls=3, s=10), fixed(pulls=10, s=10), fixed(pulls=12, s=10)
(7, 0, 0)
"""

from bestbefore._jit import njit


@njit
def fixed(pulls: int, s: int) -> int:
    """Return how many more pulls an arm wants that has had `pulls`."""
    return max(s - pulls, 0)
