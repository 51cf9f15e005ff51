"""Checks of agents that spend a budget while rewards are late: a new arm is not flooded before its first reward."""

from collections import Counter
from typing import Any, Final

from bestbefore.testing.session import Session, require

ASKS: Final = 300
"""Pulls that are asked for while no reward is told."""


def check_late(session: Session, arrivals: int) -> None:
    """Let rewards come only when the next arm arrives, and then at last ask for many pulls without any reward.

    Where three arms or more are stored, and all others have rewards, the newest must get no more than half.
    """
    waiting: list[Any] = []
    for _ in range(arrivals):
        session.arrive(budget=session.FEW)
        _tell(session, waiting)
        waiting = [arm for arm in (session.call("ask") for _ in range(session.FEW)) if arm is not None]
        for arm in waiting:
            session.require_valid(arm, "ask() returned")
        session.stored.update(session.now_stored())
    _tell(session, waiting)
    _tell(session, session.now_stored())
    session.require_pulls()
    session.arrive(budget=ASKS)
    newest, stored = session.name(session.arrived), session.now_stored()
    if newest not in stored or len(stored) < 3:
        return
    asked = Counter(session.call("ask") for _ in range(ASKS))
    require(
        asked[newest] <= ASKS / 2,
        f"ask() named {newest!r} {asked[newest]} times of {ASKS} while none of its rewards was told: it is flooded",
    )


def _tell(session: Session, arms: list[Any]) -> None:
    """Tell a reward for each pull of these arms, where the arm is still stored."""
    pulls = Counter(arms)
    for arm in session.now_stored():
        if pulls[arm]:
            session.call("tell", arm, session.reward(arm) * pulls[arm], pulls=pulls[arm])
            session.told += pulls[arm]
