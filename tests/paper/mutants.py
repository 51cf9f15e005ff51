"""Break a rule, and print which findings still hold: run without the compiler, so that a rule can be replaced.

Called by test_theorems.py in a process of its own, with NUMBA_DISABLE_JIT=1.
"""

import json
import sys

from bestbefore.keep import bucket, fifo, reservoir, staircase, topk
from bestbefore.keep.staircase import _drop_dominated, _least_loss
from bestbefore.memory import drop, free_slot, mean_of, oldest_slot, put
from bestbefore.paper import theorems
from bestbefore.simulate import explore_loop


def expire_late(memory, oldest):
    """An arm lives for one arrival too long."""
    for slot in range(memory.arrival.size):
        if 0 < memory.arrival[slot] < oldest - 1:
            drop(memory, slot)


def expire_early(memory, oldest):
    """An arm lives for one arrival too few."""
    for slot in range(memory.arrival.size):
        if 0 < memory.arrival[slot] < oldest + 1:
            drop(memory, slot)


def bucket_of_the_oldest(memory, arrival, pulls, total, moment):
    """Each slice keeps the oldest arm."""
    slices = memory.arrival.size
    slot = min(max(-int(-(total / pulls * slices) // 1) - 1, 0), slices - 1)
    if memory.arrival[slot] == 0:
        put(memory, slot, arrival, pulls, total)
    return slot


def staircase_of_the_worst(memory, arrival, pulls, total, moment):
    """When memory is full, the best arm goes."""
    slot = free_slot(memory)
    if slot < 0:
        slot = max(range(memory.arrival.size), key=lambda one: mean_of(memory, one))
    put(memory, slot, arrival, pulls, total)
    return slot


def staircase_without_the_newest(memory, arrival, pulls, total, moment):
    """When memory is full, whoever came last gives way, and nothing is kept for when the old ones expire."""
    slot = free_slot(memory)
    if slot < 0:
        slot = int(memory.arrival.argmax())
    put(memory, slot, arrival, pulls, total)
    return slot


def staircase_of_the_older(memory, arrival, pulls, total, moment):
    """Of two neighbours that share a cell, the newer one goes, and nobody stands in for the older when it expires."""
    if _drop_dominated(memory, arrival, total / pulls, moment.ranks):
        return -1
    slot = free_slot(memory)
    if slot < 0:
        older = _least_loss(memory, arrival, total / pulls, moment)
        if older < 0:
            return -1
        newer = [one for one in range(memory.arrival.size) if memory.arrival[one] > memory.arrival[older]]
        if not newer:
            return -1
        slot = min(newer, key=lambda one: memory.arrival[one])
    put(memory, slot, arrival, pulls, total)
    return slot


def topk_without_the_oldest(memory, arrival, pulls, total, moment):
    """An arm that is better than the worst takes the place of the oldest."""
    slot = free_slot(memory)
    if slot < 0:
        if total / pulls < min(mean_of(memory, one) for one in range(memory.arrival.size)):
            return -1
        slot = oldest_slot(memory)
    put(memory, slot, arrival, pulls, total)
    return slot


def topk_of_the_worst(memory, arrival, pulls, total, moment):
    """The k worst arms are kept."""
    slot = free_slot(memory)
    if slot < 0:
        slot = max(range(memory.arrival.size), key=lambda one: mean_of(memory, one))
        if total / pulls > mean_of(memory, slot):
            return -1
    put(memory, slot, arrival, pulls, total)
    return slot


def fifo_of_the_newest(memory, arrival, pulls, total, moment):
    """Whoever came last goes first."""
    slot = free_slot(memory)
    if slot < 0 or memory.arrival.size > 1:
        slot = int(memory.arrival.argmax())
    put(memory, slot, arrival, pulls, total)
    return slot


def reservoir_of_the_first(memory, arrival, pulls, total, moment):
    """Nobody is admitted once memory is full."""
    slot = free_slot(memory)
    if slot >= 0:
        put(memory, slot, arrival, pulls, total)
    return slot


def always_won(duel):
    return True


QUICK = {
    "exact-memory": {"window": 8, "runs": 3},
    "guarantees": {"window": 12, "arms": 30, "epsilon": 0.5, "runs": 70},
    "slices": {"window": 8, "memory": 3, "runs": 5},
    "sample": {"window": 8, "runs": 400},
    "king": {"window": 6, "arms": 12, "runs": 70},
    "everlasting-explicit": {"window": 8, "runs": 4, "budget": 300},
    "stairs": {"window": 8, "runs": 50},
}
"""The experiments in which the rules have to do something well, at a size for an interpreter."""

MUTANTS = {
    "sound": ([], list(QUICK)),
    "expiry one too late": ([(explore_loop, "expire", expire_late)], ["guarantees"]),
    "expiry one too early": ([(explore_loop, "expire", expire_early)], ["exact-memory"]),
    "bucket of the oldest": ([(bucket, "admit", bucket_of_the_oldest)], ["guarantees"]),
    "staircase of the worst": ([(staircase, "admit", staircase_of_the_worst)], ["guarantees"]),
    "staircase without the newest": ([(staircase, "admit", staircase_without_the_newest)], ["slices"]),
    "staircase of the older": ([(staircase, "admit", staircase_of_the_older)], ["slices"]),
    "topk without the oldest": ([(topk, "admit", topk_without_the_oldest)], ["slices"]),
    "topk of the worst": ([(topk, "admit", topk_of_the_worst)], ["king"]),
    "fifo of the newest": (
        [(fifo, "admit", fifo_of_the_newest)],
        ["exact-memory", "everlasting-explicit", "stairs"],
    ),
    "reservoir of the first": ([(reservoir, "admit", reservoir_of_the_first)], ["sample"]),
    "king of the day": ([(explore_loop, "challenger_won", always_won)], ["king"]),
}


def main():
    verdicts = {}
    for mutant, (patches, names) in MUTANTS.items():
        kept = [(module, name, getattr(module, name)) for module, name, _ in patches]
        for module, name, broken in patches:
            setattr(module, name, broken)
        verdicts[mutant] = {name: [one.holds for one in theorems.THEOREMS[name](**QUICK[name])] for name in names}
        for module, name, sound in kept:
            setattr(module, name, sound)
    json.dump(verdicts, sys.stdout)


if __name__ == "__main__":
    main()
