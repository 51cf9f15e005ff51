"""The log of a stream: what was pulled, what came of it, and the true probability of each choice, or a word."""

import numpy as np
import pytest

from bestbefore import Explorer, Player, UnknownStream, connect
from bestbefore.store import logs
from bestbefore.store.logs import Page, page_in, page_out
from bestbefore.store.moving import exported, imported


def drawing(desk, name="front", **settings):
    return desk.stream(name, Player, window="1h", memory=3, keep="fifo", pull="inf", seed=1, **settings)


def test_a_row_says_what_was_pulled_and_with_which_probability(desk, clock):
    page = drawing(desk)
    came = clock.now
    for arm in ("a", "b", "c"):
        page.arrive(arm)
    clock.now += 60
    pull = page.ask(id="x")
    page.tell("x", 0.25)
    [row] = page.log()
    assert (row.id, row.arm, row.reward, row.how) == ("x", pull.arm, 0.25, "told")
    assert (row.arrived.timestamp(), row.asked.timestamp()) == (came, clock.now)
    assert row.propensity == pytest.approx(1 / 3)


def test_propensities_are_those_with_which_arms_are_really_drawn(desk):
    """4,000 copies of one player, which has lost with one of two arms, ask once more: 4 standard errors are 0.032."""
    page = drawing(desk)
    page.arrive("a")
    page.arrive("b")
    lost = page.ask(id="0")
    page.tell("0", 0.0)
    state = page.state()
    named = page.ask(id="1").arm
    page.tell("1", 1.0)
    noted = next(row.propensity for row in page.log() if row.id == "1")
    rng, drawn = np.random.default_rng(7), 0
    for _ in range(4000):
        copy = Player.from_state(state)
        copy._rng = rng
        drawn += copy.ask() == named
        assert copy.chance in (pytest.approx(noted), pytest.approx(1 - noted))
    assert drawn / 4000 == pytest.approx(noted, abs=0.032)
    assert (noted > 0.5) == (named != lost.arm)


def test_where_nothing_is_drawn_it_says_so(desk):
    for name, settings in (("play", {"agent": Player, "memory": 2}), ("explore", {"agent": Explorer, "epsilon": 0.3})):
        page = desk.stream(name, window="1h", seed=1, **settings)
        page.arrive("a")
        page.arrive("b")
        page.ask(id="x")
        page.tell("x", 1.0)
        assert [row.propensity for row in page.log()] == ["deterministic"]


def test_a_probability_that_is_not_known_is_not_a_number(desk):
    page = desk.stream("thompson", Player, window="1h", memory=3, pull="thompson", seed=1)
    slate = drawing(desk, "slate")
    for arm in ("a", "b", "c"):
        page.arrive(arm)
        slate.arrive(arm)
    page.ask(id="x")
    page.tell("x", 1.0)
    for pull in slate.ask(2, id="y"):
        slate.tell(pull.id, 1.0)
    assert [row.propensity for row in [*page.log(), *slate.log()]] == ["unknown"] * 3


def test_only_pulls_with_a_reward_are_in_it(desk, clock):
    page = drawing(desk, patience="1 min", otherwise=0.0)
    page.arrive("a")
    for id in ("told", "given up", "late", "open"):
        page.ask(id=id)
        clock.now += 1
    page.tell("told", 1.0)
    page.give_up("given up")
    clock.now += 58  # the patience of the third is over, that of the fourth is not
    desk.sweep()
    assert [(row.id, row.reward, row.how) for row in page.log()] == [("late", 0.0, "defaulted"), ("told", 1.0, "told")]


def test_an_arm_that_has_gone_takes_its_rows_along(desk, clock):
    page = drawing(desk)
    page.arrive("a")
    page.ask(id="1")
    page.tell("1", 1.0)
    clock.now += 1800
    page.arrive("b")
    while page.ask(id=(id := f"{clock.now}")).arm != "b":
        page.tell(id, 0.0)
        clock.now += 1
    page.tell(id, 1.0)
    page.ask(id="open")
    clock.now += 1800  # nobody sweeps, and yet: a has expired
    assert {row.arm for row in page.log()} == {"b"}
    assert desk.log_page("front").nameless >= 1
    page.withdraw("b")
    assert list(page.log()) == []
    with desk._store.read() as reading:
        [row] = [row for row in reading.pulls(1, ["open"]) if row.how == "gone"]
        assert row.chance is None


def test_pages_together_are_the_whole(desk, monkeypatch):
    page = drawing(desk)
    page.arrive("a")
    for number in range(7):
        page.ask(id=f"{number}")
        page.tell(f"{number}", 1.0)
    parts, after = [], ""
    while after is not None:
        part = desk.log_page("front", after, 3)
        parts.append([row.id for row in part.rows])
        after = part.last
    assert parts == [["0", "1", "2"], ["3", "4", "5"], ["6"]]
    assert [row.id for row in page.log()] == list("0123456")


def test_a_page_survives_json(desk):
    page = drawing(desk)
    page.arrive(("a", 1))
    page.ask(id="x")
    page.tell("x", 1.0)
    found = desk.log_page("front")
    assert page_in(page_out(found)) == found == Page(list(page.log()), None, 0)


def test_a_stream_that_is_not_there(desk):
    with pytest.raises(UnknownStream):
        desk.log_page("nobody")


def test_probabilities_travel_with_a_stream(desk, tmp_path):
    page = drawing(desk)
    page.arrive("a")
    page.arrive("b")
    page.ask(id="x")
    page.tell("x", 1.0)
    data = exported(desk._store, "front")
    with connect(f"sqlite:///{tmp_path}/other.db", clock=desk._clock, sweep=None) as other:
        imported(other._store, data)
        assert list(other.stream("front").log()) == list(page.log())
        data["name"], data["pulls"][0]["chance"] = "wrong", 1.5
        with pytest.raises(ValueError, match=r"chance must be a number above 0 and at most 1, not 1\.5"):
            imported(other._store, data)
        del data["pulls"][0]["chance"]  # as older versions have exported it
        imported(other._store, data)
        assert [row.propensity for row in other.stream("wrong").log()] == [logs.UNKNOWN]
