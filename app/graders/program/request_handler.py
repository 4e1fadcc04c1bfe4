"""Handle requests for competitions with a built-in metric: no foreign code runs."""

from __future__ import annotations

from pathlib import Path

from app.graders.messages.protocol import Request, write_reply
from app.graders.messages.reply_writing import Answer
from app.graders.messages.results import GraderFault
from app.graders.program import tasks, version_loader
from app.graders.program.cache import VersionCache
from app.graders.program.competition_check import check_competition
from app.graders.program.faults import answer_of
from app.graders.version_folder import VersionFolder
from app.graders.walls.syscalls import give_back_memory
from app.resampling.uncertainty import OWN_METRIC, SEED, Uncertainty
from app.units import MEGABYTE


class GradeHandler:
    """Grades submissions, and checks competitions before they are imported."""

    def __init__(self, cache_mb: int) -> None:
        self._versions = VersionCache(
            cache_mb * MEGABYTE, load=_load, size=version_loader.version_bytes
        )

    def handle(self, request: Request) -> bytes:
        """Do one job. Returns the bytes of the reply."""
        answer = answer_of(lambda: self._answer(request))
        return _reply(request, answer, self._versions.kept_bytes)

    def _answer(self, request: Request) -> Answer:
        folder = VersionFolder(request.slug, Path(request.version_dir))
        match request.task:
            case "grade":
                version = self._versions.get(folder)
                return tasks.grade_submission(version, Path(request.file), request.sha256)
            case "uncertainty":
                if version_loader.has_own_metric(folder.path):
                    return Uncertainty(SEED, None, reason=OWN_METRIC)
                version = self._versions.get(folder)
                return tasks.estimate_uncertainty(version, Path(request.file), request.sha256)
            case "check":
                if version_loader.has_own_metric(folder.path):
                    raise ValueError("a metric.py is tried in a process of its own")
                return check_competition(folder)
            case _:
                raise ValueError("this grader does not validate")


class ValidateHandler:
    """Checks the form of submissions. It never opens an answers file."""

    def __init__(self, cache_mb: int) -> None:
        self._forms = VersionCache(
            cache_mb * MEGABYTE, load=version_loader.load_form, size=version_loader.form_bytes
        )

    def handle(self, request: Request) -> bytes:
        """Do one job. Returns the bytes of the reply."""
        answer = answer_of(lambda: self._answer(request))
        return _reply(request, answer, self._forms.kept_bytes)

    def _answer(self, request: Request) -> Answer:
        if request.task != "validate":
            raise ValueError("this grader validates only")
        form = self._forms.get(VersionFolder(request.slug, Path(request.version_dir)))
        return tasks.validate_submission(form, Path(request.file))


def _reply(request: Request, answer: Answer, kept_bytes: int) -> bytes:
    is_out_of_memory = isinstance(answer, GraderFault) and answer.kind == "memory"
    return write_reply(request.id, answer, kept_bytes, retire=is_out_of_memory)


def _load(folder: VersionFolder) -> version_loader.LoadedVersion:
    if version_loader.has_own_metric(folder.path):
        raise ValueError("a competition with a metric.py is graded in processes of its own")
    loaded = version_loader.load_version(folder)
    # Decoding takes several times the memory of its result, and no grading needs as much.
    give_back_memory()
    return loaded
