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

BINARY = ["0", "1", "0", "1", "1", "0"]
NUMBERS = ["0", "2.5", "1", "3", "1", "0.5"]
INTEGERS = ["0", "2", "1", "3", "1", "0"]
LARGE = ["0", "-0.0", "5e-324", "2e-308", "1e-155", "1", "1e155", "-1e155",
         "1.7976931348623157e308", "-1.7976931348623157e308", "0.1", "-1"]  # fmt: skip
CHANCES = ["0", "-0.0", "5e-324", "1e-320", "2e-308", "1e-15", "0.5", "0.9999999999999999", "1"]
CHANCES_OF_THREE = ["1,0,0", "0,1,0", "0,0,1", "5e-324,1,0", "1,1e-320,-0.0", "0.5,0.5,0",
                    "0.3333333333,0.3333333333,0.3333333334"]  # fmt: skip
ONE_OF_THREE = ["1,0,0", "0,1,0", "0,0,1", "1,0,0", "0,0,1", "0,1,0"]
RUNS = ['"1 1"', '"5 3"', '"2 2 9 1"', "", '"1 16"', '"4 2"']
BOXES = ['"a 0 0 2 2"', '"b 1 1 3 3"', '"a 0 0 2 2 b 1 1 1 1"', '"b 2 2 2 2"', '"a 1 0 1 9"', ""]
POINTS = ['"a 1 1"', '"b 2 2"', "", '"a 1e308 -1e308 a 0 0"', '"a 5e-324 0"', '"b -0.0 0 c 1 1"']


@dataclass(frozen=True)
class Form:
    """Columns, the rows of answers, and rows of which submissions are drawn."""

    columns: dict[str, str]
    answers: Sequence[str]
    drawn: Sequence[str]
    parameters: str = "{}"
    rest: str = ""


def one(kind: str, answers: Sequence[str], drawn: Sequence[str], **form: str) -> Form:
    return Form({"x": f'{{ kind = "{kind}" }}'}, answers, drawn, **form)


def several(form: Form, number: int = 3) -> Form:
    """The form with its column and copies of it, each with the rows turned by one more."""
    (column,) = form.columns.values()

    def wide(rows: Sequence[str], step: int) -> list[str]:
        return [",".join(rows[(r + step * c) % len(rows)] for c in range(number))
                for r in range(len(rows))]  # fmt: skip

    columns = {f"x{n}": column for n in range(number)}
    drawn = [row for step in range(len(form.drawn)) for row in wide(form.drawn, step)]
    return Form(columns, wide(form.answers, 1), drawn)


NUMBER = [one("number", NUMBERS, LARGE), one("number", BINARY, LARGE)]
AT_LEAST_0 = [
    Form({"x": '{ kind = "number", min = 0 }'}, NUMBERS, [c for c in LARGE if c[0] != "-"])
]
CHANCE = [one("probability", BINARY, CHANCES)]
OF_KIND: dict[str, list[Form]] = {
    "number": [*NUMBER, *AT_LEAST_0, *map(several, NUMBER)],
    "integer": [
        one("integer", INTEGERS, ["0", "-0", "1", "-1", "9007199254740992", "7.0", "1e300"]),
        one("integer", BINARY, ["0", "1", "1.0", "2", "-1"]),
        several(one("integer", INTEGERS, ["0", "1", "-1", "1e300"])),
        Form({"x": '{ kind = "integer", min = 0 }'}, INTEGERS, ["0", "1", "1e300", "3"]),
    ],
    "probability": [
        *CHANCE,
        *map(several, CHANCE),
        Form(
            {f"x{n}": '{ kind = "probability" }' for n in range(3)}, ONE_OF_THREE, CHANCES_OF_THREE
        ),
    ],
    "boolean": [one("boolean", BINARY, ["0", "1"]), several(one("boolean", BINARY, ["0", "1"]))],
    "label": [
        one("label", list("abcabc"), ["a", "b", "ä", '"a,b"', "0", " c"]),
        one("label", list("ababab"), ["a", "b", "z"]),
        several(one("label", list("abcabc"), ["a", "b", "zz"])),
    ],
    "text": [
        one(
            "text",
            ["a", "kitten", "straße", "語 語", "a b c", "B"],
            ["a", '" "', '"a ""b"""', "語" * 50, "\u0301", "e\u0301", "A", '"a, b"'],
        )
    ],
    "list": [
        one(
            "list",
            ["a", "a b", "c", "b", "a b c", "c a"],
            ["", "a", '"a a a"', '"x y z a b c"', "é"],
        ),
        Form(
            {"x": '{ kind = "list", min_items = 1, permutation = true }'},
            ["a b c", "b a c", "c b a", "a b c", "c a b", "b c a"],
            ["a b c", "b a c", "c b a", "a c b", "c a b", "b c a"],
        ),
    ],
    "mask": [
        Form({"x": '{ kind = "mask", height = 4, width = 4 }'}, RUNS, [*RUNS, '"1 1 3 1 5 1"'])
    ],
}
OF_METRIC: dict[str, list[Form]] = {
    "mean_angular_error": [
        Form(
            {"azimuth": '{ kind = "number" }', "zenith": '{ kind = "number" }'},
            ["0,0", "3.14,1", "1,2", "0.5,3.1", "6,1", "2,2"],
            [f"{a},{b}" for a in LARGE for b in LARGE],
        )
    ],
    "weighted_roc_auc_score": [
        one(
            "number",
            BINARY,
            LARGE,
            parameters="{ thresholds = [0.0, 0.4, 1.0], weights = [2.0, 1.0] }",
        )
    ],
    "label_ranking_average_precision_score": [
        Form(
            {f"x{n}": '{ kind = "number" }' for n in range(3)},
            ONE_OF_THREE,
            [f"{a},{b},{a}" for a in LARGE for b in LARGE],
            parameters=f'{{ weights = "{weights}" }}',
        )
        for weights in ("labels", "rows")
    ],
    "point_in_box_f1_score": [
        Form(
            {
                "x": '{ kind = "boxes", fields = ["label", "x", "y"], label = "label", '
                'labels = ["a", "b", "c"] }'
            },
            BOXES,
            POINTS,
            rest='[answers.kinds]\nx = { kind = "boxes", '
            'fields = ["label", "x", "y", "width", "height"], '
            'label = "label", labels = ["a", "b", "c"] }\n',
        )
    ],
    "argmax_accuracy_score": [
        Form({str(n): '{ kind = "probability" }' for n in range(3)}, ONE_OF_THREE, CHANCES_OF_THREE)
    ],
}


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
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
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
