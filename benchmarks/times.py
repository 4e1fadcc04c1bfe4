"""Whether the time of an outcome tells the score: near and far files of each family of metrics.

`python -m benchmarks times [--step SECONDS] [FAMILY ...]`. For each family 300 near files (the
answers) and 300 far ones (the same cells in other rows) are sent in random order, as many bytes
each. Printed is the AUC of their times under `full`, where nothing is hidden, and under `validity`:
0.5 tells nothing.

The standard error of an AUC of so many equal times is 0.024, so one family in 27 lies outside of
0.45 to 0.55 by chance. Such a family is measured again, by runs of its own: by chance, a family is
outside twice on the same side once in 1,500. In strict turns the chance would be larger, for
times of one after another are alike.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import io
import itertools
import shutil
import tarfile
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import httpx
import numpy as np
from sklearn.metrics import roc_auc_score

from app.domain.competition import SAMPLE_FILE
from benchmarks.families import FAMILIES
from benchmarks.families.declared import declared
from benchmarks.families.family import Family
from benchmarks.families.measure import SEED, write_csv, write_files
from benchmarks.server import Server, running

ROWS = 2000
# Their masks are large: an archive may unpack to 1 GiB, and the files are sent 600 times.
FEWER_ROWS = {"hubmap-kidney-segmentation": 20, "uw-madison-gi-tract-image-segmentation": 432}
AGENTS, FILES = 8, 600
KNOWN = 120  # files under `full`
STEP = 0.25  # a quarter of the default, to be done in a quarter of the time
LOW, HIGH = 0.45, 0.55
SEEDS = itertools.count(1)  # of the series of hidden times: their runs are new ones


def main(*arguments: str) -> None:
    """Measure the named families, or all."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks times")
    parser.add_argument("--step", type=float, default=STEP, help="the first step, in seconds")
    parser.add_argument("families", nargs="*")
    wanted = parser.parse_args(arguments)
    unknown = sorted(set(wanted.families) - {family.slug for family in FAMILIES})
    if unknown:
        parser.error(f"there is no family {unknown[0]!r}")
    print(
        f"{ROWS} rows; {FILES} files under validity, the first step at {wanted.step} s; "
        f"{KNOWN} under full"
    )
    with (
        running(outcome_step_seconds=wanted.step) as server,
        tempfile.TemporaryDirectory() as directory,
    ):
        for family in FAMILIES:
            if not wanted.families or family.slug in wanted.families:
                print(f"{family.slug:50}", end=" ", flush=True)
                print(measured(server, family, Path(directory)), flush=True)


def measured(server: Server, family: Family, directory: Path) -> str:
    """One line about one family."""
    small = replace(family, rows=FEWER_ROWS.get(family.slug, ROWS))
    place = write_files(small, directory / family.slug)
    (place.version / "description.md").write_text("Measured.\n")
    shutil.copyfile(place.submission, place.version / SAMPLE_FILE)
    near, far = files(small, directory / family.slug)
    with httpx.Client(
        base_url=f"http://127.0.0.1:{server.port}", trust_env=False, timeout=120,
        headers={"Authorization": f"Bearer {server.key}"},
    ) as admin:  # fmt: skip
        sent = admin.post("/v1/competitions", files={"archive": packed(place.version, family.slug)})
        if sent.status_code >= 400:
            return f"not imported: {sent.json()['detail'][:100]}"
        known = series(server, new_run(admin, family.slug, "full", 0), near, far, KNOWN)
        hidden = [auc(hidden_series(server, admin, family.slug, near, far))]
        if is_outside(hidden[0]):
            hidden.append(auc(hidden_series(server, admin, family.slug, near, far)))
    told, values = auc(known), " ".join(f"{value:.3f}" for value in hidden)
    is_told = min(hidden) > HIGH or max(hidden) < LOW
    verdict = "  <-- outside 0.45 to 0.55" if is_told else ""
    return f"full {told:.3f}  validity {values}{verdict}"


def hidden_series(
    server: Server, admin: httpx.Client, slug: str, near: bytes, far: bytes
) -> list[tuple[bool, float]]:
    """Times under `validity`, of several agents at the same time, each with a new run."""
    seed = next(SEEDS)
    runs = [new_run(admin, slug, "validity", seed * AGENTS + one) for one in range(AGENTS)]
    with concurrent.futures.ThreadPoolExecutor(AGENTS) as together:
        each = together.map(lambda run: series(server, run, near, far, FILES // AGENTS), runs)
        return [one for found in each for one in found]


def is_outside(value: float) -> bool:
    return not LOW <= value <= HIGH


def files(family: Family, directory: Path) -> tuple[bytes, bytes]:
    """The answers as a submission, and the same cells moved by half of the rows.

    Where answers have other columns than submissions, the submission of the family is near.
    """
    data = family.make(np.random.default_rng(SEED), family.rows)
    ids = declared(family.slug).submission.id
    near = {name: data.answers.get(name, cells) for name, cells in data.submission.items()}
    far = {
        name: cells if name in ids else np.roll(np.asarray(cells), len(cells) // 2)
        for name, cells in near.items()
    }
    made = []
    for columns in (near, far):
        write_csv(columns, directory / "file.csv")
        made.append((directory / "file.csv").read_bytes())
    return made[0], made[1]


def packed(version: Path, slug: str) -> bytes:
    """The folder as a .tar.gz."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        archive.add(version, arcname=slug)
    return buffer.getvalue()


def new_run(admin: httpx.Client, slug: str, feedback: str, seed: int) -> tuple[str, str]:
    """A run's id and key."""
    body = {"experiment": "bench", "competition": slug, "seed": seed, "feedback": feedback}
    run = admin.post("/v1/runs", json=body).raise_for_status().json()
    return run["id"], run["key"]


def series(
    server: Server, run: tuple[str, str], near: bytes, far: bytes, count: int
) -> list[tuple[bool, float]]:
    """Times of near files and as many far ones, in random order: (is near, seconds)."""
    found = []
    order = np.random.default_rng().permutation(count) % 2 == 0
    with httpx.Client(
        base_url=f"http://127.0.0.1:{server.port}", trust_env=False, timeout=120,
        headers={"Authorization": f"Bearer {run[1]}", "Content-Type": "text/csv",
                 "Prefer": "wait=60"},
    ) as client:  # fmt: skip
        for is_near in order.tolist():
            body = near if is_near else far
            started = time.perf_counter()
            answer = client.post(f"/v1/runs/{run[0]}/submissions", content=body)
            found.append((is_near, time.perf_counter() - started))
            if answer.status_code != 201:
                raise RuntimeError(answer.text[:300])
    return found


def auc(times: list[tuple[bool, float]]) -> float:
    """How well the times tell near files from far ones."""
    return float(roc_auc_score([near for near, _ in times], [-seconds for _, seconds in times]))
