"""The reference pages say what the code says."""

import ast
from pathlib import Path

import pytest

from grandstand.core.errors import GrandstandError
from grandstand.host.cli import full_command
from grandstand.host.reference import build_reference

FOLDER = Path(__file__).parents[2] / "docs" / "reference"
SOURCE = Path(__file__).parents[2] / "src"
PAGES = build_reference(full_command())


@pytest.mark.parametrize("name", sorted(PAGES))
def test_a_page_is_as_the_code_would_write_it_now(name: str) -> None:
    written = (FOLDER / name).read_text(encoding="utf-8")

    assert written == PAGES[name], "run `./run reference` and commit what it writes"


def test_every_error_of_the_source_is_on_its_page() -> None:
    meanings: list[type[GrandstandError]] = [GrandstandError, *GrandstandError.__subclasses__()]
    known = {error.__name__ for error in meanings}
    declared: dict[str, list[str]] = {}
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                declared[node.name] = [base.id for base in node.bases if isinstance(base, ast.Name)]

    errors = {name for name in declared if _leads_to(name, declared, known)}

    assert [name for name in sorted(errors) if f"| `{name}` |" not in PAGES["errors.md"]] == []


def _leads_to(name: str, declared: dict[str, list[str]], known: set[str]) -> bool:
    bases = declared.get(name, [])
    return any(base in known or _leads_to(base, declared, known) for base in bases)


def test_there_is_no_page_that_nothing_writes() -> None:
    found = {path.name for path in FOLDER.glob("*.md")} - {"README.md"}

    assert found == set(PAGES)
