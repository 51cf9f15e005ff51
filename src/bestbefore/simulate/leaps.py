"""Leaps: many pulls of an epoch in one draw, exactly as if they were made one by one.

**Why it is exact.**  While the leader is pulled, the indices of all others stand still, so it stays leader until its
own index has come down to that of the runner-up, the *level*.  A block of b rewards is drawn at once; if z is how much
they fall short of b, then after any part of them, in whatever order, the leader's mean is at least that after z
rewards of 0 and its bonus at least that after all b, and if these keep the index above the level, then every pull of
the block was the leader's.  (`pull/kl_ucb.py` says why this holds there, too.)  Otherwise the
rewards of the block are taken one by one in random order, which is how they would have come, up to the one that brings
the index down to the level; those after it have not been seen by anybody, and are forgotten.

**What it costs.**  A block is chosen about as long as its rewards are likely to allow: if k rewards of 0 would bring
the index down (closed for UCB), some 0.6 k / (1 - mean) pulls, where whoever waits for the worst would leap k.  Short
blocks are not worth a Binomial draw: rewards then come one by one, checked as they come.  Arms stand in a heap by
their indices, so the runner-up is one of two, and a change of the leader costs O(log K).  An index that takes long to
find stands in the heap as a bound that is no lower (the rule's `ceiling`), until its arm comes second.

Rewards without a minimum (Gaussian) leave no such bound: they always come one by one.
"""

import math
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from bestbefore import pull
from bestbefore._jit import inlined, njit
from bestbefore.memory import Memory
from bestbefore.pull.blocks import block_for
from bestbefore.pull.horizon import Horizon, shade
from bestbefore.simulate.rewards import draw_block, next_of_block, one_reward, shades_of
from bestbefore.streams import Arms

SHORT: Final = 24
"""Blocks shorter than this are pulled one by one: a Binomial draw costs as much as some 25 uniform ones."""


class Heap(NamedTuple):
    """Slots, the highest index first; each is above its two children, at 2 i + 1 and 2 i + 2."""

    slot: npt.NDArray[np.int64]
    height: npt.NDArray[np.float64]
    """The index of the arm in each, or a bound that is no lower."""
    known: npt.NDArray[np.bool_]
    """Whether that is the index."""
    drawn: npt.NDArray[np.int64]
    """Room for the levels of a block of rewards."""


def empty_heap(slots: int, levels: int) -> Heap:
    """Make room for so many slots, and rewards of so many levels."""
    return Heap(
        np.zeros(slots, np.int64), np.zeros(slots), np.zeros(slots, np.bool_), np.zeros(max(levels, 2), np.int64)
    )


@inlined
def _index(rule: int, own: Any, pulls: float, total: float, horizon: Horizon) -> float:
    """Return the index of an arm; one that was never pulled comes before all that were."""
    if pulls == 0:
        return np.inf
    if own is None:
        return pull.index(rule, pulls, total, horizon)  # type: ignore[no-any-return]
    height = own(pulls, total, horizon)
    if math.isnan(height):
        raise ValueError("it must return a number, and must not raise an error")
    return height  # type: ignore[no-any-return]


@inlined
def _is_above(rule: int, own: Any, pulls: float, total: float, later: float, horizon: Horizon, level: float) -> bool:
    """Tell whether the index is above `level` after `later` pulls of the mean of `total` in `pulls`, at the least.

    A user's own index does not rise with its pulls, while the mean stays the same.
    """
    if own is None:
        return pull.is_above(rule, pulls, total, later, horizon, level)  # type: ignore[no-any-return]
    return own(later, total if later == pulls else total / pulls * later, horizon) > level  # type: ignore[no-any-return]


@inlined
def _block(rule: int, own: Any, pulls: int, total: float, mean: float, horizon: Horizon, level: float) -> int:
    """Return how many pulls to draw at once: a guess, on which only speed depends, at how many will be the leader's."""
    if own is None:
        return pull.block(rule, pulls, total, mean, horizon, level)  # type: ignore[no-any-return]
    return block_for(pulls, total, own(pulls, total, horizon), mean, level)


@inlined
def _room(rule: int, own: Any, pulls: int, total: float, later: int, horizon: Horizon, level: float) -> float:
    """Return how many rewards of 0 surely leave the index above `level` up to `later` pulls: fewer than this."""
    if own is None:
        return pull.room(rule, pulls, total, later, horizon, level)  # type: ignore[no-any-return]
    return _room_of_own(own, pulls, total, later, horizon, level)


@njit
def _room_of_own(own: Any, pulls: int, total: float, later: int, horizon: Horizon, level: float) -> float:
    """Find by halves how many rewards of 0 a user's own index can take, if it falls with the mean."""
    enough, too_many = -1, later - pulls + 1
    while too_many - enough > 1:
        zeros = (enough + too_many) // 2
        if own(later, total / (pulls + zeros) * later, horizon) > level:
            enough = zeros
        else:
            too_many = zeros
    return float(too_many)


@inlined
def _room_again(rule: int, own: Any, pulls: int, total: float, later: int, horizon: Horizon, level: float) -> float:
    """Return the room once more, as rewards have come; none for a user's own index, where to look for it takes long."""
    if own is None:
        return float(max(pull.room(rule, pulls, total, later, horizon, level), 0.0))
    return 0.0


@inlined
def _sure(rule: int, own: Any, pulls: int, horizon: Horizon) -> int:
    """Return how often an arm that leads is pulled, whatever it returns."""
    if own is None:
        return pull.sure(rule, pulls, horizon)  # type: ignore[no-any-return]
    return 1


@njit
def play_leaping(
    memory: Memory,
    true: Arms,
    rule: int,
    own: Any,
    budget: int,
    horizon: Horizon,
    leaps: bool,
    rng: np.random.Generator,
    heap: Heap,
    spent: npt.NDArray[np.int64],
    shades: npt.NDArray[np.float64],
    last: int,
) -> tuple[int, int]:
    """Spend the budget of an epoch by an index rule; add each slot's pulls to `spent`, their r (1 - r) to `shades`.

    Return how often the arm that is pulled changed, beginning from arrival `last`, and the arrival pulled at the end.
    """
    size = _build(memory, rule, own, horizon, heap)
    left, switches = budget, 0
    while left > 0:
        level = _runner_up(memory, rule, own, horizon, heap, size)
        slot = heap.slot[0]
        if memory.arrival[slot] != last:
            switches += 1
            last = memory.arrival[slot]
        before = left
        left = _tenure(memory, true, slot, rule, own, left, horizon, level, leaps, rng, heap.drawn, shades)
        spent[slot] += before - left
        _learn(memory, rule, own, horizon, heap, 0, size)
    return switches, last


@inlined
def _learn(memory: Memory, rule: int, own: Any, horizon: Horizon, heap: Heap, place: int, size: int) -> None:
    """Let an arm whose index was at most what stood in the heap sink to where it belongs by its index."""
    slot = heap.slot[place]
    heap.height[place] = _index(rule, own, memory.pulls[slot], memory.total[slot], horizon)
    heap.known[place] = True
    _sift(memory, heap, place, size)


@inlined
def _runner_up(memory: Memory, rule: int, own: Any, horizon: Horizon, heap: Heap, size: int) -> float:
    """Bring the leader and the runner-up to the top by their indices; return the level above which the leader stays.

    It is the index of the second, -inf without one; of equals the newest is pulled, so a leader that is newer than all
    seconds stays where it is as high, too.
    """
    while not heap.known[0]:
        _learn(memory, rule, own, horizon, heap, 0, size)
    level = -np.inf
    while size > 1:
        second = 2 if size > 2 and heap.height[2] > heap.height[1] else 1
        level = heap.height[second]
        if heap.known[second]:
            break
        _learn(memory, rule, own, horizon, heap, second, size)
    newer = True
    for child in range(1, min(size, 3)):
        if heap.height[child] == level and memory.arrival[heap.slot[child]] > memory.arrival[heap.slot[0]]:
            newer = False
    return np.nextafter(level, -np.inf) if newer and level > -np.inf else level


@inlined
def _tenure(
    memory: Memory,
    true: Arms,
    slot: int,
    rule: int,
    own: Any,
    left: int,
    horizon: Horizon,
    level: float,
    leaps: bool,
    rng: np.random.Generator,
    drawn: npt.NDArray[np.int64],
    shades: npt.NDArray[np.float64],
) -> int:
    """Pull the leader until its index is down to `level`, or nothing is left; return what is left."""
    pulls, total, mean, between = memory.pulls[slot], memory.total[slot], true.means[slot], shades[slot]
    bernoulli = true.levels.size == 0 and true.noise.bounded
    for _ in range(min(left, _sure(rule, own, pulls, horizon))):
        if bernoulli:
            total += 1.0 if rng.random() < mean else 0.0
        else:
            reward = one_reward(true, slot, rng)
            total += reward
            between += shade(reward)
        pulls += 1
        left -= 1
    while left > 0 and _is_above(rule, own, pulls, total, pulls, horizon, level):
        block = 0
        if leaps:
            block = left if level == -np.inf else min(_block(rule, own, pulls, total, mean, horizon, level), left)
        if block >= SHORT:
            gained = draw_block(true, slot, block, rng, drawn)
            if _is_above(rule, own, pulls + block - gained, total, pulls + block, horizon, level):
                between += shades_of(true, drawn)
                pulls, total, left = pulls + block, total + gained, left - block
                continue
            room, short = _room(rule, own, pulls, total, pulls + block, horizon, level), 0.0
            for rest in range(block, 0, -1):
                reward = next_of_block(true, drawn, rest, rng)
                total += reward
                between += shade(reward)
                short += 1 - reward
                pulls += 1
                left -= 1
                if short >= room:
                    if not _is_above(rule, own, pulls, total, pulls, horizon, level):
                        break
                    room = short + _room_again(rule, own, pulls, total, pulls + rest - 1, horizon, level)
        elif bernoulli and leaps:
            many = min(left, SHORT)
            room, zeros, done = _room(rule, own, pulls, total, pulls + many, horizon, level), 0, 0
            while done < many:
                done += 1
                zeros += rng.random() >= mean
                if zeros >= room:
                    now, gained = pulls + done, total + done - zeros
                    if not _is_above(rule, own, now, gained, now, horizon, level):
                        break
                    room = zeros + _room_again(rule, own, now, gained, pulls + many, horizon, level)
            pulls, total, left = pulls + done, total + done - zeros, left - done
        else:
            reward = one_reward(true, slot, rng)
            total += reward
            between += shade(reward)
            pulls += 1
            left -= 1
    memory.pulls[slot] = pulls
    memory.total[slot] = total
    shades[slot] = between
    return left


@njit
def _build(memory: Memory, rule: int, own: Any, horizon: Horizon, heap: Heap) -> int:
    """Put all arms into the heap; return how many there are."""
    size = 0
    for slot in range(memory.arrival.size):
        if memory.arrival[slot] > 0:
            heap.slot[size] = slot
            heap.known[size] = own is not None or memory.pulls[slot] == 0
            if heap.known[size]:
                heap.height[size] = _index(rule, own, memory.pulls[slot], memory.total[slot], horizon)
            else:
                heap.height[size] = pull.ceiling(rule, memory.pulls[slot], memory.total[slot], horizon)
            size += 1
    for place in range(size // 2 - 1, -1, -1):
        _sift(memory, heap, place, size)
    return size


@inlined
def _sift(memory: Memory, heap: Heap, place: int, size: int) -> None:
    """Let an arm sink to where it belongs; of equal indices the newer arm comes first."""
    slot, index, known = heap.slot[place], heap.height[place], heap.known[place]
    arrival = memory.arrival[slot]
    while True:
        child = 2 * place + 1
        if child >= size:
            break
        if child + 1 < size:
            left, right = heap.height[child], heap.height[child + 1]
            if left == right:
                child += memory.arrival[heap.slot[child + 1]] > memory.arrival[heap.slot[child]]
            else:
                child += right > left  # without a branch that nobody can predict
        if heap.height[child] < index or (heap.height[child] == index and memory.arrival[heap.slot[child]] < arrival):
            break
        heap.slot[place], heap.height[place], heap.known[place] = (
            heap.slot[child],
            heap.height[child],
            heap.known[child],
        )
        place = child
    heap.slot[place], heap.height[place], heap.known[place] = slot, index, known
