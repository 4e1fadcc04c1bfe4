"""The one hierarchy of errors Podium raises on purpose, and the status each has over HTTP.

An error class says what kind of thing went wrong; its docstring is the title people read and the
page at `/problems/<name>`. The message given when raising says what, where, and what to do.
"""

from __future__ import annotations

import re
from typing import Any, ClassVar


class PodiumError(Exception):
    """Something went wrong inside Podium."""

    status: ClassVar[int] = 500

    def __init__(self, detail: str = "", **extensions: Any) -> None:
        super().__init__(detail or self.title())
        self.detail = detail or self.title()
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
    """The request cannot be understood as it stands."""

    status = 422


class BadRequest(PodiumError):
    """The request is not well formed."""

    status = 400


class TruncatedBody(BadRequest):
    """The body did not arrive whole.

    The connection ended before the last byte. Nothing was stored; send the request again.
    """


class MethodNotAllowed(PodiumError):
    """This address does not answer this method.

    The header `Allow` names the methods that it answers.
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


class NotFound(PodiumError):
    """What was asked for is not there.

    Over HTTP: not there for this key. Another key may find it.
    """

    status = 404


class Conflict(PodiumError):
    """This contradicts what is already there."""

    status = 409


class SchemaTooNew(Conflict):
    """The database was migrated by a newer Podium than this one."""


class BadDatabaseUrl(Conflict, ValueError):
    """PODIUM_DATABASE_URL names no database that Podium can use."""


class RunClosed(Conflict):
    """The run is closed and accepts nothing more."""


class NeedsData(Conflict):
    """The competition's data has not been imported yet."""


class TakesNoSubmissions(Conflict):
    """The competition's results are measured by a harness, so nothing can be submitted."""


class AttemptsMissing(Conflict):
    """Some attempts have no result, and nothing may be made up for them.

    Carries `missing`: a list of `{competition, seed}`.
    """


class ScoreContradicts(Conflict):
    """What is reported contradicts what the competition declares."""


class LeaderboardsMissing(Conflict):
    """Some competitions have no human leaderboard, so nobody can win a medal there.

    Carries `no_leaderboard`: a list of slugs.
    """


class BaselinesMissing(Conflict):
    """Some runs are at competitions without a known baseline, so success cannot be told of them.

    Carries `missing_baseline`: a list of `{competition, runs}`.
    """


class IdempotencyMismatch(Conflict):
    """The same Idempotency-Key came with other bytes."""


class TooLarge(PodiumError):
    """The body is larger than this service accepts."""

    status = 413


class NotAcceptable(PodiumError):
    """The answer cannot be given in any form that the Accept header allows."""

    status = 406


class UnsupportedMediaType(PodiumError):
    """The body is in a format this endpoint does not read."""

    status = 415


class QuotaExceeded(PodiumError):
    """The run has used up its submissions for now."""

    status = 429

    def __init__(self, detail: str, retry_after: int, **extensions: Any) -> None:
        super().__init__(detail, **extensions)
        self.headers = {"Retry-After": str(max(1, retry_after))}


class TooManyStreams(PodiumError):
    """This key has as many event streams open as it may have."""

    status = 429

    def __init__(self, detail: str = "", retry_after: int = 5, **extensions: Any) -> None:
        super().__init__(detail, **extensions)
        self.headers = {"Retry-After": str(retry_after)}


class RangeNotSatisfiable(PodiumError):
    """The file has no bytes in the range asked for."""

    status = 416


class Unavailable(PodiumError):
    """Podium cannot answer just now; the same request may succeed later."""

    status = 503

    def __init__(self, detail: str = "", retry_after: int = 2, **extensions: Any) -> None:
        super().__init__(detail, **extensions)
        self.headers = {"Retry-After": str(retry_after)}


class StoreAway(Unavailable):
    """The store of submitted files cannot be reached just now."""


class StorageFull(PodiumError):
    """Podium's disk is full."""

    status = 507


class DamagedFile(PodiumError):
    """A stored file is missing, or is not what was stored. This is Podium's fault."""


class BadSettings(PodiumError):
    """A setting of this Podium cannot be used."""


class BadCompetition(Invalid):
    """The competition folder is not one Podium can use.

    Carries `problems`: a list of `{file, key, message}`.
    """

    def __init__(self, problems: list[dict[str, str]], **extensions: Any) -> None:
        text = "; ".join(
            ": ".join(part for part in (p["file"], p["key"], p["message"]) if part)
            for p in problems
        )
        super().__init__(text, problems=problems, **extensions)
        self.problems = problems


class BadReport(Invalid):
    """The file is not a grading report of MLE-bench.

    Carries the `place` where it ceases to be one, and the `reason`.
    """


class BadEvaluation(Invalid):
    """The file is not what MLAgentBench's evaluation writes.

    Carries the `place` where it ceases to be, and the `reason`.
    """


class MetricFault(PodiumError):
    """The metric could not score a well-formed submission. This is the competition's fault."""


class GradingFault(PodiumError):
    """Grading broke down. This is Podium's fault, not the submission's."""
