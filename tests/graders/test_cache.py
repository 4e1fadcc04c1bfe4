from pathlib import Path

import pytest

from app.graders.program.cache import VersionCache


@pytest.fixture
def loads():
    return []


@pytest.fixture
def cache(loads):
    def load(path: Path) -> str:
        loads.append(path.name)
        return path.name

    return VersionCache(10, load=load, size=len)


def test_a_version_is_loaded_once(cache, loads):
    assert [cache.get(Path("one")) for _ in range(3)] == ["one"] * 3
    assert loads == ["one"]


def test_the_longest_unused_version_goes_first(cache, loads):
    for name in ("one", "two", "one", "three"):
        cache.get(Path(name))
    loads.clear()
    cache.get(Path("one"))
    assert loads == []
    cache.get(Path("two"))
    assert loads == ["two"]


def test_the_budget_is_kept(cache):
    for name in ("aaaa", "bbbb", "cccc", "dd", "eeeeeeeeee", "f"):
        cache.get(Path(name))
        assert cache.kept_bytes <= 10


def test_what_is_larger_than_the_budget_is_not_kept_and_pushes_nothing_out(cache, loads):
    cache.get(Path("small"))
    cache.get(Path("larger than ten"))
    loads.clear()
    cache.get(Path("small"))
    assert loads == []
    assert cache.kept_bytes == len("small")


def test_a_version_that_fails_to_load_is_not_kept():
    def fail(path: Path) -> str:
        raise ValueError(path.name)

    cache = VersionCache(10, load=fail, size=len)
    for _ in range(2):
        with pytest.raises(ValueError):
            cache.get(Path("broken"))
    assert cache.kept_bytes == 0
