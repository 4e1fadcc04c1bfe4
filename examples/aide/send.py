"""Ask Podium with a run's key, and send the run's file: the standard library only.

As a program: `python send.py FILE` with PODIUM_URL, PODIUM_RUN and PODIUM_KEY of a run in the
environment. It prints the submission as Podium's policy shows it. It tries again while Podium is
away, for PODIUM_WAIT_SECONDS (300), and a file that it sends again is not another submission.
"""

from __future__ import annotations

import hashlib
import http.client
import json
import os
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

PAUSE = 2.0  # seconds between tries
AWAY = (429, 502, 503, 504)  # codes of answers to try again after
UNDECIDED = ("queued", "grading")


def main() -> None:
    """Send the file that the command line names."""
    if len(sys.argv) != 2:
        sys.exit("Name the file: python send.py submission.csv")
    sent = send(Path(sys.argv[1]))
    print(json.dumps({name: sent[name] for name in ("state", "message", "problem", "grade")}))


def send(file: Path) -> dict[str, Any]:
    """The submission once it is decided; the same file under the same name is sent once."""
    try:
        content = file.read_bytes()
    except OSError as error:
        sys.exit(f"{file} cannot be read: {error.strerror}.")
    key = hashlib.sha256(file.name.encode() + b"\n" + content).hexdigest()
    headers = {"Content-Type": "text/csv", "Prefer": "wait=60", "Idempotency-Key": key}
    sent = podium(f"/v1/runs/{_variable('PODIUM_RUN')}/submissions", content, headers)
    while sent["state"] in UNDECIDED:
        time.sleep(PAUSE)
        sent = podium(f"/v1/submissions/{sent['id']}")
    return sent


def podium(
    path: str, body: bytes | None = None, headers: dict[str, str] | None = None
) -> dict[str, Any]:
    """A document of Podium."""
    found: dict[str, Any] = json.loads(ask(path, body, headers))
    return found


def ask(path: str, body: bytes | None = None, headers: dict[str, str] | None = None) -> bytes:
    """Podium's answer to the run's key. A refusal ends the program with Podium's words."""
    key = {"Authorization": f"Bearer {_variable('PODIUM_KEY')}"}
    url = _variable("PODIUM_URL")
    if not url.startswith(("http://", "https://")):
        sys.exit(f"PODIUM_URL is {url!r}: write an address as http://podium:7777.")
    request = urllib.request.Request(url + path, body, {**key, **(headers or {})})  # noqa: S310
    until = time.monotonic() + _wait_seconds()
    while True:
        try:
            with urllib.request.urlopen(request, timeout=90) as answer:  # noqa: S310
                content: bytes = answer.read()
                return content
        except urllib.error.HTTPError as error:
            words, named = _words(error), error.headers.get("Retry-After") or ""
            is_number = named.isascii() and named.isdigit()  # or a date, or 0
            pause = float(named if is_number else 0) or PAUSE
            if error.code not in AWAY or time.monotonic() + pause > until:
                sys.exit(f"Podium answered {error.code}: {words}")
        except (OSError, http.client.HTTPException) as error:
            pause = PAUSE
            if time.monotonic() + pause > until:
                sys.exit(f"Podium at {url} cannot be reached: {error}")
        time.sleep(pause)


def _variable(name: str) -> str:
    value = os.environ.get(name)
    if not value:
        sys.exit(
            f"Set {name}. PODIUM_URL is the address of Podium, PODIUM_RUN and PODIUM_KEY a run's."
        )
    return value


def _wait_seconds() -> float:
    given = os.environ.get("PODIUM_WAIT_SECONDS", "300")
    try:
        return float(given)
    except ValueError:
        sys.exit(f"PODIUM_WAIT_SECONDS is {given!r}: write a number.")


def _words(error: urllib.error.HTTPError) -> str:
    try:
        return str(json.load(error)["detail"])
    except (ValueError, KeyError):
        return str(error.reason)


if __name__ == "__main__":
    main()
