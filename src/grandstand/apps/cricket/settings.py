"""Settings of the cricket app."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, SecretStr

from grandstand.kit.settings import Section


class CricketSettings(Section):
    """Cricket: the score feed, event thresholds, Live Activities and push notifications."""

    feed_url: str = Field(
        default="https://cricket.sportmonks.com/api/v2.0",
        description="Base URL of the score feed (SportMonks cricket API, version 2).",
    )
    feed_token: SecretStr | None = Field(
        default=None, description="API token of the score feed. Without it nothing is polled."
    )
    replay_url: str = Field(
        default="",
        description="URL of the control API of a replay feed. Empty if there is none.",
    )
    feed_timeout_seconds: float = Field(
        default=8.0, gt=0, le=60, description="Timeout of one request to the feed."
    )
    feed_hourly_requests: int = Field(
        default=2000, ge=1, description="Requests per hour to each endpoint group of the feed."
    )
    feed_reserve: int = Field(
        default=200,
        ge=0,
        description="Polling slows down when fewer requests than this are left in the hour.",
    )
    poll_seconds: float = Field(
        default=5.0, ge=1, description="Seconds between two polls of the livescores."
    )
    marquee_poll_seconds: float = Field(
        default=2.5,
        ge=1,
        description="Seconds between two polls while a match of a marquee league is live.",
    )
    marquee_leagues: tuple[str, ...] = Field(
        default=(),
        description="Ids of the leagues polled ball by ball, as JSON. Empty means all.",
    )
    orchestrate_seconds: float = Field(
        default=30.0, ge=1, description="Seconds between two rounds of the match orchestrator."
    )
    takeover_seconds: float = Field(
        default=20.0,
        ge=5,
        description="A match without a tick for this long is taken over by another instance.",
    )
    fixture_sync_seconds: float = Field(
        default=60.0, ge=10, description="Seconds between two fixture syncs."
    )
    sync_days: int = Field(
        default=7,
        ge=1,
        le=60,
        description="Days before and after today for which fixtures are synced.",
    )
    announce_minutes: int = Field(
        default=30,
        ge=1,
        le=240,
        description="Minutes before the start at which followers are notified.",
    )

    fifty: int = Field(default=50, ge=1, description="Runs for the fifty event.")
    nineties: int = Field(default=90, ge=1, description="Runs for the nineties event.")
    hundreds: tuple[int, ...] = Field(
        default=(100, 150, 200, 250, 300, 350, 400),
        min_length=1,
        description="Runs for hundred events, ascending, as JSON.",
    )
    wickets: tuple[int, ...] = Field(
        default=(3, 5), description="Wickets of a bowler for the bowler on fire event, as JSON."
    )
    alerting_wickets: int = Field(
        default=5, ge=1, description="Wickets of a bowler from which the event alerts."
    )
    sixes_in_a_row: int = Field(default=3, ge=2, description="Consecutive sixes for an event.")
    fire_balls: int = Field(
        default=20,
        ge=1,
        description="Balls faced before the strike rate counts for batter on fire.",
    )
    fire_rate: int = Field(default=200, ge=1, description="Strike rate for batter on fire.")
    fire_runs: int = Field(
        default=30, ge=1, description="Runs off the last balls for batter on fire."
    )
    fire_window: int = Field(
        default=12, ge=1, le=30, description="Number of last balls for batter on fire."
    )
    boundary_cooldown_seconds: int = Field(
        default=20, ge=0, description="Cooldown of six and four events."
    )
    sixes_cooldown_seconds: int = Field(
        default=120, ge=0, description="Cooldown of consecutive sixes."
    )
    hattrick_cooldown_seconds: int = Field(
        default=300, ge=0, description="Cooldown of on a hat-trick, per bowler."
    )
    rain_cooldown_seconds: int = Field(
        default=600, ge=0, description="Cooldown of rain delay and play resumed."
    )
    fire_cooldown_seconds: int = Field(
        default=600, ge=0, description="Cooldown of batter on fire, per batter."
    )
    confirm_seconds: float = Field(
        default=0.0,
        ge=0,
        le=10,
        description="Seconds an alert waits for a correction by the feed. 0 sends it at once.",
    )

    apns_host: str = Field(
        default="api.push.apple.com:443",
        description="APNs host. Use api.sandbox.push.apple.com:443 for development builds.",
    )
    apns_team_id: str = Field(default="", description="Apple team id of the APNs key.")
    apns_key_id: str = Field(default="", description="Id of the APNs key, ten characters.")
    apns_key: SecretStr | None = Field(
        default=None, description="APNs key (.p8, PEM). Without it nothing is pushed to phones."
    )
    apns_bundle_id: str = Field(default="", description="Bundle id of the iOS app.")
    apns_connections: int = Field(
        default=2, ge=1, le=16, description="Number of connections to APNs."
    )
    aliases: bool = Field(
        default=False,
        description="Whether the API also has the paths that older apps use.",
    )
    broadcast: bool = Field(
        default=False,
        description="Whether updates are pushed once per match over a broadcast channel (iOS 18).",
    )
    broadcast_host: str = Field(
        default="api-manage-broadcast.push.apple.com:2196",
        description="APNs host for managing broadcast channels.",
    )
    devices: Literal["multi", "single"] = Field(
        default="multi",
        description="Whether a user may have several devices, or the newest replaces the others.",
    )
    start_again_seconds: int = Field(
        default=120,
        ge=5,
        le=3600,
        description="Seconds after which a push-to-start is repeated, doubled each time.",
    )
    restart_minutes: int = Field(
        default=465,
        ge=60,
        le=475,
        description="Age in minutes at which a Live Activity is restarted.",
    )
    stale_minutes: int = Field(
        default=15,
        ge=1,
        le=30,
        description="Minutes without an update after which a Live Activity is shown as stale.",
    )
    stale_break_minutes: int = Field(
        default=90,
        ge=1,
        le=240,
        description="Minutes without an update after which it is shown as stale during a break.",
    )
    dismiss_minutes: int = Field(
        default=30, ge=0, le=240, description="Minutes a finished match stays on the lock screen."
    )
    webhook: SecretStr | None = Field(
        default=None, description="URL to which key events are posted as JSON."
    )
    webpush: bool = Field(default=False, description="Whether alerts can be pushed to browsers.")
    webpush_key: SecretStr | None = Field(
        default=None, description="Key for Web Push (VAPID, PEM)."
    )
    webpush_contact: str = Field(
        default="", description="Contact for push services of browsers: mailto:… or https:…"
    )
    webpush_timeout_seconds: float = Field(
        default=10.0,
        gt=0,
        le=12,
        description="Seconds after which a push to one browser is given up.",
    )
