"""Load a task with Harbor and run its verifier: `python harbor_driver.py TASK TRIAL CASES`.

CASES is a JSON list; a case has the file to grade (`submission`) and `variables`. The verifier is
Harbor's own; only its container is not: commands run here as plain processes, and directories at
the root of the container are directories of the trial. The last line of the output is JSON.
"""

from __future__ import annotations

import asyncio
import importlib.abc
import importlib.machinery
import json
import os
import re
import shutil
import subprocess
import sys
import typing
from pathlib import Path
from typing import Any


def read_harbor_on_python_3_11() -> None:
    """Harbor is written for Python 3.12. Nothing of what it does is changed.

    On 3.11, `typing.override` and `typing.TypedDict` are those of typing_extensions, and texts with
    a line break inside of braces, which 3.11 cannot read, are read as if in one line.
    """
    import typing_extensions

    split = re.compile(r'(\bf"[^"\n]*\{)\s*\n\s*([^"\n]*?)\s*\n\s*(\}[^"\n]*")')

    class Loader(importlib.machinery.SourceFileLoader):
        def get_code(self, fullname: str) -> Any:
            text = split.sub(r"\1\2\3", self.get_source(fullname) or "")
            return compile(text, self.path, "exec", dont_inherit=True)

    class Finder(importlib.abc.MetaPathFinder):
        def find_spec(self, fullname: str, path: Any, target: Any = None) -> Any:
            if fullname.partition(".")[0] != "harbor":
                return None
            spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
            if spec is not None and isinstance(spec.loader, importlib.machinery.SourceFileLoader):
                spec.loader = Loader(spec.loader.name, spec.loader.path)
            return spec

    typing.override = typing_extensions.override  # type: ignore[attr-defined]
    typing.TypedDict = typing_extensions.TypedDict
    sys.meta_path.insert(0, Finder())


if sys.version_info < (3, 12):
    read_harbor_on_python_3_11()

from harbor.environments.base import ExecResult  # noqa: E402
from harbor.models.task.config import TaskOS  # noqa: E402
from harbor.models.task.task import Task  # noqa: E402
from harbor.models.trial.paths import TrialPaths  # noqa: E402
from harbor.verifier.verifier import Verifier  # noqa: E402


class PlainProcesses:
    """The environment that a verifier needs, without a container."""

    os = TaskOS.LINUX

    def __init__(self, trial: TrialPaths, submission: str) -> None:
        self.trial, self.tests = trial, trial.trial_dir / "tests"
        self.variables = {
            "PATH": os.environ["PATH"], "NO_PROXY": "*", "PODIUM_SUBMISSION": submission,
            "PODIUM_VERIFIER_LOGS": str(trial.verifier_dir),
        }  # fmt: skip

    async def exec(self, command: str, env: Any = None, user: Any = None) -> ExecResult:
        here = command.replace("/tests/", f"{self.tests}/")
        here = here.replace("/logs/verifier/", f"{self.trial.verifier_dir}/")
        done = subprocess.run(
            ["sh", "-c", here], env={**self.variables, **(env or {})}, capture_output=True,
            text=True, check=False,
        )  # fmt: skip
        return ExecResult(stdout=done.stdout, stderr=done.stderr, return_code=done.returncode)

    async def upload_dir(self, source_dir: Path, target_dir: str) -> None:
        assert target_dir == "/tests"
        shutil.copytree(source_dir, self.tests, dirs_exist_ok=True)

    def is_path_mounted(self, *paths: Any) -> bool:
        return True


def verify(task: Task, trial_dir: Path, case: dict[str, Any]) -> dict[str, Any]:
    """The rewards of a case, or the error that Harbor reports."""
    os.environ.update(case["variables"])
    trial = TrialPaths(trial_dir)
    trial.verifier_dir.mkdir(parents=True, exist_ok=True)
    environment: Any = PlainProcesses(trial, case["submission"])
    try:
        result = asyncio.run(Verifier(task, trial, environment).verify())
    except Exception as error:
        output = trial.verifier_dir / "test-stdout.txt"
        said = output.read_text() if output.exists() else str(error)
        return {"error": type(error).__name__, "output": said}
    return {"rewards": result.rewards}


def main() -> None:
    task = Task(sys.argv[1])
    config = task.config
    loaded = {
        "instruction": task.instruction,
        "artifacts": [str(one) for one in config.artifacts],
        "mode": str(config.verifier.environment_mode),
        "hosts": config.verifier.allowed_hosts,
    }
    cases = [
        verify(task, Path(sys.argv[2]) / str(number), case)
        for number, case in enumerate(json.loads(sys.argv[3]))
    ]
    sys.stdout.write(json.dumps({"task": loaded, "cases": cases}))


if __name__ == "__main__":
    main()
