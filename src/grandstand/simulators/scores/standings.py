"""Kept here: the table of a season, from the matches that are over."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from grandstand.simulators.scores.replay import Replay
from grandstand.simulators.scores.tape import Tape, Team
from grandstand.simulators.scores.words.people import (
    UPDATED,
    league_id,
    season_id,
    stage_id,
    team_row,
)
from grandstand.simulators.scores.words.scores import Row


class Played(Protocol):
    """Something that is being played."""

    @property
    def replay(self) -> Replay:
        """The match."""
        ...


@dataclass(slots=True)
class _Tally:
    team: Team
    tape: Tape
    played: int = 0
    won: int = 0
    lost: int = 0
    draw: int = 0
    no_result: int = 0

    @property
    def points(self) -> int:
        return 2 * self.won + self.draw + self.no_result


def standing_rows(on_air: Iterable[Played]) -> list[Row]:
    """Answer the teams of some matches by their points; matches going on do not count yet."""
    tallies: dict[int, _Tally] = {}
    for each in on_air:
        tape = each.replay.tape
        for team in tape.teams:
            tally = tallies.setdefault(team.id, _Tally(team, tape))
            if each.replay.moment.is_played_out:
                _count(tally, tape)
    ordered = sorted(tallies.values(), key=lambda tally: (-tally.points, tally.team.name))
    return [_row(tally, place) for place, tally in enumerate(ordered, start=1)]


def _count(tally: _Tally, tape: Tape) -> None:
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
