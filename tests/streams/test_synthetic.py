"""Streams made by a formula."""

import numpy as np
import pytest
from scipy import stats

from bestbefore.noise import BOUNDED
from bestbefore.streams import BLOCK, beta, constant, decreasing, sawtooth, two_level, two_level_spread, uniform

LONG = 2 * BLOCK + 123
ALL = {
    "uniform": uniform,
    "beta": beta,
    "constant": constant,
    "two-level": two_level,
    "two-level spread": two_level_spread,
    "decreasing": decreasing,
    "sawtooth": sawtooth,
}
each_stream = pytest.mark.parametrize("name", ALL)


def means_of(stream, seed=0):
    return np.concatenate([block.means for block in stream.blocks(np.random.default_rng(seed))])


# All of them


@each_stream
def test_the_same_generator_makes_the_same_arms(name):
    stream = ALL[name](LONG)
    assert means_of(stream, seed=1).tolist() == means_of(stream, seed=1).tolist()


@pytest.mark.parametrize("name", ["uniform", "beta", "two-level", "two-level spread"])
def test_another_seed_makes_other_arms(name):
    assert means_of(ALL[name](100), seed=1).tolist() != means_of(ALL[name](100), seed=2).tolist()


@each_stream
def test_blocks_cover_the_length_and_none_is_too_long(name):
    sizes = [block.means.size for block in ALL[name](LONG).blocks(np.random.default_rng(0))]
    assert sizes == [BLOCK, BLOCK, 123]
    assert ALL[name](LONG).length == LONG


@each_stream
def test_means_lie_between_0_and_1_and_rewards_are_bernoulli(name):
    for block in ALL[name](LONG).blocks(np.random.default_rng(0)):
        assert ((block.means >= 0) & (block.means <= 1)).all()
        assert (block.levels.size, block.noise) == (0, BOUNDED)


@each_stream
def test_a_stream_knows_its_name_and_that_its_rewards_lie_in_the_unit_interval(name):
    assert (ALL[name](5).name, ALL[name](5).noise) == (name, BOUNDED)


@each_stream
@pytest.mark.parametrize("arms", [0, -1, 2.5, "10", None])
def test_arms_are_a_count(name, arms):
    with pytest.raises(ValueError, match=f"^arms must be a whole number of at least 1, not {arms!r}$"):
        ALL[name](arms)


@each_stream
def test_one_arm_is_a_stream(name):
    assert means_of(ALL[name](1)).size == 1


# One by one


def test_uniform_means_are_uniform_on_their_range():
    """Kolmogorov-Smirnov; it fails by chance once in a million tests."""
    assert stats.kstest(means_of(uniform(LONG)), stats.uniform(0, 1).cdf).pvalue > 1e-6
    assert stats.kstest(means_of(uniform(LONG, low=0.2, high=0.5)), stats.uniform(0.2, 0.3).cdf).pvalue > 1e-6


def test_beta_means_have_that_distribution():
    """Kolmogorov-Smirnov; it fails by chance once in a million tests."""
    assert stats.kstest(means_of(beta(LONG, a=2, b=5)), stats.beta(2, 5).cdf).pvalue > 1e-6
    assert stats.kstest(means_of(beta(LONG, a=0.5, b=0.7)), stats.beta(0.5, 0.7).cdf).pvalue > 1e-6


def test_constant_means_are_all_equal():
    assert set(means_of(constant(LONG, mean=0.25))) == {0.25}
    assert set(means_of(constant(3, mean=0))) == {0.0}


def test_decreasing_means_are_those_of_the_paper():
    """Lemma E.1: mu_i = 1 - (i - 1) / n, over block after block."""
    expected = [1 - (i - 1) / LONG for i in range(1, LONG + 1)]
    assert means_of(decreasing(LONG)) == pytest.approx(expected)


def test_decreasing_means_fall_strictly_from_high_and_stay_above_low():
    means = means_of(decreasing(LONG, high=0.9, low=0.4))
    assert means[0] == 0.9
    assert (np.diff(means) < 0).all()
    assert means[-1] > 0.4


def test_sawtooth_means_fall_over_each_period_and_begin_again():
    """The period of 1,000 does not divide a block, so teeth run across the borders of blocks."""
    means = means_of(sawtooth(LONG, period=1000, high=0.8, low=0.3))
    expected = [0.8 - 0.5 * (i % 1000) / 1000 for i in range(LONG)]
    assert means == pytest.approx(expected)


def test_a_sawtooth_of_one_arm_a_period_is_flat():
    assert set(means_of(sawtooth(10, period=1, high=0.7))) == {0.7}


@pytest.mark.parametrize(("arms", "window"), [(1000, 50), (1000, 7), (49, 50), (10, 1), (LONG, 100)])
def test_two_level_has_exactly_one_good_arm_for_each_window(arms, window):
    """floor(n / W) of them, whatever the seed; in one block or over several."""
    for seed in range(10):
        means = means_of(two_level(arms, window), seed)
        assert np.count_nonzero(means == 0.95) == arms // window
        assert np.count_nonzero(means == 0.25) == arms - arms // window


def test_two_level_spread_has_the_good_arms_of_two_level_and_low_ones_from_a_normal_cut_at_both_ends():
    """Kolmogorov-Smirnov; it fails by chance once in a million tests."""
    for arms, window in [(1000, 50), (49, 50), (LONG, 20)]:
        means = means_of(two_level_spread(arms, window))
        assert np.count_nonzero(means == 0.95) == arms // window
        low = means[means != 0.95]
        assert stats.kstest(low, stats.truncnorm(-2.5, 2.5, loc=0.25, scale=0.1).cdf).pvalue > 1e-6
        assert (low.min() >= 0, low.max() <= 0.5) == (True, True)


def test_two_level_puts_its_good_arms_anywhere_with_equal_chance():
    """4 good arms among 40 positions, 3,000 streams.

    Each stream has exactly 4, so the squares are scaled by 39 / 40 before they are compared with chi-square of 39
    degrees; it fails by chance once in a million tests.
    """
    streams, arms, chance = 3000, 40, 4 / 40
    good = sum((means_of(two_level(arms, 10), seed) == 0.95).astype(int) for seed in range(streams))
    squares = ((good - streams * chance) ** 2).sum() / (streams * chance * (1 - chance))
    assert stats.chi2.sf(squares * (arms - 1) / arms, arms - 1) > 1e-6


def test_two_level_spreads_its_good_arms_over_blocks_as_a_shuffle_of_the_whole_stream_would():
    """How many of 160 good arms fall into the first of three blocks is hypergeometric.

    Kolmogorov-Smirnov over 400 streams, which errs on the safe side for counts; by chance, less than one in a million.
    """
    first = [
        np.count_nonzero(next(two_level(LONG, 103).blocks(np.random.default_rng(seed))).means == 0.95)
        for seed in range(400)
    ]
    good = LONG // 103
    assert good == 160
    assert stats.kstest(first, stats.hypergeom(LONG, good, BLOCK).cdf).pvalue > 1e-6
    assert np.var(first) == pytest.approx(stats.hypergeom(LONG, good, BLOCK).var(), rel=0.4)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: uniform(10, low=-0.1), "low must be a number of at least 0 and at most 1, not -0.1"),
        (lambda: uniform(10, high=1.5), "high must be a number of at least 0 and at most 1, not 1.5"),
        (lambda: uniform(10, low=0.6, high=0.5), "high must be a number of at least 0.6 and at most 1, not 0.5"),
        (lambda: uniform(10, low="0"), "low must be a number of at least 0 and at most 1, not '0'"),
        (lambda: beta(10, a=0), "a must be a number above 0, not 0"),
        (lambda: beta(10, b=float("nan")), "b must be a number above 0, not nan"),
        (lambda: constant(10, mean=1.1), "mean must be a number of at least 0 and at most 1, not 1.1"),
        (lambda: two_level(10, window=0), "window must be a whole number of at least 1, not 0"),
        (lambda: two_level(10, high=0.1), "high must be a number of at least 0.25 and at most 1, not 0.1"),
        (lambda: decreasing(10, high=2), "high must be a number of at least 0 and at most 1, not 2"),
        (lambda: sawtooth(10, period=0), "period must be a whole number of at least 1, not 0"),
        (lambda: sawtooth(10, low=-1), "low must be a number of at least 0 and at most 1, not -1"),
    ],
)
def test_an_error_names_the_parameter_the_value_and_what_is_allowed(call, sentence):
    """And comes when the stream is made, not when it is run."""
    with pytest.raises(ValueError, match=f"^{sentence}$"):
        call()
