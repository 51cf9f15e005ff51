"""What a caller's slips, callbacks that fail and odd values must not do: hang a desk, fail others, or lose a name."""

import logging
import threading

import pytest

from bestbefore import Explorer, Player, StoreDamaged, UnknownArm, connect
from bestbefore.store.moving import problems
from bestbefore.store.sweep import sweep

SETTINGS = {"window": 5, "memory": 3, "tests": 1000, "seed": 1}


def test_names_that_go_with_a_call_that_fails_are_heard_of_too(url, clock):
    """What is due is done and kept, though the call itself is refused."""
    heard = []
    with connect(url, clock=clock, sweep=None, forget=lambda *told: heard.append(told)) as desk:
        page = desk.stream("front", Explorer, window="1h", epsilon=0.2)
        page.arrive("storm")
        page.arrive("calm")
        pull = page.ask()
        clock.now += 3600.1
        with pytest.raises(UnknownArm):
            page.tell(pull.id, 1.0)
    assert heard == [("front", ["storm", "calm"])]


def test_of_a_call_that_was_not_carried_out_no_name_is_heard_of(url, clock, monkeypatch):
    heard = []
    with connect(url, clock=clock, sweep=None, forget=lambda *told: heard.append(told)) as desk:
        page = desk.stream("front", Explorer, window="1h", epsilon=0.2)
        page.arrive("storm")
        clock.now += 3600.1

        def fails(self, *arguments):
            raise OSError("no room")

        with monkeypatch.context() as broken:
            broken.setattr("bestbefore.store.sql.SqlWriting.save", fails)
            with pytest.raises(OSError, match="no room"):
                page.arrive("calm")
        assert heard == []
        assert page.arrive("calm") == ["storm"]
    assert heard == [("front", ["storm"])]


def test_a_stream_that_is_dropped_while_a_sweep_comes_to_it_is_no_failure(url, clock):
    with connect(url, clock=clock, sweep=None) as desk, connect(url, clock=clock, sweep=None) as other:
        for name in ("front", "sports"):
            desk.stream(name, Explorer, window="1h", epsilon=0.2).arrive("storm")
        clock.now += 3600.1

        def submit(calls):
            other.drop("front")
            desk._submit(calls)

        swept = sweep(desk._store, round(clock.now * 1e6), submit)
        assert (swept.gone, swept.failed) == ({"sports": ["storm"]}, {})


def test_a_forget_that_fails_fails_nobody_and_is_logged(url, clock, caplog):
    """The call was carried out: its answer must not be lost, nor may a sweep stop in the middle."""
    heard = []

    def forget(stream, arms):
        heard.append(stream)
        raise KeyError("mine")

    with connect(url, clock=clock, sweep=None, forget=forget) as desk, caplog.at_level(logging.ERROR):
        for name in ("front", "sports"):
            desk.stream(name, Explorer, window="1h", epsilon=0.2).arrive("storm")
        clock.now += 3600.1
        assert desk.stream("front").arrive("calm") == ["storm"]
        swept = desk.sweep()
        assert swept.gone == {"sports": ["storm"]}
        assert swept.erased
        assert not desk.erased("front").waiting
    assert heard == ["front", "sports"]
    assert "forget failed for 1 arms of stream 'front'" in caplog.text


@pytest.mark.parametrize("name", ["", 7, None, ["front"], "\ud800", "nul \0", "x" * 201])
def test_a_name_that_no_stream_can_have_fails_alone(desk, name):
    """Were it sent, the calls of all others who wait would fail with it."""
    desk.stream("front", Explorer, **SETTINGS).arrive("storm")
    for call in (desk.drop, desk.erased, desk.batch().stream):
        with pytest.raises(ValueError, match="name must be"):
            call(name)


class Odd(Exception):
    """Cannot be copied: it is made from two things and remembers one."""

    def __init__(self, one, two):
        super().__init__(one)


def test_a_clock_that_fails_in_its_own_way_leaves_nobody_waiting(url):
    wrong = []

    def clock():
        if wrong:
            raise wrong.pop()
        return 1_800_000_000.0

    with connect(url, clock=clock, sweep=None) as desk:
        page = desk.stream("front", Explorer, **SETTINGS)
        page.arrive("storm")
        wrong.append(Odd(1, 2))
        with pytest.raises(Odd):
            page.ask()
        assert page.ask().arm == "storm"


def test_where_no_thread_can_be_started_the_next_call_tries_again(desk, monkeypatch):
    page = desk.stream("front", Explorer, **SETTINGS)

    def fails(self):
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as broken:
        broken.setattr(threading.Thread, "start", fails)
        with pytest.raises(RuntimeError, match="can't start new thread"):
            page.arrive("storm")
    assert page.arrive("calm") == []
    assert page.stored == ["calm"] or page.look().arrivals == 1


def test_a_batch_that_is_used_again_sends_only_what_is_new(desk):
    page, batch = desk.stream("front", Explorer, **SETTINGS), desk.batch()
    page.arrive("storm")
    with batch:
        first = batch.stream("front").ask()
    with batch:
        second = batch.stream("front").ask()
        with pytest.raises(ValueError, match="this call has no answer yet"):
            second.result()
    assert first.result().id != second.result().id
    assert problems(desk._store) == {"front": []}
    with desk._store.read() as reading:
        assert reading.stream(reading.head("front").id).counts["asked"] == 2


def test_a_name_that_is_withdrawn_in_a_batch_is_gone_from_the_disk_too(desk):
    page = desk.stream("front", Explorer, **SETTINGS)
    page.arrive("storm")
    with desk.batch() as batch:
        batch.stream("front").withdraw("storm")
    assert not desk.erased("front").waiting


def test_a_state_that_fails_in_an_unusual_way_is_damaged_and_others_go_on(desk, url):
    """JSON that is nested too deeply is a RecursionError, and no ValueError."""
    for name in ("front", "sports"):
        desk.stream(name, Explorer, **SETTINGS).arrive("storm")
    with desk._store.write() as writing:
        deep = "[" * 100_000 + "]" * 100_000
        writing.connection.exec_driver_sql("UPDATE bestbefore_streams SET state = ? WHERE name = 'front'", (deep,))
    with connect(url, sweep=None) as later:
        batch = later.batch()
        front, sports = batch.stream("front").ask(), batch.stream("sports").ask()
        with pytest.raises(ExceptionGroup, match="1 of 2 calls failed"):
            batch.__exit__(None, None, None)
        assert isinstance(front.error, StoreDamaged)
        assert sports.result().arm == "storm"


@pytest.mark.parametrize("arm", [10**5000, ("a", -(10**5000))], ids=["a number", "in a tuple"])
def test_numbers_that_cannot_be_written_are_refused_as_names(desk, arm):
    page = desk.stream("front", Explorer, **SETTINGS)
    with pytest.raises(ValueError, match=r"arm must be a string, a number, .* not a number of thousands of digits"):
        page.arrive(arm)
    assert page.arrive(10**500) == []
    assert desk.stream("front").stored == page.stored


def test_a_slate_has_an_end(desk):
    page = desk.stream("play", Player, window=5, memory=3, seed=1)
    page.arrive("storm")
    with pytest.raises(ValueError, match="k must be at most 1000 in a durable stream, not 10000000000"):
        page.ask(10**10)
    assert [pull.arm for pull in page.ask(1000)] == ["storm"]


def test_settings_without_an_agent_are_refused(desk):
    desk.stream("front", Explorer, **SETTINGS)
    for settings in ({"otherwise": None}, {"remember": "1h"}, {"patience": "1h"}):
        with pytest.raises(ValueError, match="agent must be given with the settings of stream 'front'"):
            desk.stream("front", **settings)


def test_time_that_goes_on_without_an_arrival_is_kept(desk, clock, url):
    """Whoever loads the state finds the agent's clock where it was left."""
    page = desk.stream("front", Explorer, window="1h", epsilon=0.2)
    page.arrive("storm")
    clock.now += 60
    assert page.advance() == []
    early = pytest.raises(ValueError, match="at must not be earlier than the last time")
    with connect(url, clock=lambda: clock.now - 50, sweep=None) as behind, early:
        behind.stream("front").arrive("calm", at=clock.now - 30)
