"""The output of `podium new`: facts of the folder that it made."""

from __future__ import annotations

from collections.abc import Sequence

from app.cli.output import import_command, print_json, print_line, print_note
from app.services.competitions.new_competition import Made, NewCompetitionChoices


def print_made(
    made: Made,
    choices: NewCompetitionChoices,
    problems: Sequence[dict[str, str]],
    ids_note: str,
    *,
    as_json: bool,
) -> None:
    """Print the choices, the leaks and the problems; `ids_note` says why Podium made the ids."""
    if as_json:
        print_json(_document(made, choices, problems))
    else:
        _print(made, choices, ids_note)
    for problem in problems:
        print_note(f"{problem['file']}: {problem['message']}")
    if not problems and not as_json:
        print_line(f"Read description.md and competition.toml, then: {import_command(made.folder)}")


def _document(
    made: Made, choices: NewCompetitionChoices, problems: Sequence[dict[str, str]]
) -> dict[str, object]:
    return {
        "folder": str(made.folder), "data": choices.origin or str(choices.data),
        "target": choices.target, "id": choices.id, "metric": made.target.metric,
        "kind": made.target.kind, "reason": made.target.reason, "split": made.how,
        "train_rows": made.train_rows, "public_rows": made.public_rows,
        "search_rows": made.search_rows, "private_rows": made.private_rows,
        "baseline": made.baseline_score, "leaks": made.leaks,
        "problems": list(problems),
    }  # fmt: skip


def _print(made: Made, choices: NewCompetitionChoices, ids_note: str) -> None:
    print_line(f"{made.folder}: a {made.how} split, seed {choices.seed}")
    if choices.origin:
        print_line(f"  data: {choices.origin}")
    print_line(f"  target: {choices.target}, {made.target.kind}: {made.target.reason}")
    if ids_note:
        print_line(f"  ids: made by Podium: {ids_note} (--id names a column)")
    print_line(f"  metric: {made.target.metric} (--metric chooses another)")
    print_line(
        f"  rows: {made.train_rows} to train on, {made.public_rows} public, "
        + (f"{made.search_rows} to search on, " if made.search_rows else "")
        + f"{made.private_rows} private"
    )
    if made.baseline_score is not None:
        print_line(f"  baseline: {made.baseline_score:.6g} by scikit-learn's defaults")
    for each in made.leaks:
        print_note(f"  leak: {each}")
