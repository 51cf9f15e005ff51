"""Who may do what: each call against no key, a wrong key, a revoked one, and a key of each scope."""

import httpx
import pytest

from bestbefore import Explorer
from bestbefore.service.guard import SCOPE
from bestbefore.service.keys import SCOPES

CLIENT = httpx.Client(timeout=30)
BODIES = {
    "make_stream": {"settings": {"window": 5, "epsilon": 0.3}},
    "arrive": {"arm": "storm"},
    "withdraw": {"arm": "storm"},
    "ask": {},
    "tell": {"id": "nobody", "reward": 1.0},
    "tell_many": {"rewards": [{"id": "nobody", "reward": 1.0}]},
    "give_up": {"id": "nobody"},
    "advance": {},
    "learn": {"arm": "storm", "valid": True},
    "finish": {},
    "batch": {"calls": [{"stream": "nobody", "verb": "tell", "arguments": {"id": "nobody", "reward": 1.0}}]},
}
EXPECTED = {
    "list_streams": "read",
    "look_at_stream": "read",
    "best": "read",
    "erased": "read",
    "state": "read",
    "totals": "read",
    "log": "read",
    "metrics": "read",
    "ask": "tell",
    "tell": "tell",
    "tell_many": "tell",
    "give_up": "tell",
    "batch": "tell",
    "make_stream": "write",
    "arrive": "write",
    "withdraw": "write",
    "advance": "write",
    "learn": "write",
    "tick": "write",
    "finish": "write",
    "drop_stream": "admin",
    "sweep": "admin",
    "health": None,
}


@pytest.fixture(scope="module", autouse=True)
def closed():
    yield
    CLIENT.close()


def operations(service):
    for path, methods in service.app.openapi()["paths"].items():
        for method, operation in methods.items():
            yield operation["operationId"], method, path, operation


def call(service, id, method, path, key):
    headers = {} if key is None else {"Authorization": f"Bearer {key}"}
    address = service.address + path.replace("{name}", "nobody%20here")
    return CLIENT.request(method, address, json=BODIES.get(id), headers=headers)


def test_the_table_has_each_call(service):
    found = {id: operation.get(SCOPE) for id, _, _, operation in operations(service)}
    assert found == EXPECTED


def test_nothing_but_health_is_answered_without_a_key_or_with_one_that_is_wrong_or_revoked(service):
    key, revoked = service.keys.make("short", "admin")
    service.keys.revoke(key.id)
    right = service.texts["admin"]
    wrong = [None, "bb", "bb_x_y", right[:-1], right + "A", right.replace("bb_", "cc_"), revoked]
    for id, method, path, _ in operations(service):
        for text in wrong:
            answer = call(service, id, method, path, text)
            expected = 200 if id == "health" else 401
            assert answer.status_code == expected, (id, text)
            if expected == 401:
                assert answer.headers["www-authenticate"].startswith("Bearer")
                assert answer.headers["content-type"] == "application/problem+json"
    assert service.desk.streams() == []


@pytest.mark.parametrize("scope", SCOPES)
def test_a_key_opens_what_its_scope_is_for_and_nothing_else(service, scope):
    for id, method, path, operation in operations(service):
        needed = operation.get(SCOPE)
        answer = call(service, id, method, path, service.texts[scope])
        may = needed is None or SCOPES.index(scope) >= SCOPES.index(needed)
        assert (answer.status_code != 403) == may, (id, answer.text)
        assert answer.status_code in (200, 201, 404, 410, 422) if may else answer.status_code == 403
        if not may:
            assert repr(needed) in answer.json()["detail"]
    if "nobody here" in service.desk.streams():
        service.desk.drop("nobody here")


def test_a_batch_needs_the_scope_of_each_of_its_verbs(service):
    service.desk.stream("batch", Explorer, window=5, epsilon=0.3)
    calls = [{"stream": "batch", "verb": "ask"}, {"stream": "batch", "verb": "arrive", "arguments": {"arm": "storm"}}]
    for scope, status in (("read", 403), ("tell", 403), ("write", 200)):
        headers = {"Authorization": f"Bearer {service.texts[scope]}"}
        answer = CLIENT.post(f"{service.address}/v1/batch", json={"calls": calls}, headers=headers)
        assert answer.status_code == status
        assert service.desk.stream("batch").look().arrivals == (status == 200)
    service.desk.drop("batch")


def test_a_key_is_never_taken_from_an_address(service):
    text = service.texts["admin"]
    for query in (f"?key={text}", f"?access_token={text}", f"?authorization=Bearer%20{text}"):
        assert CLIENT.get(f"{service.address}/v1/streams{query}").status_code == 401
