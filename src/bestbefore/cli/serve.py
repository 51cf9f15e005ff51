"""`bestbefore serve`: durable streams over HTTP."""

from typing import Any

import click

NEEDED = "bestbefore serve needs FastAPI and uvicorn: pip install 'bestbefore[serve]'"


@click.command(short_help="Serve durable streams over HTTP, with keys and a page.")
@click.option("--db", metavar="URL", help="The database; unless given, a file of SQLite in your data folder.")
@click.option("--host", help="Where to listen, 127.0.0.1 unless given. Other hosts need a key that was made before.")
@click.option("--port", type=int, help="The port, 8000 unless given.")
@click.option("--workers", type=int, help="How many processes serve; more than one needs PostgreSQL.")
@click.option("--sweep", metavar="TIME", help='How often what is due is done where nobody calls: "1 min" unless given.')
@click.option("--most-bytes", type=int, help="The longest body of a request, 1000000 unless given.")
@click.option("--most-calls", type=int, help="How many requests are served at once, 1000 unless given.")
@click.option("--patience", type=float, help="Seconds that a client may take to send a request, 20 unless given.")
@click.option("--silent", metavar="TIME", help='After how long without rewards a stream is silent: "1 h" unless given.')
@click.option("--notice", metavar="TEXT", help="A line that the page shows on top.")
@click.option(
    "--secret", metavar="TEXT", help="What signs the page's sessions: set BESTBEFORE_SECRET for several machines."
)
@click.option(
    "--log", type=click.Choice(["info", "warning"]), help="Whether each request is logged; info unless given."
)
def serve(**given: Any) -> None:
    """Serve durable streams over HTTP, on 127.0.0.1:8000.

    The first start makes a key, and shows it once: send it as `Authorization: Bearer KEY`. More are made by
    `bestbefore keys make`. Each option can also be a variable: BESTBEFORE_DB, BESTBEFORE_PORT, and so on.
    """
    try:
        from bestbefore.service import server
        from bestbefore.service.keys import Keys
        from bestbefore.service.settings import Settings
    except ModuleNotFoundError as wrong:
        raise ModuleNotFoundError(f"{NEEDED} ({wrong.name} is missing)") from None
    from bestbefore.store import open_store
    from bestbefore.store.migrate import prepare

    settings = Settings.from_environment(**given)
    settings.make_folder()
    store = open_store(settings.db)
    try:
        prepare(store)
        keys = Keys(store)
        here = [key for key in keys.list() if key.revoked is None]
        if not here and not settings.on_loopback:
            raise ValueError(
                f"host must be 127.0.0.1 as long as there are no keys, not {settings.host!r}: "
                "make one first, with `bestbefore keys make` and the same --db"
            )
        server.check_free(settings)
        first = None if here else keys.make("first", "admin")[1]
    finally:
        store.close()
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    click.echo(f"Best Before on http://{host}:{settings.port}  (database: {store.shown})")
    click.echo(f"key, shown this once: {first}" if first else f"keys: {len(here)} (see `bestbefore keys list`)")
    server.run(settings)
