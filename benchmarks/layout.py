"""How large `app/` is: its folders, modules and imports, and circles between its folders.

The table under "Counts" in docs/architecture.md has these figures.
"""

from __future__ import annotations

from pathlib import Path

import grimp

import app

PACKAGE = Path(app.__file__).parent


def main() -> None:
    """Print the figures."""
    modules = module_counts(PACKAGE)
    print(f"{len(modules):5}  folders, `app/` itself too")
    print(f"{sum(modules.values()):5}  modules")
    print(f"{max(modules.values()):5}  modules in the largest folder")
    graph = grimp.build_graph("app")
    edges = [
        (one, other)
        for one in graph.modules
        for other in graph.find_modules_directly_imported_by(one)
    ]
    print(f"{len(edges):5}  imports between modules")
    found = circles({(folder_of(one), folder_of(other)) for one, other in edges})
    print(f"{len(found):5}  circles of imports between folders: {'; '.join(found) or 'none'}")
    print(f"{len(circles(set(edges))):5}  circles of imports between modules")


def module_counts(package: Path) -> dict[str, int]:
    """The number of modules in a package and in each folder below it, without `__init__`."""
    return {
        folder.relative_to(package).as_posix(): len(
            [file for file in folder.glob("*.py") if file.name != "__init__.py"]
        )
        for folder in (package, *package.rglob("*"))
        if (folder / "__init__.py").is_file()
    }


def folder_of(module: str) -> str:
    """The folder of a module; a module of `app` itself is a folder of its own."""
    path = PACKAGE.parent.joinpath(*module.split("."))
    return module if path.is_dir() or module.count(".") < 2 else module.rpartition(".")[0]


def circles(edges: set[tuple[str, str]]) -> list[str]:
    """The groups whose members all reach each other."""
    following: dict[str, set[str]] = {}
    for one, other in edges:
        following.setdefault(one, set()).add(other)
    nodes = {node for edge in edges for node in edge}
    reached = {node: _reached(node, following) for node in nodes}
    groups = {
        frozenset({node, *(other for other in reached[node] if node in reached[other])})
        for node in nodes
        if any(node != other and node in reached[other] for other in reached[node])
    }
    return [", ".join(sorted(group)) for group in sorted(groups, key=sorted)]


def _reached(start: str, following: dict[str, set[str]]) -> set[str]:
    found: set[str] = set()
    waiting = [start]
    while waiting:
        for other in following.get(waiting.pop(), set()) - found:
            found.add(other)
            waiting.append(other)
    return found


if __name__ == "__main__":
    main()
