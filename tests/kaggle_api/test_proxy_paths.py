"""`podium proxy` before a Podium that shares its host: no path leads to its neighbours.

And no odd request line or chunk hides a header that was not looked at.
"""

from __future__ import annotations

import pytest

from app.proxy.request_head import NotForwarded, chunk_size, parsed, rewritten, upstream_of

SHARED = upstream_of("https://tools.example/podium/", "pod_run_x")


def first_line(target: str) -> str:
    head = parsed(f"GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode("latin-1"))
    return rewritten(head, SHARED, 80).split(b"\r\n")[0].decode("latin-1")


@pytest.mark.parametrize(
    "path",
    ["/..", "/../wiki", "/v1/../../wiki", "/%2e%2e/wiki", "/.%2E/wiki", "/..%2fwiki", "/..;/wiki",
     "/..\\wiki", "/%5c..%5cwiki", "/../wiki?x", "/v1/..#x", "/v1/#/../../wiki", "/./x",
     "http://localhost/../wiki"],
)  # fmt: skip
def test_a_path_above_podiums_is_refused(path: str) -> None:
    with pytest.raises(NotForwarded, match="out of /podium"):
        first_line(path)


@pytest.mark.parametrize(
    "path",
    ["/", "/v1/runs?q=../..", "/v1/\xc3\xa0\xc4\x80", "/api/v1/files/t/a..b/...x", "/v1/#/x"],
)
def test_other_paths_stand_below_podiums(path: str) -> None:
    assert first_line(path) == f"GET /podium{path} HTTP/1.1"


@pytest.mark.parametrize(
    "line",
    ["GET /v1/runs\nX: HTTP/1.1", "GET /v1/runs\nAuthorization:Bearer\tpod_admin_x\nX: HTTP/1.1",
     "GET /\rX: HTTP/1.1", "GET /\x0b HTTP/1.1", "GET\n / HTTP/1.1", "GET / HTTP/1.1\nX:y",
     "GET / HTTP/1.1x", "GET / HTTP/2.0", "GET  / HTTP/1.1", " / HTTP/1.1", "GET /"],
)  # fmt: skip
def test_a_first_line_that_hides_another_is_refused(line: str) -> None:
    """Podium took what followed a line feed in the target for a header."""
    with pytest.raises(NotForwarded, match="This is not an HTTP"):
        parsed(f"{line}\r\nHost: localhost\r\n\r\n".encode("latin-1"))


@pytest.mark.parametrize(
    "header",
    ["Transfer-Encoding\0: chunked", "Transfer-Encoding\x01: chunked", "Coding\tx: chunked",
     "Transfer-Encoding x: chunked", "Transfer-Encoding : chunked", " X: y", ": y", "X", "X\xff: y",
     "X: y\0", "X: y\nZ: z", "X: y\rZ: z"],
)  # fmt: skip
def test_a_header_that_a_lenient_server_reads_otherwise_is_refused(header: str) -> None:
    """A name with a NUL was passed on, and to a server that ends it there the body had chunks."""
    with pytest.raises(NotForwarded, match="A header"):
        parsed(f"POST / HTTP/1.1\r\nHost: localhost\r\n{header}\r\n\r\n".encode("latin-1"))


def test_headers_that_the_proxy_sets_are_nobody_elses() -> None:
    own = {"AUTHORIZATION": "Bearer pod_admin_x", "X-Podium-Origin": "http://evil.example",
           "Host": "localhost", "Upgrade": "h2c", "Connection": "keep-alive",
           "Proxy-Authorization": "Basic eDp5"}  # fmt: skip
    lines = "".join(f"{name}: {value}\r\n" for name, value in own.items())
    sent = rewritten(parsed(f"GET / HTTP/1.1\r\n{lines}\r\n".encode()), SHARED, 80).decode()

    assert sent.split("\r\n")[1:] == [
        "Host: tools.example", "Authorization: Bearer pod_run_x",
        "X-Podium-Origin: http://localhost", "Connection: close", "", "",
    ]  # fmt: skip


def test_a_letter_at_the_end_of_a_header_stays_whole() -> None:
    """The last byte of an à in UTF-8 is a blank in Latin-1, and was cut off."""
    raw = "GET / HTTP/1.1\r\nHost: localhost\r\nX-Podium-Message:  voilà \t\r\n\r\n".encode()

    assert "X-Podium-Message: voilà\r\n".encode() in rewritten(parsed(raw), SHARED, 80)


def test_sizes_of_chunks_are_hexadecimal_numbers_and_nothing_else() -> None:
    assert [chunk_size(one) for one in (b"0\r\n", b"1f\r\n", b"A;a=b\r\n", b"5 ;x\r\n")] == [
        0, 31, 10, 5,
    ]  # fmt: skip
    for line in (b"1_0", b"x5", b"_5", b"0x5", b"5 ", b"+5", b"-5", b"", b"5;a\nb", b"5" * 16):
        with pytest.raises(NotForwarded, match="chunk"):
            chunk_size(line + b"\r\n")
