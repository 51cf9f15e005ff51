"""Certificates: bounds of stored arms, charges for dropped ones, and how both come to an end."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestbefore.bounds import LEAST_MEAN
from bestbefore.memory import count
from bestbefore.noise import BOUNDED, Noise
from bestbefore.probe.certificates import (
    CHARGE,
    CHARGED,
    LOWER,
    UPPER,
    admit,
    allowed,
    claim,
    expire,
    hand_over,
    is_known,
    let_go,
    no_certificates,
    refresh,
    settings_of,
    told,
    withdraw,
)

SETTINGS = settings_of(0.2, 4, BOUNDED)


def certificates_of(*arms, slots=4):
    """Store arms of these upper bounds, which arrived one after the other."""
    c = no_certificates(slots)
    for arrival, high in enumerate(arms, start=1):
        c.levels[admit(c, arrival, 5.0, 3.0), UPPER] = high
    return c


def test_an_arm_begins_with_nothing_known_and_leaves_nothing_behind():
    c, empty = no_certificates(2), no_certificates(2)
    slot = admit(c, 1, 5.0, 3.0)
    assert c.levels[slot].tolist() == [0, 1, 0, 5, 3]
    told(c, slot, 50, 30.0, SETTINGS)
    refresh(c, slot, SETTINGS)
    assert 0 < c.levels[slot, LOWER] < 0.6 < c.levels[slot, UPPER] < 1
    let_go(c, slot)
    for ours, fresh in zip([*c.memory, c.levels, c.counts], [*empty.memory, empty.levels, empty.counts], strict=True):
        assert np.array_equal(ours, fresh)


def test_one_arm_more_than_slots_may_be_there_and_no_more():
    c = certificates_of(1, 1, 1, slots=2)
    with pytest.raises(ValueError, match="only when a slot is free"):
        admit(c, 4, 5.0, 3.0)


@given(st.lists(st.tuples(st.integers(1, 50), st.floats(0, 1)), min_size=1, max_size=20))
def test_bounds_only_ever_close_in(batches):
    c = certificates_of(1.0)
    low, high = 0.0, 1.0
    for pulls, mean in batches:
        told(c, 0, pulls, pulls * mean, SETTINGS)
        refresh(c, 0, SETTINGS)
        assert low <= c.levels[0, LOWER] <= 1
        assert 0 <= c.levels[0, UPPER] <= high
        low, high = c.levels[0, [LOWER, UPPER]]


def test_the_heir_takes_over_the_claim_with_what_was_charged_before():
    c = certificates_of(0.9, 0.5, 0.4)
    hand_over(c, 0, 1)
    assert (c.levels[1, CHARGE], c.counts[1, CHARGED], claim(c, 1)) == (0.9, 1, 0.9)
    hand_over(c, 1, 2)
    assert (c.levels[2, CHARGE], c.counts[2, CHARGED]) == (0.9, 2), "from heir to heir nothing is lost"
    assert count(c.memory) == 1


def test_a_charge_is_void_once_all_that_it_stands_for_has_expired():
    c = certificates_of(0.9, 0.5, 0.4)
    hand_over(c, 0, 2)
    expire(c, oldest=1)
    assert claim(c, 2) == 0.9
    expire(c, oldest=2)
    assert (claim(c, 2), c.counts[2, CHARGED]) == (0.4, 0), "arm 1 has expired"


def test_a_charge_outlives_some_but_not_all_that_it_stands_for():
    c = certificates_of(0.9, 0.7, 0.4)
    hand_over(c, 0, 2)
    hand_over(c, 1, 2)
    expire(c, oldest=2)
    assert claim(c, 2) == 0.9, "which part of a charge was whose is not remembered"
    expire(c, oldest=3)
    assert claim(c, 2) == 0.4


def test_expired_arms_are_gone():
    c = certificates_of(0.9, 0.5, 0.4)
    expire(c, oldest=3)
    assert c.memory.arrival.tolist() == [0, 0, 3, 0, 0]
    assert (c.levels[:2, UPPER] == 1).all()


def test_the_charge_of_an_arm_that_is_withdrawn_goes_to_the_newest():
    c = certificates_of(0.9, 0.5, 0.4, 0.3)
    hand_over(c, 0, 1)
    withdraw(c, 1)
    assert c.memory.arrival.tolist() == [0, 0, 3, 4, 0]
    assert (c.levels[2, CHARGE], c.levels[3, CHARGE], c.counts[3, CHARGED]) == (0, 0.9, 1)


def test_the_charge_of_the_last_arm_that_is_withdrawn_waits():
    c = certificates_of(0.9, 0.5)
    hand_over(c, 0, 1)
    withdraw(c, 1)
    assert count(c.memory) == 0
    assert (c.levels[-1, CHARGE], c.counts[-1, CHARGED]) == (0.9, 1)
    expire(c, oldest=2)
    assert (c.levels[-1, CHARGE], c.counts[-1, CHARGED]) == (0, 0)


def test_an_arm_that_is_withdrawn_without_a_charge_leaves_none():
    c = certificates_of(0.9, 0.5)
    withdraw(c, 0)
    assert not c.levels[:, CHARGE].any()
    assert not c.counts[:, CHARGED].any()


def test_a_charge_never_goes_to_an_arm_that_expires_before_those_it_stands_for():
    """Arms 1, 2 and 3; the second was dropped for the third, which is withdrawn: the first cannot answer for it."""
    c = no_certificates(3)
    first, second, third = (admit(c, arrival, 5.0, 3.0) for arrival in (1, 2, 3))
    c.levels[second, UPPER] = 0.8
    hand_over(c, second, third)
    withdraw(c, third)
    assert c.levels[first, CHARGE] == 0
    expire(c, oldest=2)
    assert c.levels[-1, CHARGE] == 0.8, "nobody's, but not forgotten while arm 2 would be valid"
    expire(c, oldest=3)
    assert c.levels[-1, CHARGE] == 0


def test_epsilon_is_a_distance_or_a_share():
    assert allowed(0.5, settings_of(0.2, 9, BOUNDED)) == 0.2
    relative = settings_of(0.2, 9, BOUNDED, relative=True)
    assert allowed(0.5, relative) == 0.1
    assert allowed(0.009, relative) == 0.009, "where all means are that small, any arm will do"


@pytest.mark.parametrize("noise", [BOUNDED, Noise(0.8, False)])
@pytest.mark.parametrize("mean", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("relative", [False, True])
def test_every_arm_is_known_after_enough_pulls(noise, mean, relative):
    settings = settings_of(0.2, 20, noise, relative=relative)
    c = certificates_of(1.0)
    while not is_known(c, 0, settings):
        assert c.memory.pulls[0] < 10**8
        more = max(c.memory.pulls[0] // 4, 1)
        told(c, 0, int(more), more * mean, settings)
    refresh(c, 0, settings)
    if not relative or c.levels[0, UPPER] > LEAST_MEAN:
        assert c.levels[0, UPPER] - c.levels[0, LOWER] <= allowed(c.levels[0, UPPER], settings)


def test_without_a_target_no_arm_is_ever_known():
    settings = settings_of(0.0, 4, BOUNDED, tuned=0.1)
    c = certificates_of(1.0)
    told(c, 0, 10**9, 5e8, settings)
    assert not is_known(c, 0, settings)
    with pytest.raises(ValueError, match=r"epsilon must be above 0 .* not 0\.0"):
        settings_of(0.0, 4, BOUNDED)
