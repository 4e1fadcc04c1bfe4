"""A fifth of Kaggle's labelled scenes is the test set, drawn as MLE-bench draws it."""

import json
from pathlib import Path
from typing import Any

from sklearn.model_selection import train_test_split

from app.preparation.prepared_files import write_csv
from app.preparation.raw_files import RawFiles

SIDES = ("train", "test")
Records = list[dict[str, Any]]


def prepare_files(raw: RawFiles, public: Path, private: Path) -> None:
    """Split the logs, of which each has one scene, and the samples of the scenes with them."""
    logs = records(raw, "log")
    drawn = dict(
        zip(
            SIDES,
            train_test_split([log["token"] for log in logs], test_size=0.2, random_state=0),
            strict=True,
        )
    )
    scene_side = {token: side for side, tokens in drawn.items() for token in tokens}
    samples = records(raw, "sample")
    sample_side = {sample["token"]: scene_side[sample["scene_token"]] for sample in samples}
    boxes = raw.table("train.csv")
    train, test = (boxes[boxes["Id"].map(sample_side) == side] for side in SIDES)
    write_csv(train, public / "train.csv")
    write_csv(test[["Id"]].assign(PredictionString=""), public / "sample_submission.csv")
    truth = [with_confidence(text) for text in test["PredictionString"]]
    write_csv(test.assign(PredictionString=truth), private / "test.csv")
    if raw.grading_only:
        return
    for side in SIDES:
        (public / f"{side}_data").mkdir()
        own_logs = [log for log in logs if scene_side[log["token"]] == side]
        own = [sample for sample in samples if sample_side[sample["token"]] == side]
        scenes = [one for one in records(raw, "scene") if scene_side[one["log_token"]] == side]
        write_records(public, side, "log", own_logs)
        write_records(public, side, "sample", own)
        write_records(public, side, "scene", scenes)
        # MLE-bench names the logs of the test set in both.
        maps = [one | {"log_tokens": drawn["test"]} for one in records(raw, "map")]
        write_records(public, side, "map", maps)
        for name in ("attribute", "category", "sensor", "visibility"):
            raw.copy(f"train_data/{name}.json", public / f"{side}_data" / f"{name}.json")
        image = "map_raster_palo_alto.png"
        raw.copy_bulk([(f"train_maps/{image}", public / f"{side}_maps" / image)])
    split_sensors(raw, public, sample_side)
    write_annotations(raw, public, sample_side)


def with_confidence(text: str) -> str:
    """Boxes of eight words each, with a certain confidence before each."""
    words = text.split(" ")
    if len(words) % 8:
        raise ValueError(f"train.csv: {len(words)} words are not boxes of eight words each")
    return " ".join(
        word for place in range(0, len(words), 8) for word in ("1.0", *words[place : place + 8])
    )


def split_sensors(raw: RawFiles, public: Path, sample_side: dict[str, str]) -> None:
    """Split what sensors took; their calibrations and the vehicle's poses go with it."""
    taken = records(raw, "sample_data")
    calibrations = {one["token"]: one for one in records(raw, "calibrated_sensor")}
    poses = {one["token"]: one for one in records(raw, "ego_pose")}
    for side in SIDES:
        own = [one for one in taken if sample_side[one["sample_token"]] == side]
        write_records(public, side, "sample_data", own)
        used = dict.fromkeys(one["calibrated_sensor_token"] for one in own)
        write_records(public, side, "calibrated_sensor", [calibrations[token] for token in used])
        write_records(public, side, "ego_pose", [poses[one["ego_pose_token"]] for one in own])
        kinds = {"jpeg": "images", "bin": "lidar"}
        files = dict.fromkeys((kinds[one["fileformat"]], Path(one["filename"]).name) for one in own)
        raw.copy_bulk(
            (f"train_{kind}/{file}", public / f"{side}_{kind}" / file) for kind, file in files
        )


def write_annotations(raw: RawFiles, public: Path, sample_side: dict[str, str]) -> None:
    """Write the boxes of the train set and the objects that have one; the test set has none."""
    annotations = records(raw, "sample_annotation")
    own = [one for one in annotations if sample_side[one["sample_token"]] == "train"]
    objects = {one["instance_token"] for one in own}
    write_records(public, "train", "sample_annotation", own)
    known = [one for one in records(raw, "instance") if one["token"] in objects]
    write_records(public, "train", "instance", known)


def records(raw: RawFiles, name: str) -> Records:
    """A table of Kaggle's, a list of records."""
    with raw.open(f"train_data/{name}.json") as file:
        return list(json.load(file))


def write_records(public: Path, side: str, name: str, content: Records) -> None:
    """Write a table of one side."""
    with (public / f"{side}_data" / f"{name}.json").open("x", encoding="utf-8") as stream:
        json.dump(content, stream)
