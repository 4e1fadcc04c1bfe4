"""`podium import`: the commands of the group."""

from __future__ import annotations

from typing import ClassVar

import typer

from app.cli.lazy import LazyGroup

COMPETITIONS = (
    ("kaggle", "kaggle:kaggle",
     "Import competitions with Kaggle's own package, or from another Podium (--from)."),
    ("leaderboard", "kaggle:leaderboard",
     "Replace only a competition's human leaderboard; this makes a new version."),
    ("folder", "folders:folder", "Import competition folders; the folder's name is the slug."),
    ("archive", "folders:archive", "Import archives of competition folders."),
    ("mle-bench", "mle_bench:mle_bench",
     "Import competitions from MLE-bench's prepared data; none of its code is run."),
    ("mle-dojo", "mle_bench:mle_dojo",
     "Import competitions from MLE-Dojo's prepared data and its leaderboards."),
)  # fmt: skip
RESULTS = (
    ("grading-report", "results:import_grading_report",
     "Import a grading report of MLE-bench into an experiment, which is made if it is new."),
    ("run-groups", "results:import_run_groups",
     "Import complete experiments of MLE-bench: each run group becomes a seed."),
    ("submissions", "submissions:import_submissions",
     "Grade a folder of MLE-bench's raw outputs (submission.jsonl, CSV files) and store it."),
    ("mlagentbench-results", "results:import_mlagentbench_results",
     "Import a task's evaluated runs into an experiment; all of them, or none."),
)  # fmt: skip


class ImportCommands(LazyGroup):
    """The commands of `podium import`."""

    package = "app.cli.imports"
    panels: ClassVar = {
        "Competitions": COMPETITIONS,
        "Results": RESULTS,
    }


app = typer.Typer(cls=ImportCommands, help="Import competitions and results.", no_args_is_help=True)
