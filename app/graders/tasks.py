"""What graders do with one submission file."""

from __future__ import annotations

import hashlib
import os
from functools import partial
from pathlib import Path

import pyarrow as pa

from app.domain.form import SubmissionForm
from app.domain.verdict import Rejection, Verdict
from app.errors import DamagedFile
from app.graders.version_loader import LoadedForm, LoadedVersion
from app.grading.check import check, read_ids
from app.grading.grade import grade
from app.grading.graded import Graded

# The environment that holds libraries to one thread holds for Arrow too. Its CSV reader gives the
# same columns by however many threads, and those who wait for a large file gain by a second one.
_PARSING_THREADS = min(2, os.cpu_count() or 1)


def warm_up() -> None:
    """Do once what is slow the first time: reading and checking a CSV file."""
    pa.set_cpu_count(_PARSING_THREADS)
    # No grader is interrupted from a keyboard; and the thread that waits for that would start again
    # in every process that is forked.
    pa.enable_signal_handlers(False)
    form = SubmissionForm.model_validate({"id": "id", "columns": {"x": {"kind": "number"}}})
    data = b"id,x\na,1.5\nb,2\n"
    check(data, form, read_ids(data, form))


def grade_submission(loaded: LoadedVersion, file: Path, sha256: str) -> Graded:
    """Grade one submission file.

    Raises:
        Rejection: the file's fault.
        MetricFault: the metric failed.
        DamagedFile: it is not there, or has other bytes than `sha256` (if given) says.
    """
    data = partial(read_file, file, sha256)
    return grade(data, loaded.competition, loaded.answers, loaded.leaderboard, loaded.scorer)


def validate_submission(loaded: LoadedForm, file: Path) -> Verdict:
    """Check one submission file's form. No answers are in reach."""
    try:
        return Verdict(warnings=loaded.checker.check(file.read_bytes).warnings)
    except Rejection as rejection:
        return rejection.verdict


def read_file(file: Path, sha256: str) -> bytes:
    """The file's bytes. A disk that lost some of them must not look like an agent's mistake.

    Raises:
        DamagedFile: it is not there, or has other bytes than `sha256` (if given) says.
    """
    try:
        data = file.read_bytes()
    except FileNotFoundError:
        raise DamagedFile(f"the stored file {sha256[:16]} is not there") from None
    if sha256 and hashlib.sha256(data).hexdigest() != sha256:
        raise DamagedFile(f"the stored file {sha256[:16]} has other bytes than were stored")
    return data
