"""Who may see the page, and do something there: keys, cookies, forms from elsewhere, and a second look."""

import re
import time
from urllib.parse import quote

import httpx
import pytest

from bestbefore import Player
from bestbefore.service.page import sessions
from bestbefore.service.page.views import HEADERS

FRONT = "/streams/front%20page"


@pytest.fixture
def client(service):
    with httpx.Client(base_url=service.address, timeout=30) as found:
        yield found


@pytest.fixture
def front(service):
    stream = service.desk.stream("front page", Player, window=9, memory=9)
    for arm in ("storm", "comet", "ferry"):
        stream.arrive(arm)
    yield stream
    service.desk.drop("front page")


def log_in(service, client, scope="admin", **headers):
    return client.post("/login", data={"key": f" {service.texts[scope]}\n"}, headers=headers)


def token_of(client, path="/"):
    return re.search(r'name="token" value="([0-9a-f]{64})"', client.get(path).text)[1]


def number_of(front, arm):
    return front.look().arrival_of(arm)


PATHS = ["/", "/now", FRONT, f"{FRONT}/now", f"{FRONT}/withdraw?arrival=1"]


@pytest.mark.parametrize("path", PATHS)
def test_nothing_is_shown_to_who_has_not_logged_in(client, front, path):
    answer = client.get(path)
    assert answer.status_code in (303, 401)
    assert "storm" not in answer.text
    assert client.post(f"{FRONT}/withdraw", data={"arrival": "1", "sure": "yes"}).status_code == 303
    assert len(front.stored) == 3


def test_a_key_begins_a_session_in_a_cookie_that_scripts_and_other_sites_do_not_get(service, client):
    answer = log_in(service, client)
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    cookie = answer.headers["set-cookie"]
    assert {"HttpOnly", "SameSite=lax", "Path=/"} <= set(cookie.split("; "))
    assert "Secure" not in cookie  # it was not asked for by https
    assert service.texts["admin"].rpartition("_")[2] not in cookie
    assert client.get("/").status_code == 200
    secure = log_in(service, client, **{"X-Forwarded-Proto": "https"}).headers["set-cookie"]
    assert "Secure" in secure


@pytest.mark.parametrize("key", ["", "bb", "bb_x_y", "bb_0_\ud7ff", "x" * 5000])
def test_a_wrong_key_begins_nothing(client, key):
    answer = client.post("/login", data={"key": key})
    assert answer.status_code == 401
    assert "set-cookie" not in answer.headers
    assert "not known" in answer.text


def test_a_key_that_is_revoked_ends_its_sessions(service, client):
    key, text = service.keys.make("short", "read")
    client.post("/login", data={"key": text})
    assert client.get("/").status_code == 200
    service.keys.revoke(key.id)
    assert client.get("/").status_code == 303
    assert client.get("/now").status_code == 401


def test_a_session_ends_by_itself_and_by_logging_out(service, client, monkeypatch):
    log_in(service, client)
    late = time.time() + sessions.LASTS + 5
    with monkeypatch.context() as patch:
        patch.setattr(sessions.time, "time", lambda: late)
        assert client.get("/").status_code == 303
    assert client.get("/").status_code == 200
    assert client.post("/logout", data={"token": "0" * 64}).status_code == 403
    assert client.get("/").status_code == 200
    assert client.post("/logout", data={"token": token_of(client)}).headers["location"] == "/login"
    assert client.get("/").status_code == 303


def test_a_cookie_that_was_changed_is_none(service, client):
    log_in(service, client)
    ((name, value),) = client.cookies.items()
    client.cookies.clear()
    other = service.keys.make("other", "admin")[0]
    id, ends, nonce, sign = value.split(".")
    for forged in (
        f"{other.id}.{ends}.{nonce}.{sign}",
        f"{id}.{int(ends) + 1}.{nonce}.{sign}",
        f"{id}.{ends}.{nonce}.{'0' * 64}",
        f"{id}.{ends}.{nonce}",
        "...",
        "x",
    ):
        assert httpx.get(f"{service.address}/", cookies={name: forged}).status_code == 303, forged
    assert httpx.get(f"{service.address}/", cookies={name: value}).status_code == 200


def test_a_session_opens_the_page_and_not_the_api(service, client, front):
    """A page elsewhere may have a browser send its cookie along: the API asks for a key."""
    log_in(service, client)
    assert client.get("/v1/streams").status_code == 401
    assert client.post("/v1/streams/front%20page/arms/withdraw", json={"arm": "storm"}).status_code == 401


@pytest.mark.parametrize("path", ["/login", "/", FRONT, f"{FRONT}/now", "/static/page.js", "/static/page.css"])
def test_answers_let_no_script_in_and_no_frame_around(service, client, front, path):
    log_in(service, client)
    answer = client.get(path)
    assert answer.status_code == 200
    for name in set(HEADERS) - {"Cache-Control"}:
        assert answer.headers[name] == HEADERS[name]
    rules = dict(rule.split(" ", 1) for rule in answer.headers["content-security-policy"].split("; "))
    assert rules["default-src"] == "'none'"
    assert rules["script-src"] == rules["style-src"] == "'self'"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cache-control"] == ("public, max-age=3600" if "static" in path else "no-store")
    if "html" in answer.headers["content-type"]:
        assert not re.search(r"<[^>]* (style|on\w+)=", answer.text)
        assert not re.search(r'(src|href|action)="(?!/|#|")', answer.text)


def test_files_are_those_that_there_are(client):
    for path in ("/static/../views.py", "/static/..%2fviews.py", "/static/%2e%2e%2froutes.py", "/static/x", "/static/"):
        assert client.get(path).status_code == 404
    first = client.get("/static/page.js")
    again = client.get("/static/page.js", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_an_arm_is_withdrawn_after_a_second_look(service, client, front):
    log_in(service, client, "write")
    number = number_of(front, "comet")
    asked = client.get(f"{FRONT}/withdraw?arrival={number}")
    assert "Withdraw this arm?" in asked.text
    assert "comet" in asked.text
    assert len(front.stored) == 3  # to look changes nothing
    token = token_of(client, f"{FRONT}/withdraw?arrival={number}")
    unsure = client.post(f"{FRONT}/withdraw", data={"token": token, "arrival": number})
    assert unsure.status_code == 422
    assert len(front.stored) == 3
    done = client.post(f"{FRONT}/withdraw", data={"token": token, "arrival": number, "sure": "yes"})
    assert (done.status_code, done.headers["location"]) == (303, FRONT)
    assert front.stored == ["storm", "ferry"]
    assert not service.desk.erased("front page").waiting  # its bytes are gone, too
    again = client.post(f"{FRONT}/withdraw", data={"token": token, "arrival": number, "sure": "yes"})
    assert again.status_code == 410
    assert client.get(f"{FRONT}/withdraw?arrival={number}").status_code == 410


@pytest.mark.parametrize("scope", ["read", "tell"])
def test_to_withdraw_needs_the_scope_write(service, client, front, scope):
    log_in(service, client, scope)
    assert "Withdraw" not in client.get(FRONT).text
    number = number_of(front, "storm")
    assert client.get(f"{FRONT}/withdraw?arrival={number}").status_code == 403
    sent = {"token": token_of(client), "arrival": number, "sure": "yes"}
    assert client.post(f"{FRONT}/withdraw", data=sent).status_code == 403
    assert len(front.stored) == 3


ELSEWHERE = [
    {"Origin": "https://evil.example"},
    {"Origin": "null"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Origin": "http://127.0.0.1:1"},
]


@pytest.mark.parametrize("headers", ELSEWHERE, ids=str)
def test_a_form_from_elsewhere_does_nothing(service, client, front, headers):
    """Not even with the token that it cannot know; and nobody is logged in by another site."""
    assert log_in(service, client, **headers).status_code == 403
    log_in(service, client)
    sent = {"token": token_of(client), "arrival": number_of(front, "storm"), "sure": "yes"}
    assert client.post(f"{FRONT}/withdraw", data=sent, headers=headers).status_code == 403
    assert client.post("/logout", data=sent, headers=headers).status_code == 403
    assert len(front.stored) == 3


def test_a_form_without_its_token_or_with_that_of_another_session_does_nothing(service, client, front):
    log_in(service, client)
    with httpx.Client(base_url=service.address) as other:
        log_in(service, other)
        strange = token_of(other)
    number = number_of(front, "storm")
    for token in ({}, {"token": ""}, {"token": "0" * 64}, {"token": strange}, {"token": "é"}):
        sent = {"arrival": number, "sure": "yes", **token}
        assert client.post(f"{FRONT}/withdraw", data=sent).status_code == 403
    for kind in ("text/plain", "application/json", "multipart/form-data; boundary=x"):
        answer = client.post(f"{FRONT}/withdraw", content=b"arrival=1", headers={"Content-Type": kind})
        assert answer.status_code == 422
    assert len(front.stored) == 3


def test_a_notice_of_the_service_is_text_on_each_page(serve):
    with serve(notice="for <b>trying</b>") as served, httpx.Client(base_url=served.address) as client:
        for path in ("/login", "/"):
            log_in(served, client)
            assert "for &lt;b&gt;trying&lt;/b&gt;" in client.get(path).text


def test_services_that_share_a_secret_share_sessions(serve, tmp_path):
    """As processes and machines on one database do; without one, each has its own."""
    for secret, status in (("so secret", 200), ("", 303)):
        with serve(secret=secret) as one, serve(secret=secret) as two:
            answer = httpx.post(f"{one.address}/login", data={"key": one.texts["read"]})
            value = answer.headers["set-cookie"].split(";")[0].split("=", 1)[1]
            found = httpx.get(f"{two.address}/", cookies={f"bestbefore_{two.port}": value})
            assert found.status_code == status


def test_a_name_with_a_slash_is_one_name(service, client):
    name = "a/b/../c?d#e"
    service.desk.stream(name, Player, window=9, memory=9).arrive("storm")
    log_in(service, client)
    place = "/streams/" + quote(name, safe="")
    assert place in client.get("/").text
    assert "storm" in client.get(place).text
    assert client.get(f"{place}/now").status_code == 200
    service.desk.drop(name)
