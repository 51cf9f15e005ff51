"""Work spread over threads: results in order, and an error ends everything."""

import _thread
import queue
import signal
import threading

import pytest

from bestbefore.simulate import parallel

PATIENCE = 60.0
"""Seconds after which a thread that waits in vain gives up, so that a broken program fails instead of hanging."""


class Piece:
    """A piece of work that calls a function."""

    def __init__(self, function, number):
        self.function, self.number = function, number

    def measure(self, stop, do):
        return self.function(self.number, stop)


def run_all(function, numbers, **settings):
    return parallel.run_all([Piece(function, number) for number in numbers], **settings)


def test_results_come_in_the_order_of_the_work_whoever_finished_first():
    """The first piece waits until the second is done."""
    second_done = threading.Event()

    def work(piece, stop):
        if piece == 0:
            assert second_done.wait(PATIENCE)
        else:
            second_done.set()
        return piece * 10

    assert run_all(work, [0, 1], jobs=2) == [0, 10]


@pytest.mark.parametrize("jobs", [1, 2, 50, None])
def test_the_number_of_jobs_does_not_change_the_results(jobs):
    assert run_all(lambda piece, stop: piece**2, range(20), jobs=jobs) == [piece**2 for piece in range(20)]


def test_two_jobs_do_work_at_the_same_time():
    """Each piece waits until the other has begun."""
    both = threading.Barrier(2)
    assert run_all(lambda piece, stop: both.wait(PATIENCE) >= 0, [0, 1], jobs=2) == [True, True]


def test_one_job_does_one_piece_after_another():
    order = []
    run_all(lambda piece, stop: order.append(piece), range(10), jobs=1)
    assert order == list(range(10))


def test_no_work_gives_no_results():
    assert run_all(lambda piece, stop: piece, []) == []


def test_nothing_is_told_to_stop_while_all_goes_well():
    assert run_all(lambda piece, stop: stop.is_set(), range(5), jobs=2) == [False] * 5


def test_an_error_in_one_piece_reaches_the_caller():
    def work(piece, stop):
        if piece == 3:
            raise ZeroDivisionError("piece three")
        return piece

    with pytest.raises(ZeroDivisionError, match="piece three"):
        run_all(work, range(6), jobs=2)


def test_after_an_error_what_has_not_begun_is_cancelled():
    """The first of 1,000 pieces fails; each that begins before the caller knows waits to be told."""
    begun = []

    def work(piece, stop):
        begun.append(piece)
        if piece == 0:
            raise ZeroDivisionError
        stop.wait(PATIENCE)

    with pytest.raises(ZeroDivisionError):
        run_all(work, range(1000), jobs=2)
    assert len(begun) < 100


@pytest.mark.parametrize(("failing", "waiting"), [(0, 1), (1, 0)])
def test_after_an_error_what_has_begun_is_told_to_stop_wherever_it_stands(failing, waiting):
    """One piece fails while the other, before or after it, is under way and would go on for long."""
    under_way, told = threading.Event(), queue.Queue()

    def work(piece, stop):
        if piece == failing:
            under_way.wait(PATIENCE)
            raise ZeroDivisionError
        under_way.set()
        told.put(stop.wait(PATIENCE))

    with pytest.raises(ZeroDivisionError):
        run_all(work, [0, 1], jobs=2)
    assert told.get(timeout=PATIENCE) is True


def _press_ctrl_c():
    signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)


@pytest.mark.parametrize("press", [_press_ctrl_c, _thread.interrupt_main])
def test_ctrl_c_tells_what_has_begun_to_stop_and_reaches_the_caller(press):
    """The signal is sent when the only piece is under way and has been handed out.

    `interrupt_main` notes a signal without waking who waits: so it is when Ctrl-C comes just as the wait begins.
    """
    handed_out, told = threading.Event(), queue.Queue()

    class Pieces(list):
        def __iter__(self):
            yield 0
            handed_out.set()

    def work(piece, stop):
        handed_out.wait(PATIENCE)
        press()
        told.put(stop.wait(PATIENCE))

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            run_all(work, Pieces([0]), jobs=1)
    finally:
        signal.signal(signal.SIGINT, before)
    assert told.get(timeout=PATIENCE) is True


def test_ctrl_c_while_work_is_still_being_handed_out_does_the_same():
    """The second piece is never reached: the first, which is under way already, is told to stop."""
    under_way, told = threading.Event(), queue.Queue()

    def work(piece, stop):
        under_way.set()
        told.put(stop.wait(PATIENCE))

    class Pieces(list):
        def __iter__(self):
            yield Piece(work, 0)
            under_way.wait(PATIENCE)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        parallel.run_all(Pieces([0, 1]), jobs=1)
    assert told.get(timeout=PATIENCE) is True


@pytest.mark.parametrize("progress", [True, False, None])
def test_progress_never_goes_to_standard_output(progress, capfd):
    """Results may be piped from there."""
    assert run_all(lambda piece, stop: piece, range(3), jobs=1, progress=progress) == [0, 1, 2]
    assert capfd.readouterr().out == ""
