"""The exposure ledger: each validation, score and failure that a run's key or a harness saw."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from datetime import UTC, datetime, timedelta

from sqlalchemy import Select, bindparam, func, select
from sqlalchemy.orm import Session

from app.storage.database.models import Disclosure, Run
from app.storage.database.records import DISCLOSURE_KINDS, HARNESS_KINDS, DisclosureRecord
from app.storage.database.rows import insert_if_new
from app.storage.queries import archive

TABLE = Disclosure.__table__
RUN = Run.__table__
ALL_KINDS = DISCLOSURE_KINDS + HARNESS_KINDS
CLOSE = (
    select(RUN.c.closed_at)
    .where(RUN.c.id == bindparam("run"))
    .with_for_update(read=True, key_share=True)  # rows that refer to it take the same lock
)
VALIDATION = "validation"
FAILURE = "failure"


def record(
    session: Session,
    run_id: str,
    kind: str,
    submission_id: str | None,
    grade_id: int | None,
    at: datetime,
) -> bool:
    """Record a disclosure: every validation, and the first of each number and each failure.

    A number is that of a grade, a failure that of a submission without one. Returns whether a row
    was added.

    Raises:
        ValueError: the kind does not exist, or a number has no grade, or a failure no submission.
    """
    if kind not in ALL_KINDS:
        raise ValueError(f"{kind!r} is not one of {', '.join(ALL_KINDS)}")
    is_failure = kind.endswith(FAILURE)
    if (grade_id is None) != (is_failure or kind.endswith(VALIDATION)):
        raise ValueError("a number has a grade, a validation or a failure has none")
    if is_failure and submission_id is None:
        raise ValueError("a failure is that of a submission")
    entry = {
        "run_id": run_id,
        "kind": kind,
        "submission_id": submission_id,
        "grade_id": grade_id,
        "at": at,
    }
    # Validations have no grade. NULLs are distinct in both databases, so none is a duplicate.
    unique = () if is_failure else ("kind", "grade_id")
    return insert_if_new(session, TABLE, unique, entry)


def moment(session: Session, run_id: str) -> datetime:
    """The time of a disclosure that is recorded now; later than the close if the run is closed.

    The run is locked, so that a close at the same moment finds the disclosure.
    """
    closed_at = session.execute(CLOSE, {"run": run_id}).scalar_one_or_none()
    now = datetime.now(UTC)
    return now if closed_at is None else max(now, closed_at + timedelta(microseconds=1))


def list_disclosures(
    session: Session,
    run_id: str,
    *,
    kinds: Sequence[str] = ALL_KINDS,
    after: int = 0,
    until: int | None = None,
    offset: int = 0,
    limit: int | None = None,
) -> list[DisclosureRecord]:
    """The run's disclosures of these kinds, oldest first: at most `limit` after `offset`.

    Only those with an id after `after` and up to `until`.
    """
    query = (
        select(TABLE)
        .where(TABLE.c.run_id == run_id, TABLE.c.kind.in_(kinds), TABLE.c.id > after)
        .order_by(TABLE.c.id)
        .limit(limit)
        .offset(offset)
    )
    if until is not None:
        query = query.where(TABLE.c.id <= until)
    return [DisclosureRecord(**row) for row in session.execute(query).mappings()]


def numbers_disclosed(
    session: Session, run_id: str, submission_ids: Sequence[str]
) -> list[tuple[str, str]]:
    """The kinds of numbers and failures disclosed of these submissions, each with its id."""
    query = (
        select(TABLE.c.submission_id, TABLE.c.kind)
        .where(
            TABLE.c.run_id == run_id,
            TABLE.c.submission_id.in_(submission_ids),
            # A run may have many thousand validations, which the index excludes.
            TABLE.c.kind.in_([kind for kind in ALL_KINDS if not kind.endswith(VALIDATION)]),
        )
        .order_by(TABLE.c.id)
    )
    return [(submission_id, kind) for submission_id, kind in session.execute(query)]


def disclosed_among(
    session: Session, kinds: Collection[str], grade_ids: Collection[int]
) -> set[tuple[str, int]]:
    """Those of these kinds of numbers that the ledger has of these grades, with the grade's id."""
    if not kinds or not grade_ids:
        return set()
    # The index begins with the kind: without it, the numbers of all runs would be read.
    query = select(TABLE.c.kind, TABLE.c.grade_id).where(
        TABLE.c.kind.in_(sorted(kinds)), TABLE.c.grade_id.in_(sorted(grade_ids))
    )
    return {(kind, grade_id) for kind, grade_id in session.execute(query)}


def failures_disclosed(session: Session, submission_ids: Sequence[str], kind: str) -> set[str]:
    """The submissions among these whose failure the ledger has, under this kind of failure."""
    # With a condition on the kind SQLite would read the failures of all runs. A submission has an
    # entry of each kind at most, and the index of failures begins with the submission.
    query = select(TABLE.c.submission_id, TABLE.c.kind).where(
        TABLE.c.submission_id.in_(submission_ids), TABLE.c.grade_id.is_(None)
    )
    return {submission for submission, of_kind in session.execute(query) if of_kind == kind}


def totals(session: Session, run_id: str, *, until: datetime | None = None) -> dict[str, int]:
    """The number of disclosures of each kind, zeros included; `until` a time, if one is given."""
    query = (
        select(TABLE.c.kind, func.count()).where(TABLE.c.run_id == run_id).group_by(TABLE.c.kind)
    )
    if until is not None:
        query = query.where(TABLE.c.at <= until)
    found = {kind: int(count) for kind, count in session.execute(query)}
    return {kind: found.get(kind, 0) for kind in ALL_KINDS}


def last_id(session: Session, run_id: str) -> int:
    """The id of the run's last disclosure; 0 if there is none."""
    query = select(func.max(TABLE.c.id)).where(TABLE.c.run_id == run_id)
    return session.execute(query).scalar() or 0


def count_validations(
    session: Session, run_id: str, kind: str, *, after: int, until: int | None = None
) -> int:
    """The number of a run's validations of this kind, of those with an id in this range."""
    # Uses only the index.
    query = select(func.count()).where(
        TABLE.c.run_id == run_id, TABLE.c.kind == kind, TABLE.c.id > after
    )
    if until is not None:
        query = query.where(TABLE.c.id <= until)
    return int(session.execute(query).scalar_one())


def last_time(session: Session, run_id: str) -> datetime | None:
    """The latest time of a disclosure to a run; None if there is none."""
    query = select(func.max(TABLE.c.at)).where(TABLE.c.run_id == run_id)
    return session.execute(query).scalar()


def disclosures_until(session: Session, moment: datetime) -> int:
    """The id of the last disclosure before this moment; 0 if there is none."""
    query = select(TABLE.c.id).where(TABLE.c.at < moment).order_by(TABLE.c.id.desc()).limit(1)
    return session.execute(query).scalar() or 0


def by_experiment(
    session: Session,
    experiments: Sequence[str] | None,
    *,
    archived: bool = False,
    as_of: datetime | None = None,
) -> dict[str, dict[str, int]]:
    """The number of disclosures by experiment (None: of all) and kind. Zeros are absent.

    Archived runs, and those at archived competitions, count only with `archived`; an archived
    experiment that is named counts. `as_of` counts disclosures up to a time.
    """
    query = (
        select(RUN.c.experiment, TABLE.c.kind, func.count())
        .join(RUN, RUN.c.id == TABLE.c.run_id)
        .group_by(RUN.c.experiment, TABLE.c.kind)
    )
    if not archived:
        shown = archive.is_shown(
            RUN, experiment_named=experiments is not None, competition_named=False, as_of=as_of
        )
        query = query.where(*shown)
    if experiments is not None:
        query = query.where(RUN.c.experiment.in_(experiments))
    if as_of is not None:
        query = query.where(TABLE.c.at <= as_of)
    found: dict[str, dict[str, int]] = {}
    for experiment, kind, count in session.execute(query):
        found.setdefault(experiment, {})[kind] = int(count)
    return found


def count_disclosures(
    session: Session, *, after: int = 0, until: int | None = None, archived: bool
) -> Counter[tuple[str, str]]:
    """The number of disclosures by (experiment, kind), of those with an id in this range.

    Archived runs, and those at archived competitions, count only with `archived`.
    """
    # Most are validations. To compare each with every kind would take most of the time.
    all_kinds = _in_range(after, until, archived).add_columns(func.count())
    others = _in_range(after, until, archived).add_columns(TABLE.c.kind, func.count())
    others = others.where(TABLE.c.kind != VALIDATION).group_by(TABLE.c.kind)
    found = Counter({(name, VALIDATION): int(n) for name, n in session.execute(all_kinds)})
    for name, kind, n in session.execute(others):
        found[name, kind] = int(n)
        found[name, VALIDATION] -= int(n)
    return +found


def _in_range(after: int, until: int | None, archived: bool) -> Select[str]:
    """The experiments of the disclosures in a range."""
    query = (
        select(RUN.c.experiment).join(TABLE, RUN.c.id == TABLE.c.run_id).group_by(RUN.c.experiment)
    )
    # Without a range, only the index of runs is read, in its order.
    if after:
        query = query.where(TABLE.c.id > after)
    if until is not None:
        query = query.where(TABLE.c.id <= until)
    if not archived:
        conditions = archive.is_shown(RUN, experiment_named=True, competition_named=False)
        query = query.where(*conditions)
    return query
