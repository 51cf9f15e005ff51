"""Race: evidence against an arm, the bar it has to reach, and when its test is over."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from bestbefore.memory import empty_memory, put
from bestbefore.noise import BOUNDED, Noise
from bestbefore.probe.race import bar_of, confidence, evidence, goes_on, lower_bound, rivals_after

tests = st.integers(1, 200).flatmap(lambda pulls: st.tuples(st.just(pulls), st.integers(0, pulls)))
"""What the test of an arm gave: pulls, and how many of them were rewarded."""
levels = st.floats(0.001, 0.999)
logs = st.floats(0.01, 20)
noises = st.sampled_from([BOUNDED, Noise(0.2, False), Noise(1.5, False)])


def memory_of(*arms):
    memory = empty_memory(max(len(arms), 1))
    for slot, (pulls, total) in enumerate(arms):
        put(memory, slot, slot + 1, pulls, float(total))
    return memory


@given(tests, levels, levels, noises)
def test_evidence_grows_with_the_level_it_speaks_against(arm, one, other, noise):
    pulls, total = arm
    low, high = sorted((one, other))
    assert 0 <= evidence(pulls, total, low, noise) <= evidence(pulls, total, high, noise) + 1e-9


@given(tests, levels, st.integers(2, 5), noises)
def test_evidence_grows_with_the_pulls_and_falls_with_the_rewards(arm, level, times, noise):
    pulls, total = arm
    once = evidence(pulls, total, level, noise)
    assert evidence(times * pulls, times * total, level, noise) == pytest.approx(times * once)
    if total < pulls:
        assert evidence(pulls, total + 1, level, noise) <= once + 1e-9


@given(tests, levels, noises)
def test_nothing_speaks_against_a_level_that_was_reached(arm, level, noise):
    pulls, total = arm
    assert (evidence(pulls, total, level, noise) == 0) == (total / pulls >= level)
    assert evidence(0, 0.0, level, noise) == 0


def test_only_rewards_of_one_throughout_can_have_a_mean_of_one():
    assert evidence(10, 9.0, 1.0, BOUNDED) == math.inf
    assert evidence(10, 10.0, 1.0, BOUNDED) == 0


@given(tests, logs)
def test_the_lower_bound_is_the_lowest_mean_not_contradicted(arm, log):
    """Brute force: of 10,001 means q up to the empirical one, the first with pulls * kl(mean, q) <= log."""
    pulls, total = arm
    mean = total / pulls
    assume(mean > 0)
    q = np.linspace(0, mean, 10_001)[1:]
    with np.errstate(divide="ignore", invalid="ignore"):
        below = (1 - mean) * (np.log(1 - mean) - np.log(1 - q)) if mean < 1 else np.zeros(q.size)
        kl = mean * np.log(mean / q) + below
    lowest = q[np.flatnonzero(pulls * kl <= log + 1e-9)[0]]
    assert lower_bound(pulls, float(total), log, BOUNDED) == pytest.approx(lowest, abs=mean / 10_000 + 1e-5)


@given(tests, logs, st.floats(0.1, 2))
def test_the_lower_bound_of_normal_rewards(arm, log, sigma):
    pulls, total = arm
    bound = lower_bound(pulls, float(total), log, Noise(sigma, False))
    assert pulls * (total / pulls - bound) ** 2 / (2 * sigma**2) == pytest.approx(log)
    assert bound < total / pulls


def test_nothing_is_known_of_an_arm_never_pulled():
    assert lower_bound(0, 0.0, 5.0, BOUNDED) == -math.inf
    assert bar_of(memory_of(), 5.0, BOUNDED) == (-math.inf, -math.inf)


def test_the_bar_is_that_of_the_leader():
    bar, lead = bar_of(memory_of((10, 5), (100, 90), (10, 2)), 5.0, BOUNDED)
    assert (bar, lead) == (lower_bound(100, 90.0, 5.0, BOUNDED), 0.9)


@pytest.mark.parametrize("noise", [BOUNDED, Noise(0.5, False)])
def test_a_test_ends_after_so_many_pulls_whatever_comes(noise):
    assert goes_on(99, 99.0, 0.5, 0.6, 100, 5.0, noise)
    assert not goes_on(100, 100.0, 0.5, 0.6, 100, 5.0, noise)


@pytest.mark.parametrize("noise", [BOUNDED, Noise(0.5, False)])
def test_a_third_of_the_pulls_is_for_those_who_trail_and_all_for_those_who_lead(noise):
    bar = 0.1  # no arm is ruled out
    assert goes_on(32, 0.85 * 32, bar, 0.9, 99, 5.0, noise)
    assert not goes_on(33, 0.85 * 33, bar, 0.9, 99, 5.0, noise)
    assert goes_on(33, 0.95 * 33, bar, 0.9, 99, 5.0, noise)
    assert goes_on(0, 0.0, bar, 0.9, 1, 5.0, noise), "each arm is pulled at least once"


@given(tests, levels, logs, noises)
def test_an_arm_is_given_up_once_the_evidence_is_enough(arm, bar, log, noise):
    pulls, total = arm
    assert goes_on(pulls, float(total), bar, 1.0, 10**6, log, noise) == (evidence(pulls, total, bar, noise) <= log)


def test_confidence_grows_with_the_pulls_of_a_test():
    assert confidence(100) == pytest.approx(math.log(1000))


# Rivals


def test_each_arm_that_trails_adds_as_much_as_it_may_be_as_good():
    memory = memory_of((100, 90))
    assert rivals_after(memory, 0, 0.0, 2.0, BOUNDED) == 3.0, "of an arm never pulled nothing is known"
    assert rivals_after(memory, 100, 10.0, 2.0, BOUNDED) == pytest.approx(2.0)
    some = rivals_after(memory, 10, 8.0, 2.0, BOUNDED)
    assert some == pytest.approx(2 + math.exp(-evidence(10, 8.0, 0.9, BOUNDED)))


def test_a_new_leader_beyond_doubt_has_no_rivals():
    memory = memory_of((100, 10))
    assert rivals_after(memory, 100, 90.0, 50.0, BOUNDED) < 1e-6
    assert rivals_after(memory, 10, 1.0, 50.0, BOUNDED) == 51.0, "of two with equal means either may be the best"


def test_without_a_leader_there_are_no_rivals():
    assert rivals_after(memory_of(), 10, 5.0, 0.0, BOUNDED) == 0
    assert rivals_after(memory_of((0, 0)), 10, 5.0, 0.0, BOUNDED) == 0


@given(st.lists(tests, min_size=1, max_size=30), noises)
def test_rivals_are_never_more_than_the_arms_that_came(arms, noise):
    memory, rivals = memory_of((0, 0)), 0.0
    for arrival, (pulls, total) in enumerate(arms, start=1):
        rivals = rivals_after(memory, pulls, float(total), rivals, noise)
        assert 0 <= rivals <= arrival - 1 + 1e-9
        if memory.pulls[0] == 0 or total * memory.pulls[0] >= memory.total[0] * pulls:
            put(memory, 0, arrival, pulls, float(total))
