"""The server: uvicorn, in one process or several, with patience for slow clients that ends."""

import asyncio
import gc
import os
import secrets
import socket
import sys
import tempfile
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, Final

import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol

from bestbefore.service import logs
from bestbefore.service.app import create_app
from bestbefore.service.keys import Keys
from bestbefore.service.metrics import MANY
from bestbefore.service.settings import Settings
from bestbefore.store import connect
from bestbefore.store.engines import SqlStore

GRACE: Final = 30
"""For how many seconds a server that stops waits until what it took in is answered."""

SLOW: Final = 120
"""For how many seconds a worker process may be silent before it is ended and another started: while it imports and
compiles on a busy machine it is silent, and 5 seconds, as uvicorn has it, may never be enough."""

SWITCH: Final = 0.0002
"""After how many seconds Python lets another thread go on.  A transaction is many short waits for the database, and
after each the committing thread would wait for the event loop's turn to end: 5 ms, where Python is left to itself."""

_HEAD: Final = 20.0
"""For how many seconds the head of a request is waited for."""

_UNREAD: Final = 60.0
"""For how many seconds a client may leave an answer unread that does not fit into the buffers between."""


class Protocol(H11Protocol):
    """HTTP that does not wait for ever: neither for the head of a request, nor until an answer is read."""

    _late: asyncio.TimerHandle | None = None
    _unread: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Take what came; while no request is complete, the time runs."""
        super().data_received(data)
        serving = self.cycle is not None and not self.cycle.response_complete
        if serving:
            self._stop_waiting()
        elif self._late is None:
            self._wait()

    def on_response_complete(self) -> None:
        """Leave what comes next to the time for idle connections."""
        self._stop_waiting()
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._stop_waiting()
        self._stop_timing()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Give a client that does not read so much time, and then no more."""
        super().pause_writing()
        self._stop_timing()
        self._unread = self.loop.call_later(_UNREAD, self.transport.abort)

    def resume_writing(self) -> None:
        """Go on: it has read."""
        self._stop_timing()
        super().resume_writing()

    def _stop_timing(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def _wait(self) -> None:
        self._late = self.loop.call_later(_HEAD, self._give_up)

    def _stop_waiting(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _give_up(self) -> None:
        self._late = None
        if self.cycle is None or self.cycle.response_complete:
            self.transport.close()


def app_from_environment() -> FastAPI:
    """Return the app of a worker process: its settings are in the environment."""
    settings = Settings.from_environment()
    logs.set_up(settings.log)
    sys.setswitchinterval(SWITCH)
    desk = connect(settings.db, sweep=settings.sweep)
    store = desk._store
    if not isinstance(store, SqlStore):
        raise TypeError("a service needs a database")
    app = create_app(desk, Keys(store), settings)
    inner = app.router.lifespan_context

    @asynccontextmanager
    async def lifespan(served: FastAPI) -> Any:
        async with inner(served) as state:
            _spare_collections()
            yield state
        await asyncio.to_thread(desk.close)

    app.router.lifespan_context = lifespan
    return app


def _spare_collections() -> None:
    """Leave what is here at the start to the end: to look through it for garbage would stop all calls for 0.1 s."""
    gc.collect()
    gc.freeze()


def check_free(settings: Settings) -> None:
    """Raise a `ValueError` if nobody could listen there: before a key is made and shown in vain."""
    try:
        found = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        with socket.socket(found[0], found[1]) as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            trial.bind(found[4])
    except OSError as wrong:
        where = f"{settings.host!r}, port {settings.port}"
        raise ValueError(f"host and port must be free, and of this machine, not {where}: {wrong.strerror}") from None


def run(settings: Settings) -> None:
    """Serve until somebody stops it."""
    secret = settings.secret or secrets.token_urlsafe(32)  # all processes know the sessions of each
    os.environ |= replace(settings, secret=secret).environment()
    if settings.workers == 1:
        os.environ.pop(MANY, None)
        _run(settings)
        return
    with tempfile.TemporaryDirectory(prefix="bestbefore-numbers-") as folder:
        os.environ[MANY] = folder
        _run(settings)


def _run(settings: Settings) -> None:
    uvicorn.run(
        "bestbefore.service.server:app_from_environment",
        factory=True,
        host=settings.host,
        port=settings.port,
        workers=settings.workers,
        http=Protocol,
        ws="none",
        access_log=False,
        log_config=None,
        server_header=False,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=GRACE,
        timeout_worker_healthcheck=SLOW,
        lifespan="on",
    )
