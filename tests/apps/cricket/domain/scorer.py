"""A scorer who writes down balls and says at any time what the feed would say."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

from grandstand.apps.cricket.domain.matches import (
    Ball,
    BattingLine,
    Board,
    BowlingLine,
    InningsScore,
    MatchSnapshot,
    Side,
    balls_to_overs,
)

HOME = Side("1", "Harbour Town", "HAR")
AWAY = Side("2", "Hill City", "HIL")


@dataclass
class Scorer:
    """One match from its first ball; batters are 11 and up, bowlers 21 and up."""

    format: str = "T20"
    status: str = "NS"
    facts: dict[str, Any] = field(default_factory=dict)
    balls: list[Ball] = field(default_factory=list)
    teams: dict[int, str] = field(default_factory=lambda: {1: "1", 2: "2", 3: "2", 4: "1"})
    inning: int = 1
    next_id: int = 1000
    crease: list[int] = field(default_factory=lambda: [11, 12])

    def innings(self, number: int, status: str, crease: tuple[int, int] = (31, 32)) -> None:
        """Begin another innings."""
        self.inning, self.status, self.crease = number, status, list(crease)

    def bowl(self, runs: int = 0, *, by: int = 21, at: int | None = None, **given: Any) -> Ball:
        """Write down a ball; fours and sixes are boundaries."""
        legal = sum(each.legal for each in self.balls if each.inning == self.inning)
        batter = self.crease[0] if at is None else at
        ball = Ball(
            id=self.next_id,
            inning=self.inning,
            over=legal // 6,
            number=legal % 6 + 1,
            batter_id=batter,
            bowler_id=by,
            runs=runs,
            four=given.pop("four", runs == 4),
            six=given.pop("six", runs == 6),
            partner_id=next((each for each in self.crease if each != batter), None),
            **given,
        )
        self.next_id += 1
        self.balls.append(ball)
        return ball

    def out(self, *, by: int = 21, then: int | None = None, credited: bool = True) -> Ball:
        """Write down the wicket of the striker, and who comes in."""
        ball = self.bowl(by=by, wicket=True, credited=credited, out_id=self.crease[0], how="Bowled")
        if then is not None:
            self.crease[0] = then
        return ball

    def correct(self, ball: Ball, **given: Any) -> None:
        """Write something else for a ball."""
        place = next(n for n, each in enumerate(self.balls) if each.id == ball.id)
        self.balls[place] = replace(self.balls[place], **given)

    def delete(self, ball: Ball) -> None:
        """Strike out a ball."""
        self.balls = [each for each in self.balls if each.id != ball.id]

    def fixture(self, upto: int | None = None, **given: Any) -> MatchSnapshot:
        """What the feed says after so many balls, or now."""
        balls = self.balls[:upto]
        innings = sorted(
            {ball.inning for ball in balls} | ({self.inning} if upto is None else set())
        )
        told = {
            "match_id": "71344",
            "status": self.status,
            "home": HOME,
            "away": AWAY,
            "format": self.format,
            "innings": tuple(self._score(n, balls) for n in innings if balls),
            "boards": tuple(self._board(n, balls) for n in innings),
            "balls": tuple(balls),
            "players": {player: f"Player {player}" for player in range(60)},
        }
        return MatchSnapshot(**{**told, **self.facts, **given})

    def _score(self, inning: int, balls: list[Ball]) -> InningsScore:
        mine = [ball for ball in balls if ball.inning == inning]
        return InningsScore(
            self.teams.get(inning, str(2 - inning % 2)),
            inning,
            sum(ball.runs + ball.extras for ball in mine),
            sum(ball.wicket for ball in mine),
            _overs(mine),
        )

    def _board(self, inning: int, balls: list[Ball]) -> Board:
        mine = [ball for ball in balls if ball.inning == inning]
        pairs = [(ball.batter_id, ball.partner_id) for ball in mine]
        batters = dict.fromkeys(player for pair in pairs for player in pair)
        waiting = self.crease if inning == self.inning and len(balls) == len(self.balls) else []
        batters.update(dict.fromkeys(waiting))
        bowlers = dict.fromkeys(ball.bowler_id for ball in mine)
        return Board(
            inning,
            tuple(_batting(player, inning, mine) for player in batters if player),
            tuple(_bowling(player, inning, mine) for player in bowlers),
        )


def _overs(balls: list[Ball]) -> Decimal:
    if not balls:
        return Decimal(0)
    over = max(ball.over for ball in balls)
    legal = sum(ball.legal for ball in balls if ball.over == over)
    return balls_to_overs(over * 6 + legal) if legal <= 6 else Decimal(over * 10 + legal) / 10


def _batting(player: int, inning: int, balls: list[Ball]) -> BattingLine:
    faced = [ball for ball in balls if ball.batter_id == player]
    fall = next((ball for ball in balls if ball.wicket and ball.out_id == player), None)
    upto = balls[: balls.index(fall) + 1] if fall else []
    return BattingLine(
        player,
        inning,
        sum(ball.runs for ball in faced),
        sum(ball.extra != "wide" for ball in faced),
        sum(ball.four for ball in faced),
        sum(ball.six for ball in faced),
        fall is not None,
        sum(ball.runs + ball.extras for ball in upto) if fall else None,
        Decimal(fall.label) if fall else None,
    )


def _bowling(player: int, inning: int, balls: list[Ball]) -> BowlingLine:
    mine = [ball for ball in balls if ball.bowler_id == player]
    charged = [ball for ball in mine if ball.extra not in {"bye", "legbye"}]
    runs = sum(ball.runs for ball in mine) + sum(ball.extras for ball in charged)
    legal = sum(ball.legal for ball in mine)
    return BowlingLine(
        player, inning, balls_to_overs(legal), 0, runs, sum(b.credited for b in mine)
    )
