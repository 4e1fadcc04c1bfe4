"""The file that an agent left in its sandbox, or that an earlier scoring kept in the log."""

from __future__ import annotations

import base64
import gzip
import hashlib
from dataclasses import dataclass

from inspect_ai.solver import TaskState
from inspect_ai.util import OutputLimitExceededError, sandbox

KEPT = "podium_submission"  # in the sample's store: base64 of the file, compressed


@dataclass(frozen=True)
class Submission:
    """A file; without `content`, why there is none."""

    content: bytes | None
    exists: bool = True
    fault: str = ""

    @property
    def sha256(self) -> str:
        """The digest of the content."""
        return hashlib.sha256(self.content or b"").hexdigest()


async def submission_of(state: TaskState, path: str) -> Submission:
    """The file at `path` of the sample's sandbox, or, where no sandbox is, the one that was kept.

    Raises:
        ValueError: there is neither a sandbox nor a kept file.
    """
    try:
        environment = sandbox()
    except ProcessLookupError:
        return _kept(state)
    try:
        content = await environment.read_file(path, text=False)
    except (FileNotFoundError, IsADirectoryError):
        found = Submission(None, False, f"There is no file {path}.")
    except PermissionError:
        found = Submission(None, True, f"The file {path} may not be read.")
    except OutputLimitExceededError as error:
        found = Submission(None, True, f"The file {path} is larger than {error.limit_str}.")
    else:
        found = Submission(content)
    state.store.set(KEPT, _packed(found))
    return found


def _packed(found: Submission) -> dict[str, str | bool | None]:
    content = None
    if found.content is not None:
        content = base64.b64encode(gzip.compress(found.content, mtime=0)).decode()
    return {"content": content, "exists": found.exists, "fault": found.fault}


def _kept(state: TaskState) -> Submission:
    kept = state.store.get(KEPT)
    if kept is None:
        raise ValueError(
            "This sample has no sandbox and its log no file, so there is nothing to grade: only "
            "logs of evaluations that podium_scorer scored can be scored again."
        )
    content = kept["content"]
    unpacked = None if content is None else gzip.decompress(base64.b64decode(content))
    return Submission(unpacked, kept["exists"], kept["fault"])
