"""An experiment has one description, and a name that looks like no other."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest

from app.errors import Conflict, Invalid
from app.services.experiments.experiments import (
    LONGEST_NAME,
    NewExperiment,
    create,
    refuse_confusing_name,
)
from app.services.runtime.context import Context
from app.storage.queries import experiments
from tests.services.conftest import Meanwhile
from tests.storage.make import make_experiment

NEW = NewExperiment("new", "aide", "m", "", None)


@pytest.mark.parametrize("database_kind", ["postgresql"])
@pytest.mark.parametrize("model", ["m", "another"])
def test_an_experiment_that_two_servers_make_at_once_is_one(
    servers: tuple[Context, Context], meanwhile: Meanwhile, model: str
) -> None:
    """The second was an internal error: the name was there when it was stored."""
    one, other = servers
    ended = meanwhile(experiments, "add", partial(create, other, replace(NEW, model=model)))
    made, is_new = create(one, NEW)
    assert is_new
    if model == NEW.model:
        assert ended() == (made, False)
    else:
        with pytest.raises(Conflict, match="other model"):
            ended()


def test_a_stored_experiment_may_be_sent_again_whatever_names_were_allowed(
    context: Context,
) -> None:
    old = replace(NEW, name="old", agent="a  b")
    record = make_experiment("old", agent=old.agent)
    context.database.write(lambda session: experiments.add(session, record))

    assert create(context, old)[1] is False
    with pytest.raises(Invalid, match="agent: it has two blanks"):
        create(context, replace(old, name="new"))


@pytest.mark.parametrize(
    "name",
    ["a", "agent 1", "voil\u00e0", "\u6a21\u578b", "...", "a, b", "n" * LONGEST_NAME, "\U0001f6b2"],
)
def test_a_name_of_an_experiment_is_a_text_of_one_line(name: str) -> None:
    refuse_confusing_name(name)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        (".", "means a folder"), ("..", "means a folder"), ("a/b", "a slash"),
        ("n" * (LONGEST_NAME + 1), "it has 201 characters, and may have 200"),
        ("", "it is empty"), (" a", "begins or ends with a blank"), ("a\n", "begins or ends"),
        ("a\nb", "character U[+]000A"), ("a\u200bb", "character U[+]200B"),
        ("a\u202eb", "character U[+]202E"), ("a\u115fb", "character U[+]115F"),
        ("a\ue000b", "character U[+]E000"), ("a\u00a0b", "the blank U[+]00A0"),
        ("a\u2003b", "the blank U[+]2003"), ("a  b", "two blanks in a row"),
        ("voila\u0300", "the composed form of its letters"),
    ],
)  # fmt: skip
def test_a_name_that_looks_like_another_is_refused(name: str, why: str) -> None:
    with pytest.raises(Invalid, match=f"^name: .*{why}"):
        refuse_confusing_name(name)


def test_an_experiment_has_one_description_and_null_resources_do_not_count(
    context: Context,
) -> None:
    given = replace(NEW, resources={"hours": 24.0, "gpus": None})
    made, _ = create(context, given)
    assert create(context, replace(NEW, resources={"hours": 24.0})) == (made, False)
    for field, value in (("agent", "x"), ("model", "x"), ("notes", "x"), ("resources", None)):
        with pytest.raises(Conflict, match=f"The experiment 'new' exists with other {field}[.]"):
            create(context, replace(given, **{field: value}))
    with pytest.raises(Conflict, match=r"with other agent, notes[.]"):
        create(context, replace(given, agent="x", notes="y"))
    with pytest.raises(Invalid, match="name: a slash"):
        create(context, replace(NEW, name="a/b"))
    with pytest.raises(Invalid, match="model: it is empty"):
        create(context, replace(NEW, name="other", model=" "))
