"""AIDE at a competition of Podium: download the task, search three steps, send the file.

It runs in AIDE's environment with PODIUM_URL, PODIUM_RUN and PODIUM_KEY of a run, in the directory
where AIDE may write. OPENAI_BASE_URL names another model server than the scripted one.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote

import model
from send import ask, podium, send

STEPS = 3
# AIDE's process that runs the code must be a fork, which is no longer the default of Python 3.14.
START_AIDE = """
import multiprocessing, runpy
multiprocessing.set_start_method("fork")
runpy.run_module("aide.run", run_name="__main__", alter_sys=True)
"""


def main() -> None:
    """Search, send the file, and print the search and the grade."""
    description = download(Path("data"))
    given = os.environ.get("OPENAI_BASE_URL")
    with contextlib.nullcontext(given) if given else model.serving() as address:
        search(description, Path("data"), address)
    (workspace,) = Path("workspaces").iterdir()
    (log,) = Path("logs").iterdir()
    for node in json.loads((log / "journal.json").read_text())["nodes"]:
        value = node["metric"]["value"]
        outcome = node["exc_type"] or "a bug" if node["is_buggy"] else f"{value:.5f}"
        print(f"AIDE's step {node['step'] + 1}: {outcome}")
    sent = send(workspace / "working" / "submission.csv")
    print(json.dumps({"state": sent["state"], "message": sent["message"], "grade": sent["grade"]}))


def download(data: Path) -> str:
    """Download the run's public files; the description of the task."""
    slug = podium("/v1/competitions")["items"][0]["slug"]
    competition = podium(f"/v1/competitions/{slug}")
    for file in competition["files"]:
        path = data / file["name"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(ask(f"/v1/competitions/{slug}/files/{quote(file['name'])}"))
    return ask(f"/v1/competitions/{slug}/description").decode()


def search(description: str, data: Path, address: str) -> None:
    """Let AIDE search. It runs code of its model, so its process has no key."""
    Path("description.md").write_text(description)
    name = os.environ.get("AIDE_MODEL", "scripted")
    environment = {
        "PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "NO_PROXY": "127.0.0.1",
        "OMP_NUM_THREADS": "1",  # small trees; more threads wait for each other on a busy machine
        "OPENAI_BASE_URL": address,
        "OPENAI_API_KEY": os.environ.get("OPENAI_API_KEY", "none"),
    }  # fmt: skip
    settings = [
        f"data_dir={data}", "desc_file=description.md", f"agent.steps={STEPS}",
        "agent.search.num_drafts=1", "agent.search.debug_prob=1", f"agent.code.model={name}",
        f"agent.feedback.model={name}", "generate_report=False", "exec.timeout=120",
    ]  # fmt: skip
    command = [sys.executable, "-c", START_AIDE, *settings]
    subprocess.run(command, env=environment, check=True)  # noqa: S603 (the settings are ours)


if __name__ == "__main__":
    main()
