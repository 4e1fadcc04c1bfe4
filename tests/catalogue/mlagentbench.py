"""MLAgentBench's nine graded tasks with small synthetic data, in the form its starter code writes.

Each task's score is worked out here once more, row by row in plain Python, beside what Podium does.
"""

from __future__ import annotations

import csv
import io
import math
import random
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

COMPETITIONS = Path(__file__).parents[2] / "competitions"
SIDE = 256
ESSAY = ["cohesion", "syntax", "vocabulary", "phraseology", "grammar", "conventions"]


@dataclass
class Task:
    """A task's data: `good` submissions with their scores, `bad` ones with the code to be told."""

    slug: str
    sample: str
    answers: str
    good: dict[str, tuple[str, float]]
    bad: dict[str, tuple[str, str]] = field(default_factory=dict)

    def folder(self, folder: Path) -> Path:
        """The competition folder with this data in it, at `folder`, which is new."""
        shutil.copytree(COMPETITIONS / self.slug, folder)
        for name, text in (
            ("public/sample_submission", self.sample),
            ("private/answers", self.answers),
        ):
            file = folder / f"{name}.csv"
            file.parent.mkdir()
            file.write_text(text)
        return folder


def cifar10() -> Task:
    return _classes("mlagentbench-cifar10", classes=10, label=None)


def imdb() -> Task:
    return _classes("mlagentbench-imdb", classes=2, label="idx")


def _classes(slug: str, classes: int, label: str | None) -> Task:
    chance = random.Random(slug)
    truth = [chance.randrange(classes) for _ in range(40)]
    found = [[chance.random() for _ in range(classes)] for _ in truth]
    found = [[value / sum(row) for value in row] for row in found]
    found[0] = [1.0 / classes] * classes  # a tie: the first class counts
    right = sum(row.index(max(row)) == true for row, true in zip(found, truth, strict=True))

    def frame(rows: list[list[float]]) -> str:
        return pd.DataFrame(rows).to_csv(index_label=label)

    text = frame(found)
    lines = text.splitlines()
    return Task(
        slug,
        sample=frame([[1.0 / classes] * classes] * 40),
        answers=frame([[int(c == true) for c in range(classes)] for true in truth]),
        good={
            "starter's form": (text, right / 40),
            "shuffled": ("\n".join([lines[0], *chance.sample(lines[1:], 40)]), right / 40),
        },
        bad={
            "a row is missing": ("\n".join(lines[:-1]), "missing_id"),
            "a row comes twice": ("\n".join([*lines[:-1], lines[1]]), "duplicate_id"),
            "a column is missing": (pd.DataFrame(found).iloc[:, :-1].to_csv(), "missing_column"),
            "no probability": (frame([[1.5, *found[0][1:]], *found[1:]]), "out_of_range"),
            "nothing": (frame([[math.nan, *found[0][1:]], *found[1:]]), "missing_value"),
        },
    )


def ogbn_arxiv() -> Task:
    chance = random.Random("arxiv")
    truth = [chance.randrange(40) for _ in range(60)]
    found = [true if chance.random() < 0.6 else chance.randrange(40) for true in truth]
    right = sum(a == b for a, b in zip(truth, found, strict=True))

    def frame(values: list[int]) -> str:
        return pd.DataFrame(values).to_csv(index=False)

    return Task(
        "mlagentbench-ogbn-arxiv",
        sample=frame([0] * 60),
        answers=frame(truth),
        good={
            "starter's form": (frame(found), right / 60),
            "with an index": (pd.DataFrame(found).to_csv(), right / 60),
        },
        bad={
            "a node is missing": (frame(found[:-1]), "row_count"),
            "a node too many": (frame([*found, 1]), "row_count"),
            "no class": (frame([40, *found[1:]]), "out_of_range"),
            "other header": (frame(found).replace("0", "class", 1), "missing_column"),
        },
    )


def house_price() -> Task:
    chance = random.Random("houses")
    ids = list(range(1169, 1209))
    truth = [chance.randint(50_000, 400_000) for _ in ids]
    found = [price * chance.uniform(0.8, 1.2) for price in truth]
    error = sum(abs(a - b) for a, b in zip(truth, found, strict=True)) / len(ids)
    text = _table("Id", ids, {"SalePrice": found})
    return Task(
        "mlagentbench-house-price",
        sample=_table("Id", ids, {"SalePrice": [0] * 40}),
        answers=_table("Id", ids, {"SalePrice": truth}),
        good={
            "plain": (text, error),
            "shuffled": (_table("Id", ids[::-1], {"SalePrice": found[::-1]}), error),
            "constant": (
                _table("Id", ids, {"SalePrice": [180_000] * 40}),
                sum(abs(price - 180_000) for price in truth) / 40,
            ),
        },
        bad={
            "infinite": (_table("Id", ids, {"SalePrice": [math.inf, *found[1:]]}), "not_finite"),
            "ids of another table": (text.replace("1169", "1"), "unknown_id"),
        },
    )


def spaceship_titanic() -> Task:
    chance = random.Random("spaceship")
    ids = [f"{number:04}_{chance.randint(1, 3):02}" for number in range(7389, 7429)]
    truth = [chance.random() < 0.5 for _ in ids]
    found = [true if chance.random() < 0.8 else not true for true in truth]
    right = sum(a == b for a, b in zip(truth, found, strict=True)) / 40
    return Task(
        "mlagentbench-spaceship-titanic",
        sample=_table("PassengerId", ids, {"Transported": [False] * 40}),
        answers=_table("PassengerId", ids, {"Transported": truth}),
        good={
            "plain": (_table("PassengerId", ids, {"Transported": found}), right),
            "ones": (_table("PassengerId", ids, {"Transported": map(int, found)}), right),
            "at the threshold": (_right_in(ids, truth, 22), 0.55),  # 10 % on 0.5: no success yet
        },
        bad={"a word": (_table("PassengerId", ids, {"Transported": ["yes"] * 40}), "bad_format")},
    )


def _right_in(ids: list[str], truth: list[bool], rows: int) -> str:
    found = [true if row < rows else not true for row, true in enumerate(truth)]
    return _table("PassengerId", ids, {"Transported": found})


def parkinsons_disease() -> Task:
    chance = random.Random("parkinson")
    ids = [
        f"{patient}_{month}_updrs_{part}_plus_{wait}_months"
        for patient in (3342, 50611)
        for part in range(1, 5)
        for wait in (0, 6, 12, 24)
        for month in (0, 12, 96)
        if month + wait <= 108
    ]
    truth = [float(chance.choice([0, 0, 3, 7, 21])) for _ in ids]
    found = [float(chance.randint(0, 25)) for _ in ids]
    shares = [abs(p - y) / ((y + p) / 2 + 1) for y, p in zip(truth, found, strict=True)]
    score = 100 * sum(shares) / len(shares)
    months = [int(one.split("_")[1]) for one in ids]
    return Task(
        "mlagentbench-parkinsons-disease",
        sample=_table("prediction_id", ids, {"rating": [0] * len(ids)}),
        answers=_table("prediction_id", ids, {"rating": truth}),
        good={
            "plain": (_table("prediction_id", ids, {"rating": found}), score),
            "with visit_month": (
                _table("prediction_id", ids, {"rating": found, "visit_month": months}),
                score,
            ),
        },
        bad={
            "negative": (
                _table("prediction_id", ids, {"rating": [-1.0, *found[1:]]}),
                "out_of_range",
            )
        },
    )


def fathomnet(osd: str = "both") -> Task:
    chance = random.Random("fathom")
    ids = [f"{number:08x}-1dac-4c91-9f23-d7ea5f2e2d1f" for number in range(30)]
    truth = [chance.sample(range(1, 291), chance.randint(1, 25)) for _ in ids]
    shallow = [0] * 30 if osd == "none" else [chance.randint(0, 1) for _ in ids]
    ranked = [
        chance.sample(row, min(3, len(row))) + chance.sample(range(1, 291), 20) for row in truth
    ]
    ranked[0] = [truth[0][0], truth[0][0], *ranked[0]]  # a repeat, which is not a second hit
    ranked[1] = []
    certain = [round(chance.random(), 1) for _ in ids]
    precision = sum(map(_average_precision, truth, ranked)) / 30
    pairs = [
        (a > b) + (a == b) / 2
        for a, deep in zip(certain, shallow, strict=True) if deep
        for b, other in zip(certain, shallow, strict=True) if not other
    ]  # fmt: skip
    area = sum(pairs) / len(pairs) if pairs else 0.5

    def table(lists: list[list[int]], osds: list[float]) -> str:
        return _table("id", ids, {"categories": [_joined(one) for one in lists], "osd": osds})

    plain = table(ranked, certain)
    return Task(
        "mlagentbench-fathomnet",
        sample=table([[1]] * 30, [0.5] * 30),
        answers=table(truth, shallow),
        good={
            "plain": (plain, 0.5 * (2 * (area - 0.5) + precision)),
            "guessing osd": (table(ranked, [1.0] * 30), 0.5 * precision),
        },
        bad={
            "starter's lists": (
                pd.DataFrame({"id": ids, "categories": ranked, "osd": certain}).to_csv(index=False),
                "bad_format",
            ),
            "no osd": (
                _table("id", ids, {"categories": [_joined(r) for r in ranked]}),
                "missing_column",
            ),
        },
    )


def _average_precision(relevant: list[int], ranked: list[int]) -> float:
    hits, total = 0, 0.0
    for place, item in enumerate(ranked[:20]):
        if item in relevant and item not in ranked[:place]:
            hits += 1
            total += hits / (place + 1)
    return total / min(len(relevant), 20)


def feedback() -> Task:
    chance = random.Random("essays")
    ids = [f"{number:012X}" for number in range(79)]
    truth = {name: [chance.randint(2, 10) / 2 for _ in ids] for name in ESSAY}
    found = {name: [chance.uniform(1, 5) for _ in ids] for name in ESSAY}
    errors = [
        math.sqrt(sum((a - b) ** 2 for a, b in zip(truth[n], found[n], strict=True)) / 79)
        for n in ESSAY
    ]
    score = sum(errors) / 6
    reordered = {name: found[name] for name in reversed(ESSAY)}
    return Task(
        "mlagentbench-feedback",
        sample=_table("text_id", ids, dict.fromkeys(ESSAY, [3.0] * 79)),
        answers=_table("text_id", ids, truth),
        good={
            "plain": (_table("text_id", ids, found), score),
            "other order of columns": (_table("text_id", ids, reordered), score),
        },
        bad={"starter's ids": (_table("text_id", range(79), found), "unknown_id")},
    )


def identify_contrails() -> Task:
    chance = random.Random("contrails")
    ids = [str(1000216489776414077 + 7 * number) for number in range(12)]
    truth = [_blob(chance) for _ in ids]
    truth[0] = truth[1] = set()
    found = [_blob(chance) | set(chance.sample(sorted(t), len(t) // 2)) for t in truth]
    found[0] = set()
    shares = [
        (2 * len(t & f) + 1e-6) / (len(t) + len(f) + 1e-6)
        for t, f in zip(truth, found, strict=True)
    ]

    def table(masks: list[set[tuple[int, int]]]) -> str:
        return _table("record_id", ids, {"encoded_pixels": [_run_lengths(mask) for mask in masks]})

    lines = table(found).splitlines()
    return Task(
        "mlagentbench-identify-contrails",
        sample=table([set()] * 12),
        answers=table(truth),
        good={
            "plain": (table(found), sum(shares) / 12),
            "all empty": (
                table([set()] * 12),
                sum(1e-6 / (len(t) + 1e-6) for t in truth) / 12,
            ),
        },
        bad={
            "past the image": ("\n".join([*lines[:-1], f"{ids[-1]},65536 2"]), "bad_format"),
            "runs overlap": ("\n".join([*lines[:-1], f"{ids[-1]},1 5 3 2"]), "bad_format"),
            "from pixel 0": ("\n".join([*lines[:-1], f"{ids[-1]},0 5"]), "bad_format"),
            "no mark for empty": ("\n".join([*lines[:-1], f"{ids[-1]},"]), "missing_value"),
        },
    )


def _blob(chance: random.Random) -> set[tuple[int, int]]:
    """Pixels (row, column) of a few rectangles that may reach the image's edges."""
    pixels: set[tuple[int, int]] = set()
    for _ in range(3):
        top, left = chance.randrange(SIDE), chance.randrange(SIDE)
        pixels |= {
            (row, column)
            for row in range(top, min(SIDE, top + 30))
            for column in range(left, min(SIDE, left + 5))
        }
    return pixels


def _run_lengths(mask: set[tuple[int, int]]) -> str:
    """Pairs of start and length, counted from 1 down the columns; `-` where there is none."""
    numbers = sorted(column * SIDE + row + 1 for row, column in mask)
    runs: list[list[int]] = []
    for number in numbers:
        if runs and sum(runs[-1]) == number:
            runs[-1][1] += 1
        else:
            runs.append([number, 1])
    return " ".join(f"{start} {length}" for start, length in runs) or "-"


def _joined(items: list[int]) -> str:
    return " ".join(map(str, items))


def _table(name: str, ids, columns) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([name, *columns])
    writer.writerows(zip(ids, *columns.values(), strict=True))
    return text.getvalue()


TASKS: dict[str, Callable[[], Task]] = {
    "mlagentbench-cifar10": cifar10,
    "mlagentbench-imdb": imdb,
    "mlagentbench-ogbn-arxiv": ogbn_arxiv,
    "mlagentbench-house-price": house_price,
    "mlagentbench-spaceship-titanic": spaceship_titanic,
    "mlagentbench-parkinsons-disease": parkinsons_disease,
    "mlagentbench-fathomnet": fathomnet,
    "mlagentbench-feedback": feedback,
    "mlagentbench-identify-contrails": identify_contrails,
}
MEASURED = {
    "mlagentbench-clrs",
    "mlagentbench-babylm",
    "mlagentbench-llama-inference",
    "mlagentbench-vectorization",
}
