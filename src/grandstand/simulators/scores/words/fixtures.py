"""Kept here: the fixture row of a match at a moment, with whatever is to be included."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from itertools import pairwise
from typing import Final, TypeAlias

from grandstand.simulators.scores.course import Moment
from grandstand.simulators.scores.replay import Replay
from grandstand.simulators.scores.scorecard import Scorebook, Sheet
from grandstand.simulators.scores.tape import Outcome, Player, Tape, Team, stable_id
from grandstand.simulators.scores.words.balls import BallRows
from grandstand.simulators.scores.words.figures import (
    batting_rows,
    bowling_rows,
    runs_rows,
    scoreboard_rows,
)
from grandstand.simulators.scores.words.people import (
    league_id,
    league_row,
    lineup_rows,
    official_row,
    player_row,
    season_id,
    season_row,
    stage_id,
    stage_row,
    team_row,
    venue_id,
    venue_row,
)
from grandstand.simulators.scores.words.scores import Row

Figures: TypeAlias = Callable[[Tape, int, tuple[Sheet, ...], str], list[Row]]

_FIGURES: Final[Mapping[str, Figures]] = {
    "runs": runs_rows,
    "batting": batting_rows,
    "bowling": bowling_rows,
    "scoreboards": scoreboard_rows,
}
_NESTED: Final[Mapping[str, frozenset[str]]] = {
    "batting": frozenset({"batsman", "bowler", "result"}),
    "bowling": frozenset({"bowler"}),
    "scoreboards": frozenset({"team"}),
    "balls": frozenset({"batsman", "bowler", "score", "team"}),
}
_CALLED_OFF: Final = {
    "Aban.": "Match abandoned",
    "Cancl.": "Match cancelled",
    "Postp.": "Match postponed",
}
_OFFICIALS: Final = ("firstumpire", "secondumpire", "tvumpire", "referee")
INCLUDES: Final = frozenset(
    {
        *_FIGURES,
        *_OFFICIALS,
        "balls",
        "league",
        "lineup",
        "localteam",
        "manofmatch",
        "manofseries",
        "season",
        "stage",
        "tosswon",
        "venue",
        "visitorteam",
        "winnerteam",
    }
)


def refused_includes(includes: Iterable[str]) -> list[str]:
    """Answer the includes the feed does not know."""
    refused = []
    for each in includes:
        name, _, inner = each.partition(".")
        if name not in INCLUDES or (inner and inner not in _NESTED.get(name, ())):
            refused.append(each)
    return refused


class FixtureWords:
    """What the feed says of one match, at any of its moments."""

    def __init__(self, replay: Replay) -> None:
        self._replay = replay
        self._tape = replay.tape
        self._book = Scorebook(replay.tape)
        self._balls = BallRows(replay.tape, replay.match_id, self._posted_at)
        self._lineup = lineup_rows(replay.tape)

    def row(self, moment: Moment, includes: Iterable[str] = ()) -> Row:
        """Answer the fixture at a moment; includes are names such as `balls` and `batting.result`.

        Lists may be shared between answers: they are to be read only.
        """
        row = self._facts(moment)
        wanted = _tree(includes)
        if wanted.keys() & _FIGURES.keys():
            sheets = self._book.after(moment.shown, moment.slip)
            at = _stamp(self._replay.wall_time(moment.at))
            for name in wanted.keys() & _FIGURES.keys():
                rows = _FIGURES[name](self._tape, self._replay.match_id, sheets, at)
                row[name] = _without(rows, _NESTED.get(name, frozenset()) - wanted[name])
        for name in wanted.keys() - _FIGURES.keys():
            row[name] = self._included(name, moment)
        return row

    def _facts(self, moment: Moment) -> Row:
        tape, ended, outcome = self._tape, moment.ended, outcome_at(self._tape, moment)
        home, away = tape.teams
        best = tape.player_of_match
        return {
            "resource": "fixtures",
            "id": self._replay.match_id,
            "league_id": league_id(tape),
            "season_id": season_id(tape),
            "stage_id": stage_id(tape),
            "round": tape.setting.round,
            "localteam_id": home.id,
            "visitorteam_id": away.id,
            "starting_at": _stamp(self._replay.starts_at),
            "type": tape.format,
            "live": True,
            "status": moment.status,
            "last_period": None,
            "note": _note(tape, moment),
            "venue_id": venue_id(tape),
            "toss_won_team_id": tape.toss_winner.id if moment.tossed else None,
            "winner_team_id": outcome.winner.id if ended and outcome.winner else None,
            "draw_noresult": outcome.no_result if ended else None,
            **self._official_ids(),
            "man_of_match_id": best.id if moment.is_played_out and best else None,
            "man_of_series_id": None,
            "total_overs_played": tape.overs,
            "elected": tape.elected if moment.tossed else None,
            "super_over": moment.super_over,
            "follow_on": _followed_on(tape, moment),
            "localteam_dl_data": self._dl(home, moment),
            "visitorteam_dl_data": self._dl(away, moment),
            "rpc_overs": _text(moment.revised_overs),
            "rpc_target": _text(moment.revised_target),
            "weather_report": [],
        }

    def _official_ids(self) -> Row:
        names = self._tape.setting.officials
        ids = [stable_id("official", name) for name in names] + [None] * len(_OFFICIALS)
        fields = ("first_umpire_id", "second_umpire_id", "tv_umpire_id", "referee_id")
        return dict(zip(fields, ids, strict=False))

    def _dl(self, team: Team, moment: Moment) -> Row:
        """The par of the side that bats first, once the target is another one."""
        revised = moment.revised_target
        if revised is None or not moment.inning or self._tape.innings[0].team != team:
            return {"score": None, "overs": None, "wickets_out": None}
        return {"score": str(revised - 1), "overs": _text(moment.revised_overs), "wickets_out": "0"}

    def _included(self, name: str, moment: Moment) -> object:
        if name == "balls":
            return self._balls.shown(moment)
        if name == "lineup":
            return self._lineup if moment.tossed else []
        if name in _OFFICIALS:
            place, names = _OFFICIALS.index(name), self._tape.setting.officials
            return official_row(names[place]) if place < len(names) else None
        if name == "manofmatch":
            return _person(self._tape.player_of_match if moment.is_played_out else None)
        if name in {"localteam", "visitorteam", "tosswon", "winnerteam"}:
            return self._side(name, moment)
        rows = {"league": league_row, "season": season_row, "stage": stage_row, "venue": venue_row}
        return rows[name](self._tape) if name in rows else None

    def _side(self, name: str, moment: Moment) -> Row | None:
        home, away = self._tape.teams
        teams = {
            "localteam": home,
            "visitorteam": away,
            "tosswon": self._tape.toss_winner if moment.tossed else None,
            "winnerteam": outcome_at(self._tape, moment).winner if moment.ended else None,
        }
        team = teams[name]
        return team_row(team, national=self._tape.setting.international) if team else None

    def _posted_at(self, place: int) -> str:
        replay = self._replay
        return _stamp(replay.wall_time(replay.timeline.second_of(place + 1)))


def outcome_at(tape: Tape, moment: Moment) -> Outcome:
    """Answer how a match that is over ended; one that was called off has no winner."""
    if moment.is_played_out:
        return tape.outcome
    return Outcome(None, _CALLED_OFF.get(moment.status, "No result"), "No result")


def _tree(includes: Iterable[str]) -> dict[str, set[str]]:
    wanted: dict[str, set[str]] = {}
    for each in includes:
        name, _, inner = each.partition(".")
        wanted.setdefault(name, set()).update([inner] if inner else [])
    return wanted


def _without(rows: list[Row], left_out: frozenset[str]) -> list[Row]:
    return [{name: row[name] for name in row if name not in left_out} for row in rows]


def _note(tape: Tape, moment: Moment) -> str:
    if moment.ended:
        return outcome_at(tape, moment).note
    if moment.revised_target and moment.revised_overs:
        return f"Target {moment.revised_target} runs from {moment.revised_overs} overs"
    target = moment.revised_target or moment.target
    return f"Target {target} runs" if target else ""


def _followed_on(tape: Tape, moment: Moment) -> bool:
    """Whether a side bats twice in a row."""
    teams = [innings.team for innings in tape.innings[: moment.inning] if not innings.super_over]
    return any(one == two for one, two in pairwise(teams))


def _person(player: Player | None) -> Row | None:
    return player_row(player) if player else None


def _text(number: int | None) -> str | None:
    return None if number is None else str(number)


def _stamp(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
