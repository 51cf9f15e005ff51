"""Rules are compiled before the first request is served: an agent of each kind does all that it can once."""

from contextlib import suppress
from typing import Any

from bestbefore.agents import Explorer, Player, Seeker


def compile_rules() -> None:
    """Have small agents do what streams do, so that nobody waits for a compiler."""
    for agent in (
        Explorer(window=3, epsilon=0.5),
        Explorer(window="1 min", epsilon=0.5),
        Explorer(window=9, memory=2, tests=4),
        Player(window=3, memory=2),
        Player(window="1 min", memory=2, pull="thompson"),
        Seeker(window=2, memory=2),
        Seeker(window=3, memory=2),
    ):
        _live(agent)


def _live(agent: Any) -> None:
    """Let arms arrive, and rewards come late, as they do in a service; then look at all that a stream's page shows."""
    waiting: list[Any] = []
    for number in range(6):
        agent.arrive(number, **({"budget": 12} if isinstance(agent, Player) else {}))
        asked = [agent.ask() for _ in range(12)] + (agent.ask(k=2) if isinstance(agent, Player) else [])
        waiting += [arm for arm in asked if arm is not None]
        told, waiting = waiting[:-3], waiting[-3:]
        for arm in told:
            with suppress(LookupError):  # it has gone meanwhile
                agent.tell(arm, 0.5)
        agent.best()
    for arm in waiting[-1:]:
        with suppress(LookupError):
            agent.give_up(arm)
    agent.best(2)
    agent.means()
    if isinstance(agent, Explorer) and agent.probe == "certify":
        for arm in agent.stored:
            agent.bounds(arm)
    agent.advance()
    if agent.stored:
        agent.withdraw(agent.stored[-1])
    type(agent).from_state(agent.state()).best()
