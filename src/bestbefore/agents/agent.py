"""The contract of an agent: its verbs and what can be asked of it, the same for every agent, live or simulated."""

from collections.abc import Hashable
from datetime import timedelta
from typing import Any, Protocol, Self, runtime_checkable


@runtime_checkable
class Agent(Protocol):
    """An agent that remembers few arms of a stream of which only the last `window` are valid.

    `bestbefore.testing.check_agent` checks that an agent keeps this contract.  An arm is any hashable but None.
    """

    memory: int
    """Slots: how many arms may be stored."""

    @property
    def window(self) -> int | timedelta:
        """How many arrivals, or how long, an arm is valid."""

    def arrive(self, arm: Hashable) -> list[Any]:
        """Let a new arm arrive; return the arms that memory let go, so that the caller can forget them too.

        Parameters
        ----------
        arm
            The arm's name: any hashable but None.
        """

    def ask(self) -> Any:
        """Return the arm to pull next, or None when nothing is to be pulled before the next arrival."""

    def tell(self, arm: Hashable, reward: float, pulls: int = 1) -> None:
        """Take a reward of an arm, or the total of the rewards of several pulls, whenever it comes back.

        Parameters
        ----------
        arm
            The arm's name: any hashable but None.
        reward
            The reward, or the sum of several.
        pulls
            How many pulls the reward is the sum of.
        """

    def best(self) -> Any:
        """Return the current answer, never an expired arm, or None when none that could be the answer is stored."""

    @property
    def stored(self) -> list[Any]:
        """The arms stored, oldest first."""

    @property
    def peak_memory(self) -> int:
        """The most arms that were ever stored at once."""

    @property
    def pulls(self) -> int:
        """All pulls told so far."""

    def state(self) -> dict[str, Any]:
        """Return all that the agent knows as a plain dict, ready for JSON where the arms' names are."""

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """Make an agent that goes on exactly where the one that gave `state` stood.

        Parameters
        ----------
        state
            What `state()` returned.
        """
