"""`podium_scorer`: the file of a sample, graded by a Podium."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import anyio
from inspect_ai.scorer import Score, Scorer, Target, accuracy, scorer, stderr
from inspect_ai.solver import TaskState
from podium_client import AsyncPodium, PodiumError

from podium_inspect.submission import Submission, submission_of

SUBMISSION = "/home/submission/submission.csv"
# The first three are those of inspect_evals' `mle_bench`.
VALUES = ("valid_submission", "above_median", "any_medal", "gold_medal", "silver_medal",
          "bronze_medal")  # fmt: skip
PAUSE = 1.0  # seconds before a file that waits to be graded is asked for again


@scorer(metrics={name: [accuracy(), stderr()] for name in VALUES})
def podium_scorer(
    submission: str = SUBMISSION,
    seed: int = 0,
    url: str | None = None,
    experiment: str | None = None,
    wait: float = 600.0,
) -> Scorer:
    """Grade the file of a sample on the Podium at `url` or PODIUM_URL, with the key PODIUM_KEY.

    The competition is `competition` in the sample's metadata, else the sample's id. The seed of the
    run is `seed` in the first epoch, `seed + 1` in the second. A file at fault, and a sample
    without a file, is a score of zeros with the reason as its explanation. Every other fault
    raises, so that the sample has an error and no score; Podium is asked for `wait` seconds before.

    The file is kept in the sample's store, so `inspect score` can grade it again without a sandbox.
    The key is not an argument, because Inspect writes arguments into its logs.

    Args:
        submission: the file in the sample's sandbox.
        seed: the seed of the first epoch.
        url: the address of Podium.
        experiment: the experiment's name, for a researcher's key; a harness's key has its own.
        wait: seconds for which Podium may be away or busy.
    """

    async def score(state: TaskState, target: Target) -> Score:
        found = await submission_of(state, submission)
        if found.content is None:
            return _score_of({"submission_exists": found.exists}, found.fault)
        competition = str((state.metadata or {}).get("competition") or state.sample_id)
        async with AsyncPodium(url, wait=wait) as podium:
            report = await _graded(
                podium, competition, found, seed=seed + state.epoch - 1, experiment=experiment,
                idempotency_key=f"inspect {state.uuid} {found.sha256[:32]}", seconds=wait,
            )  # fmt: skip
        return _score_of(report, _explanation(report))

    return score


async def _graded(
    podium: AsyncPodium, competition: str, found: Submission, *, seconds: float, **query: Any
) -> dict[str, Any]:
    """The report of a file. The same sample and file are one submission, however often it is sent.

    Raises:
        PodiumError: Podium is away, refuses the request, failed, or did not grade in time.
    """
    assert found.content is not None  # noqa: S101 (for mypy)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "submission.csv"
        file.write_bytes(found.content)
        deadline = anyio.current_time() + seconds
        while True:
            report = await podium.grade(competition, file, **query)
            if report["valid_submission"] is not None:
                return report
            if anyio.current_time() + PAUSE > deadline:
                raise PodiumError(
                    f"Podium has the file as {report['id']} and did not grade it within "
                    f"{seconds:g} seconds. `inspect score` asks for the same grade again."
                )
            await anyio.sleep(PAUSE)


def _explanation(report: dict[str, Any]) -> str:
    if report["valid_submission"]:
        return f"score {report['score']}, {report['medal'] or 'no medal'} ({report['id']})"
    return "; ".join(one["message"] for one in report["violations"])


def _score_of(report: dict[str, Any], explanation: str) -> Score:
    return Score(
        value={name: bool(report.get(name)) for name in VALUES},
        answer=report.get("id"),
        explanation=explanation,
        metadata=report,
    )
