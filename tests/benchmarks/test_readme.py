"""The table of benchmarks is written into its place, and into nothing else."""

from typing import Any

import pytest

from benchmarks.harness.readme import BEGIN, END, README, table_of, with_table

_MACHINE = {"cpu": "A chip", "cores": 2, "memory_mb": 8000, "python": "3.11.7"}
_ROW: dict[str, Any] = {
    "measure": "games a second",
    "unit": "/s",
    "ours": 1234.5,
    "peers": {"slowlib": 12.3},
    "ratios": {"slowlib": 100.4},
    "aim": "≥ 50× slowlib",
    "met": True,
}
_BENCH = {"bench": "bets", "date": "2026-11-16T12:00:00+00:00", "machine": _MACHINE}


def test_rows_with_an_aim_are_shown_with_date_and_machine() -> None:
    rows = [_ROW, _ROW | {"measure": "by the way", "aim": None}, _ROW | {"met": False}]

    table = table_of([_BENCH | {"results": rows}])

    assert table.splitlines() == [
        "Measured on 2026-11-16 by `./bench --json`: A chip, 2 cores, 8 GB, Python 3.11.7.",
        "",
        "| | measure | ours | beside | aim | met |",
        "|---|---|---:|---|---|---|",
        "| bets | games a second | 1,234 /s | 100× slowlib (12.3) | ≥ 50× slowlib | yes |",
        "|  | games a second | 1,234 /s | 100× slowlib (12.3) | ≥ 50× slowlib | **no** |",
    ]


def test_the_table_takes_its_place_and_nothing_else_changes() -> None:
    page = f"before\n{BEGIN}\nold\n{END}\nafter\n"

    written = with_table(page, "new \\1")

    assert written == f"before\n{BEGIN}\nnew \\1\n{END}\nafter\n"


def test_a_page_without_the_place_is_refused() -> None:
    with pytest.raises(ValueError, match="there is no"):
        with_table("nothing", "table")


def test_the_readme_has_the_place_once() -> None:
    text = README.read_text(encoding="utf-8")

    assert (text.count(BEGIN), text.count(END)) == (1, 1)
