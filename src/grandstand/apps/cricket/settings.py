"""Kept here: what can be chosen about cricket: the score feed, what is an event, and pushes."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, SecretStr

from grandstand.kit.settings import Section


class CricketSettings(Section):
    """Cricket: the score feed, what counts as an event, and how it reaches a phone."""

    feed_url: str = Field(
        default="https://cricket.sportmonks.com/api/v2.0",
        description="Where the score feed is (SportMonks' cricket API, version 2).",
    )
    feed_token: SecretStr | None = Field(
        default=None, description="The feed's key; nothing is polled without it."
    )
    replay_url: str = Field(
        default="",
        description="Where a feed that replays recorded matches is steered; empty without one.",
    )
    feed_timeout_seconds: float = Field(
        default=8.0, gt=0, le=60, description="How long one answer of the feed may take."
    )
    feed_hourly_requests: int = Field(
        default=2000, ge=1, description="How often each part of the feed is asked in an hour."
    )
    feed_reserve: int = Field(
        default=200,
        ge=0,
        description="When fewer requests than these are left of the hour, polling slows down.",
    )
    poll_seconds: float = Field(
        default=5.0, ge=1, description="Seconds between two looks at the live matches."
    )
    marquee_poll_seconds: float = Field(
        default=2.5, ge=1, description="The same, while a match of a marquee league is on."
    )
    marquee_leagues: tuple[str, ...] = Field(
        default=(),
        description="Ids of leagues followed ball by ball, as JSON; all that are live when empty.",
    )
    orchestrate_seconds: float = Field(
        default=30.0, ge=1, description="Seconds between two looks at what starts and ends."
    )
    takeover_seconds: float = Field(
        default=20.0, ge=5, description="After so long without a tick a match gets a new owner."
    )
    fixture_sync_seconds: float = Field(
        default=60.0, ge=10, description="Seconds between two readings of the fixture list."
    )
    sync_days: int = Field(
        default=7, ge=1, le=60, description="How many days ahead and back fixtures are read."
    )
    announce_minutes: int = Field(
        default=30, ge=1, le=240, description="How long before its start a match is announced."
    )

    fifty: int = Field(default=50, ge=1, description="Runs that are a fifty.")
    nineties: int = Field(default=90, ge=1, description="Runs from which a hundred is near.")
    hundreds: tuple[int, ...] = Field(
        default=(100, 150, 200, 250, 300, 350, 400),
        min_length=1,
        description="Runs told like a hundred, rising, as JSON.",
    )
    wickets: tuple[int, ...] = Field(
        default=(3, 5), description="Wickets of a bowler in an innings that are told, as JSON."
    )
    alerting_wickets: int = Field(
        default=5, ge=1, description="From so many wickets of a bowler on, people are alerted."
    )
    sixes_in_a_row: int = Field(default=3, ge=2, description="Sixes in a row that are told.")
    fire_balls: int = Field(default=20, ge=1, description="Balls before a strike rate counts.")
    fire_rate: int = Field(default=200, ge=1, description="The strike rate of a batter on fire.")
    fire_runs: int = Field(default=30, ge=1, description="Or so many runs off the last few balls.")
    fire_window: int = Field(
        default=12, ge=1, le=30, description="How many the last few balls are."
    )
    boundary_cooldown_seconds: int = Field(
        default=20, ge=0, description="How soon after a six or four the next one is told."
    )
    sixes_cooldown_seconds: int = Field(
        default=120, ge=0, description="How soon sixes in a row are told again."
    )
    hattrick_cooldown_seconds: int = Field(
        default=300, ge=0, description="How soon a bowler is again told to be on a hat-trick."
    )
    rain_cooldown_seconds: int = Field(
        default=600, ge=0, description="How soon another hold-up, or its end, is told."
    )
    fire_cooldown_seconds: int = Field(
        default=600, ge=0, description="How soon a batter is again told to be on fire."
    )
    confirm_seconds: float = Field(
        default=0.0,
        ge=0,
        le=10,
        description="How long an alert waits, in case the feed takes back what it is about.",
    )

    apns_host: str = Field(
        default="api.push.apple.com:443",
        description="Apple's push service; api.sandbox.push.apple.com:443 for development builds.",
    )
    apns_team_id: str = Field(default="", description="The team the push key belongs to.")
    apns_key_id: str = Field(default="", description="The id of the push key, ten characters.")
    apns_key: SecretStr | None = Field(
        default=None, description="The push key itself (.p8, PEM); nothing is pushed without it."
    )
    apns_bundle_id: str = Field(default="", description="The app's bundle id.")
    apns_connections: int = Field(
        default=2, ge=1, le=16, description="How many connections to Apple are kept."
    )
    aliases: bool = Field(
        default=False,
        description="Whether the API also answers at the addresses older apps know.",
    )
    broadcast: bool = Field(
        default=False,
        description="Whether a match is pushed once, over a broadcast channel (iOS 18), to all.",
    )
    broadcast_host: str = Field(
        default="api-manage-broadcast.push.apple.com:2196",
        description="Where broadcast channels are made and deleted.",
    )
    devices: Literal["multi", "single"] = Field(
        default="multi",
        description="Whether a person may have several devices, or the newest replaces the others.",
    )
    start_again_seconds: int = Field(
        default=120,
        ge=5,
        le=3600,
        description="After so long without an activity a start is sent again; then twice as long.",
    )
    restart_minutes: int = Field(
        default=465, ge=60, le=475, description="The age at which an activity is begun anew."
    )
    stale_minutes: int = Field(
        default=15, ge=1, le=30, description="After so long without news a lock screen says so."
    )
    stale_break_minutes: int = Field(
        default=90, ge=1, le=240, description="The same, while play rests."
    )
    dismiss_minutes: int = Field(
        default=30, ge=0, le=240, description="How long a finished match stays on lock screens."
    )
    webhook: SecretStr | None = Field(
        default=None, description="A URL every key event is posted to as JSON."
    )
    webpush: bool = Field(default=False, description="Whether browsers may be pushed to.")
    webpush_key: SecretStr | None = Field(
        default=None, description="The key browsers know us by (VAPID, PEM)."
    )
    webpush_contact: str = Field(
        default="", description="Whom a browser's push service may write to: mailto:… or https:…"
    )
