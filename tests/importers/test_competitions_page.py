"""docs/competitions.md names everything an admin can write or be told."""

from pathlib import Path
from typing import get_args

import pytest
from pydantic import BaseModel

from app.domain.columns import Column
from app.domain.competition import Competition
from app.domain.lint import LintCode
from app.importers.tree import TOP_FILES

PAGE = (Path(__file__).parents[2] / "docs" / "competitions.md").read_text(encoding="utf-8")
KINDS = get_args(get_args(Column)[0])


def models_in(annotation):
    """The sections that an annotation names, within unions and their tags too."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for part in get_args(annotation) for model in models_in(part)]


def keys(model, prefix=""):
    for name, field in model.model_fields.items():
        sections = models_in(field.annotation) if model is Competition else []
        if sections:
            for section in sections:
                yield from keys(section, f"{prefix}{name}.")
        elif prefix or name != "slug":
            yield prefix + name


@pytest.mark.parametrize("key", sorted(set(keys(Competition))))
def test_every_key_is_on_the_page(key):
    assert f"`{key}`" in PAGE


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_column_and_its_options_are_on_the_page(kind):
    name = get_args(kind.model_fields["kind"].annotation)[0]
    (row,) = [line for line in PAGE.splitlines() if line.startswith(f"| `{name}` |")]

    assert all(
        f"`{option}`" in row for option in kind.model_fields if option not in ("kind", "aliases")
    )


@pytest.mark.parametrize("code", LintCode)
def test_every_lint_code_is_on_the_page(code):
    assert f"| `{code}` |" in PAGE


@pytest.mark.parametrize("file", TOP_FILES)
def test_every_file_of_the_folder_is_on_the_page(file):
    assert file in PAGE
