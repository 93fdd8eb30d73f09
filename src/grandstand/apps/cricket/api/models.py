"""Kept here: the shapes of matches, leagues and teams over HTTP, named as the tables name them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel

from grandstand.apps.cricket.model import EventKind, FilterReason, MatchPhase
from grandstand.apps.cricket.service import MatchFilter
from grandstand.kit.routes import Strict


class Asked(Strict):
    """What a caller sends."""

    model_config = ConfigDict(alias_generator=to_camel)


class Told(Strict):
    """What a caller is answered; made of a value's own fields."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        populate_by_name=True,
        from_attributes=True,
        strict=False,
        extra="ignore",
    )


def _written(value: object) -> object:
    return None if value is None else str(value)


def _in_utc(moment: datetime) -> datetime:
    """A moment that has no zone is meant in UTC."""
    if moment.tzinfo is None:
        return moment.replace(tzinfo=UTC)
    try:
        return moment.astimezone(UTC)
    except OverflowError as fault:
        raise ValueError("this moment is outside the calendar") from fault


Moment = Annotated[datetime, AfterValidator(_in_utc)]
Overs = Annotated[str, BeforeValidator(_written), Field(examples=["17.3"])]
Name = Annotated[str, Field(min_length=1, max_length=120)]
Code = Annotated[str, Field(pattern=r"^[A-Za-z0-9-]{1,24}$", examples=["BBL"])]


class SideModel(Told):
    """One of the two teams."""

    team_id: str
    name: str
    code: str
    image: str


class InningsModel(Told):
    """Where one innings stands."""

    team_id: str
    inning: int
    score: int
    wickets: int
    overs: Overs


class MatchModel(Told):
    """A match as lists show it; `polled` says that it is looked at now."""

    match_id: str
    league_id: str
    league_code: str
    league_name: str
    season_id: str
    home: SideModel
    away: SideModel
    starts_at: datetime
    ends_at: datetime | None
    format: str
    round: str
    venue: str
    status: str
    phase: MatchPhase
    stage: MatchFilter
    note: str
    innings: tuple[InningsModel, ...]
    polled: bool
    updated_at: datetime | None
    archived_at: datetime | None


class MatchList(Told):
    """Matches by their start; `cursor` leads to more."""

    matches: tuple[MatchModel, ...]
    cursor: str | None


class BattingModel(Told):
    """One batter's figures in an innings."""

    player_id: int
    name: str
    score: int
    balls: int
    fours: int
    sixes: int
    out: bool
    fall_score: int | None
    fall_overs: Overs | None


class BowlingModel(Told):
    """One bowler's figures in an innings."""

    player_id: int
    name: str
    overs: Overs
    maidens: int
    runs: int
    wickets: int


class BoardModel(Told):
    """The figures of one innings."""

    inning: int
    batting: tuple[BattingModel, ...]
    bowling: tuple[BowlingModel, ...]


class BallModel(Told):
    """One delivery; `mark` is how scorers write it."""

    id: int
    inning: int
    over: int
    number: int
    label: str
    mark: str
    batter_id: int
    bowler_id: int
    runs: int
    extras: int
    extra: Literal["wide", "noball", "bye", "legbye"] | None
    wicket: bool
    how: str | None


class ScorecardModel(Told):
    """Everything known of a match at a moment."""

    match_id: str
    status: str
    note: str
    as_of: datetime
    toss_team_id: str | None
    elected: str
    winner_team_id: str | None
    innings: tuple[InningsModel, ...]
    boards: tuple[BoardModel, ...]
    balls: tuple[BallModel, ...]
    players: dict[int, str]


class EventModel(Told):
    """Something that happened; `filtered` says why it was not told, if it was not."""

    seq: int
    event_key: str
    kind: EventKind
    text: str
    inning: int
    position: int
    ball_id: int | None
    player_id: int | None
    value: int | None
    priority: int
    alert: bool
    filtered: FilterReason | None
    at: datetime


class EventList(Told):
    """What was detected, newest first; `cursor` leads to more."""

    events: tuple[EventModel, ...]
    cursor: str | None


class DisplayModel(Told):
    """What a lock screen shows of a match to who is for a team; `state` is what is pushed."""

    match_id: str
    team_id: str
    state: Mapping[str, object]
    computed_at: datetime


class LeagueModel(Told):
    """A league; only active ones are followed."""

    league_id: str
    name: str
    code: str
    active: bool
    season_id: str | None
    image_path: str | None


class LeagueList(Told):
    """Leagues by name."""

    leagues: tuple[LeagueModel, ...]


class LeagueAmended(Asked):
    """What is to change of a league."""

    name: Name | None = None
    code: Code | None = None
    active: bool | None = None


class TeamModel(Told):
    """A team."""

    team_id: str
    name: str
    code: str | None
    image_path: str | None
    national_team: bool | None


class TeamList(Told):
    """Teams by name."""

    teams: tuple[TeamModel, ...]


class TeamAmended(Asked):
    """What is to change of a team."""

    name: Name | None = None
    code: Code | None = None
    image_path: Annotated[str, Field(pattern=r"^https://[^\s]+$", max_length=300)] | None = None


class StandingModel(Told):
    """How a team stands in a season."""

    season_id: str
    team_id: str
    league_id: str
    position: int | None
    played: int
    won: int
    lost: int
    drawn: int
    no_result: int
    points: int


class StandingList(Told):
    """The table of a season, the first at the front."""

    teams: tuple[StandingModel, ...]
