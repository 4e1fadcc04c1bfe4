"""What each statistic answers for experiments at the limits of what can be said."""

from __future__ import annotations

# The kinds of experiments, in the order of the letters below.
KINDS = (
    "nothing", "one run", "no submission", "an open run", "one seed", "all medals", "no medal",
    "one competition",
)  # fmt: skip
ANSWERED = (200, "")
PROBLEMS = {
    ".": ANSWERED,
    "n": (409, "no-results"),
    "m": (409, "attempts-missing"),
    "o": (409, "no-common-competition"),
    "c": (409, "conflict"),
    "b": (409, "baselines-missing"),
    "i": (422, "invalid"),
}
# An address with the experiment and another one, and a letter for each kind of the experiment.
ANSWERS = {
    "/v1/experiments/{own}/medal-rates?padding=none": "n..m....",
    "/v1/experiments/{own}/medal-rates?padding=fail": "n.......",
    "/v1/experiments/{own}/medal-rates?padding=complete": "n..m....",
    "/v1/experiments/{own}/medal-rates?padding=available": "n..m....",
    "/v1/experiments/{own}/medal-rates?group_by=complexity&padding=fail": "n.......",
    "/v1/experiments/{own}/medal-rates?suite=mle-bench-low&padding=fail": "nnnn....",
    "/v1/experiments/{own}/pass-at-k?k=1&padding=fail": "n.......",
    "/v1/experiments/{own}/pass-at-k?k=1,9&padding=fail": "niiiiiii",
    "/v1/experiments/{own}/pass-at-k?k=0&padding=fail": "niiiiiii",
    "/v1/experiments/{own}/scores?padding=none": "n..mmmm.",
    "/v1/experiments/{own}/scores?padding=fail": "n.......",
    "/v1/experiments/{own}/scores?padding=complete": "n..mmmm.",
    "/v1/experiments/{own}/scores?padding=available": "n..mmmm.",
    "/v1/experiments/{own}/scores?against={other}&padding=fail": "noonooo.",
    "/v1/experiments/{own}/sensitivity?padding=fail": "n.......",
    "/v1/experiments/{own}/selection?padding=fail": "n.cccccc",
    "/v1/experiments/{own}/medals-over-time?padding=none": "n..mmmmm",
    "/v1/experiments/{own}/medals-over-time?padding=fail": "n.......",
    "/v1/experiments/{own}/medals-over-time?padding=complete": "n..mmmmm",
    "/v1/experiments/{own}/medals-over-time?padding=available": "n..mmmmm",
    "/v1/experiments/{own}/medals-over-time?axis=dollars&at=0&padding=fail": "ncc.....",
    "/v1/experiments/{own}/success-rates?padding=fail": "cbb.bbbb",
    "/v1/experiments/{own}/outcomes": "........",
    "/v1/experiments/{own}/uncertainty": "........",
    "/v1/compare?a={own}&b={other}&padding=fail": "noonooo.",
    "/v1/compare?experiments={own},{other}&padding=fail": "noonooo.",
    "/v1/medal-rates?experiments={own}&padding=fail": "........",
    "/v1/medal-rates?experiments={own},{other}&suite=mle-bench-low&padding=fail": "........",
    "/v1/plan?experiments={own},{other}&padding=fail": "noonoooi",
    "/v1/suites/mle-bench-low/items?experiments={own}&padding=fail": "........",
    "/v1/suites/mle-bench-low/items?experiments={own},{other}&padding=fail": "........",
}


def beside(kind: str) -> str:
    """The kind of the other experiment."""
    return KINDS[(KINDS.index(kind) + 5) % len(KINDS)]


def expected(address: str, kind: str, other: str) -> tuple[int, str]:
    """The status, and the name of the problem if it is one."""
    if "{other}" in address and (kind, other) == ("no medal", "all medals"):
        return ANSWERED  # at the same competitions
    assert other == beside(kind) or "{other}" not in address or kind == "one run"
    return PROBLEMS[ANSWERS[address][KINDS.index(kind)]]
