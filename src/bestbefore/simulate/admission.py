"""Admission in compiled loops: a keep rule by its number, or a user's own by its pointer, which is watched."""

from typing import Any

from bestbefore._jit import njit
from bestbefore.keep import admit
from bestbefore.memory import Memory, Moment
from bestbefore.own import FAILED, NO_SLOT


@njit
def admitted(rule: int, own: Any, memory: Memory, arrival: int, pulls: int, total: float, moment: Moment) -> int:
    """Let the rule decide on an arm; return its slot, or -1.

    A user's own rule must put the arm into the slot that it returns, and must not move others: whatever is known of an
    arm beside the slots would then belong to another one.
    """
    if own is None:
        return admit(rule, memory, arrival, pulls, total, moment)  # type: ignore[no-any-return]
    before = memory.arrival.copy()
    slot = own(memory, arrival, pulls, total, moment)
    if slot == FAILED:
        raise ValueError("it raised an error")
    if slot == NO_SLOT or slot < -1 or slot >= before.size:
        raise ValueError("it must return a slot, or -1 for an arm that it passes over")
    for place in range(before.size):
        expected = arrival if place == slot else before[place]
        if memory.arrival[place] != expected and (place == slot or memory.arrival[place] != 0):
            raise ValueError("it must put the arm into the slot that it returns, and leave the others or empty them")
    return slot  # type: ignore[no-any-return]
