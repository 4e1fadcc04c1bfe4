"""Grade submissions anew for a regrade: claim, grade, write. Live submissions are not touched."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from concurrent.futures import Future
from datetime import UTC, datetime

from sqlalchemy.orm import Session

from app.domain.states import RegradeState, SubmissionState
from app.domain.verdict import problem_document
from app.errors import PodiumError, StorageFull, Unavailable
from app.graders.messages.results import GraderFault, GradingResult, Rejected
from app.grading.graded import Graded
from app.services.grading.send_to_grader import send_to_grader
from app.services.regrades.take_submissions import finish
from app.services.runtime.context import Context
from app.services.runtime.environment import refusal, this_environment
from app.services.runtime.write_outcomes import grade_record
from app.storage.queries.operation import environments
from app.storage.queries.regrades import outcomes, regrades
from app.storage.queries.regrades.outcomes import ClaimedRegrading, OutcomeRecord
from app.storage.queries.regrades.regrades import RegradeRecord

log = logging.getLogger("podium.worker")
# Gradings of one file that may be cut short by the death of the process before it is given up.
# Kills by an operator count as well, so the number is larger than for live submissions.
DEATHS = 6


class Regrading:
    """Grades submissions of regrades and writes one outcome for each.

    With `are_others`, other machines grade as well: a submission is given back if no grader can be
    started on this one.
    """

    def __init__(self, context: Context, *, are_others: bool = False) -> None:
        self._context = context
        self._are_others = are_others

    def running(self) -> list[RegradeRecord]:
        """The regrades that this process may work at; those of other environments are cancelled."""
        with self._context.database.read() as session:
            found = regrades.running(session)
        return [one for one in found if self._is_comparable(one)]

    def queued(self, regrade_id: str, limit: int) -> list[str]:
        """The first submissions of a regrade that are to be graded."""
        with self._context.database.read() as session:
            return outcomes.queued(session, regrade_id, limit)

    def claim(self, regrade_id: str, submission_ids: Sequence[str]) -> list[ClaimedRegrading]:
        """Begin an attempt at those of the submissions that are still to be graded.

        Raises:
            OtherEnvironment: this process may not grade in this database.
        """
        context = self._context

        def begin(session: Session) -> list[ClaimedRegrading]:
            if self._are_others:
                agreed = environments.current(session)
                if agreed is not None and agreed[0] != this_environment():
                    raise refusal(*agreed)
            claimed = outcomes.begin(session, regrade_id, submission_ids)
            lost = [one for one in claimed if one.attempts > DEATHS + self._attempts]
            for one in lost:
                fault = GraderFault("worker_lost", "")
                outcomes.settle(session, *_key(one), _record(one, fault, ""))
            return [one for one in claimed if one not in lost]

        claimed = context.database.write(begin)
        if len(claimed) < len(submission_ids):
            self.finish(regrade_id)
        return claimed

    def start(self, claimed: ClaimedRegrading) -> Future[bool]:
        """Grade a claimed submission. The result says whether its outcome is written.

        It is False if the submission has to be tried again. The future is cancelled when the
        graders close.
        """
        end: Future[bool] = Future()

        def graded(future: Future[GradingResult]) -> None:
            if future.cancelled():
                end.cancel()
                return
            error = future.exception()
            if isinstance(error, Unavailable | StorageFull):
                self._give_back(claimed, end, str(error))
                return
            outcome = GraderFault("internal", type(error).__name__) if error else future.result()
            not_started = isinstance(outcome, GraderFault) and outcome.kind == "not_started"
            if self._are_others and not_started:
                self._give_back(claimed, end, "no grader can be started here")
                return
            self._write(claimed, outcome, end)

        try:
            future = send_to_grader(self._context, claimed.version_id, claimed.sha256)
        except Unavailable as error:
            self._give_back(claimed, end, str(error))
        except Exception:
            log.exception("cannot start a grading", extra={"submission": claimed.submission_id})
            self._write(claimed, GraderFault("not_started", ""), end)
        else:
            future.add_done_callback(graded)
        return end

    def give_back(self, claimed: ClaimedRegrading) -> Future[None]:
        """Let the attempt at a submission not count whose grading was cut short here."""
        return self._context.database.enqueue(lambda session: outcomes.give_back(session, claimed))

    def finish(self, regrade_id: str) -> bool:
        """Make a regrade ready if nothing is left to grade. Returns whether it is done."""
        queues = self._context.settings.queues
        return self._context.database.write(
            lambda session: finish(session, regrade_id, queues=queues)
        )

    @property
    def _attempts(self) -> int:
        return self._context.settings.grading_attempts

    def _is_comparable(self, one: RegradeRecord) -> bool:
        """Whether this process grades as the regrade began; if not, the regrade is cancelled."""
        own = this_environment()
        if (one.podium_version, one.environment) == (own.podium_version, own.environment):
            return True
        reason = "the environment of grading was changed while it ran; start it again"
        log.error("a regrade is cancelled", extra={"regrade": one.id, "why": reason})
        self._context.database.write(
            lambda session: regrades.change_running(
                session,
                one.id,
                state=RegradeState.CANCELLED,
                cancelled_at=datetime.now(UTC),
                reason=reason,
            )
        )
        return False

    def _write(self, claimed: ClaimedRegrading, outcome: GradingResult, end: Future[bool]) -> None:
        if isinstance(outcome, GraderFault):
            log.error(
                "grading fault in a regrade",
                extra={"submission": claimed.submission_id, "kind": outcome.kind,
                       "place": outcome.place, "attempt": claimed.attempts},
            )  # fmt: skip
            if claimed.attempts < self._attempts:
                end.set_result(False)
                return
        try:
            version = self._context.catalogue.version(claimed.version_id)
            record = _record(claimed, outcome, version.document["metric"]["name"])
        except PodiumError as error:
            self._give_back(claimed, end, str(error))
            return
        queues, database = self._context.settings.queues, self._context.database

        def written(future: Future[bool]) -> None:
            error = future.exception()
            if error is not None:
                log.error("cannot write the outcome of a regrade", exc_info=error)
            else:
                # After the commit: of several processes, the last one then finds nothing left.
                database.enqueue(lambda session: finish(session, claimed.regrade_id, queues=queues))
            end.set_result(error is None)

        database.enqueue(
            lambda session: outcomes.settle(session, *_key(claimed), record)
        ).add_done_callback(written)

    def _give_back(self, claimed: ClaimedRegrading, end: Future[bool], why: str) -> None:
        log.warning(
            "a regrading has to wait", extra={"submission": claimed.submission_id, "why": why}
        )
        self.give_back(claimed).add_done_callback(lambda _: end.set_result(False))


def _key(claimed: ClaimedRegrading) -> tuple[str, str]:
    return claimed.regrade_id, claimed.submission_id


def _record(claimed: ClaimedRegrading, outcome: GradingResult, metric: str) -> OutcomeRecord:
    now = datetime.now(UTC)
    match outcome:
        case Graded():
            grade = grade_record(claimed.submission_id, claimed.version_id, outcome, metric, now)
            return OutcomeRecord(
                state=SubmissionState.GRADED,
                score=grade.score,
                public_score=grade.public_score,
                search_score=grade.search_score,
                better=grade.better,
                equal=grade.equal,
                worse=grade.worse,
                teams=grade.teams,
                percentile=grade.percentile,
                above_median=grade.above_median,
                medal=grade.medal,
                grader=grade.grader,
                warnings=[one.as_dict() for one in outcome.warnings],
                graded_at=now,
            )
        case Rejected(verdict=verdict):
            return OutcomeRecord(
                state=SubmissionState.REJECTED,
                problem=problem_document(verdict),
                warnings=[one.as_dict() for one in verdict.warnings],
                graded_at=now,
            )
        case GraderFault():
            return OutcomeRecord(
                state=SubmissionState.FAILED,
                fault=outcome.kind,
                place=outcome.place,
                graded_at=now,
            )
