"""Kept here: figures, schedules, injuries and results from files that people write.

A folder has one of its own for each sport (`basketball_nba`), and in it CSV files with a heading,
or JSON lists of objects with the same names:

- team_stats: team, date, and any columns of numbers; season and known_at may be there
- player_stats: player, team, game_id, date, and any columns of numbers; known_at may be there
- schedule: home_team, away_team, starts_at; known_at may be there
- injuries: team, player, status (out, doubtful, questionable, active), date; injury, impact (0 to
  1) and known_at may be there
- results: home_team, away_team, starts_at, home_score, away_score; game_id may be there

Dates are like 2026-01-31, moments like 2026-01-31T19:30:00Z. Without `known_at` a row counts as
known when its day is over, a game on the schedule a week before it starts.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Final, TypeVar

from grandstand.apps.bets.model import InjuryStatus, slug
from grandstand.apps.bets.model.feeds import (
    FedInjury,
    FedMeeting,
    FedPlayerFigures,
    FedScore,
    FedScores,
    FedStats,
    FedTeamFigures,
    Refused,
)
from grandstand.apps.bets.sources.errors import FeedNameUnfit, FileUnfit
from grandstand.apps.bets.sources.reading import (
    Refusals,
    Unfit,
    moment_of,
    number_of,
    score_of,
    text_of,
    within_reason,
)
from grandstand.apps.bets.sources.tables import Line, check_columns, read_table

T = TypeVar("T")

_STATUSES: Final[dict[str, InjuryStatus]] = {
    "out": "out",
    "doubtful": "doubtful",
    "questionable": "questionable",
    "active": "active",
}
_NOT_FIGURES: Final = frozenset({"team", "player", "game_id", "date", "season", "known_at"})
_NOTICE: Final = timedelta(days=7)
_USUAL_IMPACT: Final = Decimal("0.5")


class StatFolder:
    """A folder of files; a StatsFeed. Each answer tells what was known by the end of its day.

    Asking raises FileUnfit for a file that cannot be read; a file that is not there tells nothing.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @property
    def name(self) -> str:
        """Who it is, for reports."""
        return "files"

    async def fetch_stats(self, sport: str, on: date) -> FedStats:
        """Answer the figures of teams and players up to a day."""
        until = _over(on)
        teams, badly = await self._read(sport, "team_stats", parse_team_stats)
        players, badly_too = await self._read(sport, "player_stats", parse_player_stats)
        return FedStats(
            tuple(each for each in teams if each.known_at <= until),
            tuple(each for each in players if each.known_at <= until),
            refused=badly + badly_too,
        )

    async def fetch_injuries(self, sport: str, on: date) -> FedStats:
        """Answer what was reported of players up to a day."""
        injuries, badly = await self._read(sport, "injuries", parse_injuries)
        told = tuple(each for each in injuries if each.known_at <= _over(on))
        return FedStats(injuries=told, refused=badly)

    async def fetch_schedules(self, sport: str, on: date) -> FedStats:
        """Answer the games that were on the schedule on a day."""
        meetings, badly = await self._read(sport, "schedule", parse_schedule)
        told = tuple(each for each in meetings if each.known_at <= _over(on))
        return FedStats(meetings=told, refused=badly)

    async def fetch_results(self, sport: str, first: date, last: date) -> FedScores:
        """Answer how the games that began from a day to another ended."""
        scores, badly = await self._read(sport, "results", parse_results)
        told = tuple(each for each in scores if first <= each.commence_time.date() <= last)
        return FedScores(told, badly)

    async def _read(
        self,
        sport: str,
        kind: str,
        parse: Callable[[bytes, str, str], tuple[tuple[T, ...], tuple[Refused, ...]]],
    ) -> tuple[tuple[T, ...], tuple[Refused, ...]]:
        if slug(sport) != sport:
            raise FeedNameUnfit(sport)
        for ending in ("csv", "json"):
            path = self._folder / sport / f"{kind}.{ending}"
            content = await asyncio.to_thread(_content, path)
            if content is not None:
                return await asyncio.to_thread(parse, content, sport, path.name)
        return (), ()


def parse_team_stats(
    content: bytes, sport: str, name: str = "team_stats"
) -> tuple[tuple[FedTeamFigures, ...], tuple[Refused, ...]]:
    """Answer the figures of teams, and the lines that are none; raise FileUnfit."""

    def one(line: Line) -> FedTeamFigures:
        on = _day(line)
        return FedTeamFigures(
            sport,
            _text(line, "team"),
            _season(line, on),
            on,
            _figures(line),
            _known(line, _over(on)),
        )

    return _taken(content, name, ("team", "date"), one)


def parse_player_stats(
    content: bytes, sport: str, name: str = "player_stats"
) -> tuple[tuple[FedPlayerFigures, ...], tuple[Refused, ...]]:
    """Answer the figures of players, and the lines that are none; raise FileUnfit."""

    def one(line: Line) -> FedPlayerFigures:
        player, team, game_id = (_text(line, each) for each in ("player", "team", "game_id"))
        known = _known(line, _over(_day(line)))
        return FedPlayerFigures(sport, player, team, game_id, _figures(line), known)

    return _taken(content, name, ("player", "team", "game_id", "date"), one)


def parse_injuries(
    content: bytes, sport: str, name: str = "injuries"
) -> tuple[tuple[FedInjury, ...], tuple[Refused, ...]]:
    """Answer reports of injuries, and the lines that are none; raise FileUnfit."""

    def one(line: Line) -> FedInjury:
        status = _STATUSES.get(_text(line, "status").lower())
        if status is None:
            raise Unfit(f"status is none of {', '.join(_STATUSES)}")
        on, told = _day(line), line.told.get("impact", "")
        impact = number_of(told, "impact") if told else _USUAL_IMPACT
        if not 0 <= impact <= 1:
            raise Unfit("impact is not between 0 and 1")
        kind = line.told.get("injury", "")[:100] or "not told"
        team, player = _text(line, "team"), _text(line, "player")
        known = _known(line, _over(on))
        return FedInjury(sport, team, player, on, status, kind, known, impact)

    return _taken(content, name, ("team", "player", "status", "date"), one)


def parse_schedule(
    content: bytes, sport: str, name: str = "schedule"
) -> tuple[tuple[FedMeeting, ...], tuple[Refused, ...]]:
    """Answer games of the schedule, each as both teams have it; raise FileUnfit."""

    def one(line: Line) -> tuple[FedMeeting, FedMeeting]:
        home, away = _sides(line)
        starts = moment_of(line.told.get("starts_at"), "starts_at")
        known = _known(line, starts - _NOTICE)
        return (
            FedMeeting(sport, home, away, starts, True, known),
            FedMeeting(sport, away, home, starts, False, known),
        )

    pairs, refused = _taken(content, name, ("home_team", "away_team", "starts_at"), one)
    return tuple(each for pair in pairs for each in pair), refused


def parse_results(
    content: bytes, sport: str, name: str = "results"
) -> tuple[tuple[FedScore, ...], tuple[Refused, ...]]:
    """Answer how games ended, and the lines that do not tell; raise FileUnfit."""

    def one(line: Line) -> FedScore:
        home, away = _sides(line)
        starts = moment_of(line.told.get("starts_at"), "starts_at")
        points = [score_of(line.told.get(each, "")) for each in ("home_score", "away_score")]
        own = f"file-{starts:%Y%m%d}-{slug(home)}-{slug(away)}"
        game_id = line.told.get("game_id") or own
        return FedScore(game_id, sport, home, away, starts, True, points[0], points[1])

    return _taken(
        content, name, ("home_team", "away_team", "starts_at", "home_score", "away_score"), one
    )


def _taken(
    content: bytes, name: str, needed: tuple[str, ...], one: Callable[[Line], T]
) -> tuple[tuple[T, ...], tuple[Refused, ...]]:
    table = read_table(content, name)
    if table.lines:
        check_columns(table, needed)
    refusals, found = Refusals(), []
    for line in table.lines:
        try:
            found.append(one(line))
        except Unfit as why:
            refusals.add(f"{name}, line {line.number}", why)
    return tuple(found), refusals.all


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as fault:
        raise FileUnfit(path.name, f"it cannot be opened ({fault.strerror})") from fault


def _text(line: Line, name: str) -> str:
    return text_of(dict(line.told), name)


def _sides(line: Line) -> tuple[str, str]:
    home, away = _text(line, "home_team"), _text(line, "away_team")
    if slug(home) == slug(away):
        raise Unfit(f"{home} plays itself")
    return home, away


def _day(line: Line) -> date:
    told = line.told.get("date", "")
    try:
        found = date.fromisoformat(told)
    except ValueError:
        raise Unfit(f"{told[:30]!r} is no date like 2026-01-31") from None
    return within_reason(datetime.combine(found, time(), UTC), "date").date()


def _over(on: date) -> datetime:
    """A day is over at the next midnight of UTC."""
    return datetime.combine(on, time(), UTC) + timedelta(days=1)


def _known(line: Line, otherwise: datetime) -> datetime:
    told = line.told.get("known_at", "")
    return moment_of(told, "known_at") if told else otherwise


def _season(line: Line, on: date) -> str:
    return line.told.get("season", "") or str(on.year)


def _figures(line: Line) -> dict[str, Decimal]:
    found = {
        name: number_of(value, name)
        for name, value in line.told.items()
        if name not in _NOT_FIGURES and value
    }
    if not found:
        raise Unfit("it has no figures")
    return found
