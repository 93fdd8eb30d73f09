"""Kept here: everything cricket can do, one method each."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from grandstand.apps.cricket.model import NEUTRAL_TEAM, EndReason
from grandstand.apps.cricket.model.alerts import AlertChoice
from grandstand.apps.cricket.service.looking.chronicle import Chronicle
from grandstand.apps.cricket.service.looking.displays import Displays
from grandstand.apps.cricket.service.looking.hub import Hub
from grandstand.apps.cricket.service.looking.matches import Matches
from grandstand.apps.cricket.service.looking.reference import Reference
from grandstand.apps.cricket.service.looking.replaying import Replaying
from grandstand.apps.cricket.service.looking.searching import Searching
from grandstand.apps.cricket.service.means import (
    ANNOUNCE,
    BULLETIN,
    CONFIRM,
    END,
    LOG,
    RESEND,
    START,
    WEBHOOK,
    WEBPUSH,
    Means,
)
from grandstand.apps.cricket.service.people.activities import Activities
from grandstand.apps.cricket.service.people.belongings import CricketBelongings
from grandstand.apps.cricket.service.people.devices import Devices
from grandstand.apps.cricket.service.people.follows import Follows
from grandstand.apps.cricket.service.telling.announcing import Announcing
from grandstand.apps.cricket.service.telling.bulletins import Bulletins
from grandstand.apps.cricket.service.telling.courier import Courier
from grandstand.apps.cricket.service.telling.delivering import Delivering
from grandstand.apps.cricket.service.telling.starting import Starting
from grandstand.apps.cricket.service.telling.subscriptions import Subscriptions
from grandstand.apps.cricket.service.values import (
    AlertsGiven,
    DeviceGiven,
    DisplayView,
    EventPage,
    Followed,
    HubView,
    MatchFilter,
    MatchPage,
    MatchView,
    Orchestrated,
    Polled,
    Scorecard,
    Synced,
    Ticked,
)
from grandstand.apps.cricket.service.watching.orchestrating import Orchestrating, Parts
from grandstand.apps.cricket.service.watching.polling import Polling
from grandstand.apps.cricket.service.watching.syncing import Syncing
from grandstand.apps.cricket.service.watching.ticking import Ticking
from grandstand.apps.cricket.store import (
    Browser,
    Device,
    League,
    LiveActivity,
    MatchFollow,
    Team,
    TeamSeason,
)
from grandstand.kit.app import Found
from grandstand.kit.outbox import Deliver
from grandstand.kit.who.caller import Caller


class Cricket:
    """Matches ball by ball, who follows them, and the lock screens that show them.

    A caller sees and changes only their own devices, follows and activities. Whether a caller may
    do what is for administrators, the ways in have to check; those methods say so.
    """

    def __init__(self, means: Means) -> None:
        self.settings = means.settings
        self.cursors = means.cursors
        self._means = means
        self._reference = Reference(means)
        self._matches = Matches(means, self._reference)
        self._chronicle = Chronicle(means)
        self._displays = Displays(means, self._matches)
        self._bulletins = Bulletins(means)
        self._starting = Starting(means, self._bulletins)
        self._subscriptions = Subscriptions(means)
        self._delivering = Delivering(means, self._bulletins, self._subscriptions)
        self._courier = Courier(means, self._delivering)
        self._ticking = Ticking(means, self._bulletins, self._courier)
        self._polling = Polling(means, self._ticking, self._matches, self._reference)
        self._syncing = Syncing(means, self._reference)
        self._announcing = Announcing(means)
        self._activities = Activities(means, self._bulletins)
        self._devices = Devices(means)
        self._follows = Follows(
            means, self._matches, self._displays, self._activities, self._starting
        )
        self._orchestrating = Orchestrating(
            means,
            Parts(
                matches=self._matches,
                reference=self._reference,
                ticking=self._ticking,
                bulletins=self._bulletins,
                starting=self._starting,
                announcing=self._announcing,
                activities=self._activities,
            ),
        )
        self._hub = Hub(means, self._matches, self._bulletins, self._delivering)
        self._searching = Searching(means, self._matches, self._reference)
        self.belongings = CricketBelongings(means)
        self.replaying = Replaying(means.replays, means.cricsheet, means.thresholds)

    def now(self) -> datetime:
        """Answer the present moment as the tables keep it."""
        return self._means.now()

    async def matches(
        self,
        *,
        league: str | None = None,
        start: datetime | None = None,
        end: datetime | None = None,
        status: MatchFilter | None = None,
        limit: int = 50,
        position: str | None = None,
    ) -> MatchPage:
        """Answer matches by their start; `league` is an id or a code; raise LeagueUnknown.

        Without a span of time: as far back and ahead as fixtures are read.
        """
        return await self._matches.page(
            league=league, start=start, end=end, status=status, limit=limit, position=position
        )

    async def search(self, sought: str) -> tuple[Found, ...]:
        """Answer the teams and matches some words are about."""
        return await self._searching.run(sought)

    async def match(self, match_id: str) -> MatchView:
        """Answer one match; raise MatchUnknown."""
        return await self._matches.read(match_id)

    async def scorecard(self, match_id: str) -> Scorecard:
        """Answer all figures and balls of a match, at most a few seconds old while it is live.

        Raises MatchUnknown, and what `wire.errors` lists when the feed does not answer.
        """
        return await self._matches.scorecard(match_id)

    async def events(
        self, match_id: str, *, limit: int = 100, position: str | None = None
    ) -> EventPage:
        """Answer what was detected in a match, newest first; raise MatchUnknown."""
        await self._matches.read(match_id)
        return await self._chronicle.page(match_id, limit, position)

    async def display(self, match_id: str, team_id: str = NEUTRAL_TEAM) -> DisplayView:
        """Answer what a lock screen shows to who is for a team.

        Raises MatchUnknown and TeamNotPlaying.
        """
        return await self._displays.read(match_id, team_id)

    async def leagues(self, *, active: bool | None = None) -> tuple[League, ...]:
        """Answer the leagues by name, all or only those that are followed, or not."""
        return await self._reference.leagues(active=active)

    async def league(self, league_id: str) -> League:
        """Answer one league by id or code; raise LeagueUnknown."""
        return await self._reference.league(league_id)

    async def amend_league(
        self,
        league_id: str,
        *,
        name: str | None = None,
        code: str | None = None,
        active: bool | None = None,
    ) -> League:
        """Change what is given of a league, for administrators; raise LeagueUnknown."""
        return await self._reference.amend_league(league_id, name=name, code=code, active=active)

    async def remove_league(self, league_id: str) -> None:
        """Remove a league, for administrators; raise LeagueUnknown. The next sync may bring it."""
        await self._reference.remove_league(league_id)

    async def teams(self) -> tuple[Team, ...]:
        """Answer all teams by name."""
        return await self._reference.teams()

    async def team(self, team_id: str) -> Team:
        """Answer one team; raise TeamUnknown."""
        return await self._reference.team(team_id)

    async def amend_team(
        self,
        team_id: str,
        *,
        name: str | None = None,
        code: str | None = None,
        image_path: str | None = None,
    ) -> Team:
        """Change what is given of a team, for administrators; raise TeamUnknown."""
        return await self._reference.amend_team(
            team_id, name=name, code=code, image_path=image_path
        )

    async def season_teams(self, season_id: str) -> tuple[TeamSeason, ...]:
        """Answer how teams stand in a season, the first at the front; empty when unknown."""
        return await self._reference.season_teams(season_id)

    async def devices(self, caller: Caller) -> tuple[Device, ...]:
        """Answer the caller's devices, the one seen last at the front."""
        return await self._devices.of_user(caller.user_id)

    async def register_device(self, caller: Caller, given: DeviceGiven) -> Device:
        """Keep a device, in place of what it was known by before.

        Raises TokenInvalid and DeviceNameInvalid.
        """
        return await self._devices.register(caller.user_id, given)

    async def set_push_to_start(self, caller: Caller, device_token: str, token: str) -> Device:
        """Keep the token that starts activities on a device; raise TokenInvalid, DeviceUnknown."""
        return await self._devices.set_push_to_start(caller.user_id, device_token, token)

    async def forget_device(self, caller: Caller, device_token: str) -> Device:
        """Remove a device and answer what it was; raise DeviceUnknown."""
        return await self._devices.forget(caller.user_id, device_token)

    @property
    def browser_key(self) -> str:
        """What a page subscribes a browser with; raises PushingOff unless that is set up."""
        return self._subscriptions.public_key

    async def browsers(self, caller: Caller) -> tuple[Browser, ...]:
        """Answer the browsers of the caller that are alerted."""
        return await self._subscriptions.of_user(caller.user_id)

    async def subscribe_browser(self, caller: Caller, browser: Browser) -> None:
        """Push alerts to a browser of the caller too; raise PushingOff and InvalidInput."""
        await self._subscriptions.subscribe(caller.user_id, browser)

    async def unsubscribe_browser(self, caller: Caller, endpoint: str) -> None:
        """Push no more to a browser of the caller; one that is not known is fine."""
        await self._subscriptions.unsubscribe(caller.user_id, endpoint)

    async def follows(self, caller: Caller) -> tuple[MatchFollow, ...]:
        """Answer the matches the caller follows."""
        return await self._follows.of_user(caller.user_id)

    async def find_follow(self, caller: Caller, match_id: str) -> MatchFollow | None:
        """Answer whether the caller follows a match, and for whom."""
        return await self._follows.find(caller.user_id, match_id)

    async def follow(self, caller: Caller, match_id: str, team_id: str | None = None) -> Followed:
        """Follow a match; if it is on, activities are started on the caller's devices.

        Raises MatchUnknown, TeamNotPlaying and MatchOver.
        """
        return await self._follows.follow(caller.user_id, match_id, team_id)

    async def change_team(self, caller: Caller, match_id: str, team_id: str) -> MatchFollow:
        """Be for another team; raise FollowUnknown, MatchUnknown and TeamNotPlaying."""
        return await self._follows.change_team(caller.user_id, match_id, team_id)

    async def unfollow(self, caller: Caller, match_id: str) -> None:
        """Follow a match no longer, and end its activities on all devices; raise FollowUnknown."""
        await self._follows.unfollow(caller.user_id, match_id)

    async def alert_choice(self, caller: Caller) -> AlertChoice:
        """Answer what the caller wants to be alerted of."""
        return await self._follows.choice(caller.user_id)

    async def choose_alerts(self, caller: Caller, given: AlertsGiven) -> AlertChoice:
        """Keep what the caller wants to be alerted of; raise AlertKindUnknown."""
        return await self._follows.choose(caller.user_id, given)

    async def activities(self, caller: Caller) -> tuple[LiveActivity, ...]:
        """Answer the caller's Live Activities across matches, newest first."""
        return await self._activities.of_user(caller.user_id)

    async def register_activity(
        self, caller: Caller, match_id: str, device_id: str, update_token: str
    ) -> LiveActivity:
        """Keep the token of an activity, new or changed; it is told how the match stands.

        Raises MatchUnknown, TokenInvalid, DeviceNameInvalid and MatchOver.
        """
        match = await self._matches.read(match_id)
        choice = await self._follows.choice(caller.user_id)
        return await self._activities.register(
            caller.user_id, match, device_id, update_token, choice
        )

    async def end_activity(
        self,
        caller: Caller,
        match_id: str,
        device_id: str | None = None,
        reason: EndReason = "dismissed",
    ) -> tuple[LiveActivity, ...]:
        """End the caller's activity on a device, or on all; raise ActivityUnknown.

        What was dismissed counts as unfollowed.
        """
        ended = await self._activities.end(caller.user_id, match_id, device_id, reason)
        if reason == "dismissed":
            await self._follows.leave(caller.user_id, match_id)
        return ended

    async def push_test(self, caller: Caller) -> Mapping[str, str]:
        """Send an alert to the caller's own devices; answer what came of it by device id.

        Raises PushKeyMissing and DeviceUnknown.
        """
        return await self._announcing.test(caller.user_id)

    async def hub(self) -> HubView:
        """Answer what is polled and pushed, for administrators."""
        return await self._hub.look()

    async def tick(self, match_id: str) -> Ticked:
        """Look at one match now, whoever owns it; raise MatchUnknown and what the feed raises."""
        await self._matches.read(match_id)
        return await self._ticking.tick_alone(match_id)

    def clear_caches(self) -> None:
        """Forget what this instance remembers of leagues, teams and scorecards."""
        self._reference.clear()
        self._matches.clear()

    async def sync_reference(self) -> Synced:
        """Read leagues, teams and the tables of current seasons from the feed."""
        return await self._syncing.reference()

    async def sync_fixtures(self) -> Synced:
        """Read the matches of the days around now from the feed."""
        return await self._syncing.fixtures()

    async def orchestrate(self) -> Orchestrated:
        """Do what is due: register, take over, announce, start, restart, refresh, end, clean."""
        return await self._orchestrating.round()

    async def poll(self) -> Polled:
        """Look at the live list once and tick every match in it; for one instance at a time."""
        return await self._polling.poll()

    async def settle(self) -> None:
        """Wait until what this instance is telling phones is told."""
        await self._courier.settle()

    async def rest(self) -> None:
        """Stop telling phones; what is left is in the outbox, for any instance."""
        await self._courier.stop()

    async def close(self) -> None:
        """Stop telling phones, and end the connections to them and to browsers."""
        await self.rest()
        for pushing in (self._means.phones, self._means.browsers):
            if pushing is not None:
                await pushing.close()

    def ways(self) -> dict[str, Deliver]:
        """Answer how each of cricket's topics in the outbox is carried out."""
        return {
            BULLETIN: self._delivering.deliver,
            RESEND: self._delivering.resend,
            CONFIRM: self._bulletins.confirm,
            LOG: self._ticking.log_rest,
            WEBHOOK: self._delivering.hook,
            WEBPUSH: self._subscriptions.deliver,
            START: self._starting.deliver,
            END: self._activities.deliver_end,
            ANNOUNCE: self._announcing.deliver,
        }
