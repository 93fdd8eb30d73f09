"""Imports of past seasons and statistics from files."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta
from typing import Final

from grandstand.apps.bets.domain.feeds import ArchivedGame, FeedPrice, FeedStats
from grandstand.apps.bets.services.database import Database, check_sport
from grandstand.apps.bets.services.ingest.odds_collector import (
    CollectionReport,
    RejectedItem,
    game_note,
    odds_row,
    price_error,
)
from grandstand.apps.bets.services.ingest.outcome_collector import (
    game_outcome,
    score_error,
    team_outcome_writes,
)
from grandstand.apps.bets.services.ingest.stats_collector import StatsCollector
from grandstand.apps.bets.services.settlement import closing_row
from grandstand.apps.bets.settings import BetsSettings
from grandstand.apps.bets.sources import data_files
from grandstand.apps.bets.sources.football_data import parse_season
from grandstand.apps.bets.store.games import GameOdds, GameOutcome, PropOdds, ResultRecord
from grandstand.core.errors import InvalidInput

# The files have no moments: opening prices were collected some days before, closing ones at last.
_OPENING: Final = timedelta(days=2)
_CLOSING: Final = timedelta(minutes=1)
_GAME_LENGTH: Final = timedelta(hours=2)


class FileImporter:
    """Imports files. Invalid rows are rejected with their line number; the rest is stored."""

    def __init__(
        self, *, db: Database, settings: BetsSettings, stats_collector: StatsCollector
    ) -> None:
        self._db = db
        self._settings = settings
        self._stats = stats_collector

    async def import_season(self, sport: str, name: str, content: bytes) -> CollectionReport:
        """Import a season from football-data.co.uk: results, opening and closing odds.

        Importing the same file again changes nothing. Raises InvalidInput if the file is not such a
        season,
        NotFound if the sport is not enabled.
        """
        check_sport(self._settings, sport)
        try:
            season = await asyncio.to_thread(parse_season, content, name)
        except InvalidInput as fault:
            raise InvalidInput(str(fault)) from fault
        refused = [RejectedItem(item.row, item.reason) for item in season.rejected]
        written, now = 0, self._db.now()
        for past in season.games:
            error = _past_game_error(past, sport, now)
            if error is not None:
                refused.append(RejectedItem(past.game.game_id, error))
                continue
            written += await self._game(past, now, refused)
            await self._db.sleep(0)
        return CollectionReport(sport, len(season.games), written, tuple(refused))

    async def _game(self, past: ArchivedGame, now: datetime, refused: list[RejectedItem]) -> bool:
        """Store a game. The result is written last: a game with a result is complete."""
        game, store = past.game, self._db.store
        if await store(GameOutcome.first(game.sport, game.game_id)) is not None:
            return False
        note = game_note(game, game.commence_time - _OPENING)
        rows: list[GameOdds | PropOdds] = []
        for prices, at in (
            (past.opening, game.commence_time - _OPENING),
            (past.closing, game.commence_time - _CLOSING),
        ):
            rows += self._rows(past, prices, at, refused)
        last = {(row.bookmaker, row.market_key): row for row in rows}
        await store.write_many(
            [
                note.save(),
                *(row.put() for row in rows),
                *(closing_row(row, note, now).put() for row in last.values()),
            ]
        )
        completed_at = game.commence_time + _GAME_LENGTH
        outcome = _outcome(past, completed_at)
        line = ResultRecord(
            sport=game.sport,
            game_id=game.game_id,
            home_team=game.home_team,
            away_team=game.away_team,
            commence_time=game.commence_time,
            completed_at=completed_at,
            home_score=outcome.home_score,
            away_score=outcome.away_score,
            known_at=completed_at,
        )
        await self._db.try_transaction(
            outcome.record(), line.record(), *team_outcome_writes(outcome)
        )
        return True

    def _rows(
        self,
        past: ArchivedGame,
        prices: tuple[FeedPrice, ...],
        at: datetime,
        refused: list[RejectedItem],
    ) -> list[GameOdds | PropOdds]:
        rows: list[GameOdds | PropOdds] = []
        for price in prices:
            error = price_error(price, past.game)
            if error is None:
                rows.append(odds_row(past.game, price, at).replace(latest=False))
            else:
                place = f"{past.game.game_id}/{price.bookmaker}/{price.market_key}"
                refused.append(RejectedItem(place, error))
        return rows

    async def import_stats(self, sport: str, name: str, content: bytes) -> CollectionReport:
        """Import a file of statistics, schedules or injuries; its name says which.

        Raises InvalidInput if the file is invalid, NotFound if the sport is not enabled.
        """
        check_sport(self._settings, sport)
        kind = name.rpartition("/")[2].partition(".")[0]
        try:
            stats = await asyncio.to_thread(_parse_stats, kind, content, sport, name)
        except InvalidInput as fault:
            raise InvalidInput(str(fault)) from fault
        return await self._stats.store(sport, stats)


def _parse_stats(kind: str, content: bytes, sport: str, name: str) -> FeedStats:
    match kind:
        case "team_stats":
            teams, refused = data_files.parse_team_stats(content, sport, name)
            return FeedStats(teams=teams, rejected=refused)
        case "player_stats":
            players, refused = data_files.parse_player_stats(content, sport, name)
            return FeedStats(players=players, rejected=refused)
        case "injuries":
            injuries, refused = data_files.parse_injuries(content, sport, name)
            return FeedStats(injuries=injuries, rejected=refused)
        case "schedule":
            fixtures, refused = data_files.parse_schedule(content, sport, name)
            return FeedStats(fixtures=fixtures, rejected=refused)
    message = f"Unknown file {name!r}. Use team_stats, player_stats, schedule or injuries."
    raise InvalidInput(message)


def _past_game_error(past: ArchivedGame, sport: str, now: datetime) -> str | None:
    if past.game.sport != sport:
        return f"The sport is {past.game.sport}, not {sport}."
    return score_error(past.score, None, now)


def _outcome(past: ArchivedGame, completed_at: datetime) -> GameOutcome:
    return game_outcome(past.score, completed_at).replace(completed_at=completed_at)
