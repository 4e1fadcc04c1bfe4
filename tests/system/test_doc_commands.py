"""Every command block of README.md and docs/*.md is run as it is written.

A block that cannot run here has a comment before it, `<!-- not run: REASON -->`. One server is
started with an empty environment in an empty directory. Addresses, keys and names of files that
stand for the reader's own are replaced; commands are not. The first `podium` command of each kind
is started, later ones are forked.
"""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
import yaml

from app.graders.runtime_env import ONE_THREAD
from tests.api.conftest import packed
from tests.api.test_mlagentbench_results import evaluation
from tests.factories import good_submission, write_competition
from tests.grading_reports import entry, medal_lines, report, suites
from tests.kaggle_api.installed import installed
from tests.podium_on_path import PodiumOnPath
from tests.server import KEY, free_port

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NOT_RUN = re.compile(r"<!-- not run: (.+) -->\n\Z")
SHELLS = ("sh", "bash")
# The order in which a reader meets them: results need the runs of http.md.
ORDER = (
    "README.md", "kaggle.md", "competitions.md", "http.md", "results.md", "operations.md",
    "harnesses.md", "pages.md", "receipts.md", "regrades.md",
    "reviews.md",
)  # fmt: skip
BIKE = "bike-sharing-demand"


@dataclass(frozen=True)
class Block:
    """A fenced block of a page. `reason` says why it is not run, or is empty."""

    page: str
    line: int
    language: str
    text: str
    reason: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def blocks() -> list[Block]:
    found = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for fence in FENCE.finditer(text):
            before = text[: fence.start()]
            marked = NOT_RUN.search(before)
            found.append(
                Block(page.name, before.count("\n") + 1, fence[1], fence[2],
                      marked[1] if marked else "")
            )  # fmt: skip
    return found


ALL = blocks()
COMMANDS = [block for block in ALL if block.language in SHELLS]
RUN = sorted(
    (block for block in COMMANDS if not block.reason), key=lambda block: ORDER.index(block.page)
)


class Reader:
    """Somebody with the pages, an empty directory, and a Podium that was installed."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.bin = home / "bin"
        self.bin.mkdir(parents=True)
        self.podium = PodiumOnPath(self.bin / "podium")
        (self.bin / "kaggle").symlink_to(installed("kaggle-2.2.5") / "kaggle")
        curl = self.bin / "curl"  # without --fail, curl's status is 0 for every answer
        curl.write_text(f'#!/bin/sh\nexec {shutil.which("curl")} --fail-with-body "$@"\n')
        curl.chmod(0o755)
        self.url = f"http://127.0.0.1:{free_port()}"
        self.environment = {"PATH": f"{self.bin}:/usr/bin:/bin", "HOME": str(home), **ONE_THREAD}
        self.log = (home / "log").open("wb")
        self.server = subprocess.Popen(
            [self.bin / "podium", "serve", "--port", self.url.rpartition(":")[2]],
            env=self.environment, cwd=home, stdout=subprocess.PIPE, text=True,
            stderr=self.log,
        )  # fmt: skip
        assert self.server.stdout is not None
        said = self.server.stdout.readline()
        assert KEY.search(said), (home / "log").read_text()
        self.admin = KEY.findall(said)[0]
        self.server.stdout.readline()
        self._make_run()
        self._write_files()

    def _make_run(self) -> None:
        with httpx.Client(
            base_url=self.url, headers={"Authorization": f"Bearer {self.admin}"}, trust_env=False
        ) as client:
            client.post("/v1/experiments", json={"name": "walk", "agent": "a", "model": "m"})
            run = client.post(
                "/v1/runs", json={"experiment": "walk", "competition": BIKE, "seed": 0}
            ).json()
            self.sample = client.get(f"/v1/competitions/{BIKE}/sample-submission").content
        self.run, self.key = run["id"], run["key"]

    def _write_files(self) -> None:
        self.folder = self.home / "path" / "to" / "my-competition"
        self.folder.parent.mkdir(parents=True)
        write_competition(self.folder)
        rows = [f"{n % 12},{n},{n * n % 17 / 3}\n" for n in range(60)]
        (self.home / "table.csv").write_text("".join(["city,size,price\n", *rows]))
        (self.home / "my-competition.zip").write_bytes(packed(self.folder))
        lines = medal_lines()
        entries = [entry(lines[slug], None) for slug in suites()["mle-bench"]]
        graded = json.dumps(report(entries))
        (self.home / "grading_report.json").write_text(graded)
        (self.home / "runs" / "2025-01-01-group").mkdir(parents=True)
        (self.home / "runs" / "2025-01-01-group" / "grading_report.json").write_text(graded)
        (self.home / "run_group_experiments.csv").write_text(
            "experiment_id,run_group\nfrom-mle-bench,2025-01-01-group\n"
        )
        (self.home / "results.json").write_text(json.dumps(evaluation()))
        self.bash("podium import grading-report my-experiment grading_report.json --seed 0")

    def replaced(self, text: str) -> str:
        """The block with the reader's own address, keys and directories."""
        for said, own in (
            ("http://podium:7777", self.url), ("http://127.0.0.1:7777", self.url),
            ("pod_admin_...", self.admin), ("pod_run_...", self.key), ("run_...", self.run),
            ("/backups/", f"{self.home}/backups/"), ("/new/place", f"{self.home}/new/place"),
        ):  # fmt: skip
            text = text.replace(said, own)
        return text

    def bash(self, text: str) -> subprocess.CompletedProcess[str]:
        own = "my-competition" in text
        (self.home / "submission.csv").write_bytes(
            good_submission(self.folder) if own else self.sample
        )
        return subprocess.run(
            ["bash", "-euo", "pipefail", "-c", self.replaced(text)], cwd=self.home,
            env={**self.environment, "PODIUM_URL": self.url, "PODIUM_KEY": self.admin,
                 "PODIUM_RUN": self.run} if "$PODIUM" in text or "--experiment" in text
            else self.environment,
            capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip

    def close(self) -> None:
        self.server.send_signal(signal.SIGTERM)
        self.server.wait(30)
        if self.server.stdout:
            self.server.stdout.close()
        self.podium.close()
        self.log.close()


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    found = Reader(tmp_path_factory.mktemp("reader"))
    yield found
    found.close()


def test_every_block_runs_or_says_why_not(reader: Reader) -> None:
    failed = []
    for block in RUN:
        ran = reader.bash(block.text)
        if ran.returncode:
            failed.append(f"{block}: {ran.stdout[-600:]}{ran.stderr[-600:]}")

    skipped = [f"{block}: {block.reason}" for block in COMMANDS if block.reason]
    print(f"{len(RUN)} blocks ran, {len(skipped)} did not:", *skipped, sep="\n  ")  # noqa: T201
    assert not failed, "\n\n".join(failed)
    assert len(RUN) > len(skipped) // 2


def test_every_block_says_its_language() -> None:
    assert [str(block) for block in ALL if not block.language] == []


def test_tests_that_run_a_block_instead_exist() -> None:
    for block in COMMANDS:
        for path in re.findall(r"\b(?:tests|docs)/[\w/.]+\w", block.reason):
            assert (ROOT / path).exists(), f"{block} names {path}"
        assert not block.reason or len(block.reason.split()) >= 3, str(block)


@pytest.mark.parametrize(
    "block", [b for b in ALL if b.language in ("toml", "yaml", "python")], ids=str
)
def test_examples_of_files_are_well_formed(block: Block) -> None:
    if block.language == "toml":
        tomllib.loads(block.text)
    elif block.language == "yaml":
        yaml.safe_load(block.text)
    else:
        compile(block.text, str(block), "exec")


def test_the_targets_of_make_on_the_pages_exist() -> None:
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    for page in [*PAGES, ROOT / "CONTRIBUTING.md"]:
        for name in re.findall(r"(?:^|`)make ([a-z-]+)", page.read_text(), re.MULTILINE):
            assert name in targets, f"{page.name}: make {name}"
