"""The paper's hard instances, each against its definition, counted arm by arm in exact fractions."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from bestbefore import streams
from bestbefore.noise import BOUNDED, Noise
from bestbefore.streams import (
    BLOCK,
    constant,
    dist,
    epoch,
    exact_hard,
    failing_king,
    from_means,
    memory_stairs,
    reduction,
    signal,
    signal_beta,
    signal_prime,
    signal_prime_beta,
    uniform,
)

LONG = 2 * BLOCK + 124
ALL = {
    "exact-hard": lambda: exact_hard(LONG // 2),
    "epoch": lambda: epoch(LONG, 37),
    "dist": lambda: dist(LONG, 0.3, 0.2),
    "signal": lambda: signal(LONG, 1000, budget=10**6),
    "signal-prime": lambda: signal_prime(LONG, 1000, budget=10**6),
    "failing-king": lambda: failing_king(LONG),
    "memory-stairs": lambda: memory_stairs(LONG, 10),
    "reduction": lambda: reduction(uniform(LONG // 2), 2),
}
each_instance = pytest.mark.parametrize("name", ALL)
few = settings(max_examples=25)
seeds = st.integers(0, 10**6)


def means_of(stream, seed=0):
    return np.concatenate([block.means for block in stream.blocks(np.random.default_rng(seed))]).tolist()


def exactly(fractions):
    return pytest.approx([float(fraction) for fraction in fractions], abs=1e-12)


# All of them


@each_instance
def test_blocks_cover_the_length_and_none_is_too_long(name):
    stream = ALL[name]()
    blocks = list(stream.blocks(np.random.default_rng(0)))
    assert (stream.name, stream.length) == (name, LONG)
    assert [block.means.size for block in blocks] == [BLOCK, BLOCK, 124]
    for block in blocks:
        assert ((block.means >= 0) & (block.means <= 1)).all()
        assert (block.levels.size, block.noise) == (0, BOUNDED)


@each_instance
def test_the_same_generator_makes_the_same_arms_again_and_again(name):
    stream = ALL[name]()
    assert means_of(stream, seed=1) == means_of(stream, seed=1)


@pytest.mark.parametrize("name", ["epoch", "dist", "signal", "signal-prime", "reduction"])
def test_another_seed_makes_other_arms(name):
    assert means_of(ALL[name](), seed=1) != means_of(ALL[name](), seed=2)


def test_all_are_to_be_had_from_streams():
    assert {name.replace("-", "_") for name in ALL} <= set(streams.__all__)


# Means by definition


@few
@given(st.integers(1, 60))
def test_exact_hard(window):
    assert means_of(exact_hard(window)) == exactly([1 - Fraction(i, 3 * window) for i in range(1, 2 * window + 1)])


def by_definition_of_epoch(arms, window, h_of):
    """Go through k and j as the paper does; `h_of` holds h of each k."""
    means = {}
    for k in range(arms // (2 * window) + 1):
        for j in range(1, window + 1):
            means[k * 2 * window + j] = 1 - Fraction(j, window)
            means[k * 2 * window + window + j] = 1 - Fraction(2 * h_of[k] + 1, 2 * window)
    return [means[i] for i in range(1, arms + 1)]


def h_of_epoch(means, window):
    """Read h off the arm after the first W of each period; where the stream ends before, any h will do."""
    afterwards = means[window :: 2 * window]
    return [round(((1 - mean) * 2 * window - 1) / 2) for mean in afterwards] + [1]


@few
@given(st.integers(1, 300), st.integers(2, 12), seeds)
def test_epoch(arms, window, seed):
    means = means_of(epoch(arms, window), seed)
    chosen = h_of_epoch(means, window)
    assert all(1 <= h <= window - 1 for h in chosen)
    assert means == exactly(by_definition_of_epoch(arms, window, chosen))


@pytest.mark.parametrize("window", [2, 37, 2048, 5000])
def test_epoch_over_the_borders_of_blocks(window):
    """Periods that a border cuts, and with W = 2048 periods that end on it."""
    means = means_of(epoch(3 * BLOCK + 5, window))
    assert means == exactly(by_definition_of_epoch(3 * BLOCK + 5, window, h_of_epoch(means, window)))


def test_epoch_makes_the_arm_h_the_best_of_its_window_by_half_a_step_or_more():
    """What the proof rests on: at arrival i + W - 1 arm i = k 2W + h leads by 1 / (2 W)."""
    window = 7
    means = means_of(epoch(20 * 2 * window, window), seed=3)
    for k, h in enumerate(h_of_epoch(means, window)[:20]):
        first, *others = means[k * 2 * window + h - 1 :][:window]
        assert first >= max(others) + 1 / (2 * window) - 1e-12


@few
@given(st.integers(1, 200), st.fractions(0, Fraction(4, 5)), seeds)
def test_dist(arms, sigma, seed):
    beta = Fraction(1, 7)
    means = means_of(dist(arms, float(sigma), float(beta)), seed)
    star = means.index(max(means)) + 1
    assert means == exactly([sigma + beta if i == star else sigma for i in range(1, arms + 1)])


def test_dist_has_one_good_arm_in_many_blocks():
    means = means_of(dist(LONG, 0.8, 0.2))
    assert (means.count(1.0), means.count(0.8)) == (1, LONG - 1)


@few
@given(st.integers(1, 40), st.integers(0, 90), seeds, st.sampled_from([signal, signal_prime]))
def test_signal_and_signal_prime(window, more, seed, make):
    means = means_of(make(3 * window + more, window, beta=0.01), seed)
    coin = min(
        [Fraction(2, 5), Fraction(4, 5)], key=lambda level: abs(float(level) - min(means[2 * window :][:window]))
    )
    early = means.index(max(means[:window])) + 1
    late = 2 * window + 1 + np.argmax(means[2 * window : 3 * window])
    expected = []
    for i in range(1, 3 * window + more + 1):
        if i <= window:
            mean = Fraction(3, 5)
        elif 2 * window < i <= 3 * window:
            mean = coin
        else:
            mean = Fraction(1, 5)
        expected.append(mean + Fraction(1, 100) if i in (early, late) else mean)
    assert means == exactly(expected)


def test_signal_is_made_of_dist_and_const():
    """The same sets of means, piece by piece."""
    window, beta = 5000, 0.03
    means = means_of(signal(4 * window, window, beta=beta))
    middle = min(means[2 * window : 3 * window])
    pieces = [
        dist(window, 3 / 5, beta),
        constant(window, 1 / 5),
        dist(window, middle, beta),
        constant(window, 1 / 5),
    ]
    for k, piece in enumerate(pieces):
        assert sorted(means[k * window :][:window]) == sorted(means_of(piece))


def test_failing_king_is_lemma_e_1():
    assert means_of(failing_king(7)) == exactly([1 - Fraction(i - 1, 7) for i in range(1, 8)])


def by_definition_of_the_stairs(arms, epsilon):
    """Each mean 2 epsilon below the one before; the mean that would be 0 is 1 again."""
    means, mean = [], Fraction(1)
    for _ in range(arms):
        means.append(mean)
        mean -= 2 * epsilon
        if mean == 0:
            mean = Fraction(1)
    return means


@few
@given(st.integers(1, 300), st.integers(1, 40))
def test_memory_stairs_of_any_height(arms, steps):
    means = means_of(memory_stairs(arms, epsilon=1 / (2 * steps)))
    assert means == exactly(by_definition_of_the_stairs(arms, Fraction(1, 2 * steps)))


@pytest.mark.parametrize("window", [1, 3, 200])
def test_memory_stairs_of_the_paper(window):
    """50 W steps, over the border of blocks too; the mean of arm 50 W is 2 epsilon, and no mean is above 1."""
    means = means_of(memory_stairs(BLOCK + 3000, window))
    assert means == exactly(by_definition_of_the_stairs(BLOCK + 3000, Fraction(1, 100 * window)))
    assert means[50 * window - 1 :][:2] == exactly([Fraction(2, 100 * window), 1])


@few
@given(st.integers(1, 6), st.integers(1, 9), seeds)
def test_reduction(window, problems, seed):
    rows = np.random.default_rng(seed).random((problems, window))
    arms = {}
    for i in range(1, problems + 1):  # Algorithm 2
        for j in range(1, window + 1):
            arms[(i - 1) * 2 * window + j] = 0.0
            arms[(i - 1) * 2 * window + window + j] = rows[i - 1][j - 1]
    expected = [arms[k] for k in range(1, 2 * window * problems + 1)]
    assert means_of(reduction(rows, window)) == expected
    assert means_of(reduction(rows.tolist(), window)) == expected
    assert means_of(reduction(from_means(rows.ravel()), window)) == expected


@pytest.mark.parametrize("window", [1, 37, 8192, 9000])
def test_reduction_over_the_borders_of_blocks(window):
    """The real arms are those of the stream that was cut, in their order, made from the same generator."""
    arms = -(-LONG // window) * window
    means = np.array(means_of(reduction(uniform(arms), window), seed=5)).reshape(-1, 2, window)
    assert (means[:, 0] == 0).all()
    assert means[:, 1].ravel().tolist() == means_of(uniform(arms), seed=5)


def test_rewards_of_other_kinds_are_put_on_top():
    block = next(reduction([[0.5]], 1).rated([0, 1]).blocks(np.random.default_rng(0)))
    assert block.weights.tolist() == [[1, 0], [0.5, 0.5]]
    assert next(epoch(5, 2).gaussian(0.3).blocks(np.random.default_rng(0))).noise == Noise(0.3, False)


# Chance


def is_uniform(counts):
    """Chi-square; it fails by chance once in a million tests."""
    return stats.chisquare(counts).pvalue > 1e-6


def test_the_good_arm_of_dist_is_anywhere():
    places = [np.argmax(means_of(dist(8, 0.5, 0.1), seed)) for seed in range(2000)]
    assert is_uniform(np.bincount(places, minlength=8))


def test_h_of_epoch_is_uniform_and_independent_from_period_to_period():
    """All pairs of neighbours are equally likely; every second pair is taken, so that pairs share no h."""
    window = 5
    chosen = h_of_epoch(means_of(epoch(2 * window * 8000, window)), window)[:8000]
    pairs = [4 * (chosen[k] - 1) + chosen[k + 1] - 1 for k in range(0, 8000, 2)]
    assert is_uniform(np.bincount(pairs, minlength=16))


@pytest.mark.parametrize("make", [signal, signal_prime])
def test_the_choices_of_signal_are_uniform_and_independent(make):
    """Both places and the coin: 3 x 3 x 2 outcomes, equally likely."""
    window, outcomes = 3, []
    for seed in range(3000):
        means = means_of(make(3 * window, window, beta=0.1), seed)
        coin = min(means[2 * window :]) > 0.6
        outcomes.append(6 * np.argmax(means[:window]) + 2 * np.argmax(means[2 * window :]) + coin)
    assert is_uniform(np.bincount(outcomes, minlength=18))


# Betas


@few
@given(st.integers(1, 10**12), st.integers(1, 10**6))
def test_signal_beta_makes_t_pulls_too_few(budget, window):
    """Proposition D.1 asks for W / (1200 beta^2) pulls; a larger beta would ask for fewer than T, or be above 1/10."""
    beta = signal_beta(budget, window)
    assert beta <= 1 / 10
    assert window / (1200 * beta**2) >= budget * (1 - 1e-9)
    assert beta == 1 / 10 or window / (1200 * (1.001 * beta) ** 2) < budget


@few
@given(st.integers(1, 10**12), st.integers(2, 10**6), st.sampled_from([2 / 5, 3 / 5, 4 / 5]))
def test_signal_prime_beta_hides_the_best_arm(budget, window, sigma):
    """The bound on kl holds, and with it the chance to name i* stays below 3/4."""
    beta = signal_prime_beta(budget, window)
    assert 0 < beta <= 1 / 10
    p, q = sigma, sigma + beta
    kl = p * math.log(p / q) + (1 - p) * math.log((1 - p) / (1 - q))
    assert kl <= beta**2 / 0.09 + 1e-15
    assert 1 / window + math.sqrt(budget / window * (beta**2 / 0.09) / 2) < 1 / window + 0.236 < 3 / 4


@pytest.mark.parametrize(("make", "rule"), [(signal, signal_beta), (signal_prime, signal_prime_beta)])
def test_a_budget_stands_for_its_beta(make, rule):
    assert means_of(make(40, 10, budget=5000)) == means_of(make(40, 10, beta=rule(5000, 10)))
    assert max(means_of(make(40, 10, budget=5000))[:10]) == pytest.approx(3 / 5 + rule(5000, 10))


# Bad input


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: exact_hard(0), "window must be a whole number of at least 1, not 0"),
        (lambda: epoch(0, 5), "arms must be a whole number of at least 1, not 0"),
        (lambda: epoch(10, 1), "window must be a whole number of at least 2, not 1"),
        (lambda: dist(2.5, 0.5, 0.1), "arms must be a whole number of at least 1, not 2.5"),
        (lambda: dist(5, -0.1, 0.1), "sigma must be a number of at least 0 and below 1, not -0.1"),
        (lambda: dist(5, 0.5, 0), "beta must be a number above 0 and at most 1, not 0"),
        (lambda: dist(5, 0.5, 0.6), "beta must be at most 1 - sigma = 0.5, not 0.6"),
        (lambda: signal(29, 10, beta=0.1), "arms must be a whole number of at least 30, not 29"),
        (lambda: signal(40, 0, budget=9), "window must be a whole number of at least 1, not 0"),
        (lambda: signal(40, 0, beta=0.1), "window must be a whole number of at least 1, not 0"),
        (lambda: signal(40, 10), "either budget or beta must be given, not None and None"),
        (lambda: signal(40, 10, budget=9, beta=0.1), "either budget or beta must be given, not 9 and 0.1"),
        (lambda: signal_prime(40, 10, beta=0.3), "beta must be a number above 0 and at most 0.2, not 0.3"),
        (lambda: signal_prime(40, 10, budget=0), "budget must be a whole number of at least 1, not 0"),
        (lambda: signal_beta(1.5, 10), "budget must be a whole number of at least 1, not 1.5"),
        (lambda: failing_king(0), "arms must be a whole number of at least 1, not 0"),
        (lambda: memory_stairs(10), "either window or epsilon must be given, not None and None"),
        (lambda: memory_stairs(10, 5, epsilon=0.1), "either window or epsilon must be given, not 5 and 0.1"),
        (lambda: memory_stairs(10, 0), "window must be a whole number of at least 1, not 0"),
        (lambda: memory_stairs(10, epsilon=0.3), "epsilon must be 1 / (2 p) with a whole number p, not 0.3"),
        (
            lambda: memory_stairs(10, epsilon=0.6),
            "epsilon must be a number of at least 1.11022e-16 and at most 0.5, not 0.6",
        ),
        (lambda: reduction([[0.5]], 0), "window must be a whole number of at least 1, not 0"),
        (lambda: reduction([[0.5, 0.5]], 3), "problems must have a row of 3 means each, not shape (1, 2)"),
        (lambda: reduction([0.5, 0.5], 2), "problems must have a row of 2 means each, not shape (2,)"),
        (lambda: reduction(uniform(10), 3), "problems must have 3 arms each, not 10 in all"),
        (lambda: reduction([[0.5, 1.5]], 2), "means must lie between 0 and 1, but arm 2 has 1.5"),
    ],
)
def test_an_error_names_the_parameter_the_value_and_what_is_allowed(call, sentence):
    """And comes when the stream is made, not when it is run."""
    with pytest.raises(ValueError) as error:  # noqa: PT011
        call()
    assert str(error.value) == sentence


def test_a_reduction_has_no_ragged_problems():
    with pytest.raises(ValueError, match=r"^problems must be rows of numbers: "):
        reduction([[0.5], [0.5, 0.2]], 1)


@pytest.mark.parametrize("problems", [uniform(4).gaussian(0.1), uniform(4).rated([0, 0.5, 1])])
def test_a_reduction_of_other_rewards_says_where_they_belong(problems):
    with pytest.raises(ValueError, match=r"^problems must be of Bernoulli arms; use rated"):
        means_of(reduction(problems, 2))


def test_const_is_constant():
    assert means_of(streams.const(5, 0.2)) == [0.2] * 5
    with pytest.raises(ValueError, match="sigma must be"):
        streams.const(5, 1.5)
