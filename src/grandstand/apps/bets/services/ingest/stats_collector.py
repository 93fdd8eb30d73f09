"""The collector of statistics, schedules and injuries."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import Final, Protocol, TypeAlias

from grandstand.apps.bets.domain.feeds import (
    FeedFixture,
    FeedInjury,
    FeedPlayerStats,
    FeedScores,
    FeedStats,
    FeedTeamStats,
)
from grandstand.apps.bets.domain.types import slug
from grandstand.apps.bets.services.database import Database, check_sport
from grandstand.apps.bets.services.ingest.odds_collector import (
    CollectionReport,
    RejectedItem,
)
from grandstand.apps.bets.settings import BetsSettings
from grandstand.apps.bets.store.games import (
    AwaitedGame,
    Injury,
    PlayerStats,
    ResultRecord,
    ScheduledGame,
    TeamStats,
)
from grandstand.core.errors import GrandstandError
from grandstand.storage.tables import Put

_ONE_DAY: Final = timedelta(days=1)
_Fetch: TypeAlias = "Callable[[StatsFeed, str, date], Awaitable[FeedStats]]"
# The games of two teams: when each begins, and its id.
_Games: TypeAlias = Mapping[frozenset[str], Sequence[tuple[datetime, str]]]


class StatsFeed(Protocol):
    """A provider of statistics, schedules and injuries; raises the errors of an OddsFeed."""

    @property
    def name(self) -> str:
        """The name of the provider, for reports."""
        ...

    async def fetch_stats(self, sport: str, on: date) -> FeedStats:
        """Return team and player statistics up to a day."""
        ...

    async def fetch_injuries(self, sport: str, on: date) -> FeedStats:
        """Return the injury reports."""
        ...

    async def fetch_schedules(self, sport: str, on: date) -> FeedStats:
        """Return the games of teams around a day."""
        ...

    async def fetch_results(self, sport: str, first: date, last: date) -> FeedScores:
        """Return final scores in a period, however long ago; nothing if the provider has none."""
        ...


class StatsCollector:
    """Asks every feed. A feed that fails is reported, and the others continue."""

    def __init__(self, *, db: Database, settings: BetsSettings, feeds: Sequence[StatsFeed]) -> None:
        self._db = db
        self._settings = settings
        self._feeds = feeds

    async def collect_stats(self, sport: str) -> CollectionReport:
        """Collect team and player statistics.

        Raises the last feed error if no feed delivered anything.
        """
        return await self._collect(sport, lambda feed, name, on: feed.fetch_stats(name, on))

    async def collect_schedules(self, sport: str) -> CollectionReport:
        return await self._collect(sport, lambda feed, name, on: feed.fetch_schedules(name, on))

    async def collect_injuries(self, sport: str) -> CollectionReport:
        return await self._collect(sport, lambda feed, name, on: feed.fetch_injuries(name, on))

    async def _collect(self, sport: str, fetch: _Fetch) -> CollectionReport:
        today, refused, received, written = self._db.now().date(), list[RejectedItem](), 0, 0
        last: GrandstandError | None = None
        for feed in self._feeds:
            try:
                stats = await fetch(feed, check_sport(self._settings, sport), today)
            except GrandstandError as fault:
                refused.append(RejectedItem(feed.name, str(fault)))
                last = fault
                continue
            report = await self.store(sport, stats)
            received, written = received + report.seen, written + report.written
            refused += report.refused
        if last is not None and len(refused) == len(self._feeds) and not received:
            raise last
        return CollectionReport(sport, received, written, tuple(refused))

    async def store(self, sport: str, stats: FeedStats) -> CollectionReport:
        """Store statistics. Storing the same again writes the same rows."""
        refused = [RejectedItem(item.row, item.reason) for item in stats.rejected]
        writes: list[Put[TeamStats] | Put[PlayerStats] | Put[Injury] | Put[ScheduledGame]] = [
            *(team_stats_row(team, sport).save() for team in stats.teams),
            *(
                player_stats_row(player, sport).save()
                for player in await self._match_games(sport, stats.players)
            ),
            *(injury_row(injury, sport).save() for injury in stats.injuries),
            *(meeting_row(fixture, sport).save() for fixture in stats.fixtures),
        ]
        await self._db.store.write_many(writes)
        return CollectionReport(
            sport, len(writes) + len(stats.rejected), len(writes), tuple(refused)
        )

    async def _match_games(
        self, sport: str, players: Sequence[FeedPlayerStats]
    ) -> Sequence[FeedPlayerStats]:
        """Return player statistics with our game ids, matched by teams and day."""
        moments = [item.starts_at for item in players if item.starts_at is not None]
        if not moments:
            return players
        games = await self._games(sport, min(moments) - _ONE_DAY, max(moments) + _ONE_DAY)
        return [replace(item, game_id=match_game_id(item, games)) for item in players]

    async def _games(self, sport: str, start: datetime, end: datetime) -> _Games:
        """Return the games that start in a period, completed ones included."""
        games: dict[frozenset[str], set[tuple[datetime, str]]] = defaultdict(set)
        async for game in self._db.each(AwaitedGame.between(sport, start, end)):
            games[_pair(game.home_team, game.away_team)].add((game.commence_time, game.game_id))
        async for line in self._db.each(ResultRecord.between(sport, start, end + _ONE_DAY)):
            games[_pair(line.home_team, line.away_team)].add((line.commence_time, line.game_id))
        return {teams: sorted(times) for teams, times in games.items()}


def match_game_id(stats: FeedPlayerStats, games: _Games) -> str:
    """Return our id of the same teams' game nearest in time, within a day.

    Falls back to the id of the feed.
    """
    if stats.starts_at is None or stats.opponent is None:
        return stats.game_id
    starts = stats.starts_at
    near = [
        (abs(begins - starts), game_id)
        for begins, game_id in games.get(_pair(stats.team, stats.opponent), ())
        if abs(begins - starts) <= _ONE_DAY
    ]
    return min(near)[1] if near else stats.game_id


def _pair(team: str, opponent: str) -> frozenset[str]:
    return frozenset({slug(team), slug(opponent)})


def team_stats_row(stats: FeedTeamStats, sport: str) -> TeamStats:
    return TeamStats(
        team=stats.team,
        sport=sport,
        season=stats.season,
        stat_date=stats.stat_date,
        stats=stats.stats,
        updated_at=stats.known_at,
    )


def player_stats_row(stats: FeedPlayerStats, sport: str) -> PlayerStats:
    return PlayerStats(
        player_name=stats.player,
        sport=sport,
        team=stats.team,
        game_id=stats.game_id,
        stats=stats.stats,
        updated_at=stats.known_at,
    )


def injury_row(injury: FeedInjury, sport: str) -> Injury:
    return Injury(
        team=injury.team,
        player=injury.player,
        sport=sport,
        reported_on=injury.reported_on,
        status=injury.status,
        injury=injury.injury,
        impact=injury.impact,
        updated_at=injury.known_at,
    )


def meeting_row(fixture: FeedFixture, sport: str) -> ScheduledGame:
    return ScheduledGame(
        sport=sport,
        team=fixture.team,
        opponent=fixture.opponent,
        starts_at=fixture.starts_at,
        is_home=fixture.is_home,
        known_at=fixture.known_at,
    )
