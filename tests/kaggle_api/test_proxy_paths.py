"""`podium proxy` before a Podium that shares its host: no path leads to its neighbours.

And no odd request line or chunk hides a header that was not looked at.
"""

from __future__ import annotations

import pytest

from app.proxy.request_head import (
    Head,
    NotForwarded,
    body_length,
    chunk_size,
    parsed,
    rewritten,
    upstream_of,
)

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


@pytest.mark.parametrize(
    ("url", "name", "port", "base"),
    [
        ("http://podium:7777", "podium:7777", 7777, ""),
        ("http://podium/", "podium", 80, ""),
        ("http://podium:443", "podium:443", 443, ""),
        ("https://Tools.example/podium/", "tools.example", 443, "/podium"),
        ("https://tools.example:80", "tools.example:80", 80, ""),
        ("http://[fd00::1]:7777", "[fd00::1]:7777", 7777, ""),
    ],
)
def test_the_address_of_a_podium_is_read(url: str, name: str, port: int, base: str) -> None:
    found = upstream_of(url, "pod_run_x")
    assert (found.name, found.port, found.base, found.key) == (name, port, base, "pod_run_x")
    assert found.tls == url.startswith("https")


@pytest.mark.parametrize(
    "url",
    [
        "podium:7777",
        "ftp://podium",
        "http://",
        "https:///podium",
        "http://[podium",
        "http://a:77777",
    ],
)
def test_another_address_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="is not an address such as"):
        upstream_of(url, "pod_run_x")


def sent(target: str, lines: str = "Host: localhost:5000\r\n") -> list[str]:
    head = parsed(f"GET {target} HTTP/1.1\r\n{lines}\r\n".encode("latin-1"))
    upstream = upstream_of("http://podium:7777", "pod_run_x")
    return rewritten(head, upstream, 5000).decode("latin-1").split("\r\n")


@pytest.mark.parametrize("host", ["localhost", "localhost:80", "localhost:5000", "127.0.0.1",
                                  "[::1]", "[::1]:5000", "PODIUM:7777"])  # fmt: skip
def test_a_client_whose_proxy_this_is_reaches_podium(host: str) -> None:
    for scheme in ("http", "HTTPS"):
        first, *headers = sent(f"{scheme}://{host}/v1/runs?limit=1#x")
        assert first == "GET /v1/runs?limit=1 HTTP/1.1"
        assert headers[:3] == [
            "Host: podium:7777", "Authorization: Bearer pod_run_x",
            f"X-Podium-Origin: http://{host}",
        ]  # fmt: skip
        assert sent(f"{scheme}://{host}")[0] == "GET / HTTP/1.1"


@pytest.mark.parametrize("host", ["llm", "localhost:8000", "podium", "podium:80", "10.0.0.1",
                                  "localhost@llm", "[::1]:8000", "localhost.llm"])  # fmt: skip
def test_a_client_whose_proxy_this_is_reaches_nothing_else(host: str) -> None:
    for scheme in ("http", "HTTPS"):
        with pytest.raises(NotForwarded, match="and not to") as refused:
            sent(f"{scheme}://{host}/v1")
        assert refused.value.code == 421


def test_a_request_without_host_or_with_a_dotted_path_reaches_a_podium_of_its_own() -> None:
    assert sent("/../x", "")[::3] == ["GET /../x HTTP/1.1", "X-Podium-Origin: http://", ""]


@pytest.mark.parametrize("target", ["podium:7777", "*", "ftp://podium/"])
def test_there_are_no_tunnels(target: str) -> None:
    with pytest.raises(NotForwarded, match="it makes no tunnels") as refused:
        sent(target)
    assert refused.value.code == 405


@pytest.mark.parametrize(
    ("lines", "length"),
    [
        ("X: 1", 0), ("Content-Length: 5", 5), ("CONTENT-LENGTH: 5\r\nContent-Length: 5", 5),
        (f"Content-Length: {'9' * 15}", int("9" * 15)), ("Transfer-Encoding: Chunked", None),
    ],
)  # fmt: skip
def test_the_length_of_a_body_is_read(lines: str, length: int | None) -> None:
    assert body_length(with_lines(lines)) == length


@pytest.mark.parametrize(
    "lines",
    ["Content-Length: 5\r\nContent-Length: 6", "Content-Length: -5", "Content-Length: +5",
     "Content-Length: 5, 5", "Content-Length:", "Content-Length: \xb2",
     f"Content-Length: {'9' * 16}", "Transfer-Encoding: gzip, chunked",
     "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked", "Transfer-Encoding: identity",
     "Content-Length: 5\r\nTransfer-Encoding: chunked"],
)  # fmt: skip
def test_a_body_that_two_servers_may_end_elsewhere_is_refused(lines: str) -> None:
    with pytest.raises(NotForwarded, match=r"where its body ends|not one number"):
        body_length(with_lines(lines))


def with_lines(lines: str) -> Head:
    return parsed(f"POST / HTTP/1.1\r\nHost: localhost\r\n{lines}\r\n\r\n".encode("latin-1"))
