"""The attacks of a metric.py, with Podium run by an ordinary user instead of root.

In a mount namespace of its own this user reaches the Python that runs the tests, also if that lies
in root's home.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
USER = 12345
ATTACKS = ("test_walls.py", "test_hostile_metric.py", "test_required_isolation.py")


def closed_above(path: Path) -> Path | None:
    """The highest directory above `path` that others may not enter."""
    for directory in reversed(path.parents):
        if not directory.stat().st_mode & 0o001:
            return directory
    return None


def opening(needed: set[Path]) -> str:
    """Shell lines that let others reach these directories, and nothing else beside them."""
    lines = ["set -e"]
    closed: dict[Path, list[str]] = {}
    for needed_path in sorted(needed):
        above = closed_above(needed_path)
        if above is not None:
            closed.setdefault(above, []).append(shlex.quote(str(needed_path)))
    for directory, paths in closed.items():
        kept = [(f'"$kept{number}"', path) for number, path in enumerate(paths)]
        for number, (place, path) in enumerate(kept):
            lines += [f"kept{number}=$(mktemp -d)", f"mount --bind {path} {place}"]
        lines.append(f"mount -t tmpfs -o mode=755 tmpfs {shlex.quote(str(directory))}")
        for place, path in kept:
            lines += [f"mkdir -p {path}", f"mount --bind {place} {path}"]
    return "\n".join(lines)


def can_make_namespaces() -> bool:
    command = ["unshare", "--mount", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
    try:
        return not subprocess.run(command, capture_output=True, check=False).returncode
    except FileNotFoundError:
        return False


@pytest.mark.skipif(os.geteuid() != 0, reason="the other tests run as an ordinary user already")
def test_an_ordinary_user_has_every_wall_against_every_attack(tmp_path: Path) -> None:
    if not can_make_namespaces():
        pytest.skip("NOT TESTED as an ordinary user: this root may not make namespaces")
    home = Path("/dev/shm") / f"podium-{os.getpid()}"  # every user may reach it
    home.mkdir(mode=0o700)
    os.chown(home, USER, USER)
    needed = {Path(sys.prefix), Path(sys.base_prefix), ROOT}
    script = f'{opening(needed)}\nexec setpriv --reuid={USER} --regid={USER} --clear-groups "$@"\n'
    environment = {
        "PATH": os.environ["PATH"], "HOME": str(home), "TMPDIR": str(home),
        "PYTHONDONTWRITEBYTECODE": "1",
    }  # fmt: skip
    tests = [str(ROOT / "tests" / "attacks" / name) for name in ATTACKS]
    try:
        done = subprocess.run(
            ["unshare", "--mount", "sh", "-c", script, "sh", sys.executable, "-m", "pytest", "-q",
             "-p", "no:cacheprovider", "--basetemp", str(home / "pytest"), *tests],
            cwd=ROOT, env=environment, capture_output=True, text=True, timeout=900, check=False,
        )  # fmt: skip
    finally:
        shutil.rmtree(home)

    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert " failed" not in done.stdout
