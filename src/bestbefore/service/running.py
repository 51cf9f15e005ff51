"""A service in a thread of this process: for tests, notebooks and demonstrations."""

import threading
from types import TracebackType
from typing import Any, Self

import uvicorn

from bestbefore.service.app import create_app
from bestbefore.service.keys import Keys
from bestbefore.service.server import Protocol
from bestbefore.service.settings import Settings
from bestbefore.store.desk import Desk


class Running:
    """Serves a desk on a free port of this machine, until its block ends; the desk stays open."""

    def __init__(self, desk: Desk, keys: Keys, settings: Settings, port: int = 0) -> None:
        self.app = create_app(desk, keys, settings)
        self._started = threading.Event()
        config = uvicorn.Config(
            self.app,
            host="127.0.0.1",
            port=port,
            http=Protocol,
            ws="none",
            access_log=False,
            log_config=None,
            server_header=False,
            timeout_graceful_shutdown=30,
            lifespan="on",
        )
        self.server = _Server(config, self._started)
        self._thread = threading.Thread(target=self._serve, name="bestbefore-service", daemon=True)

    def _serve(self) -> None:
        try:
            self.server.run()
        finally:
            self._started.set()

    @property
    def port(self) -> int:
        """The port."""
        return int(self.server.servers[0].sockets[0].getsockname()[1])

    @property
    def address(self) -> str:
        """Where it is served."""
        return f"http://127.0.0.1:{self.port}"

    def stop(self) -> None:
        """Take in nothing more, and answer what was taken in; `close` waits for that."""
        self.server.should_exit = True

    def close(self) -> None:
        """Stop, and return when all is answered."""
        self.stop()
        self._thread.join()

    def __enter__(self) -> Self:
        self._thread.start()
        self._started.wait()
        if not self.server.started:
            raise RuntimeError("the service did not start: see its log")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


class _Server(uvicorn.Server):
    """A server that says when it has started."""

    def __init__(self, config: uvicorn.Config, ready: threading.Event) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: Any = None) -> None:
        """Start, and say so."""
        await super().startup(sockets)
        self._ready.set()
