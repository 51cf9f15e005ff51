"""Functions among the settings of a stream, which no database can keep; they need the compiler."""

import pytest

from bestbefore import Explorer, connect

SETTINGS = {"window": 5, "memory": 3, "tests": 4, "seed": 1}


def oldest(memory, arrival, pulls, total, moment):
    """Keep the first arm for ever: a rule of a user's own."""
    if memory.arrival[0] == 0:
        memory.arrival[0], memory.pulls[0], memory.total[0] = arrival, pulls, total
        return 0
    return -1


def test_functions_among_the_settings_are_given_again(desk, url):
    page = desk.stream("front", Explorer, **SETTINGS, keep=oldest)
    for arm in ("storm", "calm"):
        page.arrive(arm)
        for _ in range(4):
            page.tell(page.ask().id, 0.5)
    assert page.stored == ["storm"]
    with connect(url, sweep=None) as later:
        with pytest.raises(ValueError, match="stream 'front' cannot be loaded: keep must be given again"):
            later.stream("front").ask()
        assert later.stream("front", Explorer, **SETTINGS, keep=oldest).stored == ["storm"]
