"""Keep rules: which arms stay in the m slots.  One file each; a rule knows the slots it is given and nothing else.

A rule may drop arms and put the arm it is given into one slot; it never moves an arm.  Arms usually come in the order
of their arrival, but need not: a test that takes long may end after that of a younger arm.
"""

from bestbefore import rules
from bestbefore._jit import njit
from bestbefore.keep.bucket import bucket, bucket_room
from bestbefore.keep.fifo import fifo
from bestbefore.keep.king import king
from bestbefore.keep.reservoir import reservoir
from bestbefore.keep.staircase import staircase, staircase_room
from bestbefore.keep.topk import topk, topk_room
from bestbefore.memory import Memory, put

__all__ = ["admit", "bucket", "fifo", "king", "make_room", "reservoir", "staircase", "topk"]


@njit
def admit(
    rule: int,
    memory: Memory,
    arrival: int,
    pulls: int,
    total: float,
    now: int,
    window: int,
    slack: float,
    luck: float,
) -> int:
    """Let the rule of this code (see `bestbefore.rules`) decide on an arm that was pulled; return its slot, or -1.

    `now` is the number of the newest arrival and `window` is W; `slack` is that of `staircase`; `luck` is, for
    `reservoir`, a fresh uniform number on [0, 1).
    """
    if rule == rules.FIFO:
        return fifo(memory, arrival, pulls, total)
    if rule == rules.RESERVOIR:
        return reservoir(memory, arrival, pulls, total, luck)
    if rule == rules.TOPK:
        return topk(memory, arrival, pulls, total)
    if rule == rules.BUCKET:
        return bucket(memory, arrival, pulls, total)
    if rule == rules.STAIRCASE:
        return staircase(memory, arrival, pulls, total, now, window, slack)
    return king(memory, arrival, pulls, total)


@njit
def make_room(rule: int, memory: Memory, arrival: int, window: int, luck: float) -> int:
    """Let the rule of this code find a slot for an arriving arm that was not pulled yet, and put it there.

    Whoever must be pulled to be known needs a slot first: this is how regret is played.  Return the slot, or -1 if the
    arm is passed over, as only `reservoir` may.
    """
    if rule == rules.FIFO:
        return fifo(memory, arrival, 0, 0.0)
    if rule == rules.RESERVOIR:
        return reservoir(memory, arrival, 0, 0.0, luck)
    if rule == rules.TOPK:
        slot = topk_room(memory)
    elif rule == rules.BUCKET:
        slot = bucket_room(memory)
    else:
        slot = staircase_room(memory, arrival, window)
    put(memory, slot, arrival, 0, 0.0)
    return slot
