"""The process of one competition with a metric.py: keeps its answers, and starts a process per job.

It runs only Podium's code: it checks files and computes places on the leaderboard. The processes
of the jobs load the metric.py. They are copies of this process, so that the answers are decoded
and the libraries imported already, and nothing of them stays.
"""

from __future__ import annotations

import ast
import contextlib
import gc
import importlib
import math
import select
import socket
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

from app.graders.messages import protocol
from app.graders.messages.framing import receive, send
from app.graders.messages.protocol import Request
from app.graders.messages.reply_writing import Answer
from app.graders.messages.results import CompetitionCheck, GraderFault
from app.graders.program import version_loader
from app.graders.program.child import starting
from app.graders.program.competition_check import check_competition
from app.graders.program.faults import answer_for, answer_of
from app.graders.program.job_limits import JobLimits
from app.graders.program.job_process import (
    JobRules,
    check_in_process,
    score_in_process,
    serve_job,
)
from app.graders.program.job_starter import JobStarter
from app.graders.program.tasks import read_file
from app.graders.version_folder import VersionFolder
from app.graders.walls.sandbox import JobWalls
from app.graders.walls.syscalls import give_back_memory
from app.grading.custom_metric import compile_metric
from app.grading.graded import Graded
from app.grading.sketch import sketch_of

IDLE_MILLISECONDS = 500  # without a job; then the process frees memory
# A job's process is kept so long after its reply, while the server stores the grade: to end it and
# to prepare the next takes the processor for longer than a small job. Where requests follow each
# other within `SOON_SECONDS`, the next process is prepared at once.
KEPT_MILLISECONDS, SOON_SECONDS = 5, 0.02
# Packages whose modules are imported before a job that needs them. Importing them in the process
# of each job could take longer than the job; and they run no code of a metric.py.
PRELOADED = frozenset({"numpy", "pandas", "pyarrow", "rapidfuzz", "scipy", "sklearn"})


class CompetitionProcess:
    """The process of one competition: checks files, lets jobs score them, computes their places.

    `is_broken` says that it can start no more jobs.
    """

    def __init__(self, folder: VersionFolder, rules: JobRules) -> None:
        """Load the competition's version.

        Raises:
            BadCompetition: one of its files cannot be used.
        """
        self._loaded = version_loader.load_without_metric(folder)
        for name in modules_to_preload(self._loaded.metric_source):
            # The metric itself will report that it is missing, or that it ends the process, as the
            # modules do that are commands, or raises what is no Exception, as tests do.
            with contextlib.suppress(BaseException):
                importlib.import_module(name)
        with contextlib.suppress(SyntaxError, ValueError):
            compile_metric(self._loaded.metric_source)
        walls = JobWalls((folder.path,), rules.memory_mb)
        self.kept_bytes = version_loader.version_bytes(self._loaded)
        give_back_memory()
        gc.collect()
        gc.freeze()  # so that garbage collection in a job does not copy these objects
        self.is_broken = False
        self._starter = JobStarter(
            partial(serve_job, loaded=self._loaded, walls=walls, rules=rules),
            walls.descriptors,
            JobLimits(rules.memory_mb),
        )

    def grade(self, file: Path, sha256: str) -> Answer:
        """Grade one submission file.

        Raises:
            Rejection: the file is invalid.
            DamagedFile: it is missing, or its SHA-256 is not `sha256` (if given).
        """
        loaded = self._loaded
        answers = loaded.answers
        checked = answers.check(partial(read_file, file, sha256))
        frames = {name: checked.frame(part.rows) for name, part in answers.parts.items()}
        try:
            scored = score_in_process(self._starter, frames)
        except (EOFError, OSError):
            self.is_broken = True
            return GraderFault("crashed", "the process that starts jobs ended")
        if isinstance(scored, GraderFault):
            return scored
        board = loaded.leaderboard
        return Graded(
            score=scored.score,
            public_score=scored.public_score,
            search_score=scored.search_score,
            standing=None if board is None else board.standing(scored.score),
            warnings=checked.warnings,
            sketch=sketch_of(checked),
        )

    def end_job(self) -> None:
        """End the last job's process, if there was one; then the next one is prepared."""
        with contextlib.suppress(OSError):  # then this process is broken, and is replaced
            self._starter.end()


def folder_of(request: Request) -> VersionFolder:
    """The version that a request is about."""
    return VersionFolder(request.slug, Path(request.version_dir))


def serve_competition(channel: socket.socket, rules: JobRules) -> None:
    """Serve the competition that the first message names, until the parent closes the channel.

    If that message is a request for a check, reply to it and return. Otherwise load the version,
    and grade.
    """
    first = protocol.read(Request, receive(channel))
    folder = folder_of(first)
    if first.task == "check":
        checked = answer_of(partial(_check, folder, rules))
        send(channel, protocol.write_reply(first.id, checked, 0))
        return
    try:
        process = CompetitionProcess(folder, rules)
    except BaseException as error:
        request = protocol.read(Request, receive(channel))
        fault = answer_for(error)
        send(channel, protocol.write_reply(request.id, fault, 0, retire=True))
        return
    idle = select.poll()
    idle.register(channel, select.POLLIN)
    replied = -math.inf
    while True:
        if not idle.poll(IDLE_MILLISECONDS):
            give_back_memory()
        try:
            request = protocol.read(Request, receive(channel))
        except EOFError:
            return
        came_soon = time.monotonic() - replied < SOON_SECONDS
        answer = answer_of(partial(process.grade, Path(request.file), request.sha256))
        retire = process.is_broken or answer == GraderFault("memory")
        send(channel, protocol.write_reply(request.id, answer, process.kept_bytes, retire=retire))
        replied = time.monotonic()
        if not came_soon:
            idle.poll(KEPT_MILLISECONDS)
        process.end_job()


def _check(folder: VersionFolder, rules: JobRules) -> Answer:
    """Check a competition: the files here, and only its metric.py in the process that runs it.

    That process could say that any files are right.
    """
    files = check_competition(folder, without_metric=True)
    give_back_memory()
    with starting():
        tried = check_in_process(folder, rules)
    if not isinstance(tried, CompetitionCheck):
        return files if files.problems else tried
    problems = (*files.problems, *(one for one in tried.problems if one not in files.problems))
    return replace(
        files,
        problems=problems,
        answers_score=tried.answers_score,
        sample_score=tried.sample_score,
    )


def modules_to_preload(source: str) -> list[str]:
    """The modules of well-known packages that a metric.py imports, in its order.

    >>> modules_to_preload("import numpy as np, os; from scipy import stats; import evil.scipy")
    ['numpy', 'scipy', 'scipy.stats']
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    names: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    known = [name for name in names if name.partition(".")[0] in PRELOADED]
    return list(dict.fromkeys(known))
