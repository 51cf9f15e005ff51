"""Tests of claims: what runs can tell, with what confidence, and what they cannot."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestbefore.paper.chance import CONFIDENCE, LEAST_RUNS, above_somewhere, below, both
from bestbefore.paper.numbers import interval

RUNS = 10


def differences(rng, means, runs=RUNS, spread=1.0):
    """Draw differences within runs, by memory."""
    return {memory: rng.normal(mean, spread, runs) for memory, mean in enumerate(means)}


def test_a_clear_difference_is_told_and_a_small_one_is_not():
    rng = np.random.default_rng(0)
    assert below(differences(rng, [-9, -9, -9])) is True
    assert below(differences(rng, [-9, -9, 9])) is False
    assert below(differences(rng, [-9, -9, 0.01])) is None


def test_more_runs_tell_what_few_cannot():
    rng = np.random.default_rng(1)
    assert below(differences(rng, [-0.4], runs=10)) is None
    assert below(differences(rng, [-0.4], runs=400)) is True


def test_a_false_claim_is_rarely_said_to_hold_and_a_true_one_rarely_to_fail():
    """At the border, where it is hardest: one mean is 0 exactly, or just below.

    Each look may err in (1 - 0.99) / 3 of the cases.  Of 4,000 that are 13; more than 36 have a chance below one in a
    million.  Many memories do not make it worse.
    """
    rng = np.random.default_rng(2)
    said = [below(differences(rng, [-9, -9, 0])) for _ in range(4000)]
    assert said.count(True) <= 36
    said = [below(differences(rng, [-1e-9] * 14)) for _ in range(4000)]
    assert said.count(False) <= 36
    assert CONFIDENCE == 0.99


def test_numbers_without_any_noise_are_told_at_once():
    assert below({2: [-1.0] * LEAST_RUNS}) is True
    assert below({2: [0.0] * LEAST_RUNS}) is False, "equal is not below"
    assert below({2: [1.0] * LEAST_RUNS}) is False


def test_too_few_runs_tell_nothing_however_clear():
    assert below({2: [-1.0] * (LEAST_RUNS - 1)}) is None
    assert below({2: [1.0] * (LEAST_RUNS - 1)}) is None
    assert below({}) is None


def test_somewhere_above_is_the_opposite_of_below_everywhere():
    rng = np.random.default_rng(3)
    for means in ([-9, -9], [-9, 9], [-9, 0.0]):
        drawn = differences(rng, means)
        told = below(drawn)
        assert above_somewhere(drawn) is (None if told is None else not told)


@pytest.mark.parametrize("one", [True, False, None])
@pytest.mark.parametrize("other", [True, False, None])
def test_both_hold_only_if_each_does(one, other):
    known = {True: {True}, False: {False}, None: {True, False}}
    possible = {a and b for a in known[one] for b in known[other]}
    assert both(one, other) is (possible.pop() if len(possible) == 1 else None)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30), st.floats(0.1, 1e6))
def test_what_is_said_does_not_depend_on_the_unit(values, unit):
    scaled = [value * unit for value in values]
    sign = below({1: values})
    if np.std(values) > 1e-6 or len(values) < LEAST_RUNS:
        assert below({1: scaled}) is sign


def test_an_interval_by_resampling_holds_the_mean_about_95_times_in_100():
    """Of 400 intervals from 40 runs, 380 should; fewer than 352 have a chance below one in ten thousand at 93%."""
    rng = np.random.default_rng(4)
    hits = 0
    for _ in range(400):
        values = rng.exponential(1.0, 40)
        low, high = interval(lambda rows, values=values: values[rows].mean(axis=1), 40)
        hits += low <= 1 <= high
    assert 352 <= hits <= 396


def test_an_interval_of_too_few_runs_says_nothing():
    assert interval(lambda rows: rows.mean(axis=1), LEAST_RUNS - 1) == (0.0, np.inf)
