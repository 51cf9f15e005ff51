"""What only the simulation knows: the best valid mean at each time, and the errors summed up."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestbefore.simulate.oracle import empty_queue, next_best, no_errors, record, summary, with_room

means = st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]) | st.floats(0, 1), min_size=1, max_size=60)


def sliding_maximum(values, window):
    """Look at the whole window afresh at each time."""
    return [max(values[max(now - window, 0) : now]) for now in range(1, len(values) + 1)]


@given(means, st.integers(1, 70))
def test_the_best_is_the_maximum_of_the_window(values, window):
    queue = empty_queue(len(values))
    assert [next_best(queue, value, window) for value in values] == sliding_maximum(values, window)


@given(st.lists(st.tuples(st.floats(0, 1), st.integers(1, 5)), min_size=1, max_size=60), st.integers(1, 30))
def test_by_time_the_best_is_the_maximum_of_the_arms_that_are_younger_than_the_window(arms, window):
    """Each arm comes so many microseconds after the one before; valid are those of an age below the window."""
    numbers = np.cumsum([gap for _, gap in arms])
    queue = empty_queue(len(arms))
    for place, (mean, _) in enumerate(arms):
        now = int(numbers[place])
        valid = [arms[other][0] for other in range(place + 1) if now - numbers[other] < window]
        assert next_best(queue, mean, window, now) == max(valid)


@given(means)
def test_in_a_window_of_one_the_newest_is_the_best(values):
    queue = empty_queue(len(values))
    assert [next_best(queue, value, 1) for value in values] == values


@given(means, st.integers(1, 70), st.lists(st.integers(1, 12), min_size=1))
def test_the_best_does_not_depend_on_how_the_stream_is_cut_into_blocks(values, window, sizes):
    """Before each block the queue is given room for it, and for no more."""
    queue, best, start = empty_queue(0), [], 0
    for size in sizes * len(values):
        block = values[start : start + size]
        queue = with_room(queue, len(block))
        best += [next_best(queue, value, window) for value in block]
        start += size
    assert best == sliding_maximum(values, window)


def test_the_queue_has_room_for_a_window_and_a_block_however_long_the_stream():
    """Falling means are the worst: every arm of the window waits in the queue."""
    queue = empty_queue(0)
    for block in range(50):
        queue = with_room(queue, 10)
        assert queue.arrival.size <= 20 + 10
        for arm in range(10):
            next_best(queue, 1 - (10 * block + arm) / 500, window=20)


def test_an_older_arm_of_equal_mean_gives_way_and_the_best_stays_the_same():
    queue = empty_queue(4)
    assert [next_best(queue, mean, 2) for mean in (0.5, 0.5, 0.1, 0.2)] == [0.5, 0.5, 0.5, 0.2]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=50), st.floats(0, 1))
def test_errors_are_summed_up_as_numpy_does(values, epsilon):
    errors = no_errors(len(values))
    for value in values:
        record(errors, value, epsilon)
    assert summary(errors) == {
        "mean": pytest.approx(np.mean(values)),
        "median": np.median(values),
        "max": max(values),
        "within": np.mean([value <= epsilon + 1e-12 for value in values]),
    }


def test_an_error_of_exactly_epsilon_counts_as_within_whatever_rounding_says():
    """0.9 - 0.6 is 0.30000000000000004."""
    errors = no_errors(1)
    record(errors, 0.9 - 0.6, 0.3)
    assert summary(errors)["within"] == 1.0


def test_an_error_a_millionth_above_epsilon_does_not():
    errors = no_errors(1)
    record(errors, 0.300001, 0.3)
    assert summary(errors)["within"] == 0.0
