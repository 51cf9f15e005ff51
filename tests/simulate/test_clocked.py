"""Arrivals on the clock: whole blocks at once, and the same as what an agent's clock says one by one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestbefore import plan, streams
from bestbefore.clock import Clock, Window
from bestbefore.simulate.clocked import Crowd, Expired, Numbers, Shares, check_times
from bestbefore.streams.stream import bernoulli

gaps = st.lists(st.lists(st.sampled_from([0, 0, 1, 2, 7, 40]), min_size=1, max_size=30), min_size=1, max_size=6)


def blocks_of(gaps):
    """Return blocks of times, each so long after the one before."""
    times = np.cumsum([gap for block in gaps for gap in block])
    ends = np.cumsum([len(block) for block in gaps])
    return np.split(times.astype(np.int64), ends[:-1])


def on_a_clock(blocks, window):
    """Return the numbers, the counts of valid arms, and how many have expired, as an agent's clock tells them."""
    clock, numbers, valid = Clock(Window(window, True)), [], []
    for time in np.concatenate(blocks).tolist():
        numbers.append(clock.arrive(clock.arrival_at(time / 1e6)))
        valid.append(clock.valid)
    expired = [sum(other <= number - window for other in numbers[: place + 1]) for place, number in enumerate(numbers)]
    return numbers, valid, expired


def numbered(blocks):
    numbers = Numbers(by_time=True)
    return numbers, [numbers.of(bernoulli(np.zeros(block.size))._replace(times=block)).times for block in blocks]


@given(gaps, st.integers(1, 60))
def test_numbers_and_expiry_are_those_of_the_clock(gaps, window):
    blocks = blocks_of(gaps)
    numbers, _, expired = on_a_clock(blocks, window)
    _, found = numbered(blocks)
    assert np.concatenate(found).tolist() == numbers
    expiry = Expired(window)
    assert np.concatenate([expiry.before(block) for block in found]).tolist() == expired


@given(gaps)
def test_numbers_lead_back_to_arrivals(gaps):
    numbers, found = numbered(blocks_of(gaps))
    known = np.concatenate(found)
    assert numbers.arrivals(known).tolist() == list(range(1, known.size + 1))
    assert numbers.arrivals(np.zeros(3, np.int64)).tolist() == [0, 0, 0]


@given(gaps, st.integers(1, 60))
def test_valid_arms_are_counted_as_agents_count_them(gaps, window):
    blocks = blocks_of(gaps)
    _, found = numbered(blocks)
    crowd = Crowd(window)
    assert np.concatenate([crowd.counts(block) for block in found]).tolist() == on_a_clock(blocks, window)[1]


@given(gaps, st.integers(1, 200), st.integers(1, 40))
def test_a_crowd_is_where_an_agent_counts_more_than_was_said(gaps, window, most):
    blocks = blocks_of(gaps)
    _, found = numbered(blocks)
    crowd = Crowd(window, most)
    beyond = np.concatenate([crowd.beyond(block) for block in found])
    assert beyond.tolist() == [count > most for count in on_a_clock(blocks, window)[1]]


def test_a_crowd_is_seen_late_in_a_stream_where_an_agent_counts_too_high():
    """An agent knows more than 31 arms only in groups, so it sees 33 where there are 32: then the exact count will not
    do, whatever came before."""
    blocks = [np.arange(1, 500) * 10, 4990 + np.arange(1, 400) * 3]
    _, valid, expired = on_a_clock(blocks, 97)
    exact = np.arange(1, len(valid) + 1) - expired
    most = int(exact.max())
    assert max(valid) > most
    crowd = Crowd(97, most)
    assert np.concatenate([crowd.beyond(block) for block in blocks]).tolist() == [count > most for count in valid]


def shares(settings, numbers):
    made = plan.plan_exploration(window="100us", epsilon=0.3, delta=0.1, arms=50, **settings)
    rows = Shares(made)
    return made, np.concatenate([rows.of(part) for part in np.split(numbers, [3, 20])])


NUMBERS = np.cumsum(np.random.default_rng(0).integers(1, 30, 50))


def test_a_weak_certificate_has_a_share_by_the_arms_that_are_valid():
    made, rows = shares({}, NUMBERS)
    counts = Crowd(100).counts(NUMBERS)
    assert rows.tolist() == [list(made.logs_of(count)) for count in counts.tolist()]
    assert len(set(counts.tolist())) > 3


def test_with_most_it_is_the_same_for_all_arms():
    made, rows = shares({"most": 12}, NUMBERS)
    assert rows.tolist() == [list(made.logs_of(1))] * 50


@pytest.mark.parametrize("most", [None, 12])
def test_anytime_it_goes_by_the_count_of_arrivals(most):
    made, rows = shares({"guarantee": "anytime", "most": most}, NUMBERS)
    assert rows.tolist() == [list(made.logs_of(arrival)) for arrival in range(1, 51)]


def test_by_count_the_times_of_a_stream_are_left_out():
    arms = next(streams.constant(3).at([1, 2, 3]).blocks(np.random.default_rng(0)))
    counted = Numbers(by_time=False)
    assert counted.of(arms).times.size == 0
    assert counted.arrivals(np.array([3, 1])).tolist() == [3, 1]


def test_a_window_by_time_needs_a_stream_with_times():
    with pytest.raises(ValueError, match=r"on a stream without times, not '24h'; stream\.at\(\.\.\.\) says when"):
        check_times(streams.uniform(10), "24h", by_time=True)
    check_times(streams.uniform(10), 50, by_time=False)
    check_times(streams.uniform(10).at(streams.poisson("1/h")), "24h", by_time=True)
