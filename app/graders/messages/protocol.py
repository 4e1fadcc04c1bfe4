"""The messages between the server and a grader, and within a grader: JSON, strictly parsed.

A grader's first message is `Ready`. After that comes one `Reply` for each `Request`, which carries
the request's random id, so that a reply to another request is never accepted.

The process of one job, which may run a metric.py, sends its parent one `JobResult`. The parent
checks the file and computes the place on the leaderboard. So a metric can influence only two
numbers of a grading, or the text that says where a fault occurred.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Literal, TypeVar

from pydantic import BaseModel, Field, ValidationError

from app.graders.messages.framing import LARGEST_MESSAGE
from app.graders.messages.reply_models import AnswerModel, CheckModel, Count, FaultModel, ReplyModel
from app.graders.messages.reply_writing import Answer, answer_model
from app.graders.walls.isolation import Isolation

M = TypeVar("M", bound=BaseModel)
Text = Annotated[str, Field(max_length=4096)]

# Lengths to which a list is cut: the first that fits into a message is used.
ENTRIES = (1000, 300, 100, 30, 10)


class ProtocolError(Exception):
    """The grader sent an invalid message. The text never quotes the message."""


class Request(ReplyModel):
    """One job for a grader. `id` is random and new for each job."""

    id: Annotated[str, Field(pattern="^[0-9a-f]{32}$")]
    task: Literal["grade", "validate", "check", "uncertainty"]
    slug: Annotated[str, Field(max_length=100)]
    version_dir: Text
    file: Text = ""
    sha256: Annotated[str, Field(max_length=64)] = ""


class Ready(ReplyModel):
    """A grader's first message: its walls, or the reason why it could not start."""

    isolation: Isolation | None = None
    start_error: Annotated[str, Field(max_length=4000)] = ""


class Reply(ReplyModel):
    """The answer to one request. With `retire` the grader must be replaced before the next.

    `kept_bytes` is about the memory of the competition versions that the grader keeps.
    """

    request: str
    answer: AnswerModel
    kept_bytes: Count
    retire: bool = False


class Scored(ReplyModel):
    """The scores of a valid submission."""

    type: Literal["scored"] = "scored"
    score: float
    public_score: float | None
    search_score: float | None = None

    def parts(self) -> set[str]:
        """The parts of the answers for which it has scores."""
        others = {"public": self.public_score, "search": self.search_score}
        return {"private"} | {name for name, score in others.items() if score is not None}


class JobResult(ReplyModel):
    """The one message of the process of a job, which may have run a metric.py."""

    message: Annotated[Scored | CheckModel | FaultModel, Field(discriminator="type")]


def write(message: BaseModel) -> bytes:
    """The bytes of a message."""
    return message.model_dump_json().encode()


def read(model: type[M], data: bytes) -> M:
    """The message in `data`.

    Raises:
        ProtocolError: it is not a message of this type.
    """
    try:
        return model.model_validate_json(data)
    except ValidationError as error:
        reason = error.errors(include_url=False, include_context=False, include_input=False)[0]
        raise ProtocolError(f"not a {model.__name__}: {reason['type']}") from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise ProtocolError(f"not a {model.__name__}: {type(error).__name__}") from None


def write_reply(request: str, answer: Answer, kept_bytes: int, *, retire: bool = False) -> bytes:
    """The reply with this answer. Lists are cut if the message would be too large."""
    return _cut_to_size(
        lambda most: Reply(
            request=request,
            answer=answer_model(answer, most),
            kept_bytes=kept_bytes,
            retire=retire,
        )
    )


def write_check(answer: Answer) -> bytes:
    """The result of a job that checked a competition.

    Raises:
        ValueError: it is the result of another kind of job.
    """
    return _cut_to_size(
        lambda most: JobResult.model_validate({"message": answer_model(answer, most)})
    )


def _cut_to_size(make: Callable[[int], BaseModel]) -> bytes:
    data = b""
    for most in ENTRIES:
        data = write(make(most))
        if len(data) <= LARGEST_MESSAGE:
            break
    return data
