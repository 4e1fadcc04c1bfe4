"""Find files with the same predictions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import Integer, bindparam, exists, or_, select
from sqlalchemy.orm import Session

from app.storage.queries.reviews.sketches import (
    OF_SUBMISSION,
    RUN,
    SUBMISSION,
    TABLE,
    GradedFile,
    of_submissions,
)

OTHER = TABLE.alias()
REPEATED = select(TABLE.c.id).where(
    TABLE.c.id.in_(bindparam("numbers", expanding=True)),
    exists().where(
        OTHER.c.version_id == TABLE.c.version_id,
        OTHER.c.digest == TABLE.c.digest,
        OTHER.c.id != TABLE.c.id,
    ),
)
# A run may send the same predictions any number of times. A copy is later than its original, so the
# original is found unless the experiment of the copy sent the same this often before it.
MOST_SAME = 1_000  # the first files of a version with equal predictions, which are searched
FIRST_SAME = (
    select(TABLE.c.id, TABLE.c.submission_id)
    .where(
        TABLE.c.version_id == bindparam("version"),
        TABLE.c.digest == bindparam("digest"),
        # A file with a larger number was reviewed before if its row was committed before.
        or_(TABLE.c.id < bindparam("before"), TABLE.c.reviewed_at.is_not(None)),
    )
    .order_by(TABLE.c.id)
    .limit(MOST_SAME)
    .subquery()
)
SAME = (
    select(FIRST_SAME.c.id, *OF_SUBMISSION, SUBMISSION.c.sha256)
    .select_from(of_submissions(FIRST_SAME))
    .where(RUN.c.experiment != bindparam("experiment"))
    .order_by(FIRST_SAME.c.id)
    .limit(bindparam("most", type_=Integer))
)


class SimilarFile(NamedTuple):
    """A submission of another experiment at the same version that was graded before."""

    number: int
    submission: str
    run: str
    experiment: str
    agent: str
    sha256: str


def with_repeated_predictions(session: Session, files: Sequence[GradedFile]) -> set[int]:
    """The numbers of the files among these whose predictions another file of the version has.

    There are few. For the others `with_same_predictions` need not be called.
    """
    numbers = [one.number for one in files]
    return set(session.execute(REPEATED, {"numbers": numbers}).scalars())


def with_same_predictions(session: Session, one: GradedFile, limit: int) -> list[SimilarFile]:
    """Files of other experiments with the same digest that were graded before, in that order.

    They are among the first thousand with it, including those of the same experiment.
    """
    given = {
        "version": one.version_id, "digest": one.digest, "experiment": one.experiment,
        "before": one.number, "most": limit,
    }  # fmt: skip
    return [SimilarFile._make(row) for row in session.execute(SAME, given)]
