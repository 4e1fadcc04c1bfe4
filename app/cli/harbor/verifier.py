"""Grade the submission of a Harbor trial on Podium, and write the reward.

This file is copied to `tests/grade.py` of a task and runs in the verifier's container, with nothing
but the standard library. Without a reward file Harbor reports an error of the verifier: that is the
outcome of every fault that is not the file's.
"""

from __future__ import annotations

import hashlib
import http.client
import json
import os
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any

TRY_AGAIN = frozenset({202, 429, 502, 503, 504})
KEYS = ("any_medal", "gold_medal", "silver_medal", "bronze_medal", "above_median",
        "valid_submission", "submission_exists")  # fmt: skip
PAUSE = 2.0  # seconds between two attempts, unless Podium names others
ANSWER_SECONDS = 90.0


class VerifierError(Exception):
    """Podium did not grade. The file is not the reason."""


def main(slug: str) -> int:
    """Write `reward.json` and `report.json`. The exit status is 1 if Podium did not grade."""
    file = Path(os.environ.get("PODIUM_SUBMISSION") or "/home/submission/submission.csv")
    logs = Path(os.environ.get("PODIUM_VERIFIER_LOGS") or "/logs/verifier")
    reward, report = logs / "reward.json", logs / "report.json"
    for old in (reward, report):
        old.unlink(missing_ok=True)
    try:
        found = grade(slug, file) if file.is_file() else dict.fromkeys(KEYS, False)
    except VerifierError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    write(report, found)
    write(reward, rewards(found))
    return 0


def rewards(report: dict[str, Any]) -> dict[str, float]:
    """Finite numbers, as Harbor requires; unknown numbers are left out."""
    found: dict[str, float] = {"reward": int(bool(report["any_medal"]))}
    found |= {key: int(bool(report[key])) for key in KEYS}
    if report.get("percentile") is not None:
        found["percentile"] = report["percentile"]
    return found


def grade(slug: str, file: Path) -> dict[str, Any]:
    """The report of a file. The same trial and file are one submission, however often it is sent.

    Raises:
        VerifierError: Podium cannot be reached, refuses the key, or failed.
    """
    url = os.environ.get("PODIUM_URL", "").rstrip("/")
    # The text may come from a file that ends with a newline.
    key = os.environ.get("PODIUM_KEY", "").strip()
    if not url.startswith(("http://", "https://")) or not key:
        raise VerifierError("Set PODIUM_URL and PODIUM_KEY (a harness's key) where Harbor runs.")
    data = file.read_bytes()
    trial = os.environ.get("PODIUM_TRIAL", "")
    headers = {
        "Authorization": f"Bearer {key}",
        "Content-Type": "text/csv",
        "Idempotency-Key": f"{trial[:100]}:{hashlib.sha256(data).hexdigest()}",
        "Prefer": "wait=60",
    }
    query = urllib.parse.urlencode({"seed": os.environ.get("PODIUM_SEED") or "0"})
    path = f"{url}/v1/competitions/{slug}/grade?{query}"
    deadline = time.monotonic() + float(os.environ.get("PODIUM_WAIT_SECONDS") or "600")
    while True:
        status, pause, text = send(path, data, headers)
        if status == 200:
            return read_report(text, url)
        if status and status not in TRY_AGAIN:
            raise VerifierError(f"{url} answered {status}: {text[:500]}")
        if time.monotonic() + pause > deadline:
            raise VerifierError(f"{url} did not grade in time: {status or 'away'}: {text[:500]}")
        time.sleep(pause)


def read_report(text: str, url: str) -> dict[str, Any]:
    """The report in an answer.

    Raises:
        VerifierError: it is none, so something else than Podium answered.
    """
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, dict) or not found.keys() >= {*KEYS}:
        raise VerifierError(f"{url} is not the address of a Podium, which answers otherwise.")
    return found


def send(url: str, data: bytes, headers: dict[str, str]) -> tuple[int, float, str]:
    """The status (0: no answer), the seconds to wait before another attempt, and the text."""
    request = urllib.request.Request(url, data, headers, method="POST")  # noqa: S310 (see `grade`)
    try:
        with urllib.request.urlopen(request, timeout=ANSWER_SECONDS) as answer:  # noqa: S310
            return answer.status, PAUSE, answer.read().decode(errors="replace")
    except urllib.error.HTTPError as error:
        with error:
            named = error.headers.get("Retry-After") or ""  # a proxy may write a date, or 0
            is_number = named.isascii() and named.isdigit()
            pause = float(named if is_number else 0) or PAUSE
            return error.code, pause, error.read().decode(errors="replace")
    except (OSError, http.client.HTTPException) as error:
        return 0, PAUSE, str(error)


def write(path: Path, document: dict[str, Any]) -> None:
    """Write a document completely or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps(document, allow_nan=False))
    partial.replace(path)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
