"""An experiment has one description."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest

from app.errors import Conflict
from app.services.experiments.experiments import NewExperiment, create
from app.services.runtime.context import Context
from app.storage.queries import experiments
from tests.services.conftest import Meanwhile

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
