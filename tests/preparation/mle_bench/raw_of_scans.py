"""Small seeded raw data of competitions with scans: studies, slices, scenes, fragments."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
from PIL import Image

from tests.preparation.mle_bench.raw_data import Draw, write_table
from tests.preparation.mle_bench.raw_files_of_ids import write_files


def necks(folder: Path) -> None:
    """Studies of necks: a few have boxes, a few have masks, some have both."""
    draw = Draw(160)
    studies = [f"1.2.826.{number}" for number in draw.random.permutation(9999)[:160]]
    labels = {
        name: draw.choice(0, 1) for name in ("patient_overall", *(f"C{n}" for n in range(1, 8)))
    }
    write_table(draw.table(StudyInstanceUID=studies, **labels), folder, "train.csv")
    boxed = [str(one) for one in draw.random.permutation(studies[:60])] * 2
    rows = Draw(120)
    boxes = rows.table(
        StudyInstanceUID=boxed, x=rows.numbers(), y=rows.shares(), width=rows.shares(),
        height=rows.shares(), slice_number=rows.ids(),
    )  # fmt: skip
    write_table(boxes, folder, "train_bounding_boxes.csv")
    write_files(folder, (f"segmentations/{study}.nii" for study in studies[40:90]))
    write_files(folder, (f"train_images/{one}/{scan}.dcm" for one in studies for scan in (1, 2)))


def lungs_with_covid(folder: Path) -> None:
    """Studies with a label each, and their images with boxes or none."""
    draw = Draw(90)
    studies = [f"{number:012x}" for number in draw.random.permutation(9999)[:90]]
    best = draw.random.randint(0, 4, 90)
    names = ("Negative for Pneumonia", "Typical Appearance", "Indeterminate Appearance",
             "Atypical Appearance")  # fmt: skip
    labels = {name: (best == place) * 1 for place, name in enumerate(names)}
    table = draw.table(id=[f"{one}_study" for one in studies], **labels)
    write_table(table, folder, "train_study_level.csv")
    own = Draw(130, seed=2)
    images = own.table(
        id=[f"{number:012x}_image" for number in own.random.permutation(9999)[:130]],
        boxes=own.choice(None, "[{'x': 789.28836, 'y': 582.43035}]"),
        label=own.choice("none 1 0 0 1 1", "opacity 1 789.28836 582.43035 1815.94498 2499.73327"),
        StudyInstanceUID=(studies * 2)[:130],
    )  # fmt: skip
    write_table(images, folder, "train_image_level.csv")
    places = zip(images["StudyInstanceUID"], images["id"], strict=True)
    write_files(
        folder, (f"train/{study}/9a{image[:3]}/{image[:-6]}.dcm" for study, image in places)
    )


def stomachs(folder: Path) -> None:
    """Cases with scans of two to seven days; three rows for each slice."""
    draw = Draw(1)
    ids = []
    for case in draw.random.permutation(199)[:30]:
        for day in draw.random.permutation(29)[: draw.random.randint(2, 8)]:
            for number in (1, 2):
                name = f"case{case}_day{day}"
                ids += [f"{name}_slice_{number:04d}"] * 3
                scans = folder / "train" / f"case{case}" / name / "scans"
                write_files(scans, [f"slice_{number:04d}_{266 + day}_360_1.50_1.50.png"])
    rows = Draw(len(ids))
    kinds = ["large_bowel", "small_bowel", "stomach"] * (len(ids) // 3)
    runs = rows.choice("28094 3 28358 7", None, None)
    table = rows.table(id=ids, segmentation=runs)
    table.insert(1, "class", kinds)
    write_table(table, folder, "train.csv")


def scrolls(folder: Path) -> None:
    """Three fragments: pictures of layers, masks and labels."""
    for fragment in (1, 2, 3):
        place = folder / "train" / str(fragment)
        names = ["mask.png", "inklabels.png", "surface_volume/00.tif", "surface_volume/01.tif"]
        write_files(place, names)
        Image.new("L", (13, 7 + fragment)).save(place / "ir.png")
        table = Draw(1).table(Id=[fragment], Predicted=["7 3 12 2"])
        write_table(table, place, "inklabels_rle.csv")


def chests(folder: Path) -> None:
    """Findings of three radiologists, with boxes or none. MLE-bench's counts do not fit: see -O."""
    draw = Draw(700)
    classes = draw.random.randint(0, 15, 700)
    sides = np.sort(draw.random.randint(0, 2999, (4, 700)), axis=0)
    names = ("x_min", "y_min", "x_max", "y_max")
    boxes = {
        name: np.where(classes == 14, np.nan, side) for name, side in zip(names, sides, strict=True)
    }
    table = draw.table(
        image_id=[f"{number:032x}" for number in draw.random.randint(0, 150, 700)],
        class_name=[f"finding {number}" for number in classes], class_id=classes,
        rad_id=draw.choice("R9", "R10", "R11"), **boxes,
    )  # fmt: skip
    write_table(table, folder, "train.csv")
    write_files(folder, (f"train/{image}.dicom" for image in table["image_id"].unique()))


def clouds(folder: Path) -> None:
    """Scenes with nine bands and two masks; some masks are empty."""
    draw = Draw(40)
    ids = [str(number) for number in draw.random.permutation(10**6)[:40]]
    train = [{"record_id": one, "row_min": 0.5, "timestamp": 1.5e9} for one in ids]
    validation = [{"record_id": str(number)} for number in range(9)]
    for name, content in (("train", train), ("validation", validation)):
        (folder / f"{name}_metadata.json").write_text(json.dumps(content))
    for one in ids:
        place = folder / "train" / one
        place.mkdir(parents=True)
        for band in range(8, 17):
            np.save(place / f"band_{band:02d}.npy", draw.random.rand(6, 5, 2).astype(np.float32))
        mask = draw.random.rand(6, 5, 1) < draw.choice(0.0, 0.4)[0]
        np.save(place / "human_pixel_masks.npy", mask.astype(np.int32))
        np.save(place / "human_individual_masks.npy", np.stack([mask] * 2, axis=-1))
    write_files(folder, (f"validation/{n}/band_08.npy" for n in range(9)))


RAW_SCANS: dict[str, Callable[[Path], None]] = {
    "rsna-2022-cervical-spine-fracture-detection": necks,
    "siim-covid19-detection": lungs_with_covid,
    "uw-madison-gi-tract-image-segmentation": stomachs,
    "vesuvius-challenge-ink-detection": scrolls,
    "vinbigdata-chest-xray-abnormalities-detection": chests,
    "google-research-identify-contrails-reduce-global-warming": clouds,
}
