"""Reservoir: once memory is full, arrival t is admitted with probability m / t, in place of an arm at random."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from bestbefore.keep import reservoir
from bestbefore.memory import Moment, empty_memory, put


def settle(memory, arrival, pulls, total, coin):
    moment = Moment(now=arrival, window=10**6, arrivals=arrival, slack=0.0, coin=coin)
    return reservoir.admit(memory, arrival, pulls, total, moment)


def full(slots, arrivals=None):
    memory = empty_memory(slots)
    for slot, arrival in enumerate(arrivals or range(1, slots + 1)):
        put(memory, slot, arrival, 10, 5.0)
    return memory


@given(st.integers(1, 8), st.floats(0, 1, exclude_max=True))
def test_while_there_is_room_every_arm_is_admitted_whatever_the_coin(slots, coin):
    memory = empty_memory(slots)
    assert [settle(memory, arrival, 1, 1.0, coin) for arrival in range(1, slots + 1)] == list(range(slots))


@given(st.integers(1, 8), st.integers(1, 1000), st.floats(0, 1, exclude_max=True))
def test_one_number_decides_who_enters_and_who_leaves(slots, later, coin):
    """coin < m / t admits; then coin t, on [0, m), points at a slot."""
    arrival = slots + later
    slot = settle(full(slots), arrival, 1, 1.0, coin)
    assert slot == (int(coin * arrival) if coin * arrival < slots else -1)


def test_arrival_t_is_admitted_with_probability_m_over_t():
    """20,000 coins for each of three t; a bound at 5 standard deviations fails by chance in 2 of a million tests."""
    rng = np.random.default_rng(2)
    for arrival in (6, 20, 300):
        admitted = sum(settle(full(5), arrival, 1, 1.0, coin) >= 0 for coin in rng.random(20_000))
        chance = 5 / arrival
        assert abs(admitted - 20_000 * chance) < 5 * (20_000 * chance * (1 - chance)) ** 0.5


def test_by_time_arms_are_counted_and_their_numbers_say_nothing():
    """The 8th arm, whose number is a time in microseconds: 0.24 is below 2 / 8, and 0.26 is not."""
    for coin, slot in ((0.24, 1), (0.26, -1)):
        moment = Moment(now=10**12, window=10**9, arrivals=8, slack=0.0, coin=coin)
        assert reservoir.admit(full(2, [10**12 - 9, 10**12 - 5]), 10**12, 1, 1.0, moment) == slot


def test_every_slot_is_evicted_equally_often():
    """Chi-square over 5 slots; it fails by chance once in a million tests."""
    rng = np.random.default_rng(3)
    slots = [settle(full(5), 12, 1, 1.0, coin) for coin in rng.random(20_000)]
    evicted = np.bincount([slot for slot in slots if slot >= 0], minlength=5)
    assert evicted.size == 5
    assert stats.chisquare(evicted).pvalue > 1e-6


def test_without_expiry_every_arm_of_the_stream_is_stored_equally_often():
    """Vitter's theorem: after n arrivals each arm is in memory with probability m / n.

    4,000 streams of 20 arms, 4 slots.  Each stream stores exactly 4 of 20, so the sum of squares is scaled by 19 / 20
    before it is compared with chi-square of 19 degrees; it fails by chance once in a million tests.
    """
    rng = np.random.default_rng(4)
    streams, arms, slots = 4000, 20, 4
    stored = np.zeros(arms + 1)
    for _ in range(streams):
        memory = empty_memory(slots)
        for arrival in range(1, arms + 1):
            settle(memory, arrival, 1, 1.0, rng.random())
        stored[memory.arrival] += 1
    chance = slots / arms
    squares = ((stored[1:] - streams * chance) ** 2).sum() / (streams * chance * (1 - chance))
    assert stats.chi2.sf(squares * (arms - 1) / arms, arms - 1) > 1e-6


def test_an_arm_takes_its_statistics_with_it_when_it_leaves():
    """The published code kept them beside the list, where they came to belong to other arms."""
    memory = full(3)
    assert settle(memory, 10, 7, 2.5, coin=0.15) == 1
    assert (memory.arrival.tolist(), memory.pulls.tolist(), memory.total.tolist()) == (
        [1, 10, 3],
        [10, 7, 10],
        [5.0, 2.5, 5.0],
    )


@pytest.mark.parametrize("late", [1, 2])
def test_an_arm_settled_late_evicts_every_slot_equally_often_too(late):
    """Arm 1 or 2 of a stream may be settled after memory was filled by 3, 4, 5: m / t is then above 1, and it enters.

    Who leaves is still decided at random.  Chi-square over 3 slots; it fails by chance once in a million tests.
    """
    rng = np.random.default_rng(5)
    slots = [settle(full(3, [3, 4, 5]), late, 1, 1.0, coin) for coin in rng.random(3000)]
    evicted = np.bincount(slots, minlength=3)
    assert stats.chisquare(evicted).pvalue > 1e-6
