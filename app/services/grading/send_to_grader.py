"""Fetch the files that a grading needs to this machine, and send them to a grader."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any, TypeVar

from app.errors import DamagedFile, Unavailable
from app.graders.messages.results import GraderFault, GradingResult
from app.graders.version_folder import VersionFolder
from app.services.runtime.context import Context
from app.system_limits import is_used_up

log = logging.getLogger("podium.storage")
T = TypeVar("T")


def send_to_grader(
    context: Context, version_id: int, sha256: str, begun: Callable[[], None] = lambda: None
) -> Future[GradingResult]:
    """Let a grader grade a blob against a competition version. Returns without waiting.

    `begun` is called in the thread of the grader slot, just before a grader receives the file.

    The outcome is a GraderFault if the store has lost or damaged a file. The future raises
    `Unavailable` or `StorageFull` if a file cannot be fetched at the moment.
    """

    def grade(version: VersionFolder, file: Path) -> Future[GradingResult]:
        return context.graders.grade(version, file, sha256, begun)

    if context.blobs.is_local and context.catalogue.files.were_leased(version_id):
        return _ask(context, version_id, sha256, grade)  # there is nothing to fetch or to compare
    return with_files(context, version_id, sha256, grade)


def with_files(
    context: Context,
    version_id: int,
    sha256: str,
    ask: Callable[[VersionFolder, Path], Future[T]],
) -> Future[T]:
    """Fetch a competition version and a blob, and `ask` the graders. Returns without waiting.

    Another thread fetches and compares them, even from this machine's disk, because the caller may
    be the writer's thread, for which all writes would wait.

    Outcome and errors are as those of `send_to_grader`: the result may be a GraderFault too.
    """
    outcome: Future[T] = Future()

    def fetch() -> None:
        if outcome.cancelled():  # the caller got an error instead of it
            return
        try:
            grading = _ask(context, version_id, sha256, ask)
        except BaseException as error:
            outcome.set_exception(error)
        else:
            grading.add_done_callback(forward_outcome)

    def forward_outcome(grading: Future[T]) -> None:
        if grading.cancelled():
            _cancel(outcome)
        elif error := grading.exception():
            outcome.set_exception(error)
        else:
            outcome.set_result(grading.result())

    def forward_cancel(fetching: Future[None]) -> None:
        if fetching.cancelled():  # this process is ending
            _cancel(outcome)

    try:
        context.fetching.submit(fetch).add_done_callback(forward_cancel)
    except RuntimeError as error:
        outcome.cancel()
        if is_used_up(error):
            raise
        raise Unavailable("Podium is shutting down.") from None
    return outcome


def _ask(
    context: Context,
    version_id: int,
    sha256: str,
    ask: Callable[[VersionFolder, Path], Future[T]],
) -> Future[T]:
    with contextlib.ExitStack() as leases:
        try:
            version = context.catalogue.version(version_id)
            files = leases.enter_context(context.catalogue.files.lease(version, answers=True))
            blob = leases.enter_context(context.blobs.lease(sha256))
        except DamagedFile as error:
            log.error("a stored file is missing or damaged", extra={"reason": error.detail})  # noqa: TRY400
            return _finished_future(GraderFault("storage", "the store"))
        grading: Future[T] = ask(VersionFolder(version.slug, files.path), blob.path)
        moved_leases = leases.pop_all()
        grading.add_done_callback(lambda _: moved_leases.close())
        return grading


def _finished_future(outcome: GraderFault) -> Future[Any]:
    future: Future[Any] = Future()
    future.set_result(outcome)
    return future


def _cancel(outcome: Future[Any]) -> None:
    if outcome.cancel():
        outcome.set_running_or_notify_cancel()
