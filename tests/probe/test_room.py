"""Room: which arm goes when memory is full, and what is pulled until one may."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestbefore.memory import count
from bestbefore.noise import BOUNDED
from bestbefore.probe.certificates import (
    CHARGE,
    LOWER,
    SEEN_LOWER,
    SEEN_UPPER,
    UPPER,
    admit,
    claim,
    no_certificates,
    settings_of,
)
from bestbefore.probe.room import drop_covered, give_way, to_make_room


def arms_of(*bounds, slots=3):
    """Store arms of these bounds, the oldest first, with as many pulls as bounds so wide may rest on."""
    c = no_certificates(slots)
    for arrival, (low, high) in enumerate(bounds, start=1):
        slot = admit(c, arrival, 5.0, 3.0)
        c.levels[slot, LOWER], c.levels[slot, UPPER] = low, high
        pulls = math.ceil(4 / (high - low) ** 2)
        c.memory.pulls[slot] = c.counts[slot, SEEN_LOWER] = c.counts[slot, SEEN_UPPER] = pulls
        c.memory.total[slot] = pulls * (low + high) / 2
    return c


SETTINGS = settings_of(0.3, 4, BOUNDED)  # cells of .7 / 3 = .233


def test_an_arm_goes_at_no_cost_if_a_newer_one_is_surely_no_worse():
    c = arms_of((0.1, 0.3), (0.4, 0.9))
    assert drop_covered(c, SETTINGS)
    assert c.memory.arrival.tolist() == [0, 2, 0, 0]
    assert c.levels[1, CHARGE] == 0


def test_an_arm_that_is_covered_goes_and_its_heir_is_charged():
    c = arms_of((0.3, 0.52), (0.25, 0.6))  # .25, rounded down, is .233, and .3 more is .533
    assert drop_covered(c, SETTINGS)
    assert c.memory.arrival.tolist() == [0, 2, 0, 0]
    assert c.levels[1, CHARGE] == 0.52


def test_lower_bounds_are_rounded_down_to_cells():
    c = arms_of((0.3, 0.54), (0.25, 0.6))  # .54 is within .3 of .25, but not of .233
    assert not drop_covered(c, SETTINGS)
    assert count(c.memory) == 2


def test_where_epsilon_is_a_share_so_are_cells():
    """Eight slots: the cells of the logarithm are ln(100 / .7) / 7 = .709 wide, so 0.3 is rounded down to 0.242."""
    relative = settings_of(0.3, 8, BOUNDED, relative=True)
    c = arms_of((0.2, 0.34), (0.3, 0.6))
    assert drop_covered(c, relative), "0.242 is 7/10 of 0.346"
    c = arms_of((0.2, 0.36), (0.3, 0.6))
    assert not drop_covered(c, relative), "though 0.3 is more than 7/10 of it"


def test_an_arm_that_seems_to_need_very_many_pulls_is_not_given_them_at_once():
    """The means of two arms are nearly as far apart as one may be above the other and still be covered.

    Then millions of pulls seem to be needed.  An estimate so uncertain must not be paid for in one go.
    """
    settings = settings_of(0.3, 2, BOUNDED)  # a cell is .5, and half of it is lost by rounding: .05 are left of .3
    c = arms_of((0.3, 0.8), (0.2, 0.8))
    older, newer = 0, 1
    pulls = c.memory.pulls[older]
    c.memory.total[older] = (0.5 + 0.05 - 1e-7) * (pulls + 1) - 0.5
    c.memory.total[newer] = 0.5 * c.memory.pulls[newer]
    slot, at_once = to_make_room(c, settings)
    assert slot in (older, newer)
    assert 0 < at_once <= c.memory.pulls[slot]


def test_a_charge_counts_like_an_upper_bound():
    c = arms_of((0.3, 0.5), (0.25, 0.6))
    c.levels[0, CHARGE] = 0.9
    assert not drop_covered(c, SETTINGS)


def test_an_arm_is_not_covered_by_an_older_one():
    c = arms_of((0.6, 0.8), (0.1, 0.7))
    assert not drop_covered(c, SETTINGS), "it outlives the older one"


def test_of_several_the_one_goes_whose_claim_is_least_above():
    c = arms_of((0.4, 0.53), (0.3, 0.5), (0.4, 0.7))
    assert drop_covered(c, SETTINGS)
    assert c.memory.arrival.tolist() == [1, 0, 3, 0]


def test_what_is_least_above_is_so_after_rounding_down():
    """.98 is .28 above .70, which is one of the cells; .5 is only .18 above .32, but that is rounded down to .233."""
    settings = settings_of(0.3, 4, BOUNDED)
    c = arms_of((0.5, 0.98), (0.7001, 0.99), (0.3, 0.55), (0.32, 0.6))
    c.levels[1, CHARGE] = 1.0
    assert drop_covered(c, settings)
    assert c.memory.arrival.tolist() == [0, 2, 3, 4]


def test_who_must_go_is_the_one_who_costs_least_whatever_that_is():
    c = arms_of((0.8, 1.0), (0.5, 0.9), (0.1, 0.6), slots=2)
    give_way(c, settings_of(0.3, 2, BOUNDED))
    assert c.memory.arrival.tolist() == [0, 2, 3]  # 1.0 - .5 is less than .9 - .1
    assert claim(c, 1) == 1.0


def test_the_only_arm_gives_way_to_none():
    with pytest.raises(ValueError, match="only to a newer one"):
        give_way(arms_of((0.1, 0.9)), SETTINGS)
    assert not drop_covered(arms_of((0.1, 0.9)), SETTINGS)


def test_the_pair_that_is_nearest_to_being_covered_is_pulled():
    c = arms_of((0.6, 1.0), (0.3, 0.69), (0.25, 0.65), (0.0, 0.2), slots=3)
    assert to_make_room(c, SETTINGS)[0] in (1, 2)


def test_a_charge_is_not_lowered_by_pulls_of_the_arm_that_carries_it():
    c = arms_of((0.2, 0.6), (0.2, 0.7))
    c.levels[0, CHARGE] = 0.65
    assert to_make_room(c, SETTINGS)[0] == 1, "the newer one must come up to it"


@given(st.lists(st.integers(0, 100), min_size=3, max_size=12), st.sampled_from([0.1, 0.3, 0.6]))
def test_of_one_arm_too_many_one_is_covered_once_all_are_known(lowers, epsilon):
    """And this whatever charges they carry, as long as these were taken over from arms that were covered."""
    slots = max(len(lowers) - 1, math.ceil(1.2 / epsilon))
    settings = settings_of(epsilon, slots, BOUNDED)
    lowers = (lowers * (slots + 1))[: slots + 1]
    width = 0.9 * (epsilon - settings.cell)
    c = arms_of(*((low / 100, min(low / 100 + width, 1.0 + 1e-9)) for low in lowers), slots=slots)
    for slot in range(slots + 1):
        rounded = math.floor(c.levels[slot, LOWER] / settings.cell) * settings.cell
        c.levels[slot, CHARGE] = min(rounded + epsilon, 1.0) - 1e-9
    assert drop_covered(c, settings)
    assert count(c.memory) == slots
