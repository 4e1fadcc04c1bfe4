"""docs/metrics.md says all that a competition's author needs about every metric."""

import re
from pathlib import Path

import pytest

from app.metrics import METRICS

PAGE = Path(__file__).parents[2] / "docs" / "metrics.md"
SECTIONS = dict(
    re.findall(r"^### `(\w+)`\n(.*?)(?=^##|\Z)", PAGE.read_text(encoding="utf-8"), re.M | re.S)
)


def test_the_page_has_a_section_for_each_metric_and_no_other():
    assert sorted(SECTIONS) == sorted(METRICS)


@pytest.mark.parametrize("name", METRICS)
def test_a_section_names_direction_kinds_columns_and_parameters(name):
    metric = METRICS[name]
    facts = dict(re.findall(r"^- (\w+): (.*(?:\n  .*)*)$", SECTIONS[name], re.M))

    assert facts["Direction"] == (
        "higher is better" if metric.higher_is_better else "lower is better"
    )
    assert set(re.findall(r"`(\w+)`", facts["Kinds"])) == metric.kinds
    assert facts["Columns"].startswith("one" if metric.columns == "one" else "one or several")
    assert facts["Formula"]
    assert facts["Source"]
    named = set(re.findall(r"`(\w+)`:", facts.get("Parameters", "")))
    assert named == set(metric.parameters)


@pytest.mark.parametrize("name", [n for n, metric in METRICS.items() if metric.minimum is not None])
def test_a_section_names_the_smallest_value(name):
    assert f"min = {METRICS[name].minimum:g}" in SECTIONS[name]
