"""Forms whose texts are costly to decode: no charset that a client names stops the server."""

from __future__ import annotations

import codecs
import threading
import time
from collections.abc import Iterator
from encodings.aliases import aliases

import httpx
import pytest

from tests.api.conftest import Podium, Run
from tests.factories import good_submission
from tests.server import PodiumServer

# Decoding is quadratic: the first character has a code beyond all others.
PUNYCODE = "\N{GRINNING FACE}".encode("punycode") + b"a" * 261_000
SECONDS = 1.0  # the whole server waited longer for one such form
UTF_8 = {"utf-8", "utf8", "us-ascii", "ascii"}


def form(name: str, text: bytes) -> bytes:
    head = f'--XX\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n'.encode()
    return head + text + b"\r\n--XX--\r\n"


def content_type(charset: str) -> dict[str, str]:
    return {"Content-Type": f"multipart/form-data; boundary=XX; charset={charset}"}


@pytest.fixture(scope="module")
def slowest(server: PodiumServer) -> Iterator[list[float]]:
    """The seconds of the slowest answer to somebody else, while the tests of this module ran."""
    seconds: list[float] = [0.0]
    ended = threading.Event()

    def ask() -> None:
        with httpx.Client(base_url=server.url, trust_env=False, timeout=60) as other:
            while not ended.wait(0.05):
                started = time.monotonic()
                assert other.get("/healthz").status_code == 200
                seconds[0] = max(seconds[0], time.monotonic() - started)

    asking = threading.Thread(target=ask)
    asking.start()
    yield seconds
    ended.set()
    asking.join()
    assert seconds[0] < SECONDS


@pytest.fixture
def run(podium: Podium) -> Run:
    return podium.run(podium.competition(), feedback="full")


def test_a_stranger_cannot_choose_a_slow_codec(server: PodiumServer, slowest: list[float]) -> None:
    with httpx.Client(base_url=server.url, trust_env=False, timeout=60) as stranger:
        answers = [
            stranger.post("/login", content=form("key", PUNYCODE), headers=content_type(charset))
            for charset in ("punycode", "PUNYCODE", '"punycode"', "utf-8; charset=punycode")
        ]

    assert [answer.status_code for answer in answers] == [413] * 4
    assert slowest[0] < SECONDS


@pytest.mark.parametrize("origin", ["http://[", "http://[::1", "http://x]", "", "null", "//", "["])
def test_a_strangers_odd_origin_is_another_site(server: PodiumServer, origin: str) -> None:
    with httpx.Client(base_url=server.url, trust_env=False, timeout=60) as stranger:
        answer = stranger.post("/login", data={"key": server.key}, headers={"Origin": origin})

    assert answer.status_code == 403
    assert "Set-Cookie" not in answer.headers


@pytest.mark.parametrize(
    ("path", "part", "status"),
    [
        ("/v1/runs/{run}/validate", "message", 400),
        ("/v1/runs/{run}/submissions", "message", 400),
        ("/api/v1/competitions/submission-url", "fileName", 413),
        ("/validate", "file", 400),
    ],
)
def test_an_agent_cannot_choose_a_slow_codec(
    run: Run, slowest: list[float], path: str, part: str, status: int
) -> None:
    body = form(part, PUNYCODE)

    answer = run.client.post(
        path.format(run=run.id), content=body, headers=content_type("punycode")
    )

    assert answer.status_code == status
    assert slowest[0] < SECONDS


def test_forms_are_read_as_utf_8_whatever_codec_is_named(run: Run, slowest: list[float]) -> None:
    short = form("message", b"a text")
    answers = {
        name: run.client.post(
            f"/v1/runs/{run.id}/validate", content=short, headers=content_type(name)
        )
        for name in sorted({*aliases, *aliases.values(), *UTF_8, "no-such-codec"})
    }

    # 422: the form was read, and it has no file.
    read = {name for name, answer in answers.items() if answer.status_code == 422}
    assert len(answers) > 300
    assert {codecs.lookup(name).name for name in read} == {"utf-8", "ascii"}
    assert {a.status_code for name, a in answers.items() if name not in read} == {400}
    assert slowest[0] < SECONDS


def test_a_long_text_in_a_form_is_refused(run: Run) -> None:
    body = form("message", b"a" * 20_000)

    answer = run.client.post(
        f"/v1/runs/{run.id}/validate", content=body, headers=content_type("utf-8")
    )

    assert answer.status_code == 400
    assert "maximum size" in answer.json()["detail"]


def test_a_content_type_of_any_length_is_parsed_quickly(run: Run, slowest: list[float]) -> None:
    headers = {"Content-Type": 'multipart/form-data; boundary=XX; a="' + ";" * 60_000}

    answer = run.client.post(f"/v1/runs/{run.id}/validate", content=b"--XX--", headers=headers)

    assert answer.status_code == 400
    assert slowest[0] < SECONDS


def test_ordinary_forms_are_read(podium: Podium) -> None:
    folder = podium.competition()
    run = podium.run(folder, feedback="full")
    files = {"file": ("submission.csv", good_submission(folder), "text/csv")}

    sent = run.client.post(
        f"/v1/runs/{run.id}/submissions", files=files, data={"message": "ünïcode"},
        headers={"Prefer": "wait=30"},
    )  # fmt: skip

    assert sent.status_code == 201
    assert sent.json()["message"] == "ünïcode"
