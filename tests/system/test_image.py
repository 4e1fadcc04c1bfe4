"""The commands that the image runs, run here in its order: there is no Docker engine in tests."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest
import yaml

from tests.distributed.cluster import await_that
from tests.postgres import Postgres
from tests.server import free_port

ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "Dockerfile").read_text()
COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text())


def instructions(name: str) -> list[str]:
    """The arguments of an instruction, each with its continued lines joined."""
    joined = DOCKERFILE.replace("\\\n", " ")
    return [m[1].strip() for m in re.finditer(rf"^(?: *){name} (.+)$", joined, re.MULTILINE)]


def test_everything_the_image_copies_is_there_and_not_ignored() -> None:
    kept = {
        line.removeprefix("!")
        for line in (ROOT / ".dockerignore").read_text().splitlines()
        if line.startswith("!")
    }
    for arguments in instructions("COPY"):
        *sources, _ = arguments.split()
        for source in sources:
            assert (ROOT / source).exists(), source
            assert source in kept, source


def test_the_image_runs_as_a_user_without_rights() -> None:
    assert instructions("USER") == ["7777"]


def test_compose_waits_for_a_healthy_database_and_names_its_volumes() -> None:
    services = COMPOSE["services"]

    assert services["podium"]["depends_on"]["postgres"]["condition"] == "service_healthy"
    assert "healthcheck" in services["postgres"]
    mounted = {v.split(":")[0] for s in services.values() for v in s["volumes"]}
    assert mounted == set(COMPOSE["volumes"])
    assert services["podium"]["ports"] == ["127.0.0.1:7777:7777"]


def test_compose_offers_tls_only_if_it_is_asked_for() -> None:
    caddy = COMPOSE["services"]["caddy"]

    assert caddy["profiles"] == ["tls"]
    assert caddy["command"].endswith("--to podium:7777")
    assert "443:443" in caddy["ports"]


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_the_images_command_serves_and_its_health_check_passes(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    for source in ("app", "migrations", "competitions", "pyproject.toml", "setup.py", "README.md"):
        copy = shutil.copytree if (ROOT / source).is_dir() else shutil.copy
        copy(ROOT / source, tmp_path / source)
    port = free_port()
    url = ""
    if kind == "postgresql":
        postgres: Postgres = request.getfixturevalue("postgres")
        url = postgres.url(request.getfixturevalue("empty_postgres"))
    settings = dict(
        pair.split("=", 1)
        for line in instructions("ENV")
        for pair in line.split()
        if "PODIUM_" in pair
    )
    environment = {
        **{k: v for k, v in os.environ.items() if not k.startswith("PODIUM_")},
        **settings,
        # The places, the port and the interpreter differ here from the container.
        "PODIUM_DATA_DIR": str(tmp_path / "data"),
        "PODIUM_COMPETITIONS_DIR": str(tmp_path / "competitions"),
        "PODIUM_HOST": "127.0.0.1",
        "PODIUM_PORT": str(port),
        "PODIUM_DATABASE_URL": url,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    }
    command = json.loads(instructions("CMD")[-1])
    check = json.loads(instructions("HEALTHCHECK")[0].split("CMD", 1)[1])
    check[-1] = check[-1].replace("7777", str(port))
    assert subprocess.run(check, env=environment, capture_output=True, timeout=20).returncode
    server = subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE)
    try:
        await_that(lambda: is_open(port), "nobody listens", 90)  # each check starts a Python
        deadline = time.monotonic() + 90
        while (
            subprocess.run(check, env=environment, capture_output=True, timeout=20).returncode != 0
        ):
            assert server.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.2)
        ready = httpx.get(f"http://127.0.0.1:{port}/readyz", trust_env=False).json()
    finally:
        server.terminate()
        out, _ = server.communicate(timeout=60)

    assert ready["status"] == "ready"
    assert b"Admin key, shown this once: pod_admin_" in out
    assert server.returncode == 0


def is_open(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def test_the_dockerfile_passes_its_linter() -> None:
    linter = Path(sys.executable).parent / "hadolint"
    done = subprocess.run(
        [linter, ROOT / "Dockerfile"], capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stdout
