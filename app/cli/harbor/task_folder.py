"""Write the folder of a Harbor task: schema 1.4, a verifier of its own, no answers."""

from __future__ import annotations

import json
import shutil
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from importlib import resources
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

from app.errors import Conflict, Invalid

Download = Callable[[str, Path], None]
SUBMISSION = "/home/submission/submission.csv"
TASK = """schema_version = "1.4"
artifacts = ["{submission}"]

[metadata]
competition = {slug}
podium_version = {version}

[verifier]
timeout_sec = 900.0
environment_mode = "separate"
network_mode = "allowlist"
allowed_hosts = [{host}]

[verifier.environment]
docker_image = "python:3.13-slim"
network_mode = "allowlist"
allowed_hosts = [{host}]

[verifier.env]
PODIUM_URL = {url}
PODIUM_KEY = "${{PODIUM_KEY}}"
PODIUM_SEED = "${{PODIUM_SEED:-0}}"
PODIUM_TRIAL = "${{PODIUM_TRIAL:-}}"
"""
INSTRUCTION = """# {title}

{description}

## Files
The public files are in `/home/data`. Write your predictions to `{submission}`, in the form of
`/home/data/sample_submission.csv`. They are scored by {metric}; {better} is better.
"""
DOCKERFILE = """# The agent's environment. Add what your agents need. Answers are on Podium alone.
FROM python:3.13
RUN pip install --no-cache-dir numpy pandas scikit-learn
COPY data /home/data
RUN mkdir -p /home/submission
WORKDIR /home
"""
TEST = """#!/bin/sh
# Without a reward file Harbor reports an error of the verifier and no reward: see grade.py.
exec python3 "$(dirname "$0")/grade.py" {slug}
"""


@dataclass(frozen=True, slots=True)
class HarborTask:
    """A competition and the Podium that grades it."""

    slug: str
    title: str
    version: str
    metric: str
    higher_is_better: bool
    description: str
    files: tuple[str, ...]
    url: str


def write_task(task: HarborTask, folder: Path, download: Download) -> None:
    """Write the folder, completely or not at all. `download` writes a public file to a path.

    Raises:
        Conflict: the folder exists.
        Invalid: the address has no host, or a file's name leads out of the folder.
    """
    try:
        host = urlsplit(task.url).hostname
    except ValueError:  # brackets that are not those of an IPv6 address
        host = None
    if host is None:
        raise Invalid(f"{task.url!r} is not the address of a Podium: write https://podium.example.")
    if folder.exists():
        raise Conflict(f"{folder} exists. Name a directory that does not, or remove it.")
    partial = folder.with_name(f".{uuid.uuid4().hex}.partial")
    data = partial / "environment" / "data"
    data.mkdir(parents=True)
    try:
        for name in task.files:
            path = data / _inside(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            download(name, path)
        _write_texts(task, partial, host)
        partial.replace(folder)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise


def _write_texts(task: HarborTask, folder: Path, host: str) -> None:
    toml = TASK.format(
        submission=SUBMISSION, slug=json.dumps(task.slug), version=json.dumps(task.version),
        host=json.dumps(host), url=json.dumps(f"${{PODIUM_URL:-{task.url}}}"),
    )  # fmt: skip
    (folder / "task.toml").write_text(toml)
    better = "higher" if task.higher_is_better else "lower"
    (folder / "instruction.md").write_text(
        INSTRUCTION.format(
            title=task.title, description=task.description.strip(), submission=SUBMISSION,
            metric=task.metric, better=better,
        )
    )  # fmt: skip
    (folder / "environment" / "Dockerfile").write_text(DOCKERFILE)
    tests = folder / "tests"
    tests.mkdir()
    script = tests / "test.sh"
    script.write_text(TEST.format(slug=task.slug))
    script.chmod(0o755)
    program = resources.files("app.cli.harbor").joinpath("verifier.py").read_text()
    (tests / "grade.py").write_text(program)


def _inside(name: str) -> PurePosixPath:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not path.parts:
        raise Invalid(f"The public file {name!r} has a name that leads out of the folder.")
    return path
