"""A wrong setting is one sentence with the variable's name and what was expected."""

from __future__ import annotations

import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from app.errors import BadSettings
from app.read_settings import is_open_to_others, make_data_directory, read_settings
from tests.storage.disks import small_disk


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


def refusal() -> str:
    with pytest.raises(BadSettings) as refused:
        read_settings()
    return refused.value.detail


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("PODIUM_PORT", "abc", "a whole number from 0 to 65535"),
        ("PODIUM_PORT", "-1", "a whole number from 0 to 65535"),
        ("PODIUM_GRADERS", "0", "a whole number from 1 to 256"),
        ("PODIUM_GRADING_SECONDS", "-5", "a number greater than 0"),
        ("PODIUM_GRADING_SECONDS", "inf", "a number greater than 0"),
        ("PODIUM_LOGIN_HOURS", "1e9", "a number greater than 0, and at most 8760"),
        ("PODIUM_DATABASE_STATEMENT_SECONDS", "1e7", "a number from 0.1 to 2000000"),
        ("PODIUM_GC_HOURS", "1e9", "a number from 0 to 1000000"),
        ("PODIUM_MAX_UPLOAD_MB", "1.5", "a whole number of at least 1"),
        ("PODIUM_DISPATCH", "quue", "embedded or queue"),
        ("PODIUM_LOG_LEVEL", "loud", "debug, info, warning or error"),
        ("PODIUM_REQUIRE_ISOLATION", "perhaps", "true or false"),
    ],
)
def test_a_wrong_value(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, expected: str
) -> None:
    monkeypatch.setenv(name, value)

    assert refusal() == f"{name} is {value!r}: expected {expected}."


@pytest.mark.parametrize("name", ["two words", "-x", "x" * 101, "a\nb", "ä", "a,b", "a+b", "*"])
def test_a_name_that_no_line_of_signers_can_have(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("PODIUM_SIGNER_NAME", name)

    assert refusal().startswith(f"PODIUM_SIGNER_NAME is {name[:100]!r}: expected a host name")


def test_a_short_key_for_metrics_is_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PODIUM_METRICS_KEY", "short-secret")

    assert refusal() == "PODIUM_METRICS_KEY has fewer than 16 characters."


@pytest.mark.parametrize("key", ["a-key-for-prometheus\n", " a-key-for-prometheus"])
def test_a_key_for_metrics_that_no_client_sends(monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    """Prometheus got 401 for the key that its operator read in the same file."""
    monkeypatch.setenv("PODIUM_METRICS_KEY", key)

    assert refusal() == "PODIUM_METRICS_KEY has a line feed or blank too many: remove it."


@pytest.mark.parametrize(
    "key", ["ein-schl\u00fcssel-f\u00fcr-prometheus", "a-key-\x1bfor-prometheus"]
)
def test_a_key_for_metrics_with_characters_that_no_client_sends(
    monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    """Prometheus sends UTF-8, which is read as Latin-1 in a header: it got 401 for its key."""
    monkeypatch.setenv("PODIUM_METRICS_KEY", key)

    assert refusal() == "PODIUM_METRICS_KEY has a character that is not printable ASCII."


@pytest.mark.parametrize("name", ["PODIUM_DATA_DIR", "PODIUM_COMPETITIONS_DIR"])
@pytest.mark.parametrize("path", ["x" * 5000, "/" + "x" * 300, "x/" * 2050])
def test_a_path_that_no_file_system_has(
    monkeypatch: pytest.MonkeyPatch, name: str, path: str
) -> None:
    monkeypatch.setenv(name, path)

    assert re.match(f"{name} is '.+': expected .* and one of [0-9]+ letters is", refusal())


def test_all_wrong_values_are_named_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PODIUM_PORT", "x")
    monkeypatch.setenv("PODIUM_GRADERS", "y")

    text = refusal()

    assert "PODIUM_PORT is 'x'" in text
    assert "PODIUM_GRADERS is 'y'" in text


def test_the_nearest_name_of_an_unknown_one_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PODIUM_PROT", "1")

    assert refusal() == "PODIUM_PROT is not a setting of Podium: did you mean PODIUM_PORT?"


def test_a_name_like_no_other_points_to_the_list(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PODIUM_XYZZY_WQK", "1")

    assert "docs/operations.md lists the settings" in refusal()


def test_names_in_the_env_file_are_settings_too(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("PODIUM_GRADRES=3\n")

    text = refusal()

    assert str(tmp_path / ".env") in text
    assert "did you mean PODIUM_GRADERS?" in text


@pytest.mark.parametrize(
    "name",
    ["PODIUM_URL", "PODIUM_KEY", "PODIUM_RUN", "PODIUM_TEST_MODES", "PODIUM_SERVICE_HOST",
     "PODIUM_PORT_7777_TCP_ADDR"],
)  # fmt: skip
def test_variables_of_clients_tests_and_kubernetes_are_left_alone(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, "x")

    assert read_settings().port == 7777


def test_variables_that_clients_read_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A shell in which a harness runs has them, and `podium` is called there, too."""
    repository = Path(__file__).parents[1]
    files = [*(repository / "clients").rglob("*.py"), *(repository / "app/cli/harbor").glob("*.py")]
    read = {name for file in files for name in re.findall(r'"(PODIUM_\w+)"', file.read_text())}
    assert {"PODIUM_EXPERIMENT", "PODIUM_SEED", "PODIUM_TRIAL", "PODIUM_WAIT_SECONDS"} <= read
    for name in read:
        monkeypatch.setenv(name, "1")

    assert read_settings().port == 7777


def test_a_missing_competitions_directory_is_an_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PODIUM_COMPETITIONS_DIR", str(tmp_path / "none"))

    text = refusal()

    assert text.startswith(f"PODIUM_COMPETITIONS_DIR is {str(tmp_path / 'none')!r}: expected")


def test_a_data_directory_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(BadSettings) as refused:
        make_data_directory(tmp_path / "file" / "data")

    assert refused.value.detail.startswith(f"PODIUM_DATA_DIR is '{tmp_path}/file/data': expected")
    assert "not a directory" in refused.value.detail


def test_a_data_directory_that_every_metric_could_read_is_refused_and_not_made(
    tmp_path: Path,
) -> None:
    libraries = Path(sys.prefix, "lib")
    (tmp_path / "link").symlink_to(libraries)

    for directory in (libraries / "of-podium" / "data", tmp_path / "link" / "of-podium"):
        with pytest.raises(BadSettings) as refused:
            make_data_directory(directory)

        assert refused.value.detail.startswith(f"PODIUM_DATA_DIR is '{directory}': expected")
        assert f"outside {libraries.resolve()}. " in refused.value.detail
        assert not (libraries / "of-podium").exists()


def test_an_empty_data_directory_is_closed_to_others_and_one_in_use_is_left(tmp_path: Path) -> None:
    empty, used = tmp_path / "empty", tmp_path / "used"
    for directory in (empty, used):
        directory.mkdir()
        directory.chmod(0o755)
    (used / "podium.db").touch()

    for directory in (empty, used, tmp_path / "new"):
        make_data_directory(directory)

    modes = [stat.S_IMODE(one.stat().st_mode) for one in (empty, used, tmp_path / "new")]
    assert modes == [0o700, 0o755, 0o700]
    assert [is_open_to_others(one) for one in (empty, used)] == [False, True]


def test_a_disk_that_is_read_only_is_said(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", 100) as disk:
        subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
        with pytest.raises(BadSettings, match="or its disk is read-only"):
            make_data_directory(disk)
