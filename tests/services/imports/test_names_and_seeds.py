"""An import makes no experiment that has no address."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from app.errors import Invalid
from app.services.runtime.context import Context
from app.storage.queries import experiments
from tests.services.imports.test_at_once import LEAF, import_raw, import_report, import_runs
from tests.services.submissions.conftest import readable_version


@pytest.mark.parametrize("name", ["a/b", "..", "a\u200bb"])
@pytest.mark.parametrize("load", [import_report, import_runs, import_raw])
def test_no_import_makes_an_experiment_with_a_name_that_none_can_have(
    context: Context, load: Callable[..., int], name: str
) -> None:
    readable_version(context, LEAF)

    with pytest.raises(Invalid, match="name: "):
        load(context, name)

    with context.database.read() as session:
        assert experiments.get(session, name) is None
