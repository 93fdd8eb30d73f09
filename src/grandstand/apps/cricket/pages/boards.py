"""Kept here: the scorecard of an innings as it is printed: batting, extras, falls and bowling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from grandstand.apps.cricket.model import BattingLine, Board, BowlingLine, InningsScore
from grandstand.apps.cricket.model import Fixture as Scores
from grandstand.apps.cricket.model.rates import run_rate
from grandstand.apps.cricket.model.scores import position
from grandstand.apps.cricket.pages.words import side_name

_PER_CENT: Final = 100
_HOW: Final = {
    "catch out": "caught",
    "clean bowled": "bowled",
    "lbw out": "lbw",
    "stump out": "stumped",
}
"""How the feed names ways to be out, and how a scorecard does."""


@dataclass(frozen=True, slots=True)
class BatterRow:
    """One batter's row."""

    name: str
    how: str
    runs: int
    balls: int
    fours: int
    sixes: int
    strike_rate: str
    out: bool


@dataclass(frozen=True, slots=True)
class BowlerRow:
    """One bowler's row."""

    name: str
    overs: str
    maidens: int
    runs: int
    wickets: int
    economy: str


@dataclass(frozen=True, slots=True)
class Sheet:
    """The scorecard of one innings."""

    inning: int
    title: str
    score: InningsScore
    run_rate: str
    batting: tuple[BatterRow, ...]
    bowling: tuple[BowlerRow, ...]
    extras: int
    falls: tuple[str, ...]


def sheets_of(scores: Scores) -> tuple[Sheet, ...]:
    """Answer the scorecards of all innings, the latest at the front."""
    made = [_sheet(scores, each) for each in scores.innings]
    return tuple(reversed(made))


def _sheet(scores: Scores, score: InningsScore) -> Sheet:
    board = scores.board_of(score.inning) or Board(score.inning)
    side = scores.side(score.team_id)
    before = [each for each in scores.innings if each.team_id == score.team_id]
    place = next((at for at, each in enumerate(before) if each.inning == score.inning), 0)
    name = side_name(side) if side else f"Innings {score.inning}"
    batted = sum(line.score for line in board.batting)
    return Sheet(
        inning=score.inning,
        title=f"{name}, second innings" if place else name,
        score=score,
        run_rate=run_rate(score.score, score.position) or "",
        batting=tuple(_batter(scores, line) for line in board.batting),
        bowling=tuple(_bowler(scores, line) for line in board.bowling),
        extras=max(0, score.score - batted),
        falls=_falls(scores, board),
    )


def _batter(scores: Scores, line: BattingLine) -> BatterRow:
    rate = f"{line.score * _PER_CENT / line.balls:.1f}" if line.balls else "–"
    how = _how(scores, line) if line.out else "not out"
    name = scores.player(line.player_id) or f"Player {line.player_id}"
    return BatterRow(name, how, line.score, line.balls, line.fours, line.sixes, rate, line.out)


def _how(scores: Scores, line: BattingLine) -> str:
    """How a batter got out, by the ball that tells it, where balls are known."""
    for ball in reversed(scores.balls):
        if ball.inning == line.inning and ball.out_id == line.player_id:
            bowler = scores.player(ball.bowler_id)
            told = (ball.how or "out").lower()
            how = _HOW.get(told.removesuffix(" (sub)"), told)
            return f"{how}, b {bowler}" if ball.credited and bowler else how
    return "out"


def _bowler(scores: Scores, line: BowlingLine) -> BowlerRow:
    name = scores.player(line.player_id) or f"Player {line.player_id}"
    economy = run_rate(line.runs, position(line.overs)) or "–"
    overs = str(line.overs.normalize()) if line.overs else "0"
    return BowlerRow(name, overs, line.maidens, line.runs, line.wickets, economy)


def _falls(scores: Scores, board: Board) -> tuple[str, ...]:
    out = [line for line in board.batting if line.out and line.fall_overs is not None]
    out.sort(key=lambda line: (line.fall_overs or 0, line.fall_score or 0))
    return tuple(
        f"{at}-{line.fall_score} ({scores.player(line.player_id)}, {line.fall_overs})"
        for at, line in enumerate(out, start=1)
    )
