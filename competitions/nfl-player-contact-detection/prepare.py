"""A tenth of the plays of Kaggle's train set is the test set, drawn as MLE-bench draws it."""

from pathlib import Path

from sklearn.model_selection import train_test_split

from app.preparation.prepared_files import write_csv
from app.preparation.raw_files import RawFiles

PLAY, SIDES, VIEWS = "game_play", ("train", "test"), ("All29", "Endzone", "Sideline")
TABLES = ("baseline_helmets.csv", "player_tracking.csv", "video_metadata.csv")


def prepare_files(raw: RawFiles, public: Path, private: Path) -> None:
    """Split whole plays, with their tables and videos."""
    contacts = raw.table("train_labels.csv")
    plays = list(contacts[PLAY].unique())
    drawn = dict(zip(SIDES, train_test_split(plays, test_size=0.1, random_state=0), strict=True))
    for name in TABLES:
        table = raw.table(f"train_{name}")
        for side, part in drawn.items():
            write_csv(table[table[PLAY].isin(part)], public / f"{side}_{name}")
    for side, part in drawn.items():
        videos = [f"{play}_{view}.mp4" for play in part for view in VIEWS]
        raw.copy_bulk((f"train/{video}", public / side / video) for video in videos)
    train, test = (contacts[contacts[PLAY].isin(part)] for part in drawn.values())
    write_csv(train, public / "train_labels.csv")
    write_csv(test[["contact_id"]].assign(contact=0), public / "sample_submission.csv")
    write_csv(test, private / "test.csv")
