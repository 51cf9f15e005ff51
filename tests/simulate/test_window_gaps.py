"""The gaps of windows: against a look at each whole window afresh, for the very arms that `play` has."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestbefore import simulate, streams
from bestbefore.noise import BOUNDED, Noise
from bestbefore.simulate.window_gaps import term_of

MEANS = st.lists(st.sampled_from([0.0, 0.2, 0.5, 0.5001, 1.0]) | st.floats(0, 1), min_size=1, max_size=30)


def kl(p, q):
    """Return the divergence of two Bernoulli distributions, as it is defined."""
    parts = [(p, q), (1 - p, 1 - q)]
    return sum(0.0 if a == 0 else math.inf if b == 0 else a * math.log(a / b) for a, b in parts)


def naive(means, valid, term):
    """Return least gaps and constants of windows, each a range of arms, and the least gap of each arm."""
    least, constant, of_arms = [], [], [math.inf] * len(means)
    for window in valid:
        best = max(means[arm] for arm in window)
        behind = {arm: best - means[arm] for arm in window if means[arm] < best}
        least.append(min(behind.values(), default=math.inf))
        constant.append(sum(term(means[arm], best) for arm in behind))
        for arm, gap in behind.items():
            of_arms[arm] = min(of_arms[arm], gap)
    return least, constant, of_arms


def agrees(found, means, valid, term):
    """Check what was found against windows looked at afresh."""
    least, constant, of_arms = naive(means, valid, term)
    assert found.best.tolist() == [max(means[arm] for arm in window) for window in valid]
    assert found.least.tolist() == least
    assert found.of_arms.tolist() == of_arms
    assert found.valid.tolist() == [len(window) for window in valid]
    assert found.constant == pytest.approx(constant, rel=1e-9)


@given(MEANS, st.integers(1, 12), st.booleans())
def test_by_count_gaps_are_those_of_the_last_arms(means, window, partial):
    """Normal rewards, whose terms 2 sigma^2 / gap are exact."""
    first = 1 if partial else min(window, len(means))
    windows = [range(max(now - window, 0), now) for now in range(first, len(means) + 1)]
    found = simulate.gaps(streams.from_means(means).gaussian(0.3), min(window, len(means)), partial=partial)
    agrees(found, means, windows, lambda mean, best: 2 * 0.3**2 / (best - mean))


@given(st.lists(st.tuples(st.floats(0, 1), st.integers(1, 5)), min_size=1, max_size=30), st.integers(1, 12))
def test_by_time_gaps_are_those_of_the_arms_that_are_younger_than_the_window(arms, window):
    means, times = [mean for mean, _ in arms], np.cumsum([after for _, after in arms])
    windows = [[arm for arm in range(now + 1) if times[now] - times[arm] < window] for now in range(len(arms))]
    found = simulate.gaps(streams.from_means(means).gaussian(0.3).at(times), f"{window} s")
    agrees(found, means, windows, lambda mean, best: 2 * 0.3**2 / (best - mean))


def test_epochs_by_time_begin_when_the_first_window_is_over_if_not_partial():
    """Arm 3 comes 10 s after arm 1, which has then expired, and has no epoch at all."""
    stream = streams.from_means([0.9, 0.5, 0.4]).at([0, 6, 10])
    found = simulate.gaps(stream, "10 s", partial=False)
    assert (found.best.tolist(), found.valid.tolist()) == ([0.5], [2])
    assert found.of_arms.round(9).tolist() == [math.inf, math.inf, 0.1]


@given(st.floats(0.001, 0.999), st.floats(0.001, 0.999))
def test_a_term_is_the_gap_divided_by_the_divergence(one, other):
    mean, best = sorted((one, other))
    if best - mean > 1e-3:
        assert term_of(mean, best, BOUNDED) == pytest.approx((best - mean) / kl(mean, best), rel=1e-9)


def test_a_term_is_exact_where_the_divergence_is_lost_in_rounding():
    """Near the best mean kl is gap^2 / (2 v), where the formula itself may be 0 or less.  Both ways meet."""
    assert term_of(0.3, 0.3 + 2**-50, BOUNDED) == pytest.approx(2 * 0.21 * 2**50, rel=1e-6)
    for mean in (0.001, 0.3, 0.9):
        gap = 1e-4 * mean * (1 - mean)
        below, above = (term_of(mean, mean + share * gap, BOUNDED) * share for share in (0.99, 1.01))
        assert below / above == pytest.approx(1 - 1e-4 * (1 - 2 * mean) * 0.02 * 2 / 3, rel=1e-6)


def test_terms_at_the_ends_of_the_scale():
    """An arm behind a best mean of 1 shows itself with the first reward below 1: it costs no logarithm at all."""
    assert term_of(0.5, 1.0, BOUNDED) == 0.0
    assert term_of(0.0, 0.25, BOUNDED) == pytest.approx(0.25 / math.log(4 / 3), rel=1e-12)
    assert term_of(0.5, 0.5, BOUNDED) == term_of(0.5, 0.5, Noise(2.0, False)) == 0.0
    assert term_of(0.5, 1.5, Noise(2.0, False)) == 8.0


def test_a_huge_term_leaves_no_trace_when_its_arm_has_expired():
    """The gap of arm 1 is 1e-13, so its term is about 5e12; what follows must not be what rounding leaves of it."""
    found = simulate.gaps([0.5, 0.5 + 1e-13, 0.2, 0.2], window=3)
    assert found.constant[2] > 1e12
    assert found.constant[3] == pytest.approx(2 * (0.3 + 1e-13) / kl(0.2, 0.5), rel=1e-9)


def test_gaps_are_of_the_arms_that_play_has_in_that_run():
    """With one slot and the newest arm always pulled, regret in an epoch is the gap of the newest arm, times T."""
    stream, common = streams.uniform(30), {"window": 5, "run": 3, "seed": 7}
    found = simulate.gaps(stream, **common)
    regrets = simulate.epoch_regrets(stream, budgets=10, memory=1, keep="fifo", pull="ucb", **common)
    newest = found.best - regrets / 10
    windows = [range(max(now - 5, 0), now) for now in range(1, 31)]
    assert found.best == pytest.approx([max(newest[arm] for arm in window) for window in windows])
    assert not np.array_equal(found.best, simulate.gaps(stream, window=5, run=4, seed=7).best)
    assert not np.array_equal(found.best, simulate.gaps(stream, window=5, run=3, seed=8).best)


def test_a_stream_of_many_blocks_is_one_stream():
    """Arms come in blocks of 8,192; a window reaches over their border."""
    means = np.linspace(1, 0, 8300)
    found = simulate.gaps(streams.from_means(means), window=200)
    assert found.best.tolist() == [means[max(now - 199, 0)] for now in range(8300)]
    assert found.least[8250] == pytest.approx(means[0] - means[1])
    assert found.valid[[0, 8192, 8299]].tolist() == [1, 200, 200]


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"window": 0}, "window must be a whole number of at least 1, not 0"),
        ({"window": "1h"}, "window must be a number of arrivals on a stream without times"),
        ({"window": 4, "partial": False}, "window must be at most 3"),
        ({"window": 2, "run": -1}, "run must be a whole number of at least 0, not -1"),
        ({"window": 2, "seed": 0.5}, "seed must be a whole number of at least 0, not 0.5"),
    ],
)
def test_bad_input_is_refused(settings, says):
    with pytest.raises(ValueError, match=says):
        simulate.gaps([0.1, 0.2, 0.3], **settings)
