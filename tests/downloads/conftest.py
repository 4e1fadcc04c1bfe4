"""A fake Kaggle, and the command that downloads from it."""

from __future__ import annotations

import io
import json
import os
import random
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.forkserver import PodiumProcess, run_podium

ROOT = Path(__file__).parents[2]
CACTUS = "aerial-cactus-identification"
IMAGES = 60


@dataclass
class FakeKaggle:
    """The server, and a Podium's command line that takes it for Kaggle."""

    home: Path
    port: int
    work: Path
    faults: dict[str, Any] = field(default_factory=dict)

    def fail(self, **faults: Any) -> None:
        """From now on these faults and no others."""
        file = self.home / "faults.new"
        file.write_text(json.dumps(faults))
        file.replace(self.home / "faults.json")

    def requests(self) -> list[str]:
        log = self.home / "requests.log"
        return log.read_text().splitlines() if log.exists() else []

    def sent(self) -> int:
        """The bytes of archives that were sent by ranges."""
        return sum(int(line.split()[3]) for line in self.requests() if " bytes=" in line)

    @property
    def data(self) -> Path:
        return self.work / "data"

    @property
    def environment(self) -> dict[str, str]:
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("PODIUM_", "KAGGLE"))}
        proxy = f"http://127.0.0.1:{self.port}"
        return {
            **kept, "HOME": str(self.work), "COLUMNS": "200",
            "PODIUM_DATA_DIR": f"{self.work}/../{self.work.name}/data",  # as ../data would be
            "PODIUM_COMPETITIONS_DIR": str(self.work / "competitions"),
            "KAGGLE_API_ENVIRONMENT": "LOCALHOST", "HTTP_PROXY": proxy, "http_proxy": proxy,
            "KAGGLE_USERNAME": "admin", "KAGGLE_KEY": "secret-of-the-account",
        }  # fmt: skip

    def podium(self, *words: object) -> subprocess.CompletedProcess[str]:
        return run_podium(
            words, env=self.environment, capture_output=True, text=True, check=False, timeout=240
        )

    def start(self, *words: str) -> PodiumProcess:
        return PodiumProcess(
            words, env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    def root(self, slug: str = CACTUS) -> str:
        file = self.data / "prepared" / slug / "manifest.json"
        return str(json.loads(file.read_text())["root"])

    def files(self, slug: str, members: dict[str, str | bytes]) -> Path:
        """An archive of these files on the server, and no folder."""
        archive = self.home / f"{slug}.zip"
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
            for name, content in members.items():
                packed.writestr(name, content)
        return archive

    def competition(self, slug: str = CACTUS, megabytes: float = 1.5) -> Path:
        """A folder, and its archive on the server: a table, and images that do not compress."""
        folder = self.work / "competitions" / slug
        if slug != CACTUS:
            shutil.copytree(ROOT / "competitions" / CACTUS, folder)
        elif not folder.exists():
            shutil.copytree(ROOT / "competitions" / slug, folder)
        names = [f"c{number}.jpg" for number in range(IMAGES)]
        chance = random.Random(slug)
        archive = self.home / f"{slug}.zip"
        images = io.BytesIO()
        with zipfile.ZipFile(images, "w") as packed:
            for name in names:
                packed.writestr(f"train/{name}", chance.randbytes(int(megabytes * 1e6 / IMAGES)))
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
            packed.writestr("sample_submission.csv", "id,has_cactus\n")
            packed.writestr("train.zip", images.getvalue(), compresslevel=0)  # of random bytes
            lines = [f"{name},{number % 2}" for number, name in enumerate(names)]
            packed.writestr("train.csv", "\n".join(["id,has_cactus", *lines]))
        return archive


@pytest.fixture
def kaggle(tmp_path: Path) -> Iterator[FakeKaggle]:
    home, work = tmp_path / "kaggle", tmp_path / "work"
    home.mkdir()
    (work / "competitions").mkdir(parents=True)
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.downloads.fake_kaggle", str(home)], cwd=ROOT,
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    yield FakeKaggle(home, int(process.stdout.readline()), work)
    process.kill()
    process.wait()
    process.stdout.close()
