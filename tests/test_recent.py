"""How many arms have arrived within a time, from few numbers: never too low, and hardly too high."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestbefore.recent import SAME, Recent

STEPS = st.lists(st.integers(0, 40), min_size=1, max_size=400)


@given(STEPS, st.integers(1, 2000))
def test_the_count_is_never_too_low_and_hardly_too_high(steps, window):
    recent, times, now = Recent(), [], 0
    for step in steps:
        now += step + 1
        recent.add(now)
        times.append(now)
        valid = sum(time > now - window for time in times)
        counted = recent.count(now - window + 1)
        assert valid <= counted <= valid * (1 + 1 / (SAME - 1))
        assert len(recent) <= SAME * 5, "few numbers are held, however many arms have arrived"


@given(STEPS, st.data())
def test_what_is_saved_counts_on_as_before(steps, data):
    recent, now = Recent(), 0
    for step in steps:
        now += step + 1
        recent.add(now)
    again = Recent.restored(recent.state(), newest=now)
    for _ in range(5):
        now += data.draw(st.integers(1, 500))
        assert again.count(now) == recent.count(now)
        recent.add(now)
        again.add(now)
    assert again.state() == recent.state()


@given(st.lists(STEPS, min_size=1, max_size=3), st.integers(1, 4000))
def test_parts_united_count_all_arms(parts, window):
    made, times = [], []
    for steps in parts:
        recent, now = Recent(), 0
        for step in steps:
            now += step + 1
            recent.add(now)
            times.append(now)
        made.append(recent)
    now = max(times)
    both = Recent.united(made)
    valid = sum(time > now - window for time in times)
    assert both.count(now - window + 1) >= valid


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ([[]], "lists of 1 to 32 numbers"),
        (["12"], "lists of 1 to 32 numbers"),
        ([list(range(1, 34))], "lists of 1 to 32 numbers"),
        ([[1]] * 54, "lists of 1 to 32 numbers"),
        ([[0]], "whole numbers above 0"),
        ([[1.5]], "whole numbers above 0"),
        ([[True]], "whole numbers above 0"),
        ([[3, 2]], "must rise up to the newest"),
        ([[3], [4]], "must rise up to the newest"),
        ([[8]], "must rise up to the newest"),
    ],
)
def test_damage_is_named(state, words):
    with pytest.raises(ValueError, match=words):
        Recent.restored(state, newest=7)
