"""Events of a run: a client gets each event once, also after it was disconnected."""

from __future__ import annotations

import random
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from app.domain.feedback import Feedback
from app.domain.states import Role, RunState, SubmissionState
from app.errors import BadRequest, NotFound, Unauthorized
from app.services.new_keys import new_key
from app.services.runtime.catalogue import Catalogue
from app.services.runtime.context import open_context
from app.services.runtime.version_files import VersionFiles
from app.services.submissions import run_events
from app.services.submissions.run_events import EventCursor, RunEvents
from app.settings import Settings
from app.storage.database.records import SettledRecord
from app.storage.queries import keys, runs, submissions
from tests.storage.make import add_run, add_version, claim_built_in, make_submission

TOML = """
title = "Bikes"
version = 1
[metric]
name = "root_mean_squared_error"
[submission]
id = "id"
[submission.columns]
count = { kind = "number" }
"""


class Scene:
    """A run in a real database, with submissions that are added and settled."""

    def __init__(self, a_context, database, feedback=Feedback.VALIDITY):
        self.database = database
        root = a_context.settings.data_dir
        files = VersionFiles(root, database, a_context.blobs, a_context.cache)
        self.context = replace(
            a_context, database=database, catalogue=Catalogue(files, root, database)
        )
        version = database.write(lambda s: add_version(s, "bikes", toml=TOML))
        files.imported_directory(version.slug, version.content_hash).mkdir(parents=True)
        self.record = add_run(database, version, "first", feedback=feedback)
        self.run = self.record.id
        self.stranger = self.new_key(Role.RUN, add_run(database, version, "second").id)
        self.key = self.new_key(Role.RUN, self.run)

    def new_key(self, role, run_id=None):
        key, self.last_key = new_key(role, "a key", run_id=run_id)
        self.database.write(lambda s: keys.add_key(s, self.last_key))
        return key

    def send(self, name):
        made = replace(make_submission(self.record), id=f"sub_{name}")
        self.database.write(lambda s: submissions.add_submissions(s, [made]))

    def settle(self, name, state=SubmissionState.GRADED):
        settled = SettledRecord(
            id=f"sub_{name}", state=state, problem=None, warnings=[], settled_at=datetime.now(UTC)
        )
        self.database.write(lambda s: submissions.settle_all(s, [settled]))

    def close(self):
        self.database.write(lambda s: runs.update_run(s, self.run, state=RunState.CLOSED))

    def follower(self, since="", key=None):
        position = EventCursor.parse(since) if since else EventCursor()
        return RunEvents(self.context, key or self.key, self.run, position)


def events_of(follower):
    """All new events as (submission or "run", state), and the id of the last one."""
    events = []
    while True:
        look = follower.next_page()
        events += look.events
        if look.complete:
            break
    said = [
        (e.submission.submission.id, e.submission.state) if e.submission else ("run", "closed")
        for e in events
    ]
    return said, str(events[-1].position) if events else None, look.finished


@pytest.fixture(scope="module")
def a_context(tmp_path_factory):
    opened = open_context(
        Settings(data_dir=tmp_path_factory.mktemp("podium"), graders=1, outcome_step_seconds=0)
    )
    yield opened
    opened.close()


@pytest.fixture
def scene(a_context, database):
    return Scene(a_context, database)


def test_each_change_is_sent_once(scene):
    follower = scene.follower()
    assert events_of(follower)[0] == []
    scene.send("a")
    assert events_of(follower)[0] == [("sub_a", "queued")]
    assert events_of(follower)[0] == []
    scene.database.write(lambda s: claim_built_in(s, "me", 9, datetime.now(UTC)))
    assert events_of(follower)[0] == [("sub_a", "grading")]
    scene.settle("a")
    scene.send("b")
    assert events_of(follower)[0] == [("sub_a", "graded"), ("sub_b", "queued")]


def test_a_client_that_reconnects_gets_new_changes_and_open_submissions(scene):
    for name in "abc":
        scene.send(name)
    scene.settle("a")
    scene.settle("c", SubmissionState.REJECTED)
    first, since, _ = events_of(scene.follower())
    assert first == [("sub_a", "graded"), ("sub_b", "queued"), ("sub_c", "rejected")]

    scene.settle("b", SubmissionState.FAILED)
    again, since, _ = events_of(scene.follower(since))
    assert again == [("sub_b", "failed"), ("sub_c", "rejected")]
    assert events_of(scene.follower(since)) == ([], None, False)


def test_one_committed_late_under_an_earlier_id_is_not_missed(scene):
    scene.send("b")
    scene.settle("b")
    live = scene.follower()
    _, since, _ = events_of(live)

    scene.send("a")
    assert events_of(live)[0] == [("sub_a", "queued")]
    scene.settle("a")
    assert events_of(live)[0] == [("sub_a", "graded")]
    assert events_of(scene.follower(since))[0] == [("sub_a", "graded"), ("sub_b", "graded")]


def test_the_end_is_sent_once_and_known_as_the_end(scene):
    scene.send("a")
    scene.close()
    follower = scene.follower()
    assert events_of(follower) == ([("sub_a", "queued"), ("run", "closed")], "0..closed", False)
    scene.settle("a")
    said, since, over = events_of(follower)
    assert (said, since, over) == ([("sub_a", "graded")], "1.sub_a.closed", True)
    assert events_of(scene.follower(since)) == ([], None, True)


def test_the_policy_none_shows_that_bytes_arrived_and_nothing_else(a_context, database):
    scene = Scene(a_context, database, Feedback.NONE)
    follower = scene.follower()
    scene.send("a")
    queued = events_of(follower)
    scene.settle("a", SubmissionState.REJECTED)
    assert queued == ([("sub_a", "received")], "1.sub_a.open", False)
    assert events_of(follower)[0] == []
    assert events_of(scene.follower())[:2] == queued[:2]
    researcher = scene.new_key(Role.RESEARCHER)
    assert events_of(scene.follower(key=researcher))[0] == [("sub_a", "rejected")]


def test_an_outcome_that_may_not_be_shown_yet_is_no_event(a_context, database):
    timed = replace(
        a_context, settings=a_context.settings.model_copy(update={"outcome_step_seconds": 1.0})
    )
    scene = Scene(timed, database)
    follower = scene.follower()
    made = replace(make_submission(scene.record), id="sub_a", received_at=datetime.now(UTC))
    database.write(lambda s: submissions.add_submissions(s, [made]))
    database.write(lambda s: claim_built_in(s, "me", 9, datetime.now(UTC)))
    assert events_of(follower)[0] == [("sub_a", "queued")]
    scene.settle("a")
    hidden = follower.next_page()
    assert hidden.events == []
    assert hidden.next_at == made.received_at + timedelta(seconds=1.0)
    researcher = scene.new_key(Role.RESEARCHER)
    assert events_of(scene.follower(key=researcher))[0] == [("sub_a", "graded")]
    time.sleep(max(0.0, (hidden.next_at - datetime.now(UTC)).total_seconds()))
    assert events_of(follower)[0] == [("sub_a", "graded")]
    assert follower.next_page().next_at is None


def test_a_revoked_key_gets_nothing_more(scene):
    follower = scene.follower()
    events_of(follower)
    scene.database.write(lambda s: keys.revoke_key(s, scene.last_key.id, datetime.now(UTC)))
    scene.send("a")
    with pytest.raises(Unauthorized):
        follower.next_page()


def test_another_runs_key_finds_nothing(scene):
    with pytest.raises(NotFound):
        scene.follower(key=scene.stranger).next_page()


@pytest.mark.parametrize("text", ["x", "1.sub_a", "-1.sub_a.open", "1.sub_a.open\n", "1.' OR.open"])
def test_an_id_that_is_not_of_this_stream_is_refused(text):
    with pytest.raises(BadRequest, match="Last-Event-ID"):
        EventCursor.parse(text)


@pytest.mark.parametrize("seed", range(3))
def test_whatever_happens_in_whatever_order_a_client_ends_up_knowing_all(scene, monkeypatch, seed):
    """With random submissions, outcomes and reconnections, the client's states are correct."""
    monkeypatch.setattr(run_events, "PAGE_SIZE", 4)
    monkeypatch.setattr(run_events, "RECHECKED", 3)
    chance = random.Random(seed)
    names = [f"{number:03}" for number in range(40)]
    arriving = sorted(names, key=lambda name: int(name) + chance.uniform(0, 5))
    picture, since, waiting = {}, "", []
    follower = scene.follower()
    while arriving or waiting:
        for _ in range(chance.randint(1, 3)):
            if arriving and (chance.random() < 0.6 or not waiting):
                waiting.append(arriving.pop(0))
                scene.send(waiting[-1])
            elif waiting:
                scene.settle(waiting.pop(chance.randrange(len(waiting))))
        if chance.random() < 0.3:
            follower = scene.follower(since)
        said, last, _ = events_of(follower)
        picture.update(said)
        since = last or since
        with scene.database.read() as session:
            rows = submissions.list_submissions(session, scene.run, limit=99)
        assert picture == {row.id: row.state.value for row, _ in rows}
