"""The base class of Podium's expected errors, those that several packages raise, and HTTP statuses.

Errors of a single module are defined there, as subclasses of these. The first line of a class's
docstring is the title in answers; the docstring is the page at `/problems/<name>`. The message of
an error says what is wrong, where, and what to do.
"""

from __future__ import annotations

import re
from typing import Any, ClassVar

MOST_PROBLEMS = 100  # told of one competition, which may have half a million


class PodiumError(Exception):
    """Something went wrong inside Podium."""

    status: ClassVar[int] = 500

    def __init__(self, detail: str = "", *, for_strangers: str = "", **extensions: Any) -> None:
        super().__init__(detail or self.title())
        self.detail = detail or self.title()
        self.for_strangers = for_strangers or self.detail  # does not say where files are stored
        self.extensions = extensions
        self.headers: dict[str, str] = {}

    @classmethod
    def title(cls) -> str:
        """The first line of the docstring, without its full stop."""
        return (cls.__doc__ or cls.__name__).strip().splitlines()[0].rstrip(".")

    @classmethod
    def slug(cls) -> str:
        """The name of the error in `/problems/<name>`.

        >>> RunClosed.slug()
        'run-closed'
        """
        return re.sub(r"(?<!^)(?=[A-Z])", "-", cls.__name__).lower()


class Invalid(PodiumError):
    """The request has a value that is not allowed."""

    status = 422


class BadRequest(PodiumError):
    """The request is not well formed."""

    status = 400


class MethodNotAllowed(PodiumError):
    """This address does not support this method.

    The header `Allow` lists the supported methods.
    """

    status = 405


class Unauthorized(PodiumError):
    """No valid key was given."""

    status = 401

    def __init__(self, detail: str = "", **extensions: Any) -> None:
        super().__init__(detail, **extensions)
        self.headers = {"WWW-Authenticate": 'Bearer realm="podium"'}


class Forbidden(PodiumError):
    """This key may not do that."""

    status = 403


class RunArchived(Forbidden):
    """The run of this key is archived, or its experiment or competition.

    Nothing is deleted: an admin can restore it, and then the key works again.
    """


class NotFound(PodiumError):
    """There is nothing under this name.

    Over HTTP: nothing that this key may see. Another key may find it.
    """

    status = 404


class Conflict(PodiumError):
    """The request conflicts with the current state."""

    status = 409


class CannotStart(Conflict):
    """Podium cannot start."""


class NoResults(Conflict):
    """There are no results yet."""


class SchemaTooNew(Conflict):
    """The database was migrated by a newer Podium than this one."""


class UnknownSchema(Conflict):
    """The database does not say which schema it has."""


class BadDatabaseUrl(Conflict, ValueError):
    """PODIUM_DATABASE_URL names no database that Podium can use."""


class RunClosed(Conflict):
    """The run is closed and accepts no more submissions."""


class NeedsData(Conflict):
    """The competition's data has not been imported yet."""


class TakesNoSubmissions(Conflict):
    """The competition's results are measured by a harness, so nothing can be submitted."""


class AttemptsMissing(Conflict):
    """Some attempts have no result, and `padding` does not say how to count them.

    Carries `missing`: a list of `{competition, seed}`.
    """


class TooLarge(PodiumError):
    """The body is larger than this service accepts."""

    status = 413


class QuotaExceeded(PodiumError):
    """The run has used up its submissions for now."""

    status = 429

    def __init__(self, detail: str, retry_after: int, **extensions: Any) -> None:
        super().__init__(detail, **extensions)
        self.headers = {"Retry-After": str(max(1, retry_after))}


class TooManyFailures(QuotaExceeded):
    """Grading failed for too many files of this run.

    A file for which grading fails reveals something about the private answers. So a run may have
    only a number of them (PODIUM_RUN_FAILURES). They use up none of its submissions. Where a
    competition has its own metric, or a file of the run failed before, a file without an outcome
    counts as a failure (not under the policy `full`): wait for outcomes, then send the next file.
    If the number is used up, waiting does not help. An admin finds the reasons in `podium faults`.
    """


class Unavailable(PodiumError):
    """Podium cannot answer now; the same request may succeed later."""

    status = 503

    def __init__(self, detail: str = "", retry_after: int = 2, **extensions: Any) -> None:
        super().__init__(detail, **extensions)
        self.headers = {"Retry-After": str(retry_after)}


class StoreAway(Unavailable):
    """The store of files cannot be reached now."""


class StorageFull(PodiumError):
    """Podium's disk is full."""

    status = 507


class DiskReserved(StorageFull):
    """Podium's disk is nearly full, and the rest is kept for the database.

    Nothing was stored. Grading, results and small requests go on. An operator has to free space,
    for example with `podium gc`; PODIUM_DISK_RESERVE_PERCENT says how much is kept.
    """


class DamagedFile(PodiumError):
    """A stored file is missing or damaged. This is Podium's fault."""


class DamagedRow(PodiumError):
    """A row of the database is damaged. This is Podium's fault."""

    def __init__(self, what: str) -> None:
        super().__init__(
            f"The database is damaged: {what}. Restore a backup (`podium restore`) into a new "
            "PODIUM_DATA_DIR, or mend a copy of it: of SQLite, `PRAGMA integrity_check` says more."
        )


class BadSettings(PodiumError):
    """A setting cannot be used."""


class BadCompetition(Invalid):
    """The competition folder has mistakes.

    Carries `problems`: a list of `{file, key, message}`, of which the first hundred are told.
    """

    def __init__(self, problems: list[dict[str, str]], **extensions: Any) -> None:
        self.problems = problems[:MOST_PROBLEMS]
        text = "; ".join(
            ": ".join(part for part in (p["file"], p["key"], p["message"]) if part)
            for p in self.problems
        )
        if len(problems) > MOST_PROBLEMS:
            text += f"; and {len(problems) - MOST_PROBLEMS:,} more mistakes"
        super().__init__(text, problems=self.problems, **extensions)


class MetricFault(PodiumError):
    """The metric could not score a well-formed submission. This is the competition's fault."""


class GradingFault(PodiumError):
    """Grading failed. This is Podium's or the competition's fault, not the submission's."""
