"""Calls that come by the thousand go a shorter way; they are answered as on the long one, to the letter."""

import httpx
import pytest

from bestbefore import Explorer
from bestbefore.service import hot

CALLS = [
    ("pulls", {"id": "a"}),
    ("pulls", {"id": "a"}),
    ("pulls", {"id": "b", "count": 2}),
    ("pulls", {"k": 2}),
    ("pulls", {"id": "c", "k": 2, "count": 2}),
    ("pulls", {"id": ""}),
    ("rewards", {"id": "a", "reward": 1.0}),
    ("rewards", {"id": "a", "reward": 0.5}),
    ("rewards", {"id": "nobody", "reward": 0.5}),
    ("rewards", {"id": "a"}),
    ("rewards", {"id": "a", "reward": True}),
    ("rewards", {"id": "a", "reward": 7}),
    ("rewards", [1]),
    ("rewards/batch", {"rewards": [{"id": "b/1", "reward": 1}, {"id": "nobody", "reward": 1}]}),
    ("rewards/batch", {"rewards": []}),
]


def replies(served, stream, texts):
    with httpx.Client(base_url=f"{served.address}/v1/streams/{stream}") as client:
        for text in texts:
            client.headers["Authorization"] = f"Bearer {text}"
            for call, body in CALLS:
                for more in ({"json": body}, {"content": b"{", "headers": {"Content-Type": "application/json"}}, {}):
                    answer = client.post(f"/{call}", **more)
                    kept = {name: answer.headers.get(name) for name in ("content-type", "www-authenticate")}
                    yield call, body, answer.status_code, kept, shape(answer.json())


def shape(found):
    """Return an answer without the words of the two parsers, whose fields must be the same all the same."""
    if "errors" in found:
        return found | {"detail": None, "errors": [error["field"] for error in found["errors"]]}
    return found


@pytest.mark.parametrize("stream", ["front%20page", "nobody"])
def test_both_ways_answer_alike(serve, tmp_path, monkeypatch, stream):
    found = []
    for way in ("short", "long"):
        (tmp_path / way).mkdir()
        with serve(f"sqlite:///{tmp_path / way}/streams.db") as served:
            page = served.desk.stream("front page", Explorer, window=5, memory=3, tests=10, seed=1)
            page.arrive("storm")
            page.arrive("calm")
            if way == "long":
                monkeypatch.setattr(hot, "match", lambda scope: None)
            texts = [served.texts["admin"], served.texts["read"], "nonsense"]
            found.append(list(replies(served, stream, texts)))
    assert found[0] == found[1]
    assert {status for _, _, status, _, _ in found[0]} >= ({200, 404, 409, 422} if stream != "nobody" else {404, 422})
