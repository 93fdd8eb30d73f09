"""Kept here: a match as it is known when it is over: its people, its innings and every delivery."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal, TypeAlias

BALLS_PER_OVER: Final = 6
_MOST_IDS: Final = 90_000

Toss: TypeAlias = Literal["batting", "bowling"]


@dataclass(frozen=True, slots=True)
class Player:
    """Somebody who plays; initials and last name, as scorers write them."""

    id: int
    name: str

    @property
    def first(self) -> str:
        """What stands before the last name."""
        return self.name.partition(" ")[0] if " " in self.name else ""

    @property
    def last(self) -> str:
        """The name after the initials."""
        return self.name.partition(" ")[2] or self.name


@dataclass(frozen=True, slots=True)
class Team:
    """One of the two sides."""

    id: int
    name: str
    code: str
    players: tuple[Player, ...]


@dataclass(frozen=True, slots=True)
class Dismissal:
    """How somebody left; `counts` is false for those who may come back."""

    out: Player
    kind: str
    fielder: Player | None = None

    @property
    def counts(self) -> bool:
        """Whether it is a wicket."""
        return self.kind not in {"retired hurt", "retired not out"}

    @property
    def credited(self) -> bool:
        """Whether the bowler is given it."""
        return self.kind in {
            "bowled",
            "caught",
            "caught and bowled",
            "hit wicket",
            "lbw",
            "stumped",
        }


@dataclass(frozen=True, slots=True)
class Delivery:
    """One ball as it was bowled, legal or not; `number` is its place in the over, from 1.

    An illegal ball has the number of the legal one that follows it.
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
        """What the side gains."""
        return self.runs + self.wides + self.noballs + self.byes + self.legbyes + self.penalty

    @property
    def wicket(self) -> bool:
        """Whether somebody is out by it."""
        return self.dismissal is not None and self.dismissal.counts


@dataclass(frozen=True, slots=True)
class Innings:
    """One innings; `target` and `overs` are what the chasing side was given."""

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
        """What it came to."""
        return self.penalty_before + sum(ball.total for ball in self.deliveries)


@dataclass(frozen=True, slots=True)
class Outcome:
    """Who won, and how it is written; without a winner the text says why."""

    winner: Team | None
    note: str
    no_result: str | None = None


@dataclass(frozen=True, slots=True)
class Setting:
    """Where and as a part of what a match is played."""

    league: str
    season: str
    stage: str
    round: str
    venue: str
    city: str
    international: bool
    officials: tuple[str, ...] = ()


@dataclass(frozen=True)
class Tape:
    """A whole match, immutable. `format` is the feed's word for its kind, `teams` home and away."""

    id: int
    format: str
    teams: tuple[Team, Team]
    setting: Setting
    toss_winner: Team
    elected: Toss
    innings: tuple[Innings, ...]
    outcome: Outcome
    player_of_match: Player | None = None
    overs: int | None = None

    @cached_property
    def deliveries(self) -> tuple[Delivery, ...]:
        """Every ball of the match in its order."""
        return tuple(ball for innings in self.innings for ball in innings.deliveries)

    @property
    def is_long(self) -> bool:
        """Whether it is played over days."""
        return self.format in {"Test", "4day"}

    @property
    def players(self) -> Iterator[Player]:
        """Everybody of both sides."""
        return (player for team in self.teams for player in team.players)


def stable_id(*words: str) -> int:
    """Answer a number for a name: the same at every start, below a hundred thousand."""
    return 1 + zlib.crc32(" ".join(words).encode()) % _MOST_IDS


def code_of(name: str) -> str:
    """Answer a short name: initials, or the first three letters of a single word."""
    words = name.split()
    return "".join(word[0] for word in words)[:4].upper() if len(words) > 1 else name[:3].upper()
