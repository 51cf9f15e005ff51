"""`bestbefore keys`: who may use a service."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from bestbefore.service.keys import Keys

_DB = click.option(
    "--db", metavar="URL", envvar="BESTBEFORE_DB", help="The service's database, as for `bestbefore serve`."
)
_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group(short_help="Keys of a service: make, list, revoke.")
def keys() -> None:
    """Make, list and revoke the keys of a service.

    read looks; tell also asks and tells, as a web worker does; write also makes streams and lets arms arrive and go;
    admin also drops streams.  Only hashes are stored: a key is shown once.
    """


@contextmanager
def _opened(db: str | None) -> "Iterator[Keys]":
    from bestbefore.service.keys import Keys
    from bestbefore.service.settings import Settings
    from bestbefore.store import open_store
    from bestbefore.store.migrate import prepare

    settings = Settings(db=db or "")
    settings.make_folder()
    store = open_store(settings.db)
    try:
        prepare(store)
        yield Keys(store)
    finally:
        store.close()


def _shown(key: Any) -> dict[str, Any]:
    revoked = None if key.revoked is None else key.revoked.isoformat(timespec="seconds")
    made = key.made.isoformat(timespec="seconds")
    return {"id": key.id, "label": key.label, "scope": key.scope, "made": made, "revoked": revoked}


@keys.command()
@_DB
@click.option("--scope", type=click.Choice(["read", "tell", "write", "admin"]), default="tell", show_default=True)
@click.option("--label", default="unnamed", show_default=True, help="What the key is for, for whoever reads the list.")
@_JSON
def make(db: str | None, scope: str, label: str, as_json: bool) -> None:
    """Make a key, and show it once."""
    with _opened(db) as found:
        key, text = found.make(label, scope)
    click.echo(json.dumps(_shown(key) | {"key": text}) if as_json else text)


@keys.command(name="list")
@_DB
@_JSON
def list_(db: str | None, as_json: bool) -> None:
    """List all keys, without what is secret about them."""
    with _opened(db) as found:
        rows = [_shown(key) for key in found.list()]
    if as_json:
        click.echo(json.dumps(rows))
        return
    for row in rows:
        state = f"revoked {row['revoked']}" if row["revoked"] else "valid"
        click.echo(f"{row['id']}  {row['scope']:5}  made {row['made']}  {state}  {row['label']}")
    if not rows:
        click.echo("there are no keys: make one with `bestbefore keys make`")


@keys.command()
@click.argument("id")
@_DB
def revoke(id: str, db: str | None) -> None:
    """Revoke the key of this ID: within a second it opens nothing any more."""
    with _opened(db) as found:
        key = found.revoke(id)
    click.echo(f"key {key.id} ({key.label}) is revoked")
