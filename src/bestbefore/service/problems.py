"""Errors as problem documents (RFC 9457): what is wrong, where, and what is allowed."""

import json
import re
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any, Final

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from bestbefore.store.wire import PROBLEMS, TYPE, problem_of

MEDIA: Final = "application/problem+json"

AGAIN: Final = {"Retry-After": "1"}
"""When a call may be sent again that could not be served now."""

_FIELD: Final = re.compile(r"(\w+) must ")
_WORDS: Final = {400: "invalid", 401: "no-key", 403: "scope", 404: "unknown", 405: "method", 408: "slow", 413: "large"}


def document(error: BaseException) -> dict[str, Any] | None:
    """Return an error as a problem document, or None if nobody expected it."""
    problem = problem_of(error)
    if problem is None:
        return None
    found = {"type": TYPE + problem.word, "title": problem.title, "status": problem.status, "detail": str(error)}
    field = _FIELD.match(str(error)) if problem.status == HTTPStatus.UNPROCESSABLE_ENTITY else None
    return found | ({"errors": [{"field": field[1], "detail": str(error)}]} if field else {})


def answer(status: int, content: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> Response:
    """Return a problem document as an answer; what may be sent again says when."""
    more = AGAIN if status in (429, 503) else {}
    body = json.dumps(content).encode()  # in ASCII: whatever was sent, the answer can be written
    return Response(body, status, {**more, **(headers or {})}, MEDIA)


def of(error: BaseException) -> Response:
    """Return the answer to an error of a desk; one that nobody expected is raised."""
    found = document(error)
    if found is None:
        raise error
    return answer(found["status"], found)


def refusal(status: int, detail: str, headers: Mapping[str, str] | None = None, word: str | None = None) -> Response:
    """Return an answer that is not about a desk: a key that is missing, a body that is too long."""
    title = HTTPStatus(status).phrase
    kind = TYPE + (word or _WORDS.get(status, title.lower().replace(" ", "-")))
    return answer(status, {"type": kind, "title": title, "status": status, "detail": detail}, headers)


def invalid(errors: Sequence[Mapping[str, Any]]) -> Response:
    """Return the answer to a request that does not fit its description, field by field."""
    found = [{"field": _field(error["loc"]), "detail": str(error["msg"])} for error in errors]
    if any(error.get("type") == "json_invalid" for error in errors):
        found = [{"field": "body", "detail": "this must be JSON that can be read"}]
    problem = next(one for one in PROBLEMS if one.word == "invalid")
    detail = "; ".join(f"{one['field']}: {one['detail']}" for one in found[:5])
    head = {"type": TYPE + problem.word, "title": problem.title, "status": problem.status, "detail": detail}
    return answer(problem.status, {**head, "errors": found[:20]})


def _field(place: Sequence[object]) -> str:
    parts = [str(part) for part in place if part not in ("body", "query", "path")]
    return ".".join(parts) or "body"


def _methods(app: FastAPI, path: str) -> list[str]:
    """Return which methods an address of the API has."""
    parts = path.split("/")
    for known, methods in app.openapi()["paths"].items():
        here = known.split("/")
        if len(here) == len(parts) and all(a == b or a.startswith("{") for a, b in zip(here, parts, strict=True)):
            return sorted(method.upper() for method in methods)
    return []


def install(app: FastAPI) -> None:
    """Have an app answer errors by problem documents."""

    async def on_error(_: Request, error: Exception) -> Response:
        return of(error)

    async def on_invalid(_: Request, error: Exception) -> Response:
        return invalid(error.errors() if isinstance(error, RequestValidationError) else [])

    async def on_http(request: Request, error: Exception) -> Response:
        if not isinstance(error, HTTPException):
            raise error
        if error.status_code == HTTPStatus.BAD_REQUEST:
            return invalid([{"loc": ("body",), "msg": "this must be JSON that can be read"}])
        detail, headers = str(error.detail), error.headers
        if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
            allowed = _methods(app, request.scope["path"])
            headers = {"Allow": ", ".join(allowed)} if allowed else headers
            if allowed:
                detail = f"this address takes {' and '.join(allowed)}, not {request.method}"
        if error.status_code == HTTPStatus.NOT_FOUND:
            detail = "there is nothing at this address: /openapi.json lists what there is"
        return refusal(error.status_code, detail, headers)

    for problem in PROBLEMS:
        app.add_exception_handler(problem.error, on_error)
    app.add_exception_handler(RequestValidationError, on_invalid)
    app.add_exception_handler(HTTPException, on_http)
