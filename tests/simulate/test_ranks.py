"""The oracle of the best k, and the errors by rank that simulations measure."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestbefore import Explorer, simulate, streams
from bestbefore.simulate.ranks import next_means, no_ranks, with_room

NO_NOISE = 1e-12
means = st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]) | st.floats(0, 1), min_size=1, max_size=60)


def highest(values, count):
    return [*sorted(values, reverse=True), *[0.0] * count][:count]


@given(means, st.integers(1, 70), st.integers(1, 5), st.integers(1, 12))
def test_the_best_are_the_highest_of_the_window_whatever_the_blocks(values, window, top, size):
    ranks = no_ranks(top)
    for now, value in enumerate(values, start=1):
        if (now - 1) % size == 0:
            ranks = with_room(ranks, size)
        next_means(ranks, now, value, now - window + 1)
        assert ranks.best.tolist() == highest(values[max(now - window, 0) : now], top)


def test_answers_and_errors_stand_by_rank():
    stream = streams.from_means([0.9, 0.6, 0.3]).gaussian(NO_NOISE)
    row = simulate.explore(stream, 3, 3, "topk", tests=1, top=3, runs=1).rows[0]
    assert [round(row[f"mean_{rank}"], 9) for rank in (1, 2, 3)] == [0, 0, 0]
    seen = simulate.trace(stream, 3, 3, "fifo", tests=1, top=3)
    assert seen.answers.tolist() == [[1, 0, 0], [1, 2, 0], [1, 2, 3]]
    assert seen.errors.shape == (3, 3)


def test_the_error_of_a_rank_is_the_distance_from_the_arm_of_that_rank():
    """A slice of `bucket` has two places for two ranks, and three arms of one slice: the oldest goes, the best."""
    stream = streams.from_means([0.9, 0.85, 0.8]).gaussian(NO_NOISE)
    seen = simulate.trace(stream, 3, 2, "bucket", tests=1, top=2)
    assert seen.answers[-1].tolist() == [2, 3]
    assert seen.errors[-1].round(6).tolist() == [0.05, 0.05]


def test_within_counts_times_at_which_every_rank_is_within_epsilon():
    stream = streams.from_means([0.9, 0.3, 0.2, 0.1]).gaussian(NO_NOISE)
    settings = {"tests": 1, "runs": 1, "epsilon": 0.05}
    assert simulate.explore(stream, 4, 4, "fifo", top=2, **settings).rows[0]["within"] == 1
    row = simulate.explore(stream, 4, 2, "bucket", top=2, **settings).rows[0]
    assert row["mean_1"] > 0
    assert row["within"] == 0.5, "at the third arrival the best arm goes"


def test_the_columns_of_one_answer_are_as_they_were():
    columns = simulate.explore(streams.uniform(20), 5, 3, runs=1, tests=5).columns
    assert not [name for name in columns if name.startswith("mean_")]
    more = simulate.explore(streams.uniform(20), 5, 3, runs=1, tests=5, top=2).columns
    assert set(more) - set(columns) == {"mean_1", "mean_2"}


def test_a_live_explorer_has_the_same_errors_as_the_compiled_loop():
    """Rewards without noise, so that both see the same; the agent answers by `best(3)`."""
    stream = streams.uniform(60).gaussian(NO_NOISE)
    settings = {"tests": 1, "top": 3, "runs": 2}
    compiled = simulate.explore(stream, 20, 6, "staircase", **settings)
    live = simulate.explore(stream, 20, 6, {"live": Explorer}, **settings)
    for rank in ("mean_1", "mean_2", "mean_3"):
        assert live[rank] == pytest.approx(compiled[rank])
    seen = [simulate.trace(stream, 20, 6, keep, tests=1, top=3, runs=2) for keep in ("staircase", Explorer)]
    assert np.array_equal(seen[0].answers, seen[1].answers)


def test_an_agent_that_names_an_arm_twice_is_told_so():
    class Twice(Explorer):
        def best(self, k=None):
            return super().best() if k is None else [super().best()] * k

    with pytest.raises(ValueError, match=r"best\(2\) must return a list of up to 2 different arms, not \[1, 1\]"):
        simulate.explore(streams.uniform(9), 5, 4, {"twice": Twice}, tests=1, top=2, runs=1, jobs=1)
