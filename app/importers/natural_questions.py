"""Convert the answers of TensorFlow 2.0 Question Answering from JSON lines to CSV."""

from __future__ import annotations

import csv
import io
import json
from typing import Any


def answers_csv(data: bytes) -> bytes:
    """Two rows for each example, `<id>_long` and `<id>_short`: one right answer, and all of them.

    `accepted` joins the right answers by "|"; it is empty if an empty prediction is right. Only an
    example's first annotation counts, as in MLE-bench.

    Raises:
        ValueError: a line is not an example with an annotation.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["example_id", "PredictionString", "accepted"])
    for number, line in enumerate(data.decode("utf-8").split("\n"), start=1):
        if not line.strip():
            continue
        try:
            example = json.loads(line)
            annotation = example["annotations"][0]
            rows = {"long": _long(annotation), "short": _short(annotation)}
            key = str(example["example_id"])
        except (ValueError, KeyError, IndexError, TypeError, OverflowError, RecursionError):
            raise ValueError(f"line {number} is not an example with an annotation") from None
        for kind, accepted in rows.items():
            writer.writerow([f"{key}_{kind}", accepted[0] if accepted else "", "|".join(accepted)])
    return out.getvalue().encode()


def _long(annotation: dict[str, Any]) -> list[str]:
    span = annotation["long_answer"]
    return [] if span["start_token"] == -1 else [_range(span)]


def _short(annotation: dict[str, Any]) -> list[str]:
    accepted = [_range(span) for span in annotation["short_answers"]]
    if annotation["yes_no_answer"] != "NONE":
        accepted.append(annotation["yes_no_answer"])
    return accepted


def _range(span: dict[str, Any]) -> str:
    return f"{int(span['start_token'])}:{int(span['end_token'])}"
