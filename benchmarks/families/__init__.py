"""Every family of metrics at real size, beside the reference way, and a grader's peak memory.

`python -m benchmarks families` measures all of them, `python -m benchmarks families SLUG ...` some.
The reference way is MLE-bench's: pandas reads submission and answers anew for each grading, sorts
both by id, and calls scikit-learn, SciPy or a plain loop. Podium's is a warm grader's: answers are
decoded once, and `grade` does everything from bytes to place. The ways take turns, and their scores
must agree to 1e-9. `of CPU` is the same ratio of CPU time, which a busy machine disturbs less.

The reference way is written anew here, and is leaner than the original. `families --mle-bench DIR`
runs the original itself, from a checkout, and falls back to ours, with a star and the reason, where
the original fails on the installed pandas.

`peak` is the most that a real grader process takes in a grading, beyond what it took before its
first; `allowed` is three times the file, and the decoded answers. Only root may watch a grader, so
for another user both are missing. All data is synthetic, made by a seeded generator in the
competition's format.
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from statistics import geometric_mean

from benchmarks.families import boxes, classes, lists, masks, numbers, probabilities, texts
from benchmarks.families.family import Family
from benchmarks.families.measure import Place, measure, ways, write_files
from benchmarks.families.peak import MEGABYTE, peak_memory
from benchmarks.families.peer import peers_way

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
    checkout = None
    if slugs[:1] == ("--mle-bench",):
        if len(slugs) < 2:
            sys.exit("--mle-bench needs the directory of a checkout")
        checkout, slugs = Path(slugs[1]).resolve(), slugs[2:]
    known = {family.slug: family for family in FAMILIES}
    for slug in slugs:
        if slug not in known:
            sys.exit(f"no family is measured at {slug!r}; there are: {', '.join(known)}")
    warnings.simplefilter("ignore")  # libraries of the references warn of intended uses
    print("Families at real size: milliseconds, medians; the ways take turns. Memory: megabytes")
    print(
        f"{'competition':<58}{'rows':>10} {'':<9}{'MB':>7}{'reference':>11}{'podium':>10}"
        f"{'ratio':>8}{'of CPU':>8}{'peak':>8}{'allowed':>8}"
    )
    ratios, cpu_ratios = [], []
    for family in [known[slug] for slug in slugs] or FAMILIES:
        with tempfile.TemporaryDirectory(prefix="podium-bench-") as directory:
            place = write_files(family, Path(directory))
            peak = peak_memory(place)
            reference, podium, why_ours = _ways(family, place, checkout)
            found = measure(family.slug, reference, podium)
            megabytes = place.submission.stat().st_size / MEGABYTE
        memory = f"{peak.taken:>8.1f}{peak.allowed:>8.1f}" if peak else f"{'-':>8}{'-':>8}"
        ratios.append(found.reference / found.podium)
        cpu_ratios.append(found.cpu_ratio)
        print(
            f"{family.slug:<58}{family.rows:>10,} {family.size:<9}{megabytes:>7.2f}"
            f"{1000 * found.reference:>11.2f}{1000 * found.podium:>10.2f}"
            f"{ratios[-1]:>7.1f}x{cpu_ratios[-1]:>7.1f}x{memory}"
            f"{why_ours}",
            flush=True,
        )
    for name, of in (("geometric mean", geometric_mean), ("least", min)):
        print(f"{name:<106}{of(ratios):>7.1f}x{of(cpu_ratios):>7.1f}x")


def _ways(
    family: Family, place: Place, checkout: Path | None
) -> tuple[Callable[[], float], Callable[[], float], str]:
    """The reference way, Podium's, and why the reference is not the original, if one is given."""
    ours, podium = ways(family, place)
    if checkout is None:
        return ours, podium, ""
    try:
        original = peers_way(checkout, family.slug, place)
    except (FileNotFoundError, ImportError, ValueError) as error:
        sys.exit(f"{checkout} cannot be measured: {error}")
    try:
        original()
    except Exception as error:
        return ours, podium, f"  * ours: {type(error).__name__}: {error}"
    return original, podium, ""
