"""Sessions: who has logged in with a key holds a cookie that is signed, and that does not hold the key.

A cookie names the key by its id.  It is looked up with each request, so that a key that is revoked ends its sessions.
Nothing is stored on the server: who logs out loses the cookie, and a cookie ends by itself after `LASTS` seconds.
"""

import hashlib
import hmac
import secrets
import time
from typing import Any, Final
from urllib.parse import urlsplit

from fastapi import Request, Response

from bestbefore.service.bridge import Bridge
from bestbefore.service.keys import Key, Keys

LASTS: Final = 7 * 86400
"""For how many seconds a session lasts."""

_NO: Final = "0" * 64


class Sessions:
    """Signs cookies, and reads them back."""

    def __init__(self, keys: Keys, bridge: Bridge, secret: str) -> None:
        self._keys, self._bridge = keys, bridge
        self._secret = hashlib.sha256(b"bestbefore" + (secret.encode() or secrets.token_bytes(32))).digest()

    async def log_in(self, request: Request, response: Response, text: str) -> Key | None:
        """Begin a session for whoever knows a key; return the key, or None if it is no key."""
        key: Key | None = await self._bridge.read(self._keys.find, text)
        if key is not None:
            said = f"{key.id}.{int(time.time()) + LASTS}.{secrets.token_urlsafe(12)}"
            response.set_cookie(_cookie(request), f"{said}.{self._sign('session', said)}", LASTS, **_flags(request))
        return key

    def log_out(self, request: Request, response: Response) -> None:
        """Have the browser forget the session."""
        response.delete_cookie(_cookie(request), **_flags(request))

    async def key_of(self, request: Request) -> Key | None:
        """Return the key of a session, if there is one and its key still opens something."""
        said, _, sign = request.cookies.get(_cookie(request), "").rpartition(".")
        parts = said.split(".")
        right = hmac.compare_digest(self._sign("session", said).encode(), sign.encode("utf-8", "replace"))
        if not right or len(parts) != 3 or int(parts[1]) < time.time():
            return None
        key: Key | None = await self._bridge.read(self._keys.of_id, parts[0])
        request.scope["bestbefore.key"] = key
        return key

    def form_token(self, request: Request) -> str:
        """Return what a form of this session must send along: no page elsewhere can know it."""
        return self._sign("form", request.cookies.get(_cookie(request), _NO))

    def may_send(self, request: Request, token: Any) -> bool:
        """Say whether a form was sent by a page of ours, in this session."""
        same = hmac.compare_digest(self.form_token(request).encode(), str(token).encode("utf-8", "replace"))
        return same and is_ours(request)

    def _sign(self, what: str, text: str) -> str:
        return hmac.new(self._secret, f"{what} {text}".encode("utf-8", "replace"), hashlib.sha256).hexdigest()


def is_ours(request: Request) -> bool:
    """Say whether a request comes from a page of ours, as far as the browser says where it comes from."""
    site, origin = request.headers.get("sec-fetch-site", "same-origin"), request.headers.get("origin")
    return site in ("same-origin", "none") and origin in (None, _origin(request))


def _origin(request: Request) -> str:
    """Return where the page is, as browsers say it; behind a proxy that ends TLS, it is what they have asked for."""
    given = urlsplit(request.headers.get("origin", ""))
    host = request.headers.get("host", "")
    return f"{given.scheme if given.scheme in ('http', 'https') else request.url.scheme}://{host}"


def _cookie(request: Request) -> str:
    """Return the name of the cookie: services on several ports of a machine share their cookies."""
    return f"bestbefore_{request.url.port or 0}"


def _flags(request: Request) -> dict[str, Any]:
    return {"httponly": True, "samesite": "lax", "secure": request.url.scheme == "https", "path": "/"}
