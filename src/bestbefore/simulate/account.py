"""The arms that an agent can pull: those in its memory, by its own account, and the newest arrival.

An agent says what it stores by `stored`, a list of arms.  It is looked at when an arm has arrived,
and again when its pulls are over.  What is not listed then is forgotten by the simulation: no later
list, pull or answer can name it again.  So an agent never has more arms at hand than its slots and
the newest one, whatever it writes down for itself.
"""

from numbers import Integral
from typing import Any, NoReturn

from bestbefore.simulate.tape import Tape

MOST_SHOWN = 10
"""Arms that a sentence names, at most."""


class Account:
    """What an agent has at hand: the tapes of its arms, by their arrivals."""

    __slots__ = (
        "_agent",
        "_expired",
        "_leaving",
        "_listed",
        "_newest",
        "_newest_is_stored",
        "_slots",
        "_window",
        "peak",
        "tapes",
    )

    def __init__(self, agent: Any, slots: int, window: int) -> None:
        """Begin with an empty memory of so many slots; arms expire after `window` arrivals."""
        self._agent, self._slots, self._window = agent, slots, window
        self._listed: list[Any] | None = []
        self._newest, self._newest_is_stored, self._leaving = 0, True, 0
        self._expired = 0
        self.tapes: dict[int, Tape] = {}
        self.peak = 0
        """The most arms that were stored at once."""

    def arrive(self, now: int, tape: Tape | None) -> None:
        """Let an arm arrive, or time go on without one.

        The newest arm so far can still be stored now, but is at hand no longer if it is not.
        """
        self._leaving = 0 if self._newest_is_stored else self._newest
        self._newest, self._newest_is_stored = now, tape is None
        if tape is not None:
            self.tapes[now] = tape

    def expire(self, arm: int) -> None:
        """Take back an arm that has expired; if it is stored, the next look will tell."""
        if self.tapes.pop(arm, None) is not None:
            self._listed = None

    def expire_until(self, arm: int) -> None:
        """Take back all arms up to this one."""
        while self._expired < arm:
            self._expired += 1
            self.expire(self._expired)

    def look(self) -> None:
        """Look at what is stored, complain of what cannot be, and forget all arms that are not."""
        stored = self._listing()
        if stored == self._listed:
            if self._leaving:
                del self.tapes[self._leaving]
                self._leaving = 0
            return
        if len(stored) > self._slots:
            slots = "1 slot" if self._slots == 1 else f"{self._slots} slots"
            raise ValueError(f"{self._who} stores {_shown(stored)}, but its memory has {slots}")
        try:
            gone = self.tapes.keys() - stored
        except TypeError:  # what cannot be hashed is no arm
            self._complain_of(stored)
        newest = self._newest in gone
        gone.discard(self._newest)
        for arm in gone:
            del self.tapes[arm]
        if len(stored) != len(self.tapes) - newest:
            self._complain_of(stored)
        self._listed, self._newest_is_stored, self._leaving = stored, not newest, 0
        self.peak = max(self.peak, len(stored))

    def tape(self, arm: Any) -> Tape | None:
        """Return the tape of an arm that is at hand."""
        try:
            return self.tapes.get(arm)
        except TypeError:  # what cannot be hashed is no arm
            return None

    def refuse(self, what: str, arm: Any) -> NoReturn:
        """Complain of an arm that is not at hand, though the agent "asked for" it, as `what` says."""
        stored = self._listing()
        newest = f" and the newest, {self._newest}" if self._newest in self.tapes else ""
        allowed = f"it can name the arms that it stores ({_shown(stored)}){newest}"
        raise ValueError(f"{self._who} {what} arm {arm!r}, which {self._why_not(arm)}: {allowed}")

    def _listing(self) -> list[Any]:
        """Return what is stored by the agent's own account, as a list of our own."""
        stored = self._agent.stored
        try:
            return list(stored)
        except TypeError:
            raise ValueError(f"stored must be a list of arms, not {stored!r}") from None

    def _complain_of(self, stored: list[Any]) -> NoReturn:
        """Say which of the arms stored cannot be."""
        for place, arm in enumerate(stored):
            if self.tape(arm) is None:
                raise ValueError(
                    f"{self._who} stores arm {arm!r}, which {self._why_not(arm)}: "
                    "it can keep what it has stored so far, and the newest arm"
                )
            if arm in stored[:place]:
                raise ValueError(f"{self._who} stores arm {arm!r} twice: each arm must be listed once")
        raise AssertionError(f"{stored!r} must have an arm that cannot be stored")

    @property
    def _who(self) -> str:
        return f"at arrival {self._newest} the agent {type(self._agent).__name__}"

    def _why_not(self, arm: Any) -> str:
        if not isinstance(arm, Integral) or not 1 <= int(arm) <= self._newest:
            return "never arrived"
        expired = max(self._newest - self._window, self._expired)
        return "has expired" if int(arm) <= expired else "is not in its memory"


def _shown(arms: list[Any]) -> str:
    named = ", ".join(map(repr, arms[:MOST_SHOWN])) + (", ..." if len(arms) > MOST_SHOWN else "")
    return f"{len(arms)} arms: {named}" if len(arms) > 1 else f"arm {named}" if arms else "none now"
