"""Leaps: many pulls of an epoch in one draw, exactly as if they were made one by one.

**Why it is exact.**  While the leader is pulled, the indices of all others stand still, so it stays leader until its
own index has come down to that of the runner-up, the *level*.  A block of b rewards is drawn at once; if z is how much
they fall short of b, then after any part of them, in whatever order, the leader's mean is at least that after z
rewards of 0 and its bonus at least that after all b, and if these keep the index above the level, then every pull of
the block was the leader's.  (KL-UCB: below the level q, rewards of 1 only lower pulls * kl(mean, q), so that z rewards
of 0 first are the worst.)  Otherwise the rewards of the block are taken one by one in random order, which is how they
would have come, up to the one that brings the index down to the level; those after it have not been seen by anybody,
and are forgotten.

**What it costs.**  A block is chosen about as long as its rewards are likely to allow: if k rewards of 0 would bring
the index down (closed for UCB), some 0.6 k / (1 - mean) pulls, where whoever waits for the worst would leap k.  Short
blocks are not worth a Binomial draw: rewards then come one by one, checked as they come.  Arms stand in a heap by
their indices, so the runner-up is one of two, and a change of the leader costs O(log K).

Rewards without a minimum (Gaussian) leave no such bound: they always come one by one.
"""

import math
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from bestbefore import rules
from bestbefore._jit import inlined, njit
from bestbefore.memory import Memory
from bestbefore.pull.choose import Horizon, index_of
from bestbefore.pull.kl_ucb import divergence
from bestbefore.simulate.rewards import draw_block, next_of_block, one_reward
from bestbefore.streams import Arms

SHORT: Final = 24
"""Blocks shorter than this are pulled one by one: a Binomial draw costs as much as some 25 uniform ones."""


class Heap(NamedTuple):
    """Slots, the highest index first; each is above its two children, at 2 i + 1 and 2 i + 2."""

    slot: npt.NDArray[np.int64]
    height: npt.NDArray[np.float64]
    """The index of the arm in each."""
    drawn: npt.NDArray[np.int64]
    """Room for the levels of a block of rewards."""


def empty_heap(slots: int, levels: int) -> Heap:
    """Make room for so many slots, and rewards of so many levels."""
    return Heap(np.zeros(slots, np.int64), np.zeros(slots), np.zeros(max(levels, 2), np.int64))


@inlined
def is_above(rule: int, pulls: float, total: float, later: float, horizon: Horizon, level: float) -> bool:
    """Tell whether the index is above `level`, with the mean of `total` in `pulls` and the bonus of `later` pulls."""
    mean = total / pulls
    if rule == rules.UCB:
        return mean + math.sqrt(horizon.log_ucb / later) > level
    if rule == rules.MOSS:
        bonus = horizon.scale * math.sqrt(math.log(horizon.share / later) / later) if later < horizon.share else 0.0
        return mean + bonus > level
    if rule == rules.COMMIT or mean > level:
        return mean > level
    if horizon.sigma > 0:
        return mean + horizon.sigma * math.sqrt(2 * horizon.log_kl / later) > level
    if level >= 1:
        return False
    rounding = 1e-13 * pulls * (level - mean) / (level * (1 - level))  # what the last digits of an index may hide
    return pulls * divergence(mean, level) < horizon.log_kl * (1 - 1e-9) - rounding


@inlined
def _block(rule: int, pulls: int, total: float, index: float, mean: float, horizon: Horizon, level: float) -> int:
    """Return how many pulls to draw at once: a guess, on which only speed depends, at how many will be the leader's.

    Each pull of N takes about 1 / N of half the bonus from the index, and as much of the level for each reward of 0.
    """
    empirical = total / pulls
    if level <= 0:
        return 4 * pulls
    if rule == rules.KL_UCB and empirical < level < 1:
        zeros = (horizon.log_kl - pulls * divergence(empirical, level)) / math.log((1 - empirical) / (1 - level))
        return int(min(0.6 * zeros / max(1 - mean, 1e-9), 4.0 * pulls))
    fall = (index - empirical) / 2 + (1 - mean) * level
    return int(min(0.6 * (index - level) * pulls / max(fall, 1e-9), 4.0 * pulls))


@inlined
def _room(rule: int, pulls: int, total: float, later: int, horizon: Horizon, level: float) -> float:
    """Return how many rewards of 0 surely leave the index above `level` up to `later` pulls: fewer than this.

    From total / (pulls + zeros) + bonus > level, with the bonus of the last of these pulls.
    """
    if rule == rules.KL_UCB:
        return 0.0
    needed = level - index_of(rule, later, 0.0, horizon) if rule != rules.COMMIT else level
    return total / needed - pulls - 1e-6 if needed > 0 else np.inf


@njit
def play_leaping(
    memory: Memory,
    known: Arms,
    rule: int,
    budget: int,
    horizon: Horizon,
    leaps: bool,
    rng: np.random.Generator,
    heap: Heap,
    spent: npt.NDArray[np.int64],
    last: int,
) -> tuple[int, int]:
    """Spend the budget of an epoch by an index rule; add each slot's pulls to `spent`.

    Return how often the arm that is pulled changed, beginning from arrival `last`, and the arrival pulled at the end.
    """
    size = _build(memory, rule, horizon, heap)
    left, switches = budget, 0
    while left > 0:
        slot = heap.slot[0]
        level = -np.inf
        if size > 1:
            level = max(heap.height[1], heap.height[2]) if size > 2 else heap.height[1]
        if memory.arrival[slot] != last:
            switches += 1
            last = memory.arrival[slot]
        before = left
        left = _tenure(memory, known, slot, rule, left, horizon, level, leaps, rng, heap.drawn)
        spent[slot] += before - left
        heap.height[0] = index_of(rule, memory.pulls[slot], memory.total[slot], horizon)
        _sift(memory, heap, 0, size)
    return switches, last


@inlined
def _tenure(
    memory: Memory,
    known: Arms,
    slot: int,
    rule: int,
    left: int,
    horizon: Horizon,
    level: float,
    leaps: bool,
    rng: np.random.Generator,
    drawn: npt.NDArray[np.int64],
) -> int:
    """Pull the leader until its index is down to `level`, or nothing is left; return what is left."""
    pulls, total, mean = memory.pulls[slot], memory.total[slot], known.means[slot]
    bernoulli = known.levels.size == 0 and known.sigma == 0
    sure = max(horizon.s - pulls, 1) if rule == rules.COMMIT else 1  # whoever leads is pulled once, whatever it returns
    for _ in range(min(left, sure)):
        if bernoulli:
            total += 1.0 if rng.random() < mean else 0.0
        else:
            total += one_reward(known, slot, rng)
        pulls += 1
        left -= 1
    while left > 0 and is_above(rule, pulls, total, pulls, horizon, level):
        block = 0
        if leaps:
            index = index_of(rule, pulls, total, horizon) if rule != rules.KL_UCB else 1.0
            block = left if level == -np.inf else min(_block(rule, pulls, total, index, mean, horizon, level), left)
        if block >= SHORT:
            gained = draw_block(known, slot, block, rng, drawn)
            if is_above(rule, pulls + block - gained, total, pulls + block, horizon, level):
                pulls, total, left = pulls + block, total + gained, left - block
                continue
            for rest in range(block, 0, -1):
                total += next_of_block(known, drawn, rest, rng)
                pulls += 1
                left -= 1
                if not is_above(rule, pulls, total, pulls, horizon, level):
                    break
        elif bernoulli and leaps:
            many = min(left, SHORT)
            room, zeros, done = _room(rule, pulls, total, pulls + many, horizon, level), 0, 0
            while done < many:
                done += 1
                zeros += rng.random() >= mean
                if zeros >= room and not is_above(
                    rule, pulls + done, total + done - zeros, pulls + done, horizon, level
                ):
                    break
            pulls, total, left = pulls + done, total + done - zeros, left - done
        else:
            total += one_reward(known, slot, rng)
            pulls += 1
            left -= 1
    memory.pulls[slot] = pulls
    memory.total[slot] = total
    return left


@njit
def _build(memory: Memory, rule: int, horizon: Horizon, heap: Heap) -> int:
    """Put all arms into the heap; return how many there are."""
    size = 0
    for slot in range(memory.arrival.size):
        if memory.arrival[slot] > 0:
            heap.slot[size] = slot
            heap.height[size] = index_of(rule, memory.pulls[slot], memory.total[slot], horizon)
            size += 1
    for place in range(size // 2 - 1, -1, -1):
        _sift(memory, heap, place, size)
    return size


@inlined
def _sift(memory: Memory, heap: Heap, place: int, size: int) -> None:
    """Let an arm sink to where it belongs; of equal indices the newer arm comes first."""
    slot, index = heap.slot[place], heap.height[place]
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
        heap.slot[place], heap.height[place] = heap.slot[child], heap.height[child]
        place = child
    heap.slot[place], heap.height[place] = slot, index
