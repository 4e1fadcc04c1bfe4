"""The command `mlebench`."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from mlebench.data import download_and_prepare_dataset
from mlebench.grade import grade_csv, grade_jsonl
from mlebench.podium import PodiumError
from mlebench.registry import registry
from mlebench.utils import get_logger

logger = get_logger(__name__)
REFUSED = ("prepare", "dev")


def main() -> None:
    """Run the command. It ends with status 1 and one sentence if Podium did not grade."""
    try:
        arguments, unknown = _parser().parse_known_args()
        if unknown and arguments.command not in REFUSED:
            _parser().parse_args()  # ends with a message about the unknown arguments
        _run(arguments)
    except (PodiumError, ValueError, OSError) as error:
        sys.exit(f"mlebench: {error}")


def _run(arguments: argparse.Namespace) -> None:
    if arguments.command == "grade-sample":
        chosen = registry
        if arguments.data_dir:
            chosen = registry.set_data_dir(Path(arguments.data_dir))
        competition = chosen.get_competition(arguments.competition_id)
        report = grade_csv(Path(arguments.submission), competition)
        logger.info("Competition report:")
        logger.info(json.dumps(report.to_dict(), indent=4))
    elif arguments.command == "grade":
        grade_jsonl(Path(arguments.submission), Path(arguments.output_dir))
    elif arguments.command == "prepare":
        download_and_prepare_dataset()
    else:
        raise PodiumError("podium-mlebench has no `dev`: `podium check` tries competitions out.")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="mlebench", description="Grade submissions of MLE-bench's competitions on a Podium."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    sample = commands.add_parser("grade-sample", help="grade one file; report on standard error")
    sample.add_argument("submission", help="the CSV file; None for the medal lines")
    sample.add_argument("competition_id")
    sample.add_argument("--data-dir", help="the directory of public files")
    many = commands.add_parser("grade", help="grade the files that a JSONL file lists")
    many.add_argument("--submission", required=True, help="the JSONL file")
    many.add_argument("--output-dir", required=True, help="where the report is written")
    many.add_argument("--data-dir", help="the directory of public files")
    for name in REFUSED:
        commands.add_parser(name, help="refused: Podium does this on its own machine")
    return parser
