"""The results of an experiment for tests of reports."""

from __future__ import annotations

from datetime import UTC, datetime

from app.services.results.inputs.scope import ResultContext, ResultFilter
from app.statistics.attempts import make_grid
from app.storage.database.records import ExperimentRecord
from tests.statistics.make import attempt

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
GRID = make_grid([attempt("bikes", seed) for seed in (0, 1)], {"bikes"})
PLAIN = ResultContext(
    experiment=ExperimentRecord(name="first", agent="a", model="m", created_at=NOON),
    filters=ResultFilter(),
    grid=GRID,
    missing=(),
    flags=(),
    excluded=(),
    outside=0,
    open=0,
    imported=0,
    policies={},
    failures={},
    disclosed={},
)
