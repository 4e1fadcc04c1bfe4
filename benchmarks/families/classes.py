"""Families of predicted classes."""

from __future__ import annotations

import numpy as np
from sklearn.metrics import accuracy_score, cohen_kappa_score, f1_score, matthews_corrcoef

from benchmarks.families.family import Data, Family, aligned, hexes, mostly, one_in, words

SPECIES = (
    "Black-grass", "Charlock", "Cleavers", "Common Chickweed", "Common wheat", "Fat Hen",
    "Loose Silky-bent", "Maize", "Scentless Mayweed", "Shepherds Purse",
    "Small-flowered Cranesbill", "Sugar beet",
)  # fmt: skip


def titanic(rng, rows):
    ids = [f"{n:04d}_01" for n in range(rows)]
    truth = rng.random(rows) < 0.5
    return Data(
        {"PassengerId": ids, "Transported": truth},
        {"PassengerId": ids, "Transported": truth ^ (rng.random(rows) < 0.2)},
    )


def titanic_score(answers, submission):
    answers, submission = aligned(answers, submission, "PassengerId")
    return accuracy_score(answers["Transported"], submission["Transported"])


def covers(rng, rows):
    ids = np.arange(rows)
    truth = rng.integers(0, 7, rows)
    features = {f"Feature_{n}": rng.integers(0, 4000, rows) for n in range(54)}
    return Data(
        {"Id": ids, **features, "Cover_Type": truth + 1},
        {"Id": ids, "Cover_Type": mostly(rng, truth, 7, 0.95) + 1},
    )


def covers_score(answers, submission):
    answers, submission = aligned(answers, submission, "Id")
    return accuracy_score(answers["Cover_Type"], submission["Cover_Type"])


def spoken(rng, rows):
    ids = [f"{n // 14}_{n % 14}" for n in range(rows)]
    vocabulary = np.array(words(rng, 50_000), dtype=object)
    truth = rng.integers(0, len(vocabulary), rows)
    guess = mostly(rng, truth, len(vocabulary), 0.98)
    return Data(
        {"id": ids, "after": vocabulary[truth]},
        {"id": ids, "after": vocabulary[guess]},
    )


def spoken_score(answers, submission):
    answers, submission = aligned(answers, submission, "id")
    return accuracy_score(answers["after"].astype(str), submission["after"].astype(str))


def plants(rng, rows):
    ids = np.arange(rows)
    truth = rng.integers(0, 64_500, rows)
    return Data(
        {"Id": ids, "Predicted": truth},
        {"Id": ids, "Predicted": mostly(rng, truth, 64_500, 0.7)},
    )


def plants_score(answers, submission):
    answers, submission = aligned(answers, submission, "Id")
    truth, guess = ([int(v) for v in side["Predicted"]] for side in (answers, submission))
    return f1_score(truth, guess, average="macro")


def seedlings(rng, rows):
    ids = [f"{name}.png" for name in hexes(rng, rows, 10)]
    names = np.array(SPECIES, dtype=object)
    truth = rng.integers(0, 12, rows)
    guess = mostly(rng, truth, 12, 0.9)
    return Data({"file": ids, "species": names[truth]}, {"file": ids, "species": names[guess]})


def seedlings_score(answers, submission):
    answers, submission = aligned(answers, submission, "file")
    return f1_score(answers["species"].tolist(), submission["species"].tolist(), average="micro")


def contacts(rng, rows):
    ids = [f"58{n % 900:03d}_{n // 900:06d}_{n % 60}_{40000 + n % 7919}_G" for n in range(rows)]
    truth = one_in(rng, 0.05, rows)
    guess = truth ^ one_in(rng, 0.02, rows)
    extra = {"game_play": [name[:12] for name in ids], "step": np.arange(rows) % 60}
    return Data(
        {"contact_id": ids, **extra, "contact": truth}, {"contact_id": ids, "contact": guess}
    )


def contacts_score(answers, submission):
    answers, submission = aligned(answers, submission, "contact_id")
    return matthews_corrcoef(answers["contact"], submission["contact"])


def essays(rng, rows):
    ids = hexes(rng, rows, 7)
    truth = rng.integers(1, 7, rows)
    guess = np.clip(truth + rng.integers(-1, 2, rows), 1, 6)
    texts = [" ".join(words(rng, 300)) for _ in range(rows)]
    return Data(
        {"essay_id": ids, "full_text": texts, "score": truth}, {"essay_id": ids, "score": guess}
    )


def essays_score(answers, submission):
    answers, submission = aligned(answers, submission, "essay_id")
    return cohen_kappa_score(submission["score"], answers["score"], weights="quadratic")


FAMILIES = (
    Family("spaceship-titanic", 870, "estimate", titanic, titanic_score),
    Family("tabular-playground-series-dec-2021", 400_000, "exact", covers, covers_score),
    Family("text-normalization-challenge-english-language", 993_465, "exact", spoken, spoken_score),
    Family("herbarium-2021-fgvc8", 477_806, "exact", plants, plants_score),
    Family("plant-seedlings-classification", 666, "exact", seedlings, seedlings_score),
    Family("nfl-player-contact-detection", 466_000, "assumed", contacts, contacts_score),
    Family("learning-agency-lab-automated-essay-scoring-2", 1_731, "exact", essays, essays_score),
)
