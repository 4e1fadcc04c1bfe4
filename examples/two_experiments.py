"""Two experiments side by side, from Podium's HTTP API to a picture.

A notebook as a script: run it whole, or cell by cell in an editor that knows `# %%`.

    PODIUM_URL=http://localhost:7777 PODIUM_KEY=pod_researcher_... \
        python examples/two_experiments.py first-agent second-agent --suite mle-bench

It needs httpx, pandas and altair (with vl-convert-python for the PNG): `make install-dev`.
"""

# %% What to compare
from __future__ import annotations

import argparse
import io
import os
from pathlib import Path

import altair as alt
import httpx
import pandas as pd

arguments = argparse.ArgumentParser(description="Draw two experiments side by side.")
arguments.add_argument("experiments", nargs=2)
arguments.add_argument("--suite", default="mle-bench")
arguments.add_argument("--padding", default="none", help="none, fail or complete")
arguments.add_argument("--output", type=Path, default=Path("two_experiments"))
asked = arguments.parse_args()

podium = httpx.Client(
    base_url=os.environ.get("PODIUM_URL", "http://localhost:7777"),
    headers={"Authorization": f"Bearer {os.environ['PODIUM_KEY']}"},
    timeout=60,
)


def get(path: str, accept: str = "application/json", **query: str) -> httpx.Response:
    """Ask Podium; say its reason when it refuses."""
    answer = podium.get(f"/v1{path}", params=query, headers={"Accept": accept})
    if answer.is_error:
        raise SystemExit(answer.json()["detail"])
    return answer


# %% The rates of both, one row for each group and rate
scope = {"suite": asked.suite, "padding": asked.padding}
rates = pd.concat(
    pd.read_csv(
        io.StringIO(
            get(f"/experiments/{name}/medal-rates", "text/csv", group_by="complexity", **scope).text
        )
    )
    for name in asked.experiments
)
shown = rates[rates["rate"] == "any_medal"]
print(shown[["experiment", "group", "competitions", "seeds", "mean", "sem"]].to_string(index=False))

# %% What the difference is worth
a, b = asked.experiments
found = get("/compare", a=a, b=b, **scope).json()
low, high = found["ci95"] or (float("nan"), float("nan"))
print(f"\n{a} - {b}: {found['difference']:+.2f} points, 95 % interval {low:+.2f} to {high:+.2f}")
print(f"sign test: {found['sign_test']}; detectable with power 80 %: {found['detectable']}")
for side in (found["a"], found["b"]):
    print(f"{side['experiment']} was told: {side['exposure']}")

# %% The picture: bars with the bootstrap interval over competitions
base = alt.Chart(shown).encode(
    x=alt.X("experiment:N", title=None),
    color=alt.Color("experiment:N", legend=None),
)
bars = base.mark_bar().encode(y=alt.Y("mean:Q", title="any medal (%)"))
whiskers = base.mark_rule(strokeWidth=2, color="black").encode(
    y="bootstrap95_low:Q", y2="bootstrap95_high:Q", color=alt.value("black")
)
chart = alt.layer(bars, whiskers, data=shown).properties(width=120, height=260)
chart = chart.facet(column=alt.Column("group:N", sort=["all", "low", "medium", "high"], title=None))
chart.save(str(asked.output.with_suffix(".html")), inline=True)  # needs no network to be read
chart.save(str(asked.output.with_suffix(".png")))
print(f"wrote {asked.output.with_suffix('.html')} and {asked.output.with_suffix('.png')}")
