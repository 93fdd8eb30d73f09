"""Data files that users provide: stats, schedules, injuries and results, and custom datasets.

The stats folder has a subfolder per sport (`basketball_nba`) with CSV files with a header, or JSON
lists of objects with the same names:

- team_stats: team, date and any numeric columns; optional season, known_at
- player_stats: player, team, game_id, date and any numeric columns; optional known_at
- schedule: home_team, away_team, starts_at; optional known_at
- injuries: team, player, status (out, doubtful, questionable, active), date; optional injury,
impact (0 to 1), known_at
- results: home_team, away_team, starts_at, home_score, away_score; optional game_id

Dates are like 2026-01-31, times like 2026-01-31T19:30:00Z. Without `known_at` a row counts as known
when its day is over, a scheduled game a week before it starts.
"""

from __future__ import annotations

import asyncio
import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Final, Literal, TypeAlias, TypeVar, get_args

import msgspec

from grandstand.apps.bets.domain.records import (
    FeedFixture,
    FeedInjury,
    FeedPlayerStats,
    FeedScore,
    FeedScores,
    FeedStats,
    FeedTeamStats,
    InjuryStatus,
    RejectedRow,
    slug,
)
from grandstand.apps.bets.sources.validation import (
    InvalidValue,
    Rejections,
    check_year,
    invalid_file,
    parse_number,
    parse_score,
    parse_timestamp,
    require_text,
    shorten,
)
from grandstand.core.errors import InvalidInput

MAX_BYTES: Final = 32 * 1024 * 1024
_MAX_COLUMNS: Final = 400
T = TypeVar("T")
ParsedRows: TypeAlias = tuple[tuple[T, ...], tuple[RejectedRow, ...]]
_STATUSES: Final[dict[str, InjuryStatus]] = {status: status for status in get_args(InjuryStatus)}
_KEY_COLUMNS: Final = frozenset({"team", "player", "game_id", "date", "season", "known_at"})
_SCHEDULE_NOTICE: Final = timedelta(days=7)
Subject: TypeAlias = Literal["team", "player"]
MAX_ROWS: Final = 10_000
DATE: Final = "date"


@dataclass(frozen=True, slots=True)
class FileRow:
    """A row of a file with all values as text, and its line number."""

    number: int
    values: dict[str, str]


@dataclass(frozen=True, slots=True)
class FileTable:
    """The columns and rows of a file; rows may lack columns or have blank ones."""

    name: str
    columns: tuple[str, ...]
    lines: tuple[FileRow, ...]


def decode_text(content: bytes, name: str) -> str:
    """Decode UTF-8, with or without a byte order mark, or Windows-1252.

    Raises InvalidInput.
    """
    if len(content) > MAX_BYTES:
        raise invalid_file(name, f"it has more than {MAX_BYTES} bytes")
    for encoding in ("utf-8-sig", "cp1252"):
        try:
            return content.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise invalid_file(name, "it is neither UTF-8 nor Windows-1252 text")


def read_csv(text: str, name: str) -> FileTable:
    """Return the rows of a CSV file; blank rows and unnamed columns are skipped.

    Raises InvalidInput if there is no header or a line is malformed.
    """
    reader = csv.reader(io.StringIO(text, newline=""))
    try:
        header = [column.strip() for column in next(reader, [])]
        columns = tuple(dict.fromkeys(filter(None, header)))
        if not columns or len(header) > _MAX_COLUMNS:
            raise invalid_file(name, "the first line is not a header", 1)
        lines = []
        for row in reader:
            values = _row(header, row, name, reader.line_num)
            if any(values.values()):
                lines.append(FileRow(reader.line_num, values))
    except csv.Error as fault:
        raise invalid_file(name, f"it is not CSV ({fault})", reader.line_num) from fault
    return FileTable(name, columns, tuple(lines))


def read_json(content: bytes, name: str) -> FileTable:
    """Return the rows of a JSON list of objects.

    Raises InvalidInput.
    """
    try:
        rows = msgspec.json.decode(content.removeprefix(b"\xef\xbb\xbf"))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as fault:
        raise invalid_file(name, f"it is not JSON ({shorten(str(fault))})") from fault
    if not isinstance(rows, list):
        raise invalid_file(name, "it is not a list of rows")
    lines = []
    for number, row in enumerate(rows, 1):
        if not isinstance(row, dict):
            raise invalid_file(name, "it is not an object", number)
        texts = {str(key).strip(): _json_text(item, name, number) for key, item in row.items()}
        lines.append(FileRow(number, texts))
    columns = tuple(dict.fromkeys(key for line in lines for key in line.values))
    if len(columns) > _MAX_COLUMNS:
        raise invalid_file(name, f"it has more than {_MAX_COLUMNS} columns")
    return FileTable(name, columns, tuple(lines))


def read_table(content: bytes, name: str) -> FileTable:
    """Return the rows of a CSV or JSON file, depending on its first character.

    Raises InvalidInput.
    """
    if len(content) > MAX_BYTES:
        raise invalid_file(name, f"it has more than {MAX_BYTES} bytes")
    begins = content.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    if begins in {b"[", b"{"}:
        return read_json(content, name)
    return read_csv(decode_text(content, name), name)


def check_columns(table: FileTable, required: Sequence[str]) -> None:
    """Raise InvalidInput if a required column is missing."""
    missing = [column for column in required if column not in table.columns]
    if missing:
        raise invalid_file(table.name, f"missing columns {', '.join(missing)}", 1)


def _row(header: list[str], row: list[str], name: str, number: int) -> dict[str, str]:
    if any(value.strip() for value in row[len(header) :]):
        raise invalid_file(name, f"it has {len(row)} values in {len(header)} columns", number)
    values: dict[str, str] = {}
    for column, value in zip(header, row, strict=False):
        if column:
            values.setdefault(column, value.strip())
    return values


def _json_text(value: object, name: str, number: int) -> str:
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise invalid_file(name, "values must be text or numbers", number)
    return str(value).strip()


class StatsFolder:
    """A folder of data files, a StatsFeed; returns what was known by the end of a day.

    Raises InvalidInput for a file that cannot be read. A missing file is empty.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @property
    def name(self) -> str:
        return "files"

    async def fetch_stats(self, sport: str, on: date) -> FeedStats:
        """Return team and player stats up to a day."""
        until = _end_of_day(on)
        teams, rejected = await self._read(sport, "team_stats", parse_team_stats)
        players, rejected_players = await self._read(sport, "player_stats", parse_player_stats)
        return FeedStats(
            tuple(item for item in teams if item.known_at <= until),
            tuple(item for item in players if item.known_at <= until),
            rejected=rejected + rejected_players,
        )

    async def fetch_injuries(self, sport: str, on: date) -> FeedStats:
        """Return injury reports up to a day."""
        injuries, rejected = await self._read(sport, "injuries", parse_injuries)
        known = tuple(item for item in injuries if item.known_at <= _end_of_day(on))
        return FeedStats(injuries=known, rejected=rejected)

    async def fetch_schedules(self, sport: str, on: date) -> FeedStats:
        """Return the games scheduled on a day."""
        fixtures, rejected = await self._read(sport, "schedule", parse_schedule)
        values = tuple(item for item in fixtures if item.known_at <= _end_of_day(on))
        return FeedStats(fixtures=values, rejected=rejected)

    async def fetch_results(self, sport: str, first: date, last: date) -> FeedScores:
        """Return the results of games that started from one day to another."""
        scores, rejected = await self._read(sport, "results", parse_results)
        values = tuple(item for item in scores if first <= item.commence_time.date() <= last)
        return FeedScores(values, rejected)

    async def _read(
        self,
        sport: str,
        kind: str,
        parse: Callable[[bytes, str, str], ParsedRows[T]],
    ) -> ParsedRows[T]:
        if slug(sport) != sport:
            raise InvalidInput(
                f"Invalid sport {sport[:60]!r}. Use lower-case letters, digits and _."
            )
        for ending in ("csv", "json"):
            path = self._folder / sport / f"{kind}.{ending}"
            content = await asyncio.to_thread(_content, path)
            if content is not None:
                return await asyncio.to_thread(parse, content, sport, path.name)
        return (), ()


def parse_team_stats(
    content: bytes, sport: str, name: str = "team_stats"
) -> ParsedRows[FeedTeamStats]:
    """Return team stats, and the rejected lines."""

    def parse_row(line: FileRow) -> FeedTeamStats:
        on = _day(line)
        return FeedTeamStats(
            sport,
            _required_text(line, "team"),
            line.values.get("season", "") or str(on.year),
            on,
            _numeric_values(line),
            _known_at(line, _end_of_day(on)),
        )

    return _parse_rows(content, name, ("team", "date"), parse_row)


def parse_player_stats(
    content: bytes, sport: str, name: str = "player_stats"
) -> ParsedRows[FeedPlayerStats]:
    """Return player stats, and the rejected lines."""

    def parse_row(line: FileRow) -> FeedPlayerStats:
        player, team, game_id = (
            _required_text(line, item) for item in ("player", "team", "game_id")
        )
        known = _known_at(line, _end_of_day(_day(line)))
        return FeedPlayerStats(sport, player, team, game_id, _numeric_values(line), known)

    return _parse_rows(content, name, ("player", "team", "game_id", "date"), parse_row)


def parse_injuries(content: bytes, sport: str, name: str = "injuries") -> ParsedRows[FeedInjury]:
    """Return injury reports, and the rejected lines."""

    def parse_row(line: FileRow) -> FeedInjury:
        status = _STATUSES.get(_required_text(line, "status").lower())
        if status is None:
            raise InvalidValue(f"status must be one of {', '.join(_STATUSES)}")
        on, values = _day(line), line.values.get("impact", "")
        impact = parse_number(values, "impact") if values else Decimal("0.5")
        if not 0 <= impact <= 1:
            raise InvalidValue("impact must be between 0 and 1")
        kind = line.values.get("injury", "")[:100] or "not specified"
        team, player = _required_text(line, "team"), _required_text(line, "player")
        known = _known_at(line, _end_of_day(on))
        return FeedInjury(sport, team, player, on, status, kind, known, impact)

    return _parse_rows(content, name, ("team", "player", "status", "date"), parse_row)


def parse_schedule(content: bytes, sport: str, name: str = "schedule") -> ParsedRows[FeedFixture]:
    """Return scheduled games, one per team, and the rejected lines."""

    def parse_row(line: FileRow) -> tuple[FeedFixture, FeedFixture]:
        home, away = _teams(line)
        starts = parse_timestamp(line.values.get("starts_at"), "starts_at")
        known = _known_at(line, starts - _SCHEDULE_NOTICE)
        return (
            FeedFixture(sport, home, away, starts, True, known),
            FeedFixture(sport, away, home, starts, False, known),
        )

    pairs, refused = _parse_rows(content, name, ("home_team", "away_team", "starts_at"), parse_row)
    return tuple(item for pair in pairs for item in pair), refused


def parse_results(content: bytes, sport: str, name: str = "results") -> ParsedRows[FeedScore]:
    """Return results, and the rejected lines."""

    def parse_row(line: FileRow) -> FeedScore:
        home, away = _teams(line)
        starts = parse_timestamp(line.values.get("starts_at"), "starts_at")
        points = [parse_score(line.values.get(item, "")) for item in ("home_score", "away_score")]
        own = f"file-{starts:%Y%m%d}-{slug(home)}-{slug(away)}"
        game_id = line.values.get("game_id") or own
        return FeedScore(game_id, sport, home, away, starts, True, points[0], points[1])

    return _parse_rows(
        content,
        name,
        ("home_team", "away_team", "starts_at", "home_score", "away_score"),
        parse_row,
    )


def _parse_rows(
    content: bytes, name: str, required: tuple[str, ...], parse_row: Callable[[FileRow], T]
) -> ParsedRows[T]:
    table = read_table(content, name)
    if table.lines:
        check_columns(table, required)
    rejections, parsed = Rejections(), []
    for line in table.lines:
        try:
            parsed.append(parse_row(line))
        except InvalidValue as reason:
            rejections.add(f"{name}, line {line.number}", reason)
    return tuple(parsed), rejections.all


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as fault:
        raise invalid_file(path.name, f"it cannot be opened ({fault.strerror})") from fault


def _required_text(line: FileRow, name: str) -> str:
    return require_text(dict(line.values), name)


def _teams(line: FileRow) -> tuple[str, str]:
    home, away = _required_text(line, "home_team"), _required_text(line, "away_team")
    if slug(home) == slug(away):
        raise InvalidValue(f"{home} cannot play itself")
    return home, away


def _day(line: FileRow) -> date:
    values = line.values.get("date", "")
    try:
        parsed = date.fromisoformat(values)
    except ValueError:
        raise InvalidValue(f"{values[:30]!r} is not a date like 2026-01-31") from None
    return check_year(datetime.combine(parsed, time(), UTC), "date").date()


def _end_of_day(day: date) -> datetime:
    """Return the end of a day: the next midnight UTC."""
    return datetime.combine(day, time(), UTC) + timedelta(days=1)


def _known_at(line: FileRow, default: datetime) -> datetime:
    values = line.values.get("known_at", "")
    return parse_timestamp(values, "known_at") if values else default


def _numeric_values(line: FileRow) -> dict[str, Decimal]:
    parsed = {
        name: parse_number(value, name)
        for name, value in line.values.items()
        if name not in _KEY_COLUMNS and value
    }
    if not parsed:
        raise InvalidValue("it has no stats")
    return parsed


@dataclass(frozen=True, slots=True)
class CustomRow:
    """A row about one team or player; `day` is None without a date column."""

    subject: str
    stats: dict[str, Decimal]
    values: dict[str, str]
    day: date | None = None


@dataclass(frozen=True, slots=True)
class DatasetFile:
    """A file: its kind of subject, numeric columns and rows."""

    kind: Subject
    columns: tuple[str, ...]
    rows: tuple[CustomRow, ...]


def parse_custom_data(
    content: bytes, name: str = "the file", max_rows: int = MAX_ROWS
) -> DatasetFile:
    """Return a user's file, as a whole or not at all.

    It needs a `player` or `team` column (with both, it is about players), the same columns in every
    row, at least one numeric column, and at most `max_rows` rows. A `date` column (2026-01-31) says
    which day a row is about.

    Raises InvalidInput with the line.
    """
    table = read_table(content, name)
    if len(table.lines) > max_rows:
        raise invalid_file(name, f"it has {len(table.lines)} rows, the limit is {max_rows}")
    if not table.lines:
        raise invalid_file(name, "it has no rows")
    kind = _kind(table)
    for line in table.lines:
        missing = [column for column in table.columns if column not in line.values]
        if missing:
            raise invalid_file(name, f"missing {', '.join(missing[:5])}", line.number)
    others = [item for item in table.columns if item not in {kind, "team", "player", DATE}]
    numbers = tuple(column for column in others if _is_numeric(table, column))
    if not numbers:
        raise invalid_file(name, "it has no numeric column")
    return DatasetFile(
        kind, numbers, tuple(_line(table, line, kind, numbers) for line in table.lines)
    )


def _kind(table: FileTable) -> Subject:
    if "player" in table.columns:
        return "player"
    if "team" in table.columns:
        return "team"
    raise invalid_file(table.name, "a team or player column is required", 1)


def _is_numeric(table: FileTable, column: str) -> bool:
    """Return whether a column has numbers and otherwise only blanks."""
    values = [line.values[column] for line in table.lines if line.values[column]]
    return bool(values) and all(_is_number(value) for value in values)


def _is_number(value: str) -> bool:
    try:
        parse_number(value, "")
    except InvalidValue:
        return False
    return True


def _line(table: FileTable, line: FileRow, kind: Subject, numbers: tuple[str, ...]) -> CustomRow:
    subject = line.values[kind]
    if not slug(subject):
        raise invalid_file(table.name, f"{kind} is missing", line.number)
    stats = {
        column: parse_number(line.values[column], column)
        for column in numbers
        if line.values[column]
    }
    values = {name: value for name, value in line.values.items() if name not in numbers}
    return CustomRow(subject, stats, values, _date(table, line))


def _date(table: FileTable, line: FileRow) -> date | None:
    value = line.values.get(DATE, "")
    if not value:
        return None
    try:
        return date.fromisoformat(value)
    except ValueError:
        raise invalid_file(
            table.name, f"{value[:30]!r} is not a date like 2026-01-31", line.number
        ) from None
