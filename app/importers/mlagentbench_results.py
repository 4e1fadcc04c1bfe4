"""Read the JSON that MLAgentBench's evaluation writes, completely or not at all.

It is an object whose keys are paths of trace files and whose values are runs. By MLAgentBench's
convention (eval.py and plot.py there) a final score of -1 means no score, and a 0 among the scores
of steps means a failed evaluation. Inconsistencies are listed, never corrected silently.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.domain.states import INFRASTRUCTURE, Failure
from app.importers.evaluation_values import (
    MOST_MISMATCHES,
    MOST_RUNS,
    NO_SCORE,
    as_kind,
    as_list,
    as_number,
    as_steps,
    bad_evaluation,
    check_place,
    objects,
    refuse_constant,
)
from app.importers.grading_report import Mismatch
from app.importers.json_text import parse_json, printable, quoted, shortened, storable

# If there are several errors, the first in this order counts; those not due to the agent come
# first.
KINDS: Mapping[str, Failure] = {
    "oom_error": Failure.OUT_OF_MEMORY,
    "connection_error": Failure.CONNECTION,
    "long_prompt_error": Failure.CONTEXT_LENGTH,
    "json_error": Failure.MALFORMED_OUTPUT,
    "error": Failure.CRASH,
}
MOST_SECONDS = 2.0**53  # as in the usage of a run: sums over runs stay finite
FIELDS = (
    "final_score", "score", "score_steps", "submitted_final_answer", "total_time", "error", "extra",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class EvaluatedRun:
    """One run: its key (`place`), its scores by step, its final score, and how it ended.

    A step is None if the step of a score is not known. `blank_steps` counts the evaluated steps
    without a score. `document` is the unchanged entry of the file.
    """

    place: str
    steps: tuple[tuple[int | None, float], ...]
    blank_steps: int
    final: float | None
    seconds: float | None
    failure: Failure
    document: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A file's runs, by their keys, and every inconsistency in it."""

    runs: tuple[EvaluatedRun, ...]
    mismatches: tuple[Mismatch, ...]


def read_evaluation(data: bytes, competition: str, *, higher_is_better: bool) -> Evaluation:
    """Read the results of one task.

    Raises:
        BadEvaluation: the file is not of MLAgentBench's form, a number is not finite, a run has
            two results, or a score is negative where lower is better.
    """
    repeated: list[str] = []
    document = parse_json(data, bad_evaluation, pairs=objects(repeated), constant=refuse_constant)
    if not isinstance(document, dict):
        raise bad_evaluation("", "it is not an object whose keys are paths of trace files")
    if not document:
        raise bad_evaluation("", "there are no results in it")
    if len(document) > MOST_RUNS:
        raise bad_evaluation("", f"it has more than {MOST_RUNS:,} runs")
    reader = _Reader(competition, higher_is_better)
    for key in repeated:
        reader.note(key, key, 2, 1, "the same entry twice; it counts once")
    known: dict[str, str] = {}
    runs = []
    for place in sorted(document):
        check_place(place)
        normalized = posixpath.normpath(place)
        if normalized in known:
            raise bad_evaluation(
                place, f"one run with two results: {known[normalized]!r} is the same file"
            )
        known[normalized] = place
        runs.append(reader.read(place, document[place]))
    return Evaluation(tuple(runs), tuple(reader.mismatches))


class _Reader:
    """Reads entries and collects inconsistencies."""

    def __init__(self, competition: str, higher_is_better: bool) -> None:
        self._competition = competition
        self._higher_is_better = higher_is_better
        self.mismatches: list[Mismatch] = []

    def note(self, place: str, field: str, file: Any, ours: Any, note: str) -> None:
        """List an inconsistency."""
        if len(self.mismatches) == MOST_MISMATCHES:
            raise bad_evaluation("", f"it has more than {MOST_MISMATCHES:,} inconsistencies")
        self.mismatches.append(
            Mismatch(
                printable(place), self._competition, printable(field), shortened(file), ours, note
            )
        )

    def read(self, place: str, item: Any) -> EvaluatedRun:
        """One entry."""
        if not isinstance(item, dict):
            raise bad_evaluation(place, "the results of a run are an object")
        for name in ("final_score", "score"):
            if name not in item:
                raise bad_evaluation(f"{place}.{name}", "it is not there")
        for name in FIELDS:
            if name not in item:
                self.note(place, name, None, None, "the file does not say")
        if item.get("path", place) != place:
            self.note(place, "path", item["path"], place, "the key and the path differ")
        stated = as_number(place, "final_score", item["final_score"])
        final = self._final(place, stated)
        scores = [
            as_number(f"{place}.score", str(at), each)
            for at, each in enumerate(as_list(place, "score", item["score"]))
        ]
        numbers = as_steps(place, item.get("score_steps", []))
        body = self._body(place, scores, numbers, stated if final is not None else None)
        if len(body) == len(numbers):
            numbered: list[tuple[int | None, float | None]] = list(zip(numbers, body, strict=True))
        else:
            note = "the steps of the scores are not known: the scores keep their order"
            self.note(place, "score_steps", len(numbers), len(body), note)
            numbered = [(None, score) for score in body]
        steps = [(at, score) for at, score in numbered if self._is_score(place, score)]
        submitted = as_kind(place, "submitted_final_answer", item, bool, default=False)
        if final is not None and not submitted:
            note = "there is a final score, though no final answer was submitted: it counts"
            self.note(place, "submitted_final_answer", submitted, True, note)
        if final is None and submitted:
            note = "a final answer was submitted, but has no score: the run failed"
            self.note(place, "final_score", stated, None, note)
        return EvaluatedRun(
            place=place,
            steps=tuple((at, score) for at, score in steps if score is not None),
            blank_steps=len(numbered) - len(steps),
            final=final,
            seconds=self._seconds(place, item),
            failure=self._failure(place, item, final),
            document=storable(item),
        )

    def _final(self, place: str, stated: float | None) -> float | None:
        if stated is None or stated == NO_SCORE:
            return None
        if stated == 0 and not self._higher_is_better:
            note = "0 where lower is better is not a measurement: taken as no score"
            self.note(place, "final_score", stated, None, note)
            return None
        self._reject_negative(f"{place}.final_score", stated)
        return stated

    def _body(
        self,
        place: str,
        scores: list[float | None],
        numbers: list[int],
        final: float | None,
    ) -> list[float | None]:
        """The scores of steps: all but the last, which repeats the final score."""
        if final is None:
            return scores
        if scores and scores[-1] == final:
            return scores[:-1]
        last = scores[-1] if scores else None
        note = "the final score is not the last of the scores; it counts"
        self.note(place, "final_score", final, last, note)
        return scores[:-1] if len(scores) == len(numbers) + 1 else scores

    def _is_score(self, place: str, score: float | None) -> bool:
        if score is None or score in (0.0, NO_SCORE):
            return False
        self._reject_negative(f"{place}.score", score)
        return True

    def _reject_negative(self, place: str, score: float) -> None:
        if score < 0 and not self._higher_is_better:
            raise bad_evaluation(
                place,
                f"{score!r} is negative, but in {self._competition} lower is better and scores "
                "are never negative (-1 alone stands for no score): is this the file of another "
                "task, or are its scores negated?",
            )

    def _seconds(self, place: str, item: Mapping[str, Any]) -> float | None:
        seconds = as_number(place, "total_time", item.get("total_time"))
        if seconds is not None and seconds < 0:
            self.note(place, "total_time", seconds, None, "a negative time is not known")
            return None
        if seconds is not None and seconds > MOST_SECONDS:
            self.note(place, "total_time", seconds, None, "no run takes so long: it is not known")
            return None
        return seconds or None  # MLAgentBench writes 0 if it found no time

    def _failure(self, place: str, item: Mapping[str, Any], final: float | None) -> Failure:
        error = as_kind(place, "error", item, str, default="")
        extra = as_kind(place, "extra", item, dict, default={})
        for name, value in extra.items():
            if not isinstance(value, bool):
                raise bad_evaluation(
                    f"{place}.extra.{printable(name)}", f"{quoted(value)} is not true or false"
                )
            if value and name not in KINDS:
                note = "this kind of error is unknown: it is stored, but does not count"
                self.note(place, f"extra.{name}", value, None, note)
        if error and not extra.get("error", False):
            self.note(place, "extra.error", extra.get("error"), True, "there is an error's text")
        errors = [kind for name, kind in KINDS.items() if extra.get(name)]
        if error and Failure.CRASH not in errors:
            errors.append(Failure.CRASH)
        if len(errors) > 1:
            kinds = [kind.value for kind in errors]
            self.note(place, "extra", kinds, errors[0].value, "several errors: the first counts")
        if final is not None and errors and errors[0] not in INFRASTRUCTURE:
            note = "the run has a final score nevertheless, so it is not a failure"
            self.note(place, "extra", errors[0].value, Failure.NONE.value, note)
            return Failure.NONE
        if errors:
            return errors[0]
        return Failure.NONE if final is not None else Failure.NO_SUBMISSION
