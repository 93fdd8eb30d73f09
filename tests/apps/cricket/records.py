"""A record of every entity of cricket, under the name the specification gives it."""

from datetime import UTC, datetime
from decimal import Decimal

from grandstand.apps.cricket.domain.matches import Ball, BattingLine, BowlingLine, InningsScore
from grandstand.apps.cricket.store.fixtures import (
    CachedFixture,
    DisplayState,
    Fixture,
    League,
    Team,
    TeamSeason,
)
from grandstand.apps.cricket.store.matches import ActiveMatch, Lock
from grandstand.apps.cricket.store.users import Device, LiveActivity, MatchFollow
from grandstand.storage.tables import Entity

NOON = datetime(2099, 11, 15, 12, 0, 0, 250_000, tzinfo=UTC)
LATER = datetime(2099, 11, 17, 12, tzinfo=UTC)

FIXTURE = Fixture(
    match_id="71344",
    league_code="BBL",
    start_time=NOON,
    league_id="5",
    season_id="1700",
    home_team_id="1",
    away_team_id="2",
    format="T20",
    status="1st Innings",
    live_updated_at=NOON,
    archived_at=LATER,
)
SESSION = LiveActivity(
    match_id="71344",
    user_id="ada",
    device_id="phone",
    update_token="ab12",
    token_registered_at=NOON,
    status="ended",
    session_started_at=NOON,
    ended_at=LATER,
    end_reason="match_ended",
    suspended_at=NOON,
    expires=LATER,
)
MATCH = ActiveMatch(
    match_id="71344",
    status="active",
    instance_id="one",
    last_tick_at=NOON,
    match_phase="live",
    previous_ball_id=9,
    previous_score=(InningsScore("1", 1, 152, 4, Decimal("17.3")),),
    previous_status="1st Innings",
    previous_batting=(BattingLine(11, 1, 49, 30, 5, 2, out=False),),
    previous_bowling=(BowlingLine(21, 1, Decimal("3.3"), 0, 28, 2),),
    last_30_balls=(Ball(9, 1, 17, 3, 11, 21, 4, four=True),),
    cooldowns={"six": LATER},
    epoch=1,
    expires=LATER,
)
DEVICE = Device(
    user_id="ada",
    device_token="dd00",
    device_id="phone",
    platform="ios",
    apns_token="dd00",
    push_to_start_token="ee11",
    os_version="18.2",
    app_version="3.1",
    last_seen_at=NOON,
    expires=LATER,
)
FOLLOW = MatchFollow(
    match_id="71344", user_id="ada", team_id="1", created_at=NOON, expires_at=LATER
)
LOCK = Lock(lock_key="match:71344", owner="one", nonce="n1", expires_at=NOON)
CACHED = CachedFixture(
    match_id="71344",
    league_id="5",
    starting_at=NOON,
    fixture={"id": 71344, "note": "PushTarget 183 runs"},
    fetched_at=NOON,
    expires=LATER,
)
LEAGUE = League(league_id="5", name="Big Bash League", code="BBL", active=True)
TEAM = Team(team_id="1", name="Adelaide Strikers", code="ADS")

RECORDS: dict[str, tuple[Entity, ...]] = {
    "Fixture": (FIXTURE,),
    "Live Activity": (SESSION,),
    "Active Match": (MATCH,),
    "Team": (TEAM,),
    "Team Season": (TeamSeason(season_id="1700", team_id="1", league_id="5", played=3),),
    "League": (LEAGUE,),
    "Device": (DEVICE,),
    "Match Follow": (FOLLOW,),
    "Lock": (LOCK,),
    "Display State": (
        DisplayState(
            match_id="71344",
            team_id="1",
            state={"phase": "live"},
            computed_at=NOON,
            expires=LATER,
        ),
    ),
    "Cached Fixture": (CACHED,),
}
