"""Answers to requests that no route sees: what they say, and whose host is another one."""

from __future__ import annotations

import json

import pytest

from app.api.http.connections import refusals
from app.api.http.connections.refusals import foreign_host, head_too_large, head_too_late

PORT = 7777


@pytest.mark.parametrize(
    ("method", "target", "host"),
    [
        (b"GET", b"/http://other/", ""), (b"GET", b"http://any.name:7777/readyz", ""),
        (b"GET", b"http://localhost/x", ""), (b"GET", b"HTTP://LocalHost/x", ""),
        (b"GET", b"http://127.0.0.1/x", ""), (b"GET", b"http://[::1]/x", ""),
        (b"GET", b"http://localhost:8000/x", "localhost:8000"),
        (b"GET", b"https://localhost/x", "localhost:443"),
        (b"GET", b"http://www.kaggle.com/x", "www.kaggle.com:80"),
        (b"GET", b"HTTPS://www.kaggle.com/x", "www.kaggle.com:443"),
        (b"GET", b"http://" + b"a" * 300 + b"/x", "a" * 200 + ":80"),
        (b"CONNECT", b"www.kaggle.com:443", "www.kaggle.com:443"),
        (b"CONNECT", b"a" * 300, "a" * 200), (b"GET", b"http://", ""),
    ],
)  # fmt: skip
def test_a_host_is_another_one_unless_it_is_this_machine_or_has_this_port(
    method: bytes, target: bytes, host: str
) -> None:
    assert foreign_host(method, target, PORT) == host


@pytest.mark.parametrize("target", [b"/", b"*", b"http://localhost/", b"HTTPS://here:7777/"])
def test_a_path_a_star_and_an_address_of_this_server_are_served(target: bytes) -> None:
    assert refusals.refusal_of_target(b"OPTIONS", target, PORT) is None


def test_a_proxy_is_told_which_variable_to_set() -> None:
    refused = refusals.refusal_of_target(b"GET", b"http://llm:8000/v1", PORT)
    assert refused is not None
    assert refused.status == 421
    assert "not a proxy for llm:8000" in refused.detail
    assert refused.detail.endswith("NO_PROXY=llm.")


def test_a_refusal_is_a_whole_problem_document_and_names_its_bounds() -> None:
    head, _, body = head_too_large(64 * 1024, 400).answer().partition(b"\r\n\r\n")
    first, *headers = head.split(b"\r\n")
    assert first == b"HTTP/1.1 431 Request Header Fields Too Large"
    assert headers == [
        b"content-type: application/problem+json", b"connection: close",
        b"content-length: %d" % len(body),
    ]  # fmt: skip
    assert json.loads(body) == {
        "type": "/problems/request-header-fields-too-large",
        "title": "Request Header Fields Too Large", "status": 431,
        "detail": "The request line and headers, or the trailers, are larger than 64 KiB, or "
        "there are more than 400 headers.",
    }  # fmt: skip
    late = "The head of the request did not arrive within 1.5 seconds."
    assert head_too_late(1.5) == (408, late)
