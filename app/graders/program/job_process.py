"""The process of one job that runs a metric.py: isolated, used once, then killed.

It is forked from a process that never runs code of a competition. It loads the metric.py, and all
changes of the metric.py end with the process: modules, threads, memory.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import select
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NoReturn, TypeVar

import pandas as pd
from pydantic import BaseModel

from app.errors import GradingFault
from app.graders.messages import protocol
from app.graders.messages.framing import (
    TooLargeMessage,
    is_anything_waiting,
    read_from_pipe,
    write_to_pipe,
)
from app.graders.messages.protocol import JobResult, ProtocolError, Scored
from app.graders.messages.reply_models import CheckModel, FaultModel
from app.graders.messages.reply_writing import Answer, answer_model
from app.graders.messages.results import GraderFault
from app.graders.program.child import start_child
from app.graders.program.competition_check import check_competition
from app.graders.program.faults import answer_for, answer_of
from app.graders.program.job_frames import receive_frames, send_frames
from app.graders.program.job_limits import WATCH_MILLISECONDS, JobLimits
from app.graders.program.job_starter import JobStarter
from app.graders.program.version_loader import LoadedCompetition, make_scorer
from app.graders.version_folder import VersionFolder
from app.graders.walls.sandbox import JobWalls
from app.grading.answers import PRIVATE, PUBLIC, SEARCH

M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class JobRules:
    """The limits of a job's process, and whether complete isolation is required."""

    memory_mb: int
    requires_isolation: bool


def rehearse() -> None:
    """Warm up the code paths of nearly every job, before the process is forked.

    A new process shares its memory with the one it was copied from, and the first write to a page
    copies the page: for a small job that takes longer than the job itself.
    """
    frame: pd.DataFrame = pickle.loads(_SMALL_FRAME)  # noqa: S301 (ours)
    score = float((frame["x"] - frame["x"]).abs().mean() + frame["x"].to_numpy().mean())
    protocol.write(JobResult(message=Scored(score=score, public_score=None)))


_SMALL_FRAME = pickle.dumps(pd.DataFrame({"id": ["a", "b"], "x": [0.5, 1.5]}), protocol=5)


def check_in_process(folder: VersionFolder, rules: JobRules) -> Answer:
    """Check a competition with a metric.py before its import."""

    def check() -> bytes:
        return protocol.write_check(answer_of(lambda: check_competition(folder)))

    walls = JobWalls((folder.path,), rules.memory_mb)
    try:
        result = _result_of(check, walls, rules)
    finally:
        walls.close()
    if isinstance(result, Scored):
        return GraderFault("crashed", "scores, where a check was asked for")
    if isinstance(result, GraderFault) and result.kind == "internal":
        # The metric.py ran in this process and may have changed anything in it.
        return GraderFault("metric", result.place)
    return result if isinstance(result, GraderFault) else result.result()


def score_in_process(
    starter: JobStarter, frames: Mapping[str, pd.DataFrame]
) -> Scored | GraderFault:
    """Score the predictions for each part of the answers by the competition's metric.py.

    `starter` starts processes that run `serve_job`. End the process afterwards.

    Raises:
        EOFError, OSError: the job starter is gone.
    """
    with _channel_to_job(starter) as channel:
        try:
            if is_anything_waiting(channel):
                return GraderFault("crashed", "a result, before the job was sent")
            channel.settimeout(None)
            send_frames(channel, list(frames.values()))
            # A read that waits would be woken too when the job reads, on the job's processor.
            arrives = select.poll()
            arrives.register(channel, select.POLLIN)
            received = read_from_pipe(channel.fileno(), arrives.poll)
            message = protocol.read(JobResult, received).message
        except ProtocolError as error:
            return GraderFault("crashed", str(error))
        except TooLargeMessage:
            return GraderFault("crashed", "too large a message")
        except (EOFError, OSError):
            return GraderFault("crashed", starter.ending())
    result = message.result() if isinstance(message, FaultModel) else message
    if isinstance(result, GraderFault) and result.kind in ("competition", "internal", "storage"):
        # Only the metric.py can be the cause of what fails here, and it may state any kind. Those
        # kinds are no failures of the run, so a metric.py could answer questions with them.
        return GraderFault("metric", result.place)
    if isinstance(result, CheckModel):
        return GraderFault("crashed", "a check, where scores were asked for")
    if isinstance(result, Scored) and result.parts() != set(frames):
        return GraderFault("crashed", "another number of scores than the answers have parts")
    return result


def _channel_to_job(starter: JobStarter) -> socket.socket:
    """The channel to a process for a job. One that ended while it waited is replaced once."""
    channel = starter.take()
    try:
        is_anything_waiting(channel)
    except (EOFError, OSError):
        channel.close()
        starter.end()
        return starter.take()
    return channel


def serve_job(
    channel: socket.socket, loaded: LoadedCompetition, walls: JobWalls, rules: JobRules
) -> NoReturn:
    """Be the process of one job: load the metric.py, wait for the frames, send their scores.

    Does not return: the job starter kills the process. If it ended by itself, that would take the
    processor from the processes that pass its result on, for longer than a small job takes.

    Raises:
        GradingFault: the walls are not complete, and the rules require them.
        EOFError: the competition's process ended, so there is no job.
    """
    _isolate(walls, rules)
    rehearse()
    descriptor = channel.fileno()
    failed: BaseException | None = None
    try:
        scorer = make_scorer(loaded.competition, loaded.metric_source)
        with contextlib.suppress(BaseException):  # scoring calls it again, and reports its error
            for part in loaded.answers.parts.values():
                part.truth(frames=True, prepare=scorer.prepare)
    except BaseException as error:
        failed = error
    frames = receive_frames(descriptor)
    result: Scored | FaultModel
    try:
        if failed is not None:
            raise failed
        pairs = zip(loaded.answers.parts.items(), frames, strict=True)
        scores = {name: scorer.score_rows(part, frame) for (name, part), frame in pairs}
        result = Scored(
            score=scores[PRIVATE],
            public_score=scores.get(PUBLIC),
            search_score=scores.get(SEARCH),
        )
    except BaseException as error:
        fault = answer_model(answer_for(error))
        if not isinstance(fault, FaultModel):  # a metric that raises Podium's own Rejection
            fault = FaultModel(type="fault", kind="metric", place="the metric failed")
        result = fault
    write_to_pipe(descriptor, protocol.write(JobResult(message=result)))
    while True:
        select.poll().poll()


def _isolate(walls: JobWalls, rules: JobRules) -> None:
    missing = walls.put_up()
    if missing and rules.requires_isolation:
        raise GradingFault("a job's process is not isolated")


def _result_of(
    job: Callable[[], bytes], walls: JobWalls, rules: JobRules
) -> Scored | CheckModel | GraderFault:
    """Run a job in a process of its own. Returns its message, or the fault that ended it."""
    reader, writer = os.pipe()
    limits = JobLimits(rules.memory_mb)

    def run() -> None:
        _isolate(walls, rules)
        write_to_pipe(writer, job())

    try:
        try:
            child = start_child(run, (writer, *walls.descriptors))
        finally:
            os.close(writer)
        try:
            waiting = select.poll()
            waiting.register(reader, select.POLLIN)

            def watch() -> None:
                # Before each part of the message: it may come byte by byte, or never in full.
                limits.enforce(child)
                while not waiting.poll(WATCH_MILLISECONDS):
                    limits.enforce(child)

            message = protocol.read(JobResult, read_from_pipe(reader, watch)).message
            return message.result() if isinstance(message, FaultModel) else message
        except ProtocolError as error:
            return GraderFault("crashed", str(error))
        except TooLargeMessage:
            return GraderFault("crashed", "too large a message")
        except EOFError:
            return GraderFault("crashed", child.ending(limits.enforce))
        finally:
            child.end()
    finally:
        os.close(reader)
