"""An experiment has one description."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest

from app.errors import Conflict, Invalid
from app.services.experiments.experiments import NewExperiment, create
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
