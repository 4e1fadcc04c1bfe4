"""The Merkle tree of RFC 6962, section 2.1: hashes, proofs, and their verification (RFC 9162).

`Node` returns the hash of a complete subtree with 2**level leaves, of which the first has the
number place * 2**level. So a root or a proof needs some log2(size) hashes, not all of them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence

Node = Callable[[int, int], bytes]
EMPTY_ROOT = hashlib.sha256(b"").digest()
HASH_BYTES = 32


def leaf_hash(data: bytes) -> bytes:
    """The hash of a leaf."""
    return hashlib.sha256(b"\x00" + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """The hash of two subtrees."""
    return hashlib.sha256(b"\x01" + left + right).digest()


def nodes_of_leaf(node: Node, number: int, leaf: bytes) -> list[tuple[int, int, bytes]]:
    """Level, place and hash of the complete subtrees that the leaf with this number completes."""
    level, place, value = 0, number, leaf
    found = [(level, place, value)]
    while place % 2:
        value = node_hash(node(level, place - 1), value)
        level, place = level + 1, place // 2
        found.append((level, place, value))
    return found


def root(node: Node, size: int) -> bytes:
    """The root of the first `size` leaves."""
    return _subtree(node, 0, size) if size else EMPTY_ROOT


def inclusion_proof(node: Node, number: int, size: int) -> list[bytes]:
    """The proof that a leaf is in the tree of `size` leaves: PATH of RFC 6962, 2.1.1."""
    start, end = 0, size
    path: list[bytes] = []
    while end - start > 1:
        middle = start + _split(end - start)
        if number < middle:
            path.append(_subtree(node, middle, end))
            end = middle
        else:
            path.append(_subtree(node, start, middle))
            start = middle
    return path[::-1]


def consistency_proof(node: Node, first: int, size: int) -> list[bytes]:
    """The proof that the tree of `size` leaves begins with the first ones: PROOF of 2.1.2."""
    if first in (0, size):
        return []
    start, end, is_first_root = 0, size, True
    path: list[bytes] = []
    while end != first:
        middle = start + _split(end - start)
        if first <= middle:
            path.append(_subtree(node, middle, end))
            end = middle
        else:
            path.append(_subtree(node, start, middle))
            start, is_first_root = middle, False
    own = [] if is_first_root else [_subtree(node, start, end)]
    return own + path[::-1]


def is_included(
    leaf: bytes, number: int, size: int, proof: Sequence[bytes], root_hash: bytes
) -> bool:
    """Whether the proof shows that a leaf's hash is in the tree (RFC 9162, 2.1.3.2)."""
    if not 0 <= number < size:
        return False
    left, last, value = number, size - 1, leaf
    for each in proof:
        if last == 0:
            return False
        if left & 1 or left == last:
            value = node_hash(each, value)
            while left and not left & 1:
                left, last = left >> 1, last >> 1
        else:
            value = node_hash(value, each)
        left, last = left >> 1, last >> 1
    return last == 0 and value == root_hash


def is_consistent(
    first: int, first_root: bytes, size: int, size_root: bytes, proof: Sequence[bytes]
) -> bool:
    """Whether the proof shows that the larger tree begins with the smaller (RFC 9162, 2.1.4.2)."""
    if first == size:
        return not proof and first_root == size_root
    if first == 0:
        return not proof and first_root == EMPTY_ROOT
    if not (0 < first < size and proof):
        return False
    path = list(proof)
    if first & (first - 1) == 0:  # a power of two: its root is the first hash of the path
        path.insert(0, first_root)
    left, last = first - 1, size - 1
    while left & 1:
        left, last = left >> 1, last >> 1
    small = large = path[0]
    for each in path[1:]:
        if last == 0:
            return False
        if left & 1 or left == last:
            small, large = node_hash(each, small), node_hash(each, large)
            while left and not left & 1:
                left, last = left >> 1, last >> 1
        else:
            large = node_hash(large, each)
        left, last = left >> 1, last >> 1
    return last == 0 and small == first_root and large == size_root


def _subtree(node: Node, start: int, end: int) -> bytes:
    size = end - start
    if size & (size - 1) == 0 and start % size == 0:
        level = size.bit_length() - 1
        return node(level, start >> level)
    middle = start + _split(size)
    return node_hash(_subtree(node, start, middle), _subtree(node, middle, end))


def _split(size: int) -> int:
    """The largest power of two below `size`."""
    return 1 << ((size - 1).bit_length() - 1)
