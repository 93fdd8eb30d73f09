"""The tutorials do what they say: every block of every page, in order."""

import re
from pathlib import Path

import pytest

from tests.tutorials.copying import copied_tree, known_types, run_in
from tests.tutorials.playing import TUTORIALS, Said, play

_LADDER = ("src/grandstand/apps/ladder", "src/grandstand/host/registry.py", "tests/apps/ladder")
_LINT_IMPORTS = "from importlinter.cli import lint_imports_command; lint_imports_command()"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return copied_tree(tmp_path)


def _unsaid(said: list[Said]) -> list[tuple[str, list[str], str]]:
    return [(each.commands, each.missing, each.output) for each in said if each.missing]


def test_every_tutorial_is_played_here_and_listed() -> None:
    pages = {path.stem for path in TUTORIALS.glob("*.md")} - {"README"}
    index = (TUTORIALS / "README.md").read_text(encoding="utf-8")

    played = set(re.findall(r'play\("([\w-]+)"', Path(__file__).read_text(encoding="utf-8")))

    assert pages == played
    assert [name for name in pages if f"({name}.md)" not in index] == []


def test_a_sixth_application_is_written_and_passes_the_checks(tree: Path) -> None:
    said = play("sixth-application", tree)

    types = run_in(tree, "-m", "mypy", "--cache-dir", str(known_types(tree)), *_LADDER)
    lint = run_in(tree, "-m", "ruff", "check", "--no-cache", *_LADDER)
    form = run_in(tree, "-m", "ruff", "format", "--check", "--no-cache", *_LADDER)

    contracts = run_in(tree, "-c", _LINT_IMPORTS, "--no-cache")

    assert _unsaid(said) == []
    assert types.returncode == 0, types.stdout + types.stderr
    assert (lint.returncode, form.returncode) == (0, 0), lint.stdout + form.stdout
    assert contracts.returncode == 0, contracts.stdout + contracts.stderr


def test_a_model_is_added_to_bets_walked_and_audited(tree: Path) -> None:
    said = play("model-for-bets", tree)

    assert _unsaid(said) == []


def test_a_recording_is_played_again(tree: Path) -> None:
    said = play("replay-a-day", tree)

    assert _unsaid(said) == []


def test_a_judge_of_ones_own_is_asked(tree: Path) -> None:
    said = play("own-judge", tree)

    assert _unsaid(said) == []
