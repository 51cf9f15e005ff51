"""A rule of your own, compiled: a plain function with the signature of a rule, or one that numba has decorated.

Compiled loops take such a function as a pointer.  So they are compiled once, for all functions, and found on disk like
any other; only the function itself is compiled, in each process that uses it, and nothing of it is kept on disk.  It
can never be mixed up with another one, nor with what it was before somebody changed it.

A keep rule is `rule(memory, arrival, pulls, total, moment)`: see `bestbefore.keep`.  An index is
`index(pulls, total, horizon)`: see `bestbefore.pull`.

>>> from bestbefore.memory import empty_memory
>>> def newest(memory, arrival, pulls, total, moment):
...     put(memory, 0, arrival, pulls, total)
...     return 0
>>> int(jitted("keep", newest)(empty_memory(1), 1, 10, 5.0, Moment(1, 9, 1, 0.0, 0.5)))
0
"""

import inspect
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

import numba
from numba.core.dispatcher import Dispatcher
from numba.core.errors import NumbaError

from bestbefore.memory import Memory, Moment, empty_memory
from bestbefore.pull.horizon import Horizon, horizon_of
from bestbefore.rules import name_of

FAILED: Final = -2
"""The slot that a keep rule returns when it has raised an error: compiled loops cannot take one from a pointer."""

Function = Callable[..., Any]

_typeof: Any = numba.typeof

PARAMETERS: Final = {"keep": ("memory", "arrival", "pulls", "total", "moment"), "pull": ("pulls", "total", "horizon")}


def is_rule(kind: str, function: Function) -> bool:
    """Tell whether a function has as many parameters as a rule of this kind, "keep" or "pull".

    A function that makes an agent names what agents are told, as `window` and `seed`: it is no rule.

    >>> def newest(slots, arrival, pulls, total, moment): ...
    >>> def agent(window, memory, seed, epsilon, delta): ...
    >>> is_rule("keep", newest), is_rule("keep", agent), is_rule("keep", dict)
    (True, False, False)
    """
    plain = function.py_func if isinstance(function, Dispatcher) else function
    if not inspect.isfunction(plain):
        return False
    names = list(inspect.signature(plain).parameters)
    return len(names) == len(PARAMETERS[kind]) and not {"window", "seed"} & set(names)


@lru_cache(maxsize=64)
def jitted(kind: str, function: Function) -> Function:
    """Return the function as compiled code that Python can call; it says where it reads beyond an array."""
    if not is_rule(kind, function):
        parameters = ", ".join(PARAMETERS[kind])
        raise ValueError(f"{kind} must be a function of ({parameters}), which {name_of(function)!r} is not")
    if isinstance(function, Dispatcher):
        return function
    compiled: Function = numba.njit(nogil=True, error_model="numpy", boundscheck=True)(function)
    return compiled


@lru_cache(maxsize=64)
def pointer(kind: str, function: Function) -> Any:
    """Return the function as a pointer that compiled loops can take."""
    rule = jitted(kind, function)
    guarded, signature = (_keep, _keep_signature()) if kind == "keep" else (_index, _index_signature())
    try:
        return numba.cfunc(signature)(guarded(rule))
    except NumbaError as wrong:
        reason = str(wrong).strip().splitlines()
        raise ValueError(f"{kind} rule {name_of(function)!r} cannot be compiled by numba: {' '.join(reason)}") from None


def _keep(rule: Function) -> Function:
    """Return a rule that returns `FAILED` instead of raising an error."""

    def guarded(memory: Memory, arrival: int, pulls: int, total: float, moment: Moment) -> int:
        try:
            return rule(memory, arrival, pulls, total, moment)  # type: ignore[no-any-return]
        except Exception:
            return FAILED

    return guarded


def _index(rule: Function) -> Function:
    """Return an index that is not a number instead of raising an error."""

    def guarded(pulls: float, total: float, horizon: Horizon) -> float:
        try:
            return float(rule(pulls, total, horizon))
        except Exception:
            return float("nan")

    return guarded


def _keep_signature() -> Any:
    types: Any = numba.types
    moment = _typeof(Moment(1, 1, 1, 0.0, 0.0))
    return types.int64(_typeof(empty_memory(1)), types.int64, types.int64, types.float64, moment)


def _index_signature() -> Any:
    types: Any = numba.types
    return types.float64(types.float64, types.float64, _typeof(horizon_of(1, 1, 0.5, 1)))


def _no_keep(memory: Memory, arrival: int, pulls: int, total: float, moment: Moment) -> int:
    return FAILED


def _no_index(pulls: float, total: float, horizon: Horizon) -> float:
    return float("nan")


def pointers(keep: Function | None, pull: Function | None = None) -> tuple[Any, Any]:
    """Return the pointers that loops take: of a user's own rules, or of some that are never called."""
    return pointer("keep", keep or _no_keep), pointer("pull", pull or _no_index)
