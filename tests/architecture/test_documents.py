"""The documents are true: what they name exists, and they keep their form."""

import json
import os
import re
import tomllib
from pathlib import Path

import click
import pytest
import typer.main

import grandstand
from tests.architecture.tree import ROOT, kept_files, shown

_DECISIONS = sorted((ROOT / "docs" / "decisions").glob("[0-9]*.md"))
_APPLICATIONS = sorted((ROOT / "docs" / "apps").glob("[a-z]*.md"))
_PINS = [*sorted((ROOT / "requirements").iterdir()), *(ROOT / "tests").rglob("package-lock.json")]

# Words of a place where the repository was written, which mean nothing to whoever reads it.
_FOREIGN = ("/" + "work/", "shared/" + "reference", "shared/" + "specs")
_FOREIGN_WORDS = re.compile(r"\b(helper|sub|coding) ?agents?\b|\bissue2\b", re.IGNORECASE)


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _headings(path: Path, level: str) -> list[str]:
    return re.findall(rf"^{level} (.+)$", _text(path), re.MULTILINE)


def _exists(words: list[str]) -> bool:
    """Whether the leading words of a command line are a command of grandstand."""
    from grandstand.host.cli import whole

    command: object = typer.main.get_command(whole())
    for word in words:
        if not isinstance(command, click.Group) or word.startswith(("-", "<", "[")):
            return True
        command = command.commands.get(word)
    return command is not None


def test_the_commands_at_the_root_can_be_started() -> None:
    commands = [ROOT / name for name in ("run", "test", "bench", ".ci/run", "requirements/lock")]

    assert [shown(path) for path in commands if not os.access(path, os.X_OK)] == []


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md"])
def test_every_command_a_document_shows_exists(document: str) -> None:
    code = re.findall(r"```\w*\n(.*?)```", _text(ROOT / document), re.DOTALL)
    lines = [line.split("#")[0].split() for block in code for line in block.splitlines()]
    calls = [words for words in lines if words and words[0] in {"./run", "grandstand"}]
    files = [words[0] for words in lines if words and words[0].startswith("./")]

    assert [name for name in files if not (ROOT / name).exists()] == []
    assert [words for words in calls if not _exists(words[1:])] == []


def test_every_file_the_documents_link_to_exists() -> None:
    documents = [path for path in kept_files() if path.suffix == ".md"]

    dead = [
        f"{shown(path)}: {target}"
        for path in documents
        for target in re.findall(r"\]\((?!https?:|#)([^)#\s]+)", _text(path))
        if not (path.parent / target).exists()
    ]

    assert dead == []


def test_pinned_lists_hold_no_addresses() -> None:
    lists = [path for path in _PINS if path.name != "lock"]

    assert [shown(path) for path in lists if re.search(r"https?://|index-url", _text(path))] == []


def test_every_pinned_wheel_has_a_hash() -> None:
    lists = [path for path in _PINS if path.suffix == ".txt"]

    bare = [
        f"{shown(path)}: {entry.split()[0]}"
        for path in lists
        for entry in re.findall(r"^[a-z0-9][^#]*?(?=^[a-z0-9]|\Z)", _text(path), re.MULTILINE)
        if "--hash=sha256:" not in entry
    ]

    assert bare == []


def test_every_pinned_npm_package_has_a_hash() -> None:
    lists = [path for path in _PINS if path.name == "package-lock.json"]

    bare = [
        f"{shown(path)}: {name}"
        for path in lists
        for name, entry in json.loads(_text(path))["packages"].items()
        if name and not entry.get("integrity", "").startswith("sha512-")
    ]

    assert len(lists) == 4
    assert bare == []


def test_the_test_pins_hold_all_of_the_run_pins() -> None:
    def pins(name: str) -> set[str]:
        text = _text(ROOT / "requirements" / name)
        return set(re.findall(r"^[a-z0-9].*==.*$", text, re.MULTILINE))

    assert len(pins("run.txt")) > 10
    assert pins("run.txt") - pins("test.txt") == set()


def test_no_file_of_somebody_else_is_kept() -> None:
    foreign = {".jar", ".whl", ".tgz", ".gz", ".zip", ".so", ".dll", ".exe", ".woff", ".woff2"}

    assert [shown(path) for path in kept_files() if path.suffix in foreign] == []


def test_the_repository_speaks_of_grandstand_alone() -> None:
    found = [
        f"{shown(path)}: {word}"
        for path in kept_files()
        for text in [path.read_text(encoding="utf-8", errors="replace")]
        for word in [*filter(text.__contains__, _FOREIGN), *_FOREIGN_WORDS.findall(text)]
    ]

    assert found == []


@pytest.mark.parametrize("path", _DECISIONS, ids=lambda path: path.name)
def test_every_decision_has_the_same_headings(path: Path) -> None:
    assert _headings(path, "##") == ["Context", "Decision", "Consequences"]


def test_decisions_have_numbers_of_their_own_and_are_listed() -> None:
    numbers = [path.name[:4] for path in _DECISIONS]
    index = _text(ROOT / "docs" / "decisions" / "README.md")

    assert len(numbers) == len(set(numbers))
    assert [path.name for path in _DECISIONS if f"({path.name})" not in index] == []


def test_every_page_of_an_application_has_the_same_headings() -> None:
    assert len({tuple(_headings(path, "##")) for path in _APPLICATIONS}) <= 1


def test_the_glossary_is_sorted_and_has_each_word_once() -> None:
    words = re.findall(r"^\*\*(.+?)\*\*", _text(ROOT / "GLOSSARY.md"), re.MULTILINE)

    assert len(words) > 20
    assert words == sorted(set(words), key=str.casefold)


def test_the_version_is_the_same_wherever_it_stands() -> None:
    project = tomllib.loads(_text(ROOT / "pyproject.toml"))["project"]

    assert project["version"] == grandstand.__version__
