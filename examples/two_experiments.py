"""Compare two experiments: read results from Podium's HTTP API and plot them.

Run it as a script, or cell by cell in an editor that supports `# %%`:

    PODIUM_URL=http://localhost:7777 PODIUM_KEY=pod_researcher_... \
        .venv/bin/python examples/two_experiments.py first-agent second-agent --suite mle-bench

It needs httpx, pandas and altair (with vl-convert-python for the PNG): `make install-dev`.
"""

# %% Arguments
from __future__ import annotations

import argparse
import io
import os
from pathlib import Path

import altair as alt
import httpx
import pandas as pd

arguments = argparse.ArgumentParser(description="Plot two experiments.")
arguments.add_argument("experiments", nargs=2)
arguments.add_argument("--suite", default="mle-bench")
arguments.add_argument("--padding", default="none", help="none, fail, complete or available")
arguments.add_argument("--output", type=Path, default=Path("two_experiments"))
options = arguments.parse_args()

podium = httpx.Client(
    base_url=os.environ.get("PODIUM_URL", "http://localhost:7777"),
    headers={"Authorization": f"Bearer {os.environ['PODIUM_KEY']}"},
    timeout=60,
)


def get(path: str, accept: str = "application/json", **query: str) -> httpx.Response:
    """GET a result of Podium; exit with Podium's reason if there is an error."""
    answer = podium.get(f"/v1{path}", params=query, headers={"Accept": accept})
    if answer.is_error:
        raise SystemExit(answer.json()["detail"])
    return answer


# %% The rates of both, one row for each group and rate
chosen = {"suite": options.suite, "padding": options.padding}
rates = pd.concat(
    pd.read_csv(
        io.StringIO(
            get(
                f"/experiments/{name}/medal-rates", "text/csv", group_by="complexity", **chosen
            ).text
        )
    )
    for name in options.experiments
)
shown = rates[rates["rate"] == "any_medal"]
print(shown[["experiment", "group", "competitions", "seeds", "mean", "sem"]].to_string(index=False))

# %% The difference and its tests
a, b = options.experiments
found = get("/compare", a=a, b=b, **chosen).json()
low, high = found["ci95"] or (float("nan"), float("nan"))
print(f"\n{a} - {b}: {found['difference']:+.2f} points, 95 % interval {low:+.2f} to {high:+.2f}")
print(f"sign test: {found['sign_test']}; detectable with power 80 %: {found['detectable']}")
for side in (found["a"], found["b"]):
    print(f"{side['experiment']} saw: {side['exposure']}")

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
chart.save(str(options.output.with_suffix(".html")), inline=True)  # opens without a network
chart.save(str(options.output.with_suffix(".png")))
print(f"wrote {options.output.with_suffix('.html')} and {options.output.with_suffix('.png')}")
