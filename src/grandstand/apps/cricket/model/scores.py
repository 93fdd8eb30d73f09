"""Kept here: what a fixture says: its innings, batting and bowling figures, balls and names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from functools import lru_cache
from typing import Final, Literal, TypeAlias

BALLS_PER_OVER: Final = 6

ExtraKind: TypeAlias = Literal["wide", "noball", "bye", "legbye"]


def _stored(name: str) -> dict[str, str]:
    """Name an attribute shortly: thirty balls are kept with every match."""
    return {"attribute": name}


@dataclass(frozen=True, slots=True)
class InningsScore:
    """Where one innings stands; 19.6 and 20 overs are the same."""

    team_id: str
    inning: int
    score: int
    wickets: int
    overs: Decimal

    @property
    def position(self) -> int:
        """How many legal balls were bowled, by six an over."""
        return position(self.overs)


@dataclass(frozen=True, slots=True)
class BattingLine:
    """One batter's figures in an innings; how it stood when they were out, if they are."""

    player_id: int
    inning: int
    score: int
    balls: int
    fours: int
    sixes: int
    out: bool
    fall_score: int | None = None
    fall_overs: Decimal | None = None


@dataclass(frozen=True, slots=True)
class BowlingLine:
    """One bowler's figures in an innings."""

    player_id: int
    inning: int
    overs: Decimal
    maidens: int
    runs: int
    wickets: int


@dataclass(frozen=True, slots=True)
class Ball:
    """One delivery, short enough that thirty of them stay small.

    `runs` are off the bat. `credited` is a wicket that counts for the bowler.
    """

    id: int = field(metadata=_stored("id"))
    inning: int = field(metadata=_stored("in"))
    over: int = field(metadata=_stored("ov"))
    number: int = field(metadata=_stored("no"))
    batter_id: int = field(metadata=_stored("bat"))
    bowler_id: int = field(metadata=_stored("bow"))
    runs: int = field(metadata=_stored("r"))
    extras: int = field(default=0, metadata=_stored("x"))
    extra: ExtraKind | None = field(default=None, metadata=_stored("xk"))
    four: bool = field(default=False, metadata=_stored("f4"))
    six: bool = field(default=False, metadata=_stored("f6"))
    wicket: bool = field(default=False, metadata=_stored("w"))
    credited: bool = field(default=False, metadata=_stored("c"))
    out_id: int | None = field(default=None, metadata=_stored("out"))
    partner_id: int | None = field(default=None, metadata=_stored("mate"))
    how: str | None = field(default=None, metadata=_stored("how"))

    @property
    def legal(self) -> bool:
        """Whether it counts towards the over."""
        return self.extra != "wide" and self.extra != "noball"  # noqa: PLR1714 - twice as quick

    @property
    def position(self) -> int:
        """Its place among the legal balls of the innings."""
        return self.over * BALLS_PER_OVER + self.number

    @property
    def label(self) -> str:
        """Over and ball as they are written: 17.3."""
        return f"{self.over}.{self.number}"


@dataclass(frozen=True, slots=True)
class Board:
    """The figures of one innings; nothing in it means that the feed left it out."""

    inning: int
    batting: tuple[BattingLine, ...] = ()
    bowling: tuple[BowlingLine, ...] = ()


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two teams, as far as the feed names it."""

    team_id: str
    name: str = ""
    code: str = ""
    image: str = ""


@dataclass(frozen=True, slots=True)
class Competition:
    """What a match belongs to."""

    league_id: str = ""
    season_id: str = ""
    stage_id: str = ""
    name: str = ""
    code: str = ""


@dataclass(frozen=True, slots=True)
class Revision:
    """A target or a number of overs that was set anew, by rain or by rule."""

    target: int | None = None
    overs: Decimal | None = None
    dl: str = ""

    def __bool__(self) -> bool:
        return bool(self.target or self.overs or self.dl)

    @property
    def text(self) -> str:
        """The revision in one short text, to be compared with another."""
        return f"{self.target or ''}/{self.overs or ''}/{self.dl}" if self else ""


@dataclass(frozen=True, slots=True)
class Fixture:
    """A match as the feed has it at one moment.

    Innings, boards and balls stand in their order. Balls may be the latest ones only. `players` has
    the names the feed gave along.
    """

    match_id: str
    status: str
    home: Side
    away: Side
    competition: Competition = field(default_factory=Competition)
    format: str = ""
    round: str = ""
    starting_at: datetime | None = None
    venue: str = ""
    note: str = ""
    toss_team_id: str | None = None
    elected: str = ""
    winner_team_id: str | None = None
    no_result: str = ""
    super_over: bool = False
    revision: Revision = field(default_factory=Revision)
    innings: tuple[InningsScore, ...] = ()
    boards: tuple[Board, ...] = ()
    balls: tuple[Ball, ...] = ()
    players: Mapping[int, str] = field(default_factory=dict, compare=False)

    def side(self, team_id: str | None) -> Side | None:
        """Answer the team of that id, if it plays."""
        if team_id == self.home.team_id:
            return self.home
        return self.away if team_id == self.away.team_id else None

    def score_of(self, inning: int) -> InningsScore | None:
        """Answer where an innings stands, if it was told."""
        for each in reversed(self.innings):
            if each.inning == inning:
                return each
        return None

    def board_of(self, inning: int) -> Board | None:
        """Answer the figures of an innings, if they were told."""
        for each in reversed(self.boards):
            if each.inning == inning:
                return each
        return None

    def player(self, player_id: int | None) -> str:
        """Answer a player's name, empty when the feed did not give it."""
        return self.players.get(player_id, "") if player_id is not None else ""


@dataclass(frozen=True, slots=True)
class LeagueFacts:
    """What the feed says of a league."""

    league_id: str
    name: str
    code: str = ""
    image: str = ""
    season_id: str = ""


@dataclass(frozen=True, slots=True)
class TeamFacts:
    """What the feed says of a team."""

    team_id: str
    name: str
    code: str = ""
    image: str = ""
    national: bool = False


@dataclass(frozen=True, slots=True)
class StandingFacts:
    """What the feed says of a team in the table of a season."""

    season_id: str
    team_id: str
    league_id: str = ""
    played: int = 0
    won: int = 0
    lost: int = 0
    drawn: int = 0
    no_result: int = 0
    points: int = 0
    place: int | None = None


@lru_cache(maxsize=4096)
def position(overs: Decimal) -> int:
    """Answer how many legal balls so many overs are: 17.3 are 105."""
    whole = int(overs)
    return whole * BALLS_PER_OVER + int(overs * 10) - whole * 10


def overs_of(balls: int) -> Decimal:
    """Answer so many legal balls as overs: 105 are 17.3."""
    whole, rest = divmod(balls, BALLS_PER_OVER)
    return Decimal(whole * 10 + rest) / 10
