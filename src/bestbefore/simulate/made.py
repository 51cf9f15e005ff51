"""An agent is made by a function, and told what the function's parameters name.

>>> def mine(window, seed, delta=0.1, **others):
...     return window, delta, others
>>> arguments_for(mine, {"window": 50, "memory": 4, "seed": None, "delta": 0.01, "arms": 1000})
{'window': 50, 'memory': 4, 'seed': None, 'delta': 0.01}
"""

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from bestbefore.clock import Window
from bestbefore.simulate.clocked import Expired, Numbers
from bestbefore.simulate.seeds import generators
from bestbefore.streams import Arms, Stream

Factory = Callable[..., Any]
"""Makes an agent: a class or another function, called with keywords; see `arguments_for`."""

ALWAYS = ("window", "memory", "seed")
"""What a function is told that takes any keywords."""


@dataclass(frozen=True)
class Setting:
    """Where an agent runs: a stream, W, its slots, the seed and the number of the run.

    `told` has what else it can be told, such as `epsilon` and `delta`; None stands for what the
    simulation leaves open.  Where `memory_is_open`, an agent that knows how many slots it needs has
    them, and another one gets `memory`.  If the window is `by_time`, it is in microseconds, and an
    agent is told a timedelta.
    """

    stream: Stream
    window: int
    memory: int
    seed: int
    run: int
    told: Mapping[str, Any] = field(default_factory=dict)
    memory_is_open: bool = False
    by_time: bool = False

    def facts(self, **more: Any) -> dict[str, Any]:
        """Return all that an agent can be told."""
        rng = generators(self.seed, self.run)[2]
        memory = None if self.memory_is_open else self.memory
        window = Window(self.window, self.by_time).told
        here = {"window": window, "memory": memory, "seed": rng, "arms": self.stream.length}
        noise = self.stream.noise
        sigma = {"sigma": None if noise.bounded else noise.sigma}
        return {"epsilon": None, "delta": None, "budget": None} | dict(self.told) | sigma | here | more

    def filled(self, factory: Factory, **more: Any) -> dict[str, Any]:
        """Return all that an agent can be told, and a memory if it needs to be told one."""
        facts = self.facts(**more)
        if facts["memory"] is None and not _has_default(factory, "memory"):
            facts["memory"] = self.memory
        return facts

    def slots_of(self, agent: Any) -> int:
        """Return how many arms an agent may store."""
        own = getattr(agent, "memory", None)
        return own if self.memory_is_open and isinstance(own, int) else self.memory

    def blocks(self) -> Iterator[Arms]:
        """Hand out the arms of the run, in blocks."""
        return self.stream.blocks(generators(self.seed, self.run)[0])

    def clocked(self) -> Iterator[tuple[Arms, "list[Clocked]"]]:
        """Hand out the same blocks, with numbers for times, and what is known of each arrival."""
        numbers, expired, start = Numbers(self.by_time, remember=False), Expired(self.window), 0
        for arms in self.blocks():
            numbered, counts = numbers.of(arms), range(start + 1, start + arms.means.size + 1)
            if self.by_time:
                gone, times = expired.before(numbered.times).tolist(), [{"at": float(at)} for at in arms.times / 1e6]
                yield numbered, [Clocked(*one) for one in zip(counts, gone, times, strict=True)]
            else:
                yield numbered, [Clocked(count, count - self.window, {}) for count in counts]
            start = counts.stop - 1

    def written_out(self) -> "Setting":
        """Return the same setting with the run's arms themselves in place of what makes them.

        What makes them is a function, often one that another process could not be sent.
        """
        arms = list(self.blocks())
        return replace(self, stream=replace(self.stream, source=partial(_again, arms)))


class Clocked(NamedTuple):
    """An arrival: which one it is, the newest arm that has expired by then, and the time, if an agent is told that."""

    arm: int
    expired: int
    at: dict[str, float]


def made(
    factory: Factory, simulation: str, needed: tuple[str, ...], facts: Mapping[str, Any], always: tuple[str, ...] = ()
) -> Any:
    """Make an agent, if it has all that a simulation will ask of it."""
    _check_parameters(factory, facts)
    agent = factory(**arguments_for(factory, facts, always))
    if missing := [name for name in needed if not hasattr(agent, name)]:
        raise ValueError(
            f"an agent for simulate.{simulation} must have {', '.join(needed)}, "
            f"but {type(agent).__name__} lacks {', '.join(missing)}"
        )
    return agent


def _has_default(factory: Factory, name: str) -> bool:
    try:
        parameter = inspect.signature(factory).parameters.get(name)
    except (TypeError, ValueError):
        return False
    return parameter is not None and parameter.default is not parameter.empty


def _check_parameters(factory: Factory, facts: Mapping[str, Any]) -> None:
    """Say what a function lacks that is neither a rule nor one that makes an agent."""
    if not inspect.isfunction(factory):
        return
    kinds = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    for name, parameter in inspect.signature(factory).parameters.items():
        if name not in facts and parameter.default is parameter.empty and parameter.kind not in kinds:
            raise ValueError(
                f"a function must be a rule of (memory, arrival, pulls, total, moment), or make an agent from some of "
                f"{', '.join(facts)}; {factory.__name__!r} needs {name!r}"
            )


def arguments_for(factory: Factory, facts: Mapping[str, Any], always: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return those of the facts that the function's parameters name, as keywords.

    A function that takes any keywords (`**others`), or does not tell its parameters, gets `window`,
    `memory`, `seed` and what else is `always` told, and of the rest what it names.  What
    `functools.partial` has set stays as it is.  A fact that is None, since the simulation leaves it
    open, is left to the parameter's default, if it has one.
    """
    open_to_all = {name: facts[name] for name in (*ALWAYS, *always)}
    try:
        parameters = inspect.signature(factory).parameters
    except (TypeError, ValueError):  # a class of another language, such as dict
        return open_to_all
    chosen = factory.keywords if isinstance(factory, partial) else {}
    told: dict[str, Any] = {}
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
        told = {name: value for name, value in open_to_all.items() if name not in chosen}
    for name, parameter in parameters.items():
        by_keyword = parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
        left_open = facts.get(name) is None and parameter.default is not parameter.empty
        if name in facts and by_keyword and name not in chosen and not left_open:
            told[name] = facts[name]
    return {name: told[name] for name in facts if name in told}


def _again(arms: list[Arms], rng: np.random.Generator) -> Iterator[Arms]:
    """Hand out blocks of arms that are written out."""
    return iter(arms)
