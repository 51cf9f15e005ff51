"""Kinds of agents: which class a stream's state belongs to, and what a durable agent must have."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from bestbefore.agents import Explorer, Player, Seeker
from bestbefore.agents.saved import plain
from bestbefore.store.names import compact

OURS: Final = {kind.__name__: kind for kind in (Explorer, Player, Seeker)}

NEEDED: Final = (
    "memory",
    "window",
    "arrive",
    "ask",
    "tell",
    "best",
    "advance",
    "withdraw",
    "give_up",
    "holds",
    "arrival_of",
    "stored",
    "peak_memory",
    "pulls",
    "state",
    "from_state",
)
"""What the store uses of an agent."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A class of agents, and the functions among its settings, which are not saved."""

    agent: Any
    functions: Mapping[str, Callable[..., Any]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """How the database names it."""
        return self.agent.__name__ if self.ours else f"{self.agent.__module__}:{self.agent.__qualname__}"

    @property
    def ours(self) -> bool:
        """Whether it is one of this package's own."""
        return OURS.get(self.agent.__name__) is self.agent

    def restored(self, state: dict[str, Any]) -> Any:
        """Return an agent that goes on where its state stood."""
        return self.agent.from_state(state, **self.functions)


def made(agent: Any, settings: dict[str, Any]) -> tuple[Kind, Any]:
    """Return the kind and a fresh agent, from a class and its settings or from an agent that is there already."""
    if isinstance(agent, type):
        functions = {name: value for name, value in settings.items() if callable(value)}
        found, kind = agent(**settings), Kind(agent, functions)
    else:
        if settings:
            raise ValueError(f"settings must be left out where an agent is given, not {sorted(settings)}")
        kind = Kind(type(agent), _functions_of(agent))
        found = agent
    missing = [name for name in NEEDED if not hasattr(found, name)]
    if missing:
        raise ValueError(f"agent must have {', '.join(missing)} to be durable, which {kind.agent.__name__!r} lacks")
    under_way = [arm for arm in found.state().get("arms", []) if isinstance(arm, dict) and arm.get("in_flight")]
    if under_way:
        raise ValueError(f"agent must have no pulls under way: {len(under_way)} arms have some, which have no ids")
    return kind, found


def arguments_of(kind: Kind, agent: Any, settings: dict[str, Any]) -> Any:
    """Return what an agent was made with, as JSON has it; the seed does not matter."""
    if kind.ours:
        return agent.state()["arguments"]
    given = {name: value for name, value in settings.items() if name not in kind.functions and name != "seed"}
    try:
        compact(plain(given))
    except TypeError as wrong:
        raise ValueError(f"settings of {kind.name} must be ready for JSON: {wrong}") from None
    return plain(given)


def _functions_of(agent: Any) -> dict[str, Callable[..., Any]]:
    """Return the functions that one of our agents was made with."""
    found = {name: getattr(agent, name, None) for name in ("keep", "pull")} | {"valid": getattr(agent, "_valid", None)}
    return {name: value for name, value in found.items() if callable(value)}
