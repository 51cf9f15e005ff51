"""What is compared in a simulation, each under a name of its own: rows of one name are of one algorithm.

>>> from functools import partial
>>> list(chosen("keep", ["fifo", partial(dict, tests=2), partial(dict, tests=500)], ["fifo", "bucket"]))
['fifo', 'dict', 'dict 2']
>>> list(chosen("keep", {"few": partial(dict, tests=2), "fifo": "fifo"}, ["fifo", "bucket"]))
['few', 'fifo']
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import count
from typing import Any

from bestbefore.arguments import one_of, whole
from bestbefore.own import is_rule
from bestbefore.rules import name_of

Factory = Callable[..., Any]
"""A function: a rule, or one that makes an agent."""

Chosen = str | Factory | Sequence[str | Factory] | Mapping[str, str | Factory]
"""A rule's name, or a function; or several of these; or a dict that gives them other names."""


def factory_of(kind: str, one: str | Factory) -> Factory | None:
    """Return a function that makes an agent as it is: any that does not have the signature of a rule; else None."""
    return one if callable(one) and not is_rule(kind, one) else None


def chosen(parameter: str, several: Chosen, allowed: Iterable[str]) -> dict[str, str | Factory]:
    """Return what was chosen by its name: a rule's own, or that of a function.

    Of several functions with the same name, and of one with the name of a rule, the later get numbers.
    """
    many: Any = several if isinstance(several, (list, tuple, Mapping)) else [several]
    if not many:
        raise ValueError(f"{parameter} must name at least one rule, not {several!r}")
    if isinstance(many, Mapping):
        for name in many:
            if not isinstance(name, str):
                raise ValueError(f"{parameter} must have names that are strings, not {name!r}")
        return {name: _checked(parameter, one, allowed) for name, one in many.items()}
    many = [_checked(parameter, one, allowed) for one in many]
    rules = [one for one in many if isinstance(one, str)]
    for name in rules:
        if rules.count(name) > 1:
            raise ValueError(f"{parameter} must name each rule once, not {name!r} {rules.count(name)} times")
    found: dict[str, str | Factory] = {}
    for one in many:
        found[one if isinstance(one, str) else _free_name(one, {*rules, *found})] = one
    return found


def numbers(parameter: str, several: int | Iterable[int]) -> list[int]:
    """Return one number or many, each at least 1.

    >>> numbers("memory", 3), numbers("memory", [2, 4])
    ([3], [2, 4])
    """
    many: Any = several if isinstance(several, Iterable) else [several]
    found = [whole(parameter, one) for one in many]
    if not found:
        raise ValueError(f"{parameter} must name at least one number, not []")
    for one in found:
        if found.count(one) > 1:
            raise ValueError(f"{parameter} must name each number once, not {one} {found.count(one)} times")
    return found


def _checked(parameter: str, one: Any, allowed: Iterable[str]) -> str | Factory:
    return one if callable(one) else one_of(parameter, one, allowed)


def _free_name(factory: Factory, taken: set[str]) -> str:
    """Return the name of a function, with a number if others have it already."""
    name = name_of(factory.func if isinstance(factory, partial) else factory)
    numbered = (name if number == 1 else f"{name} {number}" for number in count(1))
    return next(one for one in numbered if one not in taken)
