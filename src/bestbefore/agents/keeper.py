"""What all agents share: a few slots, the names of the arms in them, and counts of what was done."""

from typing import Any

from bestbefore.agents.roster import Roster
from bestbefore.memory import Memory, leader


class Keeper:
    """An agent that keeps arms in slots."""

    window: int
    slots: int
    _roster: Roster
    _memory: Memory
    _pulls: int
    _peak: int

    def __len__(self) -> int:
        return len(self.memory)

    def __repr__(self) -> str:
        stored = f"{len(self)} of {self.slots} slots in use"
        return f"<{type(self).__name__}: {self._rule}, window {self.window}, {stored}, {self.arrivals} arrived>"

    @property
    def _rule(self) -> str:
        """What the agent goes by, in a word."""
        raise NotImplementedError

    @property
    def memory(self) -> list[Any]:
        """The arms stored, oldest first."""
        return self._roster.names

    @property
    def peak_memory(self) -> int:
        """The most arms that were ever stored at once."""
        return self._peak

    @property
    def pulls(self) -> int:
        """All pulls told so far."""
        return self._pulls

    @property
    def arrivals(self) -> int:
        """How many arms have arrived; right after `arrive` it is the number of that arm."""
        return self._roster.now

    def best(self) -> Any:
        """Return the arm of the highest empirical mean in memory, or None when none is stored.

        That is so before the first test is over, and when all arms stored have just expired.
        """
        slot = leader(self._memory)
        return self._roster.name(int(self._memory.arrival[slot])) if slot >= 0 else None
