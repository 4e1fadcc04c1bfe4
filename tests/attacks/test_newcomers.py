"""What people type wrong is answered with what to do."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from tests.api.conftest import Podium
from tests.clients.conftest import ROOT
from tests.factories import good_submission
from tests.forkserver import run_podium


@pytest.mark.parametrize(
    ("method", "path", "said"),
    [
        ("POST", "/v1/runs/RUN/submission", "no address '/v1/runs/RUN/submission'"),
        ("GET", "/v1", "/docs lists all"),
        ("GET", "/v1/runs/RUN/validate", "takes POST, not GET"),
        ("POST", "/v1/runs/RUN/close", "no address"),
    ],
)
def test_an_address_or_method_that_is_none_is_told(
    podium: Podium, method: str, path: str, said: str
) -> None:
    run = podium.run(podium.competition())

    refused = run.client.request(method, path.replace("RUN", run.id)).json()

    assert said.replace("RUN", run.id) in refused["detail"]


def test_json_without_its_header_is_told(podium: Podium) -> None:
    run = podium.run(podium.competition())

    refused = run.client.put(f"/v1/runs/{run.id}/selected", content=b'{"submission": "sub_x"}')

    assert refused.status_code == 422
    assert "'Content-Type: application/json'" in refused.json()["detail"]


def test_types_of_refused_connections_have_pages(podium: Podium) -> None:
    with socket.create_connection(("127.0.0.1", podium.server.port), timeout=30) as one:
        one.sendall(b"GET /healthz HTTP/1.1\r\nx: " + b"x" * 100_000)
        answer = one.recv(65536).decode()

    assert "/problems/request-header-fields-too-large" in answer
    for name in ("request-header-fields-too-large", "request-timeout", "bad-request"):
        page = podium.client().get(f"/problems/{name}")
        assert page.status_code == 200, name


def test_a_command_for_the_data_directory_says_so_where_an_address_is_set(tmp_path: Path) -> None:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PODIUM_")}
    for address, is_told in (("http://127.0.0.1:7777", True), ("", False)):
        done = run_podium(
            ["report", "first"],
            env={**environment, "PODIUM_DATA_DIR": str(tmp_path), "PODIUM_URL": address},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 1
        assert ("PODIUM_URL is set" in " ".join(done.stderr.split())) == is_told


@pytest.mark.parametrize(
    ("odd", "said"), [("{}\n", "an-experiment"), ("{} {}", "no key has"), ("clé", "no key has")]
)
def test_a_key_as_a_file_has_it_is_taken_by_commands(podium: Podium, odd: str, said: str) -> None:
    name = podium.experiment()
    key = odd.format(*[podium.server.key] * 2)

    done = run_podium(
        ["experiments", "list", "--url", podium.server.url],
        env={"PATH": "/usr/bin", "PODIUM_KEY": key},
        capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert said.replace("an-experiment", name) in done.stdout + done.stderr
    assert podium.server.key not in done.stderr


def test_podium_client_says_what_is_wrong_at_once(
    podium: Podium, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "clients" / "podium-client"))
    from podium_client import Podium as Client
    from podium_client import PodiumError

    folder = podium.competition()
    run = podium.run(folder)
    key = run.client.headers["Authorization"].removeprefix("Bearer ")
    file = tmp_path / "submission.csv"
    file.write_bytes(good_submission(folder))

    for odd in ("clé", "a b", "a\nb"):
        with pytest.raises(PodiumError, match="no key has"):
            Client(podium.server.url, odd)
    with Client(podium.server.url, f"{key}\n", wait=2) as client:  # as a file has it
        assert client.run(run.id)["state"] == "open"
        with pytest.raises(PodiumError, match="one line"):
            client.submit(run.id, file, message="two\nlines")
        with pytest.raises(PodiumError, match="is empty"):
            client.run("")
        with pytest.raises(PodiumError, match="is a folder"):
            client.download(folder.name, "train.csv", tmp_path)
