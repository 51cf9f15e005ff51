"""Tests on every supported version of Python that is installed: `nox`, or `nox -s tests-3.13 -- tests/test_api.py`.

Run by hand: each session makes an environment of its own and takes as long as the whole suite.
"""

import nox

nox.options.error_on_missing_interpreters = False
nox.options.sessions = ["tests"]


@nox.session(python=["3.11", "3.12", "3.13"])
def tests(session: nox.Session) -> None:
    """The whole suite, or what is named after `--`."""
    session.install("-e", ".[test]")
    session.run("pytest", *(session.posargs or ["-n", "auto", "--dist", "loadfile"]))


@nox.session
def coverage(session: nox.Session) -> None:
    """Which lines the tests reach, those of compiled functions left out; it takes longer than the tests."""
    session.install("-e", ".[test]", "coverage>=7.10")
    session.run("coverage", "run", "-m", "pytest", *(session.posargs or ["-q"]), success_codes=[0, 1])
    session.run("coverage", "combine")
    session.run("coverage", "report", "--show-missing")


@nox.session
def site(session: nox.Session) -> None:
    """The site, in site/."""
    session.install("-e", ".[docs,test]")
    session.run("mkdocs", "build", "--strict")
