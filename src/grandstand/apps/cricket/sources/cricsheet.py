"""Reader for Cricsheet files: a recorded match, ball by ball, as snapshots."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, Final, Literal

import msgspec

from grandstand.apps.cricket.domain import matches
from grandstand.core.errors import InvalidInput

# Cricsheet has the day of a match but no times: play starts at midnight, with a ball every 40 s.
_START: Final = datetime(2000, 1, 1, tzinfo=UTC)
_BALL_SECONDS: Final = 40.0
_DAY_SECONDS: Final = 86_400.0
_TOSS_SECONDS: Final = -1_800.0
_BREAK_SECONDS: Final = 1_200.0
_SHORT_BREAK_SECONDS: Final = 600.0
_SESSION_OVERS: Final = 30
_SESSION_BREAKS: Final = {1: ("Lunch", 2_400.0), 2: ("Tea Break", 1_200.0)}
_ORDINALS: Final = ("1st", "2nd", "3rd", "4th")
# A snapshot has more balls than are bowled between two of them, if every 60th is processed.
_SNAPSHOT_BALLS: Final = 200
_FORMATS: Final = {
    ("T20", True): "T20I",
    ("T20", False): "T20",
    ("IT20", True): "T20",
    ("IT20", False): "T20",
    ("ODI", True): "ODI",
    ("ODI", False): "List A",
    ("ODM", True): "List A",
    ("ODM", False): "List A",
    ("Test", True): "Test",
    ("MDM", True): "4day",
    ("MDM", False): "4day",
}
# Dismissals as the score feed names them, if not by Cricsheet's name in title case.
_DISMISSALS: Final = {
    "bowled": "Clean Bowled",
    "caught": "Catch Out",
    "caught and bowled": "Catch Out",
    "lbw": "LBW Out",
    "stumped": "Stump Out",
}
_EXTRAS: Final[dict[Literal["wides", "noballs", "legbyes", "byes"], matches.ExtraKind]] = {
    "wides": "wide",
    "noballs": "noball",
    "legbyes": "legbye",
    "byes": "bye",
}
_CREDITED: Final = frozenset({*_DISMISSALS, "hit wicket"})
_NOT_OUT: Final = frozenset({"retired hurt", "retired not out"})
_NO_RESULTS: Final = {"no result": "No result", "draw": "Match drawn", "tie": "Match tied"}


class _Runs(msgspec.Struct):
    batter: int
    non_boundary: bool = False


class _Wicket(msgspec.Struct):
    player_out: str
    kind: str


class _Delivery(msgspec.Struct):
    batter: str
    bowler: str
    non_striker: str
    runs: _Runs
    extras: dict[Literal["wides", "noballs", "byes", "legbyes", "penalty"], int] = msgspec.field(
        default_factory=dict
    )
    wickets: list[_Wicket] = msgspec.field(default_factory=list)


class _Over(msgspec.Struct):
    over: int
    deliveries: list[_Delivery]


class _Target(msgspec.Struct):
    runs: int | None = None
    overs: float | None = None


class _Penalty(msgspec.Struct):
    pre: int = 0
    post: int = 0


class _Innings(msgspec.Struct):
    team: str
    overs: list[_Over] = msgspec.field(default_factory=list)
    target: _Target = msgspec.field(default_factory=_Target)
    super_over: bool = False
    penalty_runs: _Penalty = msgspec.field(default_factory=_Penalty)


class _Margin(msgspec.Struct):
    runs: int | None = None
    wickets: int | None = None
    innings: int | None = None


class _Outcome(msgspec.Struct):
    winner: str | None = None
    by: _Margin = msgspec.field(default_factory=_Margin)
    method: str = ""
    result: str = ""
    eliminator: str | None = None


class _Toss(msgspec.Struct):
    winner: str
    decision: Literal["bat", "field"]


class _Registry(msgspec.Struct):
    people: dict[str, str]


class _Info(msgspec.Struct):
    match_type: str
    team_type: str
    teams: tuple[str, str]
    registry: _Registry
    toss: _Toss
    outcome: _Outcome


class _Match(msgspec.Struct):
    info: _Info
    innings: list[_Innings]


def is_cricsheet(content: bytes) -> bool:
    """Return whether a file is a Cricsheet match."""
    try:
        value = msgspec.json.decode(content)
    except msgspec.DecodeError:
        return False
    return isinstance(value, dict) and {"info", "innings"} <= value.keys()


def play_cricsheet(content: bytes) -> Iterator[tuple[datetime, matches.MatchSnapshot]]:
    """Return the snapshots of a match, from the day before its start to its end.

    Raises InvalidInput if the file is not a Cricsheet match.
    """
    try:
        match = msgspec.json.decode(content, type=_Match, strict=False)
        return _Playback(match).play()
    except (msgspec.MsgspecError, KeyError, ValueError) as error:
        raise InvalidInput(f"Cannot read the Cricsheet match: {error}.") from error


@dataclass(slots=True)
class _Figures:
    """The figures of an innings so far; `conceded` are those of the over that `bowler` began."""

    score: matches.InningsScore
    batting: dict[int, matches.BattingLine] = field(default_factory=dict)
    bowling: dict[int, matches.BowlingLine] = field(default_factory=dict)
    over: int = -1
    legal: int = 0
    conceded: int = 0
    bowler: int = 0

    def board(self) -> matches.Board:
        batting, bowling = tuple(self.batting.values()), tuple(self.bowling.values())
        return matches.Board(self.score.inning, batting, bowling)

    def add(self, ball: matches.Ball, delivery: _Delivery) -> None:
        extras = delivery.extras
        conceded = ball.runs + extras.get("wides", 0) + extras.get("noballs", 0)
        if ball.over != self.over:
            self.over, self.legal, self.conceded, self.bowler = ball.over, 0, 0, ball.bowler_id
        self.legal += ball.legal
        self.conceded += conceded
        self.score = replace(
            self.score,
            score=self.score.score + ball.runs + sum(extras.values()),
            wickets=self.score.wickets + ball.wicket,
            overs=matches.balls_to_overs(ball.over * matches.BALLS_PER_OVER + self.legal),
        )
        self._bat(ball)
        self._bowl(ball, conceded)

    def _bat(self, ball: matches.Ball) -> None:
        inning = self.score.inning
        for player in (ball.batter_id, ball.partner_id or 0, ball.out_id):
            if player is not None and player not in self.batting:
                self.batting[player] = matches.BattingLine(player, inning, 0, 0, 0, 0, out=False)
        line = self.batting[ball.batter_id]
        self.batting[ball.batter_id] = replace(
            line,
            score=line.score + ball.runs,
            balls=line.balls + (ball.extra != "wide"),
            fours=line.fours + ball.four,
            sixes=line.sixes + ball.six,
        )
        if ball.out_id is not None:
            self.batting[ball.out_id] = replace(
                self.batting[ball.out_id],
                out=True,
                fall_score=self.score.score,
                fall_overs=Decimal(ball.label),
            )

    def _bowl(self, ball: matches.Ball, conceded: int) -> None:
        new = matches.BowlingLine(ball.bowler_id, self.score.inning, Decimal(0), 0, 0, 0)
        line = self.bowling.get(ball.bowler_id, new)
        over_ends = ball.legal and self.legal == matches.BALLS_PER_OVER
        maiden = over_ends and not self.conceded and self.bowler == ball.bowler_id
        self.bowling[ball.bowler_id] = replace(
            line,
            overs=matches.balls_to_overs(matches.overs_to_balls(line.overs) + ball.legal),
            maidens=line.maidens + maiden,
            runs=line.runs + conceded,
            wickets=line.wickets + ball.credited,
        )


class _Playback:
    """Plays a match: its balls, innings breaks and, if it lasts days, the breaks of each day."""

    def __init__(self, match: _Match) -> None:
        info = match.info
        home, away = info.teams
        self._sides = {
            home: matches.Side("1", home, _team_code(home)),
            away: matches.Side("2", away, _team_code(away)),
        }
        self._players = {name: int(key, 16) for name, key in info.registry.people.items()}
        self._innings = match.innings
        self._balls: list[matches.Ball] = []
        self._deliveries = [
            delivery
            for innings in match.innings
            for over in innings.overs
            for delivery in over.deliveries
        ]
        for inning, innings in enumerate(match.innings, start=1):
            for over in innings.overs:
                self._add_over(inning, over)
        self._snapshot = matches.MatchSnapshot(
            "1",
            matches.NOT_STARTED,
            self._sides[home],
            self._sides[away],
            format=_FORMATS[info.match_type, info.team_type == "international"],
            players={number: _short_name(name) for name, number in self._players.items()},
        )
        self._toss = (self._sides[info.toss.winner], info.toss.decision)
        winner = info.outcome.winner or info.outcome.eliminator
        self._winner = None if winner is None else self._sides[winner]
        self._outcome = info.outcome
        self._seconds, self._day, self._overs_today = 0.0, 1, 0

    def _add_over(self, inning: int, over: _Over) -> None:
        """Read the balls of an over; an illegal ball has the number of the next legal one."""
        number = 1
        for delivery in over.deliveries:
            ball = self._read_ball(delivery, inning, over.over, number)
            self._balls.append(ball)
            number += ball.legal

    def _read_ball(self, delivery: _Delivery, inning: int, over: int, number: int) -> matches.Ball:
        runs, extras = delivery.runs.batter, delivery.extras
        out = next((wicket for wicket in delivery.wickets if wicket.kind not in _NOT_OUT), None)
        return matches.Ball(
            id=len(self._balls) + 1,
            inning=inning,
            over=over,
            number=number,
            batter_id=self._players[delivery.batter],
            bowler_id=self._players[delivery.bowler],
            runs=runs,
            extras=sum(extras.values()) - extras.get("penalty", 0),
            extra=next((kind for name, kind in _EXTRAS.items() if extras.get(name)), None),
            four=runs == 4 and not delivery.runs.non_boundary,
            six=runs == 6 and not delivery.runs.non_boundary,
            wicket=out is not None,
            credited=out is not None and out.kind in _CREDITED,
            out_id=self._players[out.player_out] if out else None,
            partner_id=self._players[delivery.non_striker],
            how=_DISMISSALS.get(out.kind, out.kind.title()) if out else None,
        )

    def play(self) -> Iterator[tuple[datetime, matches.MatchSnapshot]]:
        side, decision = self._toss
        yield self._step(-_DAY_SECONDS)
        elected = "batting" if decision == "bat" else "bowling"
        yield self._step(_TOSS_SECONDS, toss_team_id=side.team_id, elected=elected)
        self._seconds = 0.0
        for inning in range(1, len(self._innings) + 1):
            if inning > 1:
                yield self._break_before(inning)
            yield from self._play_innings(inning)
        winner, result = self._winner, self._outcome.result
        no_result = "" if winner else _NO_RESULTS.get(result, result)
        yield self._step(
            self._seconds + _BALL_SECONDS,
            status=matches.FINISHED,
            winner_team_id=winner.team_id if winner else None,
            no_result=no_result,
            note=f"{winner.name} won{_format_margin(self._outcome)}" if winner else no_result,
        )

    def _step(self, seconds: float, **changes: Any) -> tuple[datetime, matches.MatchSnapshot]:  # noqa: ANN401 - fields of a snapshot
        self._seconds = seconds
        self._snapshot = replace(self._snapshot, **changes)
        return _START + timedelta(seconds=seconds), self._snapshot

    def _break_before(self, inning: int) -> tuple[datetime, matches.MatchSnapshot]:
        innings, snapshot = self._innings[inning - 1], self._snapshot
        revision, target = snapshot.revision, innings.target
        if inning % 2 == 0 and not matches.is_multi_day(snapshot.format):
            before = snapshot.score_of(inning - 1)
            if target.runs not in (None, (before.score if before else 0) + 1):
                overs = None if target.overs is None else Decimal(int(target.overs))
                revision = matches.Revision(target.runs, overs)
        step = self._step(
            self._seconds + _BALL_SECONDS,
            status="Innings Break",
            super_over=innings.super_over or snapshot.super_over,
            revision=revision,
        )
        is_short = matches.is_multi_day(snapshot.format) or innings.super_over
        self._seconds += _SHORT_BREAK_SECONDS if is_short else _BREAK_SECONDS
        return step

    def _play_innings(self, inning: int) -> Iterator[tuple[datetime, matches.MatchSnapshot]]:
        innings = self._innings[inning - 1]
        penalty = innings.penalty_runs.pre + innings.penalty_runs.post
        team = self._sides[innings.team]
        figures = _Figures(matches.InningsScore(team.team_id, inning, penalty, 0, Decimal(0)))
        scores, boards = self._snapshot.innings, self._snapshot.boards
        status = f"{_ORDINALS[min(inning, 4) - 1]} Innings"
        yield self._step(self._seconds, status=status)
        balls = [ball for ball in self._balls if ball.inning == inning]
        for at, ball in enumerate(balls, start=1):
            figures.add(ball, self._deliveries[ball.id - 1])
            yield self._step(
                self._seconds + _BALL_SECONDS,
                innings=(*scores, figures.score),
                boards=(*boards, figures.board()),
                balls=tuple(self._balls[max(0, ball.id - _SNAPSHOT_BALLS) : ball.id]),
            )
            if matches.is_multi_day(self._snapshot.format):
                is_last = at == len(balls)
                self._overs_today += is_last or balls[at].over != ball.over
                if not is_last and balls[at].over != ball.over:
                    yield from self._break_session(status)

    def _break_session(self, status: str) -> Iterator[tuple[datetime, matches.MatchSnapshot]]:
        """Break for lunch, tea or stumps, if their overs have been bowled."""
        sessions, rest = divmod(self._overs_today, _SESSION_OVERS)
        if rest or not sessions:
            return
        start = self._seconds + _BALL_SECONDS
        if sessions in _SESSION_BREAKS:
            pause, length = _SESSION_BREAKS[sessions]
            yield self._step(start, status=pause)
            yield self._step(start + length, status=status)
        else:
            yield self._step(start, status=f"Stump Day {min(self._day, 4)}")
            yield self._step(max(self._day * _DAY_SECONDS, start + _BALL_SECONDS), status=status)
            self._day, self._overs_today = self._day + 1, 0


def _team_code(name: str) -> str:
    """Return the initials of a team, or the first three letters of a single word."""
    words = name.split()
    return "".join(word[0] for word in words)[:4].upper() if len(words) > 1 else name[:3].upper()


def _short_name(name: str) -> str:
    """Return a player's name with one initial: D Warner for DA Warner."""
    first, _, last = name.partition(" ")
    return f"{first[0]} {last}" if last else name


def _format_margin(outcome: _Outcome) -> str:
    by, method = outcome.by, f" ({outcome.method} method)" if outcome.method else ""
    if outcome.eliminator:
        return f" the super over{method}"
    margin = ""
    if by.wickets is not None:
        margin = f" by {by.wickets} wicket" + "s" * (by.wickets != 1)
    elif by.runs is not None:
        innings = "an innings and " if by.innings else ""
        margin = f" by {innings}{by.runs} run" + "s" * (by.runs != 1)
    return f"{margin}{method}"
