"""The documents are true: what they name exists, and they keep their form."""

import json
import os
import re
import tomllib
from functools import cache
from pathlib import Path

import click
import pytest
import typer.main

import grandstand
from tests.architecture.tree import ROOT, repository_files, shown

_DECISIONS = sorted((ROOT / "docs" / "decisions").glob("[0-9]*.md"))
_APPLICATIONS = sorted((ROOT / "docs" / "apps").glob("[a-z]*.md"))
_TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("*.md"))
# The commands of tutorials are run, not looked up: some of them are made there.
_SHOWING = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "ARCHITECTURE.md")),
    *sorted((ROOT / "docs").glob("*.md")),
    *_APPLICATIONS,
]
_PINS = [*sorted((ROOT / "requirements").iterdir()), *(ROOT / "tests").rglob("package-lock.json")]

# Words of a place where the repository was written, which mean nothing to whoever reads it.
_FOREIGN = ("/" + "work/", "shared/" + "reference", "shared/" + "specs")
_FOREIGN_WORDS = re.compile(r"\b(helper|sub|coding) ?agents?\b|\bissue2\b", re.IGNORECASE)


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _headings(path: Path, level: str) -> list[str]:
    return re.findall(rf"^{level} (.+)$", _text(path), re.MULTILINE)


def _section(path: Path, heading: str) -> str:
    """What stands under a heading, up to the next of its level."""
    return _text(path).partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def _reference(name: str) -> str:
    return _text(ROOT / "docs" / "reference" / f"{name}.md")


@cache
def _grandstand() -> object:
    from grandstand.host.cli import full_command

    return typer.main.get_command(full_command())


def _exists(words: list[str]) -> bool:
    """Whether the leading words of a command line are a command of grandstand."""
    command = _grandstand()
    for word in words:
        if not isinstance(command, click.Group) or word.startswith(("-", "<", "[")):
            return True
        command = command.commands.get(word)
    return command is not None


def test_the_commands_at_the_root_can_be_started() -> None:
    commands = [
        ROOT / name
        for name in ("run", "test", "bench", ".ci/run", "requirements/lock", "scripts/screenshots")
    ]

    assert [shown(path) for path in commands if not os.access(path, os.X_OK)] == []


@pytest.mark.parametrize("path", _SHOWING, ids=shown)
def test_every_command_a_document_shows_exists(path: Path) -> None:
    code = re.findall(r"^ *```\w*\n(.*?)```", _text(path), re.DOTALL | re.MULTILINE)
    lines = [line.split("#")[0].split() for block in code for line in block.splitlines()]
    calls = [words for words in lines if words and words[0] in {"./run", "grandstand"}]
    files = [words[0] for words in lines if words and words[0].startswith("./")]

    assert [name for name in files if not (ROOT / name).exists()] == []
    assert [words for words in calls if not _exists(words[1:])] == []


@pytest.mark.parametrize("path", [*_SHOWING, *_TUTORIALS], ids=shown)
def test_every_setting_a_document_names_exists(path: Path) -> None:
    from grandstand.host.settings import setting_names

    named = set(re.findall(r"\bGRANDSTAND_[A-Z]+(?:_[A-Z]+)*\b", _text(path)))

    assert named - set(setting_names().values()) == set()


def test_every_file_the_documents_link_to_exists() -> None:
    documents = [path for path in repository_files() if path.suffix == ".md"]

    dead = [
        f"{shown(path)}: {target}"
        for path in documents
        for target in re.findall(r"\]\((?!https?:|#)([^)#\s]+)", _text(path))
        if not (path.parent / target).exists()
    ]

    assert dead == []


def test_every_picture_is_taken_by_the_script_small_and_shown() -> None:
    from tests.pages.screenshots import FOLDER, MOST_BYTES, PICTURES

    found = {path.name: path.stat().st_size for path in FOLDER.iterdir()}

    assert set(found) == {f"{picture.name}.webp" for picture in PICTURES}
    assert [name for name, size in found.items() if size > MOST_BYTES] == []
    assert [
        name for name in found if f"(docs/pictures/{name})" not in _text(ROOT / "README.md")
    ] == []


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

    assert [shown(path) for path in repository_files() if path.suffix in foreign] == []


def test_the_repository_speaks_of_grandstand_alone() -> None:
    found = [
        f"{shown(path)}: {word}"
        for path in repository_files()
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


def test_every_application_has_a_page_and_it_is_listed() -> None:
    folders = (ROOT / "src" / "grandstand" / "apps").iterdir()
    names = {path.name for path in folders if (path / "app.py").is_file()}
    index = _text(ROOT / "docs" / "apps" / "README.md")

    assert {path.stem for path in _APPLICATIONS} == names
    assert [name for name in names if f"({name}.md)" not in index] == []


@pytest.mark.parametrize("path", _APPLICATIONS, ids=lambda path: path.stem)
def test_every_page_of_an_application_has_the_same_headings(path: Path) -> None:
    assert _headings(path, "##") == [
        "Purpose",
        "Usage",
        "Stored data",
        "How it works",
        "Settings",
        "Jobs",
        "API",
        "Commands",
        "Tests",
        "Decisions",
        "Limits",
    ]


@pytest.mark.parametrize("path", _APPLICATIONS, ids=lambda path: path.stem)
def test_every_page_of_an_application_has_all_its_commands_and_no_other(path: Path) -> None:
    known = re.findall(
        rf"^\| `grandstand ({path.stem} [^`]+)`", _reference("commands"), re.MULTILINE
    )

    listed = re.findall(r"^- `\./run ([^`]+)`: .+", _section(path, "Commands"), re.MULTILINE)

    assert listed == known


@pytest.mark.parametrize("path", _APPLICATIONS, ids=lambda path: path.stem)
def test_every_page_of_an_application_says_where_its_routes_begin(path: Path) -> None:
    routes = set(re.findall(rf"`/api/{path.stem}/([\w.-]+)", _reference("routes")))

    named = set(re.findall(r"`/([\w.-]+)`", _section(path, "API")))

    assert named == routes


@pytest.mark.parametrize("path", _APPLICATIONS, ids=lambda path: path.stem)
def test_every_page_of_an_application_names_its_jobs(path: Path) -> None:
    known = re.findall(rf"^\| `({path.stem}\.\w+)`", _reference("jobs"), re.MULTILINE)

    told = _section(path, "Jobs")

    assert [name for name in known if f"`{name}`" not in told] == []


def test_the_version_is_the_same_wherever_it_stands() -> None:
    project = tomllib.loads(_text(ROOT / "pyproject.toml"))["project"]

    assert project["version"] == grandstand.__version__
