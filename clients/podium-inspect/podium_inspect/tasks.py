"""`competitions`: a task whose samples are folders that `podium harbor-task` wrote."""

from __future__ import annotations

import tomllib
from pathlib import Path

from inspect_ai import Task, task
from inspect_ai.agent import react
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.tool import bash, python
from inspect_ai.util import SandboxEnvironmentSpec

from podium_inspect.scorer import SUBMISSION, podium_scorer

DATA = "/home/data"
COMMAND_SECONDS = 3600


@task
def competitions(
    folder: str, sandbox: str = "docker", seed: int = 0, message_limit: int = 100
) -> Task:
    """The competitions of a folder, each a sample; its agent has a shell and Python.

    Each epoch is an attempt with a seed of its own: `--epochs 3` makes three runs of each
    competition. Another agent is chosen with `--solver`.

    Args:
        folder: what `podium harbor-task SLUG folder/SLUG` wrote, for one competition or more.
        sandbox: "docker" builds each folder's Dockerfile, without a network. "local" runs the
            agent's commands on this machine, with the key within their reach: for trying it out.
        seed: the seed of the first epoch.
        message_limit: the number of messages after which an agent is stopped.
    """
    found = sorted(path.parent for path in Path(folder).rglob("task.toml"))
    if not found:
        raise ValueError(
            f"{folder} has no competition: write one with `podium harbor-task SLUG {folder}/SLUG`."
        )
    return Task(
        dataset=MemoryDataset([_sample(one, sandbox) for one in found], name="podium"),
        solver=react(tools=[bash(timeout=COMMAND_SECONDS), python(timeout=COMMAND_SECONDS)]),
        scorer=podium_scorer(submission=_inside(SUBMISSION, sandbox), seed=seed),
        message_limit=message_limit,
    )


def _sample(folder: Path, sandbox: str) -> Sample:
    metadata = tomllib.loads((folder / "task.toml").read_text())["metadata"]
    text = (folder / "instruction.md").read_text()
    environment = folder / "environment"
    if sandbox == "docker":
        files = None  # the Dockerfile copies them
        spec = SandboxEnvironmentSpec("docker", str(environment / "Dockerfile"))
    else:
        text = text.replace(DATA, _inside(DATA, sandbox))
        text = text.replace(SUBMISSION, _inside(SUBMISSION, sandbox))
        data = environment / "data"
        names = [str(one.relative_to(data)) for one in data.rglob("*") if one.is_file()]
        files = {f"{_inside(DATA, sandbox)}/{name}": str(data / name) for name in sorted(names)}
        spec = SandboxEnvironmentSpec(sandbox)
    return Sample(
        id=metadata["competition"], input=text, metadata=metadata, files=files, sandbox=spec
    )


def _inside(path: str, sandbox: str) -> str:
    """A path of the container; without one, the same below the sandbox's directory."""
    return path if sandbox == "docker" else Path(path).name
