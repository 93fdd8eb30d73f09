"""Matches as the score feed reports them: scores, figures, balls, phases, targets and run rates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache
from typing import Final, Literal, TypeAlias

MatchStatus: TypeAlias = Literal["idle", "active", "ended"]
PlayAction: TypeAlias = Literal["play", "pause", "seek", "stop"]
MatchPhase: TypeAlias = Literal["prematch", "live", "break", "ended"]

NEUTRAL_TEAM: Final = "neutral"


BALLS_PER_OVER: Final = 6

ExtraKind: TypeAlias = Literal["wide", "noball", "bye", "legbye"]


def _stored(name: str) -> dict[str, str]:
    """Return metadata for a short attribute name, because 30 balls are stored with every match."""
    return {"attribute": name}


@dataclass(frozen=True, slots=True)
class InningsScore:
    """The score of one innings; 19.6 and 20 overs are the same."""

    team_id: str
    inning: int
    score: int
    wickets: int
    overs: Decimal

    @property
    def position(self) -> int:
        """The number of legal balls bowled."""
        return overs_to_balls(self.overs)


@dataclass(frozen=True, slots=True)
class BattingLine:
    """One batter's figures in an innings, and the score and over at which the wicket fell."""

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
    """One delivery.

    `runs` are off the bat. `credited` marks a wicket that counts for the bowler.
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
        """The place among the legal balls of the innings."""
        return self.over * BALLS_PER_OVER + self.number

    @property
    def label(self) -> str:
        """Over and ball, such as 17.3."""
        return f"{self.over}.{self.number}"


@dataclass(frozen=True, slots=True)
class Board:
    """The batting and bowling figures of one innings; empty if the feed left them out."""

    inning: int
    batting: tuple[BattingLine, ...] = ()
    bowling: tuple[BowlingLine, ...] = ()


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two teams, as the feed names it."""

    team_id: str
    name: str = ""
    code: str = ""
    image: str = ""


@dataclass(frozen=True, slots=True)
class Competition:
    """The league, season and stage of a match."""

    league_id: str = ""
    season_id: str = ""
    stage_id: str = ""
    name: str = ""
    code: str = ""


@dataclass(frozen=True, slots=True)
class Revision:
    """A revised target or number of overs."""

    target: int | None = None
    overs: Decimal | None = None
    dl: str = ""

    def __bool__(self) -> bool:
        return bool(self.target or self.overs or self.dl)

    @property
    def text(self) -> str:
        """The revision as one short text, for comparison."""
        return f"{self.target or ''}/{self.overs or ''}/{self.dl}" if self else ""


@dataclass(frozen=True, slots=True)
class MatchSnapshot:
    """A match as the feed reports it at one moment.

    Innings, boards and balls are in order. `balls` may hold only the latest ones. `players`
    has the names the feed included.
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
        if team_id == self.home.team_id:
            return self.home
        return self.away if team_id == self.away.team_id else None

    def score_of(self, inning: int) -> InningsScore | None:
        for each in reversed(self.innings):
            if each.inning == inning:
                return each
        return None

    def board_of(self, inning: int) -> Board | None:
        for each in reversed(self.boards):
            if each.inning == inning:
                return each
        return None

    def player(self, player_id: int | None) -> str:
        """Return a player's name, or an empty string if the feed did not include it."""
        return self.players.get(player_id, "") if player_id is not None else ""


@dataclass(frozen=True, slots=True)
class LeagueRecord:
    """A league; only active ones are synced and polled."""

    league_id: str
    name: str
    code: str
    active: bool = True
    season_id: str | None = None
    image_path: str | None = None


@dataclass(frozen=True, slots=True)
class TeamRecord:
    team_id: str
    name: str
    code: str | None = None
    image_path: str | None = None
    national_team: bool | None = None


@dataclass(frozen=True, slots=True)
class StandingRecord:
    """A team's row in a season table."""

    season_id: str
    team_id: str
    league_id: str = ""
    position: int | None = None
    played: int = 0
    won: int = 0
    lost: int = 0
    drawn: int = 0
    no_result: int = 0
    points: int = 0


@dataclass(frozen=True, slots=True)
class ReplayStatus:
    """The progress of a replay of a recorded match: `ball` of `balls` have been bowled."""

    match_id: str
    recording: str
    title: str
    format: str
    state: Literal["playing", "paused"]
    speed: float
    starts_at: datetime
    ball: int
    balls: int
    match_status: str


@lru_cache(maxsize=4096)
def overs_to_balls(overs: Decimal) -> int:
    """Convert overs to legal balls: 17.3 is 105."""
    whole = int(overs)
    return whole * BALLS_PER_OVER + int(overs * 10) - whole * 10


def balls_to_overs(balls: int) -> Decimal:
    """Convert legal balls to overs: 105 is 17.3."""
    whole, rest = divmod(balls, BALLS_PER_OVER)
    return Decimal(whole * 10 + rest) / 10


Pause: TypeAlias = Literal["stumps", "lunch", "tea", "dinner", "innings", "rain"]

NOT_STARTED: Final = "NS"
FINISHED: Final = "Finished"

# A match that Tests count by days has four innings before it is decided otherwise.
_LONG_FORMATS: Final = frozenset({"test", "test/5day", "4day", "3day", "5day", "first class"})
_REMEMBERED: Final = 256
_OVERS: Final = {
    "t10": 10,
    "t20": 20,
    "t20i": 20,
    "it20": 20,
    "odi": 50,
    "list a": 50,
    "odm": 50,
}

_PHASES: Final[dict[str, MatchPhase]] = {
    "ns": "prematch",
    "delayed": "prematch",
    "postp": "prematch",
    "1st innings": "live",
    "2nd innings": "live",
    "3rd innings": "live",
    "4th innings": "live",
    "innings break": "break",
    "lunch": "break",
    "tea break": "break",
    "tea": "break",
    "dinner": "break",
    "int": "break",
    "finished": "ended",
    "aban": "ended",
    "cancl": "ended",
}
_PAUSES: Final[dict[str, Pause]] = {
    "innings break": "innings",
    "lunch": "lunch",
    "tea break": "tea",
    "tea": "tea",
    "dinner": "dinner",
    "int": "rain",
    "delayed": "rain",
}


@lru_cache(maxsize=_REMEMBERED)
def phase_for_status(status: str) -> MatchPhase | None:
    """Return the phase of a feed status, or None if the status is unknown."""
    plain = _plain(status)
    return "break" if plain.startswith("stump") else _PHASES.get(plain)


@lru_cache(maxsize=_REMEMBERED)
def pause_for_status(status: str) -> Pause | None:
    """Return the kind of pause of a feed status, or None if play is not paused."""
    plain = _plain(status)
    return "stumps" if plain.startswith("stump") else _PAUSES.get(plain)


@lru_cache(maxsize=_REMEMBERED)
def is_multi_day(match_format: str) -> bool:
    """Return whether the format is played over days, with two innings a side."""
    return match_format.strip().lower() in _LONG_FORMATS


@lru_cache(maxsize=_REMEMBERED)
def count_regular_innings(match_format: str) -> int:
    """Return the number of innings before super overs."""
    return 4 if is_multi_day(match_format) else 2


@lru_cache(maxsize=_REMEMBERED)
def overs_per_innings(match_format: str) -> int | None:
    """Return the overs of an innings, or None if they are unlimited or unknown."""
    return _OVERS.get(match_format.strip().lower())


def _plain(status: str) -> str:
    """The feed writes `Cancl.` and `Cancl`, so dots at the end and cases do not count."""
    return status.strip().rstrip(".").lower()


_LAST_OF_TEST: Final = 4


def current_inning(snapshot: MatchSnapshot) -> int:
    """Return the number of the latest innings that has begun, 1 before the first."""
    last = snapshot.balls[-1].inning if snapshot.balls else 1
    for score in reversed(snapshot.innings):
        if score.inning <= last:
            break
        if score.overs or score.score or score.wickets:
            return score.inning
    return last


def is_super_over(snapshot: MatchSnapshot, inning: int) -> bool:
    return inning > count_regular_innings(snapshot.format)


def winning_target(snapshot: MatchSnapshot, inning: int) -> int | None:
    """Return the runs that win the match in an innings, or None if it is not a chase."""
    if is_multi_day(snapshot.format):
        return _target_of_test(snapshot) if inning == _LAST_OF_TEST else None
    if inning % 2:
        return None
    if inning == count_regular_innings(snapshot.format) and snapshot.revision.target:
        return snapshot.revision.target
    first = snapshot.score_of(inning - 1)
    return first.score + 1 if first else None


def balls_allowed(snapshot: MatchSnapshot, inning: int) -> int | None:
    """Return the legal balls of an innings, or None if they are unlimited or unknown."""
    if is_super_over(snapshot, inning):
        return BALLS_PER_OVER
    revised = snapshot.revision.overs
    if revised:
        score, reduced = snapshot.score_of(inning), int(revised) * BALLS_PER_OVER
        # A reduction that comes after its mark is for the other side.
        if score is None or score.position <= reduced:
            return reduced
    allowed = overs_per_innings(snapshot.format)
    return allowed * BALLS_PER_OVER if allowed else None


def is_innings_complete(snapshot: MatchSnapshot, score: InningsScore) -> bool:
    """Return whether an innings is over: all out, overs bowled, or target reached."""
    out = 2 if is_super_over(snapshot, score.inning) else 10
    if score.wickets >= out:
        return True
    allowed = balls_allowed(snapshot, score.inning)
    if allowed is not None and score.position >= allowed:
        return True
    target = winning_target(snapshot, score.inning)
    return target is not None and score.score >= target


def _target_of_test(snapshot: MatchSnapshot) -> int | None:
    scores = [snapshot.score_of(inning) for inning in range(1, _LAST_OF_TEST + 1)]
    batting = scores[-1]
    if batting is None:
        return None
    earlier = [score for score in scores[:-1] if score]
    own = sum(score.score for score in earlier if score.team_id == batting.team_id)
    return sum(score.score for score in earlier) - own - own + 1


@dataclass(frozen=True, slots=True)
class Chase:
    """What a chase still needs; `balls_left` and `rate` are None if overs are unlimited."""

    target: int
    runs_needed: int
    balls_left: int | None
    rate: str | None


def format_run_rate(runs: int, balls: int) -> str | None:
    """Return runs per over with two decimals, or None before the first ball."""
    if balls <= 0:
        return None
    rate = Decimal(runs * BALLS_PER_OVER) / balls
    return str(rate.quantize(Decimal("0.01"), ROUND_HALF_UP))


def compute_chase(snapshot: MatchSnapshot, inning: int) -> Chase | None:
    """Return what an innings needs to win, or None if it is not a chase."""
    target, score = winning_target(snapshot, inning), snapshot.score_of(inning)
    if target is None or score is None:
        return None
    needed = max(0, target - score.score)
    allowed = balls_allowed(snapshot, inning)
    left = None if allowed is None else max(0, allowed - score.position)
    return Chase(target, needed, left, format_run_rate(needed, left) if left else None)
