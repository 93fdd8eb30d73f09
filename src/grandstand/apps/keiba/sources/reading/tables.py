"""Kept here: tables of a page, read by the words of their headers and never by position."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from selectolax.lexbor import LexborNode

from grandstand.apps.keiba.sources.reading.text import bare, normal


@dataclass(frozen=True, slots=True)
class Row:
    """One row: its cells, and which column stands under which header."""

    node: LexborNode
    cells: tuple[LexborNode, ...]
    columns: Mapping[str, int]

    def cell(self, *headers: str) -> LexborNode | None:
        """Answer the cell under the first of these headers that the table has."""
        for name in headers:
            at = self.columns.get(name)
            if at is not None:
                return self.cells[at] if at < len(self.cells) else None
        return None

    def text(self, *headers: str) -> str:
        """Answer the text under the first of these headers; nothing when there is none."""
        for name in headers:
            at = self.columns.get(name)
            if at is not None:
                return normal(self.cells[at].text()) if at < len(self.cells) else ""
        return ""


def rows_of(table: LexborNode) -> list[LexborNode]:
    """Answer the rows of a table itself, not those of tables inside it."""
    rows: list[LexborNode] = []
    for part in table.iter():
        if part.tag in {"thead", "tbody", "tfoot"}:
            rows += [row for row in part.iter() if row.tag == "tr"]
        elif part.tag == "tr":
            rows.append(part)
    return rows


def cells_of(row: LexborNode) -> tuple[LexborNode, ...]:
    """Answer the cells of a row."""
    return tuple([cell for cell in row.iter() if cell.tag in {"td", "th"}])


def columns_of(table: LexborNode) -> dict[str, int]:
    """Answer where each header stands, from the first row that consists of headers."""
    for row in rows_of(table):
        cells = cells_of(row)
        if cells and all(cell.tag == "th" for cell in cells):
            return _placed(cells)
    return {}


def body_of(table: LexborNode) -> Iterator[Row]:
    """Answer the rows of a table that are not of headers alone."""
    columns = columns_of(table)
    for row in rows_of(table):
        cells = cells_of(row)
        if any(cell.tag == "td" for cell in cells):
            yield Row(row, cells, columns)


def labels_of(table: LexborNode) -> dict[str, LexborNode]:
    """Answer the cells of a table of two columns by what is written beside them."""
    found: dict[str, LexborNode] = {}
    for row in rows_of(table):
        cells = cells_of(row)
        if len(cells) > 1:
            found.setdefault(bare(cells[0].text()), cells[1])
    return found


def _placed(cells: tuple[LexborNode, ...]) -> dict[str, int]:
    columns: dict[str, int] = {}
    at = 0
    for cell in cells:
        columns.setdefault(bare(cell.text()), at)
        span = cell.attributes.get("colspan") or "1"
        at += int(span) if span.isascii() and span.isdigit() and len(span) < 3 else 1  # noqa: PLR2004
    return columns
