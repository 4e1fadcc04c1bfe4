"""The data for the tests of pages: 3 experiments x 12 competitions x 3 seeds, made over HTTP.

Everything comes about as in use: competitions are imported at the start, runs are made with a
researcher's key, and their files are graded.
"""

from __future__ import annotations

import json
import random
import re
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from tests.factories import good_submission, write_competition
from tests.server import PodiumServer

LEVELS = ("low", "medium", "high")
# A name of 200 characters: markup, quotes, a query, an entity, right-to-left letters, a template.
EVIL = "<script>alert('x')</script>\"&amp;?q=1#%2e%2e {{ 7*7 }} שלום עולם مرحبا "
EVIL_NAME = (EVIL + "W" * 200).replace("/", "|")[:200]
EVIL_LINE = (EVIL + "\u202e</title><img src=https://evil.example/x onerror=alert(1)>" + "w" * 500)[
    :500
]
EVIL_MESSAGE = EVIL_LINE.replace("\u202e", "")  # messages and agents have no control characters
EVIL_COMPETITION = 4
REGRADED = "tiny-00"
WAIT = {"Prefer": "wait=60", "Content-Type": "text/csv"}


@dataclass
class Filled:
    """A server with its data, and the keys that open it."""

    server: PodiumServer
    admin: str
    researcher: str
    harness: str
    run: str
    experiments: list[str] = field(default_factory=list)
    runs: list[dict[str, Any]] = field(default_factory=list)
    measured: list[str] = field(default_factory=list)
    slugs: list[str] = field(default_factory=list)
    folders: list[Path] = field(default_factory=list)

    def folder(self, number: int) -> Path:
        """The folder of a competition."""
        return self.folders[number]


def write_competitions(folder: Path, count: int = 12) -> list[Path]:
    """Folders of small competitions, and a suite of them all."""
    folders = []
    for number in range(count):
        path = folder / f"tiny-{number:02}"
        flag = '\n[[flags]]\ncode = "easy"\nnote = "<b>for</b> tests"\n' if number % 7 == 0 else ""
        write_competition(path, toml=flag, seed=number)
        toml = path / "competition.toml"
        top, rest = toml.read_text().split("[", 1)
        if number == EVIL_COMPETITION:  # what the author of a competition writes is a user's too
            top = re.sub(r"title = .*", lambda _: f"title = {json.dumps(EVIL_NAME)}", top)
            (path / "description.md").write_text(EVIL_LINE)
        level = f'complexity = "{LEVELS[number % 3]}"\ncategory = "Tabular"\n'
        toml.write_text(f"{top}{level}[{rest}")
        folders.append(path)
    names = ", ".join(f'"{path.name}"' for path in folders)
    (folder / "suites.toml").write_text(
        f'[suites.open]\ntitle = "Its board is public"\ncompetitions = [{names}]\n'
        f'[suites.tiny]\ntitle = "All of them"\ncompetitions = [{names}]\n'
    )
    return folders


def fill(server: PodiumServer, folders: list[Path]) -> Filled:
    """Three experiments with runs of every outcome, each run with the files that make it so."""
    admin = server.client()
    made = admin.post("/v1/keys", json={"role": "researcher", "name": EVIL_NAME})
    researcher = made.json()["key"]
    names = ["careful-agent", "quick agent & co", EVIL_NAME]
    for number, name in enumerate(names):
        body = {
            "name": name, "agent": EVIL_MESSAGE if number == 2 else f"agent-{number}",
            "model": "a-model/7b", "notes": EVIL_LINE, "resources": {"hours": 24, "gpus": 1},
        }  # fmt: skip
        assert admin.post("/v1/experiments", json=body).status_code == 201
    harness = admin.post("/v1/keys", json={"role": "harness", "experiment": names[0]}).json()["key"]
    filled = Filled(server, server.key, researcher, harness, "", names)
    filled.slugs, filled.folders = [folder.name for folder in folders], folders
    chance = random.Random(10)
    for number, name in enumerate(names):
        for folder in folders:
            for seed in range(3):
                filled.runs.append(_run(admin, folder, name, seed, number, chance))
    filled.run = filled.runs[0]["key"]
    _regrade(admin, REGRADED)
    at_regraded = [run for run in filled.runs if run["competition"] == REGRADED and run["sent"]]
    for run in at_regraded:  # the noise of some scores is known
        admin.get(f"/v1/submissions/{run['sent'][-1]}/uncertainty")
    filled.measured = [run["sent"][-1] for run in at_regraded]
    admin.close()
    return filled


def _regrade(admin: httpx.Client, slug: str) -> None:
    """Grade a competition's files anew, and apply what came."""
    made = admin.post(f"/v1/competitions/{slug}/regrades", json={}).json()
    end = time.monotonic() + 60
    while admin.get(f"/v1/regrades/{made['id']}").json()["state"] == "running":
        assert time.monotonic() < end
        time.sleep(0.05)
    done = admin.post(f"/v1/regrades/{made['id']}/apply", json={"reason": EVIL_LINE})
    assert done.status_code == 200, done.text


def _run(
    admin: httpx.Client, folder: Path, name: str, seed: int, number: int, chance: random.Random
) -> dict[str, Any]:
    """A run whose files and end are drawn: most are graded, some are rejected, empty or open."""
    feedback = ("validity", "public", "full")[number]
    body = {"experiment": name, "competition": folder.name, "seed": seed, "feedback": feedback}
    run: dict[str, Any] = admin.post("/v1/runs", json=body).json()
    own = {"Authorization": f"Bearer {run['key']}"}
    outcome = chance.random()
    files = []
    if outcome > 0.08:
        files.append(good_submission(folder, shift=chance.uniform(0.0, 0.9) * (1 + number / 2)))
    if outcome > 0.8:
        files.insert(0, b"id,target\nr1,<script>\nr1,1\nx9,\n")
    if 0.08 < outcome < 0.14:
        files = [b"id,target\nr1,abc\n"]
    sent = []
    for data in files:
        form = {
            "files": {"file": ("a.csv", data)},
            "data": {"message": EVIL_MESSAGE * (number == 2)},
        }
        answer = admin.post(
            f"/v1/runs/{run['id']}/submissions", headers={"Prefer": "wait=60", **own}, **form
        )
        assert answer.status_code == 201, answer.text
        sent.append(answer.json()["id"])
    if outcome > 0.02:
        usage = {"seconds": 3600 * (1 + seed), "prompt_tokens": 10**6, "completion_tokens": 10**5,
                 "cost_usd": 1.5 + number}  # fmt: skip
        change = {"state": "closed", "usage": usage}
        assert admin.patch(f"/v1/runs/{run['id']}", json=change).status_code == 200
    return {**run, "sent": sent, "open": outcome <= 0.02}
