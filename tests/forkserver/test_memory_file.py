"""Memory that was moved to a file is what it was, and each process has its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# Objects of Python's own allocator, large ones of malloc, and one that has a mapping to itself.
MADE = """
import ctypes, gc, hashlib, os, random, sys
from tests.forkserver.memory_file import allocated, call_all, move_to_file
random.seed(1)
small = {number: (str(number), [number]) for number in range(200_000)}
large = [random.randbytes(5_000) for _ in range(2_000)]
one = bytearray(random.randbytes(8 << 20))
def digest():
    return hashlib.sha256(repr((small, large, one)).encode()).hexdigest()
"""


def run(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", MADE + code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_all_objects_are_what_they_were() -> None:
    output = run("""
before, places = digest(), allocated()
assert move_to_file() > 30_000_000
maps = open("/proc/self/maps").read()
assert "memfd:podium-tests" in maps and not set(places) & set(allocated())
assert digest() == before
gc.collect()
del small, large[::2]
made = [{"a": [number]} for number in range(100_000)]  # new memory, and freed memory used again
assert made[99_999] == {"a": [99_999]} and len(large) == 1_000
print("as it was")
""")
    assert output == "as it was\n"


def test_a_fork_and_its_parent_do_not_see_what_the_other_writes() -> None:
    output = run("""
move_to_file()
before = digest()
reader, writer = os.pipe()
pid = os.fork()
if pid == 0:
    one[:] = bytes(len(one))
    small.clear()
    os.write(writer, digest().encode())
    os._exit(0)
assert os.waitpid(pid, 0)[1] == 0
assert os.read(reader, 100).decode() != before and digest() == before
pid = os.fork()
if pid == 0:
    os._exit(digest() != before)
print(os.waitpid(pid, 0)[1])
""")
    assert output == "0\n"


@pytest.mark.parametrize("count", [1, 2, 300])
def test_functions_are_called_in_turn(count: int) -> None:
    output = run(f"""
libc = ctypes.PyDLL(None)
text = ctypes.create_string_buffer(b"a" * ({count} + 1))
place = ctypes.addressof(text)
steps = [(libc.memset, (place + at, ord("b") + at % 7, {count} + 1 - at)) for at in range({count})]
call_all(steps)
print(text.value.decode())
""")
    assert len(output) == count + 2
    assert all(letter == chr(ord("b") + at % 7) for at, letter in enumerate(output[: count - 1])), (
        output
    )
