"""Kept here: people's own figures about teams or players, from a CSV or JSON file."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Final, Literal, TypeAlias

from grandstand.apps.bets.model import slug
from grandstand.apps.bets.sources.errors import FileUnfit
from grandstand.apps.bets.sources.reading import Unfit, number_of
from grandstand.apps.bets.sources.tables import Line, Table, read_table

Subject: TypeAlias = Literal["team", "player"]

MOST_ROWS: Final = 10_000
DATE: Final = "date"


@dataclass(frozen=True, slots=True)
class CustomLine:
    """What a file says of one team or player, of a date where it has one."""

    subject: str
    figures: dict[str, Decimal]
    told: dict[str, str]
    on: date | None = None


@dataclass(frozen=True, slots=True)
class CustomTable:
    """A file: whom it is about, its columns of numbers, and its rows."""

    kind: Subject
    columns: tuple[str, ...]
    rows: tuple[CustomLine, ...]


def parse_custom(content: bytes, name: str = "the file", most_rows: int = MOST_ROWS) -> CustomTable:
    """Answer a person's file, whole or not at all.

    It needs a `player` or a `team` column (with both, it is about players), the same columns in
    every row, one column of numbers or more, and at most `most_rows` rows; a `date` column says
    which day a row is about (2026-01-31). Raises FileUnfit, which names the line.
    """
    table = read_table(content, name)
    if len(table.lines) > most_rows:
        raise FileUnfit(name, f"it has {len(table.lines)} rows; {most_rows} are allowed")
    if not table.lines:
        raise FileUnfit(name, "it has no rows")
    kind = _kind(table)
    for line in table.lines:
        _check_whole(table, line)
    others = [each for each in table.columns if each not in {kind, "team", "player", DATE}]
    numbers = tuple(column for column in others if _is_numeric(table, column))
    if not numbers:
        raise FileUnfit(name, "it has no column of numbers")
    return CustomTable(
        kind, numbers, tuple(_line(table, line, kind, numbers) for line in table.lines)
    )


def _kind(table: Table) -> Subject:
    if "player" in table.columns:
        return "player"
    if "team" in table.columns:
        return "team"
    raise FileUnfit(table.name, "it needs a column named team or player", 1)


def _check_whole(table: Table, line: Line) -> None:
    missing = [column for column in table.columns if column not in line.told]
    if missing:
        raise FileUnfit(table.name, f"it lacks {', '.join(missing[:5])}", line.number)


def _is_numeric(table: Table, column: str) -> bool:
    """A column is one of numbers when it has some, and nothing else but blanks."""
    values = [line.told[column] for line in table.lines if line.told[column]]
    return bool(values) and all(_is_number(value) for value in values)


def _is_number(value: str) -> bool:
    try:
        number_of(value, "")
    except Unfit:
        return False
    return True


def _line(table: Table, line: Line, kind: Subject, numbers: tuple[str, ...]) -> CustomLine:
    subject = line.told[kind]
    if not slug(subject):
        raise FileUnfit(table.name, f"it names no {kind}", line.number)
    figures = {
        column: number_of(line.told[column], column) for column in numbers if line.told[column]
    }
    told = {name: value for name, value in line.told.items() if name not in numbers}
    return CustomLine(subject, figures, told, _date(table, line))


def _date(table: Table, line: Line) -> date | None:
    value = line.told.get(DATE, "")
    if not value:
        return None
    try:
        return date.fromisoformat(value)
    except ValueError:
        raise FileUnfit(
            table.name, f"{value[:30]!r} is no date like 2026-01-31", line.number
        ) from None
