"""The services of the cricket app."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from grandstand.apps.cricket.domain.live_activities import Lifetimes
from grandstand.apps.cricket.domain.match_events import Thresholds
from grandstand.apps.cricket.services import interfaces
from grandstand.apps.cricket.services.polling.match_orchestrator import MatchOrchestrator
from grandstand.apps.cricket.services.polling.match_ticks import (
    ActiveMatchRepository,
    LockService,
    MatchEventBus,
    MatchTicker,
)
from grandstand.apps.cricket.services.polling.score_poller import (
    LiveMatchReconciler,
    ScorePoller,
)
from grandstand.apps.cricket.services.polling.sync import (
    FixtureSyncJob,
    LeagueSyncJob,
    TeamSyncJob,
)
from grandstand.apps.cricket.services.push import updates
from grandstand.apps.cricket.services.push.apns_delivery import ApnsDeliveryService, PushStats
from grandstand.apps.cricket.services.push.la_coordinator import ActivityStarter, LACoordinator
from grandstand.apps.cricket.services.push.notifications import (
    AnnouncementService,
    BrowserAlertService,
)
from grandstand.apps.cricket.services.push.updates import MatchUpdateRepository
from grandstand.apps.cricket.services.queries.admin import (
    HubDataService,
    ReplayService,
)
from grandstand.apps.cricket.services.queries.fixtures import (
    DisplayStateBuilder,
    DisplayStateCacheService,
    FixtureCacheService,
    FixtureService,
)
from grandstand.apps.cricket.services.queries.reference import (
    LeagueService,
    TeamSeasonService,
    TeamService,
)
from grandstand.apps.cricket.services.users import (
    CricketPersonalData,
    DeviceService,
    LiveActivityRepository,
    MatchFollowService,
)
from grandstand.apps.cricket.settings import CricketSettings
from grandstand.apps.cricket.sources.apns import ApnsClient, ProviderToken
from grandstand.apps.cricket.sources.recordings import ReplayFeedClient
from grandstand.apps.cricket.sources.sportmonks import SportMonksClient
from grandstand.apps.cricket.sources.webhook import WebhookClient
from grandstand.kit.app import AppResources, AppServices
from grandstand.kit.cursors import Cursors
from grandstand.kit.events import Events
from grandstand.kit.live import Publisher
from grandstand.kit.outbox import DeliveryHandler, Outbox
from grandstand.net.http2_push.client import PushClient, PushConfig

if TYPE_CHECKING:
    from pydantic import SecretStr


@dataclass(frozen=True, slots=True, kw_only=True)
class Gateways:
    """The external services; those that are not configured are None."""

    feed: interfaces.ScoreFeed
    push: interfaces.PushGateway | None = None
    webhook: interfaces.WebhookPoster | None = None
    browsers: interfaces.BrowserGateway | None = None
    replays: ReplayFeedClient | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cricket:
    """The services of the app.

    Methods take the id of the user they act for. Whether a caller may use what is for
    administrators is checked by the API and the pages.
    """

    settings: CricketSettings
    cursors: Cursors
    store: interfaces.Database
    gateways: Gateways
    fixtures: FixtureService
    leagues: LeagueService
    teams: TeamService
    team_seasons: TeamSeasonService
    displays: DisplayStateBuilder
    devices: DeviceService
    follows: MatchFollowService
    live_activities: LiveActivityRepository
    browsers: BrowserAlertService
    announcements: AnnouncementService
    hub: HubDataService
    replays: ReplayService
    league_sync: LeagueSyncJob
    team_sync: TeamSyncJob
    fixture_sync: FixtureSyncJob
    poller: ScorePoller
    ticker: MatchTicker
    event_bus: MatchEventBus
    orchestrator: MatchOrchestrator
    coordinator: LACoordinator
    starter: ActivityStarter
    personal_data: CricketPersonalData

    def clear_caches(self) -> None:
        """Drop the cached leagues, teams and scorecards of this process."""
        self.leagues.cache.clear()
        self.teams.cache.clear()
        self.fixtures.clear_cache()

    def outbox_handlers(self) -> dict[str, DeliveryHandler]:
        """Return the handler of each outbox topic."""
        return {
            updates.MATCH_UPDATE: self.coordinator.deliver,
            updates.RESEND: self.coordinator.resend,
            updates.ALERT_CONFIRMATION: self.event_bus.confirm_alert,
            updates.EVENT_LOG: self.event_bus.log_remainder,
            updates.WEBHOOK: self.coordinator.post_webhook,
            updates.WEBPUSH: self.browsers.deliver,
            updates.ACTIVITY_START: self.starter.deliver,
            updates.ACTIVITY_END: self.live_activities.deliver_end,
            updates.ANNOUNCEMENT: self.announcements.deliver,
        }

    async def close(self) -> None:
        """Stop delivering and close the connections to push services."""
        await self.coordinator.stop()
        for gateway in (self.gateways.push, self.gateways.browsers):
            if gateway is not None:
                await gateway.close()


def thresholds_from(settings: CricketSettings) -> Thresholds:
    """Return the thresholds of event detection."""
    defaults = Thresholds()
    return interfaces.copy_fields(
        Thresholds,
        settings,
        hundreds=tuple(sorted(settings.hundreds)),
        wickets=tuple(sorted(settings.wickets)),
        join_balls=defaults.join_balls,
        stale_balls=defaults.stale_balls,
        old_balls=defaults.old_balls,
        cooldown_seconds={
            "six": settings.boundary_cooldown_seconds,
            "four": settings.boundary_cooldown_seconds,
            "consecutive_sixes": settings.sixes_cooldown_seconds,
            "on_hattrick": settings.hattrick_cooldown_seconds,
            "rain_delay": settings.rain_cooldown_seconds,
            "play_resumed": settings.rain_cooldown_seconds,
            "batsman_on_fire": settings.fire_cooldown_seconds,
        },
    )


def lifetimes_from(settings: CricketSettings) -> Lifetimes:
    """Return the time limits of Live Activities."""
    restart, defaults = timedelta(minutes=settings.restart_minutes), Lifetimes()
    return Lifetimes(
        restart_gap=timedelta(seconds=settings.start_again_seconds),
        restart_after=restart,
        restart_in_breaks_after=min(restart, defaults.restart_in_breaks_after),
        stale_live=timedelta(minutes=settings.stale_minutes),
        stale_break=timedelta(minutes=settings.stale_break_minutes),
        dismiss_after=timedelta(minutes=settings.dismiss_minutes),
    )


def create_services(
    *,
    store: interfaces.Database,
    settings: CricketSettings,
    gateways: Gateways,
    outbox: Outbox,
    publisher: Publisher,
    activity_log: Events,
    cursors: Cursors,
    instance: str,
    lock_seconds: float = 10.0,
) -> Cricket:
    """Connect the services."""
    feed, push = gateways.feed, gateways.push
    lifetimes, thresholds = lifetimes_from(settings), thresholds_from(settings)
    leagues = LeagueService(store=store)
    teams = TeamService(store=store)
    fixtures = FixtureService(
        store=store,
        feed=feed,
        cache=FixtureCacheService(store=store),
        leagues=leagues,
        teams=teams,
        sync_range=timedelta(days=settings.sync_days),
    )
    display_cache = DisplayStateCacheService(store=store)
    displays = DisplayStateBuilder(store=store, fixtures=fixtures, cache=display_cache)
    update_repository = MatchUpdateRepository(
        store=store,
        outbox=outbox,
        lifetimes=lifetimes,
        confirm_delay=timedelta(seconds=settings.confirm_seconds),
    )
    browsers = BrowserAlertService(store=store, outbox=outbox, gateway=gateways.browsers)
    delivery = ApnsDeliveryService(
        store=store,
        outbox=outbox,
        gateway=push,
        activity_log=activity_log,
        stats=PushStats(store.clock),
    )
    coordinator = LACoordinator(
        store=store,
        outbox=outbox,
        updates=update_repository,
        delivery=delivery,
        browsers=browsers,
        webhook=gateways.webhook,
    )
    starter = ActivityStarter(
        store=store, outbox=outbox, updates=update_repository, gateway=push, lifetimes=lifetimes
    )
    announcements = AnnouncementService(
        store=store,
        outbox=outbox,
        gateway=push,
        lead_time=timedelta(minutes=settings.announce_minutes),
    )
    live_activities = LiveActivityRepository(
        store=store,
        outbox=outbox,
        fixtures=fixtures,
        updates=update_repository,
        gateway=push,
        lifetimes=lifetimes,
    )
    matches = ActiveMatchRepository(store=store, instance=instance)
    event_bus = MatchEventBus(
        store=store, outbox=outbox, updates=update_repository, publisher=publisher
    )
    ticker = MatchTicker(
        store=store,
        feed=feed,
        matches=matches,
        locks=LockService(store=store, instance=instance, seconds=lock_seconds),
        event_bus=event_bus,
        coordinator=coordinator,
        fixtures=fixtures,
        displays=displays,
        thresholds=thresholds,
        lifetimes=lifetimes,
        confirm_alerts=bool(settings.confirm_seconds),
    )
    return Cricket(
        settings=settings,
        cursors=cursors,
        store=store,
        gateways=gateways,
        fixtures=fixtures,
        leagues=leagues,
        teams=teams,
        team_seasons=TeamSeasonService(store=store),
        displays=displays,
        devices=DeviceService(store=store, single=settings.devices == "single"),
        follows=MatchFollowService(
            store=store,
            fixtures=fixtures,
            displays=display_cache,
            live_activities=live_activities,
            starter=starter,
            lifetimes=lifetimes,
        ),
        live_activities=live_activities,
        browsers=browsers,
        announcements=announcements,
        hub=HubDataService(
            store=store,
            outbox=outbox,
            feed=feed,
            fixtures=fixtures,
            updates=update_repository,
            delivery=delivery,
        ),
        replays=ReplayService(client=gateways.replays, thresholds=thresholds),
        league_sync=LeagueSyncJob(store=store, feed=feed, leagues=leagues),
        team_sync=TeamSyncJob(store=store, feed=feed, teams=teams, leagues=leagues),
        fixture_sync=FixtureSyncJob(
            store=store, feed=feed, leagues=leagues, sync_days=settings.sync_days
        ),
        poller=ScorePoller(
            store=store,
            feed=feed,
            matches=matches,
            ticker=ticker,
            reconciler=LiveMatchReconciler(store=store, feed=feed, matches=matches),
            leagues=leagues,
            settings=settings,
        ),
        ticker=ticker,
        event_bus=event_bus,
        orchestrator=MatchOrchestrator(
            store=store,
            settings=settings,
            gateway=push,
            fixtures=fixtures,
            leagues=leagues,
            matches=matches,
            ticker=ticker,
            updates=update_repository,
            starter=starter,
            announcements=announcements,
            live_activities=live_activities,
            lifetimes=lifetimes,
        ),
        coordinator=coordinator,
        starter=starter,
        personal_data=CricketPersonalData(store=store),
    )


def build(resources: AppResources) -> AppServices[Cricket]:
    """Build the services from the platform's resources."""
    settings: CricketSettings = resources.settings or CricketSettings()
    webhook, replay_url = _secret(settings.webhook), settings.replay_url
    cricket = create_services(
        store=interfaces.Database(resources.store, clock=resources.clock, random=resources.random),
        settings=settings,
        gateways=Gateways(
            feed=SportMonksClient(resources.web, settings),
            push=_create_push_gateway(resources, settings),
            webhook=WebhookClient(resources.web, webhook) if webhook else None,
            browsers=_create_browser_gateway(resources, settings),
            replays=ReplayFeedClient(resources.web, replay_url) if replay_url else None,
        ),
        outbox=resources.outbox,
        publisher=resources.publisher,
        activity_log=resources.events,
        cursors=resources.cursors,
        instance=f"cricket-{resources.random.getrandbits(48):012x}",
    )
    return AppServices(
        services=cricket,
        home_card=cricket.follows.home_card,
        search=cricket.fixtures.search,
        personal_data=cricket.personal_data,
        outbox_handlers=cricket.outbox_handlers(),
        close=cricket.close,
    )


def _secret(value: SecretStr | None) -> str:
    return "" if value is None else value.get_secret_value()


def _create_push_gateway(
    resources: AppResources, settings: CricketSettings
) -> interfaces.PushGateway | None:
    key = _secret(settings.apns_key)
    if not key:
        return None
    token = ProviderToken(
        key=key,
        key_id=settings.apns_key_id,
        team_id=settings.apns_team_id,
        clock=resources.clock,
    )
    channels = _create_client(resources, settings.broadcast_host) if settings.broadcast else None
    return ApnsClient(
        _create_client(resources, settings.apns_host, settings.apns_connections),
        token,
        bundle_id=settings.apns_bundle_id,
        metrics=resources.metrics,
        channels_client=channels,
    )


def _create_browser_gateway(
    resources: AppResources, settings: CricketSettings
) -> interfaces.BrowserGateway | None:
    key = _secret(settings.webpush_key)
    if not settings.webpush or not key:
        return None
    from grandstand.apps.cricket.sources.webpush import WebPushClient

    return WebPushClient(
        key=key,
        contact=settings.webpush_contact,
        clock=resources.clock,
        create_client=lambda host: _create_client(resources, host),
        extra_hosts=resources.webpush_hosts,
        timeout_seconds=settings.webpush_timeout_seconds,
    )


def _create_client(resources: AppResources, host: str, connections: int = 1) -> PushClient:
    """Return an HTTP/2 client; in the demo it trusts the simulated push service."""
    return PushClient(
        host,
        clock=resources.clock,
        random=resources.random,
        context=resources.apns_context,
        config=PushConfig(connections=connections),
    )
