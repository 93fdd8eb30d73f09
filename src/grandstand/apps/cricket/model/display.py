"""Kept here: what a lock screen shows of a match, short enough for one push."""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass, replace
from datetime import datetime
from typing import Final

import msgspec

from grandstand.apps.cricket.model.events.kinds import Detected
from grandstand.apps.cricket.model.phases import phase_of
from grandstand.apps.cricket.model.rates import chase_of, run_rate
from grandstand.apps.cricket.model.scores import (
    BALLS_PER_OVER,
    Ball,
    BattingLine,
    Board,
    BowlingLine,
    Fixture,
    Side,
    overs_of,
)
from grandstand.apps.cricket.model.targets import inning_now
from grandstand.apps.cricket.model.words import NEUTRAL_TEAM, MatchPhase
from grandstand.base.names import camel

MOST_BYTES: Final = 2_600
"""What a content state may take: the rest of the 4,096 bytes is for the envelope and an alert."""

_NAME_BYTES: Final = 28
_PLAYER_BYTES: Final = 24
_CODE_BYTES: Final = 8
_LINE_BYTES: Final = 64
_TEXT_BYTES: Final = 120
_IMAGE_BYTES: Final = 120
_OVER_BALLS: Final = 10
_LAST_BALLS: Final = 12


@dataclass(frozen=True, slots=True)
class InningsShown:
    """An innings in three numbers."""

    inning: int
    score: int
    wickets: int
    overs: str


@dataclass(frozen=True, slots=True)
class TeamShown:
    """A team with its innings so far."""

    id: str
    code: str
    name: str
    logo: str
    innings: tuple[InningsShown, ...]


@dataclass(frozen=True, slots=True)
class BatterShown:
    """A batter at the crease."""

    name: str
    runs: int
    balls: int
    fours: int
    sixes: int


@dataclass(frozen=True, slots=True)
class BowlerShown:
    """The bowler, with figures as they are written: overs-maidens-runs-wickets."""

    name: str
    figures: str


@dataclass(frozen=True, slots=True)
class KeyEventShown:
    """What just happened; `at` is in seconds."""

    kind: str
    text: str
    at: int


@dataclass(frozen=True, slots=True)
class UnifiedDisplayState:
    """All that a Live Activity shows; times are plain numbers of seconds.

    The first team is the one the viewer is for, or the home team. Rates have two decimals.
    """

    match_id: str
    seq: int
    updated_at: int
    phase: MatchPhase
    status: str
    league: str
    venue: str
    teams: tuple[TeamShown, ...]
    inning: int
    this_over: tuple[str, ...]
    last_balls: tuple[str, ...]
    batting_team_id: str | None = None
    striker: BatterShown | None = None
    non_striker: BatterShown | None = None
    bowler: BowlerShown | None = None
    run_rate: str | None = None
    required_rate: str | None = None
    target: int | None = None
    runs_needed: int | None = None
    balls_left: int | None = None
    partnership: str | None = None
    last_wicket: str | None = None
    toss: str | None = None
    result: str | None = None
    key_event: KeyEventShown | None = None


@dataclass(frozen=True, slots=True)
class Moment:
    """When a state is shown, and as which in order."""

    at: datetime
    seq: int
    event: Detected | None = None


def display(fixture: Fixture, moment: Moment, team_id: str = NEUTRAL_TEAM) -> UnifiedDisplayState:
    """Answer what is shown of a match to who is for a team, or for none."""
    inning = inning_now(fixture)
    board = fixture.board_of(inning) or Board(inning)
    score = fixture.score_of(inning)
    phase = phase_of(fixture.status) or "live"
    last = fixture.balls[-1] if fixture.balls and fixture.balls[-1].inning == inning else None
    chase = chase_of(fixture, inning)
    striker, other = _crease(board, last)
    shown = UnifiedDisplayState(
        match_id=fixture.match_id,
        seq=moment.seq,
        updated_at=int(moment.at.timestamp()),
        phase=phase,
        status=_cut(fixture.status, _NAME_BYTES),
        league=_cut(fixture.competition.name or fixture.competition.code, _NAME_BYTES),
        venue=_cut(fixture.venue, _NAME_BYTES),
        teams=tuple(_team(fixture, side) for side in _sides(fixture, team_id)),
        inning=inning,
        this_over=_this_over(fixture, inning),
        last_balls=tuple(mark_of(ball) for ball in fixture.balls[-_LAST_BALLS:]),
        batting_team_id=score.team_id if score else None,
        striker=_batter(fixture, striker),
        non_striker=_batter(fixture, other),
        bowler=_bowler(fixture, board, last),
        run_rate=run_rate(score.score, score.position) if score else None,
        required_rate=chase.rate if chase else None,
        target=chase.target if chase else None,
        runs_needed=chase.runs_needed if chase else None,
        balls_left=chase.balls_left if chase else None,
        partnership=_partnership(fixture, board),
        last_wicket=_last_wicket(fixture, board),
        toss=_toss(fixture),
        result=_cut(fixture.note, _TEXT_BYTES) if phase == "ended" and fixture.note else None,
        key_event=_event(moment),
    )
    return _fitting(shown)


def content(shown: UnifiedDisplayState) -> dict[str, object]:
    """Answer a state as the app decodes it; what is not known is left out."""
    return _plain(shown)


def encode_content(shown: UnifiedDisplayState) -> bytes:
    """Answer a state as JSON."""
    return msgspec.json.encode(content(shown))


def mark_of(ball: Ball) -> str:
    """Answer a ball as scorers write it: 4, W, 2wd, 1lb."""
    extra = {"wide": "wd", "noball": "nb", "bye": "b", "legbye": "lb"}.get(ball.extra or "", "")
    runs = ball.runs + ball.extras
    if ball.wicket:
        return f"W{runs}{extra}" if runs else "W"
    return f"{runs}{extra}" if runs or extra else "•"


def _plain(record: object) -> dict[str, object]:
    told: dict[str, object] = {}
    for each in fields(record):  # type: ignore[arg-type] # only called with dataclasses
        value = getattr(record, each.name)
        if value is None:
            continue
        if isinstance(value, tuple):
            value = [_plain(item) if is_dataclass(item) else item for item in value]
        elif is_dataclass(value):
            value = _plain(value)
        told[camel(each.name)] = value
    return told


def _fitting(shown: UnifiedDisplayState) -> UnifiedDisplayState:
    """Leave out what is least missed until a state fits."""
    for step in (_without_logos, _without_places, _without_history):
        if len(encode_content(shown)) <= MOST_BYTES:
            break
        shown = step(shown)
    return shown


def _without_logos(shown: UnifiedDisplayState) -> UnifiedDisplayState:
    return replace(shown, teams=tuple(replace(team, logo="") for team in shown.teams))


def _without_places(shown: UnifiedDisplayState) -> UnifiedDisplayState:
    return replace(shown, last_balls=(), venue="", toss=None)


def _without_history(shown: UnifiedDisplayState) -> UnifiedDisplayState:
    return replace(shown, last_wicket=None, partnership=None)


def _sides(fixture: Fixture, team_id: str) -> tuple[Side, Side]:
    if team_id == fixture.away.team_id:
        return fixture.away, fixture.home
    return fixture.home, fixture.away


def _team(fixture: Fixture, side: Side) -> TeamShown:
    innings = tuple(
        InningsShown(score.inning, score.score, score.wickets, str(overs_of(score.position)))
        for score in fixture.innings
        if score.team_id == side.team_id
    )
    code = _cut(side.code or side.name[:3].upper(), _CODE_BYTES)
    logo = side.image if len(side.image.encode()) <= _IMAGE_BYTES else ""
    return TeamShown(side.team_id, code, _cut(side.name, _NAME_BYTES), logo, innings[-4:])


def _crease(board: Board, last: Ball | None) -> tuple[BattingLine | None, BattingLine | None]:
    """Answer who faces next and who stands opposite.

    The feed's own mark of who bats cannot be relied on: the last ball tells it, and whoever came in
    since has not been out.
    """
    batting = [line for line in board.batting if not line.out]
    pair = [last.batter_id, last.partner_id] if last else []
    known = [line for player in pair for line in batting if line.player_id == player]
    fresh = [line for line in reversed(batting) if line not in known and not line.balls]
    here = [*known, *fresh][:2] if known or fresh else batting[-2:]
    if last and len(known) == 2 and _crossed(last):  # noqa: PLR2004 - two bat
        here.reverse()
    return (here[0] if here else None), (here[1] if len(here) > 1 else None)


def _crossed(last: Ball) -> bool:
    """Tell whether the batters have changed ends since the last ball was bowled."""
    run = last.runs if last.extra is None else last.runs + last.extras - (not last.legal)
    over = last.legal and last.number >= BALLS_PER_OVER
    return (run % 2 == 1) != over


def _batter(fixture: Fixture, line: BattingLine | None) -> BatterShown | None:
    if line is None:
        return None
    name = _cut(fixture.player(line.player_id), _PLAYER_BYTES)
    return BatterShown(name, line.score, line.balls, line.fours, line.sixes)


def _bowler(fixture: Fixture, board: Board, last: Ball | None) -> BowlerShown | None:
    line: BowlingLine | None = None
    if last:
        line = next((each for each in board.bowling if each.player_id == last.bowler_id), None)
    elif board.bowling:
        line = board.bowling[-1]
    if line is None:
        return None
    figures = f"{line.overs}-{line.maidens}-{line.runs}-{line.wickets}"
    return BowlerShown(_cut(fixture.player(line.player_id), _PLAYER_BYTES), figures)


def _this_over(fixture: Fixture, inning: int) -> tuple[str, ...]:
    balls = fixture.balls
    if not balls or balls[-1].inning != inning:
        return ()
    over = [ball for ball in balls[-2 * _OVER_BALLS :] if ball.inning == inning]
    return tuple(mark_of(ball) for ball in over if ball.over == balls[-1].over)[-_OVER_BALLS:]


def _partnership(fixture: Fixture, board: Board) -> str | None:
    """The runs since the last wicket; nothing where the feed does not tell when that was."""
    score = fixture.score_of(board.inning)
    falls = [line for line in board.batting if line.out]
    if score is None or any(line.fall_score is None for line in falls):
        return None
    at_score = max((line.fall_score or 0 for line in falls), default=0)
    runs = score.score - at_score
    return str(runs) if runs >= 0 else None


def _last_wicket(fixture: Fixture, board: Board) -> str | None:
    falls = [line for line in board.batting if line.out and line.fall_overs is not None]
    if not falls:
        return None
    line = max(falls, key=lambda each: each.fall_overs or 0)
    name = _cut(fixture.player(line.player_id), _PLAYER_BYTES)
    return _cut(f"{name} {line.score} ({line.balls}), {line.fall_overs} ov".strip(), _LINE_BYTES)


def _toss(fixture: Fixture) -> str | None:
    side = fixture.side(fixture.toss_team_id)
    if side is None:
        return None
    chose = f", {fixture.elected}" if fixture.elected else ""
    return _cut(f"{side.code or side.name}{chose}", _LINE_BYTES)


def _event(moment: Moment) -> KeyEventShown | None:
    event = moment.event
    if event is None:
        return None
    return KeyEventShown(event.kind, _cut(event.text, _TEXT_BYTES), int(moment.at.timestamp()))


def _cut(text: str, most_bytes: int) -> str:
    """Shorten a text to so many bytes, as JSON counts them, with an ellipsis where it was cut."""
    if len(msgspec.json.encode(text)) - 2 <= most_bytes:
        return text
    while text and len(msgspec.json.encode(f"{text}…")) - 2 > most_bytes:
        text = text[:-1]
    return f"{text.rstrip()}…" if text else ""
