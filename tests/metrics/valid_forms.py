"""Forms of files for the search for valid ones without a score: answers, and rows to draw from.

Rows of submissions are drawn from a few that are extreme, denormal, empty, equal or constant.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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
