"""Kept here: figures, schedules and injuries as they come in, from whichever feed tells them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import date

from grandstand.apps.bets.model.feeds import (
    FedInjury,
    FedMeeting,
    FedPlayerFigures,
    FedStats,
    FedTeamFigures,
)
from grandstand.apps.bets.service.means import Means
from grandstand.apps.bets.service.ports import StatsFeed
from grandstand.apps.bets.service.values import Collected, Refusal
from grandstand.apps.bets.store import Injury, Meeting, PlayerStats, TeamStats
from grandstand.base.errors import GrandstandError
from grandstand.storage.tables import Put

_ASK = Callable[[StatsFeed, str, date], Awaitable[FedStats]]


class StatsCollecting:
    """Asks every feed of figures; one that fails is noted, and the others go on."""

    def __init__(self, means: Means) -> None:
        self._means = means

    async def figures(self, sport: str) -> Collected:
        """Fetch figures of teams and players; raise what the feeds do when none answers."""
        return await self._ask(sport, lambda feed, name, on: feed.fetch_stats(name, on))

    async def schedules(self, sport: str) -> Collected:
        """Fetch the schedules of teams."""
        return await self._ask(sport, lambda feed, name, on: feed.fetch_schedules(name, on))

    async def injuries(self, sport: str) -> Collected:
        """Fetch who is injured."""
        return await self._ask(sport, lambda feed, name, on: feed.fetch_injuries(name, on))

    async def _ask(self, sport: str, ask: _ASK) -> Collected:
        today, refused, seen, written = self._means.now().date(), list[Refusal](), 0, 0
        last: GrandstandError | None = None
        for feed in self._means.stats:
            try:
                told = await ask(feed, self._means.sport(sport), today)
            except GrandstandError as fault:
                refused.append(Refusal(feed.name, str(fault)))
                last = fault
                continue
            one = await self.keep(sport, told)
            seen, written = seen + one.seen, written + one.written
            refused += one.refused
        if last is not None and len(refused) == len(self._means.stats) and not seen:
            raise last
        return Collected(sport, seen, written, tuple(refused))

    async def keep(self, sport: str, told: FedStats) -> Collected:
        """Keep what was told; the same again writes the same rows."""
        refused = [Refusal(each.what, each.why) for each in told.refused]
        writes: list[Put[TeamStats] | Put[PlayerStats] | Put[Injury] | Put[Meeting]] = [
            *(team_row(each, sport).keep() for each in told.teams),
            *(player_row(each, sport).keep() for each in told.players),
            *(injury_row(each, sport).keep() for each in told.injuries),
            *(meeting_row(each, sport).keep() for each in told.meetings),
        ]
        await self._means.store.write_many(writes)
        return Collected(sport, len(writes) + len(told.refused), len(writes), tuple(refused))


def team_row(told: FedTeamFigures, sport: str) -> TeamStats:
    """Answer a team's figures as the table keeps them."""
    return TeamStats(
        team=told.team,
        sport=sport,
        season=told.season,
        stat_date=told.stat_date,
        stats=told.stats,
        updated_at=told.known_at,
    )


def player_row(told: FedPlayerFigures, sport: str) -> PlayerStats:
    """Answer a player's figures as the table keeps them."""
    return PlayerStats(
        player_name=told.player,
        sport=sport,
        team=told.team,
        game_id=told.game_id,
        stats=told.stats,
        updated_at=told.known_at,
    )


def injury_row(told: FedInjury, sport: str) -> Injury:
    """Answer an injury as the table keeps it."""
    return Injury(
        team=told.team,
        player=told.player,
        sport=sport,
        reported_on=told.reported_on,
        status=told.status,
        injury=told.injury,
        impact=told.impact,
        updated_at=told.known_at,
    )


def meeting_row(told: FedMeeting, sport: str) -> Meeting:
    """Answer a game of a schedule as the table keeps it."""
    return Meeting(
        sport=sport,
        team=told.team,
        opponent=told.opponent,
        starts_at=told.starts_at,
        is_home=told.is_home,
        known_at=told.known_at,
    )
