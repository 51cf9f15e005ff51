"""`connect("http://...")` is the very same desk: on a server that runs, it passes the suite of databases."""

import pytest

from bestbefore import connect
from bestbefore.testing.stores import check_desk


@pytest.mark.parametrize("seed", [1, 2])
def test_a_desk_on_a_server_keeps_all_promises_of_a_desk(served, seed):
    check_desk(lambda: connect(served.address, key=served.texts["admin"]), served.clock, seed=seed)
