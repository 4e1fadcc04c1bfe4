"""Search for a valid file that has no score: `failed` would tell an agent about the answers.

The whole way from bytes to score, for every built-in metric and every kind that it takes: if a file
is accepted, the metric gives a finite number. Rows are drawn from a few that are extreme, denormal,
empty, equal or constant.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from app.domain.competition import Competition, parse_competition
from app.domain.verdict import Rejection
from app.errors import BadCompetition, MetricFault
from app.grading.answers import Answers
from app.grading.check import read_ids
from app.grading.decode_answers import decode_answers
from app.grading.grade import grade
from app.grading.scorer import Scorer, scorer_for
from app.metrics import METRICS
from tests.metrics.samples import required_parameters
from tests.metrics.valid_forms import OF_KIND, OF_METRIC, Form


@dataclass(frozen=True)
class Case:
    """A competition with decoded answers."""

    competition: Competition
    answers: Answers
    scorer: Scorer
    form: Form
    rows: st.SearchStrategy[list[str]]

    def file(self, rows: Sequence[str]) -> bytes:
        return written(self.form, rows)


def written(form: Form, rows: Sequence[str]) -> bytes:
    lines = [",".join(["id", *form.columns]), *(f"r{n},{row}" for n, row in enumerate(rows))]
    return ("\n".join(lines) + "\n").encode()


def rows_of(form: Form) -> st.SearchStrategy[list[str]]:
    """Six rows of one to three that are drawn and two of the answers, or six times one row.

    Made once for a case, and with one draw for all places: Hypothesis takes longer to draw than
    the file takes to be graded.
    """
    row = st.sampled_from(form.drawn)

    def placed(few: list[str], places: bytes) -> list[str]:
        some = few if form.rest else [*few, *form.answers[:2]]  # there, answers are of another kind
        return [some[place % len(some)] for place in places]

    few = st.lists(row, min_size=1, max_size=3)
    return st.builds(placed, few, st.binary(min_size=6, max_size=6)) | row.map(
        lambda one: [one] * 6
    )


def declared(name: str, form: Form) -> Case:
    """The case of this metric and form.

    Raises:
        BadCompetition: they do not belong together.
    """
    parameters = form.parameters
    if parameters == "{}":
        given = required_parameters(METRICS[name])
        parameters = "{ " + ", ".join(f"{k} = {json.dumps(v)}" for k, v in given.items()) + " }"
    columns = "\n".join(f"{key} = {value}" for key, value in form.columns.items())
    competition = parse_competition(
        "searched",
        f'title = "Searched"\nversion = 1\n[metric]\nname = "{name}"\nparameters = {parameters}\n'
        f'[submission]\nid = "id"\n[submission.columns]\n{columns}\n{form.rest}',
    )
    scorer = scorer_for(competition, None)
    data = written(form, form.answers)
    answers = decode_answers(data, competition, read_ids(data, competition.form), frames=False)
    return Case(competition, answers, scorer, form, rows_of(form))


def cases(name: str) -> Iterator[Case]:
    """All forms that the metric takes, and whose answers it is defined for."""
    kinds = sorted(METRICS[name].kinds)
    for form in OF_METRIC.get(name) or [form for kind in kinds for form in OF_KIND[kind]]:
        try:
            case = declared(name, form)
            arrays = case.answers.private.arrays
            case.scorer.function(arrays, arrays) if not form.rest else None
        except (BadCompetition, ValueError):
            continue
        yield case


CASES = {name: list(cases(name)) for name in METRICS}


@pytest.mark.parametrize("name", METRICS)
def test_there_is_a_form_for_every_kind_that_a_metric_takes(name: str) -> None:
    found = {
        column.kind for case in CASES[name] for column in case.competition.form.columns.values()
    }
    assert found
    assert name in OF_METRIC or found == METRICS[name].kinds


@pytest.mark.simulation
@pytest.mark.parametrize(
    ("name", "number"), [(name, n) for name, found in CASES.items() for n in range(len(found))]
)
@settings(max_examples=16, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_no_accepted_file_makes_a_metric_fail(name: str, number: int, data: st.DataObject) -> None:
    case = CASES[name][number]
    submission = case.file(data.draw(case.rows))
    try:
        graded = grade(submission, case.competition, case.answers, None, case.scorer)
    except Rejection:
        assume(False)
    except MetricFault as fault:
        pytest.fail(f"{fault.detail} for the valid file {submission!r}")
    else:
        assert type(graded.score) is float
        assert math.isfinite(graded.score)
