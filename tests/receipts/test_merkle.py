"""The Merkle tree against vectors of Certificate Transparency, and against the text of RFC 6962."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.receipts import merkle

# The leaves, roots and paths that implementations of RFC 6962 are tested with.
LEAVES = [
    bytes.fromhex(text)
    for text in (
        "", "00", "10", "2021", "3031", "40414243", "5051525354555657",
        "606162636465666768696a6b6c6d6e6f",
    )
]  # fmt: skip
ROOTS = [
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]
PATHS = [  # the number of the leaf, the size of the tree, the path
    (0, 1, []),
    (0, 8, [
        "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
    ]),
    (5, 8, [
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
        "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    ]),
    (2, 3, ["fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125"]),
    (1, 5, [
        "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
    ]),
]  # fmt: skip
GROWTHS = [  # the smaller size, the larger, the proof
    (1, 1, []),
    (1, 8, [
        "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
    ]),
    (6, 8, [
        "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
        "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    ]),
    (2, 5, [
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
    ]),
]  # fmt: skip


class Tree:
    """The stored hashes of a tree, as the database keeps them."""

    def __init__(self, leaves: list[bytes]) -> None:
        self.hashes: dict[tuple[int, int], bytes] = {}
        for number, leaf in enumerate(leaves):
            for level, place, value in merkle.nodes_of_leaf(
                self.node, number, merkle.leaf_hash(leaf)
            ):
                assert (level, place) not in self.hashes
                self.hashes[level, place] = value

    def node(self, level: int, place: int) -> bytes:
        return self.hashes[level, place]


def by_the_text(leaves: list[bytes]) -> bytes:
    """MTH of RFC 6962, 2.1, as it is written there."""
    if not leaves:
        return hashlib.sha256().digest()
    if len(leaves) == 1:
        return hashlib.sha256(b"\x00" + leaves[0]).digest()
    k = 1
    while k * 2 < len(leaves):
        k *= 2
    return hashlib.sha256(b"\x01" + by_the_text(leaves[:k]) + by_the_text(leaves[k:])).digest()


def test_roots_are_those_of_the_vectors():
    tree = Tree(LEAVES)
    assert [merkle.root(tree.node, size).hex() for size in range(1, 9)] == ROOTS
    assert merkle.root(tree.node, 0) == by_the_text([])


@pytest.mark.parametrize(("number", "size", "path"), PATHS)
def test_inclusion_proofs_are_those_of_the_vectors(number, size, path):
    found = merkle.inclusion_proof(Tree(LEAVES).node, number, size)

    assert [each.hex() for each in found] == path
    root = bytes.fromhex(ROOTS[size - 1])
    assert merkle.is_included(merkle.leaf_hash(LEAVES[number]), number, size, found, root)


@pytest.mark.parametrize(("first", "size", "path"), GROWTHS)
def test_consistency_proofs_are_those_of_the_vectors(first, size, path):
    found = merkle.consistency_proof(Tree(LEAVES).node, first, size)

    assert [each.hex() for each in found] == path
    roots = (bytes.fromhex(ROOTS[first - 1]), bytes.fromhex(ROOTS[size - 1]))
    assert merkle.is_consistent(first, roots[0], size, roots[1], found)


def test_all_proofs_of_small_trees_hold_and_no_other_does():
    leaves = [bytes([number]) for number in range(33)]
    tree = Tree(leaves)
    roots = [merkle.root(tree.node, size) for size in range(34)]
    assert roots == [by_the_text(leaves[:size]) for size in range(34)]
    for size in range(1, 34):
        for number in range(size):
            proof = merkle.inclusion_proof(tree.node, number, size)
            leaf = merkle.leaf_hash(leaves[number])
            assert merkle.is_included(leaf, number, size, proof, roots[size])
            assert not merkle.is_included(leaf, number, size, [*proof, leaf], roots[size])
            assert not merkle.is_included(leaf, number, size, proof, roots[size - 1])
            assert not merkle.is_included(roots[0], number, size, proof, roots[size])
            for other in range(size):
                assert (other == number) or not merkle.is_included(
                    leaf, other, size, proof, roots[size]
                )
        for first in range(size + 1):
            proof = merkle.consistency_proof(tree.node, first, size)
            assert merkle.is_consistent(first, roots[first], size, roots[size], proof)
            wrong = roots[first - 1]
            assert not merkle.is_consistent(first, wrong, size, roots[size], proof)
            if first:  # every tree begins with the empty one
                assert not merkle.is_consistent(first, roots[first], size, wrong, proof)
            assert not merkle.is_consistent(
                first, roots[first], size, roots[size], [*proof, roots[0]]
            )


@settings(deadline=None)
@given(
    st.lists(st.binary(max_size=4), min_size=1, max_size=70), st.integers(0, 70), st.integers(0, 7)
)
def test_a_changed_past_has_no_proof(leaves, place, bit):
    place %= len(leaves)
    changed = list(leaves)
    changed[place] = bytes([bit]) + leaves[place]
    old, new = Tree(leaves), Tree([*changed, b"later"])
    first, size = len(leaves), len(leaves) + 1

    proof = merkle.consistency_proof(new.node, first, size)

    roots = (merkle.root(old.node, first), merkle.root(new.node, size))
    assert not merkle.is_consistent(first, roots[0], size, roots[1], proof)
