"""Lists of runs with what others than their agents know of them, as the HTTP API shows them."""

from __future__ import annotations

from typing import Any

from app.domain.states import RunState
from app.services.runtime.context import Context
from app.storage.queries import runs, submission_counts

PAGE = 1000


def listed_runs(
    context: Context,
    experiment: str | None,
    competition: str | None,
    state: RunState | None,
    *,
    archived: bool = False,
) -> list[dict[str, Any]]:
    """All runs of an experiment, at a competition, in a state; oldest first."""
    found: list[dict[str, Any]] = []
    after = None
    while True:
        with context.database.read() as session:
            page = runs.list_runs(
                session,
                experiment=experiment,
                competition=competition,
                state=state,
                archived=archived,
                after=after,
                limit=PAGE,
            )
            counts = submission_counts.of_runs(session, [run.id for run in page])
        found += [
            {
                "id": run.id,
                "experiment": run.experiment,
                "competition": run.competition,
                "seed": run.seed,
                "feedback": run.feedback.value,
                "limits": run.limits,
                "state": run.state.value,
                "failure": run.failure,
                "submissions": counts.get(run.id, {}),
                "created_at": run.created_at,
                "started_at": run.started_at,
                "closed_at": run.closed_at,
            }
            for run in page
        ]
        if len(page) < PAGE:
            return found
        after = page[-1].id
