"""A grader's desk: takes one request after another, and turns whatever happens into a reply."""

from __future__ import annotations

import pickle
import traceback
from collections.abc import Callable
from pathlib import Path

from app.domain.verdict import Rejection
from app.errors import BadCompetition, DamagedFile, MetricFault
from app.graders import jobs, versions
from app.graders.cache import VersionCache
from app.graders.inspection import inspect_job
from app.graders.kernel import give_back_memory
from app.graders.messages import Answer, Reply
from app.graders.outcomes import Fault, Refused

MEGABYTE = 1024 * 1024


class Desk:
    """The jobs of one role: `grade` grades and inspects, `validate` never opens answers."""

    def __init__(self, role: str, cache_mb: int) -> None:
        budget = cache_mb * MEGABYTE
        self._jobs: dict[str, Callable[..., Answer]]
        if role == "validate":
            forms = VersionCache(budget, load=versions.load_form, size=versions.form_bytes)
            self._jobs = {
                "validate": lambda where, file: jobs.validate_job(
                    forms.get(Path(where)), Path(file)
                )
            }
            self._counts = forms.counts
        else:
            loaded = VersionCache(budget, load=_load, size=versions.version_bytes)
            self._jobs = {
                "grade": lambda where, file, sha256: jobs.grade_job(
                    loaded.get(Path(where)), Path(file), sha256
                ),
                "inspect": lambda where: inspect_job(Path(where)),
            }
            self._counts = loaded.counts

    def warm_up(self) -> None:
        """Do once what is slow the first time."""
        jobs.warm_up()

    def handle(self, request: bytes, leftovers: Callable[[], bool]) -> Reply:
        """Do one job. `leftovers` says whether it left anything running behind."""
        name, *arguments = pickle.loads(request)  # noqa: S301 - from the server, our own channel
        answer = self._answer(name, arguments)
        spent = isinstance(answer, Fault) and answer.kind == "memory"
        return Reply(answer, self._counts(), retire=spent or leftovers())

    def _answer(self, name: str, arguments: list[str]) -> Answer:
        try:
            return self._jobs[name](*arguments)
        except Rejection as rejection:
            return Refused(rejection.verdict)
        except (MemoryError, versions.MetricMemoryError):
            return Fault("memory")
        except DamagedFile as fault:
            return Fault("storage", fault.detail)
        except MetricFault as fault:
            return Fault("metric", fault.detail)
        except BadCompetition as error:
            first = error.problems[0]
            return Fault("competition", ":".join(filter(None, (first["file"], first["key"]))))
        except BaseException as error:
            # SystemExit too: whatever a metric does, the grader says what became of its job.
            return Fault("internal", place_of(error))


def _load(version_dir: Path) -> versions.LoadedVersion:
    loaded = versions.load_version(version_dir)
    # Decoding takes several times what stays, and no grading needs so much again.
    give_back_memory()
    return loaded


def place_of(error: BaseException) -> str:
    """Where an error was raised and its type; not its text, which could quote an answer."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f"{Path(frames[-1].filename).name}:{frames[-1].lineno} " if frames else ""
    return where + type(error).__name__
