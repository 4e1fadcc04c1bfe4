"""A tenth of Kaggle's labelled materials is the test set, drawn as MLE-bench draws it."""

from pathlib import Path

from sklearn.model_selection import train_test_split

from app.preparation.prepared_files import write_csv
from app.preparation.raw_files import RawFiles

TARGETS = ["formation_energy_ev_natom", "bandgap_energy_ev"]


def prepare_files(raw: RawFiles, public: Path, private: Path) -> None:
    """Split the materials, and number them anew from 1 on each side."""
    train, test = train_test_split(raw.table("train.csv"), test_size=0.1, random_state=0)
    for name, part in (("train", train), ("test", test)):
        raw.copy_bulk(
            (
                (f"train/{old}/geometry.xyz", public / name / str(new) / "geometry.xyz")
                for new, old in enumerate(part["id"], start=1)
            ),
            within="train.zip",
        )
        part["id"] = range(1, len(part) + 1)
    write_csv(train, public / "train.csv")
    write_csv(test.drop(columns=TARGETS), public / "test.csv")
    sample = test[["id"]].assign(formation_energy_ev_natom=0.1779, bandgap_energy_ev=1.8892)
    write_csv(sample, public / "sample_submission.csv")
    write_csv(test, private / "test.csv")
