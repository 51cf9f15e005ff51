"""How many pulls of a leader are drawn at once, for indices that are a mean and a bonus; see `simulate.leaps`."""

import numpy as np

from bestbefore._jit import njit


@njit
def block_for(pulls: int, total: float, index: float, mean: float, level: float) -> int:
    """Return how many pulls to draw at once: a guess, on which only speed depends, at how many will be the leader's.

    Each pull of N takes about 1 / N of half the bonus from the index, and as much of the level for each reward of 0.
    """
    if level <= 0:
        return 4 * pulls
    fall = (index - total / pulls) / 2 + (1 - mean) * level
    return int(min(0.6 * (index - level) * pulls / max(fall, 1e-9), 4.0 * pulls))


@njit
def room_for(pulls: int, total: float, needed: float) -> float:
    """Return how many rewards of 0 surely leave the mean above `needed`: fewer than this.

    From total / (pulls + zeros) > needed, where `needed` is the level less the bonus of the last of these pulls.
    """
    return total / needed - pulls - 1e-6 if needed > 0 else np.inf
