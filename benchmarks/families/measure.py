"""One family measured: its data written to disk, and both ways timed in turn."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as pacsv

from app.domain.competition import SAMPLE_FILE
from app.domain.read_leaderboard import leaderboard_of
from app.graders.program.tasks import warm_up
from app.grading.check import read_ids
from app.grading.decode_answers import decode_answers
from app.grading.grade import grade
from app.grading.scorer import scorer_for
from benchmarks.families.declared import declared, own_metric
from benchmarks.families.family import Columns, Data, Family

SEED = 20_261_121
ENOUGH = 1.5  # seconds of the reference, after which a family is measured well enough
FEWEST, MOST = 3, 25  # rounds


@dataclass(frozen=True)
class Place:
    """The files of one family: a version's directory, a submission, and the original answers."""

    version: Path
    submission: Path
    original: Path


@dataclass(frozen=True)
class Measured:
    """Medians in seconds, and how many times less CPU Podium takes, all threads counted."""

    reference: float
    podium: float
    cpu_ratio: float


def write_files(family: Family, directory: Path) -> Place:
    """Make the data and write it in the layout of an imported competition."""
    data = family.make(np.random.default_rng(SEED), family.rows)
    competition = declared(family.slug)
    version = directory / family.slug / "bench"
    (version / "public").mkdir(parents=True)
    (version / "private").mkdir()
    (version / "competition.toml").write_text(_toml(family.slug))
    metric = own_metric(family.slug)
    if metric is not None:
        (version / "metric.py").write_text(metric)
    place = Place(version, directory / "submission.csv", directory / "original")
    ids = {name: data.submission[name] for name in competition.submission.id}
    write_csv(ids, version / SAMPLE_FILE)
    write_csv(data.submission, place.submission)
    _write_answers(family, data, version / "private" / competition.answers.file, place.original)
    return place


def _toml(slug: str) -> str:
    return (Path(__file__).parents[2] / "competitions" / slug / "competition.toml").read_text()


def _write_answers(family: Family, data: Data, file: Path, original: Path) -> None:
    if family.convert is None or family.write_original is None:
        write_csv(data.answers, file)
        original.symlink_to(file)
    else:
        file.write_bytes(family.convert(data))
        family.write_original(data, original)


def write_csv(columns: Columns, file: Path) -> None:
    """Write columns as pandas would: floats by their shortest digits, quotes only where needed."""
    table = pa.table({name: _plain(values) for name, values in columns.items()})
    try:
        pacsv.write_csv(table, file, pacsv.WriteOptions(quoting_style="none"))
    except pa.ArrowInvalid:  # a text holds a comma, a quote or a line end
        pacsv.write_csv(table, file, pacsv.WriteOptions(quoting_style="needed"))
    text = file.read_bytes()
    header, end, rows = text.partition(b"\n")
    file.write_bytes(header.replace(b'"', b"") + end + rows)


def _plain(values: object) -> pa.Array:
    """Nothing for NaN, and True and False as pandas writes them."""
    array = values if isinstance(values, pa.Array) else pa.array(values, from_pandas=True)
    if pa.types.is_boolean(array.type):
        return pa.array(np.where(array.to_numpy(zero_copy_only=False), "True", "False"))
    return array


def ways(family: Family, place: Place) -> tuple[Callable[[], float], Callable[[], float]]:
    """The reference way, nothing kept between gradings; and Podium's, with answers decoded."""
    warm_up()
    competition = declared(family.slug)
    sample = (place.version / SAMPLE_FILE).read_bytes()
    ids = read_ids(sample, competition.submission)
    private = place.version / "private" / competition.answers.file
    scorer = scorer_for(competition, own_metric(family.slug))
    answers = decode_answers(private.read_bytes(), competition, ids, frames=scorer.takes_frames)
    board = leaderboard_of(competition, None)
    read_original = family.read_original or _read

    def reference() -> float:
        submission = _read(place.submission)
        return float(family.reference(read_original(place.original), submission))

    def podium() -> float:
        return grade(place.submission.read_bytes, competition, answers, board, scorer).score

    return reference, podium


def _read(file: Path) -> pd.DataFrame:
    return pd.read_csv(file, float_precision="round_trip")


def measure(slug: str, reference: Callable[[], float], podium: Callable[[], float]) -> Measured:
    """Both ways in turn, until the reference has taken long enough.

    Raises:
        AssertionError: the scores differ by more than 1e-9.
    """
    difference = abs(podium() - reference())
    if not difference <= 1e-9:
        raise AssertionError(f"{slug}: scores differ by {difference}")
    times: tuple[list[float], list[float]] = ([], [])
    cpu: tuple[list[float], list[float]] = ([], [])
    while len(times[0]) < FEWEST or (len(times[0]) < MOST and sum(times[0]) < ENOUGH):
        for way, spent, used in zip((reference, podium), times, cpu, strict=True):
            started, cpu_started = time.perf_counter(), time.process_time()
            way()
            spent.append(time.perf_counter() - started)
            used.append(time.process_time() - cpu_started)
    return Measured(median(times[0]), median(times[1]), median(cpu[0]) / median(cpu[1]))
