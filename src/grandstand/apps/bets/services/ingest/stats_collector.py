"""The collector of statistics, schedules and injuries, and imports of files."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Final, Protocol, TypeAlias

from grandstand.apps.bets.domain.records import (
    ArchivedGame,
    FeedPlayerStats,
    FeedPrice,
    FeedScores,
    FeedStats,
    RejectedRow,
    slug,
)
from grandstand.apps.bets.services.database import Database, check_sport, copy_as
from grandstand.apps.bets.services.ingest.odds_collector import (
    CollectionReport,
    game_info,
    odds_row,
    price_error,
)
from grandstand.apps.bets.services.ingest.outcome_collector import (
    game_outcome,
    score_error,
    team_outcome_writes,
)
from grandstand.apps.bets.services.settlement import closing_row
from grandstand.apps.bets.settings import BetsSettings
from grandstand.apps.bets.sources import data_files
from grandstand.apps.bets.sources.football_data import parse_season
from grandstand.apps.bets.store.games import (
    AwaitedGame,
    GameOdds,
    GameOutcome,
    Injury,
    PlayerStats,
    PropOdds,
    ResultRecord,
    ScheduledGame,
    TeamStats,
)
from grandstand.core.errors import GrandstandError, InvalidInput
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


@dataclass(frozen=True, slots=True, kw_only=True)
class StatsCollector:
    """Asks every feed. A feed that fails is reported, and the others continue."""

    db: Database
    settings: BetsSettings
    feeds: Sequence[StatsFeed]

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
        today, rejected, received, written = self.db.now().date(), list[RejectedRow](), 0, 0
        last: GrandstandError | None = None
        for feed in self.feeds:
            try:
                stats = await fetch(feed, check_sport(self.settings, sport), today)
            except GrandstandError as fault:
                rejected.append(RejectedRow(feed.name, str(fault)))
                last = fault
                continue
            report = await self.store(sport, stats)
            received, written = received + report.received, written + report.written
            rejected += report.rejected
        if last is not None and len(rejected) == len(self.feeds) and not received:
            raise last
        return CollectionReport(sport, received, written, tuple(rejected))

    async def store(self, sport: str, stats: FeedStats) -> CollectionReport:
        """Store statistics. Storing the same again writes the same rows."""
        writes: list[Put[TeamStats] | Put[PlayerStats] | Put[Injury] | Put[ScheduledGame]] = [
            *(
                copy_as(TeamStats, team, sport=sport, updated_at=team.known_at).save()
                for team in stats.teams
            ),
            *(
                copy_as(
                    PlayerStats,
                    player,
                    player_name=player.player,
                    sport=sport,
                    updated_at=player.known_at,
                ).save()
                for player in await self._match_games(sport, stats.players)
            ),
            *(
                copy_as(Injury, injury, sport=sport, updated_at=injury.known_at).save()
                for injury in stats.injuries
            ),
            *(copy_as(ScheduledGame, fixture, sport=sport).save() for fixture in stats.fixtures),
        ]
        await self.db.store.write_many(writes)
        return CollectionReport(
            sport, len(writes) + len(stats.rejected), len(writes), stats.rejected
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
        async for game in self.db.each(AwaitedGame.between(sport, start, end)):
            games[_pair(game.home_team, game.away_team)].add((game.commence_time, game.game_id))
        async for line in self.db.each(ResultRecord.between(sport, start, end + _ONE_DAY)):
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


# The files have no moments: opening prices were collected some days before, closing ones at last.
_OPENING: Final = timedelta(days=2)
_CLOSING: Final = timedelta(minutes=1)
_GAME_LENGTH: Final = timedelta(hours=2)


@dataclass(frozen=True, slots=True, kw_only=True)
class FileImporter:
    """Imports files. Invalid rows are rejected with their line number; the rest is stored."""

    db: Database
    settings: BetsSettings
    stats_collector: StatsCollector

    async def import_season(self, sport: str, name: str, content: bytes) -> CollectionReport:
        """Import a season from football-data.co.uk: results, opening and closing odds.

        Importing the same file again changes nothing. Raises InvalidInput if the file is not such a
        season, NotFound if the sport is not enabled.
        """
        check_sport(self.settings, sport)
        try:
            season = await asyncio.to_thread(parse_season, content, name)
        except InvalidInput as fault:
            raise InvalidInput(str(fault)) from fault
        rejected = list(season.rejected)
        written, now = 0, self.db.now()
        for past in season.games:
            error = _past_game_error(past, sport, now)
            if error is not None:
                rejected.append(RejectedRow(past.game.game_id, error))
                continue
            written += await self._game(past, now, rejected)
            await self.db.sleep(0)
        return CollectionReport(sport, len(season.games), written, tuple(rejected))

    async def _game(self, past: ArchivedGame, now: datetime, rejected: list[RejectedRow]) -> bool:
        """Store a game. The result is written last: a game with a result is complete."""
        game, store = past.game, self.db.store
        if await store(GameOutcome.first(game.sport, game.game_id)) is not None:
            return False
        info = game_info(game, game.commence_time - _OPENING)
        rows: list[GameOdds | PropOdds] = []
        for prices, at in (
            (past.opening, game.commence_time - _OPENING),
            (past.closing, game.commence_time - _CLOSING),
        ):
            rows += self._rows(past, prices, at, rejected)
        last = {(row.bookmaker, row.market_key): row for row in rows}
        await store.write_many(
            [
                info.save(),
                *(row.put() for row in rows),
                *(closing_row(row, info, now).put() for row in last.values()),
            ]
        )
        completed_at = game.commence_time + _GAME_LENGTH
        outcome = game_outcome(past.score, completed_at).replace(completed_at=completed_at)
        line = copy_as(
            ResultRecord, outcome, commence_time=game.commence_time, known_at=completed_at
        )
        await self.db.try_transaction(
            outcome.record(), line.record(), *team_outcome_writes(outcome)
        )
        return True

    def _rows(
        self,
        past: ArchivedGame,
        prices: tuple[FeedPrice, ...],
        at: datetime,
        rejected: list[RejectedRow],
    ) -> list[GameOdds | PropOdds]:
        rows: list[GameOdds | PropOdds] = []
        for price in prices:
            error = price_error(price, past.game)
            if error is None:
                rows.append(odds_row(past.game, price, at).replace(latest=False))
            else:
                place = f"{past.game.game_id}/{price.bookmaker}/{price.market_key}"
                rejected.append(RejectedRow(place, error))
        return rows

    async def import_stats(self, sport: str, name: str, content: bytes) -> CollectionReport:
        """Import a file of statistics, schedules or injuries; its name says which.

        Raises InvalidInput if the file is invalid, NotFound if the sport is not enabled.
        """
        check_sport(self.settings, sport)
        kind = name.rpartition("/")[2].partition(".")[0]
        try:
            stats = await asyncio.to_thread(_parse_stats, kind, content, sport, name)
        except InvalidInput as fault:
            raise InvalidInput(str(fault)) from fault
        return await self.stats_collector.store(sport, stats)


def _parse_stats(kind: str, content: bytes, sport: str, name: str) -> FeedStats:
    match kind:
        case "team_stats":
            teams, rejected = data_files.parse_team_stats(content, sport, name)
            return FeedStats(teams=teams, rejected=rejected)
        case "player_stats":
            players, rejected = data_files.parse_player_stats(content, sport, name)
            return FeedStats(players=players, rejected=rejected)
        case "injuries":
            injuries, rejected = data_files.parse_injuries(content, sport, name)
            return FeedStats(injuries=injuries, rejected=rejected)
        case "schedule":
            fixtures, rejected = data_files.parse_schedule(content, sport, name)
            return FeedStats(fixtures=fixtures, rejected=rejected)
    raise InvalidInput(
        f"Unknown file {name!r}. Use team_stats, player_stats, schedule or injuries."
    )


def _past_game_error(past: ArchivedGame, sport: str, now: datetime) -> str | None:
    if past.game.sport != sport:
        return f"The sport is {past.game.sport}, not {sport}."
    return score_error(past.score, None, now)
