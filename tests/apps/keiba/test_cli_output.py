"""Warnings and progress on the terminal."""

import io

import pytest
from rich.console import Console

from grandstand.apps.keiba.cli import print_warnings, show_progress
from grandstand.apps.keiba.services.cards import Progress


def test_a_warning_is_told_once() -> None:
    terminal = Console(file=io.StringIO(), width=80)

    print_warnings(terminal, ["two [runners]", "two [runners]"])

    assert isinstance(terminal.file, io.StringIO)
    assert terminal.file.getvalue() == "! two [runners]\n"


def test_where_nobody_looks_progress_is_a_line_for_every_tenth(
    capsys: pytest.CaptureFixture[str],
) -> None:
    steps = [Progress(done=done, total=40, seconds_left=600.0 - 15 * done) for done in range(41)]

    with show_progress("20261115", lines=True) as report:
        list(map(report, steps))

    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 10
    assert lines[0] == "20261115: 4 of 40, 9\u00a0min left"
    assert lines[-1] == "20261115: 40 of 40"


def test_where_nobody_looks_a_short_work_is_silent(capsys: pytest.CaptureFixture[str]) -> None:
    with show_progress("gathering") as report:
        report(Progress(done=1, total=2))

    assert capsys.readouterr().err == ""
