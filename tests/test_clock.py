"""The clock: what is valid now, whether windows are counted or timed."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestbefore import clock as clocks
from bestbefore.clock import Clock, Window, microseconds, said, tolerance_of, window_of

HOUR = 3600 * 10**6


@pytest.mark.parametrize(
    ("window", "length"),
    [
        ("24h", 24 * HOUR),
        ("24 hours", 24 * HOUR),
        (" 1 Day ", 24 * HOUR),
        ("30 days", 720 * HOUR),
        ("2w", 336 * HOUR),
        ("90 min", 3 * HOUR // 2),
        ("90m", 3 * HOUR // 2),
        ("1.5h", 3 * HOUR // 2),
        ("10 s", 10**7),
        ("5ms", 5000),
        ("7 us", 7),
        (timedelta(days=1, seconds=1), 24 * HOUR + 10**6),
    ],
)
def test_times_are_read(window, length):
    assert window_of(window) == Window(length, by_time=True)
    assert window_of(said(window_of(window))) == Window(length, by_time=True)


@pytest.mark.parametrize("window", ["", "24", "h", "24 moons", "-3h", "0s", "1e3 s", timedelta(0), timedelta(days=-1)])
def test_what_is_no_time_is_named(window):
    with pytest.raises(ValueError, match='window must be a whole number of arrivals, or a time above 0 such as "24h"'):
        window_of(window)


@pytest.mark.parametrize("window", [0, -1, 1.5, True, None, [24]])
def test_what_is_no_number_is_named(window):
    with pytest.raises(ValueError, match="window must be a whole number of at least 1"):
        window_of(window)


def test_aware_datetimes_and_seconds_are_the_same_time():
    moment = datetime(2026, 11, 18, 7, 30, tzinfo=timezone(timedelta(hours=2)))
    assert microseconds("at", moment) == microseconds("at", moment.timestamp())
    assert microseconds("at", moment) == microseconds("at", moment.astimezone(UTC))


@pytest.mark.parametrize(
    ("at", "words"),
    [
        (datetime(2026, 1, 1), "at must be an aware datetime, such as datetime.now"),
        (datetime(1969, 12, 31, tzinfo=UTC), "at must be an aware datetime from 1970 on, or seconds of at least 0"),
        (-1.0, "or seconds of at least 0, not -1.0"),
        (float("nan"), "or seconds of at least 0, not nan"),
        (float("inf"), "not inf"),
        (True, "not True"),
        ("noon", "not 'noon'"),
        (1e300, "not 1e"),
    ],
)
def test_what_is_no_moment_is_named(at, words):
    with pytest.raises(ValueError, match=words):
        microseconds("at", at)


def test_an_arm_of_the_windows_age_has_expired():
    clock = Clock(window_of("10 s"))
    number = clock.arrive(clock.arrival_at(5.0))
    clock.advance(clock.later(14.999999))
    assert clock.oldest <= number
    clock.advance(clock.later(15.0))
    assert clock.oldest > number


def test_arms_of_one_instant_keep_their_order():
    clock = Clock(window_of("10 s"))
    numbers = [clock.arrive(clock.arrival_at(5.0)) for _ in range(4)]
    assert numbers == sorted(set(numbers))
    assert clock.later(5.0) == numbers[0], "it is still that instant"


def test_time_never_goes_back():
    clock = Clock(window_of("1h"))
    clock.arrive(clock.arrival_at(100.0))
    with pytest.raises(ValueError, match=r"at must not be earlier than the last time, 100\.000000 s, not 99\.5"):
        clock.arrival_at(99.5)
    with pytest.raises(ValueError, match=r"to must not be earlier than the last time, 1970-01-01T00:01:40\+00:00, not"):
        clock.later(datetime(1970, 1, 1, 0, 1, tzinfo=UTC), "to")
    assert (clock.time, clock.arrivals) == (100_000_001, 1)


def test_within_the_tolerance_an_earlier_time_counts_as_now():
    window = window_of("1h")
    clock = Clock(window, tolerance_of(window, "1 s"))
    clock.arrive(clock.arrival_at(100.0))
    assert clock.arrive(clock.arrival_at(99.0)) == 100_000_002
    with pytest.raises(ValueError, match="earlier than the last time"):
        clock.arrival_at(98.999999)


@pytest.mark.parametrize(("window", "tolerance"), [(5, "1 s"), ("5 s", 1), (5, 1)])
def test_a_tolerance_is_a_time(window, tolerance):
    with pytest.raises(ValueError, match='tolerance must be a time such as "5 s", and the window too, not'):
        tolerance_of(window_of(window), tolerance)


def test_by_count_numbers_may_be_told():
    clock = Clock(window_of(5))
    assert [clock.arrive(clock.arrival_at(at)) for at in (None, 4, None)] == [1, 4, 5]
    clock.advance(clock.later(8))
    assert clock.arrive(clock.arrival_at(8)) == 8, "somebody else's clock has told that it is 8"
    with pytest.raises(ValueError, match="at must be above 8, the number of the newest arrival, not 8"):
        clock.arrival_at(8)
    with pytest.raises(ValueError, match="at must not be earlier than the last time, 8, not 7"):
        clock.arrival_at(7)


def test_without_a_time_the_wall_clock_tells(monkeypatch):
    clock = Clock(window_of("1h"))
    monkeypatch.setattr(clocks, "on_the_wall", lambda: 10**15)
    assert clock.arrive(clock.arrival_at(None)) == 10**15
    clock.on_wall = True
    monkeypatch.setattr(clocks, "on_the_wall", lambda: 10**15 - 5)
    assert clock.later(None) == 10**15, "a wall clock that is set back does not stop the agent"
    assert clock.arrive(clock.arrival_at(None)) == 10**15 + 1


@given(st.lists(st.integers(0, 10**7), max_size=60), st.integers(1, 10**8))
def test_a_clock_goes_on_after_it_was_saved(gaps, window):
    clock, time = Clock(Window(window, by_time=True)), 0
    for gap in gaps:
        time += gap
        clock.arrive(clock.arrival_at(time / 1e6))
    again = Clock(Window(window, by_time=True))
    again.restore(**clock.state())
    assert (again.now, again.oldest, again.valid, again.arrivals) == (clock.now, clock.oldest, clock.valid, len(gaps))
    assert again.state() == clock.state()
