"""How long medal rates take: 75 competitions x 16 seeds x 40 experiments, from the database.

Every run has three submissions, the intervals come from 10,000 resamples. Run it alone with
`python -m benchmarks.statistics`.
"""

from __future__ import annotations

import random
import statistics
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from sqlalchemy import insert
from sqlalchemy.orm import Session

from app.domain.result_choices import GroupBy, Padding
from app.services.results import board, experiment_results
from app.services.results.inputs.scope import ResultFilter
from app.services.runtime.context import Context, open_context
from app.settings import Settings
from app.statistics.estimates import resampling_counts
from app.storage.database import migrations
from app.storage.database.models import CompetitionVersion, Experiment, Grade, Run, Submission

COMPETITIONS, SEEDS, EXPERIMENTS, SENT = 75, 16, 40, 3
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
REPEATS = 5


def main() -> None:
    """Fill a database, then ask as researchers do."""
    with tempfile.TemporaryDirectory(prefix="podium-bench-") as home:
        settings = Settings(data_dir=Path(home))
        migrations.upgrade(settings.database_url)
        context = open_context(settings)
        try:
            slugs = context.catalogue.suite("mle-bench")[:COMPETITIONS]
            for number in range(EXPERIMENTS):
                context.database.write(lambda session, n=number: fill(session, n, slugs))
            measure(context)
        finally:
            context.close()


def measure(context: Context) -> None:
    """Print the time of each question: the first time, and the middle one of the others."""
    whole = ResultFilter("mle-bench", Padding.NONE)
    by = GroupBy.COMPLEXITY
    runs = COMPETITIONS * SEEDS
    print(f"{EXPERIMENTS} experiments of {runs} runs, {SENT} submissions each; 10,000 resamples")
    questions: dict[str, Callable[[], object]] = {
        "medal rates of one experiment": lambda: experiment_results.medal_rates(
            context, "agent-00", whole, by
        ),
        "medal rates of all 40": lambda: board.experiment_board(context, whole, by),
        "pass@1..8 of one": lambda: experiment_results.pass_at_k(
            context, "agent-00", whole, tuple(range(1, 9)), "any_medal"
        ),
        "two compared": lambda: board.compare(context, "agent-00", "agent-01", whole, "any_medal"),
        "item table of all 40": lambda: board.items(context, whole, "any_medal"),
    }
    for name, ask in questions.items():
        resampling_counts.cache_clear()
        started = time.process_time()
        first = seconds(ask)
        processor = time.process_time() - started
        again = statistics.median(seconds(ask) for _ in range(REPEATS))
        print(
            f"{name:32} first {first:6.3f} s ({processor:.3f} s of processor time), "
            f"again {again:6.3f} s"
        )


def seconds(ask: Callable[[], object]) -> float:
    """How long one question takes."""
    started = time.perf_counter()
    ask()
    return time.perf_counter() - started


def fill(session: Session, number: int, slugs: tuple[str, ...]) -> None:
    """One experiment: a run for every competition and seed, with graded submissions."""
    chance = random.Random(number)
    if number == 0:
        session.execute(insert(CompetitionVersion.__table__), [version(s) for s in slugs])
    name = f"agent-{number:02}"
    session.execute(
        insert(Experiment.__table__),
        [{"name": name, "agent": name, "model": "m", "notes": "", "created_at": NOON}],
    )
    runs, submissions, grades = [], [], []
    for at, slug in enumerate(slugs, start=1):
        for seed in range(SEEDS):
            run = f"run_{number:02}_{at:02}_{seed:02}"
            runs.append(
                {"id": run, "experiment": name, "version_id": at, "competition": slug,
                 "seed": seed, "feedback": "validity", "limits": {}, "state": "closed",
                 "created_at": NOON, "closed_at": NOON}
            )  # fmt: skip
            for sent in range(SENT):
                key = f"sub_{run[4:]}_{sent}"
                medal = chance.choice(("gold", "silver", "bronze", None, None))
                submissions.append(
                    {"id": key, "run_id": run, "version_id": at, "state": "graded", "message": "",
                     "bytes": 1000, "sha256": "0" * 64, "received_at": NOON + timedelta(hours=sent),
                     "settled_at": NOON, "run_seconds": 3600.0 * sent, "warnings": [],
                     "attempts": 1}
                )  # fmt: skip
                grades.append(
                    {"submission_id": key, "version_id": at, "score": chance.random(),
                     "above_median": medal is not None, "medal": medal, "grader": {},
                     "graded_at": NOON}
                )  # fmt: skip
    session.execute(insert(Run.__table__), runs)
    session.execute(insert(Submission.__table__), submissions)
    session.execute(insert(Grade.__table__), grades)


def version(slug: str) -> dict[str, object]:
    """A competition version's row; its data is not needed here."""
    return {
        "slug": slug, "number": 1, "content_hash": slug, "status": "needs_data", "title": slug,
        "document": {"complexity": None, "flags": [], "tags": []}, "toml": "", "files": [],
        "lint": [], "imported_at": NOON, "leaderboard": {"teams": 1000},
    }  # fmt: skip


if __name__ == "__main__":
    main()
