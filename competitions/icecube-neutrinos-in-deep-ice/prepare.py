"""A tenth of Kaggle's batches of events is the test set, drawn as MLE-bench draws it."""

import contextlib
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from sklearn.model_selection import train_test_split

from app.preparation.raw_files import RawFiles

ANGLES = ["azimuth", "zenith"]


def prepare_files(raw: RawFiles, public: Path, private: Path) -> None:
    """Split the batches. The table of events is read in parts: it has 132 million rows."""
    events = pq.ParquetFile(raw.open_seekable("train_meta.parquet"))
    batches = pd.unique(
        pd.concat(part["batch_id"].to_pandas() for part in parts(events, ["batch_id"]))
    )
    train, test = train_test_split(batches, test_size=0.1, random_state=0)
    write_events(events, set(test), public, private, grading_only=raw.grading_only)
    raw.copy("sensor_geometry.csv", public / "sensor_geometry.csv")
    side = dict.fromkeys(train, "train") | dict.fromkeys(test, "test")
    files = [Path(name) for name in raw.names() if name.startswith("train/")]
    numbers = [(file, int(file.stem.split("_")[-1])) for file in files if file.suffix == ".parquet"]
    raw.copy_bulk(
        (str(file), public / side[number] / file.name) for file, number in numbers if number in side
    )


def parts(events: pq.ParquetFile, columns: list[str] | None = None) -> list[pa.Table]:
    """The table, row group by row group."""
    return (events.read_row_group(one, columns) for one in range(events.num_row_groups))


def write_events(
    events: pq.ParquetFile, test: set[int], public: Path, private: Path, *, grading_only: bool
) -> None:
    """Write the four tables, part by part."""
    schema = events.schema_arrow.remove_metadata()
    shown = pa.schema([field for field in schema if field.name not in ANGLES])
    with contextlib.ExitStack() as files:
        sample = files.enter_context((public / "sample_submission.csv").open("xb"))
        answers = files.enter_context((private / "test.csv").open("xb"))
        tables = []
        if not grading_only:
            for name, columns in (("train", schema), ("test", shown)):
                target = pq.ParquetWriter(public / f"{name}_meta.parquet", columns)
                tables.append(files.enter_context(target))
        for number, part in enumerate(parts(events)):
            is_test = pc.is_in(part["batch_id"], pa.array(sorted(test), part["batch_id"].type))
            rows = part.filter(is_test).select(["event_id", *ANGLES]).to_pandas()
            header = number == 0
            rows.to_csv(answers, index=False, header=header, lineterminator="\n")
            guess = rows.assign(azimuth=1, zenith=1)
            guess.to_csv(sample, index=False, header=header, lineterminator="\n")
            if tables:
                tables[0].write_table(part.filter(pc.invert(is_test)).cast(schema))
                tables[1].write_table(part.filter(is_test).select(shown.names).cast(shown))
