"""The reduction: an explorer of a sliding window solves many separate exploration problems at once.

Algorithm 2 and Lemma B.4 of Braverman et al.: let W arms that always return 0 arrive before the W arms of each problem.
After the last arm of problem i, arrival 2 W i, the window holds the arms of this problem and no other, so the answer
then is one to it.  An explorer that is right at all times with probability 1 - delta (a *strong* guarantee, for n = 2 W
arrivals a problem) solves all problems with the same probability.  The zero arms exist only on paper and cost nothing,
so it takes no more pulls than the explorer makes, and lower bounds for separate problems hold for explorers, too.

>>> from bestbefore import Explorer
>>> means = {"tea": 0.4, "milk": 0.9, "beer": 0.7, "wine": 0.3}
>>> explorer = Explorer(window=2, epsilon=0.1, guarantee="strong", arms=8)
>>> solved = solve(explorer, [["tea", "milk"], ["beer", "wine"]], pull=means.get)
>>> solved.answers, solved.pulls < solved.explorer_pulls
(('milk', 'beer'), True)
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from bestbefore.agents import Agent


@dataclass(frozen=True)
class Solved:
    """Answers to problems, None where the explorer had none, and what they cost."""

    answers: tuple[Any, ...]
    pulls: int
    """Pulls of real arms."""
    explorer_pulls: int
    """Pulls that the explorer made, those of zero arms included."""


def solve(explorer: Agent, problems: Iterable[Sequence[Any]], pull: Callable[[Any], float]) -> Solved:
    """Solve problems of W arms each, W = explorer.window, with any fresh agent that has the four verbs.

    An arm is anything that `pull(arm)` takes; it returns one reward.  The explorer knows arms only by the number of
    their arrival, so an arm may come again, within a problem or in the next.  A problem of fewer arms is refused, not
    filled up with zero arms: one of them could be the answer.
    """
    window, rows = explorer.window, [list(problem) for problem in problems]
    if not isinstance(window, int):
        raise ValueError(f"explorer must have a window by count, not {window!r}")
    for i, row in enumerate(rows, start=1):
        if len(row) != window:
            raise ValueError(
                f"problems must have {window} arms each, as the window has, but problem {i} has {len(row)}"
            )
    if explorer.stored:
        raise ValueError(f"explorer must be fresh, not one that stores {explorer.stored!r}")
    answers: list[Any] = []
    real = virtual = 0
    for now in range(2 * window * len(rows)):
        explorer.arrive(now)
        while (asked := explorer.ask()) is not None:
            i, place = _place(asked, now, window, "asked for")
            if place >= 0:
                explorer.tell(asked, pull(rows[i][place]))
                real += 1
            else:
                virtual += _tell_zeros(explorer, asked)
        if (now + 1) % (2 * window) == 0:
            answer = explorer.best()
            if answer is not None:
                i, place = _place(answer, now, window, "answered with")
                answer = rows[i][place]
            answers.append(answer)
    return Solved(tuple(answers), real, real + virtual)


def _place(arm: Any, now: int, window: int, what: str) -> tuple[int, int]:
    """Return the problem of a valid arm and its place there, which is negative for a zero arm before it."""
    if arm not in range(max(0, now - window + 1), now + 1):
        raise ValueError(f"the explorer {what} arm {arm!r}, which is not valid: it has expired, or never arrived")
    problem, place = divmod(arm, 2 * window)
    return problem, place - window


def _tell_zeros(explorer: Any, arm: int) -> int:
    """Tell a reward of 0, or as many as are wanted at once if the explorer can say; return how many."""
    wanted: int = explorer.wanted(arm) if hasattr(explorer, "wanted") else 1
    if wanted == 1:
        explorer.tell(arm, 0.0)
    else:
        explorer.tell(arm, 0.0, pulls=wanted)
    return wanted
