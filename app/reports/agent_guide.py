"""The contract of the HTTP API in prose, for an agent that reads it before it works."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from app.domain.columns import Column
from app.domain.competition import Competition
from app.domain.feedback import Feedback
from app.domain.wording import counted, first_few
from app.services.competitions.queries import SAMPLE
from app.services.submissions.quotas import Quota
from app.storage.database.records import RunRecord

HEADER = """---
name: podium
description: Send predictions of a machine-learning competition to Podium, which grades them.
---
# Podium

Podium grades submissions to machine-learning competitions. You get a task and public files, train
a model, and send predictions as a CSV file. Podium compares them with private answers.
"""
DISCLOSED = {
    Feedback.NONE: "Podium says only that the file arrived (`received`). It does not say whether "
    "the file is valid, and shows no score. Check the form with `validate` before you send a file.",
    Feedback.VALIDITY: "Podium says whether the file is valid (`graded`) or not (`rejected`, with "
    "`problem.violations`). It shows no score.",
    Feedback.SEARCH: "Podium says whether the file is valid, and shows `grade.search_score`: the "
    "score on the search rows. Place and medal depend on other rows, and no score on them is "
    "shown.",
    Feedback.PUBLIC: "Podium says whether the file is valid, and shows `grade.public_score`: the "
    "score on the public rows. Place and medal depend on the private rows, and no score on them "
    "is shown.",
    Feedback.FULL: "Podium says whether the file is valid, and shows its scores, its place among "
    "human teams, and its medal.",
}
RULES = """
## Rules of the protocol
- Send the header `Authorization: Bearer $PODIUM_KEY` with every request. Never write the key to a
  file that you send, or to a log.
- Errors are JSON with `title` and `detail`. `detail` says what is wrong and what to do.
- 401: the key is not valid. Stop.
- 403 or 404: your key has no access to this. Do not repeat the request.
- 409: the run is closed, or you sent this `Idempotency-Key` before with another file. `detail` says
  which.
- 422, or a submission that is `rejected`: correct the file.
- 429 or 503: wait for the number of seconds in the header `Retry-After`, then send the same request
  again. Stop if `detail` says that waiting does not help.
- `queued` or `grading`: there is no outcome yet. List your submissions again after some seconds.
- `failed`: Podium could not grade the file. This is not your fault, and it uses up no submission. A
  run may have only a limited number of such files, so do not send a file again that failed.
- Send each file with its own `Idempotency-Key`. If an answer is lost, send the same request again:
  Podium then returns the same submission and stores no second one.
"""
COMMANDS = """
## Commands
```sh
export PODIUM_URL={url}{variables}
H="Authorization: Bearer $PODIUM_KEY"
# the task, and public files
curl -s "$PODIUM_URL/v1/competitions/{slug}/description" -H "$H"
curl -s "$PODIUM_URL/v1/competitions/{slug}/files" -H "$H"
{fetch}{send}```
"""
SEND = """\
curl -s "$PODIUM_URL/v1/competitions/{slug}/sample-submission" -H "$H" -o sample_submission.csv
# check the form of a file; nothing is submitted
curl -s "$PODIUM_URL/v1/runs/{run}/validate" -H "$H" -H 'Content-Type: text/csv' \\
     --data-binary @submission.csv
# submit it, and wait up to 60 seconds for the answer
curl -s "$PODIUM_URL/v1/runs/{run}/submissions" -H "$H" -H 'Content-Type: text/csv' \\
     -H 'Prefer: wait=60' -H "Idempotency-Key: $(sha256sum submission.csv | cut -d' ' -f1)" \\
     --data-binary @submission.csv
# your submissions; the last valid one is final
curl -s "$PODIUM_URL/v1/runs/{run}/submissions" -H "$H"
# select another one as the final one
curl -s -X PUT "$PODIUM_URL/v1/runs/{run}/selected" -H "$H" \\
     -H 'Content-Type: application/json' -d '{{"submission": "sub_..."}}'
"""
GRADE = """
## Grade a file as a harness
Your key is that of a harness. It grades files of the experiment {experiment}. Do not give it to an
agent.
```sh
export PODIUM_URL={url}
curl -s "$PODIUM_URL/v1/competitions/SLUG/grade?seed=0&attempt=1&format=mle-bench" \\
     -H "Authorization: Bearer $PODIUM_KEY" -H 'Content-Type: text/csv' \\
     --data-binary @submission.csv
```
If you send the same request again, it is the same attempt. `valid_submission` is false if the file
is not valid. A 5xx answer means that Podium or the competition failed. It is not a score. `GET` of
the same address without its parameters returns the medal lines.
"""
GENERAL = """
Request this page with your key (`Authorization: Bearer $PODIUM_KEY`) to see your competition, the
format of its file, and how many submissions you may still send.
"""


@dataclass(frozen=True, slots=True)
class RunGuide:
    """A run and its competition, with what the run's key may know of both."""

    run: RunRecord
    competition: Competition
    rows: int | None
    files: tuple[str, ...]
    quota: Quota


def guide_for_anyone(url: str) -> str:
    """The contract without a run."""
    commands = COMMANDS.format(
        url=url, variables=" PODIUM_RUN=run_... PODIUM_KEY=pod_run_...", slug="SLUG",
        fetch=_fetch("SLUG", "train.csv"), send=SEND.format(slug="SLUG", run="$PODIUM_RUN"),
    )  # fmt: skip
    return HEADER + GENERAL + commands + RULES


def guide_for_harness(url: str, experiment: str) -> str:
    """The contract for the key of a harness."""
    return HEADER + GRADE.format(url=url, experiment=experiment) + RULES


def guide_for_run(url: str, about: RunGuide) -> str:
    """The contract for the key of a run: nothing in it goes beyond the run's policy."""
    run, declared = about.run, about.competition
    slug, others = run.competition, [name for name in about.files if name != SAMPLE]
    fetch = _fetch(slug, others[0]) if others else ""
    send = SEND.format(slug=slug, run=run.id) if declared.submission else ""
    commands = COMMANDS.format(url=url, variables="", slug=slug, fetch=fetch, send=send)
    better = "higher" if declared.metric.higher_is_better else "lower"
    lines = [
        HEADER,
        "## Your run",
        f"- Competition: {run.competition} ({declared.title}).",
        f"- Metric: {declared.metric.name}; {better} is better.",
        f"- Run: {run.id}, {run.state.value}.",
        f"- Policy `{run.feedback.value}`: {DISCLOSED[run.feedback]}",
        *_limits(about),
        "",
        "## The file",
        *_format(about),
    ]
    return "\n".join(lines) + "\n" + commands + RULES


def _fetch(slug: str, file: str) -> str:
    """The command that fetches a public file, also one whose name a shell would read otherwise."""
    path, name = quote(file), file.rsplit("/", 1)[-1]
    url = f"$PODIUM_URL/v1/competitions/{slug}/files/{path}"
    if path == file:
        return f'curl -sO "{url}" -H "$H"\n'
    return f'curl -s "{url}" -H "$H" -o {shlex.quote(name)}\n'


def _limits(about: RunGuide) -> list[str]:
    limits, quota = about.run.limits, about.quota
    lines = []
    if limits.get("submissions_total") is not None:
        lines.append(
            f"- At most {counted(limits['submissions_total'], 'submission')}; used: {quota.total}."
        )
    if limits.get("submissions_per_day") is not None:
        most = limits["submissions_per_day"]
        lines.append(f"- At most {counted(most, 'submission')} in 24 hours; used: {quota.today}.")
    if quota.allowed_now is None:
        lines.append("- The number of submissions is not limited.")
    else:
        lines.append(f"- Submissions that you may send now: {quota.allowed_now}.")
    if limits.get("hours") is not None:
        started = about.run.started_at
        since = f", which was {started.isoformat(timespec='seconds')}" if started else ""
        lines.append(f"- Hours: {limits['hours']:g} from the first request of your key{since}.")
    return lines


def _format(about: RunGuide) -> list[str]:
    form = about.competition.submission
    if form is None:
        return ["This competition takes no files: a harness measures its results."]
    rows = f", {counted(about.rows, 'row')}" if about.rows is not None else ""
    lines = [f"A CSV file in UTF-8 with a header{rows}. Its columns:"]
    lines += [f"- `{name}`: the id, as in the sample submission" for name in form.id]
    lines += [f"- `{name}`: {_kind(column)}" for name, column in form.columns.items()]
    if form.rows_sum_to_one:
        lines.append("The probabilities of a row sum to 1.")
    if form.id:
        lines.append("Ids are those of the sample submission, each in the same number of rows.")
    else:
        lines.append("There is no id column: rows are in the order of the sample submission.")
    return lines


def _kind(column: Column) -> str:
    options: dict[str, Any] = column.model_dump(
        mode="json", exclude_none=True, exclude_defaults=True, exclude={"kind", "aliases"}
    )
    return ", ".join([column.kind, *(f"{name} {_shown(value)}" for name, value in options.items())])


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return first_few([str(one) for one in value], 20, " ")
    return str(value)
