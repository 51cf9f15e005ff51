"""The indices of the pull rules, against their definitions."""

import math

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from bestbefore import pull, rules
from bestbefore.divergence import divergence, quick_upper_bound, upper_bound
from bestbefore.memory import empty_memory, put
from bestbefore.noise import BOUNDED, Noise
from bestbefore.pull import commit, fresh, inf, kl_ucb, moss, thompson, ucb
from bestbefore.pull.horizon import horizon_of

counts = st.integers(1, 10**6)
budgets = st.integers(1, 10**6)
arms = st.integers(1, 50)
noises = st.sampled_from([BOUNDED, Noise(0.2, False), Noise(3.0, False)])
horizons = st.builds(
    lambda budget, stored, youth: horizon_of(budget, stored, 0.01, 1, youth=youth),
    st.integers(1, 10**5),
    arms,
    st.floats(1, 1000),
)
INDEXED = [rules.PULL[name].number for name in rules.INDEXED]


@given(counts, st.floats(0, 1), budgets, arms, noises)
def test_ucb_adds_the_root_of_log_over_pulls_times_two_sigma(pulls, mean, budget, stored, noise):
    log = math.log(budget * stored / 0.01)
    index = ucb.index(pulls, mean * pulls, horizon_of(budget, stored, 0.01, 1, noise))
    assert index == pytest.approx(mean + 2 * noise.sigma * math.sqrt(log / pulls))


@given(counts, st.floats(0, 1), budgets, arms, noises)
def test_moss_has_no_bonus_beyond_its_share(pulls, mean, budget, stored, noise):
    bonus = 2 * noise.sigma * math.sqrt(max(math.log(budget / stored / pulls), 0) / pulls)
    index = moss.index(pulls, mean * pulls, horizon_of(budget, stored, 0.01, 1, noise))
    assert index == pytest.approx(mean + bonus)


@given(counts, st.floats(0, 1), st.floats(0, 30))
def test_the_upper_bound_is_where_the_divergence_reaches_the_rate(pulls, mean, log):
    """A hair below it is not reached, a hair above it is; a divergence is known up to the rounding of logarithms."""
    bound = upper_bound(pulls, mean * pulls, log)
    mean, rate, hair = mean * pulls / pulls, log / pulls, 1e-12
    rounding = 4e-15 * (1 + rate)
    assert mean - hair <= bound <= 1
    if mean < bound - hair:
        assert divergence(mean, bound - hair) <= rate + rounding
    if bound + hair < 1:
        assert divergence(mean, bound + hair) >= rate - rounding


@given(counts, st.floats(0, 1), st.one_of(st.floats(1e-3, 60), st.floats(1e-12, 1e-3)))
@example(10**6, 0.03, 1e-9)
@example(10**6, 0.001, 1e-9)
def test_the_quick_bound_is_no_lower_and_where_it_is_high_by_little(pulls, mean, log):
    exact, quick = (bound(pulls, mean * pulls, log) for bound in (upper_bound, quick_upper_bound))
    assert max(exact - 1e-12, mean * pulls / pulls) <= quick <= 1
    assert quick - exact <= 0.25 * (exact - mean * pulls / pulls) + 1e-6


def test_the_upper_bound_of_all_ones_is_one_and_of_all_zeros_closed():
    assert upper_bound(10, 10.0, 3.0) == 1
    assert upper_bound(10, 0.0, 3.0) == pytest.approx(1 - math.exp(-0.3))


@given(counts, st.floats(0, 1), budgets, arms)
def test_kl_ucb_takes_the_logarithm_of_the_budget_as_its_rate(pulls, mean, budget, stored):
    horizon = horizon_of(budget, stored, 0.01, 1)
    assert kl_ucb.index(pulls, mean * pulls, horizon) == upper_bound(pulls, mean * pulls, math.log(budget))


@given(counts, st.floats(0, 1), st.integers(2, 10**6), st.floats(0.1, 3))
def test_kl_ucb_of_normal_rewards_is_closed(pulls, mean, budget, sigma):
    """Where pulls (q - mean)^2 / (2 sigma^2) reaches ln T."""
    q = kl_ucb.index(pulls, mean * pulls, horizon_of(budget, 3, 0.01, 1, Noise(sigma, False)))
    assert pulls * (q - mean) ** 2 / (2 * sigma**2) == pytest.approx(math.log(budget), rel=1e-6)


def test_commit_tests_first_by_no_more_pulls_than_the_budget():
    horizon = horizon_of(100, 2, 0.01, 4)
    assert (commit.index(3, 3.0, horizon), commit.index(4, 3.0, horizon)) == (math.inf, 0.75)
    assert commit.index(3, 3.0, horizon_of(3, 2, 0.01, 4)) == 1.0
    assert (commit.sure(1, horizon), commit.sure(4, horizon), commit.sure(9, horizon)) == (3, 1, 1)


@pytest.mark.parametrize("rule", INDEXED)
@given(
    st.integers(1, 2000),
    st.integers(0, 200),
    st.integers(0, 200),
    st.floats(0, 1),
    st.floats(0, 1.5),
    horizons,
)
def test_what_is_said_to_stay_above_a_level_does(rule, pulls, zeros, ones, share, level, horizon):
    """After any part of a block, zeros first: if `is_above` says so of all of it, the index is above the level."""
    total = float(round(share * pulls))
    block = zeros + ones
    if module_of(rule).is_above(pulls + zeros, total, pulls + block, horizon, level):
        for seen_zeros, seen_ones in ((0, 0), (zeros // 2, 0), (zeros, 0), (zeros, ones // 2), (zeros, ones)):
            now = pulls + seen_zeros + seen_ones
            assert module_of(rule).index(now, total + seen_ones, horizon) > level


@pytest.mark.parametrize("rule", INDEXED)
@given(st.integers(1, 2000), st.integers(1, 200), st.floats(0, 1), st.floats(0.01, 1.2), horizons)
def test_fewer_zeros_than_the_room_leave_the_index_above_the_level(rule, pulls, more, share, level, horizon):
    """Whatever else comes with them, up to the last of these pulls: here nothing, or only rewards of 1."""
    total, later = float(round(share * pulls)), pulls + more
    room = module_of(rule).room(pulls, total, later, horizon, level)
    for zeros in {0, 1, more // 2, more}:
        if zeros < room:
            for ones in {0, more - zeros}:
                index = module_of(rule).index(pulls + zeros + ones, total + ones, horizon)
                assert index > level - 1e-12


@pytest.mark.parametrize("rule", INDEXED)
@given(st.integers(1, 2000), st.floats(0, 1), st.floats(0.01, 1.2), horizons)
def test_of_what_was_seen_it_is_known_which_side_of_a_level_the_index_is_on(rule, pulls, share, level, horizon):
    """But for a hair, which rounding may hide."""
    total = float(round(share * pulls))
    index = module_of(rule).index(pulls, total, horizon)
    assume(abs(index - level) > 1e-7)
    assert module_of(rule).is_above(pulls, total, pulls, horizon, level) == (index > level)


@pytest.mark.parametrize("rule", INDEXED)
@given(st.one_of(st.integers(1, 100), counts), st.floats(0, 1), horizons)
def test_an_index_is_no_higher_than_its_ceiling(rule, pulls, share, horizon):
    total = float(round(share * pulls))
    assert module_of(rule).index(pulls, total, horizon) <= module_of(rule).ceiling(pulls, total, horizon)


@pytest.mark.parametrize("verb", [pull.highest])
def test_a_number_that_no_rule_has_is_an_error(verb):
    memory = empty_memory(1)
    put(memory, 0, 1, 10, 5.0)
    with pytest.raises(ValueError, match="no pull rule has this number"):
        verb(rules.PULL["inf"].number, memory, horizon_of(10, 1, 0.01, 1))


def test_of_equal_indices_the_newest_arm_is_pulled_and_before_all_one_that_never_was():
    memory, horizon = empty_memory(3), horizon_of(100, 3, 0.01, 1)
    put(memory, 0, 5, 10, 5.0)
    put(memory, 1, 7, 10, 5.0)
    for rule in INDEXED:
        assert pull.highest(rule, memory, horizon) == 1
    put(memory, 2, 3, 0, 0.0)
    for rule in INDEXED:
        assert pull.highest(rule, memory, horizon) == 2


@given(st.lists(st.floats(0, 1e5), min_size=1, max_size=40), st.integers(1, 10**6))
def test_the_odds_of_inf_add_up_and_fall_with_the_loss(losses, time):
    losses, odds = np.array(losses), np.zeros(len(losses))
    inf.fill_odds(losses, time, odds)
    assert odds.sum() == pytest.approx(1)
    assert (odds > 0).all()
    order = np.argsort(losses)
    assert (np.diff(odds[order]) <= 1e-12).all()
    eta = 2 / math.sqrt(time)
    x = losses - 2 / (eta * np.sqrt(odds))  # w = 4 (eta (L - x))^-2 has the same x for all
    assert np.ptp(x) <= 1e-5 * max(1, np.abs(x).max())


def test_an_empty_slot_has_no_odds_and_is_never_drawn():
    """Empty slots have infinite losses; the odds of the others are as if it were not there."""
    with_gap, without = np.zeros(3), np.zeros(2)
    inf.fill_odds(np.array([1.0, np.inf, 3.0]), 9, with_gap)
    inf.fill_odds(np.array([1.0, 3.0]), 9, without)
    assert with_gap[[0, 2]].tolist() == without.tolist()
    assert with_gap[1] == 0
    assert {inf.drawn_place(np.array([0.5, 0.5, 0.0]), coin) for coin in np.linspace(0, 1, 101)} == {0, 1}


def test_a_place_is_drawn_with_its_odds():
    odds = np.array([0.2, 0.5, 0.3])
    assert [inf.drawn_place(odds, coin) for coin in (0.0, 0.19, 0.2, 0.69, 0.71, 0.999999)] == [0, 0, 1, 1, 2, 2]


def test_thompson_draws_from_what_is_believed():
    """Mean and deviation of 20,000 draws, within 5 standard errors: fails by chance once in a million; seed fixed."""
    rng = np.random.default_rng(0)
    draws = np.array([thompson.draw(20, 15.0, BOUNDED, rng) for _ in range(20_000)])
    mean, deviation = 16 / 22, math.sqrt(16 * 6 / (22**2 * 23))
    assert abs(draws.mean() - mean) < 5 * deviation / math.sqrt(20_000)
    assert abs(draws.std() - deviation) < 5 * deviation / math.sqrt(20_000)
    draws = np.array([thompson.draw(20, 15.0, Noise(0.3, False), rng) for _ in range(20_000)])
    assert abs(draws.mean() - 0.75) < 5 * 0.3 / math.sqrt(20 * 20_000)
    assert draws.std() == pytest.approx(0.3 / math.sqrt(20), rel=5 / math.sqrt(2 * 20_000))
    assert thompson.draw(0, 0.0, Noise(0.3, False), rng) == math.inf


def test_thompson_pulls_an_arm_as_often_as_it_may_be_the_best():
    """Two arms of 8 and 2 pulls in 10: by 10,000 worlds of two Betas of SciPy; five deviations, seed fixed."""
    memory, rng, room = empty_memory(2), np.random.default_rng(1), np.zeros(2)
    put(memory, 0, 1, 10, 6.0)
    put(memory, 1, 2, 10, 4.0)
    chosen = [thompson.choose(memory, room, room, 1, BOUNDED, rng)[0] for _ in range(10_000)]
    worlds = np.random.default_rng(2).beta([7, 5], [5, 7], (100_000, 2))
    best = float((worlds[:, 1] > worlds[:, 0]).mean())
    assert np.mean(chosen) == pytest.approx(best, abs=5 * math.sqrt(best * (1 - best) * (1 / 10_000 + 1 / 100_000)))


def module_of(rule):
    return {0: ucb, 1: moss, 2: kl_ucb, 3: commit, 6: fresh}[rule]


def test_the_odds_of_inf_depend_on_differences_of_losses_however_large_these_are():
    small, large = np.empty(3), np.empty(3)
    inf.fill_odds(np.array([0.0, 4.0, np.inf]), 9, small)
    inf.fill_odds(np.array([1e16, 1e16 + 4, np.inf]), 9, large)
    assert large.tolist() == small.tolist()
