"""The addresses of the page.  Each but the log-in needs a session, and no GET changes anything."""

from collections.abc import Awaitable, Callable
from typing import Any, Final
from urllib.parse import quote

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from bestbefore.errors import UnknownArm
from bestbefore.service import facts
from bestbefore.service.addresses import decoded
from bestbefore.service.calls import call_of
from bestbefore.service.keys import Key
from bestbefore.service.models import Withdrawal
from bestbefore.service.page import views
from bestbefore.service.page.sessions import Sessions, is_ours
from bestbefore.store.totals import SPANS
from bestbefore.store.wire import problem_of

AT_ONCE: Final = 25
"""How many streams the list shows at once."""

pages: Final = APIRouter()
Handler = Callable[[Request, Key], Awaitable[Response]]


def _sessions(request: Request) -> Sessions:
    found: Sessions = request.app.state.sessions
    return found


def _address(name: str) -> str:
    return f"/streams/{quote(name, safe='')}"


def _shown(request: Request, template: str, status: int = 200, key: Key | None = None, **told: Any) -> Response:
    """Return a page."""
    more = {"key": key, "notice": request.app.state.settings.notice, "token": _sessions(request).form_token(request)}
    return views.page(template, status, **more, **told)


async def _with_session(request: Request, handler: Handler, *, part: bool = False) -> Response:
    """Serve whoever has logged in; others are asked to, and errors are pages, too."""
    key = await _sessions(request).key_of(request)
    if key is None:
        return _shown(request, "login.html", 401, wrong=None) if part else RedirectResponse("/login", 303)
    try:
        return await handler(request, key)
    except (ValueError, LookupError, OSError) as wrong:
        problem = problem_of(wrong)
        if problem is None:
            raise
        return _shown(request, "wrong.html", problem.status, key, title=problem.title, detail=str(wrong))


async def _form(request: Request, key: Key | None = None) -> dict[str, str]:
    """Return what a form has sent, if a page of ours did."""
    if not request.headers.get("content-type", "").startswith("application/x-www-form-urlencoded"):
        raise ValueError("body must be a form of this page")
    sent = {name: value for name, value in (await request.form()).items() if isinstance(value, str)}
    ours = is_ours(request) if key is None else _sessions(request).may_send(request, sent.get("token"))
    if not ours:
        raise PermissionError("this form was not sent by this page: open the page again, and send it from there")
    return sent


@pages.get("/login")
async def ask_for_key(request: Request) -> Response:
    """Show the form to log in with."""
    return _shown(request, "login.html", wrong=None)


@pages.post("/login")
async def log_in(request: Request) -> Response:
    """Begin a session."""
    try:
        sent = await _form(request)
    except (ValueError, PermissionError) as wrong:
        return _shown(request, "login.html", 403, wrong=str(wrong))
    response = RedirectResponse("/", 303)
    if await _sessions(request).log_in(request, response, sent.get("key", "").strip()) is None:
        return _shown(request, "login.html", 401, wrong="This key is not known, or was revoked.")
    return response


@pages.post("/logout")
async def log_out(request: Request) -> Response:
    """End a session."""

    async def handler(request: Request, key: Key) -> Response:
        try:
            await _form(request, key)
        except PermissionError as wrong:
            return _shown(request, "wrong.html", 403, key, title="Not done", detail=str(wrong))
        response = RedirectResponse("/login", 303)
        _sessions(request).log_out(request, response)
        return response

    return await _with_session(request, handler)


def _list(template: str) -> Handler:
    async def handler(request: Request, key: Key) -> Response:
        bridge, after = request.app.state.bridge, request.app.state.settings.silent_after
        start = request.query_params.get("from", "0")
        first = int(start) if start.isdigit() and len(start) < 9 else 0
        told = await bridge.read(views.listed, bridge.desk, after, first, AT_ONCE)
        return _shown(request, template, key=key, **told)

    return handler


@pages.get("/")
async def streams(request: Request) -> Response:
    """List the streams."""
    return await _with_session(request, _list("streams.html"))


@pages.get("/now")
async def streams_now(request: Request) -> Response:
    """Return what changes of the list."""
    return await _with_session(request, _list("streams_now.html"), part=True)


def _stream(template: str) -> Handler:
    async def handler(request: Request, key: Key) -> Response:
        name, span = await decoded(request.path_params["name"]), request.query_params.get("span")
        if span is not None and span not in SPANS:
            raise ValueError(f"span must be one of {', '.join(SPANS)}, not {span!r}")
        bridge, after = request.app.state.bridge, request.app.state.settings.silent_after
        every = request.query_params.get("arms") == "all"
        found, past = await bridge.read(facts.look_at_all, bridge.desk, name, after, span)
        told = {"address": _address(name), "may_write": key.may("write"), "every": every, "given": span}
        told |= views.of_stream(found, past, every)
        return await bridge.read(_shown, request, template, 200, key, **told)  # type: ignore[no-any-return]

    return handler


@pages.get("/streams/{name}")
async def stream(request: Request, name: str) -> Response:
    """Show a stream."""
    return await _with_session(request, _stream("stream.html"))


@pages.get("/streams/{name}/now")
async def stream_now(request: Request, name: str) -> Response:
    """Return what changes of a stream's page."""
    return await _with_session(request, _stream("stream_now.html"), part=True)


async def _arm(request: Request, name: str, arrival: str | None) -> dict[str, Any]:
    """Return what is known of the arm of a number."""
    bridge, after = request.app.state.bridge, request.app.state.settings.silent_after
    found = await bridge.read(facts.look, bridge.desk, name, after)
    for arm in found["arms"]:
        if str(arm["arrival"]) == arrival:
            return dict(arm)
    raise UnknownArm("this arm is not in memory: it was let go, withdrawn, or has expired")


def _refused(request: Request, key: Key) -> Response:
    detail = f"This needs a key of scope 'write'; yours has '{key.scope}'."
    return _shown(request, "wrong.html", 403, key, title="Your key may not do this", detail=detail)


@pages.get("/streams/{name}/withdraw")
async def look_again(request: Request, name: str) -> Response:
    """Show what would be withdrawn, and ask."""

    async def handler(request: Request, key: Key) -> Response:
        if not key.may("write"):
            return _refused(request, key)
        stream = await decoded(request.path_params["name"])
        arm = await _arm(request, stream, request.query_params.get("arrival"))
        return _shown(request, "withdraw.html", key=key, stream=stream, address=_address(stream), arm=arm)

    return await _with_session(request, handler)


@pages.post("/streams/{name}/withdraw")
async def withdraw(request: Request, name: str) -> Response:
    """Withdraw an arm, by its number, as the second look has asked."""

    async def handler(request: Request, key: Key) -> Response:
        if not key.may("write"):
            return _refused(request, key)
        try:
            sent = await _form(request, key)
        except PermissionError as wrong:
            return _shown(request, "wrong.html", 403, key, title="Not done", detail=str(wrong))
        stream = await decoded(request.path_params["name"])
        arm = await _arm(request, stream, sent.get("arrival"))
        if sent.get("sure") != "yes":
            raise ValueError("sure must be yes: look at the arm first, and confirm")
        call, bridge = call_of(stream, "withdraw", Withdrawal(arm=arm["arm"])), request.app.state.bridge
        await bridge.carry_out([call])
        call.result()
        await bridge.write(bridge.desk.erase)
        return RedirectResponse(_address(stream), 303)

    return await _with_session(request, handler)


@pages.get("/static/{file}")
async def static(request: Request, file: str) -> Response:
    """Return the style, the script or the icon."""
    return views.file(file, request.headers.get("if-none-match"))
