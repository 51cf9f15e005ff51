"""The compiled loop of certified exploration: what it records, what it promises, and what a budget does."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from bestbefore import bounds, streams
from bestbefore.noise import BOUNDED, Noise
from bestbefore.probe.certificates import settings_of
from bestbefore.simulate.certify_loop import (
    BROKEN,
    CERTIFIED,
    MOST,
    PEAK,
    PULLS,
    certify_block,
    certify_stream,
    logs_of,
    start_run,
    traced,
    with_room_for,
)
from bestbefore.simulate.clocked import NEVER
from bestbefore.simulate.oracle import summary
from bestbefore.simulate.seeds import generators

SIGMA = 0.3


def rewards_of(kind, stream):
    return {"bernoulli": stream, "stars": stream.rated([0, 0.25, 0.5, 0.75, 1]), "gaussian": stream.gaussian(SIGMA)}[
        kind
    ]


def noise_of(kind):
    return Noise(SIGMA, False) if kind == "gaussian" else BOUNDED


@given(
    means=st.lists(st.integers(0, 20).map(lambda k: k / 20), min_size=1, max_size=40),
    window=st.integers(1, 45),
    slots=st.integers(1, 12),
    budget=st.sampled_from([0, 1, 7, 300]),
    kind=st.sampled_from(["bernoulli", "stars", "gaussian"]),
    seed=st.integers(0, 2**32),
)
def test_what_is_recorded_is_what_happened(means, window, slots, budget, kind, seed):
    """Answers are valid, errors are those of the answers, and the counts add up; whatever the sizes and the budget."""
    settings = settings_of(0.3, slots, noise_of(kind), whole=slots >= window)
    logs = logs_of(window, 0.1, "weak", len(means))
    stream = rewards_of(kind, streams.from_means(means))
    run, seen = certify_stream(stream, window, logs, settings, budget=budget, seed=seed)
    now = np.arange(1, len(means) + 1)
    assert (seen.answers > np.maximum(now - window, 0)).all()
    assert (seen.answers <= now).all()
    best = np.array([max(means[max(t - window, 0) : t]) for t in now])
    assert seen.errors == pytest.approx(best - np.array(means)[seen.answers - 1])
    assert (seen.pulls <= budget).all()
    assert run.counts[PULLS] == seen.pulls.sum()
    assert run.counts[MOST] == seen.pulls.max()
    assert run.counts[PEAK] <= min(slots, window)
    assert run.counts[CERTIFIED] == (seen.gaps <= 0.3).sum()
    assert run.counts[BROKEN] == (seen.errors > seen.gaps + 1e-12).sum()
    assert summary(run.errors)["mean"] == pytest.approx(seen.errors.mean())
    assert ((seen.gaps >= 0) & (seen.gaps <= 1)).all()


def test_without_a_budget_every_answer_is_certified():
    for slots in (10, 20):
        settings = settings_of(0.3, slots, BOUNDED, whole=slots == 20)
        run, seen = certify_stream(streams.sawtooth(200, 40), 20, logs_of(20, 0.1, "weak", 200), settings)
        assert run.counts[CERTIFIED] == 200
        assert seen.gaps.max() <= 0.3
        assert run.counts[PEAK] <= slots


def test_blocks_carry_on_where_the_last_one_stood():
    """A stream run in one block or in many is the same run."""
    settings, logs = settings_of(0.3, 8, BOUNDED), logs_of(12, 0.1, "weak", 60)
    means = np.random.default_rng(3).random(60)
    whole = certify_stream(streams.from_means(means), 12, logs, settings)[1]
    state, rewards = start_run(8, 60), generators(0, 0)[1]
    parts = []
    for rows in (slice(0, 7), slice(7, 8), slice(8, 60)):
        (arms,) = streams.from_means(means[rows]).blocks(np.random.default_rng(0))
        state, seen = with_room_for(state, arms), traced(arms.means.size)
        certify_block(state, arms, logs[rows], 12, -1, settings, rewards, seen, NEVER)
        parts.append(seen)
    for field in whole._fields:
        assert np.concatenate([getattr(part, field) for part in parts]).tolist() == getattr(whole, field).tolist()


def test_nobody_needs_to_watch():
    settings, logs = settings_of(0.3, 8, BOUNDED), logs_of(12, 0.1, "weak", 60)
    watched, _ = certify_stream(streams.uniform(60), 12, logs, settings)
    arms_rng, rewards, _ = generators(0, 0)
    (arms,) = streams.uniform(60).blocks(arms_rng)
    state = with_room_for(start_run(8, 60), arms)
    certify_block(state, arms, logs, 12, -1, settings, rewards, traced(0), NEVER)
    assert state.counts.tolist() == watched.counts.tolist()


def test_each_arm_gets_its_share_of_delta():
    logs = logs_of(10, 0.1, "anytime", 25)
    assert logs.shape == (25, 2)
    for arrival in (1, 10, 11, 25):
        shares = bounds.certificate_failures(10, 0.1, "anytime", arrival=arrival)
        assert np.exp(-logs[arrival - 1]).tolist() == pytest.approx(shares)
    assert np.exp(-logs_of(10, 0.1, "anytime", 10**5)).sum() == pytest.approx(0.1, rel=1e-3), "all together have delta"


HARD = {
    "all equal": streams.constant(60),
    "falling": streams.decreasing(60),
    "one arm better": streams.from_means([0.5] * 10 + [0.71] + [0.5] * 49),
    "near 0": streams.uniform(60, 0.0, 0.3),
}


@pytest.mark.parametrize("name", HARD)
@pytest.mark.parametrize("guarantee", bounds.GUARANTEES)
def test_answers_are_within_epsilon_as_often_as_promised(name, guarantee):
    """With delta = .1.  If it failed just as often as it may, more of 300 runs would fail than are allowed here with a
    probability of 1e-5; it does so far less often."""
    runs, window, epsilon = 300, 20, 0.2
    settings, logs = settings_of(epsilon, 12, BOUNDED), logs_of(window, 0.1, guarantee, 60)
    errors = np.array([certify_stream(HARD[name], window, logs, settings, run=run)[1].errors for run in range(runs)])
    failed = errors > epsilon + 1e-9
    times = failed[:, [10, 19, 35, 59]].sum(axis=0) if guarantee == "weak" else failed.any(axis=1).sum()
    assert np.max(times) <= binom.isf(1e-5, runs, 0.1)


def test_bounds_half_as_wide_would_be_noticed():
    """A quarter of the logarithm: the one better arm, where nothing may be overlooked, is overlooked too often."""
    settings, logs = settings_of(0.2, 12, BOUNDED), logs_of(20, 0.1, "weak", 60) / 4
    means = [0.5] * 10 + [0.71] + [0.5] * 49
    failed = [
        certify_stream(streams.from_means(means), 20, logs, settings, run=run)[1].errors[20] > 0.2 for run in range(300)
    ]
    assert np.sum(failed) > binom.isf(1e-5, 300, 0.1)


@pytest.mark.parametrize("kind", ["bernoulli", "stars", "gaussian"])
def test_the_gap_is_honest_whatever_was_pulled(kind):
    """Stopped at a random time with a random budget, the error is above the gap in at most delta = .1 of 300 runs.

    If it were so just as often as it may, this test would fail with a probability of 1e-5.
    """
    rng = np.random.default_rng(5)
    settings, logs = settings_of(0.2, 12, noise_of(kind)), logs_of(20, 0.1, "weak", 60)
    broken = 0
    for run in range(300):
        stream = rewards_of(kind, streams.uniform(60, 0.0, rng.uniform(0.2, 1.0)))
        budget, time = int(10 ** rng.uniform(0, 2.5)), rng.integers(60)
        _, seen = certify_stream(stream, 20, logs, settings, budget=budget, run=run)
        broken += seen.errors[time] > seen.gaps[time] + 1e-9
    assert broken <= binom.isf(1e-5, 300, 0.1)


def test_a_budget_is_spent_ahead_and_keeps_the_gap_small():
    """Where the answer expires now and then, pulls that are left over are spent on its successors.

    With as many pulls at an arrival as are needed on average, and a little more, the answer is certified at most times.
    """
    stream, settings, logs = (
        streams.uniform(400),
        settings_of(0.2, 20, BOUNDED, whole=True),
        logs_of(20, 0.1, "weak", 400),
    )
    free, _ = certify_stream(stream, 20, logs, settings)
    budget = math.ceil(2 * free.counts[PULLS] / 400)
    assert budget < free.counts[MOST] / 3, "bursts are much higher than the average"
    limited, _ = certify_stream(stream, 20, logs, settings, budget=budget)
    assert limited.counts[MOST] <= budget
    assert limited.counts[CERTIFIED] > 0.8 * 400


def test_without_a_target_the_whole_budget_is_spent_and_more_of_it_makes_the_gap_smaller():
    settings, logs = settings_of(0.0, 10, BOUNDED, tuned=0.1), logs_of(20, 0.1, "weak", 200)
    gaps = []
    for budget in (10, 100, 1000):
        run, seen = certify_stream(streams.uniform(200), 20, logs, settings, budget=budget)
        assert ((seen.pulls == budget) | (seen.gaps == 0)).all(), "unless the answer is surely the best"
        assert run.counts[PEAK] <= 10
        gaps.append(seen.gaps.mean())
    assert gaps[0] > gaps[1] > gaps[2]


def test_without_a_target_the_arms_that_will_answer_next_are_known_too():
    """To spend all on the answer of the moment left its successors unknown: a mean error of .05, a mean gap of .11."""
    settings, logs = settings_of(0.0, 8, BOUNDED, tuned=0.16), logs_of(50, 0.05, "weak", 600)
    _, seen = certify_stream(streams.uniform(600), 50, logs, settings, budget=300)
    assert seen.errors.mean() < 0.02
    assert seen.gaps.mean() < 0.06


def test_a_share_of_the_best_mean():
    """Click rates of 1% to 8%: the answer has at least 7/10 of the best rate, which no epsilon of 0.3 would say."""
    stream = streams.uniform(40, 0.01, 0.08)
    settings, logs = settings_of(0.3, 10, BOUNDED, whole=True, relative=True), logs_of(10, 0.1, "weak", 40)
    run, seen = certify_stream(stream, 10, logs, settings)
    (arms,) = stream.blocks(generators(0, 0)[0])
    answers = arms.means[seen.answers - 1]
    assert run.counts[CERTIFIED] == 40
    assert (answers >= 0.7 * (answers + seen.errors)).all()
