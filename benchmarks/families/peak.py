"""The peak memory of a real grader process, in a grading with its answers decoded."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from pathlib import Path

import psutil

from app.domain.competition import METRIC_FILE
from app.graders.process import GraderProcess, Job, Role
from app.graders.version_folder import VersionFolder
from app.grading.graded import Graded
from benchmarks.families.measure import Place

MEGABYTE = 1e6
SECONDS = 600.0


@dataclass(frozen=True)
class Peak:
    """Megabytes: the most that a grading took, its answers decoded, and the file."""

    taken: float
    answers: float
    file: float

    @property
    def allowed(self) -> float:
        """Three times the file and the decoded answers."""
        return 3 * self.file + self.answers


def peak_memory(place: Place) -> Peak | None:
    """Grade once, so that the answers are decoded, and watch the second grading.

    With a metric.py that is the process of the competition; the process of the job shares its
    memory, and is gone before it could be measured. None if this user may not watch a grader: only
    root may.
    """
    has_own_metric = (place.version / METRIC_FILE).is_file()
    role: Role = "custom" if has_own_metric else "grade"
    grader = GraderProcess(role, memory_mb=16_384, cache_mb=8_192)
    try:
        at_first = _memory(grader.pid, "VmRSS")
        version = VersionFolder(place.version.parent.name, place.version)
        job = Job("grade", version, place.submission)
        grader.ask(job, SECONDS)
        time.sleep(1.0)  # the grader frees memory that it used only once
        watched = psutil.Process(grader.pid).children()[0].pid if has_own_metric else grader.pid
        # The manual page proc(5): writing 5 sets the highest resident size to the present one.
        try:
            Path(f"/proc/{watched}/clear_refs").write_text("5")
        except PermissionError:
            return None
        reply = grader.ask(job, SECONDS)
        answer = reply.answer.result()
        if not isinstance(answer, Graded):
            raise TypeError(f"not graded: {answer}")
        taken = _memory(watched, "VmHWM") - at_first
        file = place.submission.stat().st_size
        return Peak(taken / MEGABYTE, reply.kept_bytes / MEGABYTE, file / MEGABYTE)
    finally:
        grader.kill()


def _memory(pid: int, name: str) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    found = re.search(rf"^{name}:\s+(\d+) kB$", status, re.MULTILINE)
    assert found is not None
    return int(found[1]) * 1024
