"""The facts about a competition version that signals need: its bound, board and sample."""

from __future__ import annotations

import logging
import threading
from concurrent.futures import CancelledError, wait
from dataclasses import dataclass

from app.domain.competition import METRIC_FILE, SAMPLE_FILE
from app.domain.leaderboard import Leaderboard
from app.errors import PodiumError
from app.grading.graded import Graded
from app.review.scores import bound_of
from app.services.grading.send_to_grader import send_to_grader
from app.services.runtime.context import Context
from app.storage.database.records import VersionFileRecord
from app.storage.queries import version_files
from app.storage.queries.reviews.sketches import digest_of

WAIT_SECONDS = 0.5  # between checks whether this process ends
log = logging.getLogger("podium.reviews")


@dataclass(frozen=True, slots=True)
class VersionFacts:
    """A version's facts. `bound` is None for a metric.py, whose best score is not known.

    `sample_digest` is the digest of the sample submission's predictions; None if it is not valid.
    """

    higher_is_better: bool
    bound: float | None
    board: Leaderboard | None
    sample_digest: str | None


class Stopped(Exception):
    """This process ends."""


def version_facts(context: Context, version_id: int, stopping: threading.Event) -> VersionFacts:
    """Read a version's facts; its sample submission is graded once for its sketch.

    Raises:
        Stopped: `stopping` was set meanwhile.
    """
    entry = context.catalogue.of_version(version_id)
    with context.database.read() as session:
        files = {one.path: one for one in version_files.all_files(session, version_id)}
    higher = entry.competition.metric.higher_is_better
    return VersionFacts(
        higher_is_better=higher,
        bound=None if METRIC_FILE in files else bound_of(higher_is_better=higher),
        board=entry.leaderboard,
        sample_digest=_sample_digest(context, version_id, files.get(SAMPLE_FILE), stopping),
    )


def _sample_digest(
    context: Context,
    version_id: int,
    sample: VersionFileRecord | None,
    stopping: threading.Event,
) -> str | None:
    if sample is None:
        return None
    try:
        grading = send_to_grader(context, version_id, sample.sha256)
        while not wait([grading], WAIT_SECONDS).done:
            if stopping.is_set():
                raise Stopped
        found = grading.result()
    except CancelledError:
        raise Stopped from None
    except PodiumError as error:
        log.warning("cannot read a sample submission", extra={"error": type(error).__name__})
        return None
    if not isinstance(found, Graded) or found.sketch is None:
        return None
    return digest_of(found.sketch)
