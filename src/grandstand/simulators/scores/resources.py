"""The rows of each endpoint, and season tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from grandstand.simulators.scores.match_record import MatchRecord, Team
from grandstand.simulators.scores.serializers import (
    UPDATED,
    Row,
    continent_row,
    country_row,
    dismissal_row,
    league_id,
    league_row,
    official_row,
    player_row,
    position_row,
    score_row,
    season_id,
    season_row,
    stage_id,
    stage_row,
    team_row,
    venue_row,
)
from grandstand.simulators.scores.timeline import Replay


@dataclass(slots=True)
class _Tally:
    team: Team
    record: MatchRecord
    played: int = 0
    won: int = 0
    lost: int = 0
    draw: int = 0
    no_result: int = 0

    @property
    def points(self) -> int:
        return 2 * self.won + self.draw + self.no_result


def standing_rows(replays: Iterable[Replay]) -> list[Row]:
    """Return the season table of some matches; unfinished ones do not count."""
    tallies: dict[int, _Tally] = {}
    for replay in replays:
        for team in replay.record.teams:
            tally = tallies.setdefault(team.id, _Tally(team, replay.record))
            if replay.moment.is_played_out:
                _count(tally, replay.record)
    ordered = sorted(tallies.values(), key=lambda tally: (-tally.points, tally.team.name))
    return [_row(tally, place) for place, tally in enumerate(ordered, start=1)]


def _count(tally: _Tally, record: MatchRecord) -> None:
    tally.played += 1
    winner, no_result = record.outcome.winner, record.outcome.no_result
    tally.won += winner == tally.team
    tally.lost += winner is not None and winner != tally.team
    tally.no_result += winner is None and no_result == "No result"
    tally.draw += winner is None and no_result != "No result"


def _row(tally: _Tally, place: int) -> Row:
    record = tally.record
    return {
        "resource": "standings",
        "legend_id": None,
        "team_id": tally.team.id,
        "stage_id": stage_id(record),
        "season_id": season_id(record),
        "league_id": league_id(record),
        "position": place,
        "points": tally.points,
        "played": tally.played,
        "won": tally.won,
        "lost": tally.lost,
        "draw": tally.draw,
        "noresult": tally.no_result,
        "updated_at": UPDATED,
        "team": team_row(tally.team, national=record.setting.international),
    }


Rows: TypeAlias = Callable[[Iterable[MatchRecord]], Iterable[Row]]


def _scores(records: Iterable[MatchRecord]) -> Iterable[Row]:
    yield dismissal_row(None)
    for record in records:
        for ball in record.deliveries:
            yield score_row(ball)


_LISTS: Final[dict[str, Rows]] = {
    "leagues": lambda records: map(league_row, records),
    "seasons": lambda records: map(season_row, records),
    "stages": lambda records: map(stage_row, records),
    "venues": lambda records: map(venue_row, records),
    "teams": lambda records: (
        team_row(team, national=record.setting.international)
        for record in records
        for team in record.teams
    ),
    "players": lambda records: (player_row(each) for record in records for each in record.players),
    "officials": lambda records: (
        official_row(name) for record in records for name in record.setting.officials
    ),
    "scores": _scores,
    "positions": lambda _: map(position_row, range(1, 5)),
    "countries": lambda _: [country_row()],
    "continents": lambda _: [continent_row()],
}
_ONE: Final = frozenset({"leagues", "stages", "teams", "players", "venues", "scores", "seasons"})


def find_rows(path: Sequence[str], replays: Sequence[Replay]) -> list[Row] | Row | None:
    """Return the rows of an endpoint other than fixtures, one row, or None if there is none."""
    records = [replay.record for replay in replays]
    match path:
        case [name] if name in _LISTS:
            return _once(_LISTS[name](records))
        case [name, number] if name in _ONE:
            rows = _once(_LISTS[name](records))
            return next((row for row in rows if str(row["id"]) == number), None)
        case ["teams", team, "squad", season]:
            return _squad(records, team, season)
        case ["standings", "season", season]:
            return standing_rows(each for each in replays if str(season_id(each.record)) == season)
        case ["standings", "stage", stage]:
            return standing_rows(each for each in replays if str(stage_id(each.record)) == stage)
        case ["team-rankings"]:
            return _rankings(records)
    return None


def _once(rows: Iterable[Row]) -> list[Row]:
    found: dict[str, Row] = {}
    for row in rows:
        found.setdefault(str(row["id"]), row)
    return list(found.values())


def _squad(records: Iterable[MatchRecord], team_id: str, season: str) -> Row | None:
    for record in records:
        for team in record.teams:
            if str(team.id) == team_id and str(season_id(record)) == season:
                squad = [player_row(player) for player in team.players]
                return {**team_row(team, national=record.setting.international), "squad": squad}
    return None


def _rankings(records: Iterable[MatchRecord]) -> list[Row]:
    teams = _once(
        team_row(team, national=True)
        for record in records
        if record.setting.international
        for team in record.teams
    )
    return [
        {
            "resource": "rankings",
            "type": form,
            "position": None,
            "points": None,
            "rating": None,
            "gender": "men",
            "team": [
                {**team, "ranking": {"position": place}} for place, team in enumerate(teams, 1)
            ],
        }
        for form in ("TEST", "ODI", "T20I")
    ]
