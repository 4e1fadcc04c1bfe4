"""What captions say where little is known."""

from __future__ import annotations

from datetime import UTC, datetime

from app.domain.competition import parse_competition
from app.domain.read_leaderboard import leaderboard_of
from app.domain.states import CompetitionStatus
from app.pictures.kinds import cost_picture, leaderboard_picture
from app.services.runtime.catalogue import CatalogueEntry
from app.storage.database.records import VersionRecord
from tests.services.submissions.test_run_events import TOML

BOARD = '[leaderboard]\nsource = "a site"\n'


def entry(more: str) -> CatalogueEntry:
    """A competition whose leaderboard is declared as the TOML says, without a file of it."""
    toml = TOML + BOARD + more
    competition = parse_competition("bikes", toml)
    version = VersionRecord(
        id=1,
        slug="bikes",
        number=1,
        content_hash="",
        status=CompetitionStatus.READY,
        title="Bikes",
        document={},
        toml=toml,
        leaderboard=None,
        lint=[],
        rows=2,
        imported_at=datetime.now(UTC),
    )
    return CatalogueEntry(version, competition, leaderboard_of(competition, None), None)


def test_the_number_of_teams_is_not_zero_where_it_is_not_known() -> None:
    assert leaderboard_picture(entry(""), []).caption.startswith("teams not known; 0 attempts")
    assert leaderboard_picture(entry("teams = 1\n"), []).caption.startswith("1 team; 0 attempts")


def test_experiments_that_cost_nothing_are_not_on_a_logarithmic_axis() -> None:
    assert cost_picture([]).caption.startswith("0 experiments with a reported cost above 0 and a")
