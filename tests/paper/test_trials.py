"""Many runs in one compiled loop: each is a run like any other, and knows nothing of the one before."""

import numpy as np
import pytest

from bestbefore import streams
from bestbefore.paper.trials import EASY, ROWS, Trial, eleven_streams, run_trials, unlimited
from bestbefore.probe.certificates import settings_of
from bestbefore.simulate.certify_loop import PEAK, PULLS, certify_stream, logs_of

WINDOW, ARMS, EPSILON = 8, 24, 0.3


def a_trial(stream, budgets, slots=6, seed=0):
    settings = settings_of(EPSILON, slots, stream.noise)
    return Trial(stream, WINDOW, logs_of(WINDOW, 0.1, "weak", ARMS), settings, budgets, seed)


def few_pulls(runs):
    """Make budgets with which a run takes little time."""
    return np.full(runs, 2)


@pytest.mark.parametrize("order", ["falling", "random"])
def test_each_run_is_the_run_that_the_simulation_makes(order):
    """Rewards that are always the same leave nothing to chance: all rows are alike, and like a run made alone."""
    levels = np.arange(8) / 7
    means = {"falling": np.tile(levels[::-1], 3), "random": np.random.default_rng(4).choice(levels, ARMS)}[order]
    stream = streams.from_means(means).rated(levels.tolist())
    (seen,) = run_trials([a_trial(stream, unlimited(5))])
    alone = a_trial(stream, unlimited(1))
    run, traced = certify_stream(stream, WINDOW, alone.logs, alone.settings)
    assert traced.pulls.sum() > 0
    for row in range(5):
        assert seen.answers[row].tolist() == traced.answers.tolist()
        assert seen.pulls[row].tolist() == traced.pulls.tolist()
        assert seen.gaps[row] == pytest.approx(traced.gaps)
        assert seen.errors[row] == pytest.approx(traced.errors)
        assert seen.counts[row].tolist() == run.counts.tolist()


def test_runs_draw_arms_and_rewards_of_their_own():
    (seen,) = run_trials([a_trial(eleven_streams(ARMS, WINDOW, EPSILON)["uniform"], few_pulls(2 * ROWS + 10))])
    assert seen.errors.shape == (2 * ROWS + 10, ARMS)
    assert len(np.unique(seen.gaps, axis=0)) == 2 * ROWS + 10


def test_the_same_seed_gives_the_same_runs():
    stream = eleven_streams(ARMS, WINDOW, EPSILON)["uniform"]
    first, again, other = run_trials([a_trial(stream, few_pulls(ROWS + 1), seed=seed) for seed in (1, 1, 2)])
    assert (first.gaps == again.gaps).all()
    assert (first.gaps[ROWS:] != other.gaps[ROWS:]).any(), "the second part has the seed too"


def test_each_run_keeps_to_its_budget_and_to_the_slots():
    budgets = np.array([0, 1, 10, 100, -1] * 2)
    (seen,) = run_trials([a_trial(eleven_streams(ARMS, WINDOW, EPSILON)["falling"], budgets)])
    limited = budgets >= 0
    assert (seen.pulls[limited] <= budgets[limited, None]).all()
    assert (seen.pulls[~limited].max(axis=1) > 100).all()
    assert (seen.counts[:, PULLS] == seen.pulls.sum(axis=1)).all()
    assert seen.counts[:, PEAK].max() == 6


def test_there_are_eleven_streams():
    chosen = eleven_streams(ARMS, WINDOW, EPSILON)
    assert len(chosen) == 11
    assert set(EASY) < set(chosen)
    for stream in chosen.values():
        (block,) = stream.blocks(np.random.default_rng(0))
        assert block.means.size == ARMS
    (block,) = chosen["one arm better"].blocks(np.random.default_rng(0))
    for time in range(WINDOW, ARMS + 1):
        best, *others = sorted(block.means[time - WINDOW : time], reverse=True)
        assert 0 < best - others[0] - EPSILON < 0.1 * EPSILON, (
            "each window has one arm that is more than epsilon better"
        )
