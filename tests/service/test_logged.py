"""The log of a stream over HTTP: the same rows as from the database, page by page, and by the command."""

from click.testing import CliRunner

from bestbefore import Player, connect
from bestbefore.cli import commands


def test_a_server_has_the_same_log(service, monkeypatch):
    page = service.desk.stream("logged", Player, window="1h", memory=3, pull="inf", seed=1)
    for arm in ("a", ("b", 1), 3):
        page.arrive(arm)
    for number in range(5):
        page.tell(page.ask(id=f"{number} &?/").id, number % 2)
    with connect(service.address, key=service.texts["read"]) as there:
        monkeypatch.setattr("bestbefore.store.remote.MOST", 2)
        assert list(there.stream("logged").log()) == list(page.log())
        assert there.log_page("logged", "1 &?/", 2) == service.desk.log_page("logged", "1 &?/", 2)
    arguments = ["log", service.address, "logged", "--key", service.texts["read"]]
    done = CliRunner().invoke(commands, arguments, catch_exceptions=False)
    assert len(done.stdout.splitlines()) == 6
    assert "pulls written: 5, of 3 of the 3 arms" in done.stderr
