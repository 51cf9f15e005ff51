"""`bestbefore db`: databases of durable streams, moved and looked at."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

import click

if TYPE_CHECKING:
    from bestbefore.store.engines import SqlStore


@click.group(short_help="Databases of durable streams: migrate, copy, check, export, import, sweep.")
def db() -> None:
    """Move databases of durable streams, and look at them.

    A URL is like sqlite:///headlines.db or postgresql://user@host/database.
    """


@contextmanager
def _opened(url: str, *, ready: bool = True) -> "Iterator[SqlStore]":
    """Open a database that is there, and of this version if it is to be `ready`."""
    from bestbefore.store import open_store
    from bestbefore.store.migrate import check_ready

    store = open_store(url)
    try:
        if ready:
            check_ready(store)
        yield store
    finally:
        store.close()


@db.command()
@click.argument("url")
def migrate(url: str) -> None:
    """Make the tables in the database at URL, or bring them to this version."""
    from bestbefore.store.migrate import migrate as bring

    with _opened(url, ready=False) as store:
        before, now = bring(store)
    click.echo(f"already at version {now}" if before == now else f"from version {before or 'none'} to {now}")


@db.command()
@click.argument("source")
@click.argument("target")
def copy(source: str, target: str) -> None:
    """Copy all streams from SOURCE to TARGET, while nothing writes, and compare counts and checksums.

    Run it again if it was interrupted.
    """
    from bestbefore.store import moving
    from bestbefore.store.migrate import prepare

    with _opened(source) as one, _opened(target, ready=False) as other:
        prepare(other)
        sums = moving.copy(one, other)
    for name, found in sums.items():
        click.echo(f"{name}: {found.arms} arms, {found.pulls} pulls, checksum {found.checksum[:12]}")
    click.echo(f"{len(sums)} streams are the same in both")


@db.command()
@click.argument("url")
def check(url: str) -> None:
    """Check that each stream's state loads and fits its ledger; the exit code is 1 if one does not."""
    from bestbefore.store import moving

    with _opened(url) as store:
        found = moving.problems(store)
    for name, wrong in found.items():
        click.echo(f"{name}: {'; '.join(wrong) or 'fine'}")
    bad = sum(map(bool, found.values()))
    click.echo(f"{len(found) - bad} of {len(found)} streams are fine")
    if bad:
        sys.exit(1)


@db.command()
@click.argument("url")
@click.argument("name")
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="A file, instead of the screen.")
def export(url: str, name: str, output: Path | None) -> None:
    """Write the stream NAME as JSON, the names of its arms included."""
    from bestbefore.store import moving

    with _opened(url) as store:
        text = json.dumps(moving.exported(store, name), ensure_ascii=False, indent=1)
    if output is None:
        click.echo(text)
    else:
        output.write_text(text + "\n", "utf-8")


@db.command(name="import")
@click.argument("url")
@click.argument("file", type=click.File(encoding="utf-8"), default="-")
def import_(url: str, file: IO[str]) -> None:
    """Put a stream that was exported into the database at URL, from FILE or from the standard input."""
    from bestbefore.store import moving
    from bestbefore.store.migrate import prepare

    try:
        data = json.load(file)
    except (ValueError, RecursionError) as wrong:
        raise click.UsageError(f"the file must be JSON as `bestbefore db export` writes it: {wrong}") from None
    with _opened(url, ready=False) as store:
        prepare(store)
        click.echo(f"stream {moving.imported(store, data)!r} is there")


@db.command()
@click.argument("url")
def sweep(url: str) -> None:
    """Do what is due in all streams, and erase what has expired; for a timer, where no process of yours sweeps."""
    from bestbefore.store import connect

    with _opened(url):
        pass
    with connect(url, sweep=None) as desk:
        done = desk.sweep()
    click.echo(f"{done.streams} streams had something due; {sum(map(len, done.gone.values()))} arms were let go")
    click.echo("all deleted names are erased" if done.erased else "bytes of deleted names are left: sweep again")
    for name, wrong in done.failed.items():
        click.echo(f"{name}: {wrong}", err=True)
    if done.failed:
        sys.exit(1)
