"""Totals over time: what was asked and told by the minute, the quarter of an hour and of a day, without names."""

import pytest

from bestbefore import Explorer, Player, connect
from bestbefore.store.totals import SPANS
from bestbefore.testing.stores import NOON, Clock

MINUTE = 60


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def desk(tmp_path, clock):
    with connect(f"sqlite:///{tmp_path}/totals.db", clock=clock, sweep=None) as found:
        yield found


def totals(desk, name, span="hour", since=0):
    with desk._store.read() as reading:
        return reading.totals(reading.head(name).id, SPANS[span].step, since)


def rows_of(desk):
    with desk._store.look() as connection:
        return connection.exec_driver_sql("SELECT * FROM bestbefore_totals").all()


def test_each_verb_counts_in_its_minute_and_in_the_longer_times_around_it(desk, clock):
    page = desk.stream("front", Player, window="1 day", memory=3, patience="90 s", otherwise=0.5)
    page.arrive("storm")
    first, second, _ = (page.ask() for _ in range(3))
    clock.now += MINUTE
    page.tell(first.id, 0.75)
    page.tell(first.id, 0.75)  # the same again counts once
    page.give_up(second.id)
    clock.now += MINUTE
    desk.sweep()  # the third ended at its deadline, in the minute before
    page.ask()
    page.withdraw("storm")
    found = [row[2:] for row in totals(desk, "front")]  # arrived, asked, told, reward, defaulted, given up, gone
    assert found == [(1, 3, 0, 0.0, 0, 0, 0), (0, 0, 1, 1.25, 1, 1, 0), (0, 1, 0, 0.0, 0, 0, 1)]
    for span in ("day", "month"):
        (row,) = totals(desk, "front", span)
        assert row[2:] == (1, 4, 1, 1.25, 1, 1, 1)
        assert row.since <= NOON * 1e6 < row.since + row.length


def test_a_call_that_fails_counts_nowhere(desk):
    page = desk.stream("front", Player, window="1 day", memory=3)
    page.arrive("storm")
    pull = page.ask()
    before = rows_of(desk)
    with pytest.raises(ValueError, match="reward must"):
        page.tell(pull.id, 7.0)
    assert rows_of(desk) == before


def test_rows_stay_few_however_long_a_stream_runs(desk, clock):
    page = desk.stream("front", Explorer, window=5, epsilon=0.3)
    for number in range(400):
        page.arrive(number)
        clock.now += 61 * (1 + number % 50)  # one to fifty minutes
    for name, span in SPANS.items():
        found = totals(desk, "front", name)
        assert len(found) <= span.kept
        assert found[-1].since >= (clock.now - 51 * 61) * 1e6 - span.step
        assert found[0].since > found[-1].since - span.kept * span.step
    assert sum(row.arrived for row in totals(desk, "front", "month")) == 400


def test_totals_go_with_their_stream_and_hold_no_names(desk):
    page = desk.stream("front", Explorer, window=5, epsilon=0.3)
    page.arrive("storm")
    assert rows_of(desk)
    assert "storm" not in str(rows_of(desk))
    desk.drop("front")
    assert rows_of(desk) == []


def test_a_stream_whose_pulls_all_end_untold_has_fallen_silent(desk, clock):
    """Their deadlines pass, so that none of them waits for long; still nobody tells."""
    page = desk.stream("front", Player, window="1 day", memory=3, patience="5 min")
    page.arrive("storm")
    page.tell(page.ask().id, 1.0)

    def silent():
        return desk.overview(3600 * 10**6).silent

    for _ in range(7):
        clock.now += 600
        page.ask()
    assert silent() == 0  # for 70 minutes nothing was told; the first pull since is an hour and some seconds old
    clock.now += 120
    assert silent() == 1
    page.tell(page.ask().id, 1.0)
    assert silent() == 0


def test_a_stream_that_nobody_asks_is_not_silent(desk, clock):
    page = desk.stream("front", Player, window="1 day", memory=3)
    page.arrive("storm")
    page.tell(page.ask().id, 1.0)
    clock.now += 7200
    assert desk.overview(3600 * 10**6).silent == 0
