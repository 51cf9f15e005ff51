"""Which call follows which, as links of OpenAPI: a reader sees how calls belong together, and so do tools that test."""

from typing import Any, Final

_NAME: Final = {"name": "$request.path.name"}
_OF_STREAM: Final = (
    "look_at_stream",
    "arrive",
    "ask",
    "best",
    "erased",
    "state",
    "advance",
    "tick",
    "finish",
    "drop_stream",
)
_PULL: Final = "$response.body#/pulls/0/id"


def _link(operation: str, body: Any = None) -> dict[str, Any]:
    return {"operationId": operation, "parameters": _NAME} | ({} if body is None else {"requestBody": body})


def _told(stream: Any) -> dict[str, Any]:
    told = {"stream": stream, "verb": "tell", "arguments": {"id": _PULL, "reward": 1.0}}
    return {"operationId": "batch", "requestBody": {"calls": [told]}}


_ARM: Final = {"arm": "$request.body#/arm"}

LINKS: Final[dict[str, dict[str, dict[str, Any]]]] = {
    "make_stream": {operation: _link(operation) for operation in _OF_STREAM},
    "arrive": {
        "ask": _link("ask"),
        "best": _link("best"),
        "arrive_again": _link("arrive", _ARM),
        "withdraw": _link("withdraw", _ARM),
        "learn": _link("learn", _ARM | {"valid": True}),
    },
    "ask": {
        "tell": _link("tell", {"id": _PULL, "reward": 1.0}),
        "tell_many": _link("tell_many", {"rewards": [{"id": _PULL, "reward": 0.0}]}),
        "give_up": _link("give_up", {"id": _PULL}),
        "ask_again": _link("ask", {"id": "$request.body#/id"}),
        "batch": _told("$request.path.name"),
    },
    "tell": {"best": _link("best"), "ask": _link("ask"), "tell_again": _link("tell", {"id": "$request.body#/id"})},
    "withdraw": {"erased": _link("erased"), "ask": _link("ask")},
    "drop_stream": {"look_at_stream": _link("look_at_stream")},
}
"""For each call those that can follow, with what they take from it."""


def add_links(description: dict[str, Any]) -> None:
    """Add links to each answer that says that all went well."""
    for methods in description["paths"].values():
        for operation in methods.values():
            links = LINKS.get(operation["operationId"])
            for status, answer in operation["responses"].items():
                if links and status.startswith("2"):
                    answer["links"] = links
