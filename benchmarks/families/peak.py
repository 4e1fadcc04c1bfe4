"""The peak memory of a real grader process, in a grading with its answers decoded."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from pathlib import Path

from app.graders.process import GraderProcess
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


def peak_memory(place: Place) -> Peak:
    """Grade once, so that the answers are decoded, and watch the second grading."""
    grader = GraderProcess("grade", memory_mb=16_384, cache_mb=8_192)
    try:
        at_first = _memory(grader.pid, "VmRSS")
        request = ("grade", str(place.version), str(place.submission), "")
        grader.ask(request, SECONDS)
        time.sleep(1.0)  # what was used only once is given back
        # The manual page proc(5): writing 5 sets the highest resident size to the present one.
        Path(f"/proc/{grader.pid}/clear_refs").write_text("5")
        reply = grader.ask(request, SECONDS)
        if not isinstance(reply.answer, Graded):
            raise TypeError(f"not graded: {reply.answer}")
        taken = _memory(grader.pid, "VmHWM") - at_first
        file = place.submission.stat().st_size
        return Peak(taken / MEGABYTE, reply.cache.kept_bytes / MEGABYTE, file / MEGABYTE)
    finally:
        grader.kill()


def _memory(pid: int, name: str) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    found = re.search(rf"^{name}:\s+(\d+) kB$", status, re.MULTILINE)
    assert found is not None
    return int(found[1]) * 1024
