"""Links where the file system allows them, copies elsewhere."""

import tempfile
import threading
from pathlib import Path

import pytest

from app.storage.blobs.links import link_or_copy, replace_by_link

MEMORY = Path("/dev/shm")  # another file system than that of /var/tmp


def test_a_link_is_the_file_itself(tmp_path: Path) -> None:
    file, target = tmp_path / "file", tmp_path / "target"
    file.write_bytes(b"bytes")

    link_or_copy(file, target)

    assert target.samefile(file)


@pytest.mark.skipif(not MEMORY.is_dir(), reason="there is no second file system")
def test_a_file_of_another_file_system_is_copied_or_not_linked() -> None:
    with (
        tempfile.TemporaryDirectory(dir="/var/tmp") as disk,
        tempfile.TemporaryDirectory(dir=MEMORY) as memory,
    ):
        file, target = Path(disk) / "file", Path(memory) / "target"
        file.write_bytes(b"bytes")

        is_linked = replace_by_link(file, target, Path(memory) / "temporary")
        assert (is_linked, list(Path(memory).iterdir())) == (False, [])

        link_or_copy(file, target)
        assert target.read_bytes() == b"bytes"


def test_a_file_that_another_process_replaces_is_linked_or_copied_all_the_same() -> None:
    stopping = threading.Event()
    with tempfile.TemporaryDirectory(dir="/var/tmp") as disk:  # in memory it hardly happens
        file, new = Path(disk) / "file", Path(disk) / "new"
        file.write_bytes(b"bytes")

        def replace() -> None:
            while not stopping.is_set():
                new.write_bytes(b"bytes")
                new.rename(file)

        replacing = threading.Thread(target=replace)
        replacing.start()
        try:
            for number in range(20_000):
                link_or_copy(file, target := Path(disk) / f"link-{number}")
                assert target.read_bytes() == b"bytes"
        finally:
            stopping.set()
            replacing.join()


def test_a_file_that_is_not_there_is_not_linked(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        link_or_copy(tmp_path / "missing", tmp_path / "target")


def test_a_link_replaces_what_was_there_and_is_read_only(tmp_path: Path) -> None:
    file, target, temporary = tmp_path / "file", tmp_path / "target", tmp_path / "temporary"
    file.write_bytes(b"bytes")
    target.write_bytes(b"damaged")

    assert replace_by_link(file, target, temporary)

    assert target.read_bytes() == b"bytes"
    assert target.stat().st_mode & 0o777 == 0o440
    assert not temporary.exists()
