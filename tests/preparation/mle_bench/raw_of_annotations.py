"""Small seeded raw data of competitions with files of annotations: species, cameras, scenes."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.preparation.mle_bench.raw_data import Draw, write_table
from tests.preparation.mle_bench.raw_files_of_ids import write_files, write_zip


def species(draw: Draw, *, at_least: int, folder: str, id_name: str = "id") -> dict[str, Any]:
    """Images of species with one to 30 images each, in mixed order, and their annotations."""
    labels = [number for number in range(24) for _ in range(at_least + number)]
    labels = [int(one) for one in draw.random.permutation(labels)]
    images: list[dict[str, Any]] = []
    for place, label in enumerate(labels):
        own = f"{label:05d}__{place:03d}" if id_name == "image_id" else place
        file = f"{folder}{label // 100:03d}/{label % 100:02d}/{place}.jpg"
        images.append({id_name: own, "width": 681, "file_name": file, "height": 1000})
    annotations = [
        {"category_id": label, "image_id": image[id_name], "id": place}
        for place, (label, image) in enumerate(zip(labels, images, strict=True))
    ]
    about = {"year": 2020, "description": "Plants — herbarium «é»", "contributor": "NYBG"}
    return {
        "annotations": annotations, "images": images, "info": about,
        "licenses": [{"name": "CC", "id": 0}],
        "categories": [{"id": number, "name": f"Éspece {number}"} for number in range(24)],
    }  # fmt: skip


def write_json(content: object, file: Path, *, ascii_only: bool = False) -> None:
    """Write JSON as UTF-8."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(content, ensure_ascii=ascii_only), encoding="utf-8")


def herbarium(folder: Path, top: str, extra: str) -> None:
    """Plants: a file of annotations in UTF-8, and images in folders of species."""
    metadata = species(Draw(1), at_least=1, folder="images/")
    write_json(metadata | {extra: [{"id": 1, "name": "Ñ"}]}, folder / top / "metadata.json")
    write_files(folder / top, (image["file_name"] for image in metadata["images"]))


def herbarium_2022(folder: Path) -> None:
    """Plants with two images and more of each species."""
    metadata = species(Draw(1), at_least=2, folder="", id_name="image_id")
    del metadata["info"]
    more = {"genera": [], "institutions": [{"id": 1}], "distances": [[0, 1]]}
    write_json(metadata | more, folder / "train_metadata.json")
    write_files(folder, (f"train_images/{image['file_name']}" for image in metadata["images"]))


def animals(folder: Path) -> None:
    """Animals in folders of kinds, packed in train_val2019.tar.gz."""
    metadata = species(Draw(1, seed=2), at_least=1, folder="train_val2019/Plants/")
    for image in metadata["images"]:
        image["file_name"] = image["file_name"].replace("/000/", "/")
    write_json(metadata, folder / "train2019.json")
    write_json({"images": [{"id": 9, "file_name": "v.jpg"}]}, folder / "val2019.json")
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for image in metadata["images"]:
            content = b"\x00\xff" + image["file_name"].encode()
            member = tarfile.TarInfo(image["file_name"])
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    (folder / "train_val2019.tar.gz").write_bytes(gzip.compress(packed.getvalue(), mtime=0))


def cameras_2019(folder: Path) -> None:
    """Images of camera locations; some images have two rows."""
    draw = Draw(260)
    ids = [f"5998cfa4-23d2-11e8-a6a3-{number:04x}" for number in draw.ids()]
    ids[7] = ids[6]
    locations = draw.random.randint(0, 31, 260)
    locations[7] = locations[6]
    table = draw.table(
        category_id=draw.choice(19, 0, 13), date_captured=draw.choice("2011-05-13 23:43:18", None),
        file_name=[f"{one}.jpg" for one in ids], frame_num=draw.choice(1, 2), id=ids,
        location=locations, rights_holder="Erin Boydston", width=1024, height=747,
    )  # fmt: skip
    write_table(table, folder, "train.csv")
    write_zip(folder / "train_images.zip", {f"{one}.jpg": one.encode() for one in set(ids)})


def cameras_2020(folder: Path) -> None:
    """Images of camera locations: some lack a size, some have two annotations."""
    draw = Draw(400)
    places = draw.random.randint(0, 40, 400)
    images: list[dict[str, Any]] = []
    for number in range(400):
        own: dict[str, Any] = {
            "id": f"8b{number:05x}-21bc",
            "file_name": f"8b{number:05x}-21bc.jpg",
        }
        own |= {"location": int(places[number]), "datetime": "2013-10-04 13:31:53.000"}
        own |= {"seq_num_frames": 1, "seq_id": f"9é{number}"}
        images.append(own | ({"width": 1024, "height": 747} if number % 9 else {}))
    annotations: list[dict[str, Any]] = [
        {"count": 1 + number % 3, "image_id": image["id"], "id": f"a{number}",
         "category_id": number % 7, **({"bbox": [0.5, number]} if number % 2 else {})}
        for number, image in enumerate([*images, *images[::40]])
    ]  # fmt: skip
    categories = [{"id": 0, "name": "empty", "count": 126}, {"id": 2, "name": "tayassu"}]
    about = {"year": 2020, "contributor": "«é»"}
    train = {"annotations": annotations, "images": images, "categories": categories, "info": about}
    test = {"images": images[:2], "categories": categories[:1], "info": about | {"year": 1}}
    write_json(train, folder / "iwildcam2020_train_annotations.json")
    write_json(test, folder / "iwildcam2020_test_information.json")
    write_json({"images": [{"detections": []}]}, folder / "iwildcam2020_megadetector_results.json")
    write_files(folder, (f"train/{image['id']}.jpg" for image in images))


def vehicles(folder: Path) -> None:
    """Scenes of a vehicle: samples, what sensors took, and boxes of objects."""
    draw = Draw(30)
    scenes = [f"{number:08x}scene" for number in draw.random.permutation(999)[:30]]
    samples = [{"token": f"{scene}{n}", "scene_token": scene, "timestamp": 1.5 + n}
               for scene in scenes for n in range(3)]  # fmt: skip
    tokens = [sample["token"] for sample in samples]
    order = draw.random.permutation(len(tokens))
    box = "1048.15 1691.81 -23.1 2.06 5.12 1.82 -2.65 car"
    kinds = draw.choice(box, f"{box} {box.replace('car', 'bus')}")
    texts = (kinds * 3)[: len(tokens)]
    table = Draw(len(tokens)).table(Id=[tokens[n] for n in order], PredictionString=texts)
    write_table(table, folder, "train.csv")
    taken: list[dict[str, Any]] = []
    for number, token in enumerate(tokens):
        for kind, form in (("images", "jpeg"), ("lidar", "bin")):
            file = f"{kind}/host-a{number // 2 if kind == 'lidar' else number}_{token[:8]}.{form}"
            own: dict[str, Any] = {"sample_token": token, "ego_pose_token": f"pose{number}{kind}"}
            own |= {"calibrated_sensor_token": f"cal{number // 7}{kind}", "fileformat": form}
            taken.append(own | {"filename": file, "token": f"d{number}{kind}"})
    write_files(folder, {f"train_{one['filename']}" for one in taken})
    write_files(folder, ["train_maps/map_raster_palo_alto.png"])
    calibrations = sorted({one["calibrated_sensor_token"] for one in taken})
    tables: dict[str, object] = {
        "log": [{"token": scene, "vehicle": "a011", "location": "Palo Alto"} for scene in scenes],
        "scene": [{"log_token": scene, "token": scene, "nbr_samples": 3} for scene in scenes],
        "sample": samples,
        "sample_data": taken,
        "calibrated_sensor": [{"token": one, "rotation": [0.1, 1e-17]} for one in calibrations],
        "ego_pose": [{"token": one["ego_pose_token"], "é": 0.1} for one in reversed(taken)],
        "map": [{"log_tokens": scenes, "category": "semantic_prior", "token": "m"}],
        "sample_annotation": [
            {"token": f"a{n}", "instance_token": f"i{n // 2}", "sample_token": token}
            for n, token in enumerate(tokens)
        ],
        "instance": [{"token": f"i{n}", "nbr_annotations": 2} for n in range(len(tokens) // 2)],
    }  # fmt: skip
    tables |= {
        name: [{"token": name}] for name in ("attribute", "category", "sensor", "visibility")
    }
    for name, content in tables.items():
        write_json(content, folder / "train_data" / f"{name}.json")


RAW_ANNOTATIONS: dict[str, Callable[[Path], None]] = {
    "herbarium-2020-fgvc7": lambda folder: herbarium(folder, "nybg2020/train", "regions"),
    "herbarium-2021-fgvc8": lambda folder: herbarium(folder, "train", "institutions"),
    "herbarium-2022-fgvc9": herbarium_2022,
    "inaturalist-2019-fgvc6": animals,
    "iwildcam-2019-fgvc6": cameras_2019,
    "iwildcam-2020-fgvc7": cameras_2020,
    "3d-object-detection-for-autonomous-vehicles": vehicles,
}
