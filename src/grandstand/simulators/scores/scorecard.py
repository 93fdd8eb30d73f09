"""Figures of an innings after any number of its deliveries."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from grandstand.simulators.scores.match_record import (
    BALLS_PER_OVER,
    Delivery,
    Dismissal,
    MatchRecord,
    Player,
)
from grandstand.simulators.scores.timeline import Correction


@dataclass(slots=True)
class BattingFigures:
    """A batter's figures, with the score at the fall of the wicket."""

    player: Player
    runs: int = 0
    balls: int = 0
    fours: int = 0
    sixes: int = 0
    left: Dismissal | None = None
    bowler: Player | None = None
    delivery: Delivery | None = None
    fall_score: int = 0

    @property
    def out(self) -> bool:
        return self.left is not None and self.left.counts


@dataclass(slots=True)
class BowlingFigures:
    """A bowler's figures."""

    player: Player
    balls: int = 0
    runs: int = 0
    wickets: int = 0
    wides: int = 0
    noballs: int = 0
    maidens: int = 0


@dataclass(slots=True)
class Extras:
    """Extras of an innings, and the number of no-balls."""

    wides: int = 0
    noballs: int = 0
    noball_balls: int = 0
    byes: int = 0
    legbyes: int = 0
    penalty: int = 0


@dataclass(slots=True)
class InningsSheet:
    """The figures of one innings."""

    inning: int
    runs: int = 0
    wickets: int = 0
    over: int = 0
    legal: int = 0
    batting: dict[int, BattingFigures] = field(default_factory=dict)
    bowling: dict[int, BowlingFigures] = field(default_factory=dict)
    extras: Extras = field(default_factory=Extras)
    conceded: int = 0
    begun_by: Player | None = None

    @property
    def overs(self) -> float:
        """Overs such as 20 or 1.2."""
        if self.legal >= BALLS_PER_OVER:
            return self.over + 1
        return round(self.over + self.legal / 10, 1) if self.legal else self.over

    def copy(self) -> InningsSheet:
        """Return an independent copy."""
        return replace(
            self,
            batting={key: replace(line) for key, line in self.batting.items()},
            bowling={key: replace(line) for key, line in self.bowling.items()},
            extras=replace(self.extras),
        )

    def add(self, ball: Delivery) -> None:
        """Add the next delivery."""
        if ball.over != self.over:
            self.over, self.legal, self.conceded, self.begun_by = ball.over, 0, 0, None
        self.begun_by = self.begun_by or ball.bowler
        self.legal += ball.legal
        self.runs += ball.total
        self._take_extras(ball)
        self._bat(ball)
        self._bowl(ball)
        if ball.dismissal is not None:
            self._leave(ball, ball.dismissal)

    def _take_extras(self, ball: Delivery) -> None:
        extras = self.extras
        extras.wides += ball.wides
        extras.noballs += ball.noballs
        extras.noball_balls += bool(ball.noballs)
        extras.byes += ball.byes
        extras.legbyes += ball.legbyes
        extras.penalty += ball.penalty

    def _bat(self, ball: Delivery) -> None:
        for player in (ball.batter, ball.partner):
            self._line(player)
        line = self.batting[ball.batter.id]
        if line.left is not None and not line.left.counts:
            line.left = None
        line.runs += ball.runs
        line.balls += not ball.wides
        if ball.boundary:
            line.fours += ball.runs == 4
            line.sixes += ball.runs != 4

    def _bowl(self, ball: Delivery) -> None:
        line = self.bowling.setdefault(ball.bowler.id, BowlingFigures(ball.bowler))
        given = ball.runs + ball.wides + ball.noballs
        self.conceded += given
        line.balls += ball.legal
        line.runs += given
        line.wides += ball.wides
        line.noballs += ball.noballs
        line.wickets += ball.dismissal is not None and ball.dismissal.credited
        whole = self.legal == BALLS_PER_OVER and ball.legal and self.begun_by == ball.bowler
        line.maidens += whole and not self.conceded

    def _leave(self, ball: Delivery, dismissal: Dismissal) -> None:
        self.wickets += dismissal.counts
        line = self._line(dismissal.out)
        line.left, line.bowler, line.delivery = dismissal, ball.bowler, ball
        line.fall_score = self.runs

    def _line(self, player: Player) -> BattingFigures:
        return self.batting.setdefault(player.id, BattingFigures(player))


class Scorebook:
    """The figures of a match after any number of deliveries; going forward is cheaper than back."""

    def __init__(self, record: MatchRecord) -> None:
        self._record = record
        self._taken = 0
        self._sheets: list[InningsSheet] = []

    def after(self, shown: int, correction: Correction | None = None) -> tuple[InningsSheet, ...]:
        """Return the figures of each innings; with a correction, the last delivery is wrong."""
        right = shown - 1 if correction else shown
        if right < self._taken:
            self._taken, self._sheets = 0, []
        for ball in self._record.deliveries[self._taken : right]:
            self._sheets = _add_ball(self._sheets, ball, self._record)
        self._taken = right
        if correction is None:
            return tuple(self._sheets)
        last = [sheet.copy() for sheet in self._sheets[-1:]]
        return tuple(_add_ball([*self._sheets[:-1], *last], correction.posted, self._record))


def _add_ball(
    sheets: list[InningsSheet], ball: Delivery, record: MatchRecord
) -> list[InningsSheet]:
    if not sheets or sheets[-1].inning != ball.inning:
        before = record.innings[ball.inning - 1].penalty_before
        sheets = [*sheets, InningsSheet(ball.inning, runs=before, extras=Extras(penalty=before))]
    sheets[-1].add(ball)
    return sheets
