"""The origin of a document: the Podium that made it, the data, and the query."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from app import __version__
from app.reports.document.report import Report
from app.reports.document.tables import to_csv


@dataclass(frozen=True, slots=True)
class Origin:
    """Podium's version, a digest of the unrounded rows as CSV with all columns, and the query.

    The same data and the same query give the same origin.
    """

    podium: str
    data_sha256: str
    query: str

    def line(self) -> str:
        """The origin in one line, which closes a document."""
        return f"Podium {self.podium}, data sha256:{self.data_sha256}, query: {self.query}"


def origin_of(report: Report, query: str) -> Origin:
    """The origin of a report for this query."""
    digest = hashlib.sha256(to_csv(report.rows).encode()).hexdigest()
    line = " ".join(re.sub(r"[\x00-\x1f\x7f]", " ", query).split())
    return Origin(__version__, digest, line)


def csv_metadata(name: str, origin: Origin) -> dict[str, str]:
    """The origin of the CSV file `name`, by W3C's "Metadata Vocabulary for Tabular Data"."""
    context = "http://www.w3.org/ns/csvw"
    return {"@context": context, "url": name, "dc:provenance": origin.line()}
