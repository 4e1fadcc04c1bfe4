import gzip
import hashlib
import os
import shutil
import socket
import time
from pathlib import Path

import pytest

from app.domain.competition import parse_competition
from app.domain.leaderboard import MedalLines
from app.domain.states import CompetitionStatus
from app.errors import BadCompetition
from app.importers.folder import stage_folder, stage_for_grading

TOML = """
title = "Tiny"
version = 1
[metric]
name = "mean_absolute_error"
[submission]
id = "id"
[submission.columns]
y = { kind = "number" }
"""
BOARD = '[leaderboard]\nsource = "made up"\n'
FILES = {
    "competition.toml": TOML,
    "README.md": "where it is from",
    "description.md": "# Predict y",
    "prepare.py": "def prepare(raw, public, private): ...",
    "public/train.csv": "id,x,y\n1,2,3\n",
    "public/sample_submission.csv": "id,y\n2,0\n",
    "public/images/a.txt": "picture",
    "private/answers.csv": "id,y\n2,5\n",
}


LINK = "is a symbolic link, or below one"


def write(folder, files):
    for name, content in files.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content if isinstance(content, bytes) else content.encode())


@pytest.fixture
def tiny(tmp_path):
    """A competition folder without a mistake, called `tiny`."""
    folder = tmp_path / "source" / "tiny"
    write(folder, FILES)
    return folder


def stage(folder, **options):
    staging = folder.parent.parent / "staging"
    return stage_folder(folder, staging, **{"max_bytes": 10**6, **options})


def problems_of(folder, **options):
    with pytest.raises(BadCompetition) as caught:
        stage(folder, **options)
    assert list((folder.parent.parent / "staging").iterdir()) == []  # nothing is left behind
    return [(p["file"], p["key"], p["message"]) for p in caught.value.problems]


def problem_of(folder, **options):
    ((file, key, message),) = problems_of(folder, **options)
    return file, key, message


def contents(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_it_copies_every_file(tiny):
    staged = stage(tiny)

    assert contents(staged.directory) == {name: text.encode() for name, text in FILES.items()}


def test_it_tells_what_it_found(tiny):
    staged = stage(tiny)

    assert (staged.slug, staged.competition.title, staged.toml) == ("tiny", "Tiny", TOML)
    assert staged.status.value == "ready"
    assert (staged.leaderboard, staged.leaderboard_complete, staged.lint) == (None, False, ())
    assert [(f.name, f.bytes) for f in staged.files] == [
        ("images/a.txt", 7),
        ("sample_submission.csv", 9),
        ("train.csv", 13),
    ]
    assert staged.files[0].sha256 == hashlib.sha256(b"picture").hexdigest()


def test_it_tells_each_file_as_it_is_copied(tiny):
    seen = {}

    stage(tiny, progress=seen.__setitem__)

    assert seen == {name: len(text.encode()) for name, text in FILES.items()}


def test_a_packed_csv_is_kept_unpacked(tiny):
    (tiny / "public/train.csv").unlink()
    write(tiny, {"public/train.csv.gz": gzip.compress(b"id,x,y\n1,2,3\n")})

    staged = stage(tiny)

    assert (staged.directory / "public/train.csv").read_bytes() == b"id,x,y\n1,2,3\n"
    assert not (staged.directory / "public/train.csv.gz").exists()


def test_a_packed_folder_has_the_same_content_hash(tiny):
    plain = stage(tiny).content_hash
    for name in ("public/train.csv", "public/sample_submission.csv", "private/answers.csv"):
        (tiny / name).rename(tiny / "moved")
        write(tiny, {f"{name}.gz": gzip.compress((tiny / "moved").read_bytes())})
        (tiny / "moved").unlink()

    packed = stage_folder(tiny, tiny.parent.parent / "again", max_bytes=10**6)

    assert packed.content_hash == plain
    assert packed.status.value == "ready"


def test_the_content_hash_is_the_documented_one(tiny):
    lines = [
        f"{name}\0{hashlib.sha256(FILES[name].encode()).hexdigest()}\n"
        for name in sorted(FILES)
        if name not in ("README.md", "prepare.py")
    ]

    assert stage(tiny).content_hash == hashlib.sha256("".join(lines).encode()).hexdigest()


def test_the_content_hash_knows_neither_times_nor_modes_nor_order(tiny, tmp_path):
    other = tmp_path / "other" / "tiny"
    write(other, dict(reversed(FILES.items())))
    for path in other.rglob("*.csv"):
        os.utime(path, (1, 1))
        path.chmod(0o600)

    first = stage(tiny).content_hash

    assert stage_folder(other, tmp_path / "s2", max_bytes=10**6).content_hash == first


@pytest.mark.parametrize(
    "name",
    [
        "competition.toml",
        "description.md",
        "public/train.csv",
        "public/images/a.txt",
        "private/answers.csv",
    ],
)
def test_a_changed_byte_that_counts_changes_the_content_hash(tiny, tmp_path, name):
    before = stage(tiny).content_hash
    write(tiny, {name: FILES[name] + "\n"})

    assert stage_folder(tiny, tmp_path / "s2", max_bytes=10**6).content_hash != before


@pytest.mark.parametrize("name", ["metric.py", "public/more.csv", "private/more.csv"])
def test_a_new_file_that_counts_changes_the_content_hash(tiny, tmp_path, name):
    before = stage(tiny).content_hash
    write(tiny, {name: "x = 1\n"})

    assert stage_folder(tiny, tmp_path / "s2", max_bytes=10**6).content_hash != before


def test_a_renamed_file_changes_the_content_hash(tiny, tmp_path):
    before = stage(tiny).content_hash
    (tiny / "public/train.csv").rename(tiny / "public/training.csv")

    assert stage_folder(tiny, tmp_path / "s2", max_bytes=10**6).content_hash != before


@pytest.mark.parametrize("name", ["README.md", "prepare.py"])
def test_what_decides_nothing_does_not_change_the_content_hash(tiny, tmp_path, name):
    before = stage(tiny).content_hash
    (tiny / name).unlink()

    assert stage_folder(tiny, tmp_path / "s2", max_bytes=10**6).content_hash == before


def test_patterns_that_would_compile_for_minutes_are_refused_first(tiny):
    column = "x{} = {{ kind = 'text', pattern = '" + "[a-z]{{0,900}}" * 80 + "' }}\n"
    write(tiny, {"competition.toml": TOML + "".join(map(column.format, range(1000)))})
    started = time.process_time()

    found = problems_of(tiny)

    assert time.process_time() - started < 5
    message = "its patterns have 960,000 characters; 2,000 together are allowed"
    assert found == [("competition.toml", "submission.columns", message)]


def test_long_patterns_that_were_imported_before_are_read():
    long = TOML + "x = { kind = 'text', pattern = '" + "ab?" * 700 + "' }\n"

    assert parse_competition("tiny", long).form.columns["x"].pattern == "ab?" * 700


def test_without_answers_it_needs_data(tiny):
    (tiny / "private/answers.csv").unlink()

    assert stage(tiny).status.value == "needs_data"


def test_without_answers_only_the_toml_is_needed(tmp_path):
    write(tmp_path / "a" / "bare", {"competition.toml": TOML})

    staged = stage_folder(tmp_path / "a" / "bare", tmp_path / "s", max_bytes=10**6)

    assert (staged.status.value, staged.files) == ("needs_data", ())


def test_answers_may_have_another_name(tiny):
    (tiny / "private/answers.csv").rename(tiny / "private/secret.csv")
    write(tiny, {"competition.toml": TOML + '[answers]\nfile = "secret.csv"\n'})

    assert stage(tiny).status.value == "ready"


def test_answers_under_an_undeclared_name_are_a_mistake(tiny):
    (tiny / "private/answers.csv").rename(tiny / "private/answer.csv")

    assert problem_of(tiny) == (
        "private/answers.csv",
        "",
        "is missing, though private/answer.csv is there; [answers] file names the answers",
    )


def test_a_sample_submission_must_stand_beside_the_answers(tiny):
    (tiny / "public/sample_submission.csv").unlink()

    file, _, message = problem_of(tiny)

    assert file == "public/sample_submission.csv"
    assert message.startswith("is missing, though private/answers.csv is there")


@pytest.mark.parametrize("text", ["", " \n\t\n", "\ufeff", "\ufeff\r\n"])
def test_an_empty_description_is_a_mistake(tiny, text):
    write(tiny, {"description.md": text})

    assert problem_of(tiny) == ("description.md", "", "is empty: agents read the task in it")


def test_a_missing_description_is_a_mistake_once_there_are_answers(tiny):
    (tiny / "description.md").unlink()

    assert problem_of(tiny) == ("description.md", "", "is missing: agents read the task in it")


def test_a_missing_toml_is_a_mistake(tiny):
    (tiny / "competition.toml").unlink()

    assert problem_of(tiny)[0] == "competition.toml"


def test_every_mistake_of_the_toml_is_told(tiny):
    write(tiny, {"competition.toml": TOML.replace("version = 1", "version = 0\ncolour = 1")})

    assert [(file, key) for file, key, _ in problems_of(tiny)] == [
        ("competition.toml", "version"),
        ("competition.toml", "colour"),
    ]


def test_texts_that_count_as_empty_need_a_column_that_may_be_empty(tiny):
    text = '{ kind = "text", allow_empty = true, same_as_empty = ["NA"] }'
    toml = TOML.replace('{ kind = "number" }', text).replace("mean_absolute_error", "my_score")
    write(tiny, {"competition.toml": toml})
    stage(tiny)
    shutil.rmtree(tiny.parent.parent / "staging")

    write(tiny, {"competition.toml": toml.replace("allow_empty = true, ", "")})
    file, key, message = problem_of(tiny)
    assert (file, key) == ("competition.toml", "submission.columns.y")
    assert "allow_empty = true" in message


@pytest.mark.parametrize("name", ["competition.toml", "description.md", "metric.py"])
def test_text_must_be_utf8(tiny, name):
    write(tiny, {name: b"# caf\xe9"})

    assert problem_of(tiny) == (name, "", "is not UTF-8 (byte 5)")


def test_the_folders_name_must_be_a_slug(tiny):
    tiny = tiny.rename(tiny.parent / "a b")

    assert problem_of(tiny)[:2] == ("", "")


def test_a_file_is_no_competition_folder(tiny):
    with pytest.raises(BadCompetition, match="is not a folder"):
        stage_folder(tiny / "README.md", tiny.parent / "s", max_bytes=10**6)


@pytest.mark.parametrize("name", ["notes.txt", "Competition.toml", "data/train.csv", ".git/config"])
def test_what_has_no_place_is_named(tiny, name):
    write(tiny, {name: "x"})

    file, _, message = problem_of(tiny)

    assert file == name.split("/")[0]
    assert "does not belong in a competition folder" in message
    assert message.endswith("remove it")


def test_a_folder_of_competition_folders_names_them_and_removes_none(tiny):
    above = tiny.parent / "above"
    above.mkdir()
    tiny.rename(above / "tiny")

    file, _, message = problem_of(above)

    assert file == "tiny"
    assert message == "is a competition folder of its own; import it by its own path"


def test_all_misplaced_files_are_told_at_once(tiny):
    write(tiny, {"b.txt": "x", "a.txt": "x", "public/.hidden": "x"})

    assert [file for file, _, _ in problems_of(tiny)] == ["a.txt", "b.txt", "public/.hidden"]


def test_what_python_and_macos_leave_behind_is_passed_over(tiny):
    write(tiny, {"__pycache__/prepare.pyc": "x", ".DS_Store": "x", "public/.DS_Store": "x"})

    assert set(contents(stage(tiny).directory)) == set(FILES)


def test_a_folder_in_a_files_place_is_a_mistake(tiny):
    (tiny / "metric.py").mkdir()

    assert problem_of(tiny) == ("metric.py", "", "must be a plain file")


@pytest.mark.parametrize(
    "name", ["private/answers.csv", "private/answers.csv.gz", "public/sample_submission.csv"]
)
def test_a_folder_in_the_place_of_a_csv_file_is_a_mistake(tiny, name):
    """An empty one counted as no answers, which an admin may import later."""
    (tiny / name).unlink(missing_ok=True)
    if "gz" in name:
        (tiny / "private" / "answers.csv").unlink()
    (tiny / name).mkdir()

    assert problem_of(tiny) == (name, "", "must be a plain file")


def test_other_folders_may_have_the_name_of_a_csv_file(tiny):
    write(tiny, {"private/masks.csv/part-0": "x", "public/images.csv/part-0": "y"})

    assert "private/masks.csv/part-0" in contents(stage(tiny).directory)


def test_a_file_in_a_folders_place_is_a_mistake(tmp_path):
    folder = tmp_path / "source" / "tiny"
    write(folder, {"competition.toml": TOML, "public": "x"})

    assert problem_of(folder) == ("public", "", "must be a folder")


@pytest.mark.parametrize("target", ["/etc/passwd", "../../private/answers.csv", "nowhere"])
def test_a_symbolic_link_is_refused(tiny, target):
    (tiny / "public/link.csv").symlink_to(target)

    assert problem_of(tiny)[0] == "public/link.csv"
    assert "symbolic link" in problem_of(tiny)[2]


@pytest.mark.parametrize("name", ["public", "private", "competition.toml", "public/images"])
def test_a_link_in_a_known_place_is_refused(tiny, name):
    (tiny / name).rename(tiny.parent / "elsewhere")
    (tiny / name).symlink_to(tiny.parent / "elsewhere")

    assert problem_of(tiny) == (name, "", "is a symbolic link; put the file itself here")


def test_a_pipe_is_refused_and_not_waited_for(tiny):
    os.mkfifo(tiny / "public/pipe.csv")

    assert problem_of(tiny) == ("public/pipe.csv", "", "is neither a plain file nor a folder")


def test_a_pipe_for_the_toml_is_refused(tiny):
    (tiny / "competition.toml").unlink()
    os.mkfifo(tiny / "competition.toml")

    assert problem_of(tiny) == ("competition.toml", "", "must be a plain file")


def test_a_socket_is_refused(tiny, monkeypatch):
    monkeypatch.chdir(tiny / "public")  # a socket's path may have some 100 characters only
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("s.sock")

        assert problem_of(tiny)[0] == "public/s.sock"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("a\x01b.csv", "do not print"),
        ("a\nb.csv", "do not print"),
        ("a\u202eb.csv", "do not print"),
        ("a\\b.csv", "backslash"),
        (".hidden", "start with a dot"),
        ("deep/.hidden/x.csv", "start with a dot"),
        (" a.csv", "blank"),
        ("a.csv ", "blank"),
        ("x" * 201, "longer than 200 characters"),
        ("y" * 120 + "/" + "x" * 80, "longer than 200 characters"),
    ],
)
def test_a_name_that_cannot_be_served_is_refused(tiny, name, reason):
    write(tiny / "public", {name: "x"})

    file, _, message = problem_of(tiny)

    assert file.startswith("public/")
    assert file.isprintable()
    assert reason in message


def test_a_name_that_is_not_utf8_is_refused(tiny):
    write(tiny / "public", {os.fsdecode(b"caf\xe9.csv"): "x"})

    assert problem_of(tiny) == ("public/caf?.csv", "", "the name is not UTF-8")


def test_a_name_of_200_characters_is_taken(tiny):
    write(tiny / "public", {"d" * 100 + "/" + "x" * 99: "x"})

    assert max(len(file.name) for file in stage(tiny).files) == 200


def test_a_name_in_any_alphabet_is_taken(tiny):
    write(tiny / "public", {"данные/Zürich 数据 (1).csv": "x"})

    assert "данные/Zürich 数据 (1).csv" in [file.name for file in stage(tiny).files]


def test_all_files_together_are_bounded(tiny):
    write(tiny, {"public/big.bin": b"x" * 5000})

    file, _, message = problem_of(tiny, max_bytes=4000)

    assert file == "public/big.bin"
    assert message == "with it the folder's files are larger than 4000 bytes together"


def test_a_packed_bomb_is_bounded(tiny):
    write(tiny, {"public/big.csv.gz": gzip.compress(bytes(50_000_000))})

    file, _, message = problem_of(tiny, max_bytes=1_000_000)

    assert file == "public/big.csv.gz"
    assert "larger than 1000000 bytes" in message


def test_a_sparse_file_is_bounded_by_what_it_reads_as(tiny):
    with (tiny / "public/hole.bin").open("wb") as file:
        file.truncate(1 << 40)

    assert problem_of(tiny)[0] == "public/hole.bin"


def test_the_toml_has_a_bound_of_its_own(tiny):
    write(tiny, {"competition.toml": TOML + "#" * (1 << 20)})

    assert problem_of(tiny, max_bytes=10**8) == (
        "competition.toml",
        "",
        "is larger than 1048576 bytes",
    )


def test_the_number_of_files_is_bounded(tiny):
    write(tiny, {f"public/many/{n}": "" for n in range(300)})

    assert problem_of(tiny, max_files=200) == ("tiny", "", "more than 200 files")


def test_a_folder_has_as_many_files_as_a_competition_of_images(tiny, tmp_path):
    """220,000 in one of MLE-bench's: folders were refused that `podium prepare` had made."""
    for number in range(200_001):
        os.mknod(tiny / "public" / "images" / str(number))

    assert stage_for_grading(tiny, tmp_path / "staged")[1] is CompetitionStatus.READY


@pytest.mark.parametrize(
    "data",
    [
        b"not gzip",
        gzip.compress(b"a,b\n1,2\n", mtime=0)[:-4],
        gzip.compress(b"x" * 99, mtime=0)[:20],
        b"\x1f",
    ],
)
def test_a_damaged_packed_file_is_a_mistake(tiny, data):
    write(tiny, {"public/bad.csv.gz": data})

    file, _, message = problem_of(tiny)

    assert file == "public/bad.csv.gz"
    assert "is not a complete gzip file" in message


def test_a_file_both_plain_and_packed_is_a_contradiction(tiny):
    write(tiny, {"public/train.csv.gz": gzip.compress(b"x")})

    file, _, message = problem_of(tiny)

    assert file == "public/train.csv.gz"
    assert message == "public/train.csv is there too, and this unpacks to it"


def test_a_folder_with_the_name_of_an_unpacked_file_is_a_contradiction(tiny):
    write(tiny, {"public/t.csv.gz": gzip.compress(b"x"), "public/t.csv/part": "x"})

    assert problem_of(tiny)[0] == "public/t.csv"


def test_private_bytes_among_the_public_files_are_refused(tiny):
    write(tiny, {"public/oops.csv": FILES["private/answers.csv"]})

    assert problem_of(tiny) == (
        "public/oops.csv",
        "",
        "has the same bytes as private/answers.csv: agents would see them",
    )


def test_a_hundred_mistakes_of_a_folder_are_told_and_the_others_counted(tiny):
    """An archive of 400 kB has 19,000 files out of place, of which each was told twice: 10 MB."""
    for number in range(150):
        (tiny / f"stray-{number:03}").touch()

    with pytest.raises(BadCompetition) as caught:
        stage(tiny)

    assert len(caught.value.problems) == 100
    assert caught.value.problems[-1]["file"] == "stray-099"
    assert caught.value.detail.endswith("; and 50 more mistakes")


def test_a_staging_directory_in_use_is_not_touched(tiny):
    staging = tiny.parent.parent / "staging"
    write(staging, {"precious": "x"})

    with pytest.raises(FileExistsError):
        stage(tiny)

    assert contents(staging) == {"precious": b"x"}


def test_a_file_that_goes_away_meanwhile_is_told(tiny):
    def remove(name, size):
        (tiny / "public/train.csv").unlink(missing_ok=True)

    assert problem_of(tiny, progress=remove)[0] == "public/train.csv"


def test_a_file_that_becomes_a_link_meanwhile_is_not_followed(tiny):
    def swap(name, size):
        (tiny / "public/train.csv").unlink(missing_ok=True)
        (tiny / "public/train.csv").symlink_to("/etc/passwd")

    assert problem_of(tiny, progress=swap) == ("public/train.csv", "", LINK)


@pytest.mark.parametrize("folder", ["public", "public/images"])
def test_a_folder_that_becomes_a_link_meanwhile_is_not_followed(tiny, tmp_path, folder):
    """The owner of a folder that somebody else imports could have their files copied."""
    write(tiny, {"public/images/1.png": "an image"})
    secret = shutil.copytree(tiny / folder, tmp_path / "others")

    def swap(name, size):
        if not (tiny / folder).is_symlink():
            (tiny / folder).rename(tmp_path / "away")
            (tiny / folder).symlink_to(secret)

    path, _, message = problem_of(tiny, progress=swap)
    assert path.startswith(folder)
    assert message == LINK


def test_a_file_that_becomes_a_pipe_meanwhile_is_not_waited_for(tiny):
    def swap(name, size):
        if not (tiny / "public/train.csv").is_fifo():
            (tiny / "public/train.csv").unlink()
            os.mkfifo(tiny / "public/train.csv")

    assert problem_of(tiny, progress=swap) == ("public/train.csv", "", "is not a plain file")


def test_a_leaderboard_makes_a_full_board(tiny):
    scores = "".join(f"{n},{n / 100}\n" for n in range(1, 51))
    write(tiny, {"competition.toml": TOML + BOARD, "leaderboard.csv": "rank,score\n" + scores})

    staged = stage(tiny)

    assert staged.leaderboard_complete is True
    assert staged.leaderboard.lines == MedalLines(0.05, 0.1, 0.2, 0.255)
    assert staged.lint == ()


def test_lines_alone_make_an_incomplete_board(tiny):
    write(tiny, {"competition.toml": TOML + BOARD + "teams = 50\ngold = 0.1\nsilver = 0.1\n"})

    staged = stage(tiny)

    assert staged.leaderboard_complete is False
    assert (staged.leaderboard.teams, staged.leaderboard.lines.gold) == (50, 0.1)
    assert [finding.code.value for finding in staged.lint] == ["medal_lines_equal"]


def test_a_boards_warnings_come_along(tiny):
    write(tiny, {"competition.toml": TOML + BOARD, "leaderboard.csv": "score\n1\n2\n"})

    assert [finding.code.value for finding in stage(tiny).lint] == [
        "medal_lines_equal",
        "few_teams",
    ]


def test_a_board_in_the_wrong_direction_is_refused(tiny):
    write(tiny, {"competition.toml": TOML + BOARD, "leaderboard.csv": "score\n0.9\n0.8\n0.1\n"})

    file, key, message = problem_of(tiny)

    assert (file, key) == ("leaderboard.csv", "score")
    assert message.startswith("the rows run from 0.9 to 0.1, worst first, though lower is better")


def test_lines_beyond_the_median_are_refused(tiny):
    write(tiny, {"competition.toml": TOML + BOARD + "teams = 50\nbronze = 0.5\nmedian = 0.1\n"})

    assert problem_of(tiny)[:2] == ("competition.toml", "leaderboard")


def test_decimals_that_a_medal_line_has_more_of_are_refused(tiny):
    lines = "teams = 50\ngold = 0.125\nsilver = 0.5\nmedian = 0.6255\n"
    write(tiny, {"competition.toml": TOML + BOARD + lines + "decimals = 2\n"})

    _, key, message = problem_of(tiny)

    assert key == "leaderboard.decimals"
    assert message == "is 2, but a medal line is '0.125'; leave it out here"
    last = lines + "bronze = 0.5005\ndecimals = 3\n"
    write(tiny, {"competition.toml": TOML + BOARD + last})
    assert problem_of(tiny)[2] == "is 3, but a medal line is '0.5005'; leave it out here"
    write(tiny, {"competition.toml": TOML + BOARD + lines + "decimals = 3\n"})
    stage(tiny)


def test_a_board_of_unknown_origin_is_refused(tiny):
    write(tiny, {"leaderboard.csv": "score\n1\n2\n"})

    assert problem_of(tiny)[:2] == ("competition.toml", "leaderboard.source")


def test_what_is_stated_twice_and_differs_is_refused(tiny):
    board = "score\n" + "".join(f"{n / 100}\n" for n in range(1, 51))
    said = BOARD + "teams = 51\ngold = 0.05\nsilver = 0.11\nmedian = 0.255\n"
    write(tiny, {"competition.toml": TOML + said, "leaderboard.csv": board})

    assert problems_of(tiny) == [
        (
            "competition.toml",
            "leaderboard.teams",
            "says 51, but leaderboard.csv gives 50; leave it out here",
        ),
        (
            "competition.toml",
            "leaderboard.silver",
            "says 0.11, but leaderboard.csv gives 0.1; leave it out here",
        ),
    ]


def test_a_line_where_no_place_wins_is_a_contradiction(tiny):
    said = BOARD + 'rule = "kaggle"\nteams = 3\ngold = 0.1\n'
    write(tiny, {"competition.toml": TOML + said, "leaderboard.csv": "score\n0.1\n0.2\n0.3\n"})

    assert problem_of(tiny)[1] == "leaderboard.gold"


@pytest.mark.parametrize(
    ("board", "words"),
    [
        ("", "must name one column score"),
        ("points\n1\n", "must name one column score"),
        ("score,score\n1,2\n", "must name one column score"),
        ("score\n", "there is no row"),
        ("score\n1\nx\n2\n\n3_0\n", "not a finite score: row 2 ('x'), row 4 ('3_0')"),
        ("score\n" + "x\n" * 9, "row 5 ('x') and 4 more"),
        ("rank,score\n1,0.5\n2\n", "row 2 ('2')"),
        ("rank,score\n1,0.5,7\n", "row 1 ('1,0.5,7')"),
        ("score\nnan\n", "row 1 ('nan')"),
        ("score\n1e999\n", "row 1 ('1e999')"),
        ('score\n"1\n', "is not CSV"),
        ("score\n" + "1" * 200_000 + "\n", "has a line of more than 10000 characters"),
    ],
)
def test_a_board_that_cannot_be_read_is_told_with_its_rows(tiny, board, words):
    write(tiny, {"competition.toml": TOML + BOARD, "leaderboard.csv": board})

    file, _, message = problem_of(tiny)

    assert file == "leaderboard.csv"
    assert words in message


def test_a_board_may_have_bom_crlf_and_other_columns(tiny):
    write(
        tiny,
        {
            "competition.toml": TOML + BOARD,
            "leaderboard.csv": b'\xef\xbb\xbfteam,score\r\n"a,b",1.5\r\nc, 2 \r\n',
        },
    )

    assert stage(tiny).leaderboard.scores == (1.5, 2.0)


def test_the_folder_may_be_given_relative_to_here(tiny, monkeypatch):
    monkeypatch.chdir(tiny)

    assert stage_folder(Path(), tiny.parent / "s", max_bytes=10**6).slug == "tiny"
