"""The self-test of the walls: a process restricts itself like a job, and tries forbidden actions.

It reports every action that succeeds. It imports only the standard library, like
`sandbox`.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import signal
import tempfile
from collections.abc import Callable
from pathlib import Path

from app.graders.walls import sandbox
from app.graders.walls.attempts import TRIED_MB, attempts, works
from app.graders.walls.isolation import Isolation

ORPHAN_MILLISECONDS = 1000
BROKEN = ""  # a key beside the names of walls: why the test did not finish
TRIES = 3


def isolation(server: int) -> Isolation:
    """Find the walls that work on this machine, in a process made for the test.

    `server` is the process that a job must not reach. Call this before the process gives up the
    right to start others, and before any thread runs.
    """
    directory = None
    with contextlib.suppress(OSError):  # a machine that is read-only may have none
        directory = Path(tempfile.mkdtemp(prefix="podium-self-test-"))
    try:
        for _ in range(TRIES):  # a test that was killed because memory ran out says nothing
            found = _in_a_process(lambda: _try_everything(server, directory))
            if BROKEN not in found:
                break
    finally:
        if directory is not None:
            shutil.rmtree(directory, ignore_errors=True)
    broken = found.pop(BROKEN, [])
    found["orphans"] = ["a process outlives its parent"] if _orphans_live() else []
    notes = [f"{wall}: {text}" for wall, texts in found.items() for text in texts]
    notes += [f"self-test: {text}" for text in broken]
    walls = {name: not texts and not broken for name, texts in found.items()}
    return Isolation(**walls, notes=tuple(notes))


def _in_a_process(test: Callable[[], dict[str, list[str]]]) -> dict[str, list[str]]:
    """The result of a test in a separate process; under `BROKEN`, why there is none."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            result = test()
        except BaseException as error:  # after any error, no wall counts as working
            result = {BROKEN: [type(error).__name__]}
        os.write(writer, json.dumps(result).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        data = pipe.read()
    os.waitpid(child, 0)
    if not data:
        return {BROKEN: ["it ended without a result"]}
    found: dict[str, list[str]] = json.loads(data)
    return found


def _orphans_live() -> bool:
    """Whether a process that is to end with its parent is still there a second later."""
    reader, writer = os.pipe()
    parent = os.fork()
    if parent == 0:
        parent = os.getpid()
        if os.fork() == 0:
            with contextlib.suppress(OSError):
                sandbox.die_with(parent)
            os.write(writer, b"x%010d" % os.getpid())
            signal.pause()
        os.read(reader, 1)
        os._exit(0)
    os.close(writer)
    os.waitpid(parent, 0)
    orphan = os.read(reader, 10)
    waiting = select.poll()
    waiting.register(reader, select.POLLHUP)
    ended = bool(waiting.poll(ORPHAN_MILLISECONDS))  # the last writer has gone
    os.close(reader)
    if not ended:
        os.kill(int(orphan), signal.SIGKILL)
    return not ended


def _try_everything(server: int, directory: Path | None) -> dict[str, list[str]]:
    """The attempts that succeeded, for each wall; an empty list if all were refused."""
    walls = attempts(server, directory)
    failed = sandbox.confine(os.getppid(), starts_processes=True)
    privileges = _privileges(failed)  # while they can be read
    failed += sandbox.limit_memory(TRIED_MB) + sandbox.JobWalls((), TRIED_MB).put_up()
    found: dict[str, list[str]] = {}
    for wall, forbidden in walls.items():
        worked = [f"{name} is possible" for name, step in forbidden.items() if works(step)]
        reasons = [step.why for step in failed if step.wall == wall]
        # Without a directory of the test, this user's permissions may refuse actions that a wall
        # does not refuse. Then a wall that could not be put up counts as missing.
        is_tried = wall != "files" or directory is not None
        found[wall] = [*worked, *reasons] if worked or not is_tried else []
    found["privileges"] += privileges
    return found


def _privileges(failed: list[sandbox.FailedStep]) -> list[str]:
    """Which capabilities are left beyond root's to read files, and whether any can be gained."""
    lines = Path("/proc/self/status").read_text().splitlines()
    status = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
    left = int(status["CapEff"], 16) | int(status["CapPrm"], 16)
    found = [] if left & ~(1 << 2) == 0 else [f"the capabilities {left:x} are left"]
    found += [] if status["NoNewPrivs"].strip() == "1" else ["programs may grant privileges"]
    return found + [step.why for step in failed if found and step.wall == "privileges"]
