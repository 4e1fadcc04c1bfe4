"""Error pages of browsers say what to do."""

from __future__ import annotations

import pytest

from tests.web.conftest import caller, visitor
from tests.web.dataset import EVIL_NAME, Filled


@pytest.mark.parametrize(
    ("path", "status", "says"),
    [
        ("/experiments/none", 404, "There is no experiment"),
        ("/experiments/%3Cscript%3E", 404, "&lt;script&gt;"),
        ("/experiments/a%2Fb", 404, "archived since"),
        ("/experiments/%00", 404, "no experiment"),
        ("/runs/run_0", 404, "There is no run"),
        ("/runs/RUN!", 422, "Correct the address"),
        ("/submissions/sub_0", 404, "There is no submission"),
        ("/competitions/none", 404, "There is no competition"),
        ("/suites/none", 404, "Suites here: open, tiny"),
        ("/suites/none/items", 404, "Suites here: open, tiny"),
        ("/suites/tiny?padding=x", 422, "padding"),
        ("/?sort=x", 422, "sort"),
        ("/?sorted=name", 422, "did you mean sort?"),
        ("/?page=0", 422, "page"),
        ("/compare?a=none&b=careful-agent", 404, "There is no experiment"),
        ("/compare?a=careful-agent&b=careful-agent", 200, "two different"),
        ("/operations/keys/key_0/revoke", 404, "There is no key"),
        ("/static/other.css", 404, "There is no file"),
        ("/no/such/page", 404, "Not Found"),
    ],
)
def test_an_error_is_a_page_that_says_what_to_do(
    filled: Filled, path: str, status: int, says: str
) -> None:
    answer = visitor(filled.server, filled.admin).get(path)

    assert answer.status_code == status
    assert answer.headers["Content-Type"].startswith("text/html")
    assert says in answer.text


def test_who_is_logged_in_stays_so_on_the_page_of_an_error(filled: Filled) -> None:
    for key in (filled.admin, filled.researcher):
        browser = visitor(filled.server, key)
        for path in ("/experiments/none", "/?page=0", "/operations/imports/imp_0"):
            header = browser.get(path).text.split("</header>")[0]
            assert "Log out</button>" in header
            assert 'href="/login"' not in header
            assert ('href="/operations"' in header) == (key == filled.admin)
    agent = visitor(filled.server)
    agent.headers["Authorization"] = f"Bearer {filled.run}"
    assert "Log out" not in agent.get("/experiments/none").text


def test_programs_still_get_problem_documents(filled: Filled) -> None:
    client = caller(filled.server)

    for path, headers in (
        ("/experiments/none", {}),
        ("/v1/experiments/none", {"Accept": "text/html"}),
    ):
        answer = client.get(path, headers=headers)
        assert answer.headers["Content-Type"] == "application/problem+json"
        assert answer.json()["status"] == 404


def test_the_page_of_a_wrong_method_names_the_others_in_its_header(filled: Filled) -> None:
    answer = visitor(filled.server, filled.admin).put("/login")

    assert answer.status_code == 405
    assert answer.headers["Content-Type"].startswith("text/html")
    assert answer.headers["Allow"] == "GET, HEAD, POST"


def test_an_evil_name_is_read_back_from_its_address(filled: Filled) -> None:
    from urllib.parse import quote

    browser = visitor(filled.server, filled.researcher)
    for part in ("", "/medals-over-time"):
        answer = browser.get(f"/experiments/{quote(EVIL_NAME, safe='')}{part}")
        assert answer.status_code == 200
        assert "&lt;script&gt;alert" in answer.text
    assert browser.get("/", params={"q": EVIL_NAME}).text.count("/experiments/%3Cscript") == 1


def test_an_archived_experiment_stays_reachable_and_leaves_the_list(filled: Filled) -> None:
    admin = caller(filled.server)
    admin.post("/v1/experiments", json={"name": "to-leave-the-list", "agent": "a", "model": "m"})
    browser = visitor(filled.server, filled.researcher)
    address, wanted = "/experiments/to-leave-the-list", {"q": "to-leave-the-list"}
    assert address in browser.get("/", params=wanted).text

    admin.post("/v1/experiments/to-leave-the-list/archive", json={"reason": "a test"})

    assert address not in browser.get("/", params=wanted).text
    assert browser.get(address).status_code == 200
