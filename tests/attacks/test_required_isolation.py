"""PODIUM_REQUIRE_ISOLATION: a metric.py is refused where a wall is missing."""

import json
import os
import subprocess
import sys
import textwrap

import pytest

from tests.attacks.conftest import metric

# What a pool says of two competitions, in a process that an ordinary user or a limited root has.
PROGRAM = """
import json, os, sys
from pathlib import Path
before, requires = sys.argv[1], bool(int(sys.argv[2]))
exec(before)
from app.graders.pool import GraderPool
from app.graders.version_folder import VersionFolder
with GraderPool(
    processes=1, seconds=60, memory_mb=400, cache_mb=64, requires_isolation=requires
) as pool:
    pool.warm_up()
    found = {"missing": pool.isolation().missing(), "notes": pool.isolation().notes}
    for name in ("built", "own"):
        folder = Path(sys.argv[3], name, "v1")
        outcome = pool.grade(VersionFolder(name, folder), folder.parent / "file.csv").result(90)
        found[name] = getattr(outcome, "score", None)
        found[name + " fault"] = [getattr(outcome, "kind", ""), getattr(outcome, "place", "")]
print(json.dumps(found))
"""
# As on a kernel without Landlock: asking for it fails in all that is started here.
NO_LANDLOCK = """
import ctypes, struct
libc = ctypes.CDLL(None, use_errno=True)
steps = [(0x20, 0, 0, 0), (0x15, 0, 1, 444), (6, 0, 0, 0x00050000 | 38), (6, 0, 0, 0x7FFF0000)]
program = b"".join(struct.pack("<HBBI", *step) for step in steps)
buffer = ctypes.create_string_buffer(program)
filter = struct.pack("<HxxxxxxQ", len(steps), ctypes.addressof(buffer))
libc.prctl(38, 1, 0, 0, 0)
assert libc.prctl(22, 2, ctypes.c_char_p(filter), 0, 0) == 0, ctypes.get_errno()
"""


@pytest.fixture
def graded(tmp_path, competition):
    def run(before: str = "", *, requires: bool) -> dict:
        honest = metric("return float((answers['target'] - submission['target']).abs().sum())")
        for name, options in {"built": {}, "own": {"metric_py": honest}}.items():
            folder, _ = competition(leaderboard=None, usage=None, **options)
            folder.parent.rename(tmp_path / name)
        arguments = [textwrap.dedent(before), str(int(requires)), str(tmp_path)]
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, *arguments],
            capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr[-2000:]
        return json.loads(done.stdout)

    return run


def test_where_every_wall_is_there_a_metric_py_is_used(graded):
    found = graded(requires=True)
    assert (found["missing"], found["built"], found["own"]) == ([], 0.0, 0.0)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has Landlock")
def test_without_landlock_a_metric_py_is_refused_if_isolation_is_required(graded):
    found = graded(NO_LANDLOCK, requires=True)
    assert found["missing"] == ["reading"]
    assert found["built"] == 0.0
    assert found["own fault"] == ["isolation", "without reading"]
    assert any("landlock" in note for note in found["notes"])


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has Landlock")
def test_without_landlock_a_metric_py_is_used_and_cannot_write_otherwise(graded):
    found = graded(NO_LANDLOCK, requires=False)
    assert (found["missing"], found["own"]) == (["reading"], 0.0)


DOCKER = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
for capability in range(41):
    if not 0xA80425FB >> capability & 1:
        libc.prctl(24, capability, 0, 0, 0)
header = (ctypes.c_uint32 * 2)(0x20080522, 0)
kept = (ctypes.c_uint32 * 6)(0xA80425FB, 0xA80425FB, 0)
assert libc.capset(header, kept) == 0
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has capabilities to give up")
def test_root_with_a_containers_capabilities_drops_them_all(graded):
    """Without CAP_SYS_ADMIN the namespaces stay; the filter keeps the network away all the same."""
    found = graded(DOCKER, requires=False)
    assert (found["missing"], found["own"]) == ([], 0.0), found["notes"]
