"""`bestbefore demo`: a newsroom in fast motion, so that there is something to see on the page."""

import signal
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

if TYPE_CHECKING:
    from bestbefore.service.newsroom import Newsroom

NEEDED: Final = "bestbefore demo needs FastAPI and uvicorn: pip install 'bestbefore[serve]'"

STEPS: Final = 96
"""In how many steps the first day is run through."""

TICK: Final = 0.25
"""How many seconds pass between two steps afterwards."""

DAY: Final = 86400.0
FIRST_MORNING: Final = 1_767_225_600.0 - DAY + 0.25 * DAY
"""When the newsroom's own clock begins: at six in the morning, a day before the year 2026."""


class ToldClock:
    """A clock that shows what it was told, and then goes on so many times as fast as the wall clock."""

    def __init__(self, now: float) -> None:
        self._now, self._since, self._speed = now, 0.0, 0.0

    def __call__(self) -> float:
        """Return the time."""
        return self._now + (time.monotonic() - self._since) * self._speed if self._speed else self._now

    def tell(self, now: float) -> None:
        """Stand still at a time."""
        self._now, self._speed = now, 0.0

    def run(self, speed: float) -> None:
        """Go on from here."""
        self._now, self._since, self._speed = self(), time.monotonic(), speed


@click.command(short_help="A newsroom in fast motion, to see the page alive.")
@click.option("--url", help="A service that runs already; unless given, one is started, with a database that goes.")
@click.option("--key", envvar="BESTBEFORE_KEY", help="A key of scope write for that service.")
@click.option("--for", "lasts", metavar="TIME", help='Stop after a time such as "2 min"; unless given, at Ctrl-C.')
@click.option("--day", default=360.0, show_default=True, type=click.FloatRange(10, 86400), help="Seconds of a day.")
@click.option("--seed", default=0, show_default=True, type=click.IntRange(0), help="What all chance is drawn from.")
@click.option("--port", default=0, type=click.IntRange(0, 65535), help="The port; unless given, one that is free.")
def demo(url: str | None, key: str | None, lasts: str | None, day: float, seed: int, port: int) -> None:
    """Run a simulated newsroom in fast motion, and show its page.

    Articles arrive by day and night, readers click late or not at all, some clicks get lost, editors withdraw articles,
    and every night the click log is down for a while. Two streams take part: "front page", a Player that spends the
    traffic, and "headline test", an Explorer that certifies which headline is best.

    A service that is started here has a clock that runs fast. One that runs already keeps its own clock: there, a
    window of --day seconds stands for a day.
    """
    length = None if lasts is None else _seconds(lasts)
    if url is not None and key is None:
        raise ValueError("key must be given with url: `bestbefore keys make --scope write` makes one")
    with ExitStack() as stack:
        stack.enter_context(_stopped_like_by_hand())
        try:
            if url is not None:
                newsroom, clock = stack.enter_context(_elsewhere(url, str(key), day, seed)), None
            else:
                newsroom, clock = stack.enter_context(_here(day, seed, port))
            click.echo("Ctrl-C stops it." if length is None else f"It stops after {lasts}.")
            _run(newsroom, clock, day, length)
        except KeyboardInterrupt:
            click.echo("\nstopping")
            if "newsroom" not in locals():
                raise
        click.echo(f"{newsroom.articles} articles, {newsroom.views} page views; the newsroom is closed.")


@contextmanager
def _stopped_like_by_hand() -> Iterator[None]:
    """Have SIGTERM end it as Ctrl-C does, so that its database is deleted then, too."""
    if threading.current_thread() is not threading.main_thread():  # only there signals can be taken
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _seconds(lasts: str) -> float:
    from bestbefore.clock import window_of

    try:
        return window_of(lasts, "for").length / 1e6
    except ValueError:
        raise ValueError(f'for must be a time such as "2 min", not {lasts!r}') from None


@contextmanager
def _elsewhere(url: str, key: str, day: float, seed: int) -> "Iterator[Newsroom]":
    """Open a newsroom on a service that runs already."""
    from bestbefore.service.newsroom import Newsroom
    from bestbefore.store import connect

    with connect(url, key=key) as desk:
        newsroom = Newsroom(desk, day, time.time(), seed)
        newsroom.open()
        click.echo(
            f"A newsroom on {url}: log in there with a key, and see the streams 'front page' and 'headline test'."
        )
        click.echo(f"The service keeps its own clock: a window of {day:g} s stands for a day.")
        yield newsroom


@contextmanager
def _here(day: float, seed: int, port: int) -> "Iterator[tuple[Newsroom, ToldClock]]":
    """Start a service with a clock of its own, and open a newsroom on it."""
    try:
        from bestbefore.service.keys import Keys
        from bestbefore.service.newsroom import Newsroom
        from bestbefore.service.running import Running
        from bestbefore.service.settings import Settings
    except ModuleNotFoundError as wrong:
        raise ModuleNotFoundError(f"{NEEDED} ({wrong.name} is missing)") from None
    from bestbefore.store import connect

    clock, speed = ToldClock(FIRST_MORNING), round(DAY / day, 1)
    notice = (
        f"A demonstration in fast motion: this service's clock runs {speed:g} times as fast as yours, so that a day "
        f"takes {day:g} seconds, and it began on 31 December 2025. Articles, readers and clicks are made up."
    )
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="bestbefore-demo-"))
        url = f"sqlite:///{Path(folder) / 'newsroom.db'}"
        desk = stack.enter_context(connect(url, clock=clock, sweep="1 s"))
        keys = Keys(desk._store)  # type: ignore[arg-type]
        text = keys.make("demonstration", "admin")[1]
        click.echo("Compiling the rules, which takes a moment the first time ...")
        settings = Settings(db=url, silent="1 h", notice=notice, log="warning")
        running = stack.enter_context(Running(desk, keys, settings, port))
        client = stack.enter_context(connect(running.address, key=text))
        newsroom = Newsroom(client, DAY, clock(), seed)
        newsroom.open()
        click.echo(f"\n  Open  {running.address}/login\n  and paste this key:\n\n{text}\n")
        click.echo(f"A day of the newsroom takes {day:g} s: its clock runs {speed:g} times as fast as yours.")
        yield newsroom, clock


def _run(newsroom: "Newsroom", clock: ToldClock | None, day: float, lasts: float | None) -> None:
    """Let the newsroom work, until time is over."""
    until = None if lasts is None else time.monotonic() + lasts
    if clock is not None:
        click.echo("The first day is run through as fast as it goes, so that there is something to see ...")
        for _ in range(STEPS):
            clock.tell(clock() + DAY / STEPS)
            newsroom.step(clock())
            if until is not None and time.monotonic() >= until:
                return
        clock.run(DAY / day)
        click.echo("It is morning again.")
    now: Any = time.time if clock is None else clock
    while until is None or time.monotonic() < until:
        time.sleep(TICK if until is None else max(min(TICK, until - time.monotonic()), 0.0))
        newsroom.step(now())
