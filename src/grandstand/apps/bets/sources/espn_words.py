"""Kept here: what ESPN's rows say, in our names of figures; unverified, as `espn` tells."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Final

from grandstand.apps.bets.model import InjuryStatus
from grandstand.apps.bets.model.feeds import FedInjury, FedPlayerFigures, FedTeamFigures
from grandstand.apps.bets.sources.reading import (
    Refusals,
    Row,
    Unfit,
    number_of,
    object_of,
    rows_of,
    score_of,
    text_of,
    within_reason,
)

_SIDES: Final = 2
_TEAM_FIGURES: Final = {
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
# Labels by the name of their group, which basketball leaves empty; 3PT is made-tried.
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
_SOCCER_FIGURES: Final = {
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
_FIT: Final = frozenset({"active", "probable"})


@dataclass(frozen=True, slots=True)
class Event:
    """A game of the site."""

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
        """The game's id, which cannot be taken for another feed's."""
        return f"espn-{self.number}"


def parse_events(rows: Iterable[object], refusals: Refusals) -> tuple[Event, ...]:
    """Answer the games that say who plays whom and when, each once."""
    found: dict[str, Event] = {}
    for row in rows:
        try:
            event = _event(row)
            found.setdefault(event.number, event)
        except Unfit as why:
            refusals.add("a game", why)
    return tuple(found.values())


def _event(told: object) -> Event:
    row = object_of(told, "a game")
    number = text_of(row, "id")
    played = object_of((rows_of(row.get("competitions"), "competitions") or [None])[0], "a game")
    sides = [object_of(each, "a side") for each in rows_of(played.get("competitors"), "sides")]
    by_place = {text_of(side, "homeAway"): side for side in sides}
    if len(sides) != _SIDES or by_place.keys() != {"home", "away"}:
        raise Unfit(f"game {number} has no home and away side")
    status = object_of(played.get("status") or row.get("status"), "status")
    kind = object_of(status.get("type"), "status")
    completed = kind.get("completed") is True
    season = row.get("season")
    year = season.get("year") if isinstance(season, dict) else None
    starts = _moment(row.get("date"))
    return Event(
        number,
        starts,
        _team(by_place["home"]),
        _team(by_place["away"]),
        completed,
        text_of(kind, "name") in {"STATUS_POSTPONED", "STATUS_CANCELED"},
        str(year) if isinstance(year, int) else str(starts.year),
        _points(by_place["home"]) if completed else None,
        _points(by_place["away"]) if completed else None,
    )


def parse_teams(
    summary: Row, sport: str, event: Event, refusals: Refusals, *, known_at: datetime
) -> Iterator[FedTeamFigures]:
    """Answer the figures of both teams, points of the score included."""
    scored = {
        event.home: (event.home_score, event.away_score),
        event.away: (event.away_score, event.home_score),
    }
    for told in _under(summary, "boxscore", "teams", refusals):
        try:
            row = object_of(told, "a team")
            team = _team(row)
            if team not in scored:
                refusals.add(event.game_id, f"{team} does not play in it")
                continue
            stats = _named_figures(rows_of(row.get("statistics"), "statistics"), _TEAM_FIGURES)
        except Unfit as why:
            refusals.add(event.game_id, why)
            continue
        for name, points in zip(("points", "points_allowed"), scored[team], strict=True):
            if points is not None:
                stats[name] = points
        day = event.starts_at.date()
        yield FedTeamFigures(sport, team, event.season, day, stats, known_at)


def parse_people(
    summary: Row, sport: str, event: Event, refusals: Refusals, *, known_at: datetime
) -> Iterator[FedPlayerFigures]:
    """Answer the figures of the players who played; soccer tells them in rosters."""
    rosters = summary.get("rosters")
    grouped = ((each, _grouped) for each in _under(summary, "boxscore", "players", refusals))
    rostered = ((each, _rostered) for each in (rosters if isinstance(rosters, list) else []))
    for told, figures_of in (*grouped, *rostered):
        try:
            row = object_of(told, "a team")
            team, found = _team(row), figures_of(row)
        except Unfit as why:
            refusals.add(event.game_id, why)
            continue
        for player, stats in found.items():
            yield _of_player(sport, event, (team, player), stats, known_at)


def _of_player(
    sport: str, event: Event, who: tuple[str, str], stats: dict[str, Decimal], known_at: datetime
) -> FedPlayerFigures:
    team, player = who
    opponent = event.away if team == event.home else event.home
    return FedPlayerFigures(
        sport, player, team, event.game_id, stats, known_at, opponent, event.starts_at
    )


def parse_injuries(
    told: Row, sport: str, refusals: Refusals, *, known_at: datetime
) -> Iterator[FedInjury]:
    """Answer the players who are not fit, each with the day of the report."""
    for team_told in _listed(told, "injuries", refusals):
        try:
            row = object_of(team_told, "a team")
            team = text_of(row, "displayName")
            reports = rows_of(row.get("injuries"), "injuries")
        except Unfit as why:
            refusals.add("a team's injuries", why)
            continue
        for each in reports:
            try:
                found = _injury(object_of(each, "an injury"), sport, team, known_at)
            except Unfit as why:
                refusals.add(f"an injury of {team}", why)
                continue
            if found is not None:
                yield found


def _injury(row: Row, sport: str, team: str, known_at: datetime) -> FedInjury | None:
    said = text_of(row, "status").lower()
    player = text_of(object_of(row.get("athlete"), "athlete"), "displayName")
    if said in _FIT:
        return None
    if said not in _STATUSES:
        raise Unfit(f"{said!r} is no known status")
    details = row.get("details")
    kind = details.get("type") if isinstance(details, dict) else None
    injury = kind if isinstance(kind, str) and kind.strip() else "not told"
    reported = min(_moment(row.get("date")), known_at)
    return FedInjury(sport, team, player, reported.date(), _STATUSES[said], injury[:100], known_at)


def _under(told: Row, outer: str, inner: str, refusals: Refusals) -> list[object]:
    within = told.get(outer)
    return _listed(within, inner, refusals) if isinstance(within, dict) else []


def _listed(told: Row, name: str, refusals: Refusals) -> list[object]:
    try:
        return rows_of(told.get(name), name)
    except Unfit as why:
        refusals.add(name, why)
        return []


def _team(row: Row) -> str:
    return text_of(object_of(row.get("team"), "team"), "displayName")


def _points(side: Row) -> Decimal:
    """A schedule tells a score as an object, a scoreboard as a text."""
    told = side.get("score")
    return score_of(told.get("value") if isinstance(told, dict) else told)


def _moment(told: object) -> datetime:
    """Moments have no seconds: 2026-01-31T00:30Z."""
    if not isinstance(told, str):
        raise Unfit("date is missing")
    try:
        moment = datetime.fromisoformat(told.strip())
        found = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise Unfit(f"{told[:40]!r} is no date") from None
    return within_reason(found, "date")


def _named_figures(rows: Iterable[object], names: dict[str, str]) -> dict[str, Decimal]:
    """Answer the figures we have a name for; what is no number is left out."""
    found: dict[str, Decimal] = {}
    for told in rows:
        row = object_of(told, "a figure")
        name = names.get(str(row.get("name")))
        value = _figure(row.get("value", row.get("displayValue")))
        if name is not None and value is not None:
            found[name] = value
    return found


def _grouped(row: Row) -> dict[str, dict[str, Decimal]]:
    found: dict[str, dict[str, Decimal]] = {}
    for told in rows_of(row.get("statistics"), "statistics"):
        group = object_of(told, "a group")
        name = group.get("name")
        labels = [str(label) for label in rows_of(group.get("labels"), "labels")]
        for each in rows_of(group.get("athletes"), "athletes"):
            athlete = object_of(each, "a player")
            stats = rows_of(athlete.get("stats"), "stats")
            if athlete.get("didNotPlay") is True or len(stats) != len(labels):
                continue
            player = text_of(object_of(athlete.get("athlete"), "athlete"), "displayName")
            kept = found.setdefault(player, {})
            for label, value in zip(labels, stats, strict=True):
                ours = _LABELS.get((name if isinstance(name, str) else "", label))
                number = _figure(value)
                if ours is not None and number is not None:
                    kept[ours] = number
    return {player: stats for player, stats in found.items() if stats}


def _rostered(row: Row) -> dict[str, dict[str, Decimal]]:
    found: dict[str, dict[str, Decimal]] = {}
    for told in rows_of(row.get("roster"), "roster"):
        each = object_of(told, "a player")
        stats = _named_figures(rows_of(each.get("stats"), "stats"), _SOCCER_FIGURES)
        if stats:
            found[text_of(object_of(each.get("athlete"), "athlete"), "displayName")] = stats
    return found


def _figure(value: object) -> Decimal | None:
    """Answer a number, the first of `made-tried`; None when it is none."""
    if isinstance(value, str):
        made, dash, tried = value.partition("-")
        value = made if dash and made and tried else value.removesuffix("%")
    try:
        return number_of(value, "a figure")
    except Unfit:
        return None
