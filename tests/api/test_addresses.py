"""The address at which a client reached Podium, and addresses that follow from a request's own."""

from __future__ import annotations

import pytest
from fastapi import Request

from app.api.http.next_page import next_address
from app.api.http.origin import ORIGIN_HEADER, origin
from app.errors import BadRequest
from tests.api.conftest import Podium


def request_to(host: str, query: str = "", forwarded: str = "") -> Request:
    headers = [(b"host", host.encode())]
    if forwarded:
        headers.append((ORIGIN_HEADER.lower().encode(), forwarded.encode()))
    return Request(
        {"type": "http", "method": "GET", "scheme": "http", "server": ("127.0.0.1", 7777),
         "path": "/v1/runs", "root_path": "", "query_string": query.encode(), "headers": headers}
    )  # fmt: skip


@pytest.mark.parametrize(
    "host", ["localhost", "127.0.0.1:7777", "a" * 253, "x:65535", "[::1]", "[fe80::1]:80"]
)
def test_the_origin_is_the_host_that_the_client_named(host: str) -> None:
    assert origin(request_to(host)) == f"http://{host}"
    assert origin(request_to("podium", forwarded=f"https://{host}")) == f"https://{host}"


@pytest.mark.parametrize(
    "host", ["", "a" * 254, "x:123456", "x:", "a b", "x/y", "user@x", "[::1", "x\\y", "x?y"]
)
def test_a_host_that_is_none_is_refused(host: str) -> None:
    with pytest.raises(BadRequest, match="does not name a host"):
        origin(request_to(host))
    with pytest.raises(BadRequest, match="does not name a host"):
        origin(request_to("podium", forwarded=f"http://{host}"))


def test_the_next_page_has_the_same_query_with_another_cursor() -> None:
    asked = request_to("x", "state=open&cursor=a&tag=1&tag=2%263")
    assert next_address(asked, "b c") == "/v1/runs?state=open&tag=1&tag=2%263&cursor=b+c"
    assert next_address(asked, None) == ""


def test_an_address_with_a_slash_at_its_end_leads_to_the_one_without_it(podium: Podium) -> None:
    lead = podium.admin.get("/v1/runs/?limit=1&state=open", follow_redirects=False)
    assert (lead.status_code, lead.headers["Location"]) == (307, "../runs?limit=1&state=open")
    assert podium.admin.get("/v1/runs/", follow_redirects=False).headers["Location"] == "../runs"
    assert podium.admin.get("/v1/nothing/", follow_redirects=False).status_code == 404
