"""Small seeded raw data of competitions with other archives and records: 7z, tar, BSON, Parquet."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import py7zr
from PIL import Image

from tests.preparation.mle_bench.raw_data import WORDS, Draw, write_table
from tests.preparation.mle_bench.raw_files_of_ids import write_files, write_zip
from tests.preparation.mle_bench.record_files import document, record_file


def write_7z(archive: Path, files: dict[str, bytes]) -> None:
    """A 7z archive."""
    with py7zr.SevenZipFile(archive, "w") as packed:
        for name, content in files.items():
            packed.writef(io.BytesIO(content), name)


def covers(folder: Path) -> None:
    """More than 5,000 images, since that many become the test set, each in four forms."""
    for kind in ("Cover", "JMiPOD", "JUNIWARD", "UERD"):
        write_files(folder, (f"{kind}/{number:05d}.jpg" for number in range(1, 5041)))


def sentences(folder: Path) -> None:
    """4,000 sentences, some of one or two words, with line ends of both sorts."""
    draw = Draw(4000)
    words = [word.replace("\n", " ") for word in WORDS]
    lines = [" ".join(draw.random.choice(words, draw.random.randint(1, 12))) for _ in draw.ids()]
    text = "\n".join(lines[:3000]) + "\n" + "\r\n".join(lines[3000:])
    write_zip(folder / "train_v2.txt.zip", {"train_v2.txt": text.encode()})


def cassava(folder: Path) -> None:
    """Images, packed a second time into record files of up to ten."""
    draw = Draw(155)
    images = [f"{number}.jpg" for number in draw.random.randint(0, 10**8, 155)]
    labels = draw.choice(0, 1, 2, 3, 4)
    write_table(draw.table(image_id=images, label=labels), folder, "train.csv")
    write_files(folder, (f"train_images/{image}" for image in images))
    (folder / "train_tfrecords").mkdir()
    (folder / "label_num_to_disease_map.json").write_text('{"0": "Blight", "4": "Healthy"}')
    order = draw.random.permutation(155)
    for number in range(16):
        own = order[number * 10 : number * 10 + 10]
        records = [
            {"target": labels[n], "image_name": images[n].encode(), "image": bytes(n)} for n in own
        ]
        file = folder / "train_tfrecords" / f"ld_train{number:02d}-{len(own)}.tfrec"
        file.write_bytes(record_file(records))


def moles(folder: Path) -> None:
    """Images of patients in two forms, packed a second time into record files."""
    draw = Draw(64)
    images = [f"ISIC_{number:07d}" for number in draw.random.randint(0, 10**7, 64)]
    table = draw.table(
        image_name=images, patient_id=draw.choice("IP_1", "IP_2"), sex=draw.choice("male", None),
        age_approx=draw.choice(45.0, 50.0, None),
        anatom_site_general_challenge=draw.choice("torso", None),
        diagnosis=draw.choice("unknown", "nevus"), benign_malignant=draw.choice("benign", "x"),
        target=draw.choice(0, 1),
    )  # fmt: skip
    write_table(table, folder, "train.csv")
    write_files(folder, (f"train/{image}.dcm" for image in images))
    write_files(folder, (f"jpeg/train/{image}.jpg" for image in images))
    (folder / "tfrecords").mkdir()
    for number in range(16):
        own = images[number * 4 : number * 4 + 4]
        records = [{"image": bytes(300), "image_name": one.encode(), "sex": 1} for one in own]
        name = f"train{number:02d}-2071.tfrec"
        (folder / "tfrecords" / name).write_bytes(record_file(records))
    (folder / "tfrecords" / "test00-687.tfrec").write_bytes(b"")


def products(folder: Path) -> None:
    """1,200 products with a category and pictures, as BSON; some have more fields."""
    draw = Draw(1200)
    with (folder / "train.bson").open("wb") as file:
        for number in draw.random.permutation(5000)[:1200]:
            own: dict[str, object] = {"_id": int(number)}
            if number % 50 == 0:
                own |= {"title": "Éclair", "price": 1.5, "more": {"a": None, "b": True}}
            own["category_id"] = 1000010653 + int(number) % 7
            own["imgs"] = [{"picture": bytes([n] * 9)} for n in range(int(number) % 3)]
            if number % 70 == 0:
                own["seen"] = 1 << 40
            file.write(document(own))
    (folder / "category_names.csv").write_text("category_id,a\n1000010653,É\n", encoding="utf-8")


def pages_with_stains(folder: Path) -> None:
    """Stained and clean pages, in grey or colour."""
    draw = Draw(22)
    for archive in ("train", "train_cleaned"):
        files = {}
        for number in range(22):
            pixels = draw.random.randint(0, 256, (5, 4 + number % 3, 3)).astype(np.uint8)
            image = Image.fromarray(pixels) if number % 4 == 0 else Image.fromarray(pixels[:, :, 0])
            content = io.BytesIO()
            image.save(content, "png")
            files[f"{archive}/{number * 7}.png"] = content.getvalue()
        write_zip(folder / f"{archive}.zip", files)


def cats_and_dogs(folder: Path) -> None:
    """Images of cats and dogs, with a test set of Kaggle's."""
    names = [f"train/{animal}.{n}.jpg" for animal in ("cat", "dog") for n in range(60)]
    write_files(folder, names, "train.zip")
    write_files(folder, ("test/1.jpg",), "test.zip")


def clips(folder: Path) -> None:
    """Recordings with tags, and the labels that were published later."""
    draw = Draw(60)
    classes = Path(__file__).with_name("sounds.txt").read_text().split()  # as MLE-bench lists them
    names = [f"{number:08x}.wav" for number in draw.random.permutation(9999)[:60]]
    labels = [",".join(draw.random.choice(classes, draw.random.randint(1, 4))) for _ in names]
    usage = draw.choice("Private", "Private", "Public")
    table = draw.table(fname=names, labels=labels, usage=usage)
    text = table.to_csv(index=False).encode()
    name = "FSDKaggle2019.meta/test_post_competition.csv"
    write_zip(folder / "FSDKaggle2019.meta.zip", {name: text})
    private = sorted(table["fname"][table["usage"] == "Private"])
    zeros = pd.DataFrame(0, index=range(len(private)), columns=classes)
    write_table(pd.concat([pd.Series(private, name="fname"), zeros], axis=1), folder,
                "sample_submission.csv")  # fmt: skip
    for kind in ("train_curated", "train_noisy"):
        write_table(draw.table(fname=names, labels=labels), folder, f"{kind}.csv")
        write_files(folder, [f"{one}" for one in names[:5]], f"{kind}.zip")
    write_files(folder, (f"test/{one}" for one in private[:4]))


def neutrinos(folder: Path) -> None:
    """Events of 30 batches in several row groups, and a file of each batch."""
    draw = Draw(30 * 8)
    batches = np.repeat(np.arange(1, 31), 8)
    table = draw.table(
        batch_id=batches, event_id=draw.random.randint(0, 10**9, 240),
        first_pulse_index=draw.ids(), last_pulse_index=draw.ids(),
        azimuth=draw.random.rand(240) * 6.3, zenith=draw.random.rand(240) * 3.1,
    )  # fmt: skip
    table.to_parquet(folder / "train_meta.parquet", index=False, row_group_size=50)
    (folder / "sensor_geometry.csv").write_text("sensor_id,x\n0,-256.1400146484375\n")
    write_files(folder, (f"train/batch_{number}.parquet" for number in range(1, 31)))


def plants_of_hawaii(folder: Path) -> None:
    """Images in train.7z."""
    draw = Draw(70)
    table = draw.table(name=range(1, 71), invasive=draw.choice(0, 1))
    write_table(table, folder, "train_labels.csv", "train_labels.csv.zip")
    write_7z(folder / "train.7z", {f"train/{n}.jpg": b"\x00\xff%d" % n for n in table["name"]})


def birds(folder: Path) -> None:
    """322 labelled recordings among others, in mlsp_contest_dataset.zip."""
    draw = Draw(645)
    folds = np.array([0] * 322 + [1] * 323)[draw.random.permutation(645)]
    names = [f"PC{row % 9}_20090513_{row:06d}_0010" for row in draw.ids()]
    labels = [
        sorted({int(one) for one in draw.random.randint(0, 19, row % 4)}) for row in range(645)
    ]
    lines = [
        f"{row}" + "".join(f",{one}" for one in own) if fold == 0 else f"{row},?"
        for row, (own, fold) in enumerate(zip(labels, folds, strict=True))
    ]
    segments = "\n".join(f"{row // 2},{row % 2},0.5" for row in range(1290))
    essential = {
        "CVfolds_2.txt": draw.table(rec_id=draw.ids(), fold=folds).to_csv(index=False),
        "rec_id2filename.txt": draw.table(rec_id=draw.ids(), filename=names).to_csv(index=False),
        "rec_labels_test_hidden.txt": "\r\n".join(["rec_id,[labels]", *lines]) + "\r\n",
        "species_list.txt": "class_id,code\n0,BRCR\n",
    }
    more = {f"{name}.txt": f"rec_id,[{name}]\n{segments}\n" for name in (
        "histogram_of_segments", "segment_features", "segment_rectangles")}  # fmt: skip
    more |= {"segment_clusters.bmp": "c", "segment_mosaic.bmp": "m"}
    for number, name in enumerate(names):
        essential[f"src_wavs/{name}.wav"] = f"sound {number}"
        for kind in ("filtered_spectrograms", "spectrograms", "supervised_segmentation"):
            more[f"{kind}/{name}.bmp"] = f"{kind} {number}"
        if number % 20 == 0:
            more[f"segmentation_examples/{name}.bmp"] = "example"
    top = "mlsp_contest_dataset"
    files = {f"{top}/essential_data/{name}": text.encode() for name, text in essential.items()}
    files |= {f"{top}/supplemental_data/{name}": text.encode() for name, text in more.items()}
    write_zip(folder / f"{top}.zip", files)


def gestures(folder: Path) -> None:
    """Samples in archives of archives; only the names in training4.tar.gz are read."""
    draw = Draw(80)
    numbers = [f"{number:04d}" for number in draw.random.permutation(403)[:80]]
    rows = draw.table(Id=numbers, Sequence=draw.choice("1 2 3", "20 19", "7"))
    write_table(rows, folder, "training.csv")
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for number in numbers[50:]:
            member = tarfile.TarInfo(f"./Sample0{number}.zip")
            member.size = 4
            archive.addfile(member, io.BytesIO(b"zip!"))
    (folder / "training4.tar.gz").write_bytes(gzip.compress(packed.getvalue(), mtime=0))
    names = [
        f"{kind}{number}.tar.gz" for kind in ("training", "validation") for number in (1, 2, 3)
    ]
    more = ["devel01-40.7z", "valid_all_files_combined.7z", "sample_code_mmrgc.zip"]
    write_files(folder, [*names, *more])


def icebergs(folder: Path) -> None:
    """Radar images as lists of numbers, in 7z archives; the test set lacks the label."""
    draw = Draw(62)
    shown = [
        {"id": f"{number:08x}", "band_1": draw.random.standard_normal(4).tolist(),
         "inc_angle": "na" if number % 5 == 0 else 43.9239 + number}
        for number in draw.random.permutation(9999)[:62]
    ]  # fmt: skip
    labelled = [own | {"is_iceberg": n % 2} for n, own in enumerate(shown)]
    for name, content in (("train", labelled), ("test", shown[:9])):
        files = {f"data/processed/{name}.json": json.dumps(content).encode()}
        write_7z(folder / f"{name}.json.7z", files)


def words_spoken(folder: Path) -> None:
    """Recordings in folders of words, in train.7z."""
    words = ("yes", "no", "_background_noise_", "bed")
    names = [f"train/audio/{word}/{n % 7:08x}_nohash_{n}.wav" for word in words for n in range(31)]
    files = {name: b"\x00\xff" + name.encode() for name in names}
    write_7z(folder / "train.7z", files | {"train/LICENSE": b"CC BY 4.0"})


def whales_heard(folder: Path) -> None:
    """Recordings of four days, in train2.zip."""
    names = [
        f"train2/200903{day}_{hour:02d}0000_{hour}s{n}ms_TRAIN{day * 50 + hour}_{n % 2}.aif"
        for day in (28, 29, 30, 31)
        for n, hour in enumerate(range(3, 20))
    ]
    write_files(folder, names, "train2.zip")


RAW_ARCHIVES: dict[str, Callable[[Path], None]] = {
    "alaska2-image-steganalysis": covers,
    "billion-word-imputation": sentences,
    "cassava-leaf-disease-classification": cassava,
    "siim-isic-melanoma-classification": moles,
    "cdiscount-image-classification-challenge": products,
    "denoising-dirty-documents": pages_with_stains,
    "dogs-vs-cats-redux-kernels-edition": cats_and_dogs,
    "freesound-audio-tagging-2019": clips,
    "icecube-neutrinos-in-deep-ice": neutrinos,
    "invasive-species-monitoring": plants_of_hawaii,
    "mlsp-2013-birds": birds,
    "multi-modal-gesture-recognition": gestures,
    "statoil-iceberg-classifier-challenge": icebergs,
    "tensorflow-speech-recognition-challenge": words_spoken,
    "the-icml-2013-whale-challenge-right-whale-redux": whales_heard,
}
