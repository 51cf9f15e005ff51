"""Fresh tests newcomers by how likely they are to lead, and the second best because it will."""

import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import brentq

from bestbefore.divergence import divergence
from bestbefore.memory import empty_memory, put
from bestbefore.noise import BOUNDED, Noise
from bestbefore.pull import Outlook, fresh, outlook_of
from bestbefore.pull.horizon import horizon_of

counts = st.integers(1, 10**5)
budgets = st.integers(1, 10**6)
arms = st.integers(1, 50)
youths = st.floats(1, 1000)
bests = st.floats(0, 1)
noises = st.sampled_from([BOUNDED, Noise(0.2, False), Noise(3.0, False)])


def horizon_under(best=0.0, youth=1.0, budget=1000, stored=10, noise=BOUNDED, heir=-math.inf):
    """Return the horizon of an epoch with a leader of this mean; nobody is tested as an heir unless told."""
    return horizon_of(budget, stored, 0.01, 1, noise, Outlook(youth, best, heir))


def limit(pulls, best, budget, stored, youth):
    """Return ln+(sqrt(1 - best) min(2 R / K, 1, T / 100) T / pulls), by the definition."""
    longest = math.sqrt(1 - best) * min(2 * youth / stored, 1, budget / 100) * budget
    return math.log(max(longest / pulls, 1))


@given(counts, st.floats(0, 0.999), budgets, arms, youths, bests)
def test_the_index_is_the_largest_mean_that_rewards_do_not_contradict(pulls, mean, budget, stored, youth, best):
    """By another solver, of SciPy."""
    index = fresh.index(pulls, mean * pulls, horizon_under(best, youth, budget, stored))
    mean, most = mean * pulls / pulls, limit(pulls, best, budget, stored, youth)

    def excess(q):
        return pulls * divergence(mean, q) - most

    if excess(mean + 1e-12) >= 0:
        assert index == pytest.approx(mean, abs=1e-9)
    else:
        found = brentq(excess, mean, 1 - 1e-15, xtol=1e-15) if excess(1 - 1e-15) > 0 else 1
        assert index == pytest.approx(found, abs=1e-8)


@given(counts, st.floats(-2, 2), budgets, arms, youths, st.floats(0.1, 3), st.floats(-5, 5))
def test_the_index_of_normal_rewards_is_closed_and_does_not_ask_how_good_the_leader_is(
    pulls, mean, budget, stored, youth, sigma, best
):
    horizon = horizon_under(best, youth, budget, stored, Noise(sigma, False))
    bonus = sigma * math.sqrt(2 * limit(pulls, 0.0, budget, stored, youth) / pulls)
    assert fresh.index(pulls, mean * pulls, horizon) == pytest.approx(mean + bonus, abs=1e-9)


def given_up_after(mean, **told):
    """Return how many pulls an arm has before it is given up, if each returns its mean and the leader's is 0.9."""
    horizon = horizon_under(**told)
    return next(pulls for pulls in range(1, 10**4) if fresh.index(pulls, mean * pulls, horizon) <= 0.9)


def test_a_newcomer_is_tested_longer_under_a_young_leader_and_never_beyond_the_traffic_of_an_epoch():
    tested = [given_up_after(0.85, youth=youth) for youth in (1, 4, 16, 1000, 10**6)]
    assert tested == sorted(tested)
    assert tested[0] < tested[1] < tested[2]
    assert tested[3] == tested[4] < 1000


def test_where_the_budget_is_small_most_newcomers_are_not_tried_to_the_end():
    """T = 20: an arm that has returned nothing yet is explored for up to 20 * 20 / 100 pulls, whoever leads."""
    horizon = horizon_under(budget=20, stored=6, youth=100.0)
    assert [fresh.index(pulls, 0.0, horizon) > 0 for pulls in (1, 2, 3, 4, 5)] == [True, True, True, False, False]


def test_below_a_nearly_perfect_leader_tests_are_shorter():
    """An arm better than 0.99 can hardly earn more; one that nothing can beat is not contested at all."""
    tested = [given_up_after(0.85, best=best, youth=2.0) for best in (0.5, 0.9, 0.99)]
    assert tested[0] > tested[1] > tested[2]
    assert fresh.index(1, 0.0, horizon_under(best=1.0)) == 0
    assert fresh.index(1, 0.0, horizon_of(1000, 10, 0.01, 1)) > 0.9, "where nobody leads all may be better"


def test_an_heir_is_tested_before_all_others_if_the_budget_is_large():
    """T / (10 K) is 20: an arm as good as the heir has 19 pulls before all others, and a hopeless one few of them."""
    horizon = horizon_under(budget=2000, best=0.9, heir=0.6)
    assert [n for n in range(1, 40) if fresh.index(n, 0.6 * n, horizon) == fresh.TESTED] == list(range(1, 20))
    hopeless = [n for n in range(1, 40) if fresh.index(n, 0.0, horizon) == fresh.TESTED]
    assert hopeless == [1, 2]
    small = horizon_under(budget=90, best=0.9, heir=0.6)
    assert fresh.index(1, 1.0, small) < fresh.TESTED
    alone = horizon_under(budget=2000, best=0.9)
    assert fresh.index(1, 1.0, alone) < fresh.TESTED, "without a second arm nobody is compared with it"


@given(counts, st.integers(1, 1000), bests, bests, budgets, arms, youths, bests, bests, noises)
def test_an_index_rises_with_the_mean_and_falls_with_the_pulls(
    pulls, more, low, high, budget, stored, youth, best, heir, noise
):
    """That is what leaps rely on."""
    assume(low <= high)
    horizon = horizon_under(best, youth, budget, stored, noise, heir)
    index = fresh.index(pulls, high * pulls, horizon)
    assert fresh.index(pulls, low * pulls, horizon) <= index + 1e-9
    assert fresh.index(pulls + more, high * (pulls + more), horizon) <= index + 1e-9


def test_all_ones_and_all_zeros_have_an_index():
    horizon = horizon_under(stored=4, youth=5.0)
    assert fresh.index(10, 10.0, horizon) == 1
    assert 0 < fresh.index(10, 0.0, horizon) < 1
    assert not fresh.is_above(10, 9.0, 10, horizon, 1.0)
    assert fresh.is_above(10, 1.0, 10, horizon, 0.0)


def test_the_outlook_knows_the_leader_and_how_good_an_heir_has_to_be():
    memory = empty_memory(4)
    assert outlook_of(memory, 1, 50, BOUNDED) == (1.0, -math.inf, -math.inf)
    put(memory, 0, arrival=40, pulls=100, total=80.0)
    assert outlook_of(memory, 60, 50, BOUNDED) == (2.5, 0.8, -math.inf)
    put(memory, 1, arrival=50, pulls=100, total=70.0)
    put(memory, 2, arrival=59, pulls=1, total=1.0)  # lucky: the highest mean, but not the leader
    put(memory, 3, arrival=60, pulls=0, total=0.0)
    assert outlook_of(memory, 60, 50, BOUNDED) == (2.5, 0.8, 0.9)
    little_noise = Noise(0.01, False)  # one reward is enough
    assert outlook_of(memory, 60, 50, little_noise) == (50.0, 1.0, 0.9)


def test_a_block_of_pulls_is_judged_by_the_limits_after_all_of_them():
    """5 pulls may go on as an heir, and as a challenger; after 25, or 200, both limits are gone."""
    as_heir = horizon_under(budget=2000, best=0.9, heir=0.6)
    assert fresh.is_above(5, 3.0, 5, as_heir, 0.99)
    assert not fresh.is_above(5, 3.0, 25, as_heir, 0.99)
    as_challenger = horizon_under(youth=2.0)
    assert fresh.is_above(5, 3.0, 5, as_challenger, 0.9)
    assert not fresh.is_above(5, 3.0, 200, as_challenger, 0.9)


def test_one_zero_more_than_the_room_may_bring_the_index_down_but_none_fewer():
    """Counted zero by zero, with the limits after all of the block."""
    horizon = horizon_under(stored=4, youth=2.0)
    for pulls in range(4, 120, 3):
        for level in (0.5, 0.7, 0.9):
            total, later = float(round(0.8 * level * pulls)), pulls + 40
            limit = fresh._limit(later, horizon)
            last = next(
                z for z in range(42) if (pulls + z) * divergence(total / (pulls + z), level) >= limit or z == 41
            )
            assert fresh.room(pulls, total, later, horizon, level) <= last
