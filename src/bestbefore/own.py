"""A rule of your own, compiled: a plain function with the signature of a rule, or one that numba has decorated.

Compiled loops take such a function as a pointer.  So they are compiled once, for all functions, and found on disk like
any other; only the function itself is compiled, in each process that uses it, and nothing of it is kept on disk.  It
is compiled anew when its code changes, or a value that it refers to, and never mixed up with another.

A keep rule is `rule(memory, arrival, pulls, total, moment)`: see `bestbefore.keep`.  An index is
`index(pulls, total, horizon)`: see `bestbefore.pull`.

>>> from bestbefore.memory import empty_memory, put
>>> def newest(memory, arrival, pulls, total, moment):
...     put(memory, 0, arrival, pulls, total)
...     return 0
>>> int(jitted("keep", newest)(empty_memory(1), 1, 10, 5.0, Moment(1, 9, 1, 0.0, 0.5)))
0
"""

import inspect
from collections.abc import Callable
from types import CellType, FunctionType
from typing import Any, Final

import numba
from numba.core.dispatcher import Dispatcher
from numba.core.errors import NumbaError

from bestbefore._jit import njit
from bestbefore.memory import Memory, Moment, drop, empty_memory, put
from bestbefore.pull.horizon import Horizon, horizon_of
from bestbefore.rules import name_of

FAILED: Final = -2
"""The slot that a keep rule returns when it has raised an error: compiled loops cannot take one from a pointer."""

NO_SLOT: Final = -3
"""The slot of a rule that returned a number that is not whole."""

MOST_DEEP: Final = 4
"""How far it is looked into functions that a rule calls for changes."""

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


def jitted(kind: str, function: Function) -> Function:
    """Return the function as compiled code that Python can call; it says where it reads beyond an array."""
    if not is_rule(kind, function):
        parameters = ", ".join(PARAMETERS[kind])
        raise ValueError(f"{kind} must be a function of ({parameters}), which {name_of(function)!r} is not")
    return _compiled(kind, function)[0]


def pointer(kind: str, function: Function) -> Any:
    """Return the function as a pointer that compiled loops can take."""
    jitted(kind, function)
    return _compiled(kind, function)[1]


_known: dict[Any, tuple[Function, Any]] = {}


def _compiled(kind: str, function: Function) -> tuple[Function, Any]:
    """Compile a function, unless the same one was compiled before: same code, same values of all that it refers to."""
    plain = _plain(function)
    key = kind, _key(plain)
    if key not in _known:
        rule = numba.njit(nogil=True, error_model="numpy", boundscheck=True)(_with_checks(plain))
        guarded, signature = (_keep, _keep_signature()) if kind == "keep" else (_index, _index_signature())
        try:
            _known[key] = rule, numba.cfunc(signature)(guarded(rule))
        except NumbaError as wrong:
            reason = " ".join(str(wrong).split())
            raise ValueError(f"{kind} rule {name_of(function)!r} cannot be compiled by numba: {reason}") from None
    return _known[key]


def _with_checks(function: Any) -> Any:
    """Return the same function, where it calls `put` and `drop` with ones that check their slot.

    Those of the package do not, for speed, and a write beyond the slots would end the process.
    """
    names = {name: _CHECKED.get(id(value), value) for name, value in function.__globals__.items()}
    closure = function.__closure__ and tuple(
        CellType(_CHECKED.get(id(cell.cell_contents), cell.cell_contents)) for cell in function.__closure__
    )
    checked = FunctionType(function.__code__, names, function.__name__, function.__defaults__, closure)
    checked.__module__ = function.__module__
    return checked


@njit
def _checked_put(memory: Memory, slot: int, arrival: int, pulls: int, total: float) -> None:
    if slot < 0 or slot >= memory.arrival.size:
        raise IndexError("there is no such slot")
    put(memory, slot, arrival, pulls, total)


@njit
def _checked_drop(memory: Memory, slot: int) -> None:
    _checked_put(memory, slot, 0, 0, 0.0)


_CHECKED: Final = {id(put): _checked_put, id(drop): _checked_drop}


def _plain(function: Function) -> Any:
    return function.py_func if isinstance(function, Dispatcher) else function


def _key(value: Any, depth: int = 0) -> Any:
    """Return what tells a function from others: its code, and what it refers to, by value as far as that is known."""
    function = _plain(value)
    if not inspect.isfunction(function) or depth > MOST_DEEP:
        known = isinstance(value, (bool, int, float, str, bytes, type(None)))
        return (type(value), value) if known else id(value)
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    used = [function.__globals__[name] for name in function.__code__.co_names if name in function.__globals__]
    return function.__code__, *(_key(one, depth + 1) for one in (*(function.__defaults__ or ()), *cells, *used))


def _keep(rule: Function) -> Function:
    """Return a rule that returns `FAILED` instead of raising an error."""

    def guarded(memory: Memory, arrival: int, pulls: int, total: float, moment: Moment) -> int:
        try:
            slot = rule(memory, arrival, pulls, total, moment)
        except Exception:
            return FAILED
        whole = int(slot)
        return whole if whole == slot else NO_SLOT

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


def watched(name: str, rule: Function, memory: Memory, arrival: int, pulls: int, total: float, moment: Moment) -> None:
    """Let a user's own keep rule decide on an arm, live; raise a `ValueError` if it breaks its contract."""
    before = memory.arrival.copy()
    try:
        slot = rule(memory, arrival, pulls, total, moment)
    except Exception as wrong:
        raise ValueError(f"keep rule {name!r} raised {wrong!r}") from wrong
    if slot not in range(-1, before.size):
        raise ValueError(f"keep rule {name!r} must return a slot, or -1 for an arm that it passes over, not {slot!r}")
    for place, (old, new) in enumerate(zip(before.tolist(), memory.arrival.tolist(), strict=True)):
        if new != (arrival if place == slot else old) and (place == slot or new != 0):
            raise ValueError(
                f"keep rule {name!r} must put the arm into the slot that it returns, and leave the others or empty them"
            )
