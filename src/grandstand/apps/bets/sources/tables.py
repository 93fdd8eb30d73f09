"""Kept here: files of rows that people write: CSV with a heading, or a JSON list of objects."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from grandstand.apps.bets.sources.errors import FileUnfit
from grandstand.apps.bets.sources.reading import shortened

MOST_BYTES: Final = 32 * 1024 * 1024
_MOST_COLUMNS: Final = 400


@dataclass(frozen=True, slots=True)
class Line:
    """A row of a file, every value as a text, and the line or the place it stands at."""

    number: int
    told: dict[str, str]


@dataclass(frozen=True, slots=True)
class Table:
    """The columns of a file and its rows; a row may lack columns or have blank ones."""

    name: str
    columns: tuple[str, ...]
    lines: tuple[Line, ...]


def decoded(content: bytes, name: str) -> str:
    """Answer a text in UTF-8, with or without a mark, or as Windows writes; raise FileUnfit."""
    if len(content) > MOST_BYTES:
        raise FileUnfit(name, f"it has more than {MOST_BYTES} bytes")
    for encoding in ("utf-8-sig", "cp1252"):
        try:
            return content.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise FileUnfit(name, "it is neither UTF-8 nor Windows-1252 text")


def read_csv(text: str, name: str) -> Table:
    """Answer the rows of a CSV; blank rows and columns without a heading are left out.

    Raises FileUnfit when there is no heading, or a line cannot be taken apart.
    """
    reader = csv.reader(io.StringIO(text, newline=""))
    try:
        heading = [column.strip() for column in next(reader, [])]
        columns = tuple(dict.fromkeys(filter(None, heading)))
        if not columns or len(heading) > _MOST_COLUMNS:
            raise FileUnfit(name, "its first line is no heading", 1)
        lines = []
        for row in reader:
            told = _row(heading, row, name, reader.line_num)
            if any(told.values()):
                lines.append(Line(reader.line_num, told))
    except csv.Error as fault:
        raise FileUnfit(name, f"it is no CSV ({fault})", reader.line_num) from fault
    return Table(name, columns, tuple(lines))


def read_json(content: bytes, name: str) -> Table:
    """Answer the rows of a JSON list of objects; raise FileUnfit when it is none."""
    try:
        rows = msgspec.json.decode(content.removeprefix(b"\xef\xbb\xbf"))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as fault:
        raise FileUnfit(name, f"it is no JSON ({shortened(str(fault))})") from fault
    if not isinstance(rows, list):
        raise FileUnfit(name, "it is no list of rows")
    lines = []
    for number, row in enumerate(rows, 1):
        if not isinstance(row, dict):
            raise FileUnfit(name, "it is no object", number)
        lines.append(
            Line(number, {str(key).strip(): _text(each, name, number) for key, each in row.items()})
        )
    columns = tuple(dict.fromkeys(key for line in lines for key in line.told))
    if len(columns) > _MOST_COLUMNS:
        raise FileUnfit(name, f"it has more than {_MOST_COLUMNS} columns")
    return Table(name, columns, tuple(lines))


def read_table(content: bytes, name: str) -> Table:
    """Answer the rows of a CSV or JSON file, told apart by how it begins; raise FileUnfit."""
    if len(content) > MOST_BYTES:
        raise FileUnfit(name, f"it has more than {MOST_BYTES} bytes")
    begins = content.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    if begins in {b"[", b"{"}:
        return read_json(content, name)
    return read_csv(decoded(content, name), name)


def check_columns(table: Table, needed: Sequence[str]) -> None:
    """Raise FileUnfit when a column that is needed is not there."""
    missing = [column for column in needed if column not in table.columns]
    if missing:
        raise FileUnfit(table.name, f"it needs the columns {', '.join(missing)}", 1)


def _row(heading: list[str], row: list[str], name: str, number: int) -> dict[str, str]:
    if any(value.strip() for value in row[len(heading) :]):
        raise FileUnfit(name, f"it has {len(row)} values under {len(heading)} columns", number)
    told: dict[str, str] = {}
    for column, value in zip(heading, row, strict=False):
        if column:
            told.setdefault(column, value.strip())
    return told


def _text(value: object, name: str, number: int) -> str:
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise FileUnfit(name, "its values must be texts or numbers", number)
    return str(value).strip()
