"""Honest submissions: models of many kinds, trained on the demo's public files."""

from __future__ import annotations

import csv
import gzip
import io
import random
from collections.abc import Iterator

import numpy as np
import pandas as pd
from sklearn.ensemble import (
    ExtraTreesRegressor,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor

from app.bundled import bundled

SLUG = "bike-sharing-demand"
FEATURES = ["hour", "weekday", "month", "year", "workingday", "holiday", "weather", "temp",
            "humidity", "windspeed"]  # fmt: skip


def tables() -> tuple[pd.DataFrame, pd.DataFrame]:
    """The training and test rows, as an agent reads them."""
    public = bundled("competitions") / SLUG / "public"
    train, test = (
        pd.read_csv(io.BytesIO(gzip.decompress((public / f"{name}.csv.gz").read_bytes())))
        for name in ("train", "test")
    )
    for hours in (train, test):
        when = pd.to_datetime(hours["datetime"])
        hours["hour"], hours["weekday"] = when.dt.hour, when.dt.day_of_week
        hours["month"], hours["year"] = when.dt.month, when.dt.year
    return train, test


def honest_files(count: int) -> Iterator[bytes]:
    """`count` submissions, each of a model with settings and a sample of the rows of its own."""
    train, test = tables()
    target = np.log1p(train["count"].to_numpy())
    for number in range(count):
        chance = random.Random(number)
        features = chance.sample(FEATURES, chance.randint(5, len(FEATURES)))
        if "hour" not in features:
            features.append("hour")
        rows = np.random.default_rng(number).choice(len(train), len(train) * 3 // 5, replace=False)
        model = _model(number, chance)
        model.fit(train[features].to_numpy()[rows], target[rows])
        predicted = np.expm1(model.predict(test[features].to_numpy())).clip(min=0)
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["datetime", "count"])
        writer.writerows(zip(test["datetime"], map(repr, predicted.tolist()), strict=True))
        yield text.getvalue().encode()


def _model(number: int, chance: random.Random):  # type: ignore[no-untyped-def]
    return [
        lambda: HistGradientBoostingRegressor(
            max_iter=chance.randint(20, 60), learning_rate=chance.uniform(0.05, 0.3)
        ),
        lambda: RandomForestRegressor(n_estimators=8, max_depth=chance.randint(6, 14)),
        lambda: ExtraTreesRegressor(n_estimators=8, max_depth=chance.randint(6, 14)),
        lambda: KNeighborsRegressor(n_neighbors=chance.randint(2, 20)),
        lambda: Ridge(alpha=chance.uniform(0.1, 10.0)),
    ][number % 5]()
