"""When arms arrive: times that are told, and processes that draw them; arms and rewards stay as they are."""

from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from bestbefore import streams
from bestbefore.simulate.seeds import generators
from bestbefore.streams.stream import Arms

PROCESSES = {
    "poisson": streams.poisson("10/h"),
    "bursts": streams.bursts(7, quiet="10 min", within="1s"),
    "day and night": streams.day_and_night("30/h"),
}
HOUR = 3600 * 10**6


def whole(stream, seed=0):
    """Return all arms of a stream as one block."""
    blocks = list(stream.blocks(np.random.default_rng(seed)))
    means, times = (np.concatenate([getattr(block, name) for block in blocks]) for name in ("means", "times"))
    return blocks[0]._replace(means=means, times=times)


# Times that are told


def test_seconds_and_aware_datetimes_become_microseconds():
    paris = timezone(timedelta(hours=1))
    told = [0, 2.5, datetime(1970, 1, 1, 0, 0, 3, tzinfo=UTC), datetime(1970, 1, 1, 1, 0, 3, 7, tzinfo=paris)]
    assert whole(streams.constant(4).at(told)).times.tolist() == [0, 2_500_000, 3_000_000, 3_000_007]
    assert whole(streams.constant(3).at(np.array([1.0, 1.0, 2.0]))).times.tolist() == [10**6, 10**6, 2 * 10**6]


def test_blocks_have_the_times_of_their_arms():
    length = 2 * streams.BLOCK + 5
    assert whole(streams.constant(length).at(range(length))).times.tolist() == [10**6 * at for at in range(length)]


WRONG = {
    "too few": ([1, 2], "times must be 3, one for each arm, not 2"),
    "too many": (range(10), "times must be 3, one for each arm, not more"),
    "back": ([1, 3, 2], r"times\[2\] must not be earlier than the time before it, not 2"),
    "before 0": ([-1, 3, 4], r"times\[0\] must be an aware datetime from 1970 on, or seconds of at least 0, not -1"),
    "naive": ([1, 2, datetime(2026, 1, 1)], r"times\[2\] must be an aware datetime"),
    "text": (
        "now",
        "times must be seconds or datetimes, one for each arm, or a process .*, not 'now'",
    ),
    "a number": (5, "times must be seconds or datetimes"),
}


@pytest.mark.parametrize(("times", "message"), WRONG.values(), ids=WRONG)
def test_times_that_cannot_be_are_named(times, message):
    with pytest.raises(ValueError, match=message):
        streams.constant(3).at(times)


def test_a_source_must_give_a_time_for_each_arm_if_the_stream_is_timed_and_none_if_not():
    arms = next(streams.constant(3).at([1, 2, 3]).blocks(np.random.default_rng(0)))
    few = streams.Stream("mine", 3, lambda rng: iter([arms._replace(times=arms.times[:2])]), timed=True)
    with pytest.raises(ValueError, match="source must yield a time for each arm, not 2 for 3 arms"):
        whole(few)
    with pytest.raises(ValueError, match="source must yield no times, since it is not timed, not 3 for 3 arms"):
        whole(streams.Stream("mine", 3, lambda rng: iter([arms])))


# Processes


@pytest.mark.parametrize("process", PROCESSES.values(), ids=PROCESSES)
def test_times_never_go_back_and_arms_are_the_same_as_without_them(process):
    for stream in (streams.uniform(9000), streams.two_level(9000, 50), streams.sawtooth(9000, 50)):
        arms = whole(stream.at(process), seed=3)
        assert arms.means.tolist() == whole(stream, seed=3).means.tolist()
        assert arms.times.dtype == np.int64
        assert (np.diff(arms.times) >= 0).all()
        assert arms.times[0] >= 0


@pytest.mark.parametrize("process", PROCESSES.values(), ids=PROCESSES)
def test_other_rewards_keep_the_times_and_other_runs_have_others(process):
    timed = streams.uniform(50).at(process)
    times = whole(timed).times.tolist()
    assert whole(timed.rated([0, 0.5, 1])).times.tolist() == times
    assert whole(timed.gaussian(0.3)).times.tolist() == times
    assert whole(streams.uniform(50).gaussian(0.3).at(process)).times.tolist() == times
    first, again, other = (next(timed.blocks(generators(0, run)[0])).times.tolist() for run in (0, 0, 1))
    assert first == again != other


@given(st.sampled_from(list(PROCESSES)), st.lists(st.integers(1, 30), min_size=1, max_size=8))
def test_times_do_not_depend_on_how_many_are_drawn_at_once(name, sizes):
    draw = PROCESSES[name].start(np.random.default_rng(1))
    parts = np.concatenate([draw(size) for size in sizes])
    assert parts.tolist() == PROCESSES[name].start(np.random.default_rng(1))(sum(sizes)).tolist()


@pytest.mark.parametrize("process", PROCESSES.values(), ids=PROCESSES)
def test_the_gap_is_the_mean_time_between_arms(process):
    """70,000 arms; bursts come 10,000 times, so a mean within 5% is one within 5 standard deviations."""
    times = process.start(np.random.default_rng(2))(70_000)
    assert times[-1] / 70_000 == pytest.approx(process.gap, rel=0.05)


def test_gaps_of_a_poisson_process_are_exponential():
    """A Kolmogorov-Smirnov test on 10,000 gaps; it fails by chance for one seed in a thousand."""
    gaps = np.diff(streams.poisson("10/h").start(np.random.default_rng(0))(10_000))
    assert stats.kstest(gaps, "expon", args=(0, HOUR / 10)).pvalue > 0.001


def test_arms_of_a_burst_come_together_and_then_there_is_quiet():
    times = streams.bursts(7, quiet="1h", within="1s").start(np.random.default_rng(0))(70).reshape(10, 7)
    assert (times[:, -1] - times[:, 0] <= 10**6).all()
    assert (times[1:, 0] > times[:-1, -1]).all()
    assert np.median(times[1:, 0] - times[:-1, -1]) > HOUR / 4


def test_by_day_there_are_as_many_more_arms_as_the_swing_says():
    """Of the rate 1 + swing sin, the half of the day has a share of 1/2 + swing / pi; 5 standard deviations are 1%."""
    times = streams.day_and_night("60/h", swing=0.9).start(np.random.default_rng(0))(60_000)
    by_day = (times % (24 * HOUR) < 12 * HOUR).mean()
    assert by_day == pytest.approx(0.5 + 0.9 / np.pi, abs=0.01)
    flat = streams.day_and_night("60/h", swing=0).start(np.random.default_rng(0))(1000)
    same = streams.poisson("60/h").start(np.random.default_rng(0))(1000)
    assert np.abs(flat - same).max() <= 1


@pytest.mark.parametrize("rate", ["10", "10/", "/h", "0/h", "-1/h", "ten/h", "10/fortnight", "inf/h", 10, "1e9/us"])
def test_a_rate_is_a_number_for_each_unit_of_time(rate):
    with pytest.raises(ValueError, match="rate must be so many arms in a unit of time, such as"):
        streams.poisson(rate)
    with pytest.raises(ValueError, match="rate must be"):
        streams.day_and_night(rate)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"size": 0}, "size must be a whole number of at least 1, not 0"),
        ({"quiet": 3600}, 'quiet must be a time such as "1h" or timedelta\\(hours=1\\), not 3600'),
        ({"within": "soon"}, "within must be a time above 0 such as"),
    ],
)
def test_bursts_that_cannot_be_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        streams.bursts(**settings)


def test_a_swing_is_at_most_the_whole_rate():
    with pytest.raises(ValueError, match=r"swing must be a number of at least 0 and at most 1, not 1\.5"):
        streams.day_and_night("1/h", swing=1.5)


def test_a_stream_that_takes_too_long_is_an_error():
    with pytest.raises(ValueError, match="arms must arrive so fast that all of them come within 285 years"):
        whole(streams.constant(100_000).at(streams.poisson("0.01/week")))


def test_arms_made_by_hand_have_no_times_unless_they_are_given():
    arms = Arms(np.zeros(2), np.zeros(0), np.zeros((0, 0)), streams.constant(1).noise)
    assert arms.times.size == 0
