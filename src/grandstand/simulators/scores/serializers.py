"""Rows of the feed: fixtures, balls, figures, teams, players and leagues."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Final, TypeAlias

from grandstand.simulators.scores.match_record import (
    BALLS_PER_OVER,
    Delivery,
    Dismissal,
    MatchRecord,
    Outcome,
    Player,
    Team,
    format_count,
    stable_id,
)
from grandstand.simulators.scores.scorecard import (
    BattingFigures,
    BowlingFigures,
    InningsSheet,
    Scorebook,
)
from grandstand.simulators.scores.timeline import Replay, TimelineMoment

Row: TypeAlias = dict[str, object]

_SIX: Final = 6
_WAYS: Final = {
    "bowled": "Clean Bowled",
    "caught": "Catch Out",
    "caught and bowled": "Catch Out",
    "hit wicket": "Hit Wicket",
    "lbw": "LBW OUT",
    "obstructing the field": "Obstructing the Field",
    "retired hurt": "Retired Hurt",
    "retired not out": "Retired Hurt",
    "retired out": "Retired Out",
    "run out": "Run Out",
    "stumped": "Stump Out",
    "timed out": "Timed Out",
}
NOT_OUT: Final = "Not Out"


def score_row(ball: Delivery) -> Row:
    """Return the score object of a delivery.

    A wide has no field: its name says it and `runs` is its full value. `runs` includes no-balls and
    neither byes nor leg byes.
    """
    return _row(
        score_name(ball),
        runs=ball.runs + ball.wides + ball.noballs,
        four=ball.boundary and ball.runs != _SIX,
        six=ball.boundary and ball.runs == _SIX,
        bye=ball.byes,
        leg_bye=ball.legbyes,
        noball=int(bool(ball.noballs)),
        noball_runs=ball.noballs,
        is_wicket=ball.wicket,
        ball=ball.legal,
        out=ball.wicket,
    )


def dismissal_row(dismissal: Dismissal | None) -> Row:
    """Return the score object that says how a batter left, or that they did not."""
    if dismissal is None:
        return _row(NOT_OUT)
    return _row(_way(dismissal), is_wicket=dismissal.counts, out=dismissal.counts)


def score_name(ball: Delivery) -> str:
    """Return the name of a score, with several parts joined by +."""
    parts = []
    if ball.dismissal is not None:
        parts.append(_way(ball.dismissal))
    if ball.noballs:
        parts.append(format_count(ball.noballs, "No Ball"))
    if ball.wides:
        parts.append(format_count(ball.wides, "Wide"))
    if ball.byes:
        parts.append(format_count(ball.byes, "Bye"))
    if ball.legbyes:
        parts.append(format_count(ball.legbyes, "Leg Bye"))
    if ball.runs:
        parts.append(_bat(ball, alone=not parts))
    return " + ".join(parts) or "0 Run"


def _row(name: str, **values: object) -> Row:
    defaults = {
        "runs": 0,
        "four": False,
        "six": False,
        "bye": 0,
        "leg_bye": 0,
        "noball": 0,
        "noball_runs": 0,
        "is_wicket": False,
        "ball": True,
        "out": False,
    }
    return {
        "resource": "scores",
        "id": stable_id("score", name),
        "name": name,
        **defaults,
        **values,
    }


def _bat(ball: Delivery, *, alone: bool) -> str:
    if ball.boundary and alone:
        return "SIX" if ball.runs == _SIX else "FOUR"
    return format_count(ball.runs, "Run")


def _way(dismissal: Dismissal) -> str:
    return _WAYS.get(dismissal.kind, dismissal.kind.title())


UPDATED: Final = "2026-01-01T00:00:00.000000Z"
IMAGES: Final = "https://images.example"
# The feed's own numbers for the leagues of internationals.
_PHASES: Final = {"Twenty20 International": 3, "One Day International": 2, "Test": 1}
_POSITIONS: Final = ("Batsman", "Bowler", "Allrounder", "Wicketkeeper")
_COUNTRY: Final = 1


def team_row(team: Team, *, national: bool = False) -> Row:
    """Return a team."""
    return {
        "resource": "teams",
        "id": team.id,
        "name": team.name,
        "code": team.code,
        "image_path": f"{IMAGES}/teams/{team.id}.png",
        "country_id": _COUNTRY,
        "national_team": national,
        "updated_at": UPDATED,
    }


def position_row(number: int) -> Row:
    """Return the position of a player, by a number from 1 to 4."""
    return {"resource": "positions", "id": number, "name": _POSITIONS[number - 1]}


def player_row(player: Player) -> Row:
    """Return a player."""
    return {
        "resource": "players",
        "id": player.id,
        "country_id": _COUNTRY,
        "firstname": player.first,
        "lastname": player.last,
        "fullname": player.name,
        "image_path": f"{IMAGES}/players/{player.id}.png",
        "dateofbirth": None,
        "gender": "m",
        "battingstyle": "right-hand-bat" if player.id % 3 else "left-hand-bat",
        "bowlingstyle": "right-arm-medium" if player.id % 2 else "right-arm-offbreak",
        "position": position_row(1 + player.id % len(_POSITIONS)),
        "updated_at": UPDATED,
    }


def lineup_rows(record: MatchRecord) -> list[Row]:
    """Return the players of a match with their roles."""
    eleven = 11
    return [
        {
            **player_row(player),
            "lineup": {
                "team_id": team.id,
                "captain": place == 0,
                "wicketkeeper": place == 1,
                "substitution": place >= eleven,
            },
        }
        for team in record.teams
        for place, player in enumerate(team.players)
    ]


def league_id(record: MatchRecord) -> int:
    """Return the id of the league of a match."""
    name = record.setting.league
    return _PHASES.get(name) or stable_id("league", name)


def season_id(record: MatchRecord) -> int:
    return stable_id("season", record.setting.league, record.setting.season)


def stage_id(record: MatchRecord) -> int:
    return stable_id("stage", record.setting.stage, record.setting.season)


def venue_id(record: MatchRecord) -> int:
    return stable_id("venue", record.setting.venue)


def league_row(record: MatchRecord) -> Row:
    """Return the league of a match, with its current season."""
    name = record.setting.league
    return {
        "resource": "leagues",
        "id": league_id(record),
        "season_id": season_id(record),
        "country_id": _COUNTRY,
        "name": name,
        "code": record.format if name in _PHASES else "".join(w[0] for w in name.split()).upper(),
        "image_path": f"{IMAGES}/leagues/{league_id(record)}.png",
        "type": "phase" if record.setting.international else "league",
        "updated_at": UPDATED,
    }


def season_row(record: MatchRecord) -> Row:
    """Return the season of a match."""
    season = record.setting.season
    return {
        "resource": "seasons",
        "id": season_id(record),
        "league_id": league_id(record),
        "name": season,
        "code": season,
        "updated_at": UPDATED,
    }


def stage_row(record: MatchRecord) -> Row:
    """Return the stage of a match."""
    return {
        "resource": "stages",
        "id": stage_id(record),
        "league_id": league_id(record),
        "season_id": season_id(record),
        "name": record.setting.stage,
        "code": str(stage_id(record)),
        "type": "Series" if record.setting.international else "Regular",
        "standings": not record.setting.international,
        "updated_at": UPDATED,
    }


def venue_row(record: MatchRecord) -> Row:
    """Return the venue of a match."""
    return {
        "resource": "venues",
        "id": venue_id(record),
        "country_id": _COUNTRY,
        "name": record.setting.venue,
        "city": record.setting.city or record.setting.venue,
        "image_path": f"{IMAGES}/venues/{venue_id(record)}.png",
        "capacity": 20_000 + venue_id(record) % 80_000,
        "floodlight": True,
        "updated_at": UPDATED,
    }


def official_row(name: str) -> Row:
    """Return an umpire or a referee."""
    first, _, last = name.partition(" ")
    return {
        "resource": "officials",
        "id": stable_id("official", name),
        "country_id": _COUNTRY,
        "firstname": first if last else "",
        "lastname": last or first,
        "fullname": name,
        "dateofbirth": None,
        "gender": "m",
        "updated_at": UPDATED,
    }


def country_row() -> Row:
    """Return the only country."""
    return {
        "resource": "countries",
        "id": _COUNTRY,
        "continent_id": 1,
        "name": "Grandstand",
        "image_path": f"{IMAGES}/countries/1.png",
        "updated_at": UPDATED,
    }


def continent_row() -> Row:
    """Return the only continent."""
    return {"resource": "continents", "id": 1, "name": "The Field", "updated_at": UPDATED}


_ROWS_A_MATCH: Final = 1000
_ROWS_AN_INNINGS: Final = 100
_BOWLERS_FROM: Final = 50


def format_ball(ball: Delivery) -> float:
    """Return over and ball as the feed writes them, 17.3; an over ends with .6."""
    return round(ball.over + ball.number / 10, 1)


def runs_rows(
    record: MatchRecord, match_id: int, sheets: Sequence[InningsSheet], at: str
) -> list[Row]:
    """Return the scores of the innings."""
    rows: list[Row] = []
    for sheet in sheets:
        innings = record.innings[sheet.inning - 1]
        powers: list[str | None] = [*innings.powerplays, None, None, None]
        rows.append(
            {
                "resource": "runs",
                "id": match_id * 10 + sheet.inning,
                "fixture_id": match_id,
                "team_id": innings.team.id,
                "inning": sheet.inning,
                "score": sheet.runs,
                "wickets": sheet.wickets,
                "overs": sheet.overs,
                "pp1": powers[0],
                "pp2": powers[1],
                "pp3": powers[2],
                "updated_at": at,
            }
        )
    return rows


def batting_rows(
    record: MatchRecord, match_id: int, sheets: Sequence[InningsSheet], at: str
) -> list[Row]:
    """Return the batters in the order they came in."""
    return [
        _batting(record, match_id, sheet, (sort, line), at)
        for sheet in sheets
        for sort, line in enumerate(sheet.batting.values(), start=1)
    ]


def _batting(
    record: MatchRecord,
    match_id: int,
    sheet: InningsSheet,
    placed: tuple[int, BattingFigures],
    at: str,
) -> Row:
    """Live responses have `active` false for both batters, so it is always false."""
    sort, line = placed
    way, left = dismissal_row(line.left), line.left
    fielder = left.fielder.id if left and left.fielder else None
    bowled = left is not None and left.credited and line.bowler is not None
    kind = left.kind if left else ""
    return {
        "resource": "battings",
        "id": match_id * _ROWS_A_MATCH + sheet.inning * _ROWS_AN_INNINGS + sort,
        "sort": sort,
        "fixture_id": match_id,
        "team_id": record.innings[sheet.inning - 1].team.id,
        "active": False,
        "scoreboard": f"S{sheet.inning}",
        "player_id": line.player.id,
        "ball": line.balls,
        "score_id": way["id"],
        "wicket_id": way["id"] if line.out else None,
        "score": line.runs,
        "four_x": line.fours,
        "six_x": line.sixes,
        "catch_stump_player_id": _catcher(line) if kind != "run out" else None,
        "runout_by_id": fielder if kind == "run out" else None,
        "batsmanout_id": line.player.id if line.out else None,
        "bowling_player_id": line.bowler.id if bowled and line.bowler else None,
        "fow_score": line.fall_score if line.out else 0,
        "fow_balls": format_ball(line.delivery) if line.out and line.delivery else 0,
        "rate": round(100 * line.runs / line.balls) if line.balls else 0,
        "updated_at": at,
        "batsman": player_row(line.player),
        "bowler": player_row(line.bowler) if bowled and line.bowler else None,
        "result": way,
    }


def _catcher(line: BattingFigures) -> int | None:
    if line.left is None:
        return None
    if line.left.kind == "caught and bowled":
        return line.bowler.id if line.bowler else None
    return line.left.fielder.id if line.left.fielder else None


def bowling_rows(
    record: MatchRecord, match_id: int, sheets: Sequence[InningsSheet], at: str
) -> list[Row]:
    """Return the bowlers in the order they bowled."""
    return [
        _bowling(record, match_id, sheet, (sort, line), at)
        for sheet in sheets
        for sort, line in enumerate(sheet.bowling.values(), start=1)
    ]


def _bowling(
    record: MatchRecord,
    match_id: int,
    sheet: InningsSheet,
    placed: tuple[int, BowlingFigures],
    at: str,
) -> Row:
    sort, line = placed
    home, away = record.teams
    batting = record.innings[sheet.inning - 1].team
    overs, balls = divmod(line.balls, BALLS_PER_OVER)
    number = match_id * _ROWS_A_MATCH + sheet.inning * _ROWS_AN_INNINGS + _BOWLERS_FROM + sort
    return {
        "resource": "bowlings",
        "id": number,
        "sort": sort,
        "fixture_id": match_id,
        "team_id": (away if batting == home else home).id,
        "active": False,
        "scoreboard": f"S{sheet.inning}",
        "player_id": line.player.id,
        "overs": round(overs + balls / 10, 1) if balls else overs,
        "medians": line.maidens,
        "runs": line.runs,
        "wickets": line.wickets,
        "wide": line.wides,
        "noball": line.noballs,
        "rate": round(line.runs * BALLS_PER_OVER / line.balls, 2) if line.balls else 0,
        "updated_at": at,
        "bowler": player_row(line.player),
    }


def scoreboard_rows(
    record: MatchRecord, match_id: int, sheets: Sequence[InningsSheet], at: str
) -> list[Row]:
    """Return two rows per innings: its extras and its total."""
    rows: list[Row] = []
    for sheet in sheets:
        extras, team = sheet.extras, record.innings[sheet.inning - 1].team
        counts = {
            "wide": extras.wides,
            "noball_runs": extras.noballs,
            "noball_balls": extras.noball_balls,
            "bye": extras.byes,
            "leg_bye": extras.legbyes,
            "penalty": extras.penalty,
        }
        both: tuple[tuple[str, Row], ...] = (
            (
                "extra",
                {
                    **counts,
                    "total": sum(counts.values()) - extras.noball_balls,
                    "overs": 0,
                    "wickets": 0,
                },
            ),
            ("total", {**dict.fromkeys(counts, 0), "total": sheet.runs, "overs": sheet.overs}),
        )
        for place, (kind, row) in enumerate(both):
            rows.append(
                {
                    "resource": "scoreboards",
                    "id": match_id * 100 + sheet.inning * 10 + place,
                    "fixture_id": match_id,
                    "team_id": team.id,
                    "type": kind,
                    "scoreboard": f"S{sheet.inning}",
                    "wickets": sheet.wickets,
                    **row,
                    "updated_at": at,
                    "team": team_row(team, national=record.setting.international),
                }
            )
    return rows


class BallSerializer:
    """The ball rows of one match. Ids rise with the balls and leave gaps for deleted ones."""

    def __init__(self, record: MatchRecord, match_id: int, posted_at: Callable[[int], str]) -> None:
        self._record = record
        self._match_id = match_id
        self._posted_at = posted_at
        self._rows: list[Row] = []
        self._people = {player.id: player_row(player) for player in record.players}
        national = record.setting.international
        self._teams = {team.id: team_row(team, national=national) for team in record.teams}

    def shown(self, moment: TimelineMoment) -> list[Row]:
        """Return all balls posted by a moment, the latest last."""
        right = moment.shown - 1 if moment.correction else moment.shown
        for place in range(len(self._rows), right):
            self._rows.append(self._row(place, self._record.deliveries[place]))
        rows = self._rows[:right]
        if moment.correction:
            rows.append(
                self._row(right, moment.correction.posted, deleted=moment.correction.deleted)
            )
        return rows

    def _row(self, place: int, ball: Delivery, *, deleted: bool = False) -> Row:
        left, score = ball.dismissal, score_row(ball)
        kind, fielder = (left.kind, left.fielder) if left else ("", None)
        catcher = ball.bowler if kind == "caught and bowled" else fielder
        team = self._record.innings[ball.inning - 1].team.id
        one, two = sorted((ball.batter.id, ball.partner.id))
        return {
            "resource": "balls",
            "id": self._match_id * 10_000 + 2 * place + (1 if deleted else 2),
            "fixture_id": self._match_id,
            "team_id": team,
            "ball": format_ball(ball),
            "scoreboard": f"S{ball.inning}",
            "batsman_one_on_creeze_id": one,
            "batsman_two_on_creeze_id": two,
            "batsman_id": ball.batter.id,
            "bowler_id": ball.bowler.id,
            "batsmanout_id": left.out.id if left and left.counts else None,
            "catchstump_id": catcher.id if catcher and kind != "run out" else None,
            "runout_by_id": fielder.id if fielder and kind == "run out" else None,
            "score_id": score["id"],
            "updated_at": self._posted_at(place),
            "batsman": self._people.get(ball.batter.id) or player_row(ball.batter),
            "bowler": self._people.get(ball.bowler.id) or player_row(ball.bowler),
            "score": score,
            "team": self._teams[team],
        }


Figures: TypeAlias = Callable[[MatchRecord, int, tuple[InningsSheet, ...], str], list[Row]]

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


def find_unknown_includes(includes: Iterable[str]) -> list[str]:
    """Return the includes the feed does not know."""
    refused = []
    for each in includes:
        name, _, inner = each.partition(".")
        if name not in INCLUDES or (inner and inner not in _NESTED.get(name, ())):
            refused.append(each)
    return refused


class FixtureSerializer:
    """The fixture of a replay at any moment."""

    def __init__(self, replay: Replay) -> None:
        self.replay = replay
        self._record = replay.record
        self._book = Scorebook(replay.record)
        self._balls = BallSerializer(replay.record, replay.match_id, self._posted_at)
        self._lineup = lineup_rows(replay.record)

    def row(self, moment: TimelineMoment, includes: Iterable[str] = ()) -> Row:
        """Return the fixture at a moment; includes are names such as `balls` and `batting.result`.

        Lists may be shared between rows, so do not change them.
        """
        row = self._facts(moment)
        wanted = _tree(includes)
        if wanted.keys() & _FIGURES.keys():
            sheets = self._book.after(moment.shown, moment.correction)
            at = _stamp(self.replay.wall_time(moment.at))
            for name in wanted.keys() & _FIGURES.keys():
                rows = _FIGURES[name](self._record, self.replay.match_id, sheets, at)
                hidden = _NESTED.get(name, frozenset()) - wanted[name]
                row[name] = [{key: each[key] for key in each if key not in hidden} for each in rows]
        for name in wanted.keys() - _FIGURES.keys():
            row[name] = self._included(name, moment)
        return row

    def _facts(self, moment: TimelineMoment) -> Row:
        record, ended, outcome = self._record, moment.ended, outcome_at(self._record, moment)
        home, away = record.teams
        best = record.player_of_match
        return {
            "resource": "fixtures",
            "id": self.replay.match_id,
            "league_id": league_id(record),
            "season_id": season_id(record),
            "stage_id": stage_id(record),
            "round": record.setting.round,
            "localteam_id": home.id,
            "visitorteam_id": away.id,
            "starting_at": _stamp(self.replay.starts_at),
            "type": record.format,
            "live": True,
            "status": moment.status,
            "last_period": None,
            "note": _note(record, moment),
            "venue_id": venue_id(record),
            "toss_won_team_id": record.toss_winner.id if moment.tossed else None,
            "winner_team_id": outcome.winner.id if ended and outcome.winner else None,
            "draw_noresult": outcome.no_result if ended else None,
            **self._official_ids(),
            "man_of_match_id": best.id if moment.is_played_out and best else None,
            "man_of_series_id": None,
            "total_overs_played": record.overs,
            "elected": record.elected if moment.tossed else None,
            "super_over": moment.super_over,
            "follow_on": _followed_on(record, moment),
            "localteam_dl_data": self._dl(home, moment),
            "visitorteam_dl_data": self._dl(away, moment),
            "rpc_overs": _text(moment.revised_overs),
            "rpc_target": _text(moment.revised_target),
            "weather_report": [],
        }

    def _official_ids(self) -> Row:
        names = self._record.setting.officials
        ids = [stable_id("official", name) for name in names] + [None] * len(_OFFICIALS)
        fields = ("first_umpire_id", "second_umpire_id", "tv_umpire_id", "referee_id")
        return dict(zip(fields, ids, strict=False))

    def _dl(self, team: Team, moment: TimelineMoment) -> Row:
        """Return the par score of the side that batted first, once the target is revised."""
        revised = moment.revised_target
        if revised is None or not moment.inning or self._record.innings[0].team != team:
            return {"score": None, "overs": None, "wickets_out": None}
        return {"score": str(revised - 1), "overs": _text(moment.revised_overs), "wickets_out": "0"}

    def _included(self, name: str, moment: TimelineMoment) -> object:
        if name == "balls":
            return self._balls.shown(moment)
        if name == "lineup":
            return self._lineup if moment.tossed else []
        if name in _OFFICIALS:
            place, names = _OFFICIALS.index(name), self._record.setting.officials
            return official_row(names[place]) if place < len(names) else None
        if name == "manofmatch":
            best = self._record.player_of_match
            return player_row(best) if best and moment.is_played_out else None
        if name in {"localteam", "visitorteam", "tosswon", "winnerteam"}:
            return self._side(name, moment)
        rows = {"league": league_row, "season": season_row, "stage": stage_row, "venue": venue_row}
        return rows[name](self._record) if name in rows else None

    def _side(self, name: str, moment: TimelineMoment) -> Row | None:
        home, away = self._record.teams
        teams = {
            "localteam": home,
            "visitorteam": away,
            "tosswon": self._record.toss_winner if moment.tossed else None,
            "winnerteam": outcome_at(self._record, moment).winner if moment.ended else None,
        }
        team = teams[name]
        return team_row(team, national=self._record.setting.international) if team else None

    def _posted_at(self, place: int) -> str:
        replay = self.replay
        return _stamp(replay.wall_time(replay.timeline.second_of(place + 1)))


def outcome_at(record: MatchRecord, moment: TimelineMoment) -> Outcome:
    """Return the outcome of a finished match; one that was called off has no winner."""
    if moment.is_played_out:
        return record.outcome
    return Outcome(None, _CALLED_OFF.get(moment.status, "No result"), "No result")


def _tree(includes: Iterable[str]) -> dict[str, set[str]]:
    wanted: dict[str, set[str]] = {}
    for each in includes:
        name, _, inner = each.partition(".")
        wanted.setdefault(name, set()).update([inner] if inner else [])
    return wanted


def _note(record: MatchRecord, moment: TimelineMoment) -> str:
    if moment.ended:
        return outcome_at(record, moment).note
    if moment.revised_target and moment.revised_overs:
        return f"Target {moment.revised_target} runs from {moment.revised_overs} overs"
    target = moment.revised_target or moment.target
    return f"Target {target} runs" if target else ""


def _followed_on(record: MatchRecord, moment: TimelineMoment) -> bool:
    """Return whether a side bats twice in a row."""
    teams = [innings.team for innings in record.innings[: moment.inning] if not innings.super_over]
    return any(one == two for one, two in pairwise(teams))


def _text(number: int | None) -> str | None:
    return None if number is None else str(number)


def _stamp(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
