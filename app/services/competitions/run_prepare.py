"""Run a competition's prepare.py in a process of its own."""

from __future__ import annotations

import ast
import errno
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import IO

from app.errors import BadCompetition, StorageFull
from app.preparation.raw_names import require_no_way_out

PREPARE = "prepare.py"
# The function of a prepare.py that reads raw files in place, also from an archive, and writes files
# in MLE-bench's layout.
PREPARE_FILES = "prepare_files"
WATCH_SECONDS = 1.0
# Variables of settings and of credentials: Kaggle's, those of the store and of the database.
HIDDEN = ("AWS_", "KAGGLE", "PGPASS", "PODIUM")
MAX_ERROR_BYTES = 1 << 16  # of what prepare.py writes as errors; the last line is shown
Fetch = Callable[[str], None]  # brings a member of an archive that is not all there
Watch = Callable[[], None]  # raises what should end prepare.py


def reads_archives(folder: Path) -> bool:
    """Whether the folder's prepare.py reads raw files in place, also from an archive."""
    return PREPARE_FILES in functions(folder / PREPARE)


def functions(file: Path) -> set[str]:
    """The names of the functions of a Python file, which is not run; none for a broken file."""
    try:
        tree = ast.parse(file.read_bytes())
    except (SyntaxError, ValueError):
        return set()
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def copy_folder(folder: Path, prepared: Path) -> None:
    """Copy a competition folder without its data, and make empty folders for the data.

    Raises:
        BadCompetition: a link leads out of the folder.
    """
    require_no_way_out(folder, folder)
    shutil.copytree(folder, prepared, ignore=shutil.ignore_patterns("public", "private"))
    for part in ("public", "private"):
        (prepared / part).mkdir()


def run_prepare(
    folder: Path,
    raw: Path,
    prepared: Path,
    *,
    grading_only: bool = False,
    fetch: Fetch | None = None,
    watch: Watch | None = None,
) -> None:
    """Let the folder's prepare.py fill `public` and `private` in `prepared`.

    `fetch` is called with the name of each member of the archive `raw` before prepare.py reads it.
    `watch` is called every second. If either raises an exception, prepare.py is ended, and the
    exception is raised here. If this process dies, prepare.py ends too.

    Raises:
        BadCompetition: prepare.py failed; gives the last line of its error output.
        StorageFull: it says that a disk is full.
    """
    arguments = [str(path.resolve()) for path in (folder / PREPARE, raw, prepared)]
    places = [f"{arguments[2]}/{part}" for part in ("public", "private")]
    ours, theirs = socket.socketpair()
    flags = ["--parent", str(theirs.fileno())]
    flags += ["--asks"] if fetch else []
    flags += ["--grading-only"] if grading_only else []
    with ours, tempfile.TemporaryFile() as errors:
        with theirs:
            process = subprocess.Popen(  # noqa: S603 (a prepare.py is trusted as its folder is: see docs/operations.md)
                [sys.executable, "-B", "-m", "app.preparation.run", *arguments[:2], *places,
                 *flags],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors,
                cwd=prepared.parent, pass_fds=[theirs.fileno()], env=_environment(prepared.parent),
            )  # fmt: skip
        try:
            _serve(ours, process, fetch, watch)
            process.wait()
        finally:
            process.kill()
            process.wait()
        if process.returncode:
            status = process.returncode
            ended = f"it ended with status {status}" if status > 0 else "it was killed"
            message = _last_line(errors) or ended
            file = f"{folder.name}/{PREPARE}"
            if os.strerror(errno.ENOSPC) in message:
                raise StorageFull(
                    f"a disk is full, most likely that of {prepared.parent}: {file} ended with "
                    f"{message!r}. Free space, and prepare it again."
                )
            raise BadCompetition([{"file": file, "key": "", "message": message}])


def _serve(
    channel: socket.socket,
    process: subprocess.Popen[bytes],
    fetch: Fetch | None,
    watch: Watch | None,
) -> None:
    """Answer requests for members until the process has ended.

    The channel may stay open after the process has ended, because a process that it forked has the
    other end too.
    """
    channel.settimeout(WATCH_SECONDS)
    waiting = b""
    while True:
        try:
            got = channel.recv(1 << 16)
        except TimeoutError:
            if process.poll() is not None:
                return
            if watch is not None:
                watch()
            continue
        except ConnectionResetError:
            return
        if not got:
            return
        waiting += got
        *names, waiting = waiting.split(b"\0")
        for name in names:
            if fetch is not None:
                fetch(name.decode())
            channel.sendall(b"\0")


def _environment(scratch: Path) -> dict[str, str]:
    """Our variables without credentials and settings; temporary files are on the same disk."""
    # Settings are read whatever the case of their names.
    kept = {k: v for k, v in os.environ.items() if not k.upper().startswith(HIDDEN)}
    return {**kept, "TMPDIR": str(scratch)}


def _last_line(errors: IO[bytes]) -> str:
    errors.seek(max(0, errors.seek(0, os.SEEK_END) - MAX_ERROR_BYTES))
    lines = errors.read().decode(errors="replace").strip().splitlines()
    return lines[-1][:500] if lines else ""
