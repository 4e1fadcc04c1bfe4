"""Route B: `podium proxy` beside the agent holds the key; the clients know nothing."""

from __future__ import annotations

import contextlib
import json
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.forkserver import PodiumProcess
from tests.kaggle_api.agent import Agent, told
from tests.kaggle_api.conftest import NEW, OLD
from tests.server import free_port

# These tests try the command line, not the server's database.
pytestmark = pytest.mark.parametrize("server", ["sqlite"], indirect=True)
NOBODY = {"KAGGLE_USERNAME": "podium", "KAGGLE_KEY": "podium"}


@contextlib.contextmanager
def forwarding(to: str, key: str, home: Path, *ports: int) -> Iterator[str]:
    file = home / "key"
    file.write_text(key + "\n")
    listen = [word for port in ports for word in ("--listen", f"127.0.0.1:{port}")]
    process = PodiumProcess(
        ["proxy", "--to", to, "--key-file", str(file), *listen],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        for _ in ports:
            assert "forwarding" in process.stdout.readline()
        yield f"http://127.0.0.1:{ports[0]}"
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
        process.stdout.close()


@pytest.fixture
def run(podium, tiny):
    return podium.run(tiny, feedback="public")


@pytest.fixture
def address(podium, run, tmp_path):
    with forwarding(podium.server.url, run.document["key"], tmp_path, free_port()) as url:
        yield url


def agent_at(home: Path, client: str, proxy: str) -> Agent:
    (home / "agent").mkdir()
    return Agent(client, home / "agent", proxy, NOBODY)


@pytest.mark.parametrize("client", [NEW, OLD])
def test_a_client_without_a_key_downloads_and_submits(run, address, tiny, good, tmp_path, client):
    agent = agent_at(tmp_path, client, address)
    agent.write("s.csv", good)

    files = agent.kaggle("files", tiny.name, "-v")
    download = agent.kaggle("download", tiny.name)
    sent = agent.kaggle("submit", tiny.name, "-f", "s.csv", "-m", "m")
    listed = agent.kaggle("submissions", tiny.name, "-v")

    assert "train.csv" in files.stdout, told(files)
    assert (agent.home / f"{tiny.name}.zip").is_file(), told(download)
    assert "Successfully submitted" in sent.stdout, told(sent)
    assert "s.csv" in listed.stdout
    (kept,) = run.client.get(f"/v1/runs/{run.id}/submissions").json()["items"]
    assert kept["state"] == "graded"


def test_on_port_80_only_localhost_is_named(podium, run, tiny, good, tmp_path):
    """As in a container: no proxy variable, Kaggle's port and MLE-bench's."""
    with contextlib.ExitStack() as stack:
        try:
            probe = stack.enter_context(socket.socket())
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(("127.0.0.1", 80))
        except OSError as error:
            pytest.skip(f"port 80 cannot be taken here: {error}")
    other = free_port()
    with forwarding(podium.server.url, run.document["key"], tmp_path, 80, other):
        agent = agent_at(tmp_path, NEW, "")
        agent.write("s.csv", good)

        sent = agent.kaggle("submit", tiny.name, "-f", "s.csv", "-m", "m")
        checked = httpx.post(
            f"http://localhost:{other}/validate", files={"file": good}, trust_env=False
        )

        assert "Successfully submitted" in sent.stdout, told(sent)
        assert checked.json() == {"result": "Submission is valid.", "is_valid": True}


def test_a_clients_own_key_is_replaced(run, address, podium):
    found = httpx.get(
        f"{address}/v1/runs", headers={"Authorization": f"Bearer {podium.server.key}"},
        trust_env=False,
    )  # fmt: skip

    assert [one["id"] for one in found.json()["items"]] == [run.id]


def test_a_slash_too_many_leads_through_the_proxy(run, address):
    """And not to the server behind it, which a container does not reach."""
    with httpx.Client(base_url=address, follow_redirects=True, trust_env=False) as agent:
        found = agent.get("/v1/runs/?limit=1")

    assert str(found.url) == f"{address}/v1/runs?limit=1"
    assert [one["id"] for one in found.json()["items"]] == [run.id]


def test_a_model_at_another_host_is_refused_by_name(address):
    """With HTTP_PROXY exported, the agent's calls of its model come here; none goes on."""
    with httpx.Client(proxy=address, trust_env=False) as client:
        answer = client.post(
            "http://llm:8000/v1/chat/completions", headers={"Authorization": "Bearer sk"}, json={}
        )

    assert (answer.status_code, answer.json()["code"]) == (421, 421)
    assert "and not to llm:8000" in answer.json()["message"]


def test_large_bodies_pass_both_ways_whole_and_in_chunks(run, address, podium, tiny):
    big = b"id,target\n" + b"r1,0.5\n" * 500_000
    headers = {"Content-Type": "text/csv", "Prefer": "wait=30"}
    path = f"{address}/v1/runs/{run.id}/submissions"

    for body in (big, (big[i : i + 70_000] for i in range(0, len(big), 70_000))):
        kept = httpx.post(path, content=body, headers=headers, timeout=60, trust_env=False).json()
        back = httpx.get(f"{address}/v1/submissions/{kept['id']}/file", trust_env=False)
        assert back.content == big


@pytest.mark.parametrize(
    ("request_text", "said"),
    [
        ("CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n", "makes no tunnels"),
        ("nonsense\r\n\r\n", "not an HTTP/1.1 request"),
        ("GET / HTTP/1.1\r\nbroken\r\n\r\n", "header of the request is not well formed"),
        ("POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
         "where its body ends"),
        ("POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", "not one number"),
        ("POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", "not one number"),
        ("GET / HTTP/1.1\r\nX: " + "a" * 100_000 + "\r\n\r\n", "headers are too long"),
        ("GET http://[ HTTP/1.1\r\n\r\n", "The request is not well formed"),
        ("POST /validate HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\nabc",
         "chunk of the request is not well formed"),
        ("POST /validate HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc",
         "chunk of the request is not well formed"),
        ("POST /validate HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\n;0\r\n\r\n",
         "longer than it says"),
        ("POST /validate HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1;" + "a" * 200_000,
         "The request is not well formed"),
    ],
)  # fmt: skip
def test_bad_requests_are_refused_in_words(address, request_text, said):
    refused = refusal(address, request_text)
    assert refused["code"] in (400, 405, 431)
    assert said in refused["message"]


# The beginning of a body that Podium reads: it refuses another one at once, and its answer may come
# before the end is seen.
CHECK = "POST /validate HTTP/1.1\r\nContent-Type: multipart/form-data; boundary=x\r\n"


@pytest.mark.parametrize(
    ("request_text", "said"),
    [
        ("GET / HTTP/1.1\r\nHost: localhost", "The request ended in its headers."),
        (f"{CHECK}Content-Length: 5\r\n\r\n--x",
         "The request ended in its body."),
        (f"{CHECK}Transfer-Encoding: chunked\r\n\r\n5\r\n--x",
         "The request ended in its body."),
        (f"{CHECK}Transfer-Encoding: chunked\r\n\r\n3\r\n--x",
         "The request ended in its body."),
    ],
)  # fmt: skip
def test_a_request_that_ends_early_is_refused_in_words(address, request_text, said):
    assert refusal(address, request_text, ends=True) == {"code": 400, "message": said}


def test_a_podium_that_is_away_is_told(podium, run, tmp_path):
    nowhere = f"http://127.0.0.1:{free_port()}"
    with forwarding(nowhere, run.document["key"], tmp_path, free_port()) as url:
        body = httpx.get(f"{url}/healthz", trust_env=False).json()

    assert body["code"] == 502
    assert "cannot be reached" in body["message"]


def refusal(address: str, text: str, *, ends: bool = False) -> dict:  # type: ignore[type-arg]
    port = int(address.rsplit(":", 1)[1])
    with socket.create_connection(("127.0.0.1", port), 10) as client:
        client.sendall(text.encode())
        if ends:
            client.shutdown(socket.SHUT_WR)
        answer = b""
        with contextlib.suppress(ConnectionResetError):
            while data := client.recv(65536):
                answer += data
    return json.loads(answer.partition(b"\r\n\r\n")[2])


def test_no_request_is_hidden_in_the_trailers_of_a_body(run, tmp_path):
    """To a lenient server before Podium, a line feed in a trailer ended the body."""
    hidden = b"X: y\n\nGET /wiki HTTP/1.1\nHost: tools\n\nX: z\r\n"
    with socket.create_server(("127.0.0.1", 0)) as lenient:
        to = f"http://127.0.0.1:{lenient.getsockname()[1]}/podium"
        with forwarding(to, run.document["key"], tmp_path, free_port()) as url:
            port = int(url.rpartition(":")[2])
            with socket.create_connection(("127.0.0.1", port), timeout=20) as agent:
                agent.sendall(
                    b"POST /v1/runs HTTP/1.1\r\nHost: localhost\r\n"
                    b"Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n" + hidden + b"\r\n"
                )
                there, _ = lenient.accept()
                with there:
                    there.settimeout(20)
                    came = b""
                    while not came.endswith(b"0\r\n\r\n") and b"/wiki" not in came:
                        received = there.recv(65536)
                        assert received, came
                        came += received
                    there.sendall(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")

    assert came.endswith(b"\r\n\r\n1\r\nx\r\n0\r\n\r\n")
    assert b"/wiki" not in came


def test_a_client_that_reads_nothing_does_not_keep_the_proxy(run, tmp_path):
    """It waited for ever at its end, so that a container was killed after its grace period."""
    with contextlib.ExitStack() as opened:
        upstream = opened.enter_context(socket.create_server(("127.0.0.1", 0)))
        to = f"http://127.0.0.1:{upstream.getsockname()[1]}"
        with forwarding(to, run.document["key"], tmp_path, free_port()) as url:
            port = int(url.rpartition(":")[2])
            agent = opened.enter_context(socket.create_connection(("127.0.0.1", port)))
            agent.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
            there = opened.enter_context(upstream.accept()[0])
            there.settimeout(1)
            with contextlib.suppress(TimeoutError):  # until nobody takes any more
                while True:
                    there.sendall(b"x" * 65536)
