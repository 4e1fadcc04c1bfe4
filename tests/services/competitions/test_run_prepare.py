"""A prepare.py runs in a process of its own, which sees no credentials and ends with ours."""

from __future__ import annotations

import json
import time
import zipfile
from pathlib import Path

import pytest

from app.errors import BadCompetition
from app.services.competitions.run_prepare import (
    copy_folder,
    functions,
    reads_archives,
    run_prepare,
)

SIGNATURE = "def prepare(raw, public, private):\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "tiny"
    made.mkdir()
    return made


def prepared(folder: Path, body: str, raw: Path | None = None, **more: object) -> Path:
    """Run a prepare.py of this body; the folder that it filled."""
    (folder / "prepare.py").write_text(SIGNATURE + body)
    place = folder.parent / "made" / folder.name
    place.parent.mkdir()
    copy_folder(folder, place)
    source = folder.parent / "raw" if raw is None else raw
    if raw is None:
        source.mkdir()
    run_prepare(folder, source, place, **more)  # type: ignore[arg-type]
    return place


def test_it_fills_the_two_places_beside_a_copy_of_the_folder(folder: Path) -> None:
    (folder / "description.md").write_text("Predict.")
    (folder / "private").mkdir()
    (folder / "private/answers.csv").write_text("what was there before")

    place = prepared(
        folder,
        "    (public / 'train.csv').write_text('a')\n"
        "    (private / 'answers.csv').write_text('b')\n",
    )

    files = {str(one.relative_to(place)) for one in place.rglob("*") if one.is_file()}
    assert files == {"description.md", "prepare.py", "public/train.csv", "private/answers.csv"}
    assert (place / "private/answers.csv").read_text() == "b"


def test_it_sees_no_credentials_and_no_settings(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (
        "KAGGLE_KEY", "KAGGLE_API_TOKEN", "PODIUM_API_KEY", "PODIUM_DATABASE_URL",
        "AWS_SECRET_ACCESS_KEY", "PGPASSWORD", "podium_metrics_key",
    ):  # fmt: skip
        monkeypatch.setenv(name, "secret")
    monkeypatch.setenv("ORDINARY", "kept")

    place = prepared(
        folder,
        "    import json, os\n"
        "    (public / 'seen.json').write_text(json.dumps(dict(os.environ)))\n",
    )

    seen = json.loads((place / "public/seen.json").read_text())
    assert not [name for name in seen if name.startswith(("KAGGLE", "PODIUM"))]
    assert "secret" not in seen.values()
    assert (seen["ORDINARY"], seen["TMPDIR"]) == ("kept", str(place.parent))


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("    raise ValueError('train.csv has 3 rows')\n", "ValueError: train.csv has 3 rows"),
        ("    raise SystemExit(3)\n", "it ended with status 3"),
        ("    import os, signal\n    os.kill(os.getpid(), signal.SIGKILL)\n", "it was killed"),
        ("    raise ValueError('x' * 900)\n", "ValueError: " + "x" * 488),
    ],
    ids=["error", "status", "killed", "long"],
)
def test_a_failure_is_told_by_its_last_line(folder: Path, body: str, told: str) -> None:
    with pytest.raises(BadCompetition) as caught:
        prepared(folder, body)

    assert caught.value.problems == [{"file": "tiny/prepare.py", "key": "", "message": told}]


@pytest.mark.parametrize(
    "leave",
    ["os.system('sleep 30 &')", "os.fork() or time.sleep(30)"],
    ids=["a command in the background", "a child"],
)
def test_processes_that_it_leaves_behind_are_not_waited_for(folder: Path, leave: str) -> None:
    began = time.monotonic()

    place = prepared(
        folder,
        f"    import os, time\n    {leave}\n    (public / 'train.csv').write_text('a')\n",
    )

    assert time.monotonic() - began < 20
    assert (place / "public/train.csv").read_text() == "a"


def test_it_may_have_dataclasses_and_send_its_functions_to_other_processes(folder: Path) -> None:
    place = prepared(
        folder,
        "    with multiprocessing.Pool(1) as pool:\n"
        "        (public / 'train.csv').write_text(str(pool.map(twice, [3])))\n"
        "import dataclasses, multiprocessing\n"
        "@dataclasses.dataclass\n"
        "class Row:\n"
        "    cell: 'int'\n"
        "def twice(cell):\n"
        "    return 2 * Row(cell).cell\n",
    )
    assert (place / "public/train.csv").read_text() == "[6]"


def test_what_watches_can_end_it(folder: Path) -> None:
    def full() -> None:
        raise OSError("the disk is nearly full")

    with pytest.raises(OSError, match="nearly full"):
        prepared(folder, "    import time\n    time.sleep(600)\n", watch=full)


def test_members_of_an_archive_are_fetched_before_they_are_read(folder: Path) -> None:
    raw = folder.parent / "raw.zip"
    with zipfile.ZipFile(raw, "w") as archive:
        for name in ("train.csv", "unused.csv"):
            archive.writestr(name, "id\n1\n")
    fetched: list[str] = []
    (folder / "prepare.py").write_text(
        "def prepare_files(raw, public, private):\n"
        "    raw.copy('train.csv', public / 'train.csv')\n"
    )
    place = folder.parent / "made" / folder.name
    place.parent.mkdir()
    copy_folder(folder, place)

    run_prepare(folder, raw, place, fetch=fetched.append)

    assert fetched == ["train.csv"]
    assert (place / "public/train.csv").read_text() == "id\n1\n"


@pytest.mark.parametrize(
    ("text", "found", "reads"),
    [
        ("def prepare(raw, public, private): ...\n", {"prepare"}, False),
        ("def prepare_files(raw, public, private): ...\n", {"prepare_files"}, True),
        ("class A:\n    def prepare_files(self): ...\n", set(), False),
        ("def broken(:\n", set(), False),
        ("a = '\0'\n", set(), False),
    ],
    ids=["table", "files", "method", "broken", "null"],
)
def test_its_functions_are_read_and_not_run(
    folder: Path, text: str, found: set[str], reads: bool
) -> None:
    (folder / "prepare.py").write_text(text)

    assert (functions(folder / "prepare.py"), reads_archives(folder)) == (found, reads)
