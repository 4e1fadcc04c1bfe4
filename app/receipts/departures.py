"""Deviations of an experiment from its signed plan, which was made before its first run."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from app.domain.wording import counted


@dataclass(frozen=True, slots=True)
class FrozenPlan:
    """The plan of an experiment. `selection` is the rule of a run's final submission."""

    suite: str | None
    competitions: tuple[str, ...]
    seeds: tuple[int, ...]
    policy: str
    selection: str
    padding: str
    limits: dict[str, Any]
    agent: str
    model: str
    resources: dict[str, Any] | None

    def document(self) -> dict[str, Any]:
        """The plan in a receipt."""
        return {
            "suite": suite_document(self.suite, self.competitions),
            "seeds": list(self.seeds),
            "runs": len(self.competitions) * len(self.seeds),
            "policy": self.policy,
            "selection": self.selection,
            "padding": self.padding,
            "limits": self.limits,
            "agent": self.agent,
            "model": self.model,
            "resources": self.resources,
        }


@dataclass(frozen=True, slots=True)
class RunMade:
    """The properties of a run at its creation, for the comparison with the plan.

    The policy and the limits of an imported run are not known.
    """

    id: str
    competition: str
    seed: int
    policy: str
    limits: dict[str, Any]
    is_selected: bool
    is_graded: bool
    is_archived: bool
    created_at: datetime
    is_excluded: bool = False
    is_imported: bool = False


def plan_of(predicate: dict[str, Any]) -> FrozenPlan:
    """The plan in the predicate of a freeze's receipt."""
    plan = predicate["plan"]
    names = ("policy", "selection", "padding", "limits", "agent", "model", "resources")
    suite = plan["suite"]
    return FrozenPlan(
        suite=suite["name"],
        competitions=tuple(suite["competitions"]),
        seeds=tuple(plan["seeds"]),
        **{name: plan[name] for name in names},
    )


def suite_document(name: str | None, slugs: Iterable[str]) -> dict[str, Any]:
    """A suite in a receipt: its competitions, and a digest of their names."""
    chosen = sorted(set(slugs))
    return {"name": name, "competitions": chosen, "sha256": suite_digest(chosen)}


def suite_digest(slugs: Sequence[str]) -> str:
    """The SHA-256 of the names of a suite's competitions, sorted, a line for each."""
    return hashlib.sha256("".join(f"{slug}\n" for slug in sorted(slugs)).encode()).hexdigest()


def departures(
    plan: FrozenPlan,
    runs: Sequence[RunMade],
    *,
    frozen_at: datetime,
    present: FrozenPlan,
    imported: int,
    archived: Collection[str],
) -> list[dict[str, str]]:
    """All departures from the plan, as code and text.

    `present` has the present state of the experiment and its suite, and the padding of the receipt.
    `imported` is the number of imported results and runs; `archived` has the planned competitions
    that are archived.
    """
    found = [(code, text) for run in runs for code, text in _of_run(plan, run, frozen_at)]
    made = {(run.competition, run.seed) for run in runs}
    found += [
        ("missing_run", f"{slug}, seed {seed}: planned, and there is no run")
        for slug in plan.competitions
        for seed in plan.seeds
        if (slug, seed) not in made
    ]
    found += [
        ("archived_competition", f"{slug}: the competition was archived, so rates leave it out")
        for slug in sorted(archived)
    ]
    for name in ("agent", "model", "resources"):
        before, after = getattr(plan, name), getattr(present, name)
        if before != after:
            found.append((f"{name}_amended", f"{name}: planned {before}, now {after}"))
    if plan.suite is not None and set(plan.competitions) != set(present.competitions):
        found.append(("suite_changed", f"the suite {plan.suite} has other competitions now"))
    if plan.padding != present.padding:
        found.append(("padding", f"padding: planned {plan.padding}, asked for {present.padding}"))
    if imported:
        were = "was" if imported == 1 else "were"
        found.append(("imported", f"{counted(imported, 'result')} {were} imported"))
    return [{"code": code, "text": text} for code, text in found]


def _of_run(plan: FrozenPlan, run: RunMade, frozen_at: datetime) -> Iterable[tuple[str, str]]:
    where = f"{run.competition}, seed {run.seed} ({run.id})"
    if run.competition not in plan.competitions:
        yield "competition", f"{where}: the competition was not planned"
    if run.seed not in plan.seeds:
        yield "seed", f"{where}: the seed was not planned"
    if run.policy != plan.policy and not run.is_imported:
        yield "policy", f"{where}: planned the policy {plan.policy}, made with {run.policy}"
    if run.limits != plan.limits and not run.is_imported:
        yield "limits", f"{where}: planned the limits {plan.limits}, made with {run.limits}"
    # A selected file is final even if it is not valid; without a selected one, only a valid file
    # is.
    has_final = run.is_selected or run.is_graded
    if has_final and run.is_selected != (plan.selection == "selected"):
        chosen = "was selected" if run.is_selected else "is the last valid one"
        yield "selection", f"{where}: its final submission {chosen}; planned: {plan.selection}"
    if run.is_archived:
        yield "archived", f"{where}: it was archived, so rates leave it out"
    if run.is_excluded:
        yield "excluded", f"{where}: a review excludes it, so rates leave it out"
    if run.created_at < frozen_at:
        yield "early_run", f"{where}: it was made before the freeze"
