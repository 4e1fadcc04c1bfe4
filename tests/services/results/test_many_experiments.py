"""Boards and items of 10,000 experiments: complete, in pages, and in seconds."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import insert
from sqlalchemy.orm import Session

from app.domain.result_choices import GroupBy
from app.services.results import board
from app.services.results.inputs.scope import ResultFilter
from app.services.runtime.context import Context, open_context
from app.settings import Settings
from app.storage.database import migrations
from app.storage.database.models import Experiment
from app.storage.database.tables.results_elsewhere import ImportedGrade

MANY = 10_000
SLUGS = (
    "aerial-cactus-identification",
    "dogs-vs-cats-redux-kernels-edition",
    "leaf-classification",
)
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def context(tmp_path: Path) -> Iterator[Context]:
    settings = Settings(data_dir=tmp_path)
    migrations.upgrade(settings.database_url)
    opened = open_context(settings, grades=False, validates=False)

    def fill(session: Session) -> None:
        names = [f"agent-{n:05}" for n in range(MANY)]
        session.execute(
            insert(Experiment.__table__),
            [{"name": name, "agent": name, "model": "m", "notes": "", "created_at": NOON}
             for name in names],
        )  # fmt: skip
        session.execute(
            insert(ImportedGrade.__table__),
            [{"experiment": name, "competition": slug, "seed": seed, "made": True, "valid": True,
              "score": 0.5, "medal": "gold" if (n * 7 + at + seed) % 5 < n % 6 else None,
              "above_median": True, "source": "x", "document": {}, "imported_at": NOON}
             for n, name in enumerate(names) for at, slug in enumerate(SLUGS)
             for seed in range(2)],
        )  # fmt: skip

    opened.database.write(fill)
    yield opened
    opened.close()


def test_ten_thousand_experiments(context: Context) -> None:
    started = time.process_time()
    page = board.experiment_board(context, ResultFilter(), GroupBy.COMPLEXITY, limit=100)
    seen = [one.experiment.name for one, _ in page.rows]
    assert len(page.rows) == 100
    again = board.experiment_board(
        context, ResultFilter(), GroupBy.COMPLEXITY, after=page.next_cursor, limit=100
    )
    seen += [one.experiment.name for one, _ in again.rows]
    assert len(set(seen)) == 200
    means = [
        groups["all"].rates["any_medal"].mean for one in (page, again) for _, groups in one.rows
    ]
    assert means == sorted(means, reverse=True)
    names, table, absent = board.items(context, ResultFilter(), "any_medal")
    assert (len(names), len(table.items), len(table.abilities), absent) == (MANY, 3, MANY, [])
    assert all(one.slope95[0] < one.slope95[1] for one in table.items)
    assert time.process_time() - started < 60
