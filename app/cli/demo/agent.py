"""The demo's agent: the program of a container that has only an address and a run's key.

Run as its own process with `PODIUM_URL`, `PODIUM_KEY` and `PODIUM_RUN` in the environment. It
reads the task, trains on the public files, validates and submits its file, and prints Podium's
answers as JSON.
"""

from __future__ import annotations

import io
import json
import os
import sys
from typing import Any

import httpx
import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingRegressor

FEATURES = ["hour", "weekday", "month", "year", "workingday", "holiday", "weather",
            "temp", "atemp", "humidity", "windspeed"]  # fmt: skip
TEXT_CSV = {"Content-Type": "text/csv"}


def main() -> None:
    """Submit predictions, then a broken file, and print both answers."""
    url, key, run = (os.environ[name] for name in ("PODIUM_URL", "PODIUM_KEY", "PODIUM_RUN"))
    bearer = {"Authorization": f"Bearer {key}"}
    with httpx.Client(base_url=url, headers=bearer, timeout=90, trust_env=False) as podium:
        competition = _get(podium, "/v1/competitions").json()["items"][0]
        files = f"/v1/competitions/{competition['slug']}/files"
        train = pd.read_csv(io.BytesIO(_get(podium, f"{files}/train.csv").content))
        test = pd.read_csv(io.BytesIO(_get(podium, f"{files}/test.csv").content))
        predictions = _predict(train, test)
        submission = pd.DataFrame({"datetime": test["datetime"], "count": predictions})
        body = submission.to_csv(index=False).encode()
        verdict = _post(podium, f"/v1/runs/{run}/validate", body).json()
        answer = _post(
            podium, f"/v1/runs/{run}/submissions", body,
            {"Prefer": "wait=60", "Idempotency-Key": "demo-1"},
        )  # fmt: skip
        refused = _post(
            podium, f"/v1/runs/{run}/submissions", _broken(submission), {"Prefer": "wait=60"}
        )
    json.dump(
        {
            "competition": competition,
            "rows": len(train),
            "verdict": verdict,
            "submission": answer.json(),
            "refused": refused.json(),
        },
        sys.stdout,
    )


def _predict(train: pd.DataFrame, test: pd.DataFrame) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Boosted trees on the logarithm of the count, so that squared error is the task's metric."""
    model = HistGradientBoostingRegressor(random_state=0)
    model.fit(_features(train), np.log1p(train["count"]))
    predicted: np.ndarray[Any, np.dtype[np.float64]] = np.expm1(model.predict(_features(test)))
    return predicted.clip(min=0)


def _features(hours: pd.DataFrame) -> pd.DataFrame:
    when = pd.to_datetime(hours["datetime"])
    derived = hours.assign(
        hour=when.dt.hour, weekday=when.dt.day_of_week, month=when.dt.month, year=when.dt.year
    )
    return derived[FEATURES]


def _broken(submission: pd.DataFrame) -> bytes:
    """The same file with five of the mistakes that agents make."""
    lines = submission.to_csv(index=False).splitlines()
    stamp, _ = lines[1].split(",")
    lines[1] = f"{stamp},n/a"
    lines[2] = lines[2].split(",")[0] + ",-3"
    lines[3] = lines[3].split(",")[0] + ",inf"
    lines[4] = lines[5]
    lines[6] = "2031-01-01 00:00:00,12"
    return ("\n".join(lines) + "\n").encode()


def _get(podium: httpx.Client, path: str) -> httpx.Response:
    return podium.get(path).raise_for_status()


def _post(
    podium: httpx.Client, path: str, body: bytes, headers: dict[str, str] | None = None
) -> httpx.Response:
    return podium.post(
        path, content=body, headers={**TEXT_CSV, **(headers or {})}
    ).raise_for_status()


if __name__ == "__main__":
    main()
