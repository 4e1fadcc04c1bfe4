"""MLE-bench's `run_group_experiments.csv`: the run groups of each experiment."""

from __future__ import annotations

import csv
import io

from app.errors import Invalid
from app.importers.names import GIT_LFS, IS_POINTER

COLUMNS = ["experiment_id", "run_group"]


def read_run_groups(data: bytes) -> dict[str, list[str]]:
    r"""The run groups of each experiment, sorted by name.

    A group's name begins with its time, so this is the order in which the groups were run.

    Raises:
        Invalid: the file is invalid; the error names the line and the reason.

    >>> read_run_groups(b"experiment_id,run_group\na,2024-02\na,2024-01\n")
    {'a': ['2024-01', '2024-02']}
    """
    if data.startswith(GIT_LFS):
        raise Invalid(f"The file of run groups {IS_POINTER}.")
    try:
        rows = list(csv.reader(io.StringIO(data.decode("utf-8-sig"), newline=""), strict=True))
    except UnicodeDecodeError as error:
        raise Invalid(
            f"The file of run groups is refused at byte {error.start}: it is not UTF-8."
        ) from None
    except csv.Error as error:
        raise Invalid(f"The file of run groups is refused: {error}.") from None
    if not rows or [cell.strip() for cell in rows[0]] != COLUMNS:
        raise Invalid(f"The file of run groups is refused at line 1: expected {','.join(COLUMNS)}.")
    found: dict[str, set[str]] = {}
    for line, row in enumerate(rows[1:], start=2):
        if not row:
            continue
        cells = [cell.strip() for cell in row]
        if len(cells) != 2 or not all(cells):
            raise Invalid(
                f"The file of run groups is refused at line {line}: an experiment and a run group "
                "are expected there."
            )
        experiment, group = cells
        if group in found.get(experiment, ()):
            raise Invalid(
                f"The file of run groups is refused at line {line}: {group} is there twice."
            )
        found.setdefault(experiment, set()).add(group)
    return {experiment: sorted(groups) for experiment, groups in found.items()}
