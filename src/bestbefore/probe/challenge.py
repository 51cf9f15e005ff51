"""Challenge: each arriving arm fights the king at levels of growing numbers of pulls.

The test of Assadi and Wang (2020).  With the unit u = 16 sigma^2 / epsilon^2 ln(1 / delta), which for
rewards on [0, 1] is 4 / epsilon^2 ln(1 / delta):

- the king's budget grows by b = 2 s_1 with each arrival;
- at level l = 1, 2, ... both arms are pulled s_l = 3^l u times afresh, which the king's budget pays for;
- if the challenger's mean of these is not higher by more than epsilon / 2, the king has won and the challenger goes;
- if the budget cannot pay for the next level, the challenger takes the throne, with a budget of 0.

Their algorithm compares the means as they are, which needs a gap between the best arm and the next.  The margin of
epsilon / 2 serves streams without a gap: by Hoeffding's inequality an arm that is no better than the king wins level l
with probability at most delta^(3^l), and so does a king that is worse than the challenger by epsilon.  So a king falls
(but for these rare events) only to a better arm, and no arm better by epsilon is turned away.

S. Assadi and C. Wang, "Exploration with limited memory: streaming algorithms for coin tossing, noisy comparisons, and
multi-armed bandits", STOC 2020.

>>> unit = challenge_unit(epsilon=0.2, delta=0.1)
>>> level_pulls(unit, 1), level_pulls(unit, 2)
(693, 2079)
>>> duel = peaceful_duel()
>>> start_challenge(duel, unit)                         # the king can pay for level 1
>>> is_over(duel), int(duel.counts[WANTED])
(False, 693)
>>> fight(duel, KING_SIDE, 693, 600.0); fight(duel, CHALLENGER_SIDE, 693, 500.0)
>>> judge(duel, unit, epsilon=0.2)
>>> is_over(duel), challenger_won(duel)
(True, False)
"""

import math
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from bestbefore._jit import njit
from bestbefore.memory import Memory

LEVEL: Final = 0  # of the challenge that goes on; 0 while there is peace
WANTED: Final = 1  # pulls of each side at this level
BUDGET: Final = 2  # pulls that the king may still spend
LOST: Final = 3  # 1 when the king has just lost
KING_SIDE: Final = 0
CHALLENGER_SIDE: Final = 1


class Duel(NamedTuple):
    """The challenge that goes on: its counts, and the pulls and rewards of both sides at this level."""

    counts: npt.NDArray[np.int64]
    pulls: npt.NDArray[np.int64]
    total: npt.NDArray[np.float64]


def peaceful_duel() -> Duel:
    """Make the state before any challenge."""
    return Duel(np.zeros(4, np.int64), np.zeros(2, np.int64), np.zeros(2, np.float64))


def challenge_unit(epsilon: float, delta: float, sigma: float = 0.5) -> float:
    """Return u = 16 sigma^2 / epsilon^2 ln(1 / delta), of which all numbers of pulls are multiples."""
    return 16 * sigma**2 / epsilon**2 * math.log(1 / delta)


@njit
def level_pulls(unit: float, level: int) -> int:
    """Return s_l = 3^l u, the pulls of each side at a level."""
    return int(math.ceil(unit) * 3**level)


@njit
def start_challenge(duel: Duel, unit: float) -> None:
    """Let a new arm challenge the king, whose budget grows."""
    duel.counts[BUDGET] += 2 * level_pulls(unit, 1)
    _start_level(duel, unit, 1)


@njit
def _start_level(duel: Duel, unit: float, level: int) -> None:
    """Begin a level if the king can pay for it; otherwise he has lost."""
    wanted = level_pulls(unit, level)
    if duel.counts[BUDGET] < wanted:
        end_challenge(duel)
        duel.counts[BUDGET] = 0
        duel.counts[LOST] = 1
        return
    duel.counts[BUDGET] -= wanted
    duel.counts[LEVEL] = level
    duel.counts[WANTED] = wanted
    duel.counts[LOST] = 0
    _wipe(duel)


@njit
def _wipe(duel: Duel) -> None:
    """Forget the pulls and rewards of a level."""
    for side in range(2):
        duel.pulls[side] = 0
        duel.total[side] = 0.0


@njit
def fight(duel: Duel, side: int, pulls: int, total: float) -> None:
    """Count rewards for one side at this level."""
    duel.pulls[side] += pulls
    duel.total[side] += total


@njit
def judge(duel: Duel, unit: float, epsilon: float) -> None:
    """Once both sides have had their pulls: end the challenge if the king has won the level, else begin the next."""
    if duel.counts[LEVEL] == 0 or min(duel.pulls[0], duel.pulls[1]) < duel.counts[WANTED]:
        return
    margin = duel.total[CHALLENGER_SIDE] / duel.pulls[CHALLENGER_SIDE] - duel.total[KING_SIDE] / duel.pulls[KING_SIDE]
    if margin > epsilon / 2:
        _start_level(duel, unit, duel.counts[LEVEL] + 1)
    else:
        end_challenge(duel)


@njit
def end_challenge(duel: Duel) -> None:
    """Make peace: the king stays, and keeps what is left of his budget."""
    duel.counts[LEVEL] = 0
    duel.counts[WANTED] = 0
    duel.counts[LOST] = 0
    _wipe(duel)


@njit
def crown(duel: Duel) -> None:
    """Begin a reign: no challenge, no budget."""
    end_challenge(duel)
    duel.counts[BUDGET] = 0


@njit
def is_over(duel: Duel) -> bool:
    """Tell whether no challenge goes on."""
    return bool(duel.counts[LEVEL] == 0)


@njit
def challenger_won(duel: Duel) -> bool:
    """Tell whether the last challenge took the throne."""
    return bool(duel.counts[LOST] == 1)


class Challenges:
    """The challenges of a live agent: what has the verbs of `bestbefore.probe.fixed.FixedTests`."""

    answers: ClassVar = False

    def __init__(self, epsilon: float, delta: float, sigma: float) -> None:
        self._epsilon, self._unit = epsilon, challenge_unit(epsilon, delta, sigma)
        self._duel = peaceful_duel()

    def expired(self, memory: Memory) -> None:
        """Begin a new reign if the throne is vacant."""
        if memory.arrival[0] == 0:
            crown(self._duel)

    def withdrawn(self, memory: Memory) -> None:
        """End the challenge: the king or the challenger is gone."""
        (end_challenge if memory.arrival[0] > 0 else crown)(self._duel)

    def begin(self, memory: Memory) -> bool:
        """Let the newest arm challenge the king; a vacant throne needs no challenge."""
        if memory.arrival[0] > 0:
            start_challenge(self._duel, self._unit)
        return bool(memory.arrival[0] > 0)

    def pulled_again(self, memory: Memory) -> list[int]:
        """Return the king, while he is challenged."""
        return [] if is_over(self._duel) else [int(memory.arrival[0])]

    def wanted(self, under_test: bool, pulls: int, tests: int) -> int:
        """Return how many more rewards of a side are wanted at this level."""
        return max(int(self._duel.counts[WANTED]) - int(self._duel.pulls[_side(under_test)]), 0)

    def told(self, under_test: bool, pulls: int, total: float) -> None:
        """Count rewards for a side, and judge the level once both have had their pulls."""
        if not is_over(self._duel):
            fight(self._duel, _side(under_test), pulls, total)
            judge(self._duel, self._unit, self._epsilon)

    def is_over(self, pulls: int, tests: int) -> bool:
        """Say whether the challenge is decided."""
        return is_over(self._duel)

    def passes(self, memory: Memory, pulls: int) -> bool:
        """Say whether the challenger takes the throne; the king's reign then begins anew, or he is at peace."""
        takes = bool(memory.arrival[0] == 0) or challenger_won(self._duel)
        (crown if takes else end_challenge)(self._duel)
        return takes

    def state(self) -> list[Any]:
        """Return the counts of the challenge that goes on."""
        return [array.tolist() for array in self._duel]

    def restore(self, state: list[Any], memory: Memory, under_test: int) -> None:
        """Take the challenge back; a challenge needs a king and a challenger."""
        try:
            fresh: list[Any] = [np.array(values, array.dtype) for array, values in zip(self._duel, state, strict=True)]
            fits = [array.shape for array in fresh] == [array.shape for array in self._duel]
            fits = fits and all(np.isfinite(array).all() for array in fresh)
        except (TypeError, ValueError, OverflowError) as wrong:
            raise ValueError(f"state is damaged: the challenge cannot be {state!r}: {wrong}") from None
        if not fits:
            raise ValueError(f"state is damaged: the challenge cannot be {state!r}")
        self._duel = Duel(*fresh)
        if not is_over(self._duel) and not (memory.arrival[0] > 0 and under_test == 1):
            raise ValueError("state is damaged: a challenge needs a king and one arm under test")


def _side(under_test: bool) -> int:
    return CHALLENGER_SIDE if under_test else KING_SIDE
