"""The demo's output: the medal, the medal lines, the rejected file, and further commands."""

from __future__ import annotations

from typing import Any

from rich.table import Table

from app.cli.output import out
from app.domain.medals import MedalRule, medal_places


def show(result: dict[str, Any], flags: list[dict[str, str]]) -> None:
    """Print the agent's result as a table, and its broken file's violations."""
    competition, submission = result["competition"], result["submission"]
    valid = "valid" if result["verdict"]["valid"] else "not valid"
    out.print(
        f"It trained on {result['rows']:,} public hours of {competition['title']}; "
        f"its file was checked ({valid}), submitted and {submission['state']}."
    )
    grade, medals = submission["grade"], competition["medals"]
    table = Table(title=f"{competition['title']}, version {grade['competition_version']}")
    table.add_column("")
    table.add_column(competition["metric"]["name"], justify="right")
    table.add_column("place", justify="right")
    places = medal_places(medals["teams"], MedalRule(medals["rule"]))
    rows = [
        ("[yellow]gold[/yellow]", medals["gold"], str(places.gold)),
        ("[white]silver[/white]", medals["silver"], str(places.silver)),
        ("[dark_orange3]bronze[/dark_orange3]", medals["bronze"], str(places.bronze)),
        ("median", medals["median"], f"of {medals['teams']:,} teams"),
    ]
    rows.append(("[bold]the agent[/bold]", grade["score"], f"[bold]{_place(grade, medals)}[/bold]"))
    better_first = 1 if not competition["metric"]["higher_is_better"] else -1
    for name, score, place in sorted(rows, key=lambda row: better_first * row[1]):
        table.add_row(name, f"{score:.5f}", place)
    out.print(table)
    out.print(f"Medal: [bold]{grade['medal'] or 'none'}[/bold]", highlight=False)
    for flag in flags:
        out.print(f"Flag {flag['code']}: {flag['note']}", highlight=False)
    _show_rejection(result["refused"])


def show_next_steps(url: str, key: str, run: dict[str, Any]) -> None:
    """Print addresses, keys and a command to try."""
    out.print()
    out.print(f"API          {url}/docs", highlight=False)
    out.print(f"Readiness    {url}/readyz", highlight=False)
    out.print(f"Admin key    {key}", highlight=False)
    out.print(f"Run's key    {run['key']}", highlight=False)
    out.print("Try it from another terminal:")
    out.print(
        f"curl -s -H 'Authorization: Bearer {run['key']}' {url}/v1/runs/{run['id']}/submissions",
        highlight=False,
        soft_wrap=True,
    )
    out.print("Ctrl-C stops the server and removes its data.")


def _place(grade: dict[str, Any], medals: dict[str, Any]) -> str:
    """The place: exact if all scores are known, otherwise from the medal lines."""
    if grade["better"] is not None:
        return str(grade["better"] + 1)
    places = medal_places(medals["teams"], MedalRule(medals["rule"]))
    if grade["medal"] is not None:
        return f"{getattr(places, grade['medal'])} or better"
    return f"below {places.bronze}"


def _show_rejection(rejected: dict[str, Any]) -> None:
    problem = rejected["problem"]
    out.print()
    out.print(f"A broken copy of the file is {rejected['state']}, with all its mistakes:")
    table = Table("violation", "row", "message")
    for violation in problem["violations"]:
        table.add_row(violation["code"], str(violation.get("row") or ""), violation["message"])
    out.print(table)
