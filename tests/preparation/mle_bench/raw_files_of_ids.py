"""Small seeded raw data of competitions whose rows have files: images, signals, structures."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path

import pandas as pd

from tests.preparation.mle_bench.raw_data import Draw, write_table


def write_files(folder: Path, names: Iterable[str], archive: str = "") -> None:
    """Files of a few bytes that say their names, in the folder or in a zip archive."""
    if archive:
        with zipfile.ZipFile(folder / archive, "w") as packed:
            for name in names:
                packed.writestr(name, b"\x00\xff" + name.encode())
        return
    made = set()
    for name in names:
        file = folder / name
        if file.parent not in made:
            file.parent.mkdir(parents=True, exist_ok=True)
            made.add(file.parent)
        file.write_bytes(b"\x00\xff" + name.encode())


def write_zip(archive: Path, files: dict[str, bytes]) -> None:
    """A zip archive."""
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in files.items():
            packed.writestr(name, content)


def cactus(folder: Path) -> None:
    """Images in train.zip."""
    draw = Draw(120)
    images = [f"{image}.jpg" for image in draw.ids("c")]
    write_table(draw.table(id=images, has_cactus=draw.choice(0, 1)), folder, "train.csv")
    write_files(folder, (f"train/{image}" for image in images), "train.zip")


def retinas(folder: Path) -> None:
    """Images with a grade."""
    draw = Draw(90)
    table = draw.table(id_code=draw.ids("r"), diagnosis=draw.choice(0, 1, 2, 3, 4))
    write_table(table, folder, "train.csv")
    write_files(folder, (f"train_images/{image}.png" for image in table["id_code"]))


def dogs(folder: Path) -> None:
    """Images of 120 breeds, with the names that MLE-bench lists."""
    draw = Draw(360)
    breeds = Path(__file__).with_name("breeds.txt").read_text().split()
    table = draw.table(id=draw.ids("d"), breed=breeds * 3)
    write_table(table, folder, "labels.csv")
    write_files(folder, (f"train/{image}.jpg" for image in table["id"]))


def tissues(folder: Path) -> None:
    """Labelled images, and a test set of Kaggle's of which only the number counts."""
    draw = Draw(80)
    table = draw.table(id=draw.ids("h"), label=draw.choice(0, 1))
    write_table(table, folder, "train_labels.csv")
    write_files(folder, (f"train/{image}.tif" for image in table["id"]))
    write_files(folder, (f"test/x{number}.tif" for number in range(23)))


def leaves_2020(folder: Path) -> None:
    """Images named by numbers."""
    draw = Draw(75)
    images = [f"Train_{number}" for number in draw.ids()]
    labels = {name: draw.choice(0, 1) for name in ("healthy", "multiple_diseases", "rust", "scab")}
    write_table(draw.table(image_id=images, **labels), folder, "train.csv")
    write_files(folder, (f"images/{image}.jpg" for image in images))


def catheters(folder: Path) -> None:
    """X-rays with eleven labels, the patient, and annotations of some."""
    draw = Draw(85)
    labels = [
        "ETT - Abnormal", "ETT - Borderline", "ETT - Normal", "NGT - Abnormal", "NGT - Borderline",
        "NGT - Incompletely Imaged", "NGT - Normal", "CVC - Abnormal", "CVC - Borderline",
        "CVC - Normal", "Swan Ganz Catheter Present",
    ]  # fmt: skip
    table = draw.table(
        StudyInstanceUID=draw.ids("1.2."), **{name: draw.choice(0, 1) for name in labels},
        PatientID=draw.choice("ec89", "bf46"),
    )  # fmt: skip
    write_table(table, folder, "train.csv")
    annotations = table[["StudyInstanceUID"]].assign(label="CVC", data="[[1, 2], [3, 4]]")
    write_table(pd.concat([annotations.head(40)] * 2), folder, "train_annotations.csv")
    write_files(folder, (f"train/{image}.jpg" for image in table["StudyInstanceUID"]))


def hotels(folder: Path) -> None:
    """Images in folders of chains; one is the image that MLE-bench leaves out."""
    draw = Draw(95)
    images = ["ce27d36c9147cc19.jpg", *(f"{image}.jpg" for image in draw.ids("h")[1:])]
    table = draw.table(
        image=images, chain=draw.choice(0, 4, 90), hotel_id=draw.random.randint(0, 999, 95),
        timestamp=draw.choice("2018-04-09 17:35:10", None),
    )  # fmt: skip
    write_table(table, folder, "train.csv")
    pairs = zip(table["chain"], table["image"], strict=True)
    write_files(folder, (f"train_images/{chain}/{image}" for chain, image in pairs))


def leaves_2021(folder: Path) -> None:
    """Images with labels separated by blanks."""
    draw = Draw(70)
    images = [f"{image}.jpg" for image in draw.ids("p")]
    table = draw.table(image=images, labels=draw.choice("scab rust", "healthy", "complex"))
    write_table(table, folder, "train.csv")
    write_files(folder, (f"train_images/{image}" for image in images))


def molecules(folder: Path) -> None:
    """Images in folders of three letters of their names, and a list of formulas."""
    draw = Draw(66)
    images = [f"{number:03x}{number:05d}" for number in draw.ids()]
    table = draw.table(image_id=images, InChI=draw.choice("InChI=1S/CH4/h1H4", "InChI=1S/H2O"))
    write_table(table, folder, "train_labels.csv")
    (folder / "extra_approved_InChIs.csv").write_text("InChI\nInChI=1S/O2\n")
    write_files(folder, (f"train/{one[0]}/{one[1]}/{one[2]}/{one}.png" for one in images))


def paddy(folder: Path) -> None:
    """Images in folders of their labels."""
    draw = Draw(88)
    table = draw.table(
        image_id=[f"{image}.jpg" for image in draw.ids("10")], label=draw.choice("blast", "normal"),
        variety=draw.choice("ADT45", "Ponni"), age=draw.random.randint(40, 80, 88),
    )  # fmt: skip
    write_table(table, folder, "train.csv")
    write_table(
        draw.table(image_id=["x.jpg"] * 88, label=[None] * 88), folder, "sample_submission.csv"
    )
    pairs = zip(table["label"], table["image_id"], strict=True)
    write_files(folder, (f"train_images/{label}/{image}" for label, image in pairs))


def signals(folder: Path) -> None:
    """Signals in folders of their first letters, and the leaky data of before."""
    draw = Draw(77)
    table = draw.table(
        id=[f"{number:02x}{number}" for number in draw.ids()], target=draw.choice(0, 1)
    )
    write_table(table, folder, "train_labels.csv")
    write_files(folder, (f"train/{one[0]}/{one}.npy" for one in table["id"]))
    write_files(folder, ("old_leaky_data/train_old/0/a.npy", "old_leaky_data/labels.csv"))


def pets(folder: Path) -> None:
    """Images with a score."""
    draw = Draw(84)
    table = draw.table(
        Id=draw.ids("f"), Eyes=draw.choice(0, 1), Pawpularity=draw.random.randint(1, 100, 84)
    )
    write_table(table, folder, "train.csv")
    write_files(folder, (f"train/{image}.jpg" for image in table["Id"]))


def volcanoes(folder: Path) -> None:
    """Recordings, each a table."""
    draw = Draw(64)
    table = draw.table(segment_id=draw.random.permutation(10**6)[:64], time_to_eruption=draw.ids())
    write_table(table, folder, "train.csv")
    write_files(folder, (f"train/{segment}.csv" for segment in table["segment_id"]))


def tumors(folder: Path) -> None:
    """Patients with folders of scans; the numbers of some begin with zeros."""
    draw = Draw(58)
    table = draw.table(BraTS21ID=[f"{n:05d}" for n in draw.ids()], MGMT_value=draw.choice(0, 1))
    write_table(table, folder, "train_labels.csv")
    kinds = ("FLAIR/Image-1.dcm", "T1w/Image-1.dcm", "T1w/Image-2.dcm")
    write_files(folder, (f"train/{one}/{kind}" for one in table["BraTS21ID"] for kind in kinds))


def seedlings(folder: Path) -> None:
    """Images in folders of species; there is no table."""
    species = ("Black-grass", "Sugar beet", "Common wheat")
    write_files(
        folder, (f"train/{name}/{name[0]}{n:03d}.png" for name in species for n in range(25))
    )


def paintings(folder: Path) -> None:
    """Images with attributes, and their names."""
    draw = Draw(73)
    table = draw.table(id=draw.ids("m"), attribute_ids=draw.choice("0 1", "5", "700 3"))
    write_table(table, folder, "train.csv")
    (folder / "labels.csv").write_text("attribute_id,attribute_name\n0,country::algeria\n")
    write_files(folder, (f"train/{image}.png" for image in table["id"]))


def pages(folder: Path) -> None:
    """Pages with characters and their places, in train_images.zip."""
    draw = Draw(62)
    labels = draw.choice("U+306F 1231 3465 133 53", "U+304C 275 1652 84 69 U+3044 1 2 3 4")
    table = draw.table(image_id=draw.ids("k"), labels=labels)
    write_table(table, folder, "train.csv")
    (folder / "unicode_translation.csv").write_text("Unicode,char\nU+0031,1\n", encoding="utf-8")
    write_files(folder, (f"{page}.jpg" for page in table["image_id"]), "train_images.zip")


def plants(folder: Path) -> None:
    """Leaves of 99 species, with the names that MLE-bench lists; images in images.zip."""
    draw = Draw(198)
    species = Path(__file__).with_name("species.txt").read_text().split()
    table = draw.table(id=draw.ids(), species=species * 2, margin1=draw.numbers())
    write_table(table, folder, "train.csv", "train.csv.zip")
    write_files(folder, (f"images/{leaf}.jpg" for leaf in table["id"]), "images.zip")


def conductors(folder: Path) -> None:
    """Materials with a structure each, in train.zip."""
    draw = Draw(54)
    table = draw.table(
        id=range(1, 55), spacegroup=draw.choice(33, 194), formation_energy_ev_natom=draw.shares(),
        bandgap_energy_ev=draw.numbers(),
    )  # fmt: skip
    write_table(table, folder, "train.csv", "train.csv.zip")
    write_table(table.head(3), folder, "test.csv", "test.csv.zip")
    write_files(folder, (f"train/{number}/geometry.xyz" for number in table["id"]), "train.zip")
    write_files(folder, ("test/1/geometry.xyz",), "test.zip")


def couplings(folder: Path) -> None:
    """Pairs of atoms of molecules, six tables of molecules, and their structures."""
    draw = Draw(210)
    names = sorted(f"dsgdb9nsd_{number:06d}" for number in draw.random.permutation(999)[:42])
    table = draw.table(
        id=draw.ids(), molecule_name=names * 5, atom_index_0=draw.choice(0, 1, 2),
        atom_index_1=draw.choice(3, 4), type=draw.choice("1JHC", "2JHH"),
        scalar_coupling_constant=draw.numbers(),
    )  # fmt: skip
    write_table(table, folder, "train.csv")
    one = Draw(42, seed=3)
    for name, columns in (
        ("structures", 5), ("dipole_moments", 3), ("magnetic_shielding_tensors", 10),
        ("mulliken_charges", 2), ("potential_energy", 1), ("scalar_coupling_contributions", 7),
    ):  # fmt: skip
        values = {f"x{number}": one.numbers() for number in range(columns)}
        write_table(one.table(molecule_name=names, **values), folder, f"{name}.csv")
    write_files(folder, (f"structures/{name}.xyz" for name in names))


RAW_FILES: dict[str, Callable[[Path], None]] = {
    "aerial-cactus-identification": cactus,
    "aptos2019-blindness-detection": retinas,
    "dog-breed-identification": dogs,
    "histopathologic-cancer-detection": tissues,
    "plant-pathology-2020-fgvc7": leaves_2020,
    "ranzcr-clip-catheter-line-classification": catheters,
    "hotel-id-2021-fgvc8": hotels,
    "plant-pathology-2021-fgvc8": leaves_2021,
    "bms-molecular-translation": molecules,
    "paddy-disease-classification": paddy,
    "seti-breakthrough-listen": signals,
    "petfinder-pawpularity-score": pets,
    "predict-volcanic-eruptions-ingv-oe": volcanoes,
    "rsna-miccai-brain-tumor-radiogenomic-classification": tumors,
    "plant-seedlings-classification": seedlings,
    "imet-2020-fgvc7": paintings,
    "kuzushiji-recognition": pages,
    "leaf-classification": plants,
    "nomad2018-predict-transparent-conductors": conductors,
    "champs-scalar-coupling": couplings,
}
