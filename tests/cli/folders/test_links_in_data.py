"""Links in files that a stranger packed lead to no file of whoever prepares or imports them."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path

import pytest

from tests.cli.conftest import Command

ROOT = Path(__file__).parents[3]
SLUG = "aerial-cactus-identification"
SECRET = b"id,has_cactus\na key of whoever prepares it,1\n"


@pytest.fixture
def there(tmp_path: Path) -> Path:
    """Prepared data of a competition of MLE-bench's, and its raw files."""
    with zipfile.ZipFile(ROOT / "tests" / "catalogue" / "vectors" / f"{SLUG}.zip") as archive:
        archive.extractall(tmp_path / "there" / SLUG)
    raw = tmp_path / "there" / "raw" / SLUG
    (raw / "train").mkdir(parents=True)
    (raw / "train" / "c7.jpg").write_bytes(b"an image")
    rows = [f"c{number}.jpg,{number % 2}\n" for number in range(50)]
    (raw / "train.csv").write_text("id,has_cactus\n" + "".join(rows))
    (tmp_path / "secret.csv").write_bytes(SECRET)
    return tmp_path / "there"


def lead(link: Path, target: Path) -> None:
    link.unlink(missing_ok=True)
    link.symlink_to(target)


@pytest.mark.parametrize(
    "name", ["public/notes.csv", "public/description.md", "public/sample_submission.csv",
             "private/test.csv", "private"],
)  # fmt: skip
@pytest.mark.parametrize("command", ["import", "prepare"])
def test_no_link_of_prepared_data_leads_out(
    podium: Command, there: Path, tmp_path: Path, name: str, command: str
) -> None:
    shutil.copytree(ROOT / "competitions" / SLUG, tmp_path / "competitions" / SLUG)
    (tmp_path / "competitions" / SLUG / "description.md").unlink(missing_ok=True)
    link = there / SLUG / "prepared" / name
    if link.is_dir():
        link.rename(tmp_path / "secrets")
    lead(link, tmp_path / ("secret.csv" if link.suffix else "secrets"))
    called = {
        "import": ("import", "mle-bench", "--data-dir", there, SLUG),
        "prepare": ("prepare", SLUG, "--from", there),
    }

    done = podium(*called[command])

    assert done.returncode == 1, done.stdout
    assert f"{link.name}: is a link that leads out of" in done.stdout + done.stderr
    found = [path for path in (tmp_path / "data").rglob("*") if path.is_file()]
    assert not [path for path in found if SECRET in path.read_bytes()]


@pytest.mark.parametrize("name", ["train.csv", "train/c7.jpg", "train"])
def test_no_link_of_raw_files_leads_out(
    podium: Command, there: Path, tmp_path: Path, name: str
) -> None:
    shutil.copytree(ROOT / "competitions" / SLUG, tmp_path / "competitions" / SLUG)
    link = there / "raw" / SLUG / name
    link.rename(tmp_path / "away")
    lead(link, tmp_path / "away")

    done = podium("prepare", SLUG, "--raw", there / "raw")

    assert done.returncode == 1, done.stdout
    assert f"{name}: is a link that leads out of" in done.stdout + done.stderr
    assert not (tmp_path / "data" / "prepared" / SLUG).exists()


@pytest.mark.parametrize(
    "called",
    [("import", "mle-bench", "--data-dir", "there", SLUG), ("prepare", SLUG, "--from", "there"),
     ("prepare", SLUG, "--raw", "there/raw")],
    ids=["import", "from", "raw"],
)  # fmt: skip
def test_no_link_of_a_competition_folder_leads_out(
    podium: Command, there: Path, tmp_path: Path, called: tuple[str, ...]
) -> None:
    folder = tmp_path / "competitions" / SLUG
    shutil.copytree(ROOT / "competitions" / SLUG, folder)
    if "--raw" in called:
        (folder / "prepare.py").write_text("def prepare(raw, public, private):\n    pass\n")
    lead(folder / "description.md", tmp_path / "secret.csv")

    done = podium(*(there if each == "there" else there / "raw" if each == "there/raw" else each
                    for each in called))  # fmt: skip

    assert done.returncode == 1, done.stdout
    assert "description.md: is a link that leads out of" in done.stdout + done.stderr
    found = [path for path in (tmp_path / "data").rglob("*") if path.is_file()]
    assert not [path for path in found if SECRET in path.read_bytes()]


def test_links_within_the_files_are_followed(podium: Command, there: Path, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "competitions" / SLUG, tmp_path / "competitions" / SLUG)
    raw = there / "raw" / SLUG
    lead(raw / "circle", raw / "circle")
    (raw / "train.csv").rename(raw / "train" / "real.csv")
    lead(raw / "train.csv", Path("train", "real.csv"))

    done = podium("prepare", SLUG, "--raw", there / "raw", "--grading-only")

    assert done.returncode == 0, done.stdout + done.stderr
