"""The display state of a match: the content state of Live Activities and its Swift type."""

from __future__ import annotations

import types
import typing
from dataclasses import dataclass, fields, is_dataclass, replace
from datetime import datetime
from typing import Any, Final, Literal, get_args, get_origin

import msgspec

from grandstand.apps.cricket.domain import matches
from grandstand.apps.cricket.domain.match_events import EVENT_KINDS, MatchEvent
from grandstand.core.formatting import camel_case

MAX_CONTENT_BYTES: Final = 2_600
"""The limit of a content state; the rest of the 4,096 bytes is for the envelope and an alert."""

_NAME_BYTES: Final = 28
_PLAYER_BYTES: Final = 24
_CODE_BYTES: Final = 8
_LINE_BYTES: Final = 64
_TEXT_BYTES: Final = 120
_IMAGE_BYTES: Final = 120
_OVER_BALLS: Final = 10
_LAST_BALLS: Final = 12


@dataclass(frozen=True, slots=True)
class DisplayInnings:
    """An innings in three numbers."""

    inning: int
    score: int
    wickets: int
    overs: str


@dataclass(frozen=True, slots=True)
class DisplayTeam:
    """A team with its innings so far."""

    id: str
    code: str
    name: str
    logo: str
    innings: tuple[DisplayInnings, ...]


@dataclass(frozen=True, slots=True)
class DisplayBatter:
    """A batter at the crease."""

    name: str
    runs: int
    balls: int
    fours: int
    sixes: int


@dataclass(frozen=True, slots=True)
class DisplayBowler:
    """The bowler; `figures` are overs-maidens-runs-wickets."""

    name: str
    figures: str


@dataclass(frozen=True, slots=True)
class DisplayKeyEvent:
    """The latest key event; `at` is in seconds."""

    kind: str
    text: str
    at: int


@dataclass(frozen=True, slots=True)
class UnifiedDisplayState:
    """Everything a Live Activity shows; times are in seconds.

    The first team is the one the viewer supports, or the home team. Rates have two decimals.
    """

    match_id: str
    seq: int
    updated_at: int
    phase: matches.MatchPhase
    status: str
    league: str
    venue: str
    teams: tuple[DisplayTeam, ...]
    inning: int
    this_over: tuple[str, ...]
    last_balls: tuple[str, ...]
    batting_team_id: str | None = None
    striker: DisplayBatter | None = None
    non_striker: DisplayBatter | None = None
    bowler: DisplayBowler | None = None
    run_rate: str | None = None
    required_rate: str | None = None
    target: int | None = None
    runs_needed: int | None = None
    balls_left: int | None = None
    partnership: str | None = None
    last_wicket: str | None = None
    toss: str | None = None
    result: str | None = None
    key_event: DisplayKeyEvent | None = None


@dataclass(frozen=True, slots=True)
class DisplayMoment:
    """When a state was computed, its sequence number, and the event it shows."""

    at: datetime
    seq: int
    event: MatchEvent | None = None


_JSON_NAMES: Final = {
    "match_id": "matchId",
    "updated_at": "updatedAt",
    "this_over": "thisOver",
    "last_balls": "lastBalls",
    "batting_team_id": "battingTeamId",
    "non_striker": "nonStriker",
    "run_rate": "runRate",
    "required_rate": "requiredRate",
    "runs_needed": "runsNeeded",
    "balls_left": "ballsLeft",
    "last_wicket": "lastWicket",
    "key_event": "keyEvent",
    **{
        name: name
        for name in (
            *("seq", "phase", "status", "league", "venue", "teams", "inning", "striker", "bowler"),
            *("target", "partnership", "toss", "result", "id", "code", "name", "logo", "innings"),
            *("score", "wickets", "overs", "runs", "balls", "fours", "sixes", "figures"),
            *("kind", "text", "at"),
        )
    },
}
"""The names in the content state and in Swift, which apps in the field decode; never derived."""


def build_display_state(
    snapshot: matches.MatchSnapshot, moment: DisplayMoment, team_id: str = matches.NEUTRAL_TEAM
) -> UnifiedDisplayState:
    """Return the display state for supporters of a team, or for neutrals."""
    inning = matches.current_inning(snapshot)
    board = snapshot.board_of(inning) or matches.Board(inning)
    score = snapshot.score_of(inning)
    phase = matches.phase_for_status(snapshot.status) or "live"
    last = snapshot.balls[-1] if snapshot.balls and snapshot.balls[-1].inning == inning else None
    chase = matches.compute_chase(snapshot, inning)
    striker, other = _crease(board, last)
    sides = (snapshot.home, snapshot.away)
    if team_id == snapshot.away.team_id:
        sides = (snapshot.away, snapshot.home)
    shown = UnifiedDisplayState(
        match_id=snapshot.match_id,
        seq=moment.seq,
        updated_at=int(moment.at.timestamp()),
        phase=phase,
        status=_truncate(snapshot.status, _NAME_BYTES),
        league=_truncate(snapshot.competition.name or snapshot.competition.code, _NAME_BYTES),
        venue=_truncate(snapshot.venue, _NAME_BYTES),
        teams=tuple(_team(snapshot, side) for side in sides),
        inning=inning,
        this_over=_this_over(snapshot, inning),
        last_balls=tuple(ball_symbol(ball) for ball in snapshot.balls[-_LAST_BALLS:]),
        batting_team_id=score.team_id if score else None,
        striker=_batter(snapshot, striker),
        non_striker=_batter(snapshot, other),
        bowler=_bowler(snapshot, board, last),
        run_rate=matches.format_run_rate(score.score, score.position) if score else None,
        required_rate=chase.rate if chase else None,
        target=chase.target if chase else None,
        runs_needed=chase.runs_needed if chase else None,
        balls_left=chase.balls_left if chase else None,
        partnership=_partnership(snapshot, board),
        last_wicket=_last_wicket(snapshot, board),
        toss=_toss(snapshot),
        result=_truncate(snapshot.note, _TEXT_BYTES)
        if phase == "ended" and snapshot.note
        else None,
        key_event=_event(moment),
    )
    return _fit(shown)


def encode_content_state(state: UnifiedDisplayState) -> bytes:
    """Return the content state as JSON."""
    return msgspec.json.encode(content_state(state))


def ball_symbol(ball: matches.Ball) -> str:
    """Return the scorer's symbol of a ball: 4, W, 2wd, 1lb."""
    extra = {"wide": "wd", "noball": "nb", "bye": "b", "legbye": "lb"}.get(ball.extra or "", "")
    runs = ball.runs + ball.extras
    if ball.wicket:
        return f"W{runs}{extra}" if runs else "W"
    return f"{runs}{extra}" if runs or extra else "•"


def content_state(record: object) -> dict[str, object]:
    """Return a state, or a part of it, as the app decodes it; unknown values are left out."""
    result: dict[str, object] = {}
    for field in fields(record):  # type: ignore[arg-type] # only called with dataclasses
        value = getattr(record, field.name)
        if value is None:
            continue
        if isinstance(value, tuple):
            value = [content_state(item) if is_dataclass(item) else item for item in value]
        elif is_dataclass(value):
            value = content_state(value)
        result[_JSON_NAMES[field.name]] = value
    return result


def _fit(shown: UnifiedDisplayState) -> UnifiedDisplayState:
    """Drop the least important fields until the state fits into a push."""
    steps: tuple[dict[str, Any], ...] = (
        {"teams": tuple(replace(team, logo="") for team in shown.teams)},
        {"last_balls": (), "venue": "", "toss": None},
        {"last_wicket": None, "partnership": None},
    )
    for changes in steps:
        if len(encode_content_state(shown)) <= MAX_CONTENT_BYTES:
            break
        shown = replace(shown, **changes)
    return shown


def _team(snapshot: matches.MatchSnapshot, side: matches.Side) -> DisplayTeam:
    innings = tuple(
        DisplayInnings(
            score.inning, score.score, score.wickets, str(matches.balls_to_overs(score.position))
        )
        for score in snapshot.innings
        if score.team_id == side.team_id
    )
    code = _truncate(side.code or side.name[:3].upper(), _CODE_BYTES)
    logo = side.image if len(side.image.encode()) <= _IMAGE_BYTES else ""
    return DisplayTeam(side.team_id, code, _truncate(side.name, _NAME_BYTES), logo, innings[-4:])


def _crease(
    board: matches.Board, last: matches.Ball | None
) -> tuple[matches.BattingLine | None, matches.BattingLine | None]:
    """Return the striker and the non-striker.

    The feed's own flag of who bats is unreliable, so the last ball decides, and who came in
    since.
    """
    batting = [line for line in board.batting if not line.out]
    pair = [last.batter_id, last.partner_id] if last else []
    known = [line for player in pair for line in batting if line.player_id == player]
    fresh = [line for line in reversed(batting) if line not in known and not line.balls]
    here = [*known, *fresh][:2] if known or fresh else batting[-2:]
    if last and len(known) == 2 and _crossed(last):
        here.reverse()
    return (here[0] if here else None), (here[1] if len(here) > 1 else None)


def _crossed(last: matches.Ball) -> bool:
    """Return whether the batters have changed ends since the last ball was bowled."""
    run = last.runs if last.extra is None else last.runs + last.extras - (not last.legal)
    over = last.legal and last.number >= matches.BALLS_PER_OVER
    return (run % 2 == 1) != over


def _batter(
    snapshot: matches.MatchSnapshot, line: matches.BattingLine | None
) -> DisplayBatter | None:
    if line is None:
        return None
    name = _truncate(snapshot.player(line.player_id), _PLAYER_BYTES)
    return DisplayBatter(name, line.score, line.balls, line.fours, line.sixes)


def _bowler(
    snapshot: matches.MatchSnapshot, board: matches.Board, last: matches.Ball | None
) -> DisplayBowler | None:
    line: matches.BowlingLine | None = None
    if last:
        line = next((each for each in board.bowling if each.player_id == last.bowler_id), None)
    elif board.bowling:
        line = board.bowling[-1]
    if line is None:
        return None
    figures = f"{line.overs}-{line.maidens}-{line.runs}-{line.wickets}"
    return DisplayBowler(_truncate(snapshot.player(line.player_id), _PLAYER_BYTES), figures)


def _this_over(snapshot: matches.MatchSnapshot, inning: int) -> tuple[str, ...]:
    balls = snapshot.balls
    if not balls or balls[-1].inning != inning:
        return ()
    over = [ball for ball in balls[-2 * _OVER_BALLS :] if ball.inning == inning]
    return tuple(ball_symbol(ball) for ball in over if ball.over == balls[-1].over)[-_OVER_BALLS:]


def _partnership(snapshot: matches.MatchSnapshot, board: matches.Board) -> str | None:
    """Return the runs since the last wicket, or None if the feed does not say when it fell."""
    score = snapshot.score_of(board.inning)
    falls = [line for line in board.batting if line.out]
    if score is None or any(line.fall_score is None for line in falls):
        return None
    at_score = max((line.fall_score or 0 for line in falls), default=0)
    runs = score.score - at_score
    return str(runs) if runs >= 0 else None


def _last_wicket(snapshot: matches.MatchSnapshot, board: matches.Board) -> str | None:
    falls = [line for line in board.batting if line.out and line.fall_overs is not None]
    if not falls:
        return None
    line = max(falls, key=lambda each: each.fall_overs or 0)
    name = _truncate(snapshot.player(line.player_id), _PLAYER_BYTES)
    return _truncate(
        f"{name} {line.score} ({line.balls}), {line.fall_overs} ov".strip(), _LINE_BYTES
    )


def _toss(snapshot: matches.MatchSnapshot) -> str | None:
    side = snapshot.side(snapshot.toss_team_id)
    if side is None:
        return None
    chose = f", {snapshot.elected}" if snapshot.elected else ""
    return _truncate(f"{side.code or side.name}{chose}", _LINE_BYTES)


def _event(moment: DisplayMoment) -> DisplayKeyEvent | None:
    event = moment.event
    if event is None:
        return None
    return DisplayKeyEvent(
        event.kind, _truncate(event.text, _TEXT_BYTES), int(moment.at.timestamp())
    )


def _truncate(text: str, max_bytes: int) -> str:
    """Shorten a text to a number of bytes as JSON, with an ellipsis."""
    if len(msgspec.json.encode(text)) - 2 <= max_bytes:
        return text
    while text and len(msgspec.json.encode(f"{text}…")) - 2 > max_bytes:
        text = text[:-1]
    return f"{text.rstrip()}…" if text else ""


ATTRIBUTES_TYPE: Final = "CricketMatchAttributes"

_SWIFT_STRUCTS: Final[dict[type[Any], str]] = {
    DisplayInnings: "Innings",
    DisplayTeam: "Team",
    DisplayBatter: "Batter",
    DisplayBowler: "Bowler",
    DisplayKeyEvent: "KeyEvent",
}
_SWIFT_TYPES: Final = {str: "String", int: "Int", bool: "Bool"}
_SWIFT_HEADER: Final = """\
// Generated by Grandstand from the content state it pushes. Do not edit.
import ActivityKit
import Foundation

"""


def swift_source() -> str:
    """Return the Swift file with the activity's attributes and content state."""
    lines = [f"public struct {ATTRIBUTES_TYPE}: ActivityAttributes {{"]
    lines += _swift_struct("ContentState", UnifiedDisplayState)
    for record, name in _SWIFT_STRUCTS.items():
        lines += ["", *_swift_struct(name, record)]
    # The state itself has a String, so new kinds decode.
    cases = [f'        case {camel_case(kind)} = "{kind}"' for kind in EVENT_KINDS]
    lines += ["", "    public enum EventKind: String, CaseIterable {", *cases, "    }", ""]
    lines += ["    public var matchId: String", "    public var homeTeam: String"]
    lines += ["    public var awayTeam: String", "}", ""]
    return _SWIFT_HEADER + "\n".join(lines)


def _swift_struct(name: str, record: type[Any]) -> list[str]:
    hints = typing.get_type_hints(record)
    body = [
        f"        public var {_JSON_NAMES[field.name]}: {_swift_type(hints[field.name])}"
        for field in fields(record)
    ]
    return [f"    public struct {name}: Codable, Hashable {{", *body, "    }"]


def _swift_type(annotation: object) -> str:
    if annotation in _SWIFT_TYPES:
        return _SWIFT_TYPES[typing.cast("type[Any]", annotation)]
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return "String"
    if origin in (typing.Union, types.UnionType):
        return f"{_swift_type(next(kind for kind in arguments if kind is not types.NoneType))}?"
    if origin is tuple:
        return f"[{_swift_type(arguments[0])}]"
    if isinstance(annotation, type) and annotation in _SWIFT_STRUCTS:
        return _SWIFT_STRUCTS[annotation]
    raise AssertionError(annotation)
