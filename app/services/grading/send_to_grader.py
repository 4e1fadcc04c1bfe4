"""Fetch the files that a grading needs to this machine, and send them to a grader."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable
from concurrent.futures import Future

from app.errors import DamagedFile, Unavailable
from app.graders.messages.results import GraderFault, GradingResult
from app.graders.version_folder import VersionFolder
from app.services.runtime.context import Context

log = logging.getLogger("podium.storage")


def send_to_grader(
    context: Context, version_id: int, sha256: str, begun: Callable[[], None] = lambda: None
) -> Future[GradingResult]:
    """Let a grader grade a blob against a competition version. Returns without waiting.

    `begun` is called in the thread of the grader slot, just before a grader receives the file.

    The outcome is a GraderFault if the store has lost or damaged a file. The future raises
    `Unavailable` or `StorageFull` if a file cannot be fetched at the moment.
    """
    if context.blobs.is_local:
        return _grade(context, version_id, sha256, begun)
    outcome: Future[GradingResult] = Future()

    def fetch() -> None:
        try:
            grading = _grade(context, version_id, sha256, begun)
        except BaseException as error:
            outcome.set_exception(error)
        else:
            grading.add_done_callback(forward_outcome)

    def forward_outcome(grading: Future[GradingResult]) -> None:
        if grading.cancelled():
            _cancel(outcome)
        else:
            outcome.set_result(grading.result())

    def forward_cancel(fetching: Future[None]) -> None:
        if fetching.cancelled():  # this process is ending
            _cancel(outcome)

    try:
        context.fetching.submit(fetch).add_done_callback(forward_cancel)
    except RuntimeError:
        raise Unavailable("Podium is shutting down.") from None
    return outcome


def _grade(
    context: Context, version_id: int, sha256: str, begun: Callable[[], None]
) -> Future[GradingResult]:
    with contextlib.ExitStack() as leases:
        try:
            version = context.catalogue.version(version_id)
            files = leases.enter_context(context.catalogue.files.lease(version, answers=True))
            blob = leases.enter_context(context.blobs.lease(sha256))
        except DamagedFile as error:
            log.error("a stored file is missing or damaged", extra={"reason": error.detail})  # noqa: TRY400
            return _finished_future(GraderFault("storage", "the store"))
        grading = context.graders.grade(
            VersionFolder(version.slug, files.path), blob.path, sha256, begun
        )
        moved_leases = leases.pop_all()
        grading.add_done_callback(lambda _: moved_leases.close())
        return grading


def _finished_future(outcome: GradingResult) -> Future[GradingResult]:
    future: Future[GradingResult] = Future()
    future.set_result(outcome)
    return future


def _cancel(outcome: Future[GradingResult]) -> None:
    if outcome.cancel():
        outcome.set_running_or_notify_cancel()
