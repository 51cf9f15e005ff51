"""All or nothing: a verb that fails in the middle has changed nothing.

A rule of a user's own may fail, or an arm may be let go when time goes on to that of the verb that came for it.
"""

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from bestbefore.memory import Memory
from bestbefore.probe.certificates import Certificates
from bestbefore.probe.challenge import Duel
from bestbefore.recent import Recent


@contextmanager
def all_or_nothing(agent: Any) -> Iterator[None]:
    """Undo what was done to an agent, if an error is raised."""
    inner = [getattr(agent, name, None) for name in ("_roster", "_clock", "_certifier", "_probe")]
    objects = [agent.__dict__, *(vars(each) for each in inner if each is not None)]
    before = [_copied(each) for each in objects]
    rng = agent._rng.bit_generator.state
    try:
        yield
    except Exception:
        for each, old in zip(objects, before, strict=True):
            each.update(old)
        agent._rng.bit_generator.state = rng
        if getattr(agent, "_certifier", None) is not None:
            agent._slots = agent._certifier.certificates.memory  # one and the same
        raise


def _copied(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of an object, and copies of what is changed in place."""
    return {name: _copy(value) for name, value in fields.items()}


def _copy(value: Any) -> Any:
    if isinstance(value, (Memory, Certificates, Duel)):
        return type(value)(*map(_copy, value))
    if isinstance(value, Recent):
        return copy.deepcopy(value)
    return copy.copy(value) if isinstance(value, (dict, list, np.ndarray)) else value
