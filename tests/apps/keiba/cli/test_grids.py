"""Tables and progress, wherever they are printed."""

import io

import pytest
from rich.console import Console

from grandstand.apps.keiba.cli.grids import Column, Line, grid, progress_bar, say, warn
from grandstand.apps.keiba.service import Progress

COLUMNS = (Column("no", right=True), Column("horse"), Column("jockey", from_width=60))


def printed(width: int, *lines: Line) -> list[str]:
    terminal = Console(file=io.StringIO(), width=width)
    terminal.print(grid(COLUMNS, lines, width))
    assert isinstance(terminal.file, io.StringIO)
    return [line.rstrip() for line in terminal.file.getvalue().splitlines()]


def test_a_table_leaves_out_what_there_is_no_room_for() -> None:
    line = Line(("7", "ハヤテ", "北條"))

    wide, narrow = printed(80, line), printed(40, line)

    assert wide == ["no  horse   jockey", " 7  ハヤテ  北條"]
    assert narrow == ["no horse", " 7 ハヤテ"]


def test_what_pages_say_is_never_taken_for_markup() -> None:
    shown = printed(80, Line(("1", "[red]name[/red]", "[/]")))

    assert shown[1] == " 1  [red]name[/red]  [/]"


def test_a_warning_is_told_once() -> None:
    terminal = Console(file=io.StringIO(), width=80)

    warn(terminal, ["two [runners]", "two [runners]"])
    say(terminal, "done")

    assert isinstance(terminal.file, io.StringIO)
    assert terminal.file.getvalue() == "! two [runners]\ndone\n"


def test_where_nobody_looks_progress_is_a_line_for_every_tenth(
    capsys: pytest.CaptureFixture[str],
) -> None:
    steps = [Progress(done=done, total=40, seconds_left=600.0 - 15 * done) for done in range(41)]

    with progress_bar("20261115", lines=True) as told:
        list(map(told, steps))

    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 10
    assert lines[0] == "20261115: 4 of 40, 9 min left"
    assert lines[-1] == "20261115: 40 of 40, 0 s left"


def test_where_nobody_looks_a_short_work_is_silent(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_bar("gathering") as told:
        told(Progress(done=1, total=2))

    assert capsys.readouterr().err == ""
