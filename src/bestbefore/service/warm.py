"""Rules are compiled before the first request is served: an agent of each kind does all that it can once."""

from bestbefore.agents import Explorer, Player, Seeker


def compile_rules() -> None:
    """Have small agents do what streams do, so that nobody waits for a compiler."""
    for agent in (
        Explorer(window=3, epsilon=0.5),
        Explorer(window="1 min", epsilon=0.5),
        Explorer(window=3, memory=2, tests=1),
        Player(window=3, memory=2),
        Player(window="1 min", memory=2, pull="thompson"),
        Seeker(window=2, memory=2),
    ):
        for number in range(4):
            agent.arrive(number, **({"budget": 2} if isinstance(agent, Player) else {}))
            for _ in range(4):
                arm = agent.ask()
                if arm is not None:
                    agent.tell(arm, 0.5)
        agent.best()
        agent.advance()
        if agent.stored:
            agent.withdraw(agent.stored[-1])
        again = type(agent).from_state(agent.state())
        again.best()
