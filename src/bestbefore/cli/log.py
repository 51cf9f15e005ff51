"""`bestbefore log`: what happened in a durable stream, as a log that `bestbefore replay` reads."""

import csv
import json
import os
import shlex
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from bestbefore.store.logs import Logged

COLUMNS = ("arm", "arrived", "asked", "reward", "propensity", "how", "id")


@click.command(short_help="Write what happened in a durable stream as a log that `replay` reads.")
@click.argument("url")
@click.argument("stream")
@click.option("-o", "--out", type=click.Path(dir_okay=False, path_type=Path), help="A file, instead of the screen.")
@click.option("--append", is_flag=True, help="Add to the file what is not in it yet: run this often, as with cron.")
@click.option(
    "--totals", type=click.Path(dir_okay=False, path_type=Path), help="Write pulls and mean of each arm to this file."
)
@click.option("--key", envvar="BESTBEFORE_KEY", help="For a server: a key that may read.  [variable: BESTBEFORE_KEY]")
def log(url: str, stream: str, out: Path | None, append: bool, totals: Path | None, key: str | None) -> None:
    """Write the pulls of STREAM as CSV: those that have a reward, of arms that are still here.

    URL is a database or a server, as for connect().  The column `propensity` has the probability with which the arm was
    chosen, where the pull rule draws and knows it (inf).  Where nothing is drawn it says "deterministic", and where the
    probability is not known, "unknown".

    When an arm goes, its name is erased, and its pulls can no longer be written.  So write the log often, with
    --append.  The file is yours: what expires in the stream is not erased in it.

    \b
    bestbefore log sqlite:///headlines.db front-page --out log.csv --append
    bestbefore log http://localhost:8000 front-page --out log.csv --append
    """
    from bestbefore.store import connect

    if append and out is None:
        raise ValueError("--append must be given with --out: there is no file to add to")
    if out is not None and out.exists() and not append:
        raise ValueError(f"{out} is there already: add to it with --append, or write another file")
    served = url.startswith(("http://", "https://"))
    if not served:
        _check_there(url)
    known = _ids_in(out) if append and out is not None and out.exists() else None
    with connect(url, sweep=None, key=key if served else None) as desk:
        found, nameless, after = list["Logged"](), 0, ""
        while True:
            page = desk.log_page(stream, after)
            found, nameless = found + page.rows, nameless + page.nameless
            if page.last is None:
                break
            after = page.last
        agent = desk.stream(stream).look()
    new = sorted((row for row in found if known is None or row.id not in known), key=lambda row: (row.asked, row.id))
    with _opened(out, again=known is not None) as file:
        _write(file, new, header=known is None)
    if totals is not None:
        with totals.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([("arm", "pulls", "mean"), *_totals(agent)])
    _say(new, nameless, len(agent.means()), out, agent)


def _check_there(url: str) -> None:
    """Complain of a database that is not there: to look must not make one."""
    from bestbefore.store import open_store
    from bestbefore.store.migrate import check_ready

    store = open_store(url)
    try:
        check_ready(store)
    finally:
        store.close()


def _ids_in(path: Path) -> set[str]:
    """Return the ids of the pulls that are in a file already."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = csv.reader(file)
        header = next(rows, None)
        if header is None or tuple(header) != COLUMNS:
            raise ValueError(f"{path} must have the columns {','.join(COLUMNS)} to be added to, not {header}")
        return {row[-1] for row in rows if row}


@contextmanager
def _opened(out: Path | None, *, again: bool) -> Iterator[IO[str]]:
    """Open what is written to: a file changes whole or not at all, so that no line is ever cut in half."""
    if out is None:
        yield sys.stdout
        return
    place = out.resolve()  # of a link, what it leads to
    half = place.with_name(f".{place.name}.{os.getpid()}")
    try:
        if again:
            with place.open("a"):  # may it be changed?
                shutil.copy2(place, half)
        with half.open("a", newline="", encoding="utf-8") as file:
            yield file
        half.replace(place)
    finally:
        half.unlink(missing_ok=True)


def _write(file: IO[str], rows: "list[Logged]", *, header: bool) -> None:
    writer = csv.writer(file, lineterminator="\n")
    if header:
        writer.writerow(COLUMNS)
    for row in rows:
        times = row.arrived.isoformat(), row.asked.isoformat()
        writer.writerow([name_in_a_cell(row.arm), *times, row.reward, row.propensity, row.how, row.id])


def name_in_a_cell(arm: Any) -> str:
    """Write the name of an arm so that no two look the same: text as it is, unless it could be read as JSON.

    >>> [name_in_a_cell(arm) for arm in ("storm", 7, "7", ("a", 1), True, " ")]
    ['storm', '7', '"7"', '["a", 1]', 'true', '" "']
    """
    if not isinstance(arm, str):
        return json.dumps(arm, ensure_ascii=False)
    try:
        json.loads(arm)
    except ValueError:
        return arm if arm.strip() else json.dumps(arm, ensure_ascii=False)
    return json.dumps(arm, ensure_ascii=False)


def _totals(agent: Any) -> Iterator[tuple[str, int, float | str]]:
    """Yield what is known of each arm that is here, in the reader's unit."""
    pulls = {agent_arm["arrival"]: agent_arm["pulls"] for agent_arm in agent.state()["arms"]}
    for arm, mean in agent.means().items():
        yield name_in_a_cell(arm), pulls[agent.arrival_of(arm)], "" if mean is None else mean


def _say(rows: "list[Logged]", nameless: int, arms: int, out: Path | None, agent: Any) -> None:
    """Say what was written, what could not be, and how to go on; not where the log itself is on the screen."""
    from bestbefore.clock import said, window_of
    from bestbefore.store.logs import DETERMINISTIC, UNKNOWN

    def say(text: str) -> None:
        click.echo(text, err=out is None)

    say(f"pulls written: {len(rows):,}, of {len({row.arm for row in rows}):,} of the {arms:,} arms that are here")
    if nameless:
        say(f"pulls of arms that have gone: {nameless:,}; they are not in this log, unless it was written before")
    for word, why in (
        (DETERMINISTIC, "its pull rule draws nothing"),
        (UNKNOWN, "the probability is not known of pages, of rules such as thompson, and of older pulls"),
    ):
        count = sum(row.propensity == word for row in rows)
        if count:
            say(
                f"propensity is {word!r} in {count:,} rows ({why}): replay cannot say from them what another would gain"
            )
    if out is not None:
        length = shlex.quote(str(said(window_of(agent.window))))
        columns = "--arm arm --reward reward --time asked --arrived arrived --propensity propensity"
        low, high = agent.scale
        scale = "" if (low, high) == (0, 1) else f" --scale {low:g} {high:g}"
        say(f"next: bestbefore replay {shlex.quote(str(out))} {columns} --window {length}{scale}")
