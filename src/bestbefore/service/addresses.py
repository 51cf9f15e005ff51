"""Names of streams in addresses: whatever a stream is called, its name is one part of the path.

Servers decode a path before they look at its parts, so that a name with a slash would be two.  Here the path stays as
it was sent, and a name is decoded where it is used.
"""

from typing import Annotated, Any, Final
from urllib.parse import unquote_to_bytes

from fastapi import Depends, Path

NAMED: Final = ("/v1/", "/streams/")
"""Where names stand in addresses: in those of the API, and in those of the page."""

_NAME: Final = Path(
    description="The name of a stream: 1 to 200 characters, percent-encoded.",
    max_length=2400,  # as it was sent
    json_schema_extra={"minLength": 1, "maxLength": 200, "pattern": r"^[^\x00]+$", "not": {"enum": [".", ".."]}},
    examples=["front page"],
)


def keep_as_sent(scope: Any) -> None:
    """Put a path that may have a name in it back to what was sent."""
    raw = scope.get("raw_path")
    if raw is not None and scope["path"].startswith(NAMED):
        scope["path"] = raw.partition(b"?")[0].decode("ascii", "replace")


async def decoded(name: Annotated[str, _NAME]) -> str:
    """Return the name of a stream."""
    try:
        found = unquote_to_bytes(name).decode()
    except UnicodeDecodeError:
        raise ValueError("name must be percent-encoded UTF-8") from None
    if not 1 <= len(found) <= 200 or "\0" in found or found in (".", ".."):
        raise ValueError(f"name must be a text of 1 to 200 characters, and not . or .., not {found!r}")
    return found


StreamName = Annotated[str, Depends(decoded)]
