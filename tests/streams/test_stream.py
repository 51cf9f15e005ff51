"""Streams: arms in arrival order, handed out in blocks; from anything that yields means, or from ratings."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestbefore.noise import BOUNDED, Noise
from bestbefore.streams import BLOCK, Stream, as_stream, from_means, from_ratings, uniform
from bestbefore.streams.stream import bernoulli, block_sizes

LONG = 2 * BLOCK + 123


def blocks_of(stream, seed=0):
    return list(stream.blocks(np.random.default_rng(seed)))


def means_of(stream, seed=0):
    return np.concatenate([block.means for block in blocks_of(stream, seed)])


# Blocks


@given(st.integers(1, 10 * BLOCK))
def test_blocks_cover_a_length_exactly_and_only_the_last_may_be_short(length):
    sizes = list(block_sizes(length))
    assert sum(sizes) == length
    assert sizes[:-1] == [BLOCK] * (len(sizes) - 1)
    assert 1 <= sizes[-1] <= BLOCK


def test_a_length_that_fills_its_blocks_has_no_empty_one_at_the_end():
    assert list(block_sizes(2 * BLOCK)) == [BLOCK, BLOCK]


def test_means_at_hand_come_back_in_arrival_order_over_several_blocks():
    means = np.random.default_rng(1).random(LONG)
    assert means_of(from_means(means)).tolist() == means.tolist()
    assert [block.means.size for block in blocks_of(from_means(means))] == [BLOCK, BLOCK, 123]


def test_ratings_come_back_in_arrival_order_over_several_blocks():
    """Each arm with its own row of weights."""
    counts = np.random.default_rng(2).integers(1, 9, (LONG, 3))
    blocks = blocks_of(from_ratings(counts, [0, 0.5, 1]))
    weights = np.concatenate([block.weights for block in blocks])
    np.testing.assert_allclose(weights, counts / counts.sum(axis=1, keepdims=True))
    assert [block.weights.shape for block in blocks] == [(BLOCK, 3), (BLOCK, 3), (123, 3)]


@pytest.mark.parametrize("yielded", [2, 4])
def test_a_source_that_yields_more_or_fewer_arms_than_it_said_is_refused(yielded):
    """Compiled loops make room for `length` arms and look no further: one more would be written beyond the room."""
    stream = Stream("mine", 3, lambda rng: iter([bernoulli(np.full(yielded, 0.5))]))
    with pytest.raises(ValueError, match="3"):
        blocks_of(stream)


# Anything that yields means


@pytest.mark.parametrize(
    "means",
    [
        [0.25, 0.5, 1],
        (0.25, 0.5, 1),
        np.array([0.25, 0.5, 1]),
        np.array([0.25, 0.5, 1], np.float32),
        pd.Series([0.25, 0.5, 1], index=["a", "b", "c"]),
        (number for number in [0.25, 0.5, 1]),
        map(float, [0.25, 0.5, 1]),
        {0.25: "a", 0.5: "b", 1: "c"}.keys(),
    ],
    ids=["list", "tuple", "array", "32 bits", "Series", "generator", "map", "keys"],
)
def test_a_stream_is_made_of_anything_that_yields_numbers(means):
    stream = from_means(means)
    assert stream.length == 3
    assert means_of(stream).tolist() == [0.25, 0.5, 1.0]


def test_a_range_of_whole_numbers_will_do():
    assert means_of(from_means(range(2))).tolist() == [0.0, 1.0]


def test_of_an_endless_source_length_says_how_many_to_take():
    stream = from_means((1 / number for number in itertools.count(1)), length=4)
    assert means_of(stream).tolist() == [1, 1 / 2, 1 / 3, 1 / 4]


def test_a_generator_can_be_streamed_more_than_once():
    """Its means were taken when the stream was made."""
    stream = from_means(number / 2 for number in range(3))
    assert means_of(stream).tolist() == means_of(stream).tolist() == [0.0, 0.5, 1.0]


def test_a_stream_does_not_change_when_the_array_it_was_made_of_does():
    means = np.array([0.1, 0.2])
    stream = from_means(means)
    means[0] = 0.9
    assert means_of(stream).tolist() == [0.1, 0.2]


def test_arms_from_means_are_bernoulli():
    (block,) = blocks_of(from_means([0.5]))
    assert (block.levels.size, block.weights.size, block.noise) == (0, 0, BOUNDED)


def test_as_stream_leaves_a_stream_as_it_is_and_reads_means():
    stream = uniform(10)
    assert as_stream(stream) is stream
    assert means_of(as_stream([0.5])).tolist() == [0.5]


# What is no stream of means


@pytest.mark.parametrize("arms", ["0.5", "uniform", b"01", None, 0.5, 7])
@pytest.mark.parametrize("length", [None, 1])
def test_what_yields_no_numbers_is_refused_whether_or_not_a_length_is_given(arms, length):
    with pytest.raises(ValueError, match="means") as caught:
        from_means(arms, length=length)
    assert repr(arms) in str(caught.value)


def test_a_list_of_words_is_refused_even_if_they_look_like_numbers():
    """As a text is for every other parameter."""
    for arms in (["good", "bad"], ["0.5", "0.2"]):
        with pytest.raises(ValueError, match="means must be numbers"):
            from_means(arms)


@pytest.mark.parametrize("wrong", [1.5, -0.25, math.inf, math.nan])
def test_a_mean_out_of_range_is_named_with_its_arm(wrong):
    """As the user wrote it: 1.5, not np.float64(1.5)."""
    with pytest.raises(ValueError, match=rf"^means must lie between 0 and 1, but arm 3 has {wrong}$"):
        from_means([0.1, 0.2, wrong, 7.0])


@pytest.mark.parametrize("arms", [[], iter([]), np.zeros((2, 3)), np.array(0.5), [[0.1], [0.2]]])
def test_means_must_be_a_row_of_at_least_one(arms):
    with pytest.raises(ValueError, match="means must be a sequence of at least one number"):
        from_means(arms)


@pytest.mark.parametrize("arms", [[[0.1, 0.2], [0.3]], [0.1, object()], [0.1j], [0.1, [0.2]]])
def test_what_makes_no_array_is_refused(arms):
    with pytest.raises(ValueError, match="means must be numbers"):
        from_means(arms)


@pytest.mark.parametrize("length", [0, -1, 2.5, "3"])
def test_length_is_a_count(length):
    with pytest.raises(ValueError, match="length must be a whole number of at least 1"):
        from_means(itertools.repeat(0.5), length=length)


# Ratings


def test_the_mean_of_a_rated_arm_is_that_of_its_ratings():
    stream = from_ratings([[1, 1, 2], [0, 0, 5], [3, 0, 0]], levels=[0, 0.5, 1])
    assert means_of(stream).tolist() == [0.625, 1.0, 0.0]
    assert stream.noise == BOUNDED


@pytest.mark.parametrize(
    ("counts", "sentence"),
    [
        ([[1, 2]], r"counts must have a row for each arm and 3 columns, not shape \(1, 2\)"),
        ([1, 2, 3], r"counts must have a row for each arm and 3 columns, not shape \(3,\)"),
        (np.zeros((0, 3)), r"counts must have a row for each arm and 3 columns, not shape \(0, 3\)"),
        ([[1, 2, 3], [0, 0, 0]], r"counts must not be negative, nor all 0, but arm 2 has \[0.0, 0.0, 0.0\]"),
        ([[1, -1, 3]], r"counts must not be negative, nor all 0, but arm 1 has \[1.0, -1.0, 3.0\]"),
        ([[1, math.nan, 3]], r"counts must not be negative, nor all 0, but arm 1 has \[1.0, nan, 3.0\]"),
        ([[1, math.inf, 3]], r"counts must not be negative, nor all 0, but arm 1 has \[1.0, inf, 3.0\]"),
    ],
)
def test_wrong_counts_are_named_with_their_arm(counts, sentence):
    with pytest.raises(ValueError, match=f"^{sentence}"):
        from_ratings(counts, [0, 0.5, 1])


@pytest.mark.parametrize("counts", [[[1, 2, 3], [1, 2]], [["many", 2, 3]], "123", None])
def test_counts_that_make_no_matrix_of_numbers_get_a_sentence_that_names_them(counts):
    with pytest.raises(ValueError, match=r"^counts must"):
        from_ratings(counts, [0, 0.5, 1])


@pytest.mark.parametrize(
    "levels", [[], [0.5], [0.5, 0.5], [1, 0], [-0.1, 1], [0, 1.1], [0, math.nan], [[0, 1]], None, ["low", "high"], "01"]
)
def test_levels_are_at_least_two_rising_numbers_between_0_and_1(levels):
    with pytest.raises(ValueError, match=r"^levels must be at least two rising numbers between 0 and 1, not"):
        from_ratings([[1, 2]], levels)


# The same arms with other rewards


@given(st.lists(st.floats(0, 1), min_size=1), st.lists(st.floats(0.01, 0.99), unique=True, max_size=5))
def test_rated_arms_keep_their_means_and_get_one_of_two_neighbours(means, inner):
    levels = [0.0, *sorted(inner), 1.0]
    (block,) = blocks_of(from_means(means).rated(levels))
    assert block.means.tolist() == means
    np.testing.assert_allclose(block.weights @ block.levels, means, atol=1e-12)
    np.testing.assert_allclose(block.weights.sum(axis=1), 1)
    assert (block.weights >= 0).all()
    for row in block.weights:
        (used,) = np.nonzero(row)
        assert used[-1] - used[0] <= 1


def test_levels_that_do_not_reach_the_means_are_refused():
    with pytest.raises(ValueError, match=r"levels must reach from the lowest mean to the highest, not \[0.2, 0.8\]"):
        blocks_of(from_means([0.5, 0.9]).rated([0.2, 0.8]))


def test_gaussian_arms_keep_their_means():
    stream = from_means([0.2, 0.7]).gaussian(2.0)
    (block,) = blocks_of(stream)
    assert (block.means.tolist(), block.noise, block.levels.size) == ([0.2, 0.7], Noise(2.0, False), 0)
    assert stream.noise == Noise(2.0, False)


def test_the_last_word_on_rewards_counts():
    """Gaussian and then rated is rated, and the other way round."""
    (rated,) = blocks_of(from_means([0.5]).gaussian(2.0).rated([0, 1]))
    (gaussian,) = blocks_of(from_means([0.5]).rated([0, 1]).gaussian(2.0))
    assert (rated.noise, rated.levels.tolist()) == (BOUNDED, [0.0, 1.0])
    assert (gaussian.noise, gaussian.levels.tolist()) == (Noise(2.0, False), [])
    assert from_means([0.5]).gaussian(2.0).rated([0, 1]).noise == BOUNDED


def test_other_rewards_do_not_change_the_arms_that_a_generator_makes():
    plain = means_of(uniform(LONG), seed=3).tolist()
    assert means_of(uniform(LONG).gaussian(1.0), seed=3).tolist() == plain
    assert means_of(uniform(LONG).rated([0, 0.5, 1]), seed=3).tolist() == plain


@pytest.mark.parametrize("sigma", [0, -1, math.inf, math.nan, "1"])
def test_sigma_is_above_zero(sigma):
    with pytest.raises(ValueError, match=r"^sigma must be a number above 0, not"):
        uniform(10).gaussian(sigma)


def test_a_length_beyond_the_means_is_refused():
    with pytest.raises(ValueError, match="length must be at most the number of means, 2, not 5"):
        from_means([0.1, 0.2], length=5)
