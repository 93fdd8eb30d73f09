"""Page handlers: matches, one match, the caller's activities, app setup and the hub."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from typing import Annotated, Final

from fastapi import Path
from starlette.requests import Request
from starlette.responses import Response

from grandstand.apps.cricket.domain import errors
from grandstand.apps.cricket.domain.alerts import AlertPreferences
from grandstand.apps.cricket.domain.display import ATTRIBUTES_TYPE, ball_symbol, swift_source
from grandstand.apps.cricket.domain.match_events import ALERTING, EVENT_KINDS, EventKind
from grandstand.apps.cricket.domain.matches import NEUTRAL_TEAM, PlayAction, ReplayStatus
from grandstand.apps.cricket.pages import scorecard
from grandstand.apps.cricket.services import Cricket
from grandstand.apps.cricket.services.queries.fixtures import DisplayView, Match, Scorecard
from grandstand.core import formatting
from grandstand.core.errors import (
    GrandstandError,
    InvalidInput,
    LimitReached,
    SourceFailed,
    Unavailable,
)
from grandstand.kit.charts import Chart
from grandstand.kit.pages.page import AppPages, form_fields, redirect_to
from grandstand.kit.pages.rendering import PAGE_HEADERS, Pages
from grandstand.kit.routes import CurrentCaller, page

MatchId = Annotated[str, Path(max_length=40)]

FEED_ERRORS: Final = (SourceFailed, Unavailable, LimitReached, errors.FeedNotConfigured)
_MAX_MATCHES: Final = 200
_MATCH_NOTICES: Final = {
    "followed": "You follow this match. Live Activities start when it goes live.",
    "unfollowed": "You no longer follow this match.",
    "changed": "Team changed. It is shown first on the lock screen.",
}
_USER_NOTICES: Final = {
    "alerts": "Saved. It applies to all matches you follow.",
    "ended": "The Live Activity has ended.",
    "unfollowed": "You no longer follow the match.",
    "changed": "Team changed.",
    "removed": "Device removed.",
    "pushed": "A test notification was sent to your devices.",
    "off": "Push notifications are not configured: the APNs key is not set.",
    "no-device": "You have no device yet. The app registers it when you sign in there.",
}
_HUB_NOTICES: Final = {
    "ticked": "The match was polled.",
    "synced": "Leagues, teams and fixtures were synced.",
    "cleared": "The caches of this process were cleared.",
    "replay": "Done.",
    "failed": "Failed: the feed rejected the request or is unavailable.",
}
_HOUR: Final = timedelta(hours=1)
MUTE_OPTIONS: Final[dict[str, tuple[str, timedelta | None]]] = {
    "off": ("Off", None),
    "hour": ("1 hour", _HOUR),
    "night": ("8 hours", 8 * _HOUR),
    "on": ("Until I turn it off", None),
}
_ACTIONS: Final[tuple[PlayAction, ...]] = ("play", "pause", "seek", "stop")


@dataclass(frozen=True, slots=True)
class MatchDay:
    """The matches of a day in the viewer's time zone."""

    name: str
    matches: tuple[Match, ...]


@dataclass(frozen=True, slots=True)
class MatchFigures:
    """The scorecard, overs and charts of a match; empty with an `error` if the feed failed."""

    card: Scorecard | None = None
    sheets: tuple[scorecard.InningsSheet, ...] = ()
    overs: tuple[scorecard.OverSummary, ...] = ()
    charts: tuple[Chart, ...] = ()
    error: str = ""


class CricketPages(AppPages):
    """The pages of the cricket app."""

    def __init__(self, cricket: Cricket, pages: Pages) -> None:
        super().__init__(pages, "cricket", scorecard.TEMPLATE_FUNCTIONS)
        self._cricket = cricket

    @page("")
    async def matches(self, request: Request, caller: CurrentCaller) -> Response:
        """Recent, live and upcoming matches, of one league or all."""
        league = request.query_params.get("league") or None
        fixtures = self._cricket.fixtures
        try:
            found = (await fixtures.page(league=league, limit=_MAX_MATCHES)).matches
        except errors.LeagueNotFound:
            league, found = None, (await fixtures.page(limit=_MAX_MATCHES)).matches
        follows = await self._cricket.follows.of_user(caller.user_id)
        zone = caller.preferences.time_zone
        completed = [match for match in reversed(found) if match.stage == "completed"]
        return self._render(
            request,
            "matches",
            here="matches",
            live_now=[match for match in found if match.stage == "live"],
            upcoming=group_by_day([match for match in found if match.stage == "upcoming"], zone),
            completed=group_by_day(completed, zone),
            any_match=bool(found),
            followed={follow.match_id: follow.team_id for follow in follows},
            leagues=await self._cricket.leagues.all(),
            league=league or "",
            zone=zone,
            connected=self._cricket.settings.feed_token is not None,
        )

    @page("/matches/{match_id}")
    async def match(self, request: Request, caller: CurrentCaller, match_id: MatchId) -> Response:
        """One match: score, events, lock screen, charts, scorecard and balls."""
        cricket, query = self._cricket, request.query_params
        match = await cricket.fixtures.get(match_id)
        follow = await cricket.follows.find(caller.user_id, match_id)
        team = query.get("for") or (follow.team_id if follow else NEUTRAL_TEAM)
        list_name = f"cricket.match/{match_id}"
        position = cricket.cursors.read(caller, list_name, query.get("after"))
        events = await cricket.event_bus.page(match_id, limit=60, cursor=position)
        figures = await self._figures(match)
        return self._render(
            request,
            "match",
            here="matches",
            match=match,
            follow=follow,
            display=await self._display(match_id, team),
            figures=figures,
            innings_labels=scorecard.innings_labels(figures.card.snapshot) if figures.card else {},
            ball_symbol=ball_symbol,
            events=sorted(
                events.events,
                key=lambda event: (event.seq, event.inning, event.position),
                reverse=True,
            ),
            is_first_page=position is None,
            next_cursor=cricket.cursors.write(caller, list_name, events.cursor),
            notice=_MATCH_NOTICES.get(query.get("notice", ""), ""),
        )

    async def _display(self, match_id: str, team: str) -> DisplayView | None:
        try:
            return await self._cricket.displays.get(match_id, team)
        except errors.TeamNotPlaying:
            return await self._display(match_id, NEUTRAL_TEAM)
        except FEED_ERRORS:
            return None

    async def _figures(self, match: Match) -> MatchFigures:
        if match.phase == "prematch":
            return MatchFigures()
        try:
            card = await self._cricket.fixtures.scorecard(match.match_id)
        except FEED_ERRORS as error:
            return MatchFigures(error=str(error))
        snapshot = card.snapshot
        overs = scorecard.group_overs(snapshot.balls)
        charts = (
            (scorecard.worm_chart(snapshot, overs), scorecard.rate_chart(snapshot, overs))
            if overs
            else ()
        )
        return MatchFigures(card, scorecard.build_sheets(snapshot), tuple(reversed(overs)), charts)

    @page("/matches/{match_id}/follow", method="POST")
    async def follow(self, request: Request, caller: CurrentCaller, match_id: MatchId) -> Response:
        """Follow a match or change the team, and redirect back."""
        fields, follows = await form_fields(request), self._cricket.follows
        team = fields.get("team") or NEUTRAL_TEAM
        if await follows.find(caller.user_id, match_id) is None:
            await follows.follow(caller.user_id, match_id, team)
            return _redirect_back(fields, match_id, "followed")
        await follows.change_team(caller.user_id, match_id, team)
        return _redirect_back(fields, match_id, "changed")

    @page("/matches/{match_id}/unfollow", method="POST")
    async def unfollow(
        self, request: Request, caller: CurrentCaller, match_id: MatchId
    ) -> Response:
        """Unfollow a match and redirect back."""
        fields, follows = await form_fields(request), self._cricket.follows
        if await follows.find(caller.user_id, match_id) is not None:
            await follows.unfollow(caller.user_id, match_id)
        return _redirect_back(fields, match_id, "unfollowed")

    @page("/mine")
    async def mine(self, request: Request, caller: CurrentCaller) -> Response:
        """The caller's follows, Live Activities, devices, browsers and alerts."""
        cricket, user_id = self._cricket, caller.user_id
        preferences = await cricket.follows.alert_preferences(user_id)
        activities = await cricket.live_activities.of_user(user_id)
        follows = await cricket.follows.of_user(user_id)
        match_ids = {session.match_id for session in activities}
        match_ids |= {follow.match_id for follow in follows}
        enabled = enabled_kinds(preferences)
        return self._render(
            request,
            "mine",
            here="mine",
            follows=follows,
            activities=activities,
            devices=await cricket.devices.of_user(user_id),
            browser_key=self._browser_key(),
            browsers=await cricket.browsers.of_user(user_id),
            matches={match_id: await self._find_match(match_id) for match_id in match_ids},
            kinds=[(kind, scorecard.EVENT_LABELS[kind], kind in enabled) for kind in EVENT_KINDS],
            custom=preferences.kinds is not None,
            mute_options=[(name, label) for name, (label, _) in MUTE_OPTIONS.items()],
            mute=selected_mute(preferences, cricket.store.now()),
            muted_until=preferences.muted_until,
            end_reason_label=scorecard.end_reason_label,
            notice=_USER_NOTICES.get(request.query_params.get("notice", ""), ""),
        )

    def _browser_key(self) -> str | None:
        try:
            return self._cricket.browsers.public_key
        except errors.PushNotConfigured:
            return None

    async def _find_match(self, match_id: str) -> Match | None:
        try:
            return await self._cricket.fixtures.get(match_id)
        except errors.MatchNotFound:
            return None

    @page("/mine/alerts", method="POST")
    async def save_alerts(self, request: Request, caller: CurrentCaller) -> Response:
        """Save the alert preferences and redirect back."""
        async with request.form() as form:
            kinds = tuple(value for value in form.getlist("kind") if isinstance(value, str))
            mute, use_defaults = str(form.get("mute", "off")), bool(form.get("defaults"))
        selected, muted, muted_until = parse_alert_form(
            kinds, mute, self._cricket.store.now(), use_defaults=use_defaults
        )
        await self._cricket.follows.set_alert_preferences(
            caller.user_id, kinds=selected, muted=muted, muted_until=muted_until
        )
        return redirect_to("/cricket/mine?notice=alerts#alerts")

    @page("/mine/test", method="POST")
    async def push_test(self, caller: CurrentCaller) -> Response:
        """Push a test notification and redirect back."""
        notice = "pushed"
        try:
            await self._cricket.announcements.send_test(caller.user_id)
        except errors.PushNotConfigured:
            notice = "off"
        except errors.DeviceNotFound:
            notice = "no-device"
        return redirect_to(f"/cricket/mine?notice={notice}#devices")

    @page("/mine/activities/{match_id}/end", method="POST")
    async def end_activity(
        self, request: Request, caller: CurrentCaller, match_id: MatchId
    ) -> Response:
        """End a Live Activity on one device and redirect back."""
        device_id = (await form_fields(request)).get("device") or None
        try:
            await self._cricket.live_activities.end(caller.user_id, match_id, device_id)
        except errors.ActivityNotFound:
            return redirect_to("/cricket/mine")
        return redirect_to("/cricket/mine?notice=ended")

    @page("/mine/devices/remove", method="POST")
    async def remove_device(self, request: Request, caller: CurrentCaller) -> Response:
        """Remove a device and redirect back."""
        token = (await form_fields(request)).get("token", "")
        try:
            await self._cricket.devices.remove(caller.user_id, token)
        except errors.DeviceNotFound:
            return redirect_to("/cricket/mine#devices")
        return redirect_to("/cricket/mine?notice=removed#devices")

    @page("/alerts-worker.js", access="anyone")
    async def alerts_worker(self) -> Response:
        """The service worker for browser alerts; its URL must never change."""
        script = self._pages.assets.files["cricket/js/alerts-worker.js"]
        headers = {**PAGE_HEADERS, "content-type": "text/javascript; charset=utf-8"}
        return Response(script, headers=headers)

    @page("/connect")
    async def connect(self, request: Request) -> Response:
        """How to connect an iOS app."""
        settings = self._cricket.settings
        return self._render(
            request,
            "connect",
            here="connect",
            swift=swift_source(),
            attributes_type=ATTRIBUTES_TYPE,
            pushing=settings.apns_key is not None,
            bundle_id=settings.apns_bundle_id,
        )

    @page("/hub", access="admin")
    async def hub(self, request: Request) -> Response:
        """Active matches, pushes, the quota of the feed and replays."""
        replays, recordings, replay_error = await self._replays()
        return self._render(
            request,
            "hub",
            here="hub",
            hub=await self._cricket.hub.get(),
            replays_enabled=self._cricket.replays.client is not None,
            replays=replays,
            recordings=recordings,
            replay_error=replay_error,
            settings=self._cricket.settings,
            connected=self._cricket.settings.feed_token is not None,
            notice=_HUB_NOTICES.get(request.query_params.get("notice", ""), ""),
        )

    async def _replays(self) -> tuple[tuple[ReplayStatus, ...], tuple[str, ...], str]:
        if self._cricket.replays.client is None:
            return (), (), ""
        try:
            feed = self._cricket.replays.feed
            return await feed.replays(), await feed.recordings(), ""
        except GrandstandError as error:
            return (), (), str(error)

    @page("/hub/tick/{match_id}", access="admin", method="POST")
    async def tick(self, match_id: MatchId) -> Response:
        """Poll a match now and redirect back."""
        try:
            await self._cricket.ticker.poll_now(match_id)
        except (*FEED_ERRORS, errors.MatchNotFound):
            return _redirect_to_hub("failed")
        return _redirect_to_hub("ticked")

    @page("/hub/sync", access="admin", method="POST")
    async def sync(self) -> Response:
        """Sync leagues, teams and fixtures now and redirect back."""
        try:
            await self._cricket.league_sync.run()
            await self._cricket.team_sync.run()
            await self._cricket.fixture_sync.run()
        except FEED_ERRORS:
            return _redirect_to_hub("failed")
        return _redirect_to_hub("synced")

    @page("/hub/clear", access="admin", method="POST")
    async def clear_caches(self) -> Response:
        """Clear the caches of this process and redirect back."""
        self._cricket.clear_caches()
        return _redirect_to_hub("cleared")

    @page("/hub/replays", access="admin", method="POST")
    async def start_replay(self, request: Request) -> Response:
        """Start a replay and redirect back."""
        fields = await form_fields(request)
        try:
            speed = parse_speed(fields.get("speed", "1"))
            await self._cricket.replays.feed.play(fields.get("recording", ""), speed)
        except GrandstandError:
            return _redirect_to_hub("failed")
        return _redirect_to_hub("replay")

    @page("/hub/replays/{match_id}", access="admin", method="POST")
    async def control_replay(self, request: Request, match_id: MatchId) -> Response:
        """Send a command to a replay and redirect back."""
        fields = await form_fields(request)
        try:
            await self._cricket.replays.feed.control(match_id, *parse_command(fields))
        except GrandstandError:
            return _redirect_to_hub("failed")
        return _redirect_to_hub("replay")


def group_by_day(matches: Sequence[Match], zone: str) -> tuple[MatchDay, ...]:
    """Return matches grouped by the day of their start, in the given order."""
    days = groupby(matches, lambda match: formatting.format_time(match.starts_at, zone, "day"))
    return tuple(MatchDay(name, tuple(group)) for name, group in days)


def enabled_kinds(preferences: AlertPreferences) -> Collection[EventKind]:
    """Return the event kinds that alert a user."""
    return ALERTING if preferences.kinds is None else preferences.kinds


def selected_mute(preferences: AlertPreferences, now: datetime) -> str:
    """Return the mute option to show as selected."""
    if preferences.muted:
        return "on"
    if preferences.muted_until is None or preferences.muted_until <= now:
        return "off"
    return "hour" if preferences.muted_until - now <= _HOUR else "night"


def parse_alert_form(
    kinds: tuple[str, ...], mute: str, now: datetime, *, use_defaults: bool
) -> tuple[tuple[str, ...] | None, bool, datetime | None]:
    """Return the event kinds, whether alerts are muted, and until when."""
    _, length = MUTE_OPTIONS.get(mute, MUTE_OPTIONS["off"])
    until = None if length is None else now + length
    return None if use_defaults else kinds, mute == "on", until


def parse_command(fields: Mapping[str, str]) -> tuple[PlayAction, float | None, int | None]:
    """Return the action, speed and ball of a form that controls a replay. Raises InvalidInput."""
    action = next((each for each in _ACTIONS if each == fields.get("action")), None)
    if action is None:
        raise InvalidInput(f"Unknown action. Use one of {', '.join(_ACTIONS)}.")
    ball = fields.get("ball", "")
    speed = parse_speed(fields["speed"]) if fields.get("speed") and action == "play" else None
    is_seek = action == "seek" and ball.isascii() and ball.isdigit()
    return action, speed, int(ball) if is_seek else None


def parse_speed(text: str) -> float:
    """Return a replay speed. Raises InvalidInput."""
    try:
        speed = float(text)
    except ValueError as error:
        raise InvalidInput(f"Invalid speed {text[:20]!r}. Use a number.") from error
    if not 0 < speed <= 1000:
        raise InvalidInput(f"Invalid speed {text[:20]!r}. Use more than 0 and at most 1000.")
    return speed


def _redirect_to_hub(notice: str) -> Response:
    return redirect_to(f"/cricket/hub?notice={notice}")


def _redirect_back(fields: Mapping[str, str], match_id: str, notice: str) -> Response:
    if fields.get("back") == "mine":
        return redirect_to(f"/cricket/mine?notice={notice}")
    return redirect_to(f"/cricket/matches/{match_id}?notice={notice}")
