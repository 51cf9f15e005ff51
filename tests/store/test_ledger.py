"""Each pull has an id and ends exactly once: told, defaulted at its deadline, given up, or gone with its arm."""

from datetime import timedelta

import pytest

from bestbefore import Conflict, Explorer, UnknownArm, UnknownPull, connect
from bestbefore.store.moving import problems

SETTINGS = {"window": "1h", "epsilon": 0.2, "seed": 1}


@pytest.fixture
def page(desk):
    found = desk.stream("front", Explorer, **SETTINGS, patience="10 min")
    found.arrive("storm")
    found.arrive("calm")
    return found


def counts(desk):
    with desk._store.read() as reading:
        row = reading.stream(reading.head("front").id)
    return {what: count for what, count in row.counts.items() if count and what not in ("arrived", "erased")}


def test_the_same_id_gives_the_same_pull(page, desk):
    pull = page.ask(id="request 7")
    assert page.ask(id="request 7") == pull
    assert page.ask(id="request 8") != pull
    page.tell("request 7", 1.0)
    assert page.ask(id="request 7") == pull
    assert counts(desk) == {"asked": 2, "told": 1}


def test_ids_that_are_not_given_are_new(page):
    assert len({page.ask().id for _ in range(20)}) == 20


@pytest.mark.parametrize("id", ["", 7, "x" * 201, "nul \0", None, "\ud800"])
def test_an_id_that_cannot_be_one_is_refused(page, desk, id):
    for call in (lambda: page.tell(id, 1.0), lambda: page.give_up(id)):
        with pytest.raises(ValueError, match="id must be"):
            call()
    assert counts(desk) == {}


def test_told_twice_the_same_is_done_and_something_else_is_a_conflict(page, desk):
    pull = page.ask()
    page.tell(pull.id, 0.5)
    page.tell(pull.id, 0.5)
    with pytest.raises(Conflict, match=r"was told 0.5: reward must be the same again, not 1.0"):
        page.tell(pull.id, 1.0)
    with pytest.raises(Conflict, match=r"was told 0.5: it cannot be given up any more"):
        page.give_up(pull.id)
    assert counts(desk) == {"asked": 1, "told": 1}
    assert page.pulls == 1


def test_whoever_only_looks_leaves_no_trace_even_if_the_clock_goes_back(page, desk, clock):
    """Two hours later all arms have expired for whoever looks, but nothing is written: a pull can still be told."""
    pull = page.ask()
    clock.now += 7200
    assert page.best() is None
    assert page.stored == []
    clock.now -= 7200
    page.tell(pull.id, 1.0)
    assert page.best() == pull.arm
    assert counts(desk) == {"asked": 1, "told": 1}


def test_late_in_any_order_from_any_process(page, desk, clock, url):
    pulls = [page.ask() for _ in range(6)]
    clock.now += 599
    with connect(url, clock=clock, sweep=None) as other:
        for place, pull in enumerate(reversed(pulls)):
            [page, other.stream("front")][place % 2].tell(pull.id, 0.5)
    assert counts(desk) == {"asked": 6, "told": 6}


@pytest.mark.parametrize("reward", [2.0, -1, float("nan"), float("inf"), "much", None])
def test_a_reward_that_cannot_be_one_leaves_the_pull_open(page, desk, reward):
    pull = page.ask()
    with pytest.raises(ValueError, match="reward must be"):
        page.tell(pull.id, reward)
    assert counts(desk) == {"asked": 1}
    page.tell(pull.id, 1.0)


def test_an_id_that_nobody_asked_for_is_unknown(page):
    for call in (lambda: page.tell("nobody", 1.0), lambda: page.give_up("nobody")):
        with pytest.raises(UnknownPull, match="pull 'nobody' is not in the ledger"):
            call()


def test_at_its_deadline_a_pull_counts_as_said(page, desk, clock):
    """Nobody needs to sweep first: whoever calls next finds it done."""
    pull = page.ask()
    assert pull.deadline - pull.asked == timedelta(minutes=10)
    clock.now += 600
    with pytest.raises(Conflict, match=r"was counted as 0.0 when its deadline passed"):
        page.tell(pull.id, 1.0)
    page.tell(pull.id, 0.0)
    assert counts(desk) == {"asked": 1, "defaulted": 1}
    assert page.look().means()[pull.arm] == 0.0


def test_just_before_its_deadline_it_can_be_told(page, desk, clock):
    pull = page.ask()
    clock.now += 599.999999
    page.tell(pull.id, 1.0)
    clock.now += 1
    assert desk.sweep().streams <= 1
    assert counts(desk) == {"asked": 1, "told": 1}


def test_without_an_otherwise_it_is_given_up(desk, clock):
    page = desk.stream("front", Explorer, window=5, memory=3, tests=1, patience="10 min", otherwise=None)
    page.arrive("storm")
    pull = page.ask()
    assert page.ask() is None  # one pull is wanted, and one is under way
    clock.now += 600
    assert page.ask().arm == "storm"
    with pytest.raises(Conflict, match="was given up"):
        page.tell(pull.id, 1.0)
    page.give_up(pull.id)
    assert counts(desk) == {"asked": 2, "given_up": 1}


def test_given_up_by_the_caller_another_is_asked_for(desk):
    page = desk.stream("front", Explorer, window=5, memory=3, tests=1)
    page.arrive("storm")
    pull = page.ask()
    page.give_up(pull.id)
    page.give_up(pull.id)
    assert page.ask().arm == "storm"
    assert counts(desk) == {"asked": 2, "given_up": 1}


def test_a_pull_of_an_arm_that_has_gone_cannot_be_told(page, desk, clock):
    withdrawn, expired, told = page.ask(), page.ask(), page.ask()
    page.tell(told.id, 1.0)
    page.withdraw(withdrawn.arm)
    for id in (withdrawn.id, expired.id):
        if id == expired.id:
            clock.now += 3600
        with pytest.raises(UnknownArm, match="the arm of pull"):
            page.tell(id, 1.0)
        with pytest.raises(UnknownArm, match="the arm of pull"):
            page.ask(id=id)
    page.tell(told.id, 1.0)  # a retry is answered as before, though the arm has gone since
    with pytest.raises(Conflict):
        page.tell(told.id, 0.5)
    assert problems(desk._store) == {"front": []}


def test_ids_stay_without_names_until_they_can_no_longer_be_told(desk, clock):
    page = desk.stream("front", Explorer, **SETTINGS, patience="3h", remember="1h")
    page.arrive("storm")
    page.arrive("calm")
    told, orphan = page.ask(), page.ask()
    page.tell(told.id, 1.0)
    clock.now += 2 * 3600  # both arms have expired
    assert desk.sweep().forgotten == 0
    page.tell(told.id, 1.0)
    with pytest.raises(UnknownArm, match="the arm of pull"):
        page.tell(orphan.id, 1.0)
    clock.now += 3600  # its deadline has come
    assert desk.sweep().forgotten == 2
    for id in (told.id, orphan.id):
        with pytest.raises(UnknownPull):
            page.tell(id, 1.0)
    with desk._store.read() as reading:
        assert reading.pulls_after(reading.head("front").id, "", 9) == []


def test_what_is_due_happens_in_the_order_of_its_times_whoever_looks_and_when(url, clock):
    """Two streams see the same; of one, a sweep runs every minute, of the other nobody looks for two hours."""
    states = []
    for name, every in (("swept", 60), ("left alone", 7200)):
        clock.now = 1_800_000_000.0
        with connect(url, clock=clock, sweep=None) as desk:
            page = desk.stream(name, Explorer, **SETTINGS, patience="10 min")
            for arm in ("storm", "calm", "sun"):
                page.arrive(arm)
                for _ in range(5):
                    page.ask()
                clock.now += 120
            until = clock.now + 7200
            while clock.now < until:
                clock.now += every
                desk.sweep()
            with desk._store.read() as reading:
                row = reading.stream(reading.head(name).id)
            states.append((row.state, row.counts))
    assert states[0] == states[1]
    assert states[0][1]["defaulted"] == 10  # the first arm was the best without a pull, while it was alone


@pytest.mark.parametrize("settings", [{"window": "1h"}, {"window": 5}], ids=["by time", "by count"])
def test_an_arm_that_is_here_and_arrives_again_has_arrived_already(desk, clock, url, settings):
    """Whoever did not hear the answer sends the call again, from wherever, after whatever has happened since."""
    page = desk.stream("front", Explorer, epsilon=0.2, seed=1, **settings)
    page.arrive("storm")
    page.arrive("calm")
    page.tell(page.ask().id, 1.0)
    clock.now += 60
    before = page.look().state()
    with connect(url, clock=clock, sweep=None) as other:
        for again in (page, other.stream("front")):
            assert again.arrive("storm") == []
    assert page.look().arrivals == 2
    assert page.look().state()["arms"] == before["arms"]
    page.withdraw("storm")
    page.arrive("storm")  # of what has gone nothing is known: this is another arm
    assert page.look().arrivals == 3
    assert page.look().means().get("storm") is None


def test_an_arm_that_arrives_again_at_another_time_is_a_conflict(desk, clock):
    page = desk.stream("front", Explorer, **SETTINGS, tolerance="5 s")
    page.arrive("storm", at=clock.now)
    page.arrive("calm", at=clock.now + 1)
    clock.now += 90
    assert page.arrive("storm", at=clock.now - 90) == []  # long ago, but told before
    for other in (clock.now, clock.now - 89):
        with pytest.raises(Conflict, match=r"arm 'storm' is here already: at must be 1800000000\.0+ s again"):
            page.arrive("storm", at=other)
    assert page.look().arrivals == 2
    clock.now += 3600
    assert page.arrive("storm", at=clock.now) == ["storm", "calm"]  # the first has expired: this is another arm
    numbered = desk.stream("numbers", Explorer, window=5, epsilon=0.2)
    numbered.arrive("storm", at=3)
    numbered.arrive("calm", at=4)
    assert numbered.arrive("storm", at=3) == []
    with pytest.raises(Conflict, match="arm 'storm' is here already: at must be 3 again, not 5"):
        numbered.arrive("storm", at=5)
    assert numbered.look().arrivals == 2


def test_names_that_are_equal_but_not_the_same_are_not_taken_for_each_other(desk):
    page = desk.stream("front", Explorer, window=5, epsilon=0.2)
    page.arrive(1)
    for other in (True, 1.0):
        with pytest.raises(Conflict, match=f"arm must be 1, which is here and equal to it, not {other}"):
            page.arrive(other)
        with pytest.raises(Conflict, match="arm must be 1, which is here and equal to it"):
            page.arrive(other, at=1)
    assert page.arrive(1, at=1) == page.arrive(1) == []


def test_a_deadline_that_comes_before_its_arm_expires_is_kept_though_a_later_one_waits_too(desk, clock):
    """Storm's pull ends after 55 minutes and storm expires after 60; another pull waits until minute 63."""
    page = desk.stream("front", Explorer, **SETTINGS, patience="10 min")
    page.arrive("storm")
    clock.now += 10 * 60
    page.arrive("calm")
    clock.now += 35 * 60
    first = page.ask()
    assert first.arm == "storm"
    clock.now += 8 * 60
    page.ask()
    clock.now += 3600
    desk.sweep()
    with pytest.raises(Conflict, match=r"was counted as 0\.0 when its deadline passed"):
        page.tell(first.id, 1.0)
