"""Workers that adopt their environment at the same moment all start."""

from __future__ import annotations

from functools import partial

import pytest

from app.services.runtime.context import Context
from app.services.runtime.environment import agree
from app.storage.queries.operation import environments
from tests.services.conftest import Meanwhile


@pytest.mark.parametrize("database_kind", ["postgresql"])
def test_two_workers_adopt_their_environment_at_once(
    servers: tuple[Context, Context], meanwhile: Meanwhile
) -> None:
    """The second ended with an error: the row was there when it was stored."""
    one, other = servers
    agree(one.database)
    ended = meanwhile(environments, "replace", partial(agree, other.database, adopt=True))
    agree(one.database, adopt=True)
    ended()
    agree(one.database)
