"""Both ways of reading and any order of rows lead to the same score, to the last bit."""

import numpy as np
import pytest

from app.grading.decode_answers import decode_answers
from app.grading.scorer import Scorer, scorer_for
from app.metrics import METRICS, problems
from tests.grading.make import competition, public_ids
from tests.metrics.samples import OWN_FORM

ROWS = 60
KINDS = {
    "number": ('{ kind = "number", min = 0 }', lambda r: repr(float(r.random() * 1e3))),
    "probability": ('{ kind = "probability" }', lambda r: repr(float(r.random()))),
    "integer": ('{ kind = "integer", min = 0, max = 4 }', lambda r: str(r.integers(5))),
    "boolean": ('{ kind = "boolean" }', lambda r: str(bool(r.integers(2)))),
    "label": ('{ kind = "label" }', lambda r: r.choice(["ant", "bee", "cat"])),
    "text": ('{ kind = "text" }', lambda r: r.choice(["ant", "bet", "a, b", "catty"])),
    "list": ('{ kind = "list" }', lambda r: " ".join(r.permutation(list("abcde"))[:3])),
    "mask": (
        '{ kind = "mask", height = 9, width = 9 }',
        lambda r: f"{r.integers(1, 9)} {r.integers(1, 9)} {r.integers(30, 40)} 4",
    ),
}
# Metrics whose answers are 0 and 1, whatever is predicted.
BINARY = {
    "average_precision_score", "brier_score_loss", "log_loss", "probabilistic_f1_score",
    "roc_auc_score",
}  # fmt: skip


def case(name: str):
    """A competition for a metric, and its kind of column: the first that it takes."""
    metric = METRICS[name]
    required = {p.name: "3" for p in metric.parameters.values() if p.required}
    parameters = "{ " + ", ".join(f"{key} = {value}" for key, value in required.items()) + " }"
    for kind, (spec, _) in KINDS.items():
        if kind in metric.kinds:
            tiny = competition(f"x = {spec}", metric=name, parameters=parameters)
            if not problems(tiny):
                return tiny, kind
    raise AssertionError(f"no kind of column here fits {name}")


def rows(kind: str, seed: int, *, binary: bool = False) -> list[str]:
    random = np.random.default_rng(seed)
    draw = (lambda r: r.integers(2)) if binary else KINDS[kind][1]
    cells = [str(draw(random)) for _ in range(ROWS)]
    return [f'r{row},"{cell}"' for row, cell in enumerate(cells)]


@pytest.mark.parametrize("name", [name for name in METRICS if name not in OWN_FORM])
def test_scores_are_equal_to_the_last_bit_for_every_metric(name):
    tiny, kind = case(name)
    ids = public_ids([f"r{row}" for row in range(ROWS)])
    usage = ["Public", "Private", "Private", "Ignored"]
    truth = [
        f"{line},{usage[row % 4]}" for row, line in enumerate(rows(kind, 1, binary=name in BINARY))
    ]
    lines = rows(kind, 2)
    shuffled = [lines[row] for row in np.random.default_rng(3).permutation(ROWS).tolist()]
    answers = decode_answers("\n".join(["id,x,Usage", *truth]).encode(), tiny, ids)
    scorer = scorer_for(tiny, None)

    found = set()
    for body in (lines, shuffled):
        data = "\n".join(["id,x", *body]).encode()
        fast = answers.checker.check_fast(data)
        assert fast is not None
        for checked in (fast, answers.checker.check_exactly(data)):
            found.add(both_scores(scorer, answers, checked))

    assert len(found) == 1


def both_scores(scorer: Scorer, answers, checked) -> tuple[str, str]:
    return (
        scorer.score(answers, answers.private, checked).hex(),
        scorer.score(answers, answers.public, checked).hex(),
    )


def test_a_metric_cannot_write_into_the_answers():
    ids = public_ids(["a", "b"])
    answers = decode_answers(b"id,x\na,1\nb,2\n", competition(), ids)

    with pytest.raises(ValueError, match="read-only"):
        answers.private.arrays[0] = 9.0
