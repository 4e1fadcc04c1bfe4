"""The tasks of graders: grade and validate one submission file."""

from __future__ import annotations

import hashlib
import os
import time
from functools import partial
from pathlib import Path

import pyarrow as pa

from app.domain.form import SubmissionForm
from app.domain.verdict import Rejection, Verdict
from app.errors import DamagedFile
from app.graders.program.version_loader import LoadedForm, LoadedVersion
from app.grading.check import check, read_ids
from app.grading.grade import grade
from app.grading.graded import Graded
from app.regular_file import NotRegularFile, read_regular
from app.resampling.estimate import estimate
from app.resampling.uncertainty import Uncertainty
from app.system_limits import is_used_up

# The environment of a grader limits libraries to one thread, Arrow too. Its CSV reader gives the
# same columns with any number of threads, and a second one makes large files faster.
_PARSING_THREADS = min(2, os.cpu_count() or 1)

RESAMPLING_SECONDS = 10.0  # then what is done must do


def warm_up() -> None:
    """Read and check a CSV file once, because the first time is slow."""
    pa.set_cpu_count(_PARSING_THREADS)
    # A grader gets no interrupts from a keyboard, and Arrow's thread for them would start again in
    # every process that is forked.
    pa.enable_signal_handlers(False)
    form = SubmissionForm.model_validate({"id": "id", "columns": {"x": {"kind": "number"}}})
    data = b"id,x\na,1.5\nb,2\n"
    check(data, form, read_ids(data, form))


def grade_submission(loaded: LoadedVersion, file: Path, sha256: str) -> Graded:
    """Grade one submission file.

    Raises:
        Rejection: the file is invalid.
        MetricFault: the metric failed.
        DamagedFile: it is missing, or its SHA-256 is not `sha256` (if given).
    """
    data = partial(read_file, file, sha256)
    return grade(data, loaded.competition, loaded.answers, loaded.leaderboard, loaded.scorer)


def estimate_uncertainty(loaded: LoadedVersion, file: Path, sha256: str) -> Uncertainty:
    """Estimate the noise of a submission file's score; no part of it but the private one.

    Raises:
        Rejection: the file is invalid.
        DamagedFile: it is missing, or its SHA-256 is not `sha256` (if given).
    """
    answers, choice = loaded.answers, loaded.competition.metric
    decoded = answers.check(partial(read_file, file, sha256)).decoded
    rows = answers.private.rows
    predictions = (decoded if rows is None else decoded.take(rows)).arrays(answers.labels)
    deadline = time.monotonic() + RESAMPLING_SECONDS
    return estimate(
        choice.name,
        choice.parameters,
        answers.private.arrays,
        predictions,
        loaded.leaderboard,
        is_over=lambda: time.monotonic() > deadline,
    )


def validate_submission(loaded: LoadedForm, file: Path) -> Verdict:
    """Check one submission file's form, without answers."""
    try:
        return Verdict(warnings=loaded.checker.check(file.read_bytes).warnings)
    except Rejection as rejection:
        return rejection.verdict


def read_file(file: Path, sha256: str) -> bytes:
    """The file's bytes. Damage by a disk must not look like an agent's mistake.

    Raises:
        DamagedFile: it is missing, not a regular file or cannot be read, or its SHA-256 is not
            `sha256` (if given).
        OSError: this process can open no more files.
    """
    try:
        data = read_regular(file)
    except FileNotFoundError:
        raise DamagedFile(f"the stored file {sha256[:16]} is not there") from None
    except NotRegularFile:
        raise DamagedFile(f"the stored file {sha256[:16]} is not a regular file") from None
    except OSError as error:
        if is_used_up(error):
            raise  # this says nothing about the file
        raise DamagedFile(f"the stored file {sha256[:16]} cannot be read") from None
    if sha256 and hashlib.sha256(data).hexdigest() != sha256:
        raise DamagedFile(f"the stored file {sha256[:16]} has other bytes than were stored")
    return data
