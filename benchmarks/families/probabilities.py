"""Families of predicted probabilities and scores."""

from __future__ import annotations

import numpy as np
from sklearn.metrics import (
    auc,
    label_ranking_average_precision_score,
    log_loss,
    roc_auc_score,
    roc_curve,
)

from benchmarks.families.declared import columns_of
from benchmarks.families.family import Data, Family, aligned, blurred, hexes, one_in

TOXIC = ("toxic", "severe_toxic", "obscene", "threat", "insult", "identity_hate")
VOTES = ("seizure_vote", "lpd_vote", "gpd_vote", "lrda_vote", "grda_vote", "other_vote")
IDENTITIES = (
    "male", "female", "homosexual_gay_or_lesbian", "christian", "jewish", "muslim", "black",
    "white", "psychiatric_or_mental_illness",
)  # fmt: skip
BREEDS = columns_of("dog-breed-identification")
SOUNDS = columns_of("freesound-audio-tagging-2019")
TARGETS = ("patient_overall", "C1", "C2", "C3", "C4", "C5", "C6", "C7")


def playground(rng, rows):
    ids = np.arange(800_000, 800_000 + rows)
    truth = one_in(rng, 0.5, rows)
    return Data({"id": ids, "target": truth}, {"id": ids, "target": blurred(rng, truth, 0.7)})


def playground_score(answers, submission):
    answers, submission = aligned(answers, submission, "id")
    return roc_auc_score(answers["target"], submission["target"])


def tissue(rng, rows):
    ids = hexes(rng, rows, 40)
    truth = one_in(rng, 0.4, rows)
    return Data({"id": ids, "label": truth}, {"id": ids, "label": blurred(rng, truth, 0.6)})


def tissue_score(answers, submission):
    answers, submission = aligned(answers, submission, "id")
    return roc_auc_score(answers["label"], submission["label"])


def comments(rng, rows):
    ids = hexes(rng, rows, 16)
    truth = {name: one_in(rng, 0.05, rows) for name in TOXIC}
    left_out = rng.random(rows) < 0.58
    return Data(
        {"id": ids, **{name: np.where(left_out, -1, t) for name, t in truth.items()}},
        {"id": ids, **{name: blurred(rng, t, 0.8) for name, t in truth.items()}},
    )


def comments_score(answers, submission):
    answers, submission = aligned(answers, submission, "id")
    names = list(TOXIC)
    counted = answers[names].sum(axis=1) >= 0
    truth, guess = answers.loc[counted, names].to_numpy(), submission.loc[counted, names].to_numpy()
    return roc_auc_score(truth, guess, average="macro")


def images(rng, rows):
    ids = [f"{n + 1:04d}.jpg" for n in range(rows)]
    truth = one_in(rng, 0.75, rows)
    return Data({"Id": ids, "Label": truth}, {"Id": ids, "Label": blurred(rng, truth, 0.8)})


def images_score(answers, submission):
    answers, submission = aligned(answers, submission, "Id")
    false, true, _ = roc_curve(answers["Label"], submission["Label"], pos_label=1)
    place = np.searchsorted(true, 0.4)
    if true[place] != 0.4:
        cut = np.interp(0.4, true, false)
        true, false = np.insert(true, place, 0.4), np.insert(false, place, cut)
    area = 0.0
    for low, high, weight in ((0.0, 0.4, 2.0), (0.4, 1.0, 1.0)):
        band = (true >= low) & (true <= high)
        area += weight * auc(np.append(false[band], 1.0), np.append(true[band], high) - low)
    return area / 1.4


def breeds(rng, rows):
    ids = hexes(rng, rows, 32)
    truth = np.eye(len(BREEDS), dtype=int)[rng.integers(0, len(BREEDS), rows)]
    guess = rng.dirichlet(np.full(len(BREEDS), 0.1), rows) * 0.4 + truth * 0.6
    return Data(
        {"id": ids, **dict(zip(BREEDS, truth.T, strict=True))},
        {"id": ids, **dict(zip(BREEDS, guess.T, strict=True))},
    )


def breeds_score(answers, submission):
    answers, submission = aligned(answers, submission, "id")
    names = list(BREEDS)
    return log_loss(answers[names].to_numpy(), submission[names].to_numpy())


def pets(rng, rows):
    ids = np.arange(1, rows + 1)
    truth = one_in(rng, 0.5, rows)
    return Data({"id": ids, "label": truth}, {"id": ids, "label": blurred(rng, truth, 0.6)})


def pets_score(answers, submission):
    answers, submission = aligned(answers, submission, "id")
    return log_loss(answers["label"], submission["label"])


def brains(rng, rows):
    ids = rng.integers(500_000, 4_294_958_358, rows // 6).repeat(6)
    truth = rng.multinomial(10, np.full(6, 1 / 6), len(ids)) / 10
    guess = rng.dirichlet(np.full(6, 1.0), len(ids)) * 0.5 + truth * 0.5
    # Rows of one id belong together by their order, which sorting keeps only if it is stable.
    guess = guess.round(9)
    return Data(
        {"eeg_id": ids, **dict(zip(VOTES, truth.T, strict=True))},
        {"eeg_id": ids, **dict(zip(VOTES, guess.T, strict=True))},
    )


def brains_score(answers, submission):
    answers = answers.sort_values("eeg_id", kind="stable").reset_index(drop=True)
    submission = submission.sort_values("eeg_id", kind="stable").reset_index(drop=True)
    if not (answers["eeg_id"] == submission["eeg_id"]).all():
        raise ValueError("ids differ")
    total = 0.0
    for name in VOTES:
        truth = answers[name]
        guess = submission[name].clip(lower=1e-15, upper=1 - 1e-15)
        some = truth > 0
        total += float((truth[some] * np.log(truth[some] / guess[some])).sum())
    return total / len(answers)


def breasts(rng, rows):
    ids = [f"{10_000 + n // 2}_{'LR'[n % 2]}" for n in range(rows)]
    truth = one_in(rng, 0.02, rows)
    return Data(
        {"prediction_id": ids, "cancer": truth},
        {"prediction_id": ids, "cancer": blurred(rng, truth, 0.6)},
    )


def breasts_score(answers, submission):
    answers, submission = aligned(answers, submission, "prediction_id")
    found = false = positives = 0.0
    for truth, guess in zip(answers["cancer"], submission["cancer"], strict=True):
        chance = min(max(guess, 0), 1)
        if truth:
            positives += 1
            found += chance
        else:
            false += chance
    precision, recall = found / (found + false), found / positives
    return 2 * precision * recall / (precision + recall)


def sounds(rng, rows):
    ids = [f"{name}.wav" for name in hexes(rng, rows, 8)]
    truth = (rng.random((rows, len(SOUNDS))) < 0.015).astype(int)
    truth[np.arange(rows), rng.integers(0, len(SOUNDS), rows)] = 1
    guess = blurred(rng, truth, 0.7)
    return Data(
        {"fname": ids, **dict(zip(SOUNDS, truth.T, strict=True))},
        {"fname": ids, **dict(zip(SOUNDS, guess.T, strict=True))},
    )


def sounds_score(answers, submission):
    answers, submission = aligned(answers, submission, "fname")
    truth = answers[list(SOUNDS)].to_numpy() > 0
    counts = truth.sum(axis=1)
    some = counts > 0
    return label_ranking_average_precision_score(
        truth[some], submission[list(SOUNDS)].to_numpy()[some], sample_weight=counts[some]
    )


def bias(rng, rows):
    ids = np.arange(7_000_000, 7_000_000 + rows)
    truth = rng.random(rows) * (rng.random(rows) < 0.3)
    members = {
        name: np.where(rng.random(rows) < 0.6, np.nan, one_in(rng, 0.1, rows))
        for name in IDENTITIES
    }
    further = {f"annotation_{n}": rng.random(rows).round(4) for n in range(30)}
    guess = np.clip(truth + rng.normal(0, 0.2, rows), 0, 1)
    return Data(
        {"id": ids, "toxicity": truth, **members, **further},
        {"id": ids, "prediction": guess},
    )


def bias_score(answers, submission):
    answers, submission = aligned(answers, submission, "id")
    table = answers[["toxicity", *IDENTITIES]] >= 0.5
    table["guess"] = submission["prediction"] >= 0.5
    means = []
    for family in range(3):
        areas = []
        for name in IDENTITIES:
            member, toxic = table[name], table["toxicity"]
            rows = table[(member, member != toxic, member == toxic)[family]]
            areas.append(roc_auc_score(rows["toxicity"], rows["guess"]))
        means.append((np.array(areas) ** -5).mean() ** (-1 / 5))
    return 0.25 * (roc_auc_score(table["toxicity"], table["guess"]) + sum(means))


def spines(rng, rows):
    studies = [f"1.2.826.0.1.3680043.{n + 1000}" for n in range(rows // 8)]
    truth = one_in(rng, 0.1, len(studies) * 8)
    ids = [f"{study}_{target}" for study in studies for target in TARGETS]
    parts = {
        "StudyInstanceUID": [study for study in studies for _ in TARGETS],
        "prediction_type": list(TARGETS) * len(studies),
    }
    return Data(
        {**parts, "fractured": truth, "row_id": ids},
        {"row_id": ids, "fractured": blurred(rng, truth, 0.7)},
    )


def spines_score(answers, submission):
    answers, submission = aligned(answers, submission, "row_id")
    both = answers[["fractured"]].assign(guess=submission["fractured"])
    both[["study", "target"]] = answers["row_id"].str.split("_", n=1, expand=True)
    truth = both.pivot_table(index="study", columns="target", values="fractured")[list(TARGETS)]
    guess = both.pivot_table(index="study", columns="target", values="guess")[list(TARGETS)]
    truth, guess = truth.to_numpy(), np.clip(guess.to_numpy(), 1e-15, 1 - 1e-15)
    losses = -(truth * np.log(guess) + (1 - truth) * np.log(1 - guess))
    weights = np.array([7.0] + [1.0] * 7) * np.where(truth == 1, 2.0, 1.0)
    return float(((losses * weights).sum(axis=1) / weights.sum(axis=1)).mean())


FAMILIES = (
    Family("tabular-playground-series-may-2022", 100_000, "exact", playground, playground_score),
    Family("histopathologic-cancer-detection", 45_561, "estimate", tissue, tissue_score),
    Family(
        "jigsaw-toxic-comment-classification-challenge", 153_164, "estimate",
        comments, comments_score,
    ),
    Family("alaska2-image-steganalysis", 5_000, "exact", images, images_score),
    Family("jigsaw-unintended-bias-in-toxicity-classification", 97_320, "exact", bias, bias_score),
    Family("dogs-vs-cats-redux-kernels-edition", 2_500, "exact", pets, pets_score),
    Family("dog-breed-identification", 1_023, "estimate", breeds, breeds_score),
    Family("hms-harmful-brain-activity-classification", 10_680, "assumed", brains, brains_score),
    Family("rsna-2022-cervical-spine-fracture-detection", 14_536, "exact", spines, spines_score),
    Family("rsna-breast-cancer-detection", 2_384, "estimate", breasts, breasts_score),
    Family("freesound-audio-tagging-2019", 3_361, "estimate", sounds, sounds_score),
)  # fmt: skip
