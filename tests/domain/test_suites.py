import pytest

from app.bundled import bundled
from app.domain.suites import parse_suites
from app.errors import BadCompetition

GOOD = '[suites.small]\ntitle = "Small"\ncompetitions = ["a", "B-2"]\n'


def problems_of(text):
    with pytest.raises(BadCompetition) as caught:
        parse_suites(text)
    assert all(problem["file"] == "suites.toml" for problem in caught.value.problems)
    return [(problem["key"], problem["message"]) for problem in caught.value.problems]


def test_it_reads_suites_in_the_order_of_the_file():
    text = GOOD + '[suites.all]\ntitle = "All"\ncompetitions = ["c", "a"]\n'

    assert parse_suites("\ufeff" + text) == parse_suites(text)
    assert list(parse_suites(text).items()) == [("small", ("a", "B-2")), ("all", ("c", "a"))]


def test_a_file_without_suites_has_none():
    assert parse_suites("") == {}


@pytest.mark.parametrize(
    ("text", "key", "words"),
    [
        ("suites", "", "not TOML"),
        ("suites = 5", "suites", "must be tables"),
        (".".join("k" * 20_000) + " = 1", "", "nested 8 deep"),
        ('name = "x"\n' + GOOD, "name", "unknown key"),
        (GOOD + "weight = 1\n", "suites.small.weight", "unknown key"),
        ("[suites]\nsmall = 5\n", "suites.small", "must be a table"),
        (GOOD.replace("suites.small", "suites.Small"), "suites.Small", "small letters"),
        (GOOD.replace('title = "Small"', ""), "suites.small.title", "required"),
        (GOOD.replace('"Small"', '" "'), "suites.small.title", "required"),
        (GOOD.replace('["a", "B-2"]', "[]"), "suites.small.competitions", "at least one"),
        (GOOD.replace('["a", "B-2"]', '"a"'), "suites.small.competitions", "at least one"),
        (GOOD.replace('"B-2"', '"a b"'), "suites.small.competitions", "'a b' is not a slug"),
        (GOOD.replace('"B-2"', "7"), "suites.small.competitions", "7 is not a slug"),
        (GOOD.replace('"B-2"', '["a"]'), "suites.small.competitions", "['a'] is not a slug"),
        (GOOD.replace('"B-2"', '"a"'), "suites.small.competitions", "names a twice"),
    ],
)
def test_a_mistake_is_told_with_its_key_and_reason(text, key, words):
    ((found, message),) = problems_of(text)

    assert found == key
    assert words in message


def test_all_mistakes_are_told_at_once():
    text = '[suites.A]\n[suites.b]\ntitle = 1\ncompetitions = [""]\n'

    assert len(problems_of(text)) == 3


def test_the_suites_of_mle_bench_that_others_publish_are_here():
    found = parse_suites((bundled("competitions") / "suites.toml").read_text("utf-8"))
    low, everything = set(found["mle-bench-low"]), set(found["mle-bench"])
    assert len(found["mle-bench-30"]) == 30
    assert set(found["mle-bench-30"]) < everything
    assert low - set(found["mle-bench-lite-20"]) == {
        "detecting-insults-in-social-commentary",
        "the-icml-2013-whale-challenge-right-whale-redux",
    }
    assert set(found["mle-bench-lite-20"]) < low
