"""A new application passes its own tests and every check of the house, as it was made."""

import subprocess
from pathlib import Path

import pytest

from grandstand.base.errors import Conflict, InvalidInput
from grandstand.host.scaffold.entering import ENTRIES, ForeignLayout
from grandstand.host.scaffold.making import TreeNotClean, make
from grandstand.host.scaffold.naming import named
from tests.host.scaffold.copying import ROOT, copied_tree, known_types, run_in

_NAME = "tides"
_ROOMS = f"src/grandstand/apps/{_NAME}"
_LINT = "from importlinter.cli import lint_imports_command; lint_imports_command()"


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the tree with one more application in it."""
    place = copied_tree(tmp_path_factory.mktemp("tree"))
    made = run_in(place, "-m", "grandstand", "new-app", _NAME, "--purpose", "When water rises")
    assert made.returncode == 0, made.stderr
    written = run_in(place, "-m", "grandstand", "reference")
    assert written.returncode == 0, written.stderr
    return place


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """A tree of nothing but the files in which an application is entered."""
    for name in ENTRIES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    return tmp_path


def _texts(tree: Path) -> dict[str, str]:
    return {name: (tree / name).read_text(encoding="utf-8") for name in ENTRIES}


_PAGES = ("settings", "commands", "routes", "tables-tides")
_LOOK = (_ROOMS, f"tests/apps/{_NAME}", "src/grandstand/host")
_FORM = ("tests/architecture/test_rooms.py", "tests/architecture/test_documents.py")


@pytest.mark.parametrize(
    "words",
    [
        ("ruff", "check", "--no-cache", *_LOOK),
        ("ruff", "format", "--check", "--no-cache", *_LOOK),
        ("pytest", "-q", f"tests/apps/{_NAME}", "-k", "not dynamodb"),
        ("pytest", "-q", *_FORM, "-k", "application or link_to"),
    ],
    ids=["lint", "format", "its tests", "architecture"],
)
def test_a_new_application_passes(tree: Path, words: tuple[str, ...]) -> None:
    done = run_in(tree, "-m", *words)

    assert done.returncode == 0, done.stdout + done.stderr


def test_a_new_application_has_the_right_types(tree: Path) -> None:
    cache = known_types(tree)

    done = run_in(tree, "-m", "mypy", "--cache-dir", str(cache), *_LOOK[:2])

    assert done.returncode == 0, done.stdout + done.stderr


def test_a_new_application_keeps_every_contract(tree: Path) -> None:
    done = run_in(tree, "-c", _LINT, "--no-cache")

    assert done.returncode == 0, done.stdout + done.stderr


def test_its_settings_commands_and_routes_are_the_houses(tree: Path) -> None:
    pages = {name: tree / "docs" / "reference" / f"{name}.md" for name in _PAGES}

    told = {name: path.read_text(encoding="utf-8") for name, path in pages.items()}

    assert "`GRANDSTAND_TIDES_LONGEST_TEXT`" in told["settings"]
    assert "`grandstand tides write`" in told["commands"]
    assert "`/api/tides/notes/{note_id}`" in told["routes"]
    assert "tides-notes" in told["tables-tides"]


def test_a_second_one_is_refused_and_nothing_is_written(bare: Path) -> None:
    make(bare, named(_NAME))
    before = _texts(bare)

    with pytest.raises(Conflict, match="is there already"):
        make(bare, named(_NAME))

    assert _texts(bare) == before


def test_files_that_look_otherwise_are_left_alone(bare: Path) -> None:
    (bare / "src/grandstand/host/cli/__init__.py").write_text("COMMANDS = load()\n")

    with pytest.raises(ForeignLayout, match=r"host/cli/__init__\.py: COMMANDS"):
        make(bare, named(_NAME))

    assert not (bare / _ROOMS).exists()


def test_a_folder_that_is_no_tree_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="not a tree of Grandstand"):
        make(tmp_path, named(_NAME))


def test_what_is_not_committed_is_not_mixed_with_what_is_made(bare: Path) -> None:
    subprocess.run(["git", "init", "-q", bare], check=True)  # noqa: S607 - any git will do

    with pytest.raises(TreeNotClean, match="not committed"):
        make(bare, named(_NAME))
    made = make(bare, named(_NAME), even_if_changed=True)

    assert [str(path) for path in made.entered] == [*ENTRIES]
