"""What graders say to the server, and how the server reads it without trusting it.

A grader's message was written by a process that may have run a competition's metric.py. So the
server unpickles it without importing anything: only the classes of `SENT_BY_GRADERS` exist for it.

A grader's first message is its `Isolation`, or a text that says why it could not start; after that
comes one `Reply` for each job.
"""

from __future__ import annotations

import io
import pickle
from dataclasses import dataclass

from app.domain.leaderboard import Standing
from app.domain.medals import Medal
from app.domain.verdict import Notice, Verdict, Violation, ViolationCode, WarningCode
from app.graders.cache import CacheCounts
from app.graders.outcomes import Fault, Inspection, Refused
from app.graders.sandbox import Isolation
from app.grading.graded import Graded

Answer = Graded | Refused | Fault | Inspection | Verdict


@dataclass(frozen=True, slots=True)
class Reply:
    """A grader's answer to one job; `retire` asks to be replaced before the next one."""

    answer: Answer
    cache: CacheCounts
    retire: bool


SENT_BY_GRADERS: dict[tuple[str, str], type] = {
    (sent.__module__, sent.__qualname__): sent
    for sent in (
        Isolation, Reply, CacheCounts, Graded, Refused, Fault, Inspection, Standing, Medal,
        Verdict, Violation, ViolationCode, Notice, WarningCode,
    )
}  # fmt: skip


class _Reader(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> type:
        try:
            return SENT_BY_GRADERS[module, name]
        except KeyError:
            raise pickle.UnpicklingError(f"a grader may not send {module}.{name}") from None


def read_message(data: bytes) -> object:
    """The message in `data`.

    Raises:
        pickle.UnpicklingError: it is no message that a grader may send.
    """
    try:
        return _Reader(io.BytesIO(data)).load()
    except Exception as error:  # garbage makes an unpickler raise nearly anything
        raise pickle.UnpicklingError(f"not a message: {type(error).__name__}") from error
