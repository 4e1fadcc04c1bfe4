"""`podium proxy` before a Podium that shares its host: no path leads to its neighbours."""

from __future__ import annotations

import pytest

from app.proxy.request_head import NotForwarded, parsed, rewritten, upstream_of

SHARED = upstream_of("https://tools.example/podium/", "pod_run_x")


def first_line(target: str) -> str:
    head = parsed(f"GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode("latin-1"))
    return rewritten(head, SHARED, 80).split(b"\r\n")[0].decode("latin-1")


@pytest.mark.parametrize(
    "path",
    ["/..", "/../wiki", "/v1/../../wiki", "/%2e%2e/wiki", "/.%2E/wiki", "/..%2fwiki", "/..;/wiki",
     "/..\\wiki", "/%5c..%5cwiki", "/../wiki?x", "/v1/..#x", "/./x", "http://localhost/../wiki"],
)  # fmt: skip
def test_a_path_above_podiums_is_refused(path: str) -> None:
    with pytest.raises(NotForwarded, match="out of /podium"):
        first_line(path)


@pytest.mark.parametrize(
    "path", ["/", "/v1/runs?q=../..", "/api/v1/files/t/a..b/...x", "/v1/#/../"]
)
def test_other_paths_stand_below_podiums(path: str) -> None:
    assert first_line(path) == f"GET /podium{path} HTTP/1.1"
