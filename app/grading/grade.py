"""Grade a submission: its scores, and its standing on the human leaderboard."""

from __future__ import annotations

from app.domain.competition import Competition
from app.domain.leaderboard import Leaderboard
from app.grading.answers import PRIVATE, PUBLIC, SEARCH, Answers
from app.grading.check import FileData
from app.grading.graded import Graded
from app.grading.scorer import Scorer
from app.grading.sketch import sketch_of


def grade(
    data: FileData,
    competition: Competition,
    answers: Answers,
    leaderboard: Leaderboard | None,
    metric: Scorer,
) -> Graded:
    """Grade one submission.

    Raises:
        Rejection: the file is invalid; it lists every problem.
        MetricFault: the metric failed; the message has no value of the answers.
        ValueError: the answers are those of another competition.
    """
    if answers.checker.schema.form is not competition.form and (
        answers.checker.schema.form != competition.form
    ):
        raise ValueError(f"these are not the answers of {competition.slug}")
    checked = answers.check(data)
    scores = {name: metric.score(answers, part, checked) for name, part in answers.parts.items()}
    score = scores[PRIVATE]
    return Graded(
        score=score,
        public_score=scores.get(PUBLIC),
        search_score=scores.get(SEARCH),
        standing=None if leaderboard is None else leaderboard.standing(score),
        warnings=checked.warnings,
        sketch=sketch_of(checked),
    )
