"""What the simulation adds to an agent of one's own: microseconds per arrival and per pull.

    python benchmarks/agents.py

The bare loop calls the same verbs of the same agent as often, with a constant for a reward, and
knows nothing of arms.  Times are the best of several in one run, of the process alone.
"""

import time
from collections.abc import Callable

import numpy as np
from rich.console import Console
from rich.table import Table

from bestbefore import Explorer, Player, streams
from bestbefore.simulate.drive import drive_explore, drive_play
from bestbefore.simulate.made import Setting
from bestbefore.simulate.tape import Tapes

ARMS, WINDOW, PULLS = 5_000, 500, 10
STREAMS = {
    "Bernoulli": streams.uniform(ARMS),
    "ratings": streams.uniform(ARMS).rated([0, 0.25, 0.5, 0.75, 1]),
    "Gaussian": streams.uniform(ARMS).gaussian(0.5),
}


class Trivial:
    """Stores the newest arms, pulls each new one `pulls` times, and answers with the newest."""

    def __init__(self, memory: int, pulls: int = 0) -> None:
        self.memory, self.pulls, self.left, self.stored = memory, pulls, 0, []

    def arrive(self, arm: int, budget: int = 0) -> None:
        self.stored.append(arm)
        if len(self.stored) > self.memory:
            del self.stored[0]
        self.left = self.pulls or budget

    def ask(self) -> int | None:
        if self.left == 0:
            return None
        self.left -= 1
        return self.stored[-1]

    def tell(self, arm: int, reward: float) -> None: ...

    def best(self) -> int:
        return self.stored[-1]


class Turns(Trivial):
    """Pulls the arms that it stores in turn."""

    def ask(self) -> int | None:
        if self.left == 0:
            return None
        self.left -= 1
        return self.stored[self.left % len(self.stored)]


def bare(make: Callable[[], object]) -> Callable[[], object]:
    """Return the loop without a simulation."""

    def work() -> None:
        agent = make()
        for arm in range(1, ARMS + 1):
            agent.arrive(arm)
            while (asked := agent.ask()) is not None:
                agent.tell(asked, 1.0)
            agent.best()

    return work


def microseconds(work: Callable[[], object], pieces: int = ARMS, repeats: int = 5) -> float:
    """Return the best time of a piece, of this process alone: what others do meanwhile does not count."""
    work()
    best = float("inf")
    for _ in range(repeats):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best / pieces * 1e6


def setting(stream: streams.Stream, memory: int) -> Setting:
    return Setting(stream, WINDOW, memory, seed=0, run=0)


def arrivals_and_pulls() -> Table:
    """The trivial agents, by slots and kinds of rewards."""
    table = Table(title=f"Own agents in the loop: microseconds (W = {WINDOW}, {PULLS} pulls an arrival)")
    for column in ("agent", "slots", "rewards", "bare arrival", "added to it", "bare pull", "added to it"):
        table.add_column(column, justify="right")
    for kind, stream in STREAMS.items():
        for agent in (Trivial, Turns):
            for memory in (1, 10, 100):

                def make(pulls: int = 0, agent: type = agent, memory: int = memory) -> Trivial:
                    return agent(memory, pulls)

                def simulated(pulls: int, agent: type = agent, memory: int = memory, stream=stream) -> object:
                    where = setting(stream, memory)
                    return drive_explore(lambda memory: agent(memory, pulls), where, 0.1)

                alone = [microseconds(bare(lambda pulls=pulls: make(pulls))) for pulls in (0, PULLS)]
                driven = [microseconds(lambda pulls=pulls: simulated(pulls)) for pulls in (0, PULLS)]
                added = [one - other for one, other in zip(driven, alone, strict=True)]
                per_pull = [(times[1] - times[0]) / PULLS for times in (alone, added)]
                table.add_row(
                    agent.__name__,
                    str(memory),
                    kind,
                    *(f"{one:.2f}" for one in (alone[0], added[0], *per_pull)),
                )
    return table


def playing() -> Table:
    """Epochs of many pulls, which read far into the tapes."""
    table = Table(title=f"The same for play: microseconds a pull ({PULLS * 10} pulls an epoch)")
    for column in ("agent", "slots", "rewards", "bare", "simulated", "ratio"):
        table.add_column(column, justify="right")
    budgets = np.full(ARMS, PULLS * 10)
    pulls = int(budgets.sum())
    for kind, stream in STREAMS.items():
        alone = microseconds(bare(lambda: Turns(10, PULLS * 10)), pulls)
        driven = microseconds(lambda stream=stream: drive_play(Turns, setting(stream, 10), budgets), pulls)
        table.add_row("Turns", "10", kind, f"{alone:.2f}", f"{driven:.2f}", f"{driven / alone:.1f}")
    return table


def totals() -> Table:
    """What the total of s rewards of an arm costs."""
    table = Table(title="The first s rewards of an arm, as one total: microseconds")
    table.add_column("rewards", justify="right")
    sizes = (10, 100, 1_000, 10_000, 1_000_000)
    for size in sizes:
        table.add_column(f"s = {size:,}", justify="right")
    for kind, stream in STREAMS.items():
        arms = next(stream.blocks(np.random.default_rng(0)))

        def read(size: int, arms=arms) -> float:
            return sum(tape.total(size) for tape in Tapes(0, 0).of_block(arms))

        table.add_row(kind, *(f"{microseconds(lambda size=size: read(size)):.1f}" for size in sizes))
    return table


def ours() -> Table:
    """Our live agents, as anybody's."""
    table = Table(title="Our live agents in the loop: microseconds an arrival")
    for column in ("agent", "bare", "simulated", "ratio"):
        table.add_column(column, justify="right")
    stream = STREAMS["Bernoulli"]

    def explorer(memory: int = 10) -> Explorer:
        return Explorer(window=WINDOW, memory=memory, tests=PULLS)

    def player(memory: int = 10) -> Player:
        return Player(window=WINDOW, memory=memory, partial=True)

    def play_bare() -> None:
        agent = player()
        for arm in range(1, ARMS + 1):
            agent.arrive(arm, budget=PULLS)
            while (asked := agent.ask()) is not None:
                agent.tell(asked, 1.0)

    def explore_bare() -> None:
        agent = explorer()
        for arm in range(1, ARMS + 1):
            agent.arrive(arm)
            while (asked := agent.ask()) is not None:
                wanted = agent.wanted(asked)
                agent.tell(asked, wanted / 2, pulls=wanted)
            agent.best()

    rows = {
        "Explorer": (explore_bare, lambda: drive_explore(explorer, setting(stream, 10), 0.1)),
        "Player": (play_bare, lambda: drive_play(player, setting(stream, 10), np.full(ARMS, PULLS))),
    }
    for name, (alone, driven) in rows.items():
        times = microseconds(alone), microseconds(driven)
        table.add_row(name, f"{times[0]:.1f}", f"{times[1]:.1f}", f"{times[1] / times[0]:.2f}")
    return table


if __name__ == "__main__":
    console = Console()
    for table in (arrivals_and_pulls(), playing(), totals(), ours()):
        console.print(table)
