"""Families of predicted numbers: errors, correlations, directions, and errors by group."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.stats import pearsonr, spearmanr
from sklearn.metrics import (
    mean_absolute_error,
    root_mean_squared_error,
    root_mean_squared_log_error,
)

from benchmarks.families.declared import columns_of
from benchmarks.families.family import Data, Family, aligned, hexes, one_in

QUALITIES = columns_of("google-quest-challenge")
DEGRADATION = columns_of("stanford-covid-vaccine")
SCORED = ["reactivity", "deg_Mg_pH10", "deg_Mg_50C"]
COUPLINGS = ("1JHC", "1JHN", "2JHC", "2JHH", "2JHN", "3JHC", "3JHH", "3JHN")
COUPLING = "scalar_coupling_constant"
ENERGIES = ["formation_energy_ev_natom", "bandgap_energy_ev"]
RADIUS = 6_371_000


def fares(rng, rows):
    ids = [f"2015-01-{n % 28 + 1:02d} 13:08:{n % 60:02d}.{n:07d}" for n in range(rows)]
    truth = rng.gamma(2, 5.5, rows).round(2)
    places = {f"place_{n}": rng.normal(40, 1, rows) for n in range(4)}
    return Data(
        {"key": ids, "fare_amount": truth, "pickup_datetime": ids, **places},
        {"key": ids, "fare_amount": truth + rng.normal(0, 3, rows)},
    )


def fares_score(answers, submission):
    answers, submission = aligned(answers, submission, "key")
    return root_mean_squared_error(answers["fare_amount"], submission["fare_amount"])


def pixels(rng, rows):
    ids = [f"{n // 226_800 + 1}_{n // 540 % 420 + 1}_{n % 540 + 1}" for n in range(rows)]
    truth = rng.integers(0, 256, rows) / 255
    guess = np.clip(truth + rng.normal(0, 0.1, rows), 0, 1).astype(np.float32).astype(float)
    return Data({"id": ids, "value": truth}, {"id": ids, "value": guess.round(6)})


def pixels_score(answers, submission):
    answers, submission = aligned(answers, submission, "id")
    return root_mean_squared_error(submission["value"], answers["value"])


def oxides(rng, rows):
    ids = np.arange(1, rows + 1)
    truth = {name: rng.gamma(2, 1, rows).round(4) for name in ENERGIES}
    further = {f"lattice_{n}": rng.random(rows) for n in range(11)}
    guess = {name: np.abs(t + rng.normal(0, 0.1, rows)) for name, t in truth.items()}
    return Data({"id": ids, **further, **truth}, {"id": ids, **guess})


def oxides_score(answers, submission):
    errors = [root_mean_squared_log_error(answers[name], submission[name]) for name in ENERGIES]
    return sum(errors) / len(errors)


def breaths(rng, rows):
    ids = np.arange(1, rows + 1)
    truth = rng.normal(12, 5, rows).round(6)
    further = {
        "breath_id": ids // 80,
        "R": rng.choice([5, 20, 50], rows),
        "C": rng.choice([10, 20, 50], rows),
        "time_step": (rng.random(rows) * 2.7).round(11),
        "u_in": (rng.random(rows) * 100).round(10),
        "u_out": (ids % 80 > 29).astype(int),
    }
    return Data(
        {"id": ids, **further, "pressure": truth},
        {"id": ids, "pressure": truth + rng.normal(0, 0.5, rows)},
    )


def breaths_score(answers, submission):
    answers, submission = aligned(answers, submission, "id")
    counted = answers[answers["u_out"] == 0]
    guess = submission[submission["id"].isin(counted["id"])]
    counted, guess = aligned(counted, guess, "id")
    return mean_absolute_error(counted["pressure"], guess["pressure"])


def phrases(rng, rows):
    ids = hexes(rng, rows, 16)
    truth = rng.integers(0, 5, rows) / 4
    return Data(
        {"id": ids, "anchor": ids, "target": ids, "context": ids, "score": truth},
        {"id": ids, "score": truth + rng.normal(0, 0.3, rows)},
    )


def phrases_score(answers, submission):
    answers, submission = aligned(answers, submission, "id")
    return pearsonr(answers["score"], submission["score"])[0]


def questions(rng, rows):
    ids = np.arange(rows) * 10 + 3
    truth = {name: rng.integers(0, 10, rows) / 9 for name in QUALITIES}
    guess = {name: np.clip(t + rng.normal(0, 0.2, rows), 0, 1) for name, t in truth.items()}
    return Data({"qa_id": ids, **truth}, {"qa_id": ids, **guess})


def questions_score(answers, submission):
    answers, submission = aligned(answers, submission, "qa_id")
    return np.mean([spearmanr(submission[n], answers[n]).statistic for n in QUALITIES])


def neutrinos(rng, rows):
    ids = np.arange(1_000_000, 1_000_000 + 11 * rows, 11)
    azimuth, zenith = rng.random(rows) * 2 * np.pi, rng.random(rows) * np.pi
    return Data(
        {"event_id": ids, "azimuth": azimuth, "zenith": zenith},
        {
            "event_id": ids,
            "azimuth": azimuth + rng.normal(0, 0.5, rows),
            "zenith": zenith + rng.normal(0, 0.5, rows),
        },
    )


def neutrinos_score(answers, submission):
    answers, submission = aligned(answers, submission, "event_id")
    (az1, ze1), (az2, ze2) = (
        (side["azimuth"].to_numpy(), side["zenith"].to_numpy()) for side in (answers, submission)
    )
    around = np.cos(az1) * np.cos(az2) + np.sin(az1) * np.sin(az2)
    cosine = np.sin(ze1) * np.sin(ze2) * around + np.cos(ze1) * np.cos(ze2)
    return float(np.average(np.abs(np.arccos(np.clip(cosine, -1, 1)))))


def couplings(rng, rows):
    ids = np.arange(4_658_147, 4_658_147 + rows)
    truth = rng.normal(15, 30, rows).round(4)
    molecules = [f"dsgdb9nsd_{n // 55:06d}" for n in range(rows)]
    types = np.array(COUPLINGS, dtype=object)[rng.integers(0, 8, rows)]
    atoms = {f"atom_index_{n}": rng.integers(0, 28, rows) for n in range(2)}
    return Data(
        {"id": ids, "molecule_name": molecules, **atoms, "type": types, COUPLING: truth},
        {"id": ids, COUPLING: truth + rng.normal(0, 1, rows)},
    )


def couplings_score(answers, submission):
    both = answers.merge(submission, on="id", suffixes=("_true", "_guess"))
    errors = [
        mean_absolute_error(rows[f"{COUPLING}_true"], rows[f"{COUPLING}_guess"])
        for _, rows in both.groupby("type")
    ]
    return float(np.mean(np.log(errors)))


def vaccines(rng, rows):
    ids = [f"id_{n // 107:09x}_{n % 107}" for n in range(rows)]
    truth = {name: rng.random(rows).round(10) for name in DEGRADATION}
    keep = np.arange(rows) % 107 < 68
    guess = {name: t + rng.normal(0, 0.2, rows) for name, t in truth.items()}
    return Data({"id_seqpos": ids, **truth, "keep": keep}, {"id_seqpos": ids, **guess})


def vaccines_score(answers, submission):
    answers, submission = aligned(answers, submission, "id_seqpos")
    keep = answers["keep"]
    errors = [root_mean_squared_error(answers[n][keep], submission[n][keep]) for n in SCORED]
    return float(np.mean(errors))


def lungs(rng, rows):
    ids = [f"ID{10**20 + n // 60}" for n in range(rows)]
    weeks = np.arange(rows) % 60 - 5
    keys = [f"{patient}_{week}" for patient, week in zip(ids, weeks, strict=True)]
    truth = np.where(one_in(rng, 0.15, rows), rng.normal(2500, 500, rows).round(), np.nan)
    guess = np.nan_to_num(truth, nan=2500.0) + rng.normal(0, 200, rows)
    confidence = rng.random(rows) * 300 + 50
    return Data(
        {
            "Patient": ids, "Weeks": weeks, "FVC": truth, "Percent": truth / 40,
            "Patient_Week": keys, "Confidence": np.full(rows, 100),
        },
        {"Patient_Week": keys, "FVC": guess, "Confidence": confidence},
    )  # fmt: skip


def lungs_score(answers, submission):
    measured = answers.dropna(subset=["FVC"]).copy()
    measured["week"] = measured["Patient_Week"].str.split("_").str[-1].astype(int)
    last = measured.sort_values("week").groupby("Patient").tail(3)
    submission = submission[submission["Patient_Week"].isin(last["Patient_Week"])]
    last, submission = aligned(last, submission, "Patient_Week")
    deviation = np.maximum(submission["Confidence"], 70)
    error = np.minimum(np.abs(last["FVC"] - submission["FVC"]), 1000)
    return float(np.mean(-np.sqrt(2) * error / deviation - np.log(np.sqrt(2) * deviation)))


def drives(rng, rows):
    trips = [f"2021-04-{n // 2000 + 1:02d}-US-SJC-{n // 2000}-Pixel5" for n in range(rows)]
    times = 1_619_000_000_000 + np.arange(rows) * 1000
    latitude, longitude = rng.normal(37.4, 0.1, rows), rng.normal(-122, 0.1, rows)
    key = {"tripId": trips, "UnixTimeMillis": times}
    return Data(
        {**key, "LatitudeDegrees": latitude, "LongitudeDegrees": longitude},
        {
            **key,
            "LatitudeDegrees": latitude + rng.normal(0, 2e-5, rows),
            "LongitudeDegrees": longitude + rng.normal(0, 2e-5, rows),
        },
    )


def drives_score(answers, submission):
    scores = []
    for trip in pd.unique(answers["tripId"]):
        truth, guess = answers[answers["tripId"] == trip], submission[submission["tripId"] == trip]
        lat1, lon1, lat2, lon2 = (
            np.radians(side[name].to_numpy())
            for side in (truth, guess)
            for name in ("LatitudeDegrees", "LongitudeDegrees")
        )
        half = np.sin((lat2 - lat1) / 2) ** 2
        half += np.cos(lat1) * np.cos(lat2) * np.sin((lon2 - lon1) / 2) ** 2
        distance = 2 * RADIUS * np.arcsin(np.sqrt(half))
        scores.append((np.quantile(distance, 0.5) + np.quantile(distance, 0.95)) / 2)
    return float(np.mean(scores))


FAMILIES = (
    Family("new-york-city-taxi-fare-prediction", 9_914, "exact", fares, fares_score),
    Family("denoising-dirty-documents", 5_789_880, "exact", pixels, pixels_score),
    Family("nomad2018-predict-transparent-conductors", 240, "exact", oxides, oxides_score),
    Family("ventilator-pressure-prediction", 603_600, "exact", breaths, breaths_score),
    Family("us-patent-phrase-to-phrase-matching", 3_648, "estimate", phrases, phrases_score),
    Family("google-quest-challenge", 608, "estimate", questions, questions_score),
    Family("icecube-neutrinos-in-deep-ice", 1_000_000, "smaller", neutrinos, neutrinos_score),
    Family("champs-scalar-coupling", 467_813, "estimate", couplings, couplings_score),
    Family("stanford-covid-vaccine", 25_680, "exact", vaccines, vaccines_score),
    Family("osic-pulmonary-fibrosis-progression", 1_080, "assumed", lungs, lungs_score),
    Family("smartphone-decimeter-2022", 60_000, "assumed", drives, drives_score),
)
