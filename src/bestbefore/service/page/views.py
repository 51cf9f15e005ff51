"""What a page is made of: a template, facts, and answers that no browser can misread."""

import hashlib
from importlib import resources
from typing import Any, Final
from urllib.parse import quote

from fastapi import Response
from jinja2 import Environment, PackageLoader, StrictUndefined

from bestbefore.errors import UnknownStream
from bestbefore.service import problems
from bestbefore.service.facts import look
from bestbefore.service.page import charts, shown
from bestbefore.service.sentences import counted, time_words, window_words
from bestbefore.store.desk import Desk
from bestbefore.store.totals import SPANS

MOST_ARMS: Final = 100
"""How many arms are shown unless all are asked for."""

HEADERS: Final = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}

_KINDS: Final = {"page.css": "text/css", "page.js": "text/javascript", "icon.svg": "image/svg+xml"}
_FILES: Final = {
    name: resources.files("bestbefore.service.page").joinpath("static", name).read_bytes() for name in _KINDS
}
_TAGS: Final = {name: f'"{hashlib.sha256(text).hexdigest()[:16]}"' for name, text in _FILES.items()}

_templates: Final = Environment(
    loader=PackageLoader("bestbefore.service.page"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_templates.globals |= {
    "shown": shown,
    "charts": charts,
    "window_words": window_words,
    "time_words": time_words,
    "counted": counted,
    "spans": list(SPANS),
    "quoted": lambda name: quote(name, safe=""),
    "link": lambda name: f"/streams/{quote(name, safe='')}",
    "static": lambda name: f"/static/{name}?{_TAGS[name][1:9]}",
}


def page(template: str, status: int, **told: Any) -> Response:
    """Return a page as an answer."""
    text = _templates.get_template(template).render(told)
    return Response(text.encode("utf-8", "replace"), status, HEADERS, "text/html; charset=utf-8")


def file(name: str, known: str | None) -> Response:
    """Return a file of ours, unless the browser has it."""
    if name not in _FILES:
        return problems.refusal(404, "there is nothing at this address: / is the page")
    headers = HEADERS | {"Cache-Control": "public, max-age=3600", "ETag": _TAGS[name]}
    if known == _TAGS[name]:
        return Response(status_code=304, headers=headers)
    return Response(_FILES[name], 200, headers, f"{_KINDS[name]}; charset=utf-8")


def listed(desk: Desk, silent_after: int, first: int, most: int) -> dict[str, Any]:
    """Return what the list of streams shows: some of them, with their facts."""
    names = desk.streams()
    found = []
    for name in names[first : first + most]:
        try:
            found.append(look(desk, name, silent_after))
        except UnknownStream:
            continue  # it was dropped meanwhile
        except (ValueError, OSError) as wrong:
            found.append({"name": name, "wrong": str(wrong)})
    later = first + most if first + most < len(names) else None
    return {"streams": found, "many": len(names), "first": first, "later": later, "sooner": max(first - most, 0)}


def of_stream(facts: dict[str, Any], past: dict[str, Any], every: bool) -> dict[str, Any]:
    """Return what the page of a stream shows."""
    arms = facts["arms"] if every else facts["arms"][:MOST_ARMS]
    return {"facts": facts, "past": past, "arms": arms, "scale": charts.scale_of(facts["arms"])}
