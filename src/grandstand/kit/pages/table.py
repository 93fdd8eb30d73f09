"""Tables of pages: sorted, searched, paged and exported as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Final, Literal, TypeAlias
from urllib.parse import urlencode

from markupsafe import Markup

from grandstand.core.formatting import EMPTY

SortValue: TypeAlias = str | int | float | Decimal | datetime | None
CellKind: TypeAlias = Literal["text", "number", "time"]
Tone: TypeAlias = Literal["", "good", "bad", "warn", "quiet"]

PAGE_ROWS: Final = 50

# A cell that begins so is taken for a formula by spreadsheets.
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True, slots=True)
class Column:
    """A column; columns of rank 2 are hidden on narrow screens."""

    key: str
    title: str
    kind: CellKind = "text"
    rank: Literal[1, 2] = 1
    sorts: bool = True


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell: the content, the value for sorting and CSV, and a link."""

    shown: str | Markup
    value: SortValue = None
    href: str = ""
    tone: Tone = ""
    badge: bool = False

    @property
    def text(self) -> str:
        """The content without markup."""
        return self.shown.striptags() if isinstance(self.shown, Markup) else self.shown

    @property
    def plain(self) -> SortValue:
        """The value, or the text; None if blank."""
        content = self.text if self.value is None else self.value
        return None if content in ("", EMPTY) else content

    @property
    def written(self) -> str:
        """The value as text, for sorting in the page and for CSV."""
        content = self.plain
        if content is None:
            return ""
        return content.isoformat() if isinstance(content, datetime) else str(content)


@dataclass(frozen=True, slots=True)
class Row:
    """A row; `key` identifies it across refreshes."""

    key: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class DataTable:
    """A table: all rows or, after `view`, the selected ones.

    On narrow screens it scrolls sideways without its rank 2 columns or, if it `stacks`, shows each
    row as a record.
    """

    name: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    sorted_by: str = ""
    descending: bool = False
    sought: str = ""
    page: int = 1
    pages: int = 1
    found: int | None = None
    csv_href: str = ""
    stacks: bool = False

    @property
    def complete(self) -> bool:
        """Whether all rows are on the page, so that the page can sort by itself."""
        return self.pages == 1 and not self.sought

    def view(self, query: Mapping[str, str], *, page_rows: int = PAGE_ROWS) -> DataTable:
        """Return the table as sorted, searched and paged by a query string."""
        sort = query.get(f"{self.name}.sort", "")
        key, descending = sort.removeprefix("-"), sort.startswith("-")
        sought = query.get(f"{self.name}.find", "").strip()
        rows = self._found(sought)
        known = [column.key for column in self.columns if column.sorts]
        if key in known:
            rows = self._sorted(rows, key, descending=descending)
        pages = max(-(-len(rows) // page_rows), 1)
        number = query.get(f"{self.name}.page", "1")
        page = min(max(int(number) if number.isascii() and number.isdigit() else 1, 1), pages)
        return replace(
            self,
            rows=tuple(rows[(page - 1) * page_rows : page * page_rows]),
            sorted_by=key if key in known else "",
            descending=descending,
            sought=sought,
            page=page,
            pages=pages,
            found=len(rows),
        )

    def address(self, *, sort: str | None = None, page: int | None = None) -> str:
        """Return the query string for another sort order or page."""
        now = f"{'-' if self.descending else ''}{self.sorted_by}"
        query = {
            f"{self.name}.sort": now if sort is None else sort,
            f"{self.name}.find": self.sought,
            f"{self.name}.page": "" if page is None else str(page),
        }
        return f"?{urlencode({key: value for key, value in query.items() if value})}#{self.name}"

    def next_sort(self, column: Column) -> str:
        """Return the sort order after a click on a column title."""
        again = column.key == self.sorted_by and not self.descending
        return f"-{column.key}" if again else column.key

    def csv(self) -> str:
        """Return the rows as CSV (RFC 4180); texts that look like formulas are quoted."""
        lines = io.StringIO()
        writer = csv.writer(lines)
        writer.writerow([column.title for column in self.columns])
        writer.writerows([_escape_formula(cell) for cell in row.cells] for row in self.rows)
        return lines.getvalue()

    def _found(self, sought: str) -> list[Row]:
        words = sought.casefold().split()
        return [
            row
            for row in self.rows
            for text in [" ".join(cell.text for cell in row.cells)]
            if all(word in text.casefold() for word in words)
        ]

    def _sorted(self, rows: list[Row], key: str, *, descending: bool) -> list[Row]:
        place = [column.key for column in self.columns].index(key)
        known = [row for row in rows if row.cells[place].plain is not None]
        blank = [row for row in rows if row.cells[place].plain is None]
        ordered = sorted(known, key=lambda row: _order(row.cells[place]), reverse=descending)
        return ordered + blank


def _order(cell: Cell) -> tuple[int, float, str]:
    content = cell.plain
    if isinstance(content, datetime):
        return (0, content.timestamp(), "")
    if isinstance(content, int | float | Decimal):
        return (0, float(content), "")
    return (1, 0.0, str(content).casefold())


def _escape_formula(cell: Cell) -> str:
    text = cell.written
    risky = isinstance(cell.plain, str) and text.startswith(_FORMULA)
    return f"'{text}" if risky else text
