"""Families of texts."""

from __future__ import annotations

import json

import numpy as np
from rapidfuzz.distance import Levenshtein
from sklearn.metrics import f1_score

from app.importers.natural_questions import answers_csv
from benchmarks.families.family import Data, Family, aligned, hexes, words


def molecules(rng, rows):
    ids = hexes(rng, rows, 12)
    texts = [f"InChI=1S/C{n % 30}H{n % 40}N{n % 5}O2/c" + _layers(rng, 100) for n in range(2000)]
    picks = rng.integers(0, len(texts), rows)
    truth = [f"{texts[pick]}/t{n}" for n, pick in enumerate(picks)]
    guess = [text if n % 3 else text[:40] + text[43:] + "-" for n, text in enumerate(truth)]
    return Data({"image_id": ids, "InChI": truth}, {"image_id": ids, "InChI": guess})


def _layers(rng, length):
    return "".join(rng.choice(list("0123456789-()H,/"), length))


def molecules_score(answers, submission):
    answers, submission = aligned(answers, submission, "image_id")
    pairs = zip(answers["InChI"].astype(str), submission["InChI"].astype(str), strict=True)
    return float(np.mean([Levenshtein.distance(true, guess) for true, guess in pairs]))


def sentences(rng, rows):
    ids = np.arange(rows)
    vocabulary = words(rng, 20_000)
    picks = rng.integers(0, len(vocabulary), (rows, 25)).tolist()
    truth = [" ".join([vocabulary[w] for w in line]) + " ." for line in picks]
    lost = rng.integers(1, 24, rows).tolist()
    guess = [
        " ".join([vocabulary[w] for w in line[:at] + line[at + 1 :]]) + " ."
        for line, at in zip(picks, lost, strict=True)
    ]
    return Data({"id": ids, "sentence": truth}, {"id": ids, "sentence": guess})


def sentences_score(answers, submission):
    answers, submission = aligned(answers, submission, "id")
    pairs = zip(answers["sentence"], submission["sentence"], strict=True)
    return float(np.mean([Levenshtein.distance(true, guess) for true, guess in pairs]))


def tweets(rng, rows):
    ids = hexes(rng, rows, 10)
    vocabulary = words(rng, 5000)
    picks = [rng.integers(0, len(vocabulary), rng.integers(3, 20)) for _ in range(rows)]
    texts = [" ".join([vocabulary[w] for w in line]) for line in picks]
    truth = [" ".join(text.split()[: 1 + n % 6]) for n, text in enumerate(texts)]
    guess = [" ".join(text.split()[n % 2 : 1 + n % 7]) for n, text in enumerate(texts)]
    return Data(
        {"textID": ids, "text": texts, "selected_text": truth, "sentiment": ["neutral"] * rows},
        {"textID": ids, "selected_text": guess},
    )


def tweets_score(answers, submission):
    answers, submission = aligned(answers, submission, "textID")
    scores = []
    for true, guess in zip(answers["selected_text"], submission["selected_text"], strict=True):
        a, b = set(str(true).lower().split()), set(str(guess or "").lower().split())
        shared = len(a & b)
        scores.append(shared / (len(a) + len(b) - shared))
    return float(np.mean(scores))


def passages(rng, rows):
    """The answers are lines of JSON there; the columns here hold what is converted from them."""
    lines, ids, guess = [], [], []
    for key in range(rows // 2):
        start, other = (int(n) for n in rng.integers(0, 3000, 2))
        annotation = {
            "long_answer": {"start_token": start if key % 2 else -1, "end_token": start + 90},
            "short_answers": [{"start_token": start + 5, "end_token": start + 7}] * (key % 3),
            "yes_no_answer": "YES" if key % 50 == 0 else "NONE",
        }
        lines.append(json.dumps({"example_id": str(10**18 + key), "annotations": [annotation]}))
        ids += [f"{10**18 + key}_long", f"{10**18 + key}_short"]
        guess += [f"{start if key % 3 else other}:{start + 90}" if key % 2 else ""]
        guess += [f"{start + 5}:{start + 7}" if key % 4 else "YES"]
    return Data(
        {"jsonl": lines},
        {"example_id": ids, "PredictionString": guess},
    )


def passages_score(answers, submission):
    submission["PredictionString"] = submission["PredictionString"].fillna("").astype(str)
    given = dict(zip(submission["example_id"], submission["PredictionString"], strict=True))
    truth, predicted = [], []
    for example in answers:
        annotation = example["annotations"][0]
        spans = [annotation["long_answer"]]
        spans = [] if spans[0]["start_token"] == -1 else spans
        right = {(s["start_token"], s["end_token"]) for s in spans}
        _judge(given[f"{example['example_id']}_long"], right, truth, predicted)
        right = {(s["start_token"], s["end_token"]) for s in annotation["short_answers"]}
        if annotation["yes_no_answer"] != "NONE":
            right.add(annotation["yes_no_answer"])
        _judge(given[f"{example['example_id']}_short"], right, truth, predicted)
    return f1_score(truth, predicted, average="micro")


def _judge(text, right, truth, predicted):
    text = text.strip()
    value = tuple(int(part) for part in text.split(":")) if ":" in text else text
    predicted.append(int(bool(text)))
    truth.append(int(value in right if text else bool(right)))


def write_lines(data, file):
    file.write_text("\n".join(data.answers["jsonl"]) + "\n")


def read_lines(file):
    with file.open() as lines:
        return [json.loads(line) for line in lines]


def convert_lines(data):
    return answers_csv("\n".join(data.answers["jsonl"]).encode())


FAMILIES = (
    Family("bms-molecular-translation", 484_838, "estimate", molecules, molecules_score),
    Family("billion-word-imputation", 303_000, "estimate", sentences, sentences_score),
    Family("tweet-sentiment-extraction", 2_749, "estimate", tweets, tweets_score),
    Family(
        "tensorflow2-question-answering", 61_476, "estimate", passages, passages_score,
        convert=convert_lines, write_original=write_lines, read_original=read_lines,
    ),
)  # fmt: skip
