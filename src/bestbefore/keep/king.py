"""King: keep a single arm, whoever holds the throne.

The memory of Assadi and Wang's streaming algorithm (2020).  Who takes the throne is decided by the challenges of
`bestbefore.probe.challenge`; this rule only seats the winner.  It is here to be seen failing: with one arm stored, all
is lost when that arm expires (Lemma E.1 of Braverman et al.).

S. Assadi and C. Wang, "Exploration with limited memory: streaming algorithms for coin tossing, noisy comparisons, and
multi-armed bandits", STOC 2020.

>>> from bestbefore.memory import empty_memory
>>> memory, moment = empty_memory(1), Moment(now=2, window=9, arrivals=2, slack=0.0, coin=0.0)
>>> [admit(memory, arrival, 10, 5.0, moment) for arrival in (1, 2)]
[0, 0]
>>> memory.arrival.tolist()
[2]
"""

from bestbefore._jit import njit
from bestbefore.memory import Memory, Moment, put


@njit
def admit(memory: Memory, arrival: int, pulls: int, total: float, moment: Moment) -> int:
    """Seat the arm; return the slot of the throne."""
    put(memory, 0, arrival, pulls, total)
    return 0
