"""The rows of each endpoint, and season tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias

from grandstand.simulators.scores.match_record import MatchRecord, Team
from grandstand.simulators.scores.serializers import (
    UPDATED,
    FixtureSerializer,
    Row,
    continent_row,
    country_row,
    dismissal_row,
    league_id,
    league_row,
    official_row,
    player_row,
    positions,
    score_row,
    season_id,
    season_row,
    stage_id,
    stage_row,
    team_row,
    venue_row,
)
from grandstand.simulators.scores.timeline import Replay


class HasReplay(Protocol):
    """Something with a replay."""

    @property
    def replay(self) -> Replay: ...


@dataclass(slots=True)
class _Tally:
    team: Team
    tape: MatchRecord
    played: int = 0
    won: int = 0
    lost: int = 0
    draw: int = 0
    no_result: int = 0

    @property
    def points(self) -> int:
        return 2 * self.won + self.draw + self.no_result


def standing_rows(on_air: Iterable[HasReplay]) -> list[Row]:
    """Return the season table of some matches; unfinished ones do not count."""
    tallies: dict[int, _Tally] = {}
    for each in on_air:
        tape = each.replay.tape
        for team in tape.teams:
            tally = tallies.setdefault(team.id, _Tally(team, tape))
            if each.replay.moment.is_played_out:
                _count(tally, tape)
    ordered = sorted(tallies.values(), key=lambda tally: (-tally.points, tally.team.name))
    return [_row(tally, place) for place, tally in enumerate(ordered, start=1)]


def _count(tally: _Tally, tape: MatchRecord) -> None:
    tally.played += 1
    winner, told = tape.outcome.winner, tape.outcome.no_result
    tally.won += winner == tally.team
    tally.lost += winner is not None and winner != tally.team
    tally.no_result += winner is None and told == "No result"
    tally.draw += winner is None and told != "No result"


def _row(tally: _Tally, place: int) -> Row:
    tape = tally.tape
    return {
        "resource": "standings",
        "legend_id": None,
        "team_id": tally.team.id,
        "stage_id": stage_id(tape),
        "season_id": season_id(tape),
        "league_id": league_id(tape),
        "position": place,
        "points": tally.points,
        "played": tally.played,
        "won": tally.won,
        "lost": tally.lost,
        "draw": tally.draw,
        "noresult": tally.no_result,
        "updated_at": UPDATED,
        "team": team_row(tally.team, national=tape.setting.international),
    }


@dataclass(frozen=True, slots=True)
class ActiveReplay:
    """A replay with its serializer."""

    replay: Replay
    words: FixtureSerializer


Rows: TypeAlias = Callable[[Iterable[MatchRecord]], Iterable[Row]]


def _scores(tapes: Iterable[MatchRecord]) -> Iterable[Row]:
    yield dismissal_row(None)
    for tape in tapes:
        for ball in tape.deliveries:
            yield score_row(ball)


_LISTS: Final[dict[str, Rows]] = {
    "leagues": lambda tapes: map(league_row, tapes),
    "seasons": lambda tapes: map(season_row, tapes),
    "stages": lambda tapes: map(stage_row, tapes),
    "venues": lambda tapes: map(venue_row, tapes),
    "teams": lambda tapes: (
        team_row(team, national=tape.setting.international) for tape in tapes for team in tape.teams
    ),
    "players": lambda tapes: (player_row(each) for tape in tapes for each in tape.players),
    "officials": lambda tapes: (
        official_row(name) for tape in tapes for name in tape.setting.officials
    ),
    "scores": _scores,
    "positions": lambda _: positions(),
    "countries": lambda _: [country_row()],
    "continents": lambda _: [continent_row()],
}
_ONE: Final = frozenset({"leagues", "stages", "teams", "players", "venues", "scores", "seasons"})


def find_rows(path: Sequence[str], on_air: Sequence[ActiveReplay]) -> list[Row] | Row | None:
    """Return the rows of an endpoint other than fixtures, one row, or None if there is none."""
    tapes = [each.replay.tape for each in on_air]
    match path:
        case [name] if name in _LISTS:
            return _once(_LISTS[name](tapes))
        case [name, number] if name in _ONE:
            rows = _once(_LISTS[name](tapes))
            return next((row for row in rows if str(row["id"]) == number), None)
        case ["teams", team, "squad", season]:
            return _squad(tapes, team, season)
        case ["standings", "season", season]:
            return standing_rows([each for each in on_air if _of_season(each, season)])
        case ["standings", "stage", stage]:
            return standing_rows([each for each in on_air if _of_stage(each, stage)])
        case ["team-rankings"]:
            return _rankings(tapes)
    return None


def _of_season(each: ActiveReplay, season: str) -> bool:
    return str(season_id(each.replay.tape)) == season


def _of_stage(each: ActiveReplay, stage: str) -> bool:
    return str(stage_id(each.replay.tape)) == stage


def _once(rows: Iterable[Row]) -> list[Row]:
    found: dict[str, Row] = {}
    for row in rows:
        found.setdefault(str(row["id"]), row)
    return list(found.values())


def _squad(tapes: Iterable[MatchRecord], team_id: str, season: str) -> Row | None:
    for tape in tapes:
        for team in tape.teams:
            if str(team.id) == team_id and str(season_id(tape)) == season:
                squad = [player_row(player) for player in team.players]
                return {**team_row(team, national=tape.setting.international), "squad": squad}
    return None


def _rankings(tapes: Iterable[MatchRecord]) -> list[Row]:
    teams = _once(
        team_row(team, national=True)
        for tape in tapes
        if tape.setting.international
        for team in tape.teams
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
