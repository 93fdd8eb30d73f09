"""Runs every block of every tutorial."""

import re
from pathlib import Path

import pytest

from tests.tutorials.repository_copy import copy_mypy_cache, copy_repository, run_in
from tests.tutorials.tutorial_script import TUTORIALS, BlockResult, run_tutorial

_LADDER = ("src/grandstand/apps/ladder", "src/grandstand/host/registry.py", "tests/apps/ladder")
_LINT_IMPORTS = "from importlinter.cli import lint_imports_command; lint_imports_command()"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return copy_repository(tmp_path)


def _missing_output(results: list[BlockResult]) -> list[tuple[str, list[str], str]]:
    return [
        (result.commands, result.missing, result.output) for result in results if result.missing
    ]


def test_every_tutorial_is_played_here_and_listed() -> None:
    pages = {path.stem for path in TUTORIALS.glob("*.md")} - {"README"}
    index = (TUTORIALS / "README.md").read_text(encoding="utf-8")

    played = set(
        re.findall(r'run_tutorial\("([\w-]+)"', Path(__file__).read_text(encoding="utf-8"))
    )

    assert pages == played
    assert [name for name in pages if f"({name}.md)" not in index] == []


def test_a_sixth_application_is_written_and_passes_the_checks(tree: Path) -> None:
    results = run_tutorial("sixth-application", tree)

    types = run_in(tree, "-m", "mypy", "--cache-dir", str(copy_mypy_cache(tree)), *_LADDER)
    lint = run_in(tree, "-m", "ruff", "check", "--no-cache", *_LADDER)
    form = run_in(tree, "-m", "ruff", "format", "--check", "--no-cache", *_LADDER)

    contracts = run_in(tree, "-c", _LINT_IMPORTS, "--no-cache")

    assert _missing_output(results) == []
    assert types.returncode == 0, types.stdout + types.stderr
    assert (lint.returncode, form.returncode) == (0, 0), lint.stdout + form.stdout
    assert contracts.returncode == 0, contracts.stdout + contracts.stderr


def test_a_model_is_added_to_bets_walked_and_audited(tree: Path) -> None:
    results = run_tutorial("model-for-bets", tree)

    assert _missing_output(results) == []


def test_a_recording_is_played_again(tree: Path) -> None:
    results = run_tutorial("replay-a-day", tree)

    assert _missing_output(results) == []


def test_a_judge_of_ones_own_is_asked(tree: Path) -> None:
    results = run_tutorial("own-judge", tree)

    assert _missing_output(results) == []
