"""The wheel of each client in an empty environment: it is complete, and brings no service."""

from __future__ import annotations

import json
import tomllib

import pytest

from tests.clients.conftest import ROOT, Environment
from tests.clients.packages.conftest import environment_from_registry

CLIENTS = sorted(path.parent.name for path in (ROOT / "clients").glob("*/pyproject.toml"))
LOOK = """
import importlib, importlib.metadata as metadata, json, pkgutil, sys
package = importlib.import_module(sys.argv[1])
modules = [one.name for one in pkgutil.walk_packages(package.__path__, package.__name__ + ".")]
for module in modules:
    importlib.import_module(module)
print(json.dumps([modules, sorted(one.name for one in metadata.distributions())]))
"""


def look_at(place: Environment, client: str) -> tuple[list[str], list[str]]:
    """All modules of a client, each imported, and the distributions that are installed."""
    config = tomllib.loads((ROOT / "clients" / client / "pyproject.toml").read_text())
    (package,) = config["tool"]["setuptools"]["packages"]
    done = place.python("-c", LOOK, package)
    assert done.returncode == 0, done.stderr
    modules, distributions = json.loads(done.stdout)
    sources = (ROOT / "clients" / client / package).glob("*.py")
    assert {f"{package}.{one.stem}" for one in sources} - {f"{package}.__init__"} == set(modules)
    assert client in distributions
    assert "podium" not in distributions
    return modules, distributions


def test_there_are_three() -> None:
    assert CLIENTS == ["podium-client", "podium-inspect", "podium-mlebench"]


def test_podium_mlebench_brings_nothing() -> None:
    with environment_from_registry("podium-mlebench") as place:
        _, distributions = look_at(place, "podium-mlebench")

        assert distributions == ["podium-mlebench"]
        assert place.run("mlebench", "--help").returncode == 0


def test_podium_client_brings_what_httpx_needs() -> None:
    with environment_from_registry("podium-client") as place:
        _, distributions = look_at(place, "podium-client")

        assert set(distributions) <= {
            "anyio", "certifi", "h11", "httpcore", "httpx", "idna", "podium-client", "sniffio",
            "typing_extensions",
        }  # fmt: skip


@pytest.mark.parametrize("client", CLIENTS)
def test_the_wheel_has_a_readme_and_a_licence(client: str) -> None:
    project = tomllib.loads((ROOT / "clients" / client / "pyproject.toml").read_text())["project"]

    assert (ROOT / "clients" / client / project["readme"]).is_file()
    assert project["license"] == "Apache-2.0"
