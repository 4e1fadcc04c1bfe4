"""Write the vectors of MLE-Dojo's competitions anew, by the metric classes of a checkout of it.

`python -m tests.catalogue.make_dojo_vectors DIR` writes `dojo/SLUG.json` for each folder with the
tag "mle-dojo": a small made-up test set, submissions, and the scores that MLE-Dojo's class gives.
The classes run in this process, so name a checkout that you trust.
"""

from __future__ import annotations

import importlib.util
import io
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from app.domain.competition import Competition, parse_competition

HERE = Path(__file__).parent
COMPETITIONS = HERE.parents[1] / "competitions"
VECTORS = HERE / "dojo"
TAG = "mle-dojo"
ROWS = 24
Rng = np.random.Generator
# Their ids have other kinds here, because they exceed 64 bits or have fractions.
NUMBERED = ("avazu-ctr-prediction", "liverpool-ion-switching")
BINARY = ("roc_auc_score", "log_loss")


def main() -> None:
    """Write the vectors of every tagged folder."""
    checkout = Path(sys.argv[1])
    sys.path.insert(0, str(checkout))
    VECTORS.mkdir(exist_ok=True)
    for slug in tagged():
        text = (COMPETITIONS / slug / "competition.toml").read_text(encoding="utf-8")
        made = vectors(parse_competition(slug, text), metric_class(checkout, slug))
        (VECTORS / f"{slug}.json").write_text(json.dumps(made, indent=1) + "\n")
    print(f"{len(tagged())} competitions")  # noqa: T201 (it is a program)


def tagged() -> list[str]:
    """The folders of MLE-Dojo's competitions."""
    files = COMPETITIONS.glob("*/competition.toml")
    return sorted(
        file.parent.name for file in files if f'tags = ["{TAG}"]' in file.read_text("utf-8")
    )


def metric_class(checkout: Path, slug: str) -> Any:
    """An object of MLE-Dojo's metric class of a competition."""
    file = checkout / "mledojo" / "competitions" / slug / "utils" / "metric.py"
    spec = importlib.util.spec_from_file_location(f"dojo_{abs(hash(slug))}", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    (found,) = (
        value for value in vars(module).values()
        if isinstance(value, type) and value.__module__ == module.__name__
    )  # fmt: skip
    return found()


def vectors(competition: Competition, metric: Any) -> dict[str, Any]:
    """A made-up test set, and submissions with MLE-Dojo's scores."""
    rng = np.random.default_rng(sum(map(ord, competition.slug)))
    answers, cases = made_up(competition, rng)
    text = csv_of(answers)
    scored = []
    for kind, submission in cases.items():
        sent = csv_of(submission)
        given, truth = read_back(sent), read_back(text)
        metric.validate_submission(given.copy(), truth.copy())
        score = float(metric.evaluate(truth, given))
        scored.append({"kind": kind, "submission": sent, "reference": score})
    sample = answers.assign(**{name: cases["constant"][name] for name in competition.form.columns})
    return {"sample": csv_of(sample), "answers": text, "cases": scored}


def made_up(competition: Competition, rng: Rng) -> tuple[pd.DataFrame, dict[str, pd.DataFrame]]:
    """Answers, and submissions by what they are like."""
    (id_name,) = competition.form.id
    names = list(competition.form.columns)
    kinds = {name: column.kind for name, column in competition.form.columns.items()}
    truth = truths(competition.metric.name, kinds, rng)
    wrong = {name: rng.permutation(values) for name, values in truth.items()}
    ids = rng.choice(10**6, ROWS, replace=False)
    is_number = competition.form.id_kind == "integer" or competition.slug in NUMBERED
    answers = pd.DataFrame({id_name: ids if is_number else [f"x{n}" for n in ids]})
    answers = answers.assign(**truth)
    noisy = {
        name: predictions(competition.metric.name, kinds[name], values, wrong[name], rng)
        for name, values in truth.items()
    }
    if competition.metric.name == "log_loss" and len(names) > 1:
        total = np.sum(list(noisy.values()), axis=0)
        noisy = {name: values / total for name, values in noisy.items()}
    constant = {
        name: constant_of(competition.metric.name, values, names) for name, values in truth.items()
    }
    near = answers.assign(**noisy)
    return answers, {
        "noisy": near,
        "shuffled": near.sample(frac=1.0, random_state=1),
        "wrong": answers.assign(**(noisy | moved(noisy, names))),
        "constant": answers.assign(**constant),
    }


def truths(metric: str, kinds: dict[str, str], rng: Rng) -> dict[str, Any]:
    """The answers' columns, as the metric can use them."""
    if metric == "log_loss" and len(kinds) > 1:
        classes = rng.integers(0, len(kinds), ROWS)
        return {name: (classes == place) * 1 for place, name in enumerate(kinds)}
    return {name: truth_of(metric, kind, rng) for name, kind in kinds.items()}


def truth_of(metric: str, kind: str, rng: Rng) -> Any:
    if metric in BINARY:
        return np.resize([0, 1], ROWS)[rng.permutation(ROWS)]
    if kind == "label":
        return np.array(["low", "middle", "high"])[rng.integers(0, 3, ROWS)]
    if kind == "integer":
        return rng.integers(0, 2 if metric == "f1_score" else 5, ROWS)
    return rng.lognormal(1.0, 0.7, ROWS).round(4)


def predictions(metric: str, kind: str, truth: Any, wrong: Any, rng: Rng) -> Any:
    """Columns that are partly right."""
    if metric in BINARY:
        return (0.1 + 0.8 * (0.6 * truth + 0.4 * rng.random(ROWS))).round(5)
    if kind in ("label", "integer"):
        return np.where(rng.random(ROWS) < 0.7, truth, wrong)
    return (truth * rng.lognormal(0.0, 0.3, ROWS)).round(4)


def moved(columns: dict[str, Any], names: list[str]) -> dict[str, Any]:
    """The values of all columns, each a row further."""
    return {name: np.roll(columns[name], 1) for name in names}


def constant_of(metric: str, truth: Any, names: list[str]) -> Any:
    if metric == "log_loss":
        return np.full(ROWS, 1 / max(2, len(names)))
    if metric == "spearman_corrcoef":  # constants have no correlation there
        return np.arange(ROWS) % 2
    return np.full(ROWS, truth[0])


def csv_of(table: pd.DataFrame) -> str:
    return table.to_csv(index=False, lineterminator="\n")


def read_back(text: str) -> pd.DataFrame:
    return pd.read_csv(io.StringIO(text))


if __name__ == "__main__":
    main()
