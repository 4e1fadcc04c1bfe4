import pytest

from app import errors
from app.errors import BadCompetition, PodiumError, QuotaExceeded, Unauthorized, Unavailable

CLASSES = [
    value
    for value in vars(errors).values()
    if isinstance(value, type) and issubclass(value, PodiumError)
]


@pytest.mark.parametrize("error", CLASSES)
def test_every_error_has_a_status_and_a_title_for_people(error):
    assert 400 <= error.status < 600
    assert error.__doc__
    assert error.title()[0].isupper()
    assert not error.title().endswith(".")


def test_no_two_errors_share_an_address():
    assert len({error.slug() for error in CLASSES}) == len(CLASSES)


def test_an_error_without_detail_says_its_title():
    assert errors.RunClosed().detail == "The run is closed and accepts no more submissions"


def test_what_else_is_known_becomes_an_extension():
    error = errors.Conflict("taken", existing="sub_1")

    assert (str(error), error.extensions) == ("taken", {"existing": "sub_1"})


def test_unauthorized_tells_how_to_identify():
    assert Unauthorized().headers["WWW-Authenticate"].startswith("Bearer")


def test_a_quota_tells_when_to_come_back_in_at_least_one_second():
    assert QuotaExceeded("enough", retry_after=30).headers == {"Retry-After": "30"}
    assert QuotaExceeded("enough", retry_after=0).headers == {"Retry-After": "1"}


def test_unavailable_tells_when_to_come_back():
    assert Unavailable().headers == {"Retry-After": "2"}


def test_a_bad_competition_names_file_key_and_message_of_each_problem():
    problems = [
        {"file": "competition.toml", "key": "version", "message": "wrong"},
        {"file": "metric.py", "key": "", "message": "worse"},
    ]

    error = BadCompetition(problems)

    assert str(error) == "competition.toml: version: wrong; metric.py: worse"
    assert error.problems == error.extensions["problems"] == problems
