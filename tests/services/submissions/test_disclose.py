"""The policy of a run decides which fields of a grade its key sees."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy.orm import Session

from app.domain.competition import parse_competition
from app.domain.feedback import Feedback
from app.domain.states import Role, SubmissionState
from app.services.auth import Caller
from app.services.runtime.catalogue import CatalogueEntry
from app.services.runtime.context import Context
from app.services.submissions.disclose import (
    FAULT_PROBLEM,
    Disclosed,
    disclosed_under,
    latest,
    show_all,
    show_found,
)
from app.services.submissions.find_submissions import find
from app.storage.database.records import RunRecord, SubmissionRecord
from app.storage.queries import exposure, grades, submissions
from app.storage.queries.operation import faults
from tests.services.submissions.conftest import readable_version
from tests.services.submissions.test_run_events import TOML
from tests.storage.make import NOON, World, add_run, make_grade, make_submission

FLAGS = [{"code": "a_code", "note": ""}]
NOTED = [{"code": "a_code", "note": "where the labels are"}]
PRIVATE = ("score", "medal", "better", "equal", "worse", "teams", "percentile", "above_median")


def visible(
    world: World, policy: Feedback, state: SubmissionState = SubmissionState.GRADED
) -> Disclosed:
    submission = replace(make_submission(world.run), state=state)
    entry = CatalogueEntry(world.version, parse_competition("bikes", TOML), None, None)
    graded = state is SubmissionState.GRADED
    grade = make_grade(submission, score=0.25, public_score=0.5) if graded else None
    return disclosed_under(policy, world.run, entry, entry, FLAGS, submission, grade, None)


def test_none_shows_that_the_file_arrived(world: World) -> None:
    shown = visible(world, Feedback.NONE)

    assert (shown.state, shown.settled_at, shown.problem) == ("received", None, None)
    assert (shown.warnings, shown.grade) == ([], None)


def test_validity_shows_the_state_and_no_number(world: World) -> None:
    shown = visible(world, Feedback.VALIDITY)

    assert (shown.state, shown.grade) == ("graded", None)


def test_public_shows_the_public_score_alone(world: World) -> None:
    grade = visible(world, Feedback.PUBLIC).grade

    assert grade is not None
    assert grade["public_score"] == 0.5
    assert [grade[name] for name in PRIVATE] == [None] * len(PRIVATE)
    assert (grade["improvement"], grade["success"]) == (None, None)


def test_full_shows_everything(world: World) -> None:
    grade = visible(world, Feedback.FULL).grade

    assert grade is not None
    assert (grade["score"], grade["public_score"], grade["flags"]) == (0.25, 0.5, FLAGS)


@pytest.mark.parametrize(
    ("role", "policy", "flags"),
    [
        (Role.RUN, Feedback.FULL, FLAGS),
        (Role.RUN, Feedback.PUBLIC, []),
        (Role.HARNESS, Feedback.FULL, []),
        (Role.RESEARCHER, Feedback.PUBLIC, NOTED),
    ],
)
def test_notes_of_flags_are_shown_to_readers_of_results_alone(
    context: Context, role: Role, policy: Feedback, flags: list[dict[str, str]]
) -> None:
    toml = TOML + '[[flags]]\ncode = "a_code"\nnote = "where the labels are"\n'
    run = add_run(context.database, readable_version(context, "bikes", toml), "first")
    made = make_submission(
        run, state=SubmissionState.GRADED, received_at=NOON, settled_at=NOON + timedelta(seconds=1)
    )

    def add(session: Session) -> None:
        submissions.add_submissions(session, [made])
        grades.add_grades(session, [make_grade(made, public_score=0.5)])

    context.database.write(add)
    with context.database.read() as session:
        found = grades.grades_of(session, made.id)[0]
    caller, run = Caller(role, "key_1", run.id), replace(run, feedback=policy)
    (shown,) = show_all(context, caller, run, [(made, found)])

    assert shown.grade is not None
    assert shown.grade["flags"] == flags


@pytest.mark.parametrize("policy", [Feedback.VALIDITY, Feedback.PUBLIC, Feedback.FULL])
def test_a_fault_is_shown_without_its_place(world: World, policy: Feedback) -> None:
    shown = visible(world, policy, SubmissionState.FAILED)

    assert (shown.state, shown.problem, shown.grade) == ("failed", FAULT_PROBLEM, None)


AGENT, HARNESS = Role.RUN, Role.HARNESS


def failed(here: Context, run: RunRecord, kind: str) -> SubmissionRecord:
    """A submission whose grading failed by such a fault, and is shown since long."""
    made = make_submission(
        run, state=SubmissionState.FAILED, received_at=NOON, settled_at=NOON + timedelta(seconds=1)
    )

    def add(session: Session) -> None:
        submissions.add_submissions(session, [made])
        faults.add_fault(session, made.id, 3, kind, "", NOON)

    here.database.write(add)
    return made


def in_ledger(context: Context, run: RunRecord) -> list[tuple[str, str | None]]:
    with context.database.read() as session:
        found = exposure.list_disclosures(session, run.id)
    return [(one.kind, one.submission_id) for one in found]


@pytest.mark.parametrize(
    ("role", "policy", "kind"),
    [
        (AGENT, Feedback.NONE, None),
        (AGENT, Feedback.VALIDITY, "failure"),
        (AGENT, Feedback.SEARCH, "failure"),
        (AGENT, Feedback.PUBLIC, "failure"),
        (AGENT, Feedback.FULL, "failure"),
        (HARNESS, Feedback.NONE, "harness_failure"),
        (Role.RESEARCHER, Feedback.FULL, None),
    ],
)
def test_a_failure_is_entered_once_where_it_is_shown(
    context: Context, run: RunRecord, role: Role, policy: Feedback, kind: str | None
) -> None:
    run, caller = replace(run, feedback=policy), Caller(role, "key_1", run.id)
    by_file, by_store = failed(context, run, "metric"), failed(context, run, "storage")

    for _ in range(2):
        shown = show_all(context, caller, run, [(by_file, None), (by_store, None)])

    hides = role is AGENT and policy is Feedback.NONE
    assert [one.state for one in shown] == ["received" if hides else "failed"] * 2
    assert in_ledger(context, run) == ([(kind, by_file.id)] if kind else [])


def test_a_failure_is_not_entered_before_it_is_shown(context: Context, run: RunRecord) -> None:
    made = failed(context, run, "metric")
    caller, before = Caller(AGENT, "key_1", run.id), NOON + timedelta(seconds=0.5)

    (shown,) = show_all(context, caller, run, [(made, None)], now=before)

    assert shown.state == "queued"
    assert in_ledger(context, run) == []


@pytest.mark.parametrize("is_first", [True, False])
def test_a_number_is_entered_once_though_several_waited_for_it(
    context: Context, run: RunRecord, is_first: bool
) -> None:
    run, caller = replace(run, feedback=Feedback.FULL), Caller(AGENT, "key_1", run.id)
    settled_at = NOON + timedelta(seconds=1)
    made = make_submission(
        run, state=SubmissionState.GRADED, received_at=NOON, settled_at=settled_at
    )

    def add(session: Session) -> None:
        submissions.add_submissions(session, [made])
        grades.add_grades(session, [make_grade(made, score=0.25, public_score=0.5)])

    context.database.write(add)
    with context.database.read() as session:
        found = find(context, session, caller, made.id)._replace(run=run)
    shown = [show_found(context, caller, found, is_first=is_first) for _ in range(3)]

    assert {one.grade["score"] for one in shown if one.grade} == {0.25}
    assert in_ledger(context, run) == [("public_score", made.id), ("private_score", made.id)]


@pytest.mark.parametrize(
    ("policy", "kinds"),
    [
        (Feedback.VALIDITY, set()),
        (Feedback.SEARCH, {"search_score"}),
        (Feedback.PUBLIC, {"public_score"}),
        (Feedback.FULL, {"search_score", "public_score", "private_score"}),
    ],
)
def test_only_the_numbers_that_the_policy_shows_are_entered(
    context: Context, run: RunRecord, policy: Feedback, kinds: set[str]
) -> None:
    made = make_submission(
        run, state=SubmissionState.GRADED, received_at=NOON, settled_at=NOON + timedelta(seconds=1)
    )

    def add(session: Session) -> None:
        submissions.add_submissions(session, [made])
        grades.add_grades(session, [make_grade(made, search_score=0.125, public_score=0.5)])

    context.database.write(add)
    with context.database.read() as session:
        found = grades.grades_of(session, made.id)[0]
    caller, run = Caller(AGENT, "key_1", run.id), replace(run, feedback=policy)
    show_all(context, caller, run, [(made, found)])

    assert {kind for kind, _ in in_ledger(context, run)} == kinds


def test_a_page_of_the_latest_says_whether_more_follow(context: Context, run: RunRecord) -> None:
    researcher = Caller(Role.RESEARCHER, "key_1")
    sent = [make_submission(run, received_at=NOON + timedelta(hours=at)) for at in range(3)]
    context.database.write(lambda session: submissions.add_submissions(session, sent))
    with context.database.read() as session:
        newest = [
            one.id for one, _ in reversed(submissions.list_submissions(session, run.id, limit=9))
        ]

    def page(limit: int, **where) -> tuple[list[str], bool]:
        found, more = latest(context, researcher, run, limit=limit, **where)
        return [one.submission.id for one in found], more

    assert page(2) == (newest[:2], True)
    assert page(3) == (newest, False)
    assert page(2, offset=1) == (newest[1:], False)
    assert page(1, before=newest[0]) == (newest[1:2], True)
