"""Many pulls in one draw: the distribution of their sum, and exactly the numbers that NumPy draws."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bestbefore.simulate.rewards import draw_block, next_of_block, one_reward, shades_of, total_of
from bestbefore.streams import from_means, from_ratings

seeds = st.integers(0, 2**32)
pulls = st.integers(2, 50) | st.integers(2, 10**9)  # a single pull is a single uniform number
DRAWS = 20_000


def arms_of(stream):
    return next(stream.blocks(np.random.default_rng(0)))


def totals(stream, arm, s, seed):
    arms, rng = arms_of(stream), np.random.default_rng(seed)
    return np.array([total_of(arms, arm, s, rng) for _ in range(DRAWS)])


def check_mean_and_variance(values, mean, variance):
    """Compare with what they should be, within 5 standard errors each: either fails by chance in 1 of a million tests.

    The standard error of a variance is taken from the fourth moment of the values themselves; a fair coin has none.
    """
    deviations = values - mean
    assert abs(deviations.mean()) < 5 * np.sqrt(variance / values.size)
    assert abs((deviations**2).mean() - variance) <= 5 * (deviations**2).std() / np.sqrt(values.size)


# The right distribution


@pytest.mark.parametrize(("mean", "s"), [(0.5, 1), (0.3, 7), (0.07, 400), (0.95, 10_000)])
def test_bernoulli_totals_have_mean_s_mu_and_variance_s_mu_one_less_mu(mean, s):
    values = totals(from_means([0.1, mean]), 1, s, seed=1)
    check_mean_and_variance(values, s * mean, s * mean * (1 - mean))


@pytest.mark.parametrize("counts", [[1, 1, 1, 1, 1], [0, 7, 0, 0, 1], [3, 0, 0, 2, 0], [1, 2, 4, 8, 16]])
@pytest.mark.parametrize("s", [1, 12, 3000])
def test_totals_of_ratings_have_the_mean_and_variance_of_s_ratings(counts, s):
    levels = np.array([0, 0.25, 0.5, 0.75, 1])
    weights = np.array(counts) / sum(counts)
    mean = weights @ levels
    values = totals(from_ratings([[1] * 5, counts], levels), 1, s, seed=2)
    check_mean_and_variance(values, s * mean, s * (weights @ (levels - mean) ** 2))


@pytest.mark.parametrize(("mean", "sigma", "s"), [(0.5, 0.2, 1), (0.1, 2.0, 25), (0.9, 0.01, 10_000)])
def test_gaussian_totals_have_mean_s_mu_and_variance_s_sigma_squared(mean, sigma, s):
    values = totals(from_means([mean]).gaussian(sigma), 0, s, seed=3)
    check_mean_and_variance(values, s * mean, s * sigma**2)


def test_one_rating_is_one_of_the_levels_as_often_as_the_arm_got_it():
    """Counts of 20,000 draws within 5 standard deviations; it fails by chance in less than 2 of a million tests."""
    levels, weights = [0.0, 0.4, 1.0], np.array([0.5, 0.2, 0.3])
    values = totals(from_ratings([weights * 10], levels), 0, 1, seed=4)
    assert set(values) == set(levels)
    for level, weight in zip(levels, weights, strict=True):
        assert abs(np.count_nonzero(values == level) - DRAWS * weight) < 5 * np.sqrt(DRAWS * weight * (1 - weight))


# The very numbers of NumPy


@given(seeds, pulls, st.floats(0, 1))
@example(seed=0, s=10**9, mean=0.5)
@example(seed=0, s=10, mean=1.0)
@example(seed=0, s=10, mean=0.0)
@example(seed=1, s=100, mean=0.3)
def test_bernoulli_totals_are_what_numpys_binomial_draws(seed, s, mean):
    """And so is what comes after: the generator stands where NumPy's own would."""
    arms, rng, numpys = arms_of(from_means([mean])), np.random.default_rng(seed), np.random.default_rng(seed)
    assert [total_of(arms, 0, s, rng) for _ in range(3)] == [numpys.binomial(s, mean) for _ in range(3)]
    assert rng.random() == numpys.random()


@given(seeds, pulls, st.floats(0, 1), st.floats(0.001, 10))
def test_gaussian_totals_are_what_numpys_normal_draws(seed, s, mean, sigma):
    arms, rng = arms_of(from_means([mean]).gaussian(sigma)), np.random.default_rng(seed)
    assert total_of(arms, 0, s, rng) == np.random.default_rng(seed).normal(mean * s, sigma * np.sqrt(s))


@given(seeds, pulls, st.lists(st.integers(1, 20), min_size=5, max_size=5))
def test_totals_of_ratings_are_what_numpys_multinomial_draws(seed, s, counts):
    """A multinomial is a few binomials, level by level, in NumPy as here."""
    levels = [0, 0.25, 0.5, 0.75, 1]
    arms, rng = arms_of(from_ratings([counts], levels)), np.random.default_rng(seed)
    drawn = np.random.default_rng(seed).multinomial(s, arms.weights[0])
    assert total_of(arms, 0, s, rng) == pytest.approx(drawn @ levels, rel=1e-12)


# The edges


def test_no_pulls_give_nothing_and_leave_the_generator_alone():
    rng = np.random.default_rng(5)
    assert total_of(arms_of(from_means([0.5])), 0, 0, rng) == 0.0
    assert total_of(arms_of(from_means([0.5]).gaussian(1.0)), 0, 0, rng) == 0.0
    assert rng.random() == np.random.default_rng(5).random()


@pytest.mark.parametrize("only", range(4))
def test_an_arm_that_got_one_level_only_returns_it_every_time(only):
    """Also where the levels before and after have probability 0."""
    levels = [0.1, 0.2, 0.5, 0.9]
    counts = [7 if level == only else 0 for level in range(4)]
    rng = np.random.default_rng(6)
    assert total_of(arms_of(from_ratings([counts], levels)), 0, 1000, rng) == pytest.approx(1000 * levels[only])


@given(seeds, st.integers(1, 10**6), st.lists(st.integers(0, 3), min_size=3, max_size=6).filter(any))
def test_totals_of_ratings_stay_between_the_lowest_and_the_highest_level_the_arm_got(seed, s, counts):
    levels = np.linspace(0, 1, len(counts))
    total = total_of(arms_of(from_ratings([counts], levels)), 0, s, np.random.default_rng(seed))
    got = levels[np.array(counts) > 0]
    assert s * got.min() * (1 - 1e-12) <= total <= s * got.max() * (1 + 1e-12)


@pytest.mark.parametrize("kind", ["bernoulli", "stars"])
def test_a_block_is_its_rewards_in_random_order(kind):
    """Drawn at once, then taken one by one: the total is the same, and each place has the arm's mean.

    Means of 1,500 first and last rewards within 5 standard errors: fails by chance once in a million; the seed is
    fixed.
    """
    stream = from_means([0.7]) if kind == "bernoulli" else from_ratings([[1, 2, 7]], [0, 0.5, 1])
    arms, rng, drawn = arms_of(stream), np.random.default_rng(0), np.zeros(3, np.int64)
    ends = []
    for _ in range(1500):
        total = draw_block(arms, 0, 30, rng, drawn)
        taken = [next_of_block(arms, drawn, left, rng) for left in range(30, 0, -1)]
        assert sum(taken) == pytest.approx(total)
        assert not drawn[: max(arms.levels.size, 2)].any()
        ends.append((taken[0], taken[-1]))
    assert np.abs(np.mean(ends, axis=0) - arms.means[0]).max() < 5 * 0.5 / np.sqrt(1500)


def test_a_block_is_as_far_from_all_or_nothing_as_its_rewards():
    rng, drawn = np.random.default_rng(0), np.zeros(4, np.int64)
    arms = arms_of(from_ratings([[1, 2, 3, 7]], [0, 0.2, 0.5, 1]))
    draw_block(arms, 0, 30, rng, drawn)
    between = shades_of(arms, drawn)
    taken = [next_of_block(arms, drawn, left, rng) for left in range(30, 0, -1)]
    assert between == pytest.approx(sum(reward * (1 - reward) for reward in taken))
    assert between > 0
    arms = arms_of(from_means([0.7]))
    draw_block(arms, 0, 30, rng, drawn)
    assert shades_of(arms, drawn) == 0


@pytest.mark.parametrize("kind", ["bernoulli", "stars", "gaussian"])
def test_one_reward_has_the_mean_of_its_arm(kind):
    """20,000 rewards, within 5 standard errors; the seed is fixed."""
    streams = {
        "bernoulli": from_means([0.7]),
        "stars": from_ratings([[1, 2, 7]], [0, 0.5, 1]),
        "gaussian": from_means([0.7]).gaussian(0.3),
    }
    arms, rng = arms_of(streams[kind]), np.random.default_rng(0)
    rewards = [one_reward(arms, 0, rng) for _ in range(20_000)]
    assert abs(np.mean(rewards) - arms.means[0]) < 5 * 0.5 / np.sqrt(20_000)
