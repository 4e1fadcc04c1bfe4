"""Small seeded raw data of competitions whose rows belong together: plays, patients, notebooks."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from tests.preparation.mle_bench.raw_data import Draw, write_table
from tests.preparation.mle_bench.raw_files_of_ids import write_files


def plays(folder: Path) -> None:
    """Contacts of plays, three more tables of them, and three videos of each."""
    names = [f"58168_{number:06d}" for number in range(41)]
    draw = Draw(41 * 6)
    table = draw.table(
        contact_id=draw.ids("c"), game_play=np.repeat(names, 6), contact=draw.choice(0, 1),
        nfl_player_id_2=draw.choice("G", "41482"),
    )  # fmt: skip
    write_table(table, folder, "train_labels.csv")
    for seed, name in enumerate(("baseline_helmets", "player_tracking", "video_metadata")):
        own = Draw(41 * 3, seed=seed)
        more = own.table(game_play=names * 3, step=own.ids(), speed=own.shares())
        write_table(more, folder, f"train_{name}.csv")
    views = ("All29", "Endzone", "Sideline")
    write_files(folder, (f"train/{name}_{view}.mp4" for name in names for view in views))


def drives(folder: Path) -> None:
    """Drives of days, some named without zeros, with the ground truth of each phone.

    Degrees have seven digits, as Kaggle's: MLE-bench reads them by a parser that is exact for these
    and not for all numbers. So are the numbers of `plays`.
    """
    for day in range(1, 24):
        for phone in ("Pixel4", "Mi8"):
            zeros = f"{day:02d}" if day % 2 else str(day)
            place = folder / "train" / f"2021-{'3' if day % 3 else '03'}-{zeros}-US-MTV-1" / phone
            place.mkdir(parents=True)
            draw = Draw(7, seed=day)
            table = draw.table(
                MessageType=["Fix"] * 7, UnixTimeMillis=draw.ids(),
                LatitudeDegrees=(37 + draw.random.rand(7)).round(7),
                LongitudeDegrees=(draw.random.rand(7) - 122).round(7),
            )  # fmt: skip
            write_table(table, place, "ground_truth.csv")
            write_table(table.head(2), place, "device_gnss.csv")
    write_files(folder, ("metadata/accumulated_delta_range_state_bit_map.json",))


def whales(folder: Path) -> None:
    """Images of whales: many have one image, some have several."""
    draw = Draw(140)
    names = [f"w_{number:07x}" for number in draw.random.randint(0, 80, 140)]
    table = draw.table(Image=[f"{image}.jpg" for image in draw.ids("f")], Id=names)
    write_table(table, folder, "train.csv")
    write_files(folder, (f"train/{image}" for image in table["Image"]))


def salt(folder: Path) -> None:
    """Images and masks in competition_data.zip; some masks are empty."""
    draw = Draw(72)
    ids = [f"{number:04x}" for number in draw.random.permutation(9999)[:72]]
    table = draw.table(id=ids, rle_mask=draw.choice("1 3 10 5", None, "7 1"))
    with zipfile.ZipFile(folder / "competition_data.zip", "w") as packed:
        packed.writestr("competition_data/train.csv", table.to_csv(index=False))
        for image in ids:
            for kind in ("images", "masks"):
                packed.writestr(f"competition_data/train/{kind}/{image}.png", f"{kind} {image}")
    depths = Draw(90).table(id=[*ids, *(f"x{n}" for n in range(18))], z=Draw(90).ids())
    write_table(depths, folder, "depths.csv")


def brains(folder: Path) -> None:
    """Votes about windows of recordings, which share spectrograms."""
    draw = Draw(160)
    votes = [f"{kind}_vote" for kind in ("seizure", "lpd", "gpd", "lrda", "grda", "other")]
    counts = {name: draw.random.randint(1, 9, draw.rows) for name in votes}
    spectrograms = draw.random.randint(500, 560, draw.rows)
    table = draw.table(
        eeg_id=10 * spectrograms + draw.choice(0, 1), eeg_sub_id=draw.choice(0, 1),
        eeg_label_offset_seconds=draw.numbers(), spectrogram_id=spectrograms,
        spectrogram_sub_id=draw.choice(0, 1), spectrogram_label_offset_seconds=draw.numbers(),
        label_id=draw.ids(), patient_id=draw.choice(7, 8),
        expert_consensus=draw.choice("Seizure", "Other"), **counts,
    )  # fmt: skip
    write_table(table, folder, "train.csv")
    files = [f"train_eegs/{one}.parquet" for one in table["eeg_id"].unique()]
    files += [f"train_spectrograms/{one}.parquet" for one in table["spectrogram_id"].unique()]
    write_files(folder, [*files, "example_figures/a.pdf"])


def breasts(folder: Path) -> None:
    """Images of patients, several of each breast; ages and densities are missing at times."""
    draw = Draw(200)
    table = draw.table(
        site_id=draw.choice(1, 2), patient_id=draw.random.randint(10000, 10060, 200),
        image_id=draw.random.permutation(9999)[:200], laterality=draw.choice("L", "R"),
        view=draw.choice("CC", "MLO"), age=draw.choice(61.0, None), cancer=draw.choice(0, 0, 1),
        biopsy=draw.choice(0, 1), invasive=draw.choice(0, 1), BIRADS=draw.choice(0.0, None),
        implant=draw.choice(0, 1), density=draw.choice("A", None), machine_id=draw.choice(21, 49),
        difficult_negative_case=draw.choice(True, False),
    )  # fmt: skip
    write_table(table, folder, "train.csv")
    pairs = zip(table["patient_id"], table["image_id"], strict=True)
    write_files(folder, (f"train_images/{patient}/{image}.dcm" for patient, image in pairs))


def kidneys(folder: Path) -> None:
    """Fifteen images with masks, their sizes, and the sizes of others."""
    draw = Draw(15)
    ids = [f"{number:09x}" for number in draw.random.permutation(9999)[:15]]
    write_table(draw.table(id=ids, encoding=draw.choice("1 5 9 2", "3 4")), folder, "train.csv")
    about = Draw(20).table(
        image_file=[f"{image}.tiff" for image in (*ids, *"abcde")],
        width_pixels=Draw(20).random.randint(100, 999, 20), height_pixels=Draw(20).ids(),
        patient_number=Draw(20).ids(),
    )  # fmt: skip
    write_table(about, folder, "HuBMAP-20-dataset_information.csv")
    endings = (".tiff", ".json", "-anatomical-structure.json")
    write_files(folder, (f"train/{image}{ending}" for image in ids for ending in endings))


def notebooks(folder: Path) -> None:
    """More than 20,000 notebooks, most of them without relatives."""
    draw = Draw(20_300)
    ids = [f"{number:014x}" for number in draw.ids()]
    families = [f"{number:08x}" for number in draw.random.randint(0, 19_000, draw.rows)]
    parents = draw.choice(None, None, "00000000000001")
    ancestors = draw.table(id=ids, ancestor_id=families, parent_id=parents)
    write_table(ancestors, folder, "train_ancestors.csv")
    write_table(
        draw.table(id=ids, cell_order=draw.choice("a b", "b a")), folder, "train_orders.csv"
    )
    (folder / "train").mkdir()
    for number, notebook in enumerate(ids):
        cells = {"a": "code", "b": "markdown"} if number % 2 else {"b": "code", "a": "code"}
        (folder / "train" / f"{notebook}.json").write_text(json.dumps({"cell_type": cells}))


def vaccines(folder: Path) -> None:
    """Molecules as JSON lines: values of the first of their positions, some filtered out."""
    draw = Draw(60)
    names = ("reactivity", "deg_Mg_pH10", "deg_pH10", "deg_Mg_50C", "deg_50C")
    lines, shown = [], []
    for row in draw.ids():
        own = {"index": row, "id": f"id_{row}", "sequence": "GGAAA", "seq_length": 8}
        own |= {"seq_scored": 5}
        values = {name: draw.random.standard_normal(5).round(4).tolist() for name in names}
        more = {"signal_to_noise": row / 7, "SN_filter": row % 3 and 1}
        lines.append(json.dumps({**own, **more, **values}))
        shown.append(json.dumps(own))
    (folder / "train.json").write_text("\n".join(lines) + "\n")
    (folder / "test.json").write_text("\n".join(shown[:9]) + "\n")
    sample = draw.table(id_seqpos=draw.ids("x"), **dict.fromkeys(names, 0.0))
    write_table(sample, folder, "sample_submission.csv")


def purchases(folder: Path) -> None:
    """Purchases of three weeks; article numbers begin with a zero."""
    draw = Draw(300)
    days = np.sort(draw.random.randint(1, 22, draw.rows))
    table = draw.table(
        t_dat=[f"2020-09-{day:02d}" for day in days],
        customer_id=draw.choice("c2", "a1", "b3", "d"),
        article_id=[f"0{number}" for number in draw.random.permutation(99999)[:300] + 100000],
        price=draw.random.rand(300), sales_channel_id=draw.choice(1, 2),
    )  # fmt: skip
    write_table(table, folder, "transactions_train.csv")
    write_table(draw.table(article_id=table["article_id"]), folder, "articles.csv")
    write_table(
        draw.table(customer_id=table["customer_id"], age=draw.ids()), folder, "customers.csv"
    )
    write_table(
        draw.table(customer_id=table["customer_id"], prediction="1"),
        folder,
        "sample_submission.csv",
    )
    write_files(folder, ("images/010/0108775015.jpg", "images/011/0110065001.jpg"))


def frames(folder: Path) -> None:
    """Frames of speech as arrays, with labels as text."""
    draw = Draw(90)
    home = folder / "timit_11" / "timit_11"
    home.mkdir(parents=True)
    np.save(home / "train_11.npy", draw.random.rand(90, 6).astype(np.float32))
    np.save(home / "train_label_11.npy", draw.random.randint(0, 39, 90).astype(str))
    np.save(home / "test_11.npy", draw.random.rand(33, 6).astype(np.float32))


def lungs(folder: Path) -> None:
    """Patients with visits in some weeks, and folders of scans."""
    draw = Draw(120)
    patients = [f"ID{number:05d}" for number in np.repeat(np.arange(24), 5)]
    weeks = np.concatenate([np.sort(draw.random.permutation(40)[:5]) - 3 for _ in range(24)])
    table = draw.table(
        Patient=patients, Weeks=weeks, FVC=draw.random.randint(800, 6000, 120),
        Percent=draw.numbers(), Age=draw.ids(), Sex=draw.choice("Male", "Female"),
        SmokingStatus=draw.choice("Ex-smoker", "Never smoked"),
    )  # fmt: skip
    write_table(table, folder, "train.csv")
    write_files(
        folder, (f"train/{one}/{scan}.dcm" for one in sorted(set(patients)) for scan in (1, 2))
    )


def questions(folder: Path) -> None:
    """1,100 questions as JSON lines, so that they are split in two parts."""
    kinds = ("NONE", "YES", "NO")
    lines = io.StringIO()
    for row in range(1100):
        long = {"start_token": row if row % 4 else -1, "end_token": row + 5 if row % 4 else -1}
        short = [{"start_token": row, "end_token": row + 1}] * (row % 3)
        annotation = {
            "yes_no_answer": kinds[row % 11 % 3], "long_answer": long, "short_answers": short,
            "annotation_id": row,
        }  # fmt: skip
        question = {
            "document_text": f"the text — {row}", "long_answer_candidates": [long],
            "question_text": "who?", "annotations": [annotation], "document_url": "https://x/é",
            "example_id": 10**18 + row,
        }  # fmt: skip
        lines.write(json.dumps(question) + "\n")
    (folder / "simplified-nq-train.jsonl").write_text(lines.getvalue())


RAW_GROUPS: dict[str, Callable[[Path], None]] = {
    "nfl-player-contact-detection": plays,
    "smartphone-decimeter-2022": drives,
    "whale-categorization-playground": whales,
    "tgs-salt-identification-challenge": salt,
    "hms-harmful-brain-activity-classification": brains,
    "rsna-breast-cancer-detection": breasts,
    "hubmap-kidney-segmentation": kidneys,
    "AI4Code": notebooks,
    "stanford-covid-vaccine": vaccines,
    "h-and-m-personalized-fashion-recommendations": purchases,
    "ml2021spring-hw2": frames,
    "osic-pulmonary-fibrosis-progression": lungs,
    "tensorflow2-question-answering": questions,
}
