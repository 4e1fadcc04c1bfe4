"""Who gets in, for how long, and which forms are refused."""

from __future__ import annotations

import re
import time
from html import unescape
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest

from app.web.login import own_address
from tests.server import PodiumServer
from tests.web.conftest import caller, visitor
from tests.web.dataset import EVIL_NAME, Filled

TOKEN = re.compile(r'name="token" value="([0-9a-f]+)"')
NEXT = re.compile(r'name="next" value="([^"]*)"')


def test_a_page_asks_a_stranger_for_a_key_and_then_shows_itself(filled: Filled) -> None:
    stranger = visitor(filled.server)

    asked = stranger.get("/suites?a=b")
    answer = stranger.post("/login", data={"key": filled.researcher, "next": "/suites"})

    assert asked.status_code == 401
    assert 'name="next" value="/suites?a=b"' in asked.text
    assert (answer.status_code, answer.headers["Location"]) == (303, "/suites")
    assert stranger.get("/suites").status_code == 200


def test_a_stranger_with_the_cookie_of_another_service_is_only_asked_for_a_key(
    filled: Filled,
) -> None:
    """Browsers send a cookie to all ports of its host, as to a notebook's beside Podium."""
    stranger = visitor(filled.server)
    stranger.cookies.set("_xsrf", "of a notebook")

    asked = stranger.get("/suites")

    assert asked.status_code == 401
    assert 'role="alert"' not in asked.text


@pytest.mark.parametrize("name", [EVIL_NAME, "%2e%2e", "a\\b", "none?b#c", "\U0001f600" * 200])
def test_a_login_leads_to_the_page_that_was_asked_for(filled: Filled, name: str) -> None:
    part = quote(name, safe="")
    for address in (f"/experiments/{part}", f"/compare?a={part}&b={part}", f"/?q={part}"):
        stranger = visitor(filled.server)
        found = NEXT.search(stranger.get(address).text)
        assert found is not None

        data = {"key": filled.researcher, "next": unescape(found[1])}
        assert stranger.post("/login", data=data).headers["Location"] == address


def test_the_cookie_is_out_of_reach_and_does_not_hold_the_key(filled: Filled) -> None:
    answer = visitor(filled.server).post("/login", data={"key": f" {filled.researcher}\n"})

    cookie = answer.headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "samesite=strict" in cookie.lower()
    assert filled.researcher not in cookie


def test_behind_tls_the_cookie_is_sent_over_tls_alone_wherever_the_proxy_is(
    filled: Filled,
) -> None:
    """In docker-compose.yml the proxy has an address of its own: 127.0.0.2 stands for that."""
    for address in ("127.0.0.1", "127.0.0.2"):
        transport = httpx.HTTPTransport(local_address=address)
        with httpx.Client(base_url=filled.server.url, transport=transport) as proxy:
            for scheme in ("http", "https"):
                answer = proxy.post(
                    "/login", data={"key": filled.researcher}, headers={"X-Forwarded-Proto": scheme}
                )
                words = answer.headers["Set-Cookie"].split("; ")
                assert ("Secure" in words) == (scheme == "https"), address


def test_another_site_logs_nobody_out(filled: Filled) -> None:
    browser = visitor(filled.server, filled.researcher)

    refused = browser.post("/logout", headers={"Sec-Fetch-Site": "cross-site"})

    assert refused.status_code == 403
    assert "Set-Cookie" not in refused.headers


@pytest.mark.parametrize(
    ("key", "status", "why"),
    [
        ("", 401, "Type the key"),
        ("pod_admin_wrong", 401, "not known here"),
        ("run", 403, "reaches only its own run"),
        ("harness", 403, "needs another key"),
    ],
)
def test_other_keys_are_refused_with_the_reason(
    filled: Filled, key: str, status: int, why: str
) -> None:
    key = {"run": filled.run, "harness": filled.harness}.get(key, key)

    answer = visitor(filled.server).post("/login", data={"key": key})

    assert answer.status_code == status
    assert why in answer.text
    assert "Set-Cookie" not in answer.headers


@pytest.mark.parametrize(
    "target", ["//evil.example", "https://evil.example", "/\\evil.example", ""]
)
def test_a_login_never_leads_to_another_site(filled: Filled, target: str) -> None:
    data = {"key": filled.researcher, "next": target}

    assert visitor(filled.server).post("/login", data=data).headers["Location"] == "/"


@pytest.mark.parametrize(
    "target",
    ["/\t/evil.example", "/\n/evil.example", "\t//evil.example", "/x\\..\\..\\evil.example",
     "/\u200b/x", "/\r\nX: y", "javascript:alert(1)", "evil.example", " //evil.example"],
)  # fmt: skip
def test_an_address_that_browsers_would_read_otherwise_leads_home(target: str) -> None:
    """They leave out tabs and line ends, and take a backslash for a slash."""
    assert own_address(target) == "/"


def test_a_login_ends_with_its_key_and_with_the_log_out(filled: Filled) -> None:
    admin = caller(filled.server)
    made = admin.post("/v1/keys", json={"role": "researcher", "name": "soon gone"}).json()
    first, second = (visitor(filled.server, made["key"]) for _ in range(2))
    copied = first.cookies["podium_login"]

    first.post("/logout")
    assert first.get("/").status_code == 401
    assert second.get("/").status_code == 200
    first.cookies.set("podium_login", copied)
    assert "ended by a log-out" in first.get("/").text
    assert first.get("/v1/experiments").status_code == 401
    assert admin.delete(f"/v1/keys/{made['id']}").status_code == 200
    refused = second.get("/")

    assert refused.status_code == 401
    assert "revoked" in refused.text
    assert second.get("/v1/experiments").status_code == 401


def test_a_login_ends_when_its_browser_logs_in_again(filled: Filled) -> None:
    """The browser has the second login's cookie then: no log-out could end the first."""
    browser = visitor(filled.server, filled.researcher)
    copied = browser.cookies["podium_login"]

    browser.post("/login", data={"key": filled.researcher})

    assert browser.get("/").status_code == 200
    copy = visitor(filled.server)
    copy.cookies.set("podium_login", copied)
    assert copy.get("/").status_code == 401


def test_a_forged_or_foreign_cookie_opens_nothing(filled: Filled) -> None:
    good = visitor(filled.server, filled.researcher).cookies["podium_login"]
    for cookie in ("x", good[:-2] + "AA", good.split(".")[0], "a" * 5000):
        client = visitor(filled.server)
        client.cookies.set("podium_login", cookie)
        assert client.get("/").status_code == 401, cookie


def test_the_cookie_reads_and_never_writes(filled: Filled) -> None:
    browser = visitor(filled.server, filled.admin)

    assert browser.get("/v1/experiments").status_code == 200
    body = {"name": "by-cookie", "agent": "a", "model": "m"}
    assert browser.post("/v1/experiments", json=body).status_code == 401
    assert browser.delete("/v1/keys/key_x").status_code == 401


def test_no_cache_keeps_what_a_login_or_a_key_read_for_others(filled: Filled) -> None:
    """A file had a date and nothing else: a browser may show it after the log-out."""
    browser, stranger = visitor(filled.server, filled.researcher), visitor(filled.server)
    file = f"/v1/competitions/{filled.slugs[0]}/files/sample_submission.csv"
    for address in (file, "/v1/runs", "/nowhere"):
        for answer in (browser.get(address), browser.head(address)):
            assert answer.headers["Cache-Control"] in ("private, no-cache", "no-store"), address
    with_key = caller(filled.server).get(file)
    assert with_key.headers["Cache-Control"] == "private, no-cache"
    assert "private" not in stranger.get("/openapi.json").headers.get("Cache-Control", "")


def test_no_other_site_frames_a_page_and_nothing_keeps_it(filled: Filled) -> None:
    browser = visitor(filled.server, filled.researcher)
    for form in ("", "?format=json", "?format=csv"):
        assert browser.get(f"/{form}").headers["Cache-Control"] == "no-store"
    page, data = browser.get("/").headers, browser.get("/v1/runs").headers
    policy = page["Content-Security-Policy"].split("; ")
    for rule in ("default-src 'none'", "form-action 'self'", "base-uri 'none'"):
        assert rule in policy
    assert not any(rule.startswith("script-src") for rule in policy)
    assert page["Referrer-Policy"] == "same-origin"
    assert data["Content-Security-Policy"] == "default-src 'none'; frame-ancestors 'none'; sandbox"
    for headers in (page, data):
        assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
        assert headers["X-Content-Type-Options"] == "nosniff"


def test_a_browser_keeps_a_file_of_pages_under_the_address_of_its_bytes_alone(
    filled: Filled,
) -> None:
    """While servers are replaced, the page is of one version and its style may be of another."""
    stranger = visitor(filled.server)
    found = re.search(r'href="(/static/podium.css\?v=)([0-9a-f]+)"', stranger.get("/login").text)
    assert found is not None

    for version, kept in ((found[2], "public, max-age=31536000, immutable"), ("0", "no-cache")):
        assert stranger.get(found[1] + version).headers["Cache-Control"] == kept


def run_to_close(filled: Filled) -> str:
    admin = caller(filled.server)
    name = f"to-close-{admin.get('/v1/experiments').json()['items'].__len__()}"
    admin.post("/v1/experiments", json={"name": name, "agent": "a", "model": "m"})
    body = {"experiment": name, "competition": filled.slugs[0], "seed": 0}
    run: str = admin.post("/v1/runs", json=body).json()["id"]
    return run


def state_of(filled: Filled, run: str) -> str:
    state: str = caller(filled.server).get(f"/v1/runs/{run}").json()["state"]
    return state


def test_a_form_needs_its_token_and_a_page_of_this_podium(filled: Filled) -> None:
    run = run_to_close(filled)
    browser = visitor(filled.server, filled.researcher)
    token = form_token(browser, f"/runs/{run}/close")
    address = f"/runs/{run}/close"

    assert browser.post(address).status_code == 403
    assert browser.post(address, data={"token": "0" * 64}).status_code == 403
    assert browser.post(address, data={"token": "é"}).status_code == 403
    other = form_token(visitor(filled.server, filled.admin), address)
    assert browser.post(address, data={"token": other}).status_code == 403
    for headers in ({"Origin": "https://evil.example"}, {"Origin": "null"}, {"Origin": "http://["},
                    {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}):  # fmt: skip
        refused = browser.post(address, data={"token": token}, headers=headers)
        assert refused.status_code == 403, headers
    assert state_of(filled, run) == "open"

    assert browser.post(address, data={"token": token}).status_code == 303
    assert state_of(filled, run) == "closed"


def test_two_tabs_may_send_the_same_form(filled: Filled) -> None:
    run = run_to_close(filled)
    browser = visitor(filled.server, filled.researcher)
    tokens = [form_token(browser, f"/runs/{run}/close") for _ in range(2)]

    for token in tokens:
        assert browser.post(f"/runs/{run}/close", data={"token": token}).status_code == 303
    again = browser.get(f"/runs/{run}/close").text
    assert "It was closed at 20" in again
    assert "Close the run</button>" not in again


def test_only_admins_revoke_keys(filled: Filled) -> None:
    made = caller(filled.server).post("/v1/keys", json={"role": "researcher"}).json()
    address = f"/operations/keys/{made['id']}/revoke"
    researcher, admin = (visitor(filled.server, key) for key in (filled.researcher, filled.admin))
    token = form_token(researcher, f"/runs/{run_to_close(filled)}/close")

    asked = admin.get(address).text
    assert f"{made['id']}, made at 20" in asked  # all keys of a run have one name
    assert researcher.get(address).status_code == 403
    assert researcher.post(address, data={"token": token}).status_code == 403
    assert admin.post(address, data={"token": form_token(admin, address)}).status_code == 303
    assert visitor(filled.server).post("/login", data={"key": made["key"]}).status_code == 401
    again = admin.get(address).text
    assert "It was revoked at 20" in again
    assert "Revoke the key</button>" not in again


def test_only_admins_decide_about_runs_and_say_why(filled: Filled) -> None:
    run = filled.runs[0]["id"]
    address = f"/operations/reviews/{run}"
    researcher, admin = (visitor(filled.server, key) for key in (filled.researcher, filled.admin))
    token = form_token(researcher, f"/runs/{run_to_close(filled)}/close")
    evil = "<script>alert(1)</script>"
    asked = {"decision": "annotate", "reason": evil}

    assert researcher.get(address).status_code == 403
    assert researcher.post(address, data={"token": token, **asked}).status_code == 403
    token = form_token(admin, address)
    assert admin.post(address, data={"token": token, "decision": "annotate"}).status_code == 422
    assert admin.post(address, data={"token": token, **asked, "decision": "ban"}).status_code == 422
    assert admin.post(address, data={"token": token, **asked}).status_code == 303
    again = admin.post(address, data={"token": token, **asked})
    assert again.status_code == 409
    assert "holds already" in again.text
    assert "Choose other settings" not in again.text  # there are none that would do
    shown = admin.get(address).text
    assert evil not in shown
    assert "&lt;script&gt;" in shown
    found = caller(filled.server).get(f"/v1/runs/{run}/review").json()
    assert found["decisions"][-1]["reason"] == evil
    assert found["decisions"][-1]["decided_by"] is not None


def form_token(browser: httpx.Client, address: str) -> str:
    found = TOKEN.search(browser.get(address).text)
    assert found is not None
    return found[1]


def test_an_expired_cookie_asks_for_the_key_and_forms_do_nothing(tmp_path: Path) -> None:
    server = PodiumServer(tmp_path / "data", login_hours=3.1 / 3600).start()
    try:
        browser = visitor(server, server.key)
        other_tab = browser.get("/operations/imports")
        token = TOKEN.search(other_tab.text)
        assert token is not None
        cookie = browser.cookies["podium_login"]
        time.sleep(4.2)  # the cookie counts whole seconds
        browser.cookies.set("podium_login", cookie)  # a browser whose clock is slow still has it

        page = browser.get("/operations?before=5")
        data = {"token": token[1], "confirm": "yes"}
        sent = browser.post("/operations/imports", data=data, files={"archive": ("x", b"x")})

        assert page.status_code == sent.status_code == 401
        assert "This login has expired. Log in again." in page.text
        assert 'name="next" value="/operations?before=5"' in page.text
        assert "This login has expired. Log in again. Nothing was done" in sent.text
        assert 'name="next" value="/operations/imports"' in sent.text
        again = browser.post("/login", data={"key": server.key, "next": "/operations?before=5"})
        assert again.headers["Location"] == "/operations?before=5"
    finally:
        assert server.stop() == 0
