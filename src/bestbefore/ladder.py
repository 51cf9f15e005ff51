"""Ladders: a compiled function that picks one of several rules by its number.

Compiled code cannot look a function up in a table, and functions that are passed as arguments, or kept in closures, are
compiled anew in each process.  So a ladder is written from the table of rules as a person would write it by hand, an
`if` for each rule and an error at its end, and compiled once, as if it stood in the file that asks for it: numba then
finds it on disk the next time.

>>> source("admit", ["fifo", "topk"], [0, 2], "memory, arrival", "keep")
... # doctest: +NORMALIZE_WHITESPACE
'def admit(rule, memory, arrival):\\n
    if rule == 0:\\n        return fifo.admit(memory, arrival)\\n
    if rule == 2:\\n        return topk.admit(memory, arrival)\\n
    raise ValueError("no keep rule has this number")\\n'
"""

import importlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from bestbefore._jit import njit
from bestbefore.rules import Named


def ladder(
    name: str,
    arguments: str,
    rules: Iterable[Named],
    package: str,
    compiler: Callable[[Callable[..., Any]], Callable[..., Any]] = njit,
) -> Callable[..., Any]:
    """Return `name(rule, arguments)`, which calls the function `name` of the rule whose number is `rule`.

    Each rule has a module of its own name in `package`, and in it a function of this name.
    """
    chosen = list(rules)
    names: dict[str, Any] = {rule.name: importlib.import_module(f"{package}.{rule.name}") for rule in chosen}
    for module in names.values():
        getattr(module, name)  # a rule that lacks it is told now, by name
    text = source(name, list(names), [rule.number for rule in chosen], arguments, package.rpartition(".")[2])
    file = str(importlib.import_module(package).__file__)
    names["__name__"] = package  # where numba looks for it, when it finds it on disk
    exec(compile(text, file, "exec"), names)  # noqa: S102
    return compiler(names[name])


def source(name: str, rules: Sequence[str], numbers: Sequence[int], arguments: str, kind: str) -> str:
    """Return the source of a ladder."""
    lines = [f"def {name}(rule, {arguments}):"]
    for rule, number in zip(rules, numbers, strict=True):
        lines += [f"    if rule == {number}:", f"        return {rule}.{name}({arguments})"]
    return "\n".join([*lines, f'    raise ValueError("no {kind} rule has this number")', ""])
