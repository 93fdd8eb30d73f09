"""Client and parser of ESPN's public site: results, box scores, schedules and injuries.

Unverified: ESPN does not document this API and may change it at any time. Unexpected data is
rejected with a reason, never guessed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Final

from grandstand.apps.bets.domain.records import (
    FeedFixture,
    FeedInjury,
    FeedPlayerStats,
    FeedScore,
    FeedScores,
    FeedStats,
    FeedTeamStats,
    InjuryStatus,
)
from grandstand.apps.bets.sources.validation import (
    InvalidValue,
    Rejections,
    Row,
    check_year,
    decode_json,
    parse_number,
    parse_score,
    require_list,
    require_object,
    require_text,
)
from grandstand.core.clock import Clock
from grandstand.core.errors import NotFound, SourceFailed
from grandstand.core.logging import get_logger
from grandstand.net.client import SourceRegistry
from grandstand.net.rate_limits import RateLimit
from grandstand.net.retry import RetryPolicy

_TEAM_STATS: Final = {
    "fieldGoalPct": "field_goal_pct",
    "threePointFieldGoalPct": "three_point_pct",
    "threePointPct": "three_point_pct",
    "totalRebounds": "rebounds",
    "assists": "assists",
    "turnovers": "turnovers",
    "pace": "pace",
    "totalYards": "total_yards",
    "netPassingYards": "passing_yards",
    "rushingYards": "rushing_yards",
    "thirdDownPct": "third_down_pct",
    "totalShots": "shots",
    "shotsOnTarget": "shots_on_target",
    "possessionPct": "possession_pct",
    "wonCorners": "corners",
    "totalTackles": "tackles",
}
# Labels by the name of their group, which basketball leaves empty; 3PT is made-attempted.
_LABELS: Final = {
    ("", "MIN"): "MIN",
    ("", "PTS"): "PTS",
    ("", "REB"): "REB",
    ("", "AST"): "AST",
    ("", "STL"): "STL",
    ("", "BLK"): "BLK",
    ("", "TO"): "TO",
    ("", "3PT"): "3PM",
    ("passing", "YDS"): "PASS_YDS",
    ("passing", "TD"): "PASS_TDS",
    ("rushing", "YDS"): "RUSH_YDS",
    ("receiving", "YDS"): "REC_YDS",
    ("receiving", "REC"): "RECEPTIONS",
}
_SOCCER_STATS: Final = {
    "totalShots": "SHOTS",
    "shotsOnTarget": "SOT",
    "totalGoals": "GOALS",
    "goalAssists": "ASSISTS",
}
_STATUSES: Final[dict[str, InjuryStatus]] = {
    "out": "out",
    "injured reserve": "out",
    "suspension": "out",
    "doubtful": "doubtful",
    "questionable": "questionable",
    "day-to-day": "questionable",
}
_PATHS: Final = {
    "basketball_nba": "basketball/nba",
    "basketball_wnba": "basketball/wnba",
    "basketball_ncaab": "basketball/mens-college-basketball",
    "basketball_wncaab": "basketball/womens-college-basketball",
    "americanfootball_nfl": "football/nfl",
    "americanfootball_ncaaf": "football/college-football",
    "baseball_mlb": "baseball/mlb",
    "icehockey_nhl": "hockey/nhl",
    "soccer_epl": "soccer/eng.1",
    "soccer_usa_mls": "soccer/usa.1",
}
_MAX_DAYS: Final = 31
_MAX_GAMES: Final = 100


@dataclass(frozen=True, slots=True)
class EspnEvent:
    """A game."""

    number: str
    starts_at: datetime
    home: str
    away: str
    completed: bool
    postponed: bool
    season: str
    home_score: Decimal | None
    away_score: Decimal | None

    @property
    def game_id(self) -> str:
        """The game's id, distinct from other feeds' ids."""
        return f"espn-{self.number}"


def parse_events(rows: Iterable[object], rejections: Rejections) -> tuple[EspnEvent, ...]:
    """Return the games that name both teams and a start, without duplicates."""
    parsed: dict[str, EspnEvent] = {}
    for row in rows:
        try:
            event = _parse_event(row)
            parsed.setdefault(event.number, event)
        except InvalidValue as reason:
            rejections.add("a game", reason)
    return tuple(parsed.values())


def _parse_event(data: object) -> EspnEvent:
    row = require_object(data, "a game")
    number = require_text(row, "id")
    played = require_object(
        (require_list(row.get("competitions"), "competitions") or [None])[0], "a game"
    )
    sides = [
        require_object(item, "a side") for item in require_list(played.get("competitors"), "sides")
    ]
    by_place = {require_text(side, "homeAway"): side for side in sides}
    if len(sides) != 2 or by_place.keys() != {"home", "away"}:
        raise InvalidValue(f"game {number} has no home and away side")
    status = require_object(played.get("status") or row.get("status"), "status")
    kind = require_object(status.get("type"), "status")
    completed = kind.get("completed") is True
    season = row.get("season")
    year = season.get("year") if isinstance(season, dict) else None
    starts = _parse_time(row.get("date"))
    return EspnEvent(
        number,
        starts,
        _team(by_place["home"]),
        _team(by_place["away"]),
        completed,
        require_text(kind, "name") in {"STATUS_POSTPONED", "STATUS_CANCELED"},
        str(year) if isinstance(year, int) else str(starts.year),
        _points(by_place["home"]) if completed else None,
        _points(by_place["away"]) if completed else None,
    )


def parse_team_stats(
    summary: Row, sport: str, event: EspnEvent, rejections: Rejections, *, known_at: datetime
) -> Iterator[FeedTeamStats]:
    """Yield the stats of both teams, points included."""
    scored = {
        event.home: (event.home_score, event.away_score),
        event.away: (event.away_score, event.home_score),
    }
    for data in _nested_list(summary, "boxscore", "teams", rejections):
        try:
            row = require_object(data, "a team")
            team = _team(row)
            if team not in scored:
                rejections.add(event.game_id, f"{team} does not play in it")
                continue
            stats = _named_stats(require_list(row.get("statistics"), "statistics"), _TEAM_STATS)
        except InvalidValue as reason:
            rejections.add(event.game_id, reason)
            continue
        for name, points in zip(("points", "points_allowed"), scored[team], strict=True):
            if points is not None:
                stats[name] = points
        day = event.starts_at.date()
        yield FeedTeamStats(sport, team, event.season, day, stats, known_at)


def parse_player_stats(
    summary: Row, sport: str, event: EspnEvent, rejections: Rejections, *, known_at: datetime
) -> Iterator[FeedPlayerStats]:
    """Yield the stats of the players who played; soccer reports them in rosters."""
    rosters = summary.get("rosters")
    grouped = (
        (item, _grouped_stats) for item in _nested_list(summary, "boxscore", "players", rejections)
    )
    rostered = ((item, _roster_stats) for item in (rosters if isinstance(rosters, list) else []))
    for data, stats_of in (*grouped, *rostered):
        try:
            row = require_object(data, "a team")
            team, parsed = _team(row), stats_of(row)
        except InvalidValue as reason:
            rejections.add(event.game_id, reason)
            continue
        opponent = event.away if team == event.home else event.home
        for player, stats in parsed.items():
            yield FeedPlayerStats(
                sport, player, team, event.game_id, stats, known_at, opponent, event.starts_at
            )


def parse_injuries(
    data: Row, sport: str, rejections: Rejections, *, known_at: datetime
) -> Iterator[FeedInjury]:
    """Yield the players who are not fit, with the date of the report."""
    for item in _list_or_reject(data, "injuries", rejections):
        try:
            row = require_object(item, "a team")
            team = require_text(row, "displayName")
            reports = require_list(row.get("injuries"), "injuries")
        except InvalidValue as reason:
            rejections.add("a team's injuries", reason)
            continue
        for report in reports:
            try:
                parsed = _parse_injury(require_object(report, "an injury"), sport, team, known_at)
            except InvalidValue as reason:
                rejections.add(f"an injury of {team}", reason)
                continue
            if parsed is not None:
                yield parsed


def _parse_injury(row: Row, sport: str, team: str, known_at: datetime) -> FeedInjury | None:
    status = require_text(row, "status").lower()
    player = require_text(require_object(row.get("athlete"), "athlete"), "displayName")
    if status in {"active", "probable"}:
        return None
    if status not in _STATUSES:
        raise InvalidValue(f"{status!r} is not a known status")
    details = row.get("details")
    kind = details.get("type") if isinstance(details, dict) else None
    injury = kind if isinstance(kind, str) and kind.strip() else "not specified"
    reported = min(_parse_time(row.get("date")), known_at)
    return FeedInjury(
        sport, team, player, reported.date(), _STATUSES[status], injury[:100], known_at
    )


def _nested_list(data: Row, outer: str, inner: str, rejections: Rejections) -> list[object]:
    section = data.get(outer)
    return _list_or_reject(section, inner, rejections) if isinstance(section, dict) else []


def _list_or_reject(data: Row, name: str, rejections: Rejections) -> list[object]:
    try:
        return require_list(data.get(name), name)
    except InvalidValue as reason:
        rejections.add(name, reason)
        return []


def _team(row: Row) -> str:
    return require_text(require_object(row.get("team"), "team"), "displayName")


def _points(side: Row) -> Decimal:
    """A schedule gives a score as an object, a scoreboard as text."""
    data = side.get("score")
    return parse_score(data.get("value") if isinstance(data, dict) else data)


def _parse_time(data: object) -> datetime:
    """Parse a time; ESPN omits the seconds: 2026-01-31T00:30Z."""
    if not isinstance(data, str):
        raise InvalidValue("date is missing")
    try:
        moment = datetime.fromisoformat(data.strip())
        parsed = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise InvalidValue(f"{data[:40]!r} is not a date") from None
    return check_year(parsed, "date")


def _named_stats(rows: Iterable[object], names: dict[str, str]) -> dict[str, Decimal]:
    """Return the stats we have a name for; values that are not numbers are skipped."""
    parsed: dict[str, Decimal] = {}
    for data in rows:
        row = require_object(data, "a figure")
        name = names.get(str(row.get("name")))
        value = _stat_value(row.get("value", row.get("displayValue")))
        if name is not None and value is not None:
            parsed[name] = value
    return parsed


def _grouped_stats(row: Row) -> dict[str, dict[str, Decimal]]:
    parsed: dict[str, dict[str, Decimal]] = {}
    for data in require_list(row.get("statistics"), "statistics"):
        group = require_object(data, "a group")
        name = group.get("name")
        labels = [str(label) for label in require_list(group.get("labels"), "labels")]
        for item in require_list(group.get("athletes"), "athletes"):
            athlete = require_object(item, "a player")
            stats = require_list(athlete.get("stats"), "stats")
            if athlete.get("didNotPlay") is True or len(stats) != len(labels):
                continue
            player = require_text(require_object(athlete.get("athlete"), "athlete"), "displayName")
            player_stats = parsed.setdefault(player, {})
            for label, value in zip(labels, stats, strict=True):
                stat = _LABELS.get((name if isinstance(name, str) else "", label))
                number = _stat_value(value)
                if stat is not None and number is not None:
                    player_stats[stat] = number
    return {player: stats for player, stats in parsed.items() if stats}


def _roster_stats(row: Row) -> dict[str, dict[str, Decimal]]:
    parsed: dict[str, dict[str, Decimal]] = {}
    for data in require_list(row.get("roster"), "roster"):
        item = require_object(data, "a player")
        stats = _named_stats(require_list(item.get("stats"), "stats"), _SOCCER_STATS)
        if stats:
            parsed[require_text(require_object(item.get("athlete"), "athlete"), "displayName")] = (
                stats
            )
    return parsed


def _stat_value(value: object) -> Decimal | None:
    """Return a number, the first of `made-attempted`; None if it is not one."""
    if isinstance(value, str):
        made, dash, attempted = value.partition("-")
        value = made if dash and made and attempted else value.removesuffix("%")
    try:
        return parse_number(value, "a figure")
    except InvalidValue:
        return None


class EspnClient:
    """Client of ESPN, a StatsFeed. Its games have ids like `espn-401…`, joined by teams and day.

    Requests raise the errors of `net.errors`, NotFound for an unsupported sport, and SourceFailed
    for unreadable replies.
    """

    def __init__(
        self, web: SourceRegistry, clock: Clock, *, url: str, timeout_seconds: float = 15.0
    ) -> None:
        self._clock = clock
        self._log = get_logger("bets", source="espn")
        self._source = web.source(
            "espn",
            base_url=url,
            rate=RateLimit(per_second=3, burst=3),
            timeout_seconds=timeout_seconds,
            retries=RetryPolicy(tries=3, within_seconds=2 * timeout_seconds),
        )

    @property
    def name(self) -> str:
        return "espn"

    async def fetch_results(self, sport: str, first: date, last: date) -> FeedScores:
        """Fetch results and scores from one day to another, at most 31 days."""
        rejections = Rejections()
        events = await self._events(sport, first, last, rejections)
        self._log_rejections(rejections)
        return FeedScores(tuple(_to_score(sport, item) for item in events), rejections.all)

    async def fetch_stats(self, sport: str, on: date) -> FeedStats:
        """Fetch the box scores of games that ended on a day or the day before."""
        rejections = Rejections()
        events = await self._events(sport, on - timedelta(days=1), on, rejections)
        teams: list[FeedTeamStats] = []
        players: list[FeedPlayerStats] = []
        for event in [item for item in events if item.completed][:_MAX_GAMES]:
            summary = await self._get(f"{_path(sport)}/summary", {"event": event.number})
            now = self._clock.now()
            teams += parse_team_stats(summary, sport, event, rejections, known_at=now)
            players += parse_player_stats(summary, sport, event, rejections, known_at=now)
        self._log_rejections(rejections)
        return FeedStats(tuple(teams), tuple(players), rejected=rejections.all)

    async def fetch_injuries(self, sport: str, on: date) -> FeedStats:
        """Fetch the current injuries; the site has no other days."""
        del on
        rejections = Rejections()
        data = await self._get(f"{_path(sport)}/injuries", {})
        parsed = tuple(parse_injuries(data, sport, rejections, known_at=self._clock.now()))
        self._log_rejections(rejections)
        return FeedStats(injuries=parsed, rejected=rejections.all)

    async def fetch_schedules(self, sport: str, on: date) -> FeedStats:
        """Fetch the games of all teams from a week before a day to a week after it."""
        around, rejections = timedelta(days=7), Rejections()
        events = await self._events(sport, on - around, on + around, rejections)
        self._log_rejections(rejections)
        fixtures = tuple(_to_fixtures(sport, events, self._clock.now()))
        return FeedStats(fixtures=fixtures, rejected=rejections.all)

    async def _events(
        self, sport: str, first: date, last: date, rejections: Rejections
    ) -> tuple[EspnEvent, ...]:
        last = min(last, first + timedelta(days=_MAX_DAYS - 1))
        days = f"{first:%Y%m%d}-{last:%Y%m%d}" if last > first else f"{first:%Y%m%d}"
        data = await self._get(f"{_path(sport)}/scoreboard", {"dates": days, "limit": "500"})
        try:
            return parse_events(require_list(data.get("events"), "events"), rejections)
        except InvalidValue as reason:
            raise SourceFailed(f"Unreadable scoreboard of ESPN: {reason}.") from None

    async def _get(self, path: str, params: dict[str, str]) -> Row:
        response = await self._source.get(path, params=params)
        data = decode_json(response)
        if not isinstance(data, dict):
            raise SourceFailed(f"Unreadable reply of ESPN at {path}: it is not an object.")
        return data

    def _log_rejections(self, rejections: Rejections) -> None:
        if rejections.all:
            self._log.warning(
                "espn_rows_rejected", rejected=len(rejections.all), first=rejections.all[0]
            )


def _path(sport: str) -> str:
    if sport not in _PATHS:
        raise NotFound(f"ESPN has no stats for {sport}. Remove the sport or provide data files.")
    return f"/apis/site/v2/sports/{_PATHS[sport]}"


def _to_score(sport: str, event: EspnEvent) -> FeedScore:
    return FeedScore(
        event.game_id,
        sport,
        event.home,
        event.away,
        event.starts_at,
        event.completed,
        event.home_score,
        event.away_score,
    )


def _to_fixtures(sport: str, events: Iterable[EspnEvent], now: datetime) -> Iterator[FeedFixture]:
    for event in events:
        if not event.postponed:
            yield FeedFixture(sport, event.home, event.away, event.starts_at, True, now)
            yield FeedFixture(sport, event.away, event.home, event.starts_at, False, now)
