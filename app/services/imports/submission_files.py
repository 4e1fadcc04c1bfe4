"""Import raw submission files as closed runs with one submission each, which is graded as usual."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from sqlalchemy.orm import Session

from app.domain.feedback import Feedback
from app.domain.states import ArchivalKind, CompetitionStatus, RunState, SubmissionState
from app.errors import Conflict, Invalid, NeedsData, NotFound
from app.importers.submission_folder import SubmissionFolder, SubmittedFile
from app.services.imports.grading_reports import create_if_new
from app.services.runtime.archival import refuse_archived
from app.services.runtime.context import Context
from app.services.runtime.insert_submissions import insert_submissions
from app.services.runtime.run_limits import refuse_measured
from app.storage.blobs.upload import Blob
from app.storage.database.records import RunRecord, SubmissionRecord, VersionRecord
from app.storage.queries import competitions, experiments, runs, submissions
from app.storage.queries.elsewhere import imported_grades, imported_runs
from app.storage.queries.elsewhere.imported_runs import ImportedRunRecord
from app.storage.queries.ids import new_id
from app.storage.queries.regrades.counted_grades import count_states
from app.units import CHUNK_BYTES

NOTHING, MISSING = "", "missing"  # the digests of attempts without a file


@dataclass
class ImportedFiles:
    """The numbers of runs that were imported now and before; `files` of them have a file.

    Attempts whose file is missing are neither `imported` nor `unchanged`: they are `problems`.
    """

    imported: int = 0
    unchanged: int = 0
    files: int = 0
    runs: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def import_files(
    context: Context,
    experiment: str,
    folder: SubmissionFolder,
    done: Callable[[int, int], None] = lambda done, total: None,
) -> ImportedFiles:
    """Store each attempt as a closed run of the experiment; its file waits for a grader.

    A missing experiment is created, unless a competition refuses the files.

    A run, its origin and its submission are written in one transaction, so an interrupted import
    can be repeated: attempts that were imported are not imported again. If the file of an attempt
    is missing, its run stays open, so that statistics name it, until an import has the file or an
    admin closes the run. `done` receives the progress.

    Raises:
        NotFound, NeedsData, TakesNoSubmissions: a competition cannot grade these files; all are
            looked at before any file is stored.
        Conflict: the experiment has another run or result with one of these seeds, or it or a
            competition is archived. What was stored before stays.
        Invalid: a file is too large.
    """
    versions = _versions(context, {one.competition for one in folder.attempts})
    create_if_new(context, experiment)
    found = ImportedFiles(problems=list(folder.problems))
    for number, one in enumerate(folder.attempts, start=1):
        blob = None if one.file is None else _blob(context, one.file)
        run, created = context.database.write(
            partial(_record, context, experiment, one, versions[one.competition], blob)
        )
        found.runs.append(run)
        found.files += one.file is not None
        found.imported += created and not one.is_missing
        found.unchanged += not created and not one.is_missing
        done(number, len(folder.attempts))
    return found


def ungraded(context: Context, run_ids: Sequence[str]) -> int:
    """How many submissions of these runs are not settled yet."""
    with context.database.read() as session:
        counts = count_states(session, run_ids)
    return sum(
        count
        for states in counts.values()
        for state, count in states.items()
        if not SubmissionState(state).is_settled
    )


def outcomes(context: Context, run_ids: Sequence[str]) -> dict[str, int]:
    """The number of submissions of these runs in each state; zeros are absent."""
    with context.database.read() as session:
        found = count_states(session, run_ids)
    total: Counter[str] = Counter()
    for states in found.values():
        total.update(states)
    return dict(sorted(total.items()))


def _versions(context: Context, slugs: set[str]) -> dict[str, VersionRecord]:
    with context.database.read() as session:
        found = {slug: competitions.current_version(session, slug) for slug in sorted(slugs)}
        for slug in slugs:
            refuse_archived(session, ArchivalKind.COMPETITION, slug)
    unknown = [slug for slug, version in found.items() if version is None]
    if unknown:
        raise NotFound(
            f"{len(unknown)} of {len(slugs)} competitions are not imported: {', '.join(unknown)}. "
            "Nothing was stored."
        )
    known = {slug: version for slug, version in found.items() if version is not None}
    needy = [slug for slug, one in known.items() if one.status != CompetitionStatus.READY]
    if needy:
        raise NeedsData(
            f"{len(needy)} of {len(slugs)} competitions have no data to grade with: "
            f"{', '.join(needy)}. Nothing was stored."
        )
    for version in known.values():
        refuse_measured(context.catalogue.declaration(version.id))
    return known


def _blob(context: Context, file: Path) -> Blob:
    most = context.settings.max_upload_bytes
    if file.stat().st_size > most:
        raise Invalid(f"{file} is larger than {most} bytes (PODIUM_MAX_UPLOAD_MB).")
    upload = context.blobs.new_upload()
    try:
        with file.open("rb") as source:
            while data := source.read(CHUNK_BYTES):
                upload.write(data)
        return upload.finish()
    finally:
        upload.discard()


def _record(
    context: Context,
    experiment: str,
    one: SubmittedFile,
    version: VersionRecord,
    blob: Blob | None,
    session: Session,
) -> tuple[str, bool]:
    """The run of an attempt, and whether it was made now."""
    experiments.lock(session, experiment)  # against other changes of its results, and a freeze
    competitions.lock(session, one.competition, shared=True)  # against archiving
    refuse_archived(session, ArchivalKind.EXPERIMENT, experiment)
    refuse_archived(session, ArchivalKind.COMPETITION, one.competition)
    origin = f"{one.group}/{one.place}" if one.group else one.place
    digest = MISSING if one.is_missing else NOTHING if blob is None else blob.sha256
    known = runs.find_run(session, experiment, one.competition, one.seed)
    if known is not None:
        before = imported_runs.get(session, known.id)
        if before is not None and (before.place, before.sha256) == (origin, digest):
            return known.id, False
        waits = known.state is RunState.OPEN and before is not None and before.sha256 == MISSING
        if waits and before is not None and before.place == origin:
            imported_runs.set_digest(session, known.id, digest)
            _close(context, session, known, one.file, blob)
            return known.id, True
    if known is not None or imported_grades.has(session, experiment, one.competition, one.seed):
        raise Conflict(
            f"{origin}: the experiment {experiment!r} has another run or result of seed {one.seed} "
            f"at {one.competition}. Choose another experiment, or another --first-seed."
        )
    now = datetime.now(UTC)
    run = runs.add_run(
        session,
        RunRecord(
            id=new_id("run"), experiment=experiment, version_id=version.id,
            competition=one.competition, seed=one.seed, feedback=Feedback.NONE,
            state=RunState.OPEN, created_at=now,
        ),
    )  # fmt: skip
    imported_runs.add(
        session,
        [
            ImportedRunRecord(
                run_id=run.id, file=origin.rpartition(":")[0], place=origin, sha256=digest,
                document=one.document, imported_at=now,
            )
        ],
    )  # fmt: skip
    if not one.is_missing:
        _close(context, session, run, one.file, blob)
    return run.id, True


def _close(
    context: Context, session: Session, run: RunRecord, file: Path | None, blob: Blob | None
) -> None:
    """Close the run of an attempt, with its file as the submission if it has one."""
    now = datetime.now(UTC)
    if blob is not None and file is not None:
        submission = SubmissionRecord(
            id=new_id(submissions.PREFIX), run_id=run.id, version_id=run.version_id, message="",
            bytes=blob.bytes, sha256=blob.sha256, received_at=now, run_seconds=0.0,
            file_name=file.name,
        )  # fmt: skip
        stored = insert_submissions(
            session,
            [submission],
            queues=context.settings.queues,
            own_metrics=context.own_metrics,
        )
        if isinstance(stored[0], Exception):
            raise stored[0]
    runs.update_run(session, run.id, state=RunState.CLOSED, closed_at=now)
