"""Tapes: the same rewards for whoever pulls an arm, of exactly the distribution that the arm has."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, chisquare, hypergeom, kstest, norm

from bestbefore import streams
from bestbefore.noise import Noise
from bestbefore.simulate import tape
from bestbefore.simulate.tape import FIRST, LEAF, SMALLEST, Tapes
from bestbefore.streams.stream import Arms, bernoulli, rated_arms

KINDS = {
    "bernoulli": bernoulli(np.array([0.3, 0.9, 0.0, 1.0])),
    "stars": rated_arms([[1, 2, 3], [5, 0, 1], [0, 0, 1], [2, 2, 0]], levels=[0, 0.25, 1]),
    "gaussian": bernoulli(np.array([0.3, 0.9, 0.0, 1.0]))._replace(noise=Noise(0.4, False)),
}


def tapes_of(kind, seed=0, run=0):
    return list(Tapes(seed, run).of_block(KINDS[kind]))


def read(one, pulls):
    return [one.one() for _ in range(pulls)]


@given(
    kind=st.sampled_from(sorted(KINDS)),
    steps=st.lists(st.sampled_from([1, 2, 15, 63, 64, 500, 1000, 5000]), min_size=1, max_size=8),
)
def test_totals_are_sums_of_the_same_rewards_wherever_the_tape_is_cut(kind, steps):
    for one_by_one, at_once in zip(tapes_of(kind), tapes_of(kind), strict=True):
        for pulls in steps:
            assert at_once.total(pulls) == pytest.approx(sum(read(one_by_one, pulls)), rel=1e-9, abs=1e-9)


@given(kind=st.sampled_from(sorted(KINDS)), order=st.permutations([0, 1, 2, 3]), jumps=st.integers(1, 400))
def test_rewards_of_an_arm_do_not_depend_on_what_else_was_pulled(kind, order, jumps):
    straight = [read(one, 2000) for one in tapes_of(kind)]
    mixed, read_so_far = tapes_of(kind), {arm: [] for arm in order}
    while len(read_so_far[order[0]]) < 2000:
        for arm in order:
            left = 2000 - len(read_so_far[arm])
            read_so_far[arm] += read(mixed[arm], min(jumps + 37 * arm, left))
    assert read_so_far[order[0]] == straight[order[0]]
    for arm in order:
        assert read_so_far[arm] == straight[arm][: len(read_so_far[arm])]


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_seed_run_and_arrival_alone_decide(kind):
    """Neither how the stream is cut into blocks, nor the arms before it, change an arm's luck."""
    arms = KINDS[kind]
    whole = [read(one, 1000) for one in tapes_of(kind, seed=5, run=2)]
    tapes = Tapes(5, 2)
    blocks = [Arms(arms.means[rows], arms.levels, arms.weights[rows], arms.noise) for rows in (slice(1), slice(1, 4))]
    cut = [read(one, 1000) for block in blocks for one in tapes.of_block(block)]
    assert cut == whole
    for seed, run in ((6, 2), (5, 3)):
        assert read(tapes_of(kind, seed, run)[0], 1000) != whole[0]
    same = Arms(np.repeat(arms.means[:1], 2), arms.levels, np.repeat(arms.weights[:1], 2, axis=0), arms.noise)
    first, second = (read(one, 1000) for one in Tapes(5, 2).of_block(same))
    assert first != second, "two arms of one mean have tapes of their own"


@pytest.mark.parametrize("mean", [0.0, 1.0])
def test_an_arm_without_luck_has_none(mean):
    (one,) = Tapes(0, 0).of_block(bernoulli(np.array([mean])))
    assert set(read(one, 5000)) == {mean}
    assert one.total(10**6) == mean * 10**6


PLACES = [(0, FIRST), (FIRST, 64), (FIRST + 64, 128), (FIRST + 1500, 700)]
"""Where a tape is looked at, and how far: the first rewards, whole chunks, and across leaves and chunks."""


def columns(arms, start, size, seed):
    """Rewards of many equal arms at the same place of their tapes."""
    found = []
    for one in Tapes(seed, 0).of_block(arms):
        if start:
            one.total(start)
        found.append(read(one, size))
    return np.array(found)


@pytest.mark.parametrize(("start", "size"), PLACES)
def test_bernoulli_rewards_have_their_distribution_wherever_they_stand(start, size):
    """Chi-square tests of 2,000 arms: of sums, and of sums of the first half given the sum of both, at one place.

    Fixed seeds; each test would fail by chance with probability 1e-6.
    """
    rewards = columns(bernoulli(np.full(2000, 0.3)), start, size, seed=1)
    assert set(np.unique(rewards)) == {0.0, 1.0}
    expect_binomial(rewards.sum(axis=1).astype(int), size, 0.3)
    half = rewards[:, : size // 2].sum(axis=1).astype(int)
    expect_binomial(half, size // 2, 0.3)
    common = int(np.median(rewards.sum(axis=1)))
    given_the_sum = half[rewards.sum(axis=1) == common]
    law = hypergeom(size, common, size // 2)
    expect(given_the_sum, law, size // 2)


def expect_binomial(counts, size, mean):
    expect(counts, binom(size, mean), size)


def expect(counts, law, most):
    """Compare counts with a law, by classes of which each is expected at least ten times."""
    edges, so_far = [], 0.0
    for value in range(most + 1):
        so_far += law.pmf(value) * len(counts)
        if so_far >= 10:
            edges.append(value)
            so_far = 0.0
    edges = edges[:-1]  # what is left belongs to the last class
    seen = np.bincount(np.searchsorted(edges, counts), minlength=len(edges) + 1)
    chances = np.diff([0.0, *law.cdf(edges), 1.0])
    assert chisquare(seen, chances * len(counts)).pvalue > 1e-6


@pytest.mark.parametrize("pulls", [FIRST, FIRST + 64, 1000, 100_000, 10**7])
def test_totals_have_the_distribution_of_sums(pulls):
    """2,000 arms each; fixed seeds, and a chance of 1e-6 for each of the three tests to fail."""
    totals = {
        kind: np.array([one.total(pulls) for one in Tapes(2, 0).of_block(arms)])
        for kind, arms in {
            "bernoulli": bernoulli(np.full(2000, 0.6)),
            "stars": rated_arms(np.full((2000, 3), [1, 1, 2]), levels=[0, 0.5, 1]),
            "gaussian": bernoulli(np.full(2000, 0.6))._replace(noise=Noise(0.5, False)),
        }.items()
    }
    if pulls <= 1000:
        expect_binomial(totals["bernoulli"].astype(int), pulls, 0.6)
    assert kstest(totals["gaussian"], norm(0.6 * pulls, 0.5 * np.sqrt(pulls)).cdf).pvalue > 1e-6
    for kind, mean, variance in (("bernoulli", 0.6, 0.24), ("stars", 0.625, 0.171875), ("gaussian", 0.6, 0.25)):
        scaled = (totals[kind] - mean * pulls) / np.sqrt(variance * pulls)
        assert abs(scaled.mean()) < 4.9 / np.sqrt(2000)
        assert abs(scaled.var() - 1) < 4.9 * np.sqrt(2 / 2000)


@pytest.mark.parametrize(("start", "size"), PLACES)
def test_ratings_come_as_often_as_their_weights_say_and_in_any_order(start, size):
    """Chi-square tests of all levels, and of neighbours on the tape; each fails by chance with probability 1e-6."""
    weights = np.array([0.2, 0.5, 0.3])
    rewards = columns(rated_arms(np.full((1000, 3), [2, 5, 3]), levels=[0, 0.5, 1]), start, size, seed=3)
    level = (2 * rewards).astype(int)
    assert chisquare(np.bincount(level.ravel()), weights * level.size).pvalue > 1e-6
    pairs = 3 * level[:, 0:-1:2] + level[:, 1::2]
    assert chisquare(np.bincount(pairs.ravel()), np.outer(weights, weights).ravel() * pairs.size).pvalue > 1e-6


@pytest.mark.parametrize(("start", "size"), PLACES)
def test_gaussian_rewards_are_normal_and_do_not_know_each_other(start, size):
    """Kolmogorov and Smirnov on all rewards, and correlations of neighbours and of halves; chance 1e-6 for each."""
    rewards = columns(bernoulli(np.full(1000, 0.7))._replace(noise=Noise(0.4, False)), start, size, seed=4)
    assert kstest(rewards.ravel(), norm(0.7, 0.4).cdf).pvalue > 1e-6
    z = (rewards - 0.7) / 0.4
    assert abs((z[:, :-1:2] * z[:, 1::2]).mean()) < 4.9 / np.sqrt(1000 * (size // 2))
    left, right = (half.sum(axis=1) / np.sqrt(size // 2) for half in (z[:, : size // 2], z[:, size // 2 :]))
    assert abs((left * right).mean()) < 4.9 / np.sqrt(1000)


def test_a_tape_holds_few_rewards_however_far_it_is_read():
    (one,) = Tapes(0, 0).of_block(bernoulli(np.array([0.5])))
    for pulls in (1, 100, 10_000, 10**6, 1):
        one.total(pulls)
        assert len(one.rewards) < LEAF


def test_chunks_do_not_grow_beyond_what_numpy_can_split(monkeypatch):
    """With chunks of at most 128, so that it takes no billions: what follows is the same kind of tape."""
    monkeypatch.setattr(tape, "LARGEST", 2 * SMALLEST)
    one, other = (next(Tapes(0, 0).of_block(bernoulli(np.array([0.4])))) for _ in range(2))
    assert one.total(3001) == sum(read(other, 3001))
    assert one._size == 2 * SMALLEST


def test_billions_of_rewards_have_a_total():
    (one,) = Tapes(0, 0).of_block(bernoulli(np.array([0.5])))
    pulls = 10**10
    assert abs(one.total(pulls) / pulls - 0.5) < 4.9 * 0.5 / np.sqrt(pulls)  # chance 1e-6


def test_streams_of_several_blocks_have_a_tape_for_each_arm():
    tapes, seen = Tapes(0, 0), []
    for arms in streams.uniform(20_000).blocks(np.random.default_rng(0)):
        seen += [one.mean for one in tapes.of_block(arms)]
    assert len(seen) == 20_000
