"""A complete match: teams, players, innings and deliveries."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from functools import cached_property
from typing import Final, Literal, TypeAlias

import msgspec

BALLS_PER_OVER: Final = 6

Toss: TypeAlias = Literal["batting", "bowling"]


class Player(msgspec.Struct, frozen=True, array_like=True):
    """A player; initials and last name."""

    id: int
    name: str

    @property
    def first(self) -> str:
        """The initials."""
        return self.name.partition(" ")[0] if " " in self.name else ""

    @property
    def last(self) -> str:
        """The last name."""
        return self.name.partition(" ")[2] or self.name


class Team(msgspec.Struct, frozen=True, array_like=True):
    """One of the two sides."""

    id: int
    name: str
    code: str
    players: tuple[Player, ...]


class Dismissal(msgspec.Struct, frozen=True, array_like=True):
    """How a batter was dismissed or retired."""

    out: Player
    kind: str
    fielder: Player | None = None

    @property
    def counts(self) -> bool:
        """Whether it is a wicket; retired batters may come back."""
        return self.kind not in {"retired hurt", "retired not out"}

    @property
    def credited(self) -> bool:
        """Whether the wicket counts for the bowler."""
        return self.kind in {
            "bowled",
            "caught",
            "caught and bowled",
            "hit wicket",
            "lbw",
            "stumped",
        }


class Delivery(msgspec.Struct, frozen=True, array_like=True):
    """One delivery; `number` is its place in the over, from 1.

    An illegal delivery has the number of the legal one that follows it.
    """

    inning: int
    over: int
    number: int
    batter: Player
    partner: Player
    bowler: Player
    runs: int = 0
    wides: int = 0
    noballs: int = 0
    byes: int = 0
    legbyes: int = 0
    penalty: int = 0
    boundary: bool = False
    dismissal: Dismissal | None = None

    @property
    def legal(self) -> bool:
        """Whether it counts towards the over."""
        return not (self.wides or self.noballs)

    @property
    def total(self) -> int:
        """The runs scored by the delivery, with extras."""
        return self.runs + self.wides + self.noballs + self.byes + self.legbyes + self.penalty

    @property
    def wicket(self) -> bool:
        """Whether a batter is out."""
        return self.dismissal is not None and self.dismissal.counts


class Innings(msgspec.Struct, frozen=True):
    """One innings; `target` and `overs` are those of a chase."""

    number: int
    team: Team
    deliveries: tuple[Delivery, ...]
    super_over: bool = False
    declared: bool = False
    target: int | None = None
    overs: int | None = None
    powerplays: tuple[str, ...] = ()
    penalty_before: int = 0

    @property
    def runs(self) -> int:
        """The total."""
        return self.penalty_before + sum(ball.total for ball in self.deliveries)


class Outcome(msgspec.Struct, frozen=True):
    """The winner and the result text; without a winner the text says why."""

    winner: Team | None
    note: str
    no_result: str | None = None


class MatchSetting(msgspec.Struct, frozen=True):
    """League, season, venue and officials of a match."""

    league: str
    season: str
    stage: str
    round: str
    venue: str
    city: str
    international: bool
    officials: tuple[str, ...] = ()


class MatchRecord(msgspec.Struct, frozen=True, dict=True):
    """A complete match; `format` is the feed's name of the format, `teams` are home and away."""

    id: int
    format: str
    teams: tuple[Team, Team]
    setting: MatchSetting
    toss_winner: Team
    elected: Toss
    innings: tuple[Innings, ...]
    outcome: Outcome
    player_of_match: Player | None = None
    overs: int | None = None

    @cached_property
    def deliveries(self) -> tuple[Delivery, ...]:
        """All deliveries in order."""
        return tuple(ball for innings in self.innings for ball in innings.deliveries)

    @property
    def is_long(self) -> bool:
        """Whether it is played over days."""
        return self.format in {"Test", "4day"}

    @property
    def players(self) -> Iterator[Player]:
        """All players of both teams."""
        return (player for team in self.teams for player in team.players)


def format_count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def stable_id(*names: str) -> int:
    """Return a number for a name, the same in every process."""
    return 1 + zlib.crc32(" ".join(names).encode()) % 90_000


def team_code(name: str) -> str:
    """Return a short name: initials, or the first three letters of a single word."""
    words = name.split()
    return "".join(word[0] for word in words)[:4].upper() if len(words) > 1 else name[:3].upper()
