"""Forms whose texts are costly to decode: no charset that a client names stops the server."""

from __future__ import annotations

import codecs
import contextlib
from collections.abc import Iterator
from encodings.aliases import aliases

import httpx
import psutil
import pytest

from tests.api.conftest import Podium, Run
from tests.factories import good_submission
from tests.graders.conftest import wait_until
from tests.server import PodiumServer

# Decoding is quadratic: the first character has a code beyond all others.
PUNYCODE = "\N{GRINNING FACE}".encode("punycode") + b"a" * 261_000
SECONDS = 1.0  # to decode one such form took 26
UTF_8 = {"utf-8", "utf8", "us-ascii", "ascii"}


def form(name: str, text: bytes) -> bytes:
    head = f'--XX\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n'.encode()
    return head + text + b"\r\n--XX--\r\n"


def content_type(charset: str) -> dict[str, str]:
    return {"Content-Type": f"multipart/form-data; boundary=XX; charset={charset}"}


@contextlib.contextmanager
def little_work(server: PodiumServer) -> Iterator[None]:
    """The server spends little processor time on what is asked meanwhile.

    Processor time, since other processes of the machine do not count in it.
    """
    process = psutil.Process(server.process.pid)
    before = process.cpu_times()
    yield
    after = process.cpu_times()
    assert after.user + after.system - before.user - before.system < SECONDS


@pytest.fixture
def run(podium: Podium) -> Run:
    return podium.run(podium.competition(), feedback="full")


@pytest.mark.parametrize(
    "charset", ["punycode", "PUNYCODE", '"punycode"', "utf-8; charset=punycode"]
)
def test_a_stranger_cannot_choose_a_slow_codec(server: PodiumServer, charset: str) -> None:
    body = form("key", PUNYCODE)
    with (
        httpx.Client(base_url=server.url, trust_env=False, timeout=60) as stranger,
        little_work(server),
    ):
        answer = stranger.post("/login", content=body, headers=content_type(charset))

    assert answer.status_code == 413


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
    server: PodiumServer, run: Run, path: str, part: str, status: int
) -> None:
    body = form(part, PUNYCODE)

    with little_work(server):
        answer = run.client.post(
            path.format(run=run.id), content=body, headers=content_type("punycode")
        )

    assert answer.status_code == status


def test_forms_are_read_as_utf_8_whatever_codec_is_named(run: Run) -> None:
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


def test_a_long_text_in_a_form_is_refused(run: Run) -> None:
    body = form("message", b"a" * 20_000)

    answer = run.client.post(
        f"/v1/runs/{run.id}/validate", content=body, headers=content_type("utf-8")
    )

    assert answer.status_code == 400
    assert "maximum size" in answer.json()["detail"]


def test_a_content_type_of_any_length_is_parsed_quickly(server: PodiumServer, run: Run) -> None:
    headers = {"Content-Type": 'multipart/form-data; boundary=XX; a="' + ";" * 60_000}

    with little_work(server):
        answer = run.client.post(f"/v1/runs/{run.id}/validate", content=b"--XX--", headers=headers)

    assert answer.status_code == 400


def test_a_file_of_false_boundaries_is_refused(server: PodiumServer, run: Run) -> None:
    head = b'--a\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n'
    body = head + b"\r\n--aX" * 5_000_000

    with little_work(server):  # to parse it took 2.5 s
        answer = run.client.post(
            f"/v1/runs/{run.id}/validate",
            content=body,
            headers={"Content-Type": "multipart/form-data; boundary=a"},
        )

    assert answer.status_code == 400
    assert "Choose one that the file does not contain" in answer.json()["detail"]


@pytest.mark.parametrize("end", [b"", b"\r\n", b"\r\n--a-"])
def test_a_form_that_is_cut_says_so(server: PodiumServer, run: Run, end: bytes) -> None:
    """It was told as a form without the file."""
    body = b'--a\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\nid,x\r\n1,2'
    headers = {"Content-Type": "multipart/form-data; boundary=a"}

    answer = run.client.post(f"/v1/runs/{run.id}/validate", content=body + end, headers=headers)

    assert answer.status_code == 422
    assert "ends before its last boundary (--BOUNDARY--)" in answer.json()["detail"]


def test_forms_that_are_made_wrongly_are_told_to_their_clients_alone(
    server: PodiumServer, run: Run
) -> None:
    headers = {"Content-Type": "multipart/form-data; boundary=another"}

    answer = run.client.post(f"/v1/runs/{run.id}/validate", content=b"--a--", headers=headers)

    assert answer.status_code == 400
    # The line of a request is written after its answer is sent.
    wait_until(lambda: answer.headers["X-Request-Id"] in server.log.read_text())
    assert "python_multipart" not in server.log.read_text()


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
