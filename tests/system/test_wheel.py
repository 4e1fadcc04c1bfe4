"""The wheel, installed where the repository is not: all that Podium brings works out of it."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import zipfile
from pathlib import Path

import httpx
import pytest
import sqlalchemy

import app
from tests.server import free_port

KEY = re.compile(r"pod_admin_\S+")
URL = re.compile(r"Podium serves on (http://\S+)")
PAGES = ("/", "/docs", "/docs/swagger-ui-bundle.js", "/cost.svg")
ROOT = Path(__file__).parents[2]
SOURCES = (
    "app",
    "competitions",
    "migrations",
    "pyproject.toml",
    "setup.py",
    "README.md",
    "LICENSE",
)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel, built by way of a source distribution as `python -m build` does it."""
    home = tmp_path_factory.mktemp("wheel")
    source = home / "source"
    source.mkdir()
    for name in SOURCES:
        if (ROOT / name).is_dir():
            litter = shutil.ignore_patterns("__pycache__", "*.pyc")
            shutil.copytree(ROOT / name, source / name, ignore=litter)
        else:
            shutil.copy(ROOT / name, source)
    build = "import setuptools.build_meta as build, sys; build.build_sdist(sys.argv[1])"
    run([sys.executable, "-c", build, str(home)], cwd=source)
    (archive,) = home.glob("*.tar.gz")
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-index"]
    run([*pip, "--no-build-isolation", "--wheel-dir", str(home), str(archive)], cwd=home)
    (built,) = home.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The `podium` command in an environment with the wheel and the libraries that run here.

    Nothing is downloaded: a .pth file adds the directory of this environment's libraries. Its own
    .pth files, and so the repository's Podium, are not read there.
    """
    home = tmp_path_factory.mktemp("environment")
    run([sys.executable, "-m", "venv", "--without-pip", str(home)], cwd=home)
    (packages,) = home.glob("lib/python*/site-packages")
    libraries = Path(sqlalchemy.__file__).parents[1]
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    run([*pip, "--prefix", str(home), "--ignore-installed", str(wheel)], cwd=home)
    (packages / "libraries.pth").write_text(f"{libraries}\n")
    found = run([str(home / "bin" / "python"), "-c", "import app; print(app.__file__)"], cwd=home)
    assert Path(found.strip()).is_relative_to(packages)
    return home / "bin" / "podium"


def run(words: list[str], cwd: Path, **variables: str) -> str:
    done = subprocess.run(
        words, cwd=cwd, env=environment(**variables), capture_output=True, text=True, check=False,
        timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def environment(**variables: str) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PODIUM_", "PYTHON", "PIP_"))}
    return {**kept, "COLUMNS": "160", **variables}


def test_the_wheel_has_every_file_of_competitions_and_migrations(wheel: Path) -> None:
    assert wheel.name.startswith(f"podium-{app.__version__}-")  # pyproject.toml and app/__init__.py
    inside = set(zipfile.ZipFile(wheel).namelist())
    for name in ("competitions", "migrations"):
        for path in (ROOT / name).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                assert f"app/{path.relative_to(ROOT).as_posix()}" in inside
    assert not any("__pycache__" in path for path in inside)


def test_its_commands_know_version_schema_and_competitions(installed: Path, tmp_path: Path) -> None:
    assert run([str(installed), "--version"], tmp_path) == f"podium {app.__version__}\n"
    assert "up to date" in run([str(installed), "db", "upgrade"], tmp_path)
    assert "agree" in run([str(installed), "db", "check"], tmp_path)
    checked = run([str(installed), "check"], tmp_path)
    count = len(list((ROOT / "competitions").glob("*/competition.toml")))
    assert f"{count} competition folders are in order" in checked
    assert "bike-sharing-demand: ok, 2,860 rows" in checked


def fetched(url: str, key: str) -> dict[str, httpx.Response]:
    """What a browser gets that the wheel has to bring: a page, its style, a reference, a picture.

    The address of the style sheet is that of the page.
    """
    headers = {"Authorization": f"Bearer {key}", "Accept": "text/html"}
    with httpx.Client(base_url=url, headers=headers, timeout=120, trust_env=False) as client:
        found = {path: client.get(path) for path in PAGES}
        style = re.search(r'href="(/static/podium.css[^"]*)"', found["/"].text)
        found["style"] = client.get(style[1] if style else "/static/none")
    return found


def test_its_demo_wins_a_medal(installed: Path, tmp_path: Path) -> None:
    shown = run([str(installed), "demo", "--once"], tmp_path, PODIUM_PORT=str(free_port()))

    assert "Medal: gold" in shown
    assert list(tmp_path.iterdir()) == []


def test_it_serves_with_the_bundled_competitions_and_suites(
    installed: Path, tmp_path: Path
) -> None:
    process = subprocess.Popen(
        [str(installed), "serve", "--port", "0"],
        cwd=tmp_path, env=environment(PYTHONUNBUFFERED="1"), stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    watchdog = threading.Timer(240, process.kill)
    watchdog.start()
    assert process.stdout is not None
    said = ""
    for line in process.stdout:
        said += line
        if URL.search(said) and KEY.search(said):
            break
    url, key = URL.search(said), KEY.search(said)
    answers = fetched(url[1], key[0]) if url and key else {}
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    watchdog.cancel()

    assert answers, said
    assert {path: one.status_code for path, one in answers.items()} == dict.fromkeys(answers, 200)
    assert "There is no experiment yet" in answers["/"].text
    assert "--paper" in answers["style"].text
    assert "/docs/swagger-ui-bundle.js" in answers["/docs"].text
    assert len(answers["/docs/swagger-ui-bundle.js"].content) > 100_000
    assert answers[PAGES[-1]].text.startswith("<svg")
    assert process.returncode == 0
    listed = run([str(installed), "competitions", "list", "--suite", "mle-bench-low"], tmp_path)
    assert "spooky-author-identification" in listed
