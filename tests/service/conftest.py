"""A service that really runs: uvicorn on a port of its own, on a file, with a clock that is told."""

import threading
from types import SimpleNamespace

import pytest

from bestbefore import connect
from bestbefore.service.keys import SCOPES, Keys
from bestbefore.service.running import Running
from bestbefore.service.settings import Settings
from bestbefore.testing.stores import Clock


@pytest.fixture
def served(tmp_path):
    with serving(tmp_path) as found:
        yield found


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    """One for all tests of a module, which use streams of their own."""
    with serving(tmp_path_factory.mktemp("service")) as found:
        yield found


@pytest.fixture
def serve(tmp_path):
    """Serve with settings of one's own."""
    return lambda url=None, **settings: serving(tmp_path, url, **settings)


@pytest.fixture
def wait_until():
    """Wait for something that must come; a test that hangs here has failed."""

    def waiting(what):
        for _ in range(10_000):
            if what():
                return
            threading.Event().wait(0.01)
        raise AssertionError("it did not come")

    return waiting


class serving:
    """Runs a server in a thread; what it serves, and how, is at hand."""

    def __init__(self, folder, url=None, **settings):
        self.url, self.settings = url or f"sqlite:///{folder}/streams.db", settings

    def __enter__(self):
        clock = Clock()
        self.desk = connect(self.url, clock=clock, sweep=None)
        keys = Keys(self.desk._store)
        texts = {scope: keys.make(f"for {scope}", scope)[1] for scope in SCOPES}
        self.running = Running(self.desk, keys, Settings(db=self.url, **self.settings)).__enter__()
        return SimpleNamespace(
            desk=self.desk,
            keys=keys,
            texts=texts,
            key={"Authorization": f"Bearer {texts['admin']}"},
            address=self.running.address,
            port=self.running.port,
            clock=clock,
            app=self.running.app,
            running=self.running,
            open_calls=self.open_calls,
            connections=lambda: len(self.running.server.server_state.connections),
            url=self.url,
        )

    def open_calls(self):
        """Return how many requests are being served."""
        layer = self.running.app.middleware_stack
        while not hasattr(layer, "_open"):
            layer = layer.app
        return layer._open

    def __exit__(self, *_):
        self.running.close()
        self.desk.close()
