"""Structured logs: one JSON object per line on standard error, without keys or answers."""

from __future__ import annotations

import json
import logging
import math
import re
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime

# Any role, even an unknown one, because nothing else looks like a key.
KEY = re.compile(r"pod_([a-z]+)_[A-Za-z0-9_-]+")
# Addresses that carry their own permission: Kaggle's clients get them for files and uploads.
SIGNED = re.compile(r"(/api/v1/(?:files|uploads)/)[^/?\s\"\\]+")
LONGEST = 8000  # characters of one field of a line
LAST = 2000  # characters kept from the end of a longer field
REMIND_SECONDS = 60.0  # between two lines about an outage that lasts
VARYING = re.compile(r"\S*\d\S*")  # words of one reason: times, ports, names of files
MOST_REASONS = 1000  # whose times are remembered
_logged: dict[tuple[str, str, str], float] = {}  # times, by logger, event and words
_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "taskName", "color_message"}


class JsonLines(logging.Formatter):
    """Formats a log record as one line of JSON, including its `extra` fields."""

    def __init__(self, request_id: Callable[[], str]) -> None:
        super().__init__()
        self._request_id = request_id

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        document = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": record.getMessage(),
            "request_id": self._request_id(),
            **{name: value for name, value in vars(record).items() if name not in _STANDARD},
        }
        if record.exc_info:
            document["traceback"] = self.formatException(record.exc_info)
        document = {name: _bounded(value) for name, value in document.items()}
        # No message should have a key. If one does, the key is masked here.
        return SIGNED.sub(r"\1***", KEY.sub(r"pod_\1_***", json.dumps(document, default=str)))


def log_outage(
    log: logging.Logger, event: str, error: BaseException | str, **extra: object
) -> None:
    """Log in one line that something is away and will be tried again; then once a minute.

    A different reason is logged at once. The reason is the database's message, or else the error's
    text. The lines in between have the level debug, because many threads try again often.
    """
    said = getattr(getattr(error, "__cause__", None), "orig", None)
    why, now = " ".join(str(said or error).split()), time.monotonic()
    key = log.name, event, VARYING.sub("", why)
    is_news = now - _logged.get(key, -math.inf) >= REMIND_SECONDS
    if is_news:
        if len(_logged) >= MOST_REASONS:
            _logged.clear()
        _logged[key] = now
    log.log(logging.WARNING if is_news else logging.DEBUG, event, extra={**extra, "why": why})


def _bounded(value: object) -> object:
    """A value of a line, or the beginning and the end of its text if that is long.

    The end of a traceback names the error.
    """
    if value is None or isinstance(value, bool | int | float):
        return value
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    if len(text) <= LONGEST:
        return value
    left_out = f"... and {len(text) - LONGEST} more characters ..."
    return text[: LONGEST - LAST] + left_out + text[-LAST:]


def _says_something(record: logging.LogRecord) -> bool:
    """Whether a line of Alembic says more than that it opened a database."""
    return not record.getMessage().startswith(("Context impl ", "Will assume "))


def configure_logs(level: str, request_id: Callable[[], str]) -> None:
    """Send all logs through one handler."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines(request_id))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    # Otherwise it logs each of its plug-ins.
    logging.getLogger("alembic.runtime.plugins").setLevel("WARNING")
    # It warns of malformed forms, about which the clients get an error anyway.
    logging.getLogger("python_multipart").setLevel("ERROR")
    logging.getLogger("alembic.runtime.migration").addFilter(_says_something)
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access"):
        logging.getLogger(name).handlers.clear()
        logging.getLogger(name).propagate = name != "uvicorn.access"
