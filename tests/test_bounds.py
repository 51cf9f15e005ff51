"""The theorems as formulas: each against the paper's own words, each with its inverse, each with its limits."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestbefore import bounds

epsilons = st.floats(0.005, 1)
deltas = st.floats(1e-6, 0.999)
windows = st.integers(1, 10**6)
splits = st.floats(0.01, 0.99)
sigmas = st.floats(0.01, 100)


# What the paper says


@given(epsilons, windows, deltas)
def test_weak_pulls_are_those_of_algorithm_1(epsilon, window, delta):
    """s = 9 / (2 epsilon^2) ln(6 W / delta), rounded up."""
    s = 9 / (2 * epsilon**2) * math.log(6 * window / delta)
    assert s * (1 - 1e-9) <= bounds.pulls(epsilon, window, delta) < s + 1


@given(epsilons, windows, deltas, st.integers(1, 10**7))
def test_strong_pulls_have_n_in_place_of_w(epsilon, window, delta, arms):
    """Lemma 4.2: s = 9 / (2 epsilon^2) ln(6 n / delta)."""
    s = 9 / (2 * epsilon**2) * math.log(6 * arms / delta)
    assert s * (1 - 1e-9) <= bounds.pulls(epsilon, window, delta, "strong", arms=arms) < s + 1


def test_pulls_worked_out_by_hand():
    """W = 100, epsilon = 0.1, delta = 0.05: 450 ln(12,000) = 4226.7; with n = 10,000: 450 ln(1,200,000) = 6299.02"""
    assert bounds.pulls(0.1, 100, 0.05) == 4227
    assert bounds.pulls(0.1, 100, 0.05, "strong", arms=10_000) == math.ceil(450 * math.log(1_200_000)) == 6300


def test_three_over_epsilon_slots_also_where_floating_point_would_make_one_more():
    """For every epsilon that is 3 over a whole number; 1 / (0.3 / 3) is 10, not 11."""
    slots = range(3, 1001)
    assert [bounds.memory(3 / number) for number in slots] == list(slots)


@given(epsilons)
def test_memory_is_the_ceiling_of_three_over_epsilon(epsilon):
    exact = 3 / Fraction(epsilon)
    assert bounds.memory(epsilon) in (math.ceil(exact), math.ceil(exact * (1 - Fraction(1, 10**11))))


@given(epsilons, splits)
def test_slices_and_noise_use_up_epsilon_and_no_more(epsilon, split):
    """w + 2 theta = epsilon: what is not spent on slices is left for noise, half each way."""
    width = 1 / bounds.memory(epsilon, split)
    assert width <= split * epsilon * (1 + 1e-9)
    assert split * epsilon + 2 * bounds.noise(epsilon, split) == pytest.approx(epsilon)


def test_the_papers_split_gives_a_third_of_epsilon_to_each():
    assert bounds.noise(0.3) == pytest.approx(0.1)
    assert pytest.approx(1 / 3) == bounds.PAPER_SPLIT


@pytest.mark.parametrize(("window", "slots"), [(1, 0), (2, 1), (50, 48), (100, 97), (101, 98)])
def test_exact_exploration_needs_49_of_50_slots_less_one(window, slots):
    """Theorem 1's proof: 49/50 W - 1 arms must be stored at time W + 1."""
    assert bounds.exact_memory(window) == slots == max(math.ceil(Fraction(49, 50) * window - 1), 0)


def test_regret_with_half_the_window_is_at_least_t_over_64_w_squared():
    """Theorem 3: T = 640,000 pulls with W = 100 must cost 1 at least."""
    assert bounds.regret_lower(640_000, window=100) == 1.0


@given(st.integers(3, 200).map(lambda half: 2 * half + 1))
def test_half_the_window_pays_three_sixteenths_of_a_pull_a_period(window):
    assert bounds.period_regret(window, (window - 1) // 2) == pytest.approx((3 * window - 5) / (16 * window))


def test_few_slots_pay_of_order_one_over_them():
    """K^3 / (3 (m + 1)) squares with K = 999 - m: 990^3 / 30 for nine slots, and all of 999^3 / 3 for none."""
    assert bounds.period_regret(1000, 9) == pytest.approx(990**3 / 30 / (2 * 1000 * 999))
    assert bounds.period_regret(1000, 0) == pytest.approx(999**3 / 3 / (2 * 1000 * 999))


def test_a_window_that_is_all_at_hand_need_not_pay():
    """W - 1 slots and the arriving arm are the window."""
    assert bounds.period_regret(50, 49) == bounds.period_regret(50, 60) == 0
    assert bounds.period_regret(50, 48) == pytest.approx(1 / (2 * 50 * 49))


@pytest.mark.parametrize(("arms", "periods"), [(1, 0), (17, 0), (18, 1), (37, 1), (38, 2), (160, 8)])
def test_a_period_counts_once_its_last_epoch_that_matters_has_come(arms, periods):
    """W = 10: the last of them is at time 2 W - 2; budgets are equal, and whole numbers."""
    epochs = max(arms - 9, 1)
    each = bounds.period_regret(10, 4)
    assert bounds.regret_lower_sharp(100 * epochs, 10, 4, arms) == pytest.approx(100 * periods * each)
    assert bounds.regret_lower_sharp(100 * epochs + epochs - 1, 10, 4, arms) == pytest.approx(100 * periods * each)


@given(st.integers(3, 500), st.data())
def test_the_sharp_bound_is_between_the_papers_and_what_known_means_achieve(window, data):
    """With (W - 1) / 2 slots, n >= 16 W and equal budgets; and with budgets of one's choice it is higher still."""
    slots, arms = (window - 1) // 2, data.draw(st.integers(16 * window, 40 * window))
    total = 100 * (arms - window + 1) * (window - 1)
    sharp, chosen = (bounds.regret_lower_sharp(total, window, slots, n) for n in (arms, None))
    assert bounds.regret_lower(total, window) < sharp < chosen < bounds.regret_known_means(total, slots)


@given(st.integers(3, 2000), st.data())
def test_the_sharp_bound_is_of_order_t_over_m_up_to_half_the_window(window, data):
    """T / (48 (m + 1)) for budgets of one's choice: here is one pull for each of the W - 1 epochs of a period."""
    slots = data.draw(st.integers(1, (window - 1) // 2))
    assert bounds.regret_lower_sharp(window - 1, window, slots) >= (window - 1) / (48 * (slots + 1))


@given(st.integers(1, 20), st.lists(st.integers(1, 10**6), min_size=1, max_size=30))
def test_the_upper_bound_covers_any_budgets(window, budgets):
    """Theorem 3: the sum of sqrt(W T_j) over n - W + 1 epochs is largest where all budgets are equal."""
    arms = len(budgets) + window - 1
    upper = bounds.regret_upper(sum(budgets), window, arms)
    assert sum(math.sqrt(window * budget) for budget in budgets) <= upper * (1 + 1e-12)
    equal = bounds.regret_upper(budgets[0] * len(budgets), window, arms)
    assert equal == pytest.approx(len(budgets) * math.sqrt(window * budgets[0]))


def test_a_stream_shorter_than_the_window_has_no_epoch_and_no_regret():
    assert bounds.regret_upper(1000, window=50, arms=49) == 0


# Why the guarantees hold


@given(st.floats(0.01, 1), st.floats(1e-9, 0.99), sigmas)
def test_the_pulls_are_the_fewest_with_which_hoeffding_keeps_the_failure(noise, failure, sigma):
    """2 exp(-s theta^2 / (2 sigma^2)) is at most the failure allowed, and with one pull less it is above."""

    def hoeffding(s):
        return 2 * math.exp(-s * noise**2 / (2 * sigma**2))

    s = bounds.pulls_for_noise(noise, failure, sigma)
    assert hoeffding(s) <= failure * (1 + 1e-6)
    assert hoeffding(s - 1) > failure * (1 - 1e-6)


def test_rewards_on_the_unit_interval_are_sub_gaussian_with_one_half():
    """Proposition A.1: 2 exp(-2 s theta^2) there, 2 exp(-s theta^2 / (2 sigma^2)) here."""
    assert bounds.pulls_for_noise(0.1, 0.05) == bounds.pulls_for_noise(0.1, 0.05, sigma=0.5)
    assert bounds.pulls_for_noise(0.1, 0.05) == math.ceil(math.log(2 / 0.05) / (2 * 0.1**2))


def test_pulls_grow_with_the_variance_of_the_rewards():
    assert bounds.pulls(0.1, 50, 0.1, sigma=1.0) == pytest.approx(4 * bounds.pulls(0.1, 50, 0.1), abs=4)


@given(windows, deltas)
def test_weak_failures_of_the_events_of_a_window_add_up_to_at_most_delta(window, delta):
    """Lemma B.3: W + 2 events, each failing with delta / (3 W)."""
    assert (window + 2) * bounds.failure(window, delta) <= delta * (1 + 1e-12)


@given(windows, deltas, st.integers(1, 10**9))
def test_strong_failures_of_all_arms_add_up_to_at_most_delta(window, delta, arms):
    assert arms * bounds.failure(window, delta, "strong", arms=arms) <= delta


@given(st.integers(1, 7), deltas, st.integers(1, 60))
def test_anytime_failures_of_an_endless_stream_add_up_to_at_most_delta(window, delta, blocks):
    """After k blocks of W arrivals k / (k + 1) of delta is spent: never all of it."""
    spent = math.fsum(bounds.failure(window, delta, "anytime", arrival=t) for t in range(1, window * blocks + 1))
    assert spent == pytest.approx(delta * blocks / (blocks + 1))
    assert spent < delta


def test_anytime_costs_only_the_logarithm_of_time():
    """A million times as many arrivals: k (k + 1) instead of 2, so the pulls grow by the logarithm of that."""
    early, late = (bounds.pulls(0.1, 100, 0.05, "anytime", arrival=t) for t in (1, 10**8))
    assert late - early == pytest.approx(450 * math.log(10**6 * (10**6 + 1) / 2), abs=1)


def test_anytime_pulls_change_only_from_block_to_block():
    pulls = [bounds.pulls(0.2, 10, 0.1, "anytime", arrival=t) for t in range(1, 31)]
    assert [len(set(pulls[start : start + 10])) for start in (0, 10, 20)] == [1, 1, 1]
    assert pulls[0] < pulls[10] < pulls[20]


# Splits


def test_the_papers_split_has_the_least_product_of_slots_and_pulls():
    """Slots times pulls goes like 1 / (split (1 - split)^2), which is least at 1/3; fine slices hide the rounding."""
    grid = [number / 1000 for number in range(5, 996) if number != 333]
    products = {split: bounds.memory(0.001, split) * bounds.pulls(0.001, 50, 0.1, split=split) for split in grid}
    papers = bounds.memory(0.001) * bounds.pulls(0.001, 50, 0.1)
    assert min(products.values()) > papers * (1 - 1e-6)
    assert min(products, key=products.get) == pytest.approx(1 / 3, abs=0.01)


def test_the_split_of_the_staircase_saves_45_percent_of_the_pulls():
    """(2/3)^2 / (9/10)^2 = 0.549."""
    ratio = bounds.pulls(0.01, 50, 0.1, split=bounds.STAIRCASE_SPLIT) / bounds.pulls(0.01, 50, 0.1)
    assert ratio == pytest.approx(400 / 729, rel=1e-4)


def test_a_split_of_zero_leaves_all_of_epsilon_to_noise():
    """With the whole window stored there are no slices."""
    assert bounds.noise(0.2, split=0) == pytest.approx(0.1)


# Inverses


@given(st.integers(1, 10**5), splits)
def test_epsilon_for_memory_is_the_inverse_of_memory(slots, split):
    epsilon = bounds.epsilon_for_memory(slots, split)
    if epsilon <= 1:
        assert bounds.memory(epsilon, split) == slots
        assert bounds.memory(min(epsilon * 1.0001, 1.0), split) <= slots


@given(epsilons, splits)
def test_the_slots_for_an_epsilon_promise_that_epsilon(epsilon, split):
    assert bounds.epsilon_for_memory(bounds.memory(epsilon, split), split) <= epsilon * (1 + 1e-9)


@given(
    st.integers(1, 10**9),
    windows,
    deltas,
    st.sampled_from(bounds.GUARANTEES),
    st.integers(1, 10**6),
    st.floats(0, 0.99),
    sigmas,
)
def test_epsilon_for_pulls_is_the_inverse_of_pulls(s, window, delta, guarantee, number, split, sigma):
    """The epsilon that s pulls can promise costs s pulls."""
    rest = {"guarantee": guarantee, "arms": number, "arrival": number, "split": split, "sigma": sigma}
    epsilon = bounds.epsilon_for_pulls(s, window, delta, **rest)
    if epsilon <= 1:
        assert bounds.pulls(epsilon, window, delta, **rest) == s


@given(epsilons, windows, deltas, splits, sigmas)
def test_the_pulls_for_an_epsilon_promise_that_epsilon(epsilon, window, delta, split, sigma):
    s = bounds.pulls(epsilon, window, delta, split=split, sigma=sigma)
    assert bounds.epsilon_for_pulls(s, window, delta, split=split, sigma=sigma) <= epsilon * (1 + 1e-9)


@given(st.integers(1, 10**9), st.floats(1e-9, 0.99), sigmas)
def test_noise_for_pulls_is_the_inverse_of_pulls_for_noise(s, failure, sigma):
    assert bounds.pulls_for_noise(bounds.noise_for_pulls(s, failure, sigma), failure, sigma) == s


# Which way they go


def rises(values):
    return all(before <= after for before, after in itertools.pairwise(values))


def test_more_accuracy_more_certainty_and_more_arms_cost_more():
    epsilons = [1, 0.5, 0.3, 0.1, 0.05, 0.01]
    assert rises([bounds.memory(epsilon) for epsilon in epsilons])
    assert rises([bounds.pulls(epsilon, 50, 0.1) for epsilon in epsilons])
    assert rises([bounds.pulls(0.1, 50, delta) for delta in (0.9, 0.5, 0.1, 0.01, 1e-9)])
    assert rises([bounds.pulls(0.1, window, 0.1) for window in (1, 2, 10, 100, 10**6)])
    assert rises([bounds.pulls(0.1, 50, 0.1, "strong", arms=arms) for arms in (50, 51, 1000, 10**9)])
    assert rises([bounds.pulls(0.1, 50, 0.1, "anytime", arrival=t) for t in (1, 50, 51, 1000, 10**9)])
    assert rises([bounds.pulls(0.1, 50, 0.1, sigma=sigma) for sigma in (0.1, 0.5, 1, 3)])


def test_more_pulls_and_more_memory_promise_more():
    assert rises([bounds.epsilon_for_pulls(s, 50, 0.1) for s in (10**6, 1000, 100, 1)])
    assert rises([bounds.epsilon_for_memory(slots) for slots in (1000, 100, 10, 3)])


def test_a_weak_guarantee_is_the_cheapest():
    weak, strong, anytime = (bounds.pulls(0.1, 50, 0.1, kind, arms=500, arrival=500) for kind in bounds.GUARANTEES)
    assert weak < strong < anytime


# What is not allowed


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: bounds.memory(0), r"epsilon must be a number above 0 and at most 1, not 0"),
        (lambda: bounds.memory(2), r"epsilon must be a number above 0 and at most 1, not 2"),
        (lambda: bounds.memory("0.1"), r"epsilon must be a number above 0 and at most 1, not '0.1'"),
        (lambda: bounds.memory(math.nan), r"epsilon must be a number above 0 and at most 1, not nan"),
        (lambda: bounds.memory(0.1, split=0), r"split must be a number above 0 and below 1, not 0"),
        (lambda: bounds.memory(0.1, split=1), r"split must be a number above 0 and below 1, not 1"),
        (lambda: bounds.noise(1.5), r"epsilon must be a number above 0 and at most 1, not 1.5"),
        (lambda: bounds.noise(0.1, split=1), r"split must be a number of at least 0 and below 1, not 1"),
        (lambda: bounds.epsilon_for_memory(0), r"memory must be a whole number of at least 1, not 0"),
        (lambda: bounds.epsilon_for_memory(2.5), r"memory must be a whole number of at least 1, not 2.5"),
        (lambda: bounds.epsilon_for_memory(5, split=-1), r"split must be a number above 0 and below 1, not -1"),
        (lambda: bounds.pulls(0, 50, 0.1), r"epsilon must be a number above 0 and at most 1, not 0"),
        (lambda: bounds.pulls(0.1, 0, 0.1), r"window must be a whole number of at least 1, not 0"),
        (lambda: bounds.pulls(0.1, 50.0, 0.1), r"window must be a whole number of at least 1, not 50.0"),
        (lambda: bounds.pulls(0.1, 50, 0), r"delta must be a number above 0 and below 1, not 0"),
        (lambda: bounds.pulls(0.1, 50, 1), r"delta must be a number above 0 and below 1, not 1"),
        (lambda: bounds.pulls(0.1, 50, None), r"delta must be a number above 0 and below 1, not None"),
        (lambda: bounds.pulls(0.1, 50, 0.1, sigma=0), r"sigma must be a number above 0, not 0"),
        (lambda: bounds.pulls(0.1, 50, 0.1, sigma=math.inf), r"sigma must be a number above 0, not inf"),
        (lambda: bounds.pulls(0.1, 50, 0.1, split=1), r"split must be a number of at least 0 and below 1, not 1"),
        (
            lambda: bounds.pulls(0.1, 50, 0.1, "steady"),
            r"guarantee must be one of 'weak', 'strong', 'anytime', not 'steady'",
        ),
        (lambda: bounds.pulls(0.1, 50, 0.1, "strong"), r"arms must be the length of the stream .*not None"),
        (
            lambda: bounds.pulls(0.1, 50, 0.1, "strong", arms=0),
            r"arms must be a whole number of at least 1, not 0",
        ),
        (lambda: bounds.pulls(0.1, 50, 0.1, "anytime"), r"arrival must be the number of an arm .*not None"),
        (
            lambda: bounds.pulls(0.1, 50, 0.1, "anytime", arrival=0),
            r"arrival must be a whole number of at least 1, not 0",
        ),
        (lambda: bounds.epsilon_for_pulls(0, 50, 0.1), r"pulls must be a whole number of at least 1, not 0"),
        (
            lambda: bounds.epsilon_for_pulls(10, 50, 0.1, split=1),
            r"split must be a number of at least 0 and below 1, not 1",
        ),
        (lambda: bounds.pulls_for_noise(0, 0.1), r"noise must be a number above 0, not 0"),
        (lambda: bounds.pulls_for_noise(0.1, 1), r"failure must be a number above 0 and below 1, not 1"),
        (lambda: bounds.noise_for_pulls(0, 0.1), r"pulls must be a whole number of at least 1, not 0"),
        (lambda: bounds.noise_for_pulls(5, 0), r"failure must be a number above 0 and below 1, not 0"),
        (lambda: bounds.noise_for_pulls(5, 0.1, -1), r"sigma must be a number above 0, not -1"),
        (lambda: bounds.exact_memory(0), r"window must be a whole number of at least 1, not 0"),
        (lambda: bounds.regret_lower(0, 10), r"pulls must be a whole number of at least 1, not 0"),
        (lambda: bounds.regret_lower(10, 0), r"window must be a whole number of at least 1, not 0"),
        (lambda: bounds.regret_lower_sharp(0, 10, 4), r"pulls must be a whole number of at least 1, not 0"),
        (lambda: bounds.regret_lower_sharp(10, 1, 4), r"window must be a whole number of at least 2, not 1"),
        (lambda: bounds.regret_lower_sharp(10, 10, -1), r"memory must be a whole number of at least 0, not -1"),
        (lambda: bounds.regret_lower_sharp(10, 10, 4, 0), r"arms must be a whole number of at least 1, not 0"),
        (lambda: bounds.regret_known_means(10, 0), r"memory must be a whole number of at least 1, not 0"),
        (lambda: bounds.regret_upper(10, 5, 0), r"arms must be a whole number of at least 1, not 0"),
        (lambda: bounds.regret_upper(10, 0, 5), r"window must be a whole number of at least 1, not 0"),
        (lambda: bounds.regret_upper(0, 5, 50), r"pulls must be a whole number of at least 1, not 0"),
    ],
)
def test_an_error_names_the_parameter_the_value_and_what_is_allowed(call, sentence):
    with pytest.raises(ValueError, match=f"^{sentence}"):
        call()


@pytest.mark.parametrize("epsilon", [1e-160, 1e-200, 1e-320])
def test_an_epsilon_beyond_all_counting_gets_a_sentence_too(epsilon):
    """Its pulls do not fit into any number: that is a ValueError with a name, not an arithmetic one."""
    with pytest.raises(ValueError, match=r"epsilon|noise"):
        bounds.pulls(epsilon, 50, 0.1)


def test_a_memory_beyond_all_counting_gets_a_sentence_too():
    with pytest.raises(ValueError, match="epsilon"):
        bounds.memory(1e-320)


def test_regret_of_epochs_is_at_most_its_cauchy_schwarz_form():
    budgets = [100, 0, 400, 2500]
    assert bounds.regret_epochs(budgets, window=4) == 2 * (10 + 0 + 20 + 50)
    assert bounds.regret_epochs(budgets, window=4) <= bounds.regret_upper(3000, window=4, arms=7)
    assert bounds.regret_epochs([500] * 4, window=4) == pytest.approx(bounds.regret_upper(2000, window=4, arms=7))


@given(st.integers(2, 10**5), st.integers(1, 10**9))
def test_no_epsilon_has_a_lower_commit_bound_than_the_best_one(arms, pulls):
    best = bounds.best_commit_epsilon(arms, pulls)
    least = bounds.commit_regret(best, arms, pulls)
    for other in (best * 0.9, min(best * 1.1, 1.0)):
        assert least <= bounds.commit_regret(other, arms, pulls) * (1 + 1e-12)


# Certificates


def test_shares_of_delta_add_up_to_no_more_than_delta():
    """Weak: W - 1 lower bounds and one upper bound; strong: all of n arms; anytime: all of an endless stream."""
    lower, upper = bounds.certificate_failures(50, 0.1)
    assert 49 * lower + upper == pytest.approx(0.1)
    lower, upper = bounds.certificate_failures(50, 0.1, reacts=True)
    assert 50 * (lower + upper) == pytest.approx(0.1), "any of the 50 may turn out to be the best, or another"
    lower, upper = bounds.certificate_failures(50, 0.1, "strong", arms=200)
    assert 200 * (lower + upper) == pytest.approx(0.1)
    blocks = [sum(bounds.certificate_failures(50, 0.1, "anytime", arrival=50 * k + 1)) for k in range(10_000)]
    assert 50 * sum(blocks) == pytest.approx(0.1, rel=1e-3)
    assert 50 * sum(blocks) <= 0.1


def test_the_only_valid_arm_needs_no_lower_bounds_of_others():
    assert bounds.certificate_failures(1, 0.1) == pytest.approx((0.02, 0.08))


def test_shares_of_delta_complain_of_what_is_missing():
    with pytest.raises(ValueError, match="arms must be the length"):
        bounds.certificate_failures(50, 0.1, "strong")
    with pytest.raises(ValueError, match="arrival must be the number"):
        bounds.certificate_failures(50, 0.1, "anytime")
    with pytest.raises(ValueError, match="guarantee must be one of"):
        bounds.certificate_failures(50, 0.1, "always")
    with pytest.raises(ValueError, match="delta must not be so small"):
        bounds.certificate_failures(50, 5e-324)


# Certificates: cells and slots


@given(st.floats(0.01, 0.99), st.integers(1, 500))
def test_cells_are_narrow_enough_that_two_of_one_arm_too_many_share_one(epsilon, slots):
    cell = bounds.certificate_cell(epsilon, slots)
    cells_in_all = np.ceil(1 / cell - 1e-9)
    cells_below = np.ceil((1 - epsilon) / cell - 1e-9) if slots > 1 else np.inf
    assert cells_in_all <= slots or cells_below <= slots - 1


def test_where_any_arm_will_do_there_are_no_cells():
    assert bounds.certificate_cell(1.0, 2) == 0


@given(st.floats(0.05, 0.95), st.integers(2, 500))
def test_cells_of_a_share_reach_from_the_least_mean_to_one(epsilon, slots):
    cell = bounds.certificate_cell(epsilon, slots, relative=True)
    assert np.exp(-cell * (slots - 1)) == pytest.approx((1 - epsilon) * bounds.LEAST_MEAN)


@given(st.floats(0.05, 0.95), st.booleans(), st.sampled_from([0.1, 0.3, 0.75]))
def test_slots_are_such_that_cells_cost_a_share_of_epsilon(epsilon, relative, share):
    slots = bounds.certificate_slots(epsilon, 10**6, relative=relative, share=share)
    cell = bounds.certificate_cell(epsilon, slots, relative=relative)
    whole_of_it = -np.log(1 - epsilon) if relative else epsilon
    assert cell <= share * whole_of_it * (1 + 1e-9)
    assert bounds.certificate_room(epsilon, cell, relative=relative) >= (1 - share) * epsilon * (1 - 1e-9)


def test_no_more_slots_than_a_window_has_arms():
    assert bounds.certificate_slots(0.01, window=7) == bounds.certificate_slots(0.01, window=7, relative=True) == 7


# The best k


@pytest.mark.parametrize(("window", "top"), [(1, 1), (7, 3), (100, 1), (101, 100), (1000, 3), (5000, 250), (3, 9)])
def test_the_skyband_is_the_sum_of_the_chances_of_each_arm(window, top):
    """The i-th arm from the newest is one of the best k of i with probability min(1, k / i)."""
    assert bounds.skyband(window, top) == pytest.approx(sum(min(1, top / i) for i in range(1, window + 1)), abs=1e-6)


def test_k_answers_take_k_times_the_slots_and_the_inverse_agrees():
    for top in (1, 2, 3):
        assert bounds.memory(0.1, top=top) == 30 * top
        assert bounds.epsilon_for_memory(30 * top, top=top) == pytest.approx(0.1)
    with pytest.raises(ValueError, match="memory must be a whole number of at least 3, not 2"):
        bounds.epsilon_for_memory(2, top=3)


def test_the_exact_best_k_need_no_fewer_slots_than_the_best():
    assert bounds.exact_memory(100, top=5) == bounds.exact_memory(100)
    with pytest.raises(ValueError, match="top must be at most 4, the arms valid at once, not 5"):
        bounds.exact_memory(4, top=5)


@given(st.floats(0.05, 1), st.floats(0.005, 0.2), st.floats(1e-6, 0.2))
def test_small_means_take_pulls_in_inverse_proportion(noise, mean, failure):
    """Bernstein's bound, solved for the pulls: one pull fewer, and it does not say enough."""
    s = bounds.pulls_for_relative_noise(noise, mean, failure)

    def fails(pulls):
        return 2 * math.exp(-pulls * (noise * mean) ** 2 / (2 * (mean + noise * mean / 3)))

    assert fails(s) <= failure * (1 + 1e-9)
    assert fails(s - 1) > failure * (1 - 1e-9)


def test_near_a_mean_of_3_percent_hoeffding_takes_eight_times_as_many():
    for noise in (0.05, 0.1, 0.2):
        ratio = bounds.pulls_for_noise(noise * 0.03, 0.01) / bounds.pulls_for_relative_noise(noise, 0.03, 0.01)
        assert ratio == pytest.approx(1 / (4 * 0.03 * (1 + noise / 3)), rel=1e-3)
        assert 7.5 < ratio < 8.5


def test_bernstein_holds_for_clicks():
    """The exact chance that a Binomial share of clicks is off by more than a fifth: below 5% at every small mean."""
    from scipy.stats import binom

    for mean in (0.01, 0.03, 0.08):
        pulls = bounds.pulls_for_relative_noise(0.2, mean, 0.05)
        low, high = math.ceil(0.8 * pulls * mean - 1e-9), math.floor(1.2 * pulls * mean + 1e-9)
        assert 1 - (binom.cdf(high, pulls, mean) - binom.cdf(low - 1, pulls, mean)) < 0.05
