"""The compose file of a cluster: its settings, its commands and its proxy, without Docker."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import typer
import yaml

from app.cli.root import app
from app.queue.consumer import END_SECONDS, HAND_BACK_SECONDS
from app.settings import Settings
from app.storage.blobs.cache import FileCache
from app.storage.blobs.open import open_blobs
from tests.api.conftest import Podium, Run
from tests.distributed.cluster import await_that
from tests.factories import good_submission, write_competition
from tests.server import PodiumServer, free_port
from tests.sse import follow

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docker-compose.cluster.yml").read_text()
COMPOSE = yaml.safe_load(re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", TEXT))
SERVICES: dict[str, Any] = COMPOSE["services"]
PROXY: str = COMPOSE["configs"][SERVICES["proxy"]["configs"][0]["source"]]["content"]
OURS = {name: s for name, s in SERVICES.items() if s["image"] == "podium"}


def test_there_are_two_servers_two_workers_and_one_port() -> None:
    assert sorted(OURS) == ["server-1", "server-2", "worker-1", "worker-2"]
    published = [port for service in SERVICES.values() for port in service.get("ports", [])]
    assert published == ["127.0.0.1:7777:7777"]
    mounted = {v.split(":")[0] for s in SERVICES.values() for v in s.get("volumes", [])}
    assert mounted == set(COMPOSE["volumes"])


@pytest.mark.parametrize("name", ["docker-compose.yml", "docker-compose.cluster.yml"])
def test_strangers_cannot_fill_the_disk_with_lines_of_the_log(name: str) -> None:
    for service in yaml.safe_load((ROOT / name).read_text())["services"].values():
        options = service["logging"]["options"]
        assert re.fullmatch(r"\d{1,2}m", options["max-size"])
        assert 1 < int(options["max-file"]) < 10


@pytest.mark.parametrize("name", ["docker-compose.yml", "docker-compose.cluster.yml"])
def test_the_one_address_of_all_clients_has_all_connections(name: str) -> None:
    services = yaml.safe_load((ROOT / name).read_text())["services"]
    server = services.get("podium") or services["server-1"]

    bound = server["environment"]["PODIUM_CONNECTIONS_PER_ADDRESS"]
    assert int(bound) == Settings(_env_file=None).connections  # type: ignore[call-arg]


def test_every_service_waits_for_healthy_ones() -> None:
    for service in SERVICES.values():
        for name, waited in service.get("depends_on", {}).items():
            assert waited == {"condition": "service_healthy"}
            assert name in OURS or "healthcheck" in SERVICES[name]


def test_all_its_settings_are_podiums_and_make_sense_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (environment,) = {tuple(s["environment"].items()) for s in OURS.values()}
    known = {
        field.validation_alias or f"PODIUM_{name.upper()}"
        for name, field in Settings.model_fields.items()
    }
    assert set(dict(environment)) <= known
    for name, value in environment:
        monkeypatch.setenv(name, value)
    settings = Settings(_env_file=None)  # type: ignore[call-arg]

    assert settings.queues
    assert SERVICES["postgres"]["environment"] == {
        "POSTGRES_USER": "podium", "POSTGRES_PASSWORD": "podium", "POSTGRES_DB": "podium",
    }  # fmt: skip
    assert settings.database_url == "postgresql://podium:podium@postgres/podium"


@pytest.mark.parametrize("name", ["worker-1", "worker-2"])
def test_workers_commands_are_podiums(name: str) -> None:
    program, command, *options = OURS[name]["command"]
    assert (program, command) == ("podium", "worker")
    group = typer.main.get_command(app)
    with group.make_context("podium", [command, *options]) as context:
        found = group.commands[command].make_context(command, options, parent=context)  # type: ignore[attr-defined]

    port = found.params["metrics_port"]
    assert f"http://127.0.0.1:{port}/metrics" in OURS[name]["healthcheck"]["test"][-1]
    longest_end = Settings().drain_seconds + HAND_BACK_SECONDS + END_SECONDS
    assert int(OURS[name]["stop_grace_period"].removesuffix("s")) > longest_end + 5


def test_the_manual_upgrades_its_services() -> None:
    page = (ROOT / "docs" / "cluster.md").read_text()
    lines = re.findall(r"^docker compose -f docker-compose.cluster.yml run (.*)$", page, re.M)

    for line in lines:
        _, service, program, command, *options = line.split()
        assert (service in OURS, program) == (True, "podium")
        group = typer.main.get_command(app)
        with group.make_context("podium", [command, *options]) as context:
            group.commands[command].make_context(command, options, parent=context)  # type: ignore[attr-defined]
    assert any("worker --adopt" in line for line in lines)


def test_its_store_is_one_that_servers_can_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = SERVICES["s3"]
    port = free_port()
    (command,) = store["command"]
    command = command.replace("/objects", str(tmp_path / "objects")).replace(":8333", f":{port}")
    server = subprocess.Popen(
        [*store["entrypoint"], command],
        env={
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "RCLONE_CONFIG": "/dev/null", **store["environment"],
        },
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    for name, value in OURS["server-1"]["environment"].items():
        monkeypatch.setenv(name, value.replace("s3:8333", f"127.0.0.1:{port}"))
    settings = Settings(_env_file=None)  # type: ignore[call-arg]
    cache = FileCache(tmp_path / "cache", 1 << 20)
    blobs = open_blobs(
        settings.blobs_url, settings.s3_options, spool=tmp_path / "spool", cache=cache
    )
    try:
        await_that(lambda: answers(port), "the store does not start")
        blobs.check()
    finally:
        server.terminate()
        server.wait(20)
        cache.close()

    assert list((tmp_path / "objects" / "podium" / "files").rglob("*"))


def answers(port: int) -> bool:
    with contextlib.suppress(OSError):
        socket.create_connection(("127.0.0.1", port), 1).close()
        return True
    return False


def test_its_proxy_leads_to_both_servers() -> None:
    servers = sorted(name for name in OURS if name.startswith("server"))

    assert re.findall(r"^  server (\S+) (\S+)$", PROXY, re.MULTILINE) == [
        (name, f"{name}:7777") for name in servers
    ]
    assert "bind :7777\n" in PROXY


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    """A run whose client speaks through the proxy, one of whose two servers is away."""
    haproxy = shutil.which("haproxy")
    if haproxy is None:
        pytest.skip("NOT TESTED: there is no haproxy here (Debian: apt-get install haproxy)")
    port = free_port()
    server = PodiumServer(tmp_path / "data", graders=1)
    config = PROXY
    for old, new in (
        ("server-1:7777", f"127.0.0.1:{free_port()}"),
        ("server-2:7777", f"127.0.0.1:{server.port}"),
        ("bind :7777", f"bind 127.0.0.1:{port}"),
    ):
        assert old in config
        config = config.replace(old, new)
    (tmp_path / "haproxy.cfg").write_text(config)
    with contextlib.ExitStack() as stack:
        server.start()
        stack.callback(server.stop)
        proxy = subprocess.Popen(
            [haproxy, "-f", tmp_path / "haproxy.cfg"], stderr=subprocess.DEVNULL
        )  # fmt: skip
        stack.callback(proxy.wait, 30)
        stack.callback(proxy.terminate)
        await_that(lambda: answers(port), "the proxy does not start")
        server.port = port
        podium = Podium(server, tmp_path, stack)
        folder = write_competition(tmp_path / "tiny")
        assert podium.send_folder(folder).status_code == 201
        yield podium.run(folder, feedback="full")


def test_the_proxy_passes_on_what_clients_send(run: Run, tmp_path: Path) -> None:
    body = good_submission(tmp_path / "tiny")
    url = run.client.base_url
    with follow(run.client, run.id) as events:
        sent = run.client.post(
            f"/v1/runs/{run.id}/submissions", content=iter([body[:20], body[20:]]),
            headers={"Content-Type": "text/csv", "Prefer": "wait=30"},
        )  # fmt: skip
        told = events.until("graded")
    with httpx.Client(proxy=str(url), trust_env=False) as forward:  # absolute-form targets
        alive = forward.get("http://localhost/healthz")
    with socket.create_connection((url.host, url.port or 0), 30) as raw:
        raw.sendall(
            f"POST /v1/runs/{run.id}/submissions HTTP/1.1\r\nHost: podium\r\n"
            "Authorization: Bearer pod_run_wrong\r\nContent-Type: text/csv\r\n"
            "Content-Length: 1000000\r\n\r\nid,target\n".encode()
        )
        refused = raw.recv(100)  # although the body has only begun

    assert (sent.status_code, sent.json()["state"]) == (201, "graded")
    assert told[-1][0] == sent.json()["id"]
    assert alive.json()["status"] == "ok"
    assert b" 401 " in refused
