"""A table is sorted, searched, paged and written as asked."""

import csv
import io
from datetime import UTC, datetime

from markupsafe import Markup

from grandstand.kit.pages.table import Cell, Column, DataTable, Row

_COLUMNS = (Column("name", "Name"), Column("size", "Size", "number"))


def _table(*rows: tuple[str | Markup, float | None]) -> DataTable:
    return DataTable(
        "t",
        "Things",
        _COLUMNS,
        tuple(
            Row(str(place), (Cell(name), Cell("–" if size is None else f"{size:g}", size)))
            for place, (name, size) in enumerate(rows)
        ),
    )


def _names(table: DataTable) -> list[str]:
    return [row.cells[0].text for row in table.rows]


def test_numbers_are_sorted_as_numbers_and_blanks_stay_last() -> None:
    table = _table(("a", 10), ("b", None), ("c", 9))

    up, down = table.view({"t.sort": "size"}), table.view({"t.sort": "-size"})

    assert _names(up) == ["c", "a", "b"]
    assert _names(down) == ["a", "c", "b"]


def test_every_word_sought_must_be_in_a_row_in_any_case() -> None:
    table = _table(("Red Rum", 1), ("Red Marauder", 2), ("Foinavon", 3))

    found = table.view({"t.find": "RED mar"})

    assert _names(found) == ["Red Marauder"]
    assert found.found == 1
    assert not found.complete


def test_marks_are_not_searched_and_text_is_not_taken_for_marks() -> None:
    table = _table((Markup("<em>bold</em>"), 1), ("1 < 2 and 3 > 2", 2))

    assert _names(table.view({"t.find": "em"})) == []
    assert _names(table.view({"t.find": "2 and 3"})) == ["1 < 2 and 3 > 2"]


def test_a_page_beyond_the_last_is_the_last_and_nonsense_is_the_first() -> None:
    table = _table(*((str(place), place) for place in range(12)))

    beyond = table.view({"t.page": "99"}, page_rows=5)
    nonsense = table.view({"t.page": "²", "t.sort": "colour"}, page_rows=5)

    assert (beyond.page, beyond.pages, _names(beyond)) == (3, 3, ["10", "11"])
    assert (nonsense.page, nonsense.sorted_by) == (1, "")


def test_an_address_keeps_what_else_was_asked() -> None:
    table = _table(("a", 1), ("b", 2)).view({"t.sort": "-size", "t.find": "a b&c"}, page_rows=1)

    assert table.address(page=2) == "?t.sort=-size&t.find=a+b%26c&t.page=2#t"
    assert table.next_sort(_COLUMNS[1]) == "size"
    assert table.view({"t.sort": "size"}).next_sort(_COLUMNS[1]) == "-size"


def test_csv_holds_values_quotes_what_needs_it_and_no_formula() -> None:
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    table = DataTable(
        "t",
        "Things",
        (*_COLUMNS, Column("at", "At", "time")),
        (Row("1", (Cell('=1+1,"x"'), Cell("–5", -5), Cell(Markup("<b>now</b>"), moment))),),
    )

    heads, row = csv.reader(io.StringIO(table.csv()))

    assert heads == ["Name", "Size", "At"]
    assert row == ['\'=1+1,"x"', "-5", "2026-01-01T00:00:00+00:00"]
