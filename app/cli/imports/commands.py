"""`podium import`: the commands of the group."""

from __future__ import annotations

import typer

from app.cli.lazy import LazyGroup


class ImportCommands(LazyGroup):
    """The commands of `podium import`."""

    lazy = (
        ("kaggle", "app.cli.imports.kaggle:kaggle",
         "Import competitions with Kaggle's own package, or from another Podium (--from)."),
        ("leaderboard", "app.cli.imports.kaggle:leaderboard",
         "Replace only a competition's human leaderboard; this makes a new version."),
        ("folder", "app.cli.imports.folders:folder",
         "Import competition folders; the folder's name is the slug."),
        ("archive", "app.cli.imports.folders:archive", "Import archives of competition folders."),
        ("mle-bench", "app.cli.imports.mle_bench:mle_bench",
         "Import competitions from MLE-bench's prepared data; none of its code is run."),
        ("mle-dojo", "app.cli.imports.mle_bench:mle_dojo",
         "Import competitions from MLE-Dojo's prepared data and its leaderboards."),
        ("grading-report", "app.cli.imports.results:import_grading_report",
         "Import a grading report of MLE-bench into an experiment, which is made if it is new."),
        ("run-groups", "app.cli.imports.results:import_run_groups",
         "Import complete experiments of MLE-bench: each run group becomes a seed."),
        ("submissions", "app.cli.imports.submissions:import_submissions",
         "Grade a folder of MLE-bench's raw outputs (submission.jsonl, CSV files) and store it."),
        ("mlagentbench-results", "app.cli.imports.results:import_mlagentbench_results",
         "Import a task's evaluated runs into an experiment; all of them, or none."),
    )  # fmt: skip


app = typer.Typer(cls=ImportCommands, help="Import competitions and results.", no_args_is_help=True)
