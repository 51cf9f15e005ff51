"""The page: which arm is best now, and why, for people; made on the server, with nothing from outside."""

from fastapi import FastAPI

from bestbefore.service.keys import Keys
from bestbefore.service.page.routes import pages
from bestbefore.service.page.sessions import Sessions
from bestbefore.service.settings import Settings


def install(app: FastAPI, keys: Keys, settings: Settings) -> None:
    """Add the page to an app."""
    app.state.sessions = Sessions(keys, app.state.bridge, settings.secret)
    app.include_router(pages, include_in_schema=False)
