"""A score does not depend on which processor happened to grade."""

WIDE = """
from numpy._core._multiarray_umath import __cpu_features__

def score(answers, submission):
    wide = ("X86_V4", "AVX512_ICL", "AVX512_SPR")
    return float(sum(__cpu_features__.get(name, False) for name in wide))
"""


def test_graders_calculate_with_the_code_that_all_processors_have(pool, with_metric):
    outcome = pool.grade(*with_metric(WIDE)).result(60)
    assert outcome.score == 0.0
