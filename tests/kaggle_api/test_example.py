"""The example in `examples/kaggle-agent` runs as it is written, and its compose files read well."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import yaml

from tests.podium_on_path import PodiumOnPath

HERE = Path(__file__).parents[2] / "examples" / "kaggle-agent"


def test_an_agents_whole_life_without_docker(tmp_path):
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PODIUM", "KAGGLE"))}
    others = f"{Path(sys.executable).parent}:{environment['PATH']}"  # `python` and `kaggle`
    with PodiumOnPath(tmp_path / "podium", forks_all=True):
        ran = subprocess.run(
            [HERE / "run.sh"], env={**environment, "PATH": others, "PODIUM_BIN": str(tmp_path)},
            capture_output=True, text=True, timeout=300,
        )  # fmt: skip

    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "Successfully submitted to Bike Sharing Demand" in ran.stdout
    assert "not a valid submission" in ran.stdout + ran.stderr
    assert "a hurried one rejected None None" in ran.stdout
    assert "boosted trees graded 0.3" in ran.stdout


def test_the_agents_container_has_a_route_to_podium_alone():
    compose = yaml.safe_load((HERE / "docker-compose.yml").read_text())
    sidecar = yaml.safe_load((HERE / "docker-compose.proxy.yml").read_text())

    assert compose["services"]["agent"]["networks"] == ["agents"]
    assert compose["networks"]["agents"]["internal"] is True
    assert sidecar["services"]["proxy"]["network_mode"] == "service:agent"
