"""Every family of metrics at real size, beside the reference way, and a grader's peak memory.

`python -m benchmarks families` measures all of them, `python -m benchmarks families SLUG ...` some.
The reference way is MLE-bench's: pandas reads submission and answers anew for each grading, sorts
both by id, and calls scikit-learn, SciPy or a plain loop. Podium's is a warm grader's: answers are
decoded once, and `grade` does everything from bytes to place. The ways take turns, and their scores
must agree to 1e-9. All data is synthetic, made by a seeded generator in the competition's format.
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from pathlib import Path
from statistics import geometric_mean

from benchmarks.families import boxes, classes, lists, masks, numbers, probabilities, texts
from benchmarks.families.measure import measure, write_files

FAMILIES = (
    *classes.FAMILIES,
    *probabilities.FAMILIES,
    *numbers.FAMILIES,
    *lists.FAMILIES,
    *texts.FAMILIES,
    *masks.FAMILIES,
    *boxes.FAMILIES,
)


def main(*slugs: str) -> None:
    known = {family.slug: family for family in FAMILIES}
    for slug in slugs:
        if slug not in known:
            sys.exit(f"no family is measured at {slug!r}; there are: {', '.join(known)}")
    warnings.simplefilter("ignore")  # the references' libraries warn of what is meant
    print("Families at real size: milliseconds, medians; the ways take turns")
    print(
        f"{'competition':<58}{'rows':>10} {'':<9}{'MB':>8}"
        f"{'reference':>11}{'podium':>10}{'ratio':>8}"
    )
    ratios = []
    for family in [known[slug] for slug in slugs] or FAMILIES:
        with tempfile.TemporaryDirectory(prefix="podium-bench-") as directory:
            place = write_files(family, Path(directory))
            found = measure(family, place)
        ratios.append(found.reference / found.podium)
        print(
            f"{family.slug:<58}{family.rows:>10,} {family.size:<9}{found.megabytes:>8.2f}"
            f"{1000 * found.reference:>11.2f}{1000 * found.podium:>10.2f}{ratios[-1]:>7.1f}x",
            flush=True,
        )
    print(f"{'geometric mean':<106}{geometric_mean(ratios):>7.1f}x")
    print(f"{'least':<106}{min(ratios):>7.1f}x")
