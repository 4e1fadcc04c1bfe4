"""Files that Kaggle's clients uploaded and have not submitted yet."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from app.errors import BadRequest, DamagedFile
from app.services.runtime.context import Context
from app.services.submissions import pending_uploads
from app.storage.queries.pending_uploads import PendingUploadRecord
from tests.storage.make import World


def upload(context: Context, here: World, nonce: str) -> PendingUploadRecord:
    file = context.blobs.new_upload()
    file.write(nonce.encode())
    until = datetime.now(UTC) + timedelta(hours=1)
    pending_uploads.add(context, file, nonce, here.run.id, until)
    found = pending_uploads.find(context, nonce, here.run.id)
    assert found is not None
    return found


def test_a_file_whose_place_later_ones_took_is_refused_in_words(
    context: Context, here: World
) -> None:
    """An agent that submits many files at once, each after it was uploaded, got 500."""
    first = upload(context, here, "first")
    others = [upload(context, here, f"{number}") for number in range(4)]

    with pytest.raises(BadRequest, match="no file for this token"):
        pending_uploads.promote(context, first)
    assert pending_uploads.promote(context, others[0]).sha256 == others[0].sha256


def test_a_file_that_the_store_lost_is_podiums_fault(context: Context, here: World) -> None:
    lost = upload(context, here, "lost")
    context.blobs.discard(lost.name)

    with pytest.raises(DamagedFile):
        pending_uploads.promote(context, lost)
