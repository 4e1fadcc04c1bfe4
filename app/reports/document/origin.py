"""The line that closes a document: which Podium made it, from which data, asked how."""

from __future__ import annotations

import hashlib
import re

from app import __version__
from app.reports.report import Report
from app.reports.tables import to_csv


def origin(report: Report, query: str) -> str:
    """Podium's version, a digest of the unrounded rows, and the query in one line.

    The same data and the same query give the same line.
    """
    digest = hashlib.sha256(to_csv(report.rows).encode()).hexdigest()
    line = " ".join(re.sub(r"[\x00-\x1f\x7f]", " ", query).split())
    return f"Podium {__version__}, data sha256:{digest}, query: {line}"
