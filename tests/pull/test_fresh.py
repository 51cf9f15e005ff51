"""Fresh explores an arm for up to R T sqrt(T / K) / 48 pulls, and leaps rely on what its indices do."""

import math

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from scipy.optimize import brentq

from bestbefore.divergence import divergence
from bestbefore.memory import empty_memory, put
from bestbefore.noise import BOUNDED, Noise
from bestbefore.pull import dispersion_of, fresh, kl, youth_of
from bestbefore.pull.horizon import horizon_of

counts = st.integers(1, 10**5)
budgets = st.integers(1, 10**6)
arms = st.integers(1, 50)
youths = st.floats(1, 1000)
noises = st.sampled_from([BOUNDED, Noise(0.2, False), Noise(3.0, False)])


def horizon_under(youth=1.0, budget=1000, stored=10, noise=BOUNDED, dispersion=1.0):
    """Return the horizon of an epoch."""
    return horizon_of(budget, stored, 0.01, 1, noise, youth, dispersion)


def limit(pulls, budget, stored, youth):
    """Return ln+(R T sqrt(T / K) / 48 / pulls), by the definition."""
    return math.log(max(youth * budget * math.sqrt(budget / stored) / 48 / pulls, 1))


@given(counts, st.floats(0, 0.999), budgets, arms, youths)
def test_the_index_is_the_largest_mean_that_rewards_do_not_contradict(pulls, mean, budget, stored, youth):
    """By another solver, of SciPy."""
    index = fresh.index(pulls, mean * pulls, horizon_under(youth, budget, stored))
    mean, most = mean * pulls / pulls, limit(pulls, budget, stored, youth)

    def excess(q):
        return pulls * divergence(mean, q) - most

    if excess(mean + 1e-12) >= 0:
        assert index == pytest.approx(mean, abs=1e-9)
    else:
        found = brentq(excess, mean, 1 - 1e-15, xtol=1e-15) if excess(1 - 1e-15) > 0 else 1
        assert index == pytest.approx(found, abs=1e-8)


@given(counts, st.floats(-2, 2), budgets, arms, youths, st.floats(0.1, 3))
def test_the_index_of_normal_rewards_is_closed(pulls, mean, budget, stored, youth, sigma):
    horizon = horizon_under(youth, budget, stored, Noise(sigma, False))
    bonus = sigma * math.sqrt(2 * limit(pulls, budget, stored, youth) / pulls)
    assert fresh.index(pulls, mean * pulls, horizon) == pytest.approx(mean + bonus, abs=1e-9)


def given_up_after(mean, **told):
    """Return how many pulls an arm has before it is given up, if each returns its mean and the leader's is 0.9."""
    horizon = horizon_under(**told)
    return next(pulls for pulls in range(1, 10**4) if fresh.index(pulls, mean * pulls, horizon) <= 0.9)


def test_a_newcomer_is_tested_longer_under_a_young_leader():
    tested = [given_up_after(0.8, youth=youth) for youth in (1, 4, 16, 64)]
    assert tested == sorted(set(tested))


def test_a_newcomer_is_tested_longer_where_an_arrival_brings_more_traffic():
    tested = [given_up_after(0.8, budget=budget) for budget in (20, 200, 2000, 20_000)]
    assert tested == sorted(set(tested))


def test_a_newcomer_is_tested_longer_where_rewards_vary_more():
    tested = [given_up_after(0.8, budget=20_000, dispersion=dispersion) for dispersion in (0.1, 0.25, 0.5, 1)]
    assert tested == sorted(set(tested))


@given(counts, st.floats(0, 1), budgets, arms, youths, st.floats(0, 1))
def test_less_evidence_is_asked_for_by_as_much_as_rewards_vary_less(pulls, mean, budget, stored, youth, dispersion):
    horizon = horizon_under(youth, budget, stored, dispersion=dispersion)
    most = (dispersion + (1 - dispersion) / pulls**2) * limit(pulls, budget, stored, youth)
    assert fresh.index(pulls, mean * pulls, horizon) == pytest.approx(kl.index(pulls, mean * pulls, most, BOUNDED))


def test_an_arm_is_not_given_up_for_its_first_reward_where_others_vary_little():
    horizon = horizon_under(dispersion=0.05)
    assert [fresh.index(pulls, 0.0, horizon) > 0.6 for pulls in (1, 2, 3)] == [True, False, False]


def test_where_the_budget_is_small_newcomers_are_not_tried_to_the_end():
    """T = 20: an arm that has returned nothing yet is explored for one pull, whoever leads."""
    horizon = horizon_under(2.0, budget=20, stored=6)
    assert [fresh.index(pulls, 0.0, horizon) > 0 for pulls in (1, 2, 3, 4)] == [True, False, False, False]


@given(counts, st.integers(1, 1000), st.floats(0, 1), st.floats(0, 1), budgets, arms, youths, noises)
def test_an_index_rises_with_the_mean_and_falls_with_the_pulls(pulls, more, low, high, budget, stored, youth, noise):
    """That is what leaps rely on."""
    assume(low <= high)
    horizon = horizon_under(youth, budget, stored, noise)
    index = fresh.index(pulls, high * pulls, horizon)
    assert fresh.index(pulls, low * pulls, horizon) <= index + 1e-9
    assert fresh.index(pulls + more, high * (pulls + more), horizon) <= index + 1e-9


def test_all_ones_and_all_zeros_have_an_index():
    horizon = horizon_under(5.0, stored=4)
    assert fresh.index(10, 10.0, horizon) == 1
    assert 0 < fresh.index(10, 0.0, horizon) < 1
    assert not fresh.is_above(10, 9.0, 10, horizon, 1.0)
    assert fresh.is_above(10, 1.0, 10, horizon, 0.0)


def test_youth_is_the_window_over_the_age_of_the_leader():
    memory = empty_memory(4)
    assert youth_of(memory, 1, 50, BOUNDED) == 1.0
    put(memory, 0, arrival=40, pulls=100, total=80.0)
    put(memory, 1, arrival=50, pulls=100, total=70.0)
    put(memory, 2, arrival=59, pulls=1, total=1.0)  # lucky: the highest mean, but not the leader
    put(memory, 3, arrival=60, pulls=0, total=0.0)
    assert youth_of(memory, 60, 50, BOUNDED) == 2.5
    assert youth_of(memory, 60, 50, Noise(0.01, False)) == 50.0, "with little noise one reward is enough"
    put(memory, 3, arrival=60, pulls=100, total=90.0)
    assert youth_of(memory, 60, 50, BOUNDED) == 50.0, "a leader that has just come is one arrival old"


@pytest.mark.parametrize("order", [(1, 19), (19, 1)])
def test_where_no_arm_has_a_reward_the_oldest_leads_in_whichever_slot_it_is(order):
    memory = empty_memory(2)
    for slot, arrival in enumerate(order):
        put(memory, slot, arrival, pulls=100 + arrival, total=0.0)
    assert youth_of(memory, 20, 50, BOUNDED) == 50 / 19


def seen(rewards):
    """Return slots and shades of arms with these rewards."""
    memory, shades = empty_memory(len(rewards) + 1), np.zeros(len(rewards) + 1)
    for slot, own in enumerate(rewards):
        put(memory, slot, slot + 1, len(own), float(np.sum(own)))
        shades[slot] = np.sum(np.multiply(own, np.subtract(1, own)))
    return memory, shades


@given(st.lists(st.lists(st.sampled_from([0.0, 1.0]), max_size=50), max_size=5))
@example([[0.0] + [1.0] * 8])  # whose variance v is not v * v / v in floats
def test_rewards_that_are_all_or_nothing_have_dispersion_1(rewards):
    assert dispersion_of(*seen(rewards)) == 1


def test_the_dispersion_is_that_of_the_rewards():
    """60 arms of 30 stars each: within 0.03 of what they were drawn with, by a seed that is fixed."""
    levels, rng = np.array([0, 0.25, 0.5, 0.75, 1]), np.random.default_rng(0)
    for weights in ([0.05, 0.1, 0.25, 0.35, 0.25], [0, 0, 0.5, 0.5, 0], [0.4, 0.1, 0, 0.1, 0.4]):
        mean = levels @ weights
        variance = weights @ (levels - mean) ** 2
        known = dispersion_of(*seen(rng.choice(levels, (60, 30), p=weights)))
        assert known == pytest.approx(variance / (mean * (1 - mean)), abs=0.03)


def test_arms_that_differ_do_not_add_to_the_dispersion():
    assert dispersion_of(*seen([[level - 0.05, level + 0.05] * 25 for level in np.linspace(0.1, 0.9, 9)])) < 0.1


def test_of_two_rewards_half_is_missing():
    """1/4 and 3/4 vary by 1/16.  That is 3/16 less than mean (1 - mean), of which two rewards show half."""
    varies, bound = 1 / 16, 1 / 16 + 3 / 32
    known = (0.003 * bound + varies * varies / bound) / (0.003 * bound + varies)
    assert dispersion_of(*seen([[0.25, 0.75]])) == pytest.approx(known)


def test_arms_that_vary_much_count_most_however_often_others_were_pulled():
    """A good leader is pulled more often than all others, and may be the only one that varies little."""
    memory, shades = seen([[0.0, 1.0] * 50, [0.4, 0.6] * 50])
    some = dispersion_of(memory, shades)
    put(memory, 1, 2, 10**6, 5e5)
    shades[1] = 2.4e5
    assert dispersion_of(memory, shades) == pytest.approx(some, abs=0.01)
    assert some == pytest.approx(0.96, abs=0.01)


def test_where_rewards_vary_by_little_of_the_scale_caution_prevails():
    """So a scale should be the one on which rewards do vary."""
    narrow, wide = (dispersion_of(*seen([[0.5 - step, 0.5 + step] * 25] * 5)) for step in (0.02, 0.2))
    assert narrow > 100 * (0.02 / 0.5) ** 2
    assert wide == pytest.approx((0.2 / 0.5) ** 2, abs=0.02)


def test_what_is_noted_of_an_empty_slot_says_nothing():
    memory, shades = seen([[0.4, 0.6] * 15])
    assert dispersion_of(memory, shades) < 0.2
    memory.arrival[0] = 0
    assert dispersion_of(memory, shades) == 1


@pytest.mark.parametrize("rewards", [[], [[]], [[0.3]], [[0.2], [0.7], [0.5]], [[0.5] * 9, [0.4] * 9]])
def test_before_rewards_of_an_arm_differ_they_are_feared_to_vary_most(rewards):
    assert dispersion_of(*seen(rewards)) == 1


def test_an_index_that_is_a_hair_below_the_level_is_not_above_it():
    """The evidence is 0 but for its rounding, and so is the limit."""
    horizon = horizon_of(1, 1, 0.01, 1)
    assert fresh.index(36, 15.199999999999989, horizon) < 0.42222222222222233
    assert not fresh.is_above(36, 15.199999999999989, 36, horizon, 0.42222222222222233)
    assert not fresh.is_above(61613, 54438.0, 61613, horizon, 111835 / 126575)


def test_a_block_of_pulls_is_judged_by_the_limits_after_all_of_them():
    """5 pulls may go on as a challenger's; after 400 the limit is too low."""
    horizon = horizon_under()
    assert fresh.is_above(5, 3.0, 5, horizon, 0.9)
    assert not fresh.is_above(5, 3.0, 400, horizon, 0.9)


def test_one_zero_more_than_the_room_may_bring_the_index_down_but_none_fewer():
    """Counted zero by zero, with the limits after all of the block."""
    horizon = horizon_under(2.0, stored=4)
    for pulls in range(4, 120, 3):
        for level in (0.5, 0.7, 0.9):
            total, later = float(round(0.8 * level * pulls)), pulls + 40
            most = limit(later, 1000, 4, 2.0)
            last = next(z for z in range(42) if (pulls + z) * divergence(total / (pulls + z), level) >= most or z == 41)
            room = fresh.room(pulls, total, later, horizon, level)
            assert room <= last
            assert room == pytest.approx(kl.room(pulls, total, later, most, level), abs=1e-6)
            if 0 < last < 41 and total / later < level:
                assert room > last / 2 - 1, "and the room is most of what there is"
