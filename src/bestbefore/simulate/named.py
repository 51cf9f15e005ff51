"""What is compared in a simulation, each under a name of its own: rows of one name are of one algorithm.

>>> from functools import partial
>>> list(named("keep", ["fifo", partial(dict, tests=2), partial(dict, tests=500)], ["fifo", "bucket"]))
['fifo', 'dict', 'dict 2']
>>> list(named("keep", {"few": partial(dict, tests=2), "fifo": "fifo"}, ["fifo", "bucket"]))
['few', 'fifo']
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import count
from typing import Any

from bestbefore.arguments import one_of
from bestbefore.simulate.made import Factory

Named = str | Factory | Sequence[str | Factory] | Mapping[str, str | Factory]
"""A rule's name, or a function that makes an agent; or several of these; or a dict that gives them other names."""


def named(parameter: str, chosen: Named, allowed: Iterable[str]) -> dict[str, str | Factory]:
    """Return what was chosen by its name: a rule's own, or that of the function that makes the agent.

    Of several functions with the same name, and of one with the name of a rule, the later get numbers.
    """
    several: Any = chosen if isinstance(chosen, (list, tuple, Mapping)) else [chosen]
    if not several:
        raise ValueError(f"{parameter} must name at least one rule, not {chosen!r}")
    if isinstance(several, Mapping):
        for name in several:
            if not isinstance(name, str):
                raise ValueError(f"{parameter} must have names that are strings, not {name!r}")
        return {name: _checked(parameter, one, allowed) for name, one in several.items()}
    several = [_checked(parameter, one, allowed) for one in several]
    rules = each_once(parameter, [one for one in several if isinstance(one, str)])
    found: dict[str, str | Factory] = {}
    for one in several:
        found[one if isinstance(one, str) else _free_name(one, {*rules, *found})] = one
    return found


def each_once(parameter: str, names: list[str]) -> list[str]:
    """Return names, if none stands twice: its runs would be counted twice."""
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"{parameter} must name each rule once, not {name!r} {names.count(name)} times")
    return names


def _checked(parameter: str, one: Any, allowed: Iterable[str]) -> str | Factory:
    return one if callable(one) else one_of(parameter, one, allowed)


def _free_name(factory: Factory, taken: set[str]) -> str:
    """Return the name of a function, with a number if others have it already."""
    function = factory.func if isinstance(factory, partial) else factory
    name: str = getattr(function, "__name__", type(function).__name__)
    numbered = (name if number == 1 else f"{name} {number}" for number in count(1))
    return next(one for one in numbered if one not in taken)
