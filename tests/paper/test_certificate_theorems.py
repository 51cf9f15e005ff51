"""What the experiments on certificates and fixed tests count as a failure."""

import numpy as np

from bestbefore.pairs import exact_failure, worst_failure
from bestbefore.paper.certificate_theorems import broken_gaps, failures, kept_to, rewards_of
from bestbefore.paper.pair_theorems import failed_windows, worst_mean
from bestbefore.paper.trials import Seen
from bestbefore.simulate.certify_loop import CERTIFIED, PEAK
from bestbefore.streams import uniform


def test_weak_is_judged_at_the_worst_of_four_times_and_the_others_at_all_times():
    """With W = 4 the four times are the 3rd, 5th, 6th and 8th; a run may fail at several of them."""
    failed = np.zeros((5, 8), bool)
    failed[[0, 1], 4] = failed[1, 7] = failed[2, 0] = failed[3, 1] = True
    assert failures(failed, "weak", window=4) == 2
    assert failures(failed, "strong", window=4) == failures(failed, "anytime", window=4) == 4


def seen_with(errors, gaps, certified, peak):
    counts = np.zeros((len(errors), 5), np.int64)
    counts[:, CERTIFIED], counts[:, PEAK] = certified, peak
    nothing = np.zeros(np.shape(errors), np.int64)
    return Seen(nothing, np.array(errors), np.array(gaps), nothing, counts)


def test_a_gap_is_judged_when_the_run_is_stopped():
    seen = seen_with([[0.3, 0.0], [0.3, 0.1], [0.2, 0.2]], [[0.25, 0.0], [0.4, 0.1], [0.0, 0.2]], 2, 3)
    assert broken_gaps(seen, np.array([0, 0, 1])) == 1
    assert broken_gaps(seen, np.array([1, 1, 1])) == 0, "an error as large as the gap is honest"
    assert broken_gaps(seen, np.array([0, 1, 0])) == 2


def test_all_answers_must_be_certified_with_the_slots_that_there_are():
    errors = np.zeros((2, 7))
    assert kept_to(seen_with(errors, errors, [7, 7], [2, 3]), slots=3)
    assert not kept_to(seen_with(errors, errors, [7, 6], [2, 3]), slots=3)
    assert not kept_to(seen_with(errors, errors, [7, 7], [2, 4]), slots=3)


def test_the_three_kinds_of_rewards_have_the_same_means():
    blocks = [next(stream.blocks(np.random.default_rng(1))) for stream in rewards_of(uniform(5)).values()]
    assert len({tuple(block.means) for block in blocks}) == 1
    assert [block.levels.size for block in blocks] == [0, 3, 0]
    assert [block.noise.bounded for block in blocks] == [True, True, False]


def test_windows_fail_as_often_as_the_formula_says():
    """Each of 400 windows fails with a probability of 47%: 5 standard deviations are 50, which is met but once in a
    million seeds."""
    chance = exact_failure(pulls=9, mean=0.6, epsilon=0.2, rivals=3)
    failed = failed_windows("fifo", 4, 9, 0.6, window=4, epsilon=0.2, windows=400, seed=0)
    assert abs(failed - 400 * chance) < 5 * np.sqrt(400 * chance * (1 - chance))
    assert failed_windows("fifo", 4, 9, 0.6, window=4, epsilon=0.2, windows=400, seed=0, sigma=1e-9) == 0


def test_the_worst_mean_is_as_bad_as_it_gets():
    mean = worst_mean(50, 0.3, rivals=9)
    assert worst_failure(50, 0.3, rivals=9) - exact_failure(50, mean, 0.3, rivals=9) < 1e-4
