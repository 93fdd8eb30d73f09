"""Kept here: what the figures of an innings tell: wickets, milestones, arrivals and overs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from grandstand.apps.cricket.model.events.balls import Trail
from grandstand.apps.cricket.model.events.kinds import EventKind
from grandstand.apps.cricket.model.events.tick import Tick
from grandstand.apps.cricket.model.scores import (
    BALLS_PER_OVER,
    Ball,
    BattingLine,
    Board,
    BowlingLine,
    InningsScore,
    position,
)

_OPENERS: Final = 2
_SHOUTS: Final = {50: "FIFTY", 100: "HUNDRED"}


@dataclass(frozen=True, slots=True)
class _Fall:
    """A wicket as far as it is known: who, where, and on which ball."""

    player_id: int
    position: int
    ball: Ball | None = None


def figure_events(tick: Tick, board: Board, balls: Sequence[Ball], trail: Trail) -> None:
    """Find what the batting and bowling of the innings tell, as far as they changed."""
    before = tick.previous if tick.inning == tick.previous.memory.inning else None
    falls = _falls_of_balls(tick, balls)
    known = before.batting if before else ()
    if known is not board.batting and board.batting:
        tick.resync |= len(known) > len(board.batting)
        for old, line in _batters_moved(known, board.batting):
            _batter(tick, old, line, (balls, trail))
            if line.out and not (old and old.out):
                falls.setdefault(line.player_id, _fall_of(tick, line))
    if falls:
        lines = {line.player_id: line for line in board.batting}
        for fall in falls.values():
            _wicket(tick, fall, lines)
    bowled = before.bowling if before else ()
    if bowled is not board.bowling and board.bowling:
        for earlier, bowling in _bowlers_moved(bowled, board.bowling):
            _bowler(tick, earlier, bowling)


def _batters_moved(
    before: Sequence[BattingLine], now: Sequence[BattingLine]
) -> list[tuple[BattingLine | None, BattingLine]]:
    """Answer the lines that moved, each with what it was; lines mostly keep their places."""
    moved: list[tuple[BattingLine | None, BattingLine]] = []
    for place, line in enumerate(now):
        old = before[place] if place < len(before) else None
        if old is None or old.player_id != line.player_id:
            old = next((each for each in before if each.player_id == line.player_id), None)
        if old is None or old.balls != line.balls or old.score != line.score or old.out != line.out:
            moved.append((old, line))
    return moved


def _bowlers_moved(
    before: Sequence[BowlingLine], now: Sequence[BowlingLine]
) -> list[tuple[BowlingLine | None, BowlingLine]]:
    """Answer the lines whose wickets moved, each with what it was."""
    moved: list[tuple[BowlingLine | None, BowlingLine]] = []
    for place, line in enumerate(now):
        old = before[place] if place < len(before) else None
        if old is None or old.player_id != line.player_id:
            old = next((each for each in before if each.player_id == line.player_id), None)
        if old is None or old.wickets != line.wickets:
            moved.append((old, line))
    return moved


def score_events(tick: Tick, score: InningsScore, *, told_otherwise: bool) -> None:
    """Find what the score alone tells: overs done, and wickets where nothing else tells them."""
    for before in tick.previous.score:
        if before.inning == score.inning:
            tick.resync |= (
                score.score < before.score
                or score.wickets < before.wickets
                or score.overs < before.overs
            )
    done = score.position // BALLS_PER_OVER
    for over in range(tick.overs_done + 1, done + 1):
        text = f"End of over {over}" + (f": {tick.standing}" if over == done else "")
        place = over * BALLS_PER_OVER
        tick.find("over_end", f"{score.inning}:{over}", text, position=place, value=over)
    tick.overs_done = max(tick.overs_done, done)
    if told_otherwise:
        return
    told = max(tick.peaks.get("out", 0), len(tick.fallen))
    for number in range(told + 1, score.wickets + 1):
        key = f"{score.inning}:number {number}"
        tick.find("wicket", key, f"WICKET! {tick.standing}", value=number)
    if score.wickets > told:
        tick.peaks["out"] = score.wickets


def _falls_of_balls(tick: Tick, balls: Sequence[Ball]) -> dict[int, _Fall]:
    """Wickets of new balls, and of known ones that became wickets."""
    became = [
        now
        for old, now in tick.heard.changed
        if now.wicket and now.inning == tick.inning and (not old.wicket or old.out_id != now.out_id)
    ]
    falls: dict[int, _Fall] = {}
    for ball in (*became, *balls):
        if ball.wicket:
            player = ball.batter_id if ball.out_id is None else ball.out_id
            falls[player] = _Fall(player, ball.position, ball)
    return falls


def _fall_of(tick: Tick, line: BattingLine) -> _Fall:
    place = tick.position if line.fall_overs is None else position(line.fall_overs)
    return _Fall(line.player_id, place)


def _wicket(tick: Tick, fall: _Fall, lines: Mapping[int, BattingLine]) -> None:
    """Tell a wicket once.

    One that was told, taken back and told again about the same ball is the same one; figures alone
    do not tell the ball as exactly as a ball does.
    """
    name = str(fall.player_id)
    told = tick.fallen.get(name)
    tick.in_a_row.pop(f"x{name}", None)
    tick.in_a_row.pop(f"f{name}", None)
    leeway = 1 if fall.ball else BALLS_PER_OVER
    if told is not None and abs(fall.position - told) <= leeway:
        return
    tick.fallen[name] = fall.position
    if len(tick.fallen) <= tick.peaks.get("out", 0):
        return  # it was told by its number, when the feed had no names
    line = lines.get(fall.player_id)
    figures = f" {line.score} ({line.balls})" if line else ""
    how = f", {fall.ball.how.lower()}" if fall.ball and fall.ball.how else ""
    text = f"WICKET! {tick.batter(fall.player_id)}{figures}{how}"
    key = f"{tick.inning}:{name}:{fall.position}"
    tick.find("wicket", key, text, ball=fall.ball, position=fall.position, player_id=fall.player_id)


def _batter(
    tick: Tick,
    old: BattingLine | None,
    line: BattingLine,
    walked: tuple[Sequence[Ball], Trail],
) -> None:
    """Tell the milestones a batter passed, each once, and that they came in."""
    if line.player_id not in tick.met:
        tick.met.append(line.player_id)
        if len(tick.met) > _OPENERS:
            text = f"{tick.batter(line.player_id)} comes in"
            key = f"{tick.inning}:{line.player_id}"
            tick.find("new_batsman", key, text, player_id=line.player_id)
    before = _most(tick, f"b{line.player_id}", old.score if old else 0, line.score)
    if line.score <= before:
        return
    rules = tick.thresholds
    if before < rules.fifty <= line.score:
        _milestone(tick, "fifty", rules.fifty, line, walked)
    if before < rules.nineties <= line.score:
        _milestone(tick, "batsman_on_90s", rules.nineties, line, walked)
    for mark in rules.hundreds:
        if before < mark <= line.score:
            _milestone(tick, "hundred", mark, line, walked)


def _milestone(
    tick: Tick,
    kind: EventKind,
    mark: int,
    line: BattingLine,
    walked: tuple[Sequence[Ball], Trail],
) -> None:
    balls, trail = walked
    passing = next(
        (
            ball
            for ball in balls
            if ball.batter_id == line.player_id and trail.get(ball.id, (0, 0))[0] >= mark
        ),
        None,
    )
    score, faced = trail[passing.id] if passing else (line.score, line.balls)
    figures = f"{tick.batter(line.player_id)} {score} ({faced})"
    text = f"{_SHOUTS.get(mark, mark)}! {figures}" if kind != "batsman_on_90s" else figures
    key = f"{tick.inning}:{line.player_id}:{mark}"
    tick.find(kind, key, text, ball=passing, player_id=line.player_id, value=mark)


def _bowler(tick: Tick, old: BowlingLine | None, line: BowlingLine) -> None:
    before = _most(tick, f"w{line.player_id}", old.wickets if old else 0, line.wickets)
    for mark in tick.thresholds.wickets:
        if before < mark <= line.wickets:
            text = f"{tick.bowler(line.player_id)} has {line.wickets}-{line.runs} ({line.overs})"
            tick.find(
                "bowler_on_fire",
                f"{tick.inning}:{line.player_id}:{mark}",
                text,
                player_id=line.player_id,
                value=mark,
                alert=mark >= tick.thresholds.alerting_wickets,
            )


def _most(tick: Tick, name: str, old: int, now: int) -> int:
    """Answer the most a figure was before; it is remembered only while the figure is below it."""
    before = max(old, tick.peaks.get(name, 0))
    if now < old:
        tick.resync = True
    if now < before:
        tick.peaks[name] = before
    else:
        tick.peaks.pop(name, None)
    return before
