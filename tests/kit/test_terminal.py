"""Tables show what there is room for, and print what they are given, whatever is in it."""

import io

import pytest
from rich.console import Console

from grandstand.kit.terminal import ColumnSpec, TableRow, print_line, print_results, print_table

COLUMNS = (ColumnSpec("no", right=True), ColumnSpec("horse"), ColumnSpec("jockey", from_width=60))


def printed(width: int, *lines: TableRow) -> list[str]:
    terminal = Console(file=io.StringIO(), width=width)
    print_table(terminal, COLUMNS, lines)
    assert isinstance(terminal.file, io.StringIO)
    return [line.rstrip() for line in terminal.file.getvalue().splitlines()]


def test_a_table_leaves_out_what_there_is_no_room_for() -> None:
    line = TableRow(("7", "ハヤテ", "北條"))

    wide, narrow = printed(80, line), printed(40, line)

    assert wide == ["no  horse   jockey", " 7  ハヤテ  北條"]
    assert narrow == ["no horse", " 7 ハヤテ"]


def test_what_pages_say_is_never_taken_for_markup() -> None:
    shown = printed(80, TableRow(("1", "[red]name[/red]", "[/]")))

    assert shown[1] == " 1  [red]name[/red]  [/]"


def test_what_is_whole_is_not_broken_in_two() -> None:
    terminal = Console(file=io.StringIO(), width=12)

    print_table(
        terminal,
        (ColumnSpec("id", whole=True), ColumnSpec("about")),
        [TableRow(("ab-cd", "one two"))],
    )

    assert isinstance(terminal.file, io.StringIO)
    shown = [line.split() for line in terminal.file.getvalue().splitlines()]
    assert shown == [["id", "about"], ["ab-cd", "one"], ["two"]]


def test_a_line_from_elsewhere_is_never_taken_for_markup() -> None:
    terminal = Console(file=io.StringIO(), width=80)

    print_line(terminal, "two [runners]")

    assert isinstance(terminal.file, io.StringIO)
    assert terminal.file.getvalue() == "two [runners]\n"


def test_what_was_found_is_a_table_or_json_and_nothing_is_a_sentence(
    capsys: pytest.CaptureFixture[str],
) -> None:
    columns = (ColumnSpec("name"),)

    def line(name: str) -> TableRow:
        return TableRow((name,))

    for found, as_json in ((["ada"], False), (["ada"], True), ([], True), ([], False)):
        print_results(found, columns, line, as_json=as_json, empty="Nobody yet.")

    lines = [text.strip() for text in capsys.readouterr().out.splitlines()]
    assert lines == ["name", "ada", "[", '"ada"', "]", "[]", "Nobody yet."]
