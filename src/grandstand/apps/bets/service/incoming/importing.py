"""Kept here: seasons and figures taken in from files; the same file again writes nothing new."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta
from typing import Final

from grandstand.apps.bets.model.feeds import FedPrice, FedStats, PastGame
from grandstand.apps.bets.service.incoming.archiving import closing_of
from grandstand.apps.bets.service.incoming.collecting import note_of, price_fault, row_of
from grandstand.apps.bets.service.incoming.results import outcome_of, score_fault, sides_of
from grandstand.apps.bets.service.incoming.stats import StatsCollecting
from grandstand.apps.bets.service.means import Means
from grandstand.apps.bets.service.refusals import FileRefused
from grandstand.apps.bets.service.values import Collected, Refusal
from grandstand.apps.bets.sources import stat_files
from grandstand.apps.bets.sources.football_data import parse_season
from grandstand.apps.bets.store import GameOdds, GameOutcome, PropOdds, ResultLine
from grandstand.base.errors import InvalidInput

# The files have no moments: opening prices were collected some days before, closing ones at last.
_OPENING: Final = timedelta(days=2)
_CLOSING: Final = timedelta(minutes=1)
_GAME_LENGTH: Final = timedelta(hours=2)


class Importing:
    """Takes in files; what a line lacks is refused with its number, and the rest is kept."""

    def __init__(self, means: Means) -> None:
        self._means = means
        self._stats = StatsCollecting(means)

    async def football_data(self, sport: str, name: str, content: bytes) -> Collected:
        """Take in a season of football-data.co.uk; raise FileRefused, SportUnknown."""
        self._means.sport(sport)
        try:
            season = await asyncio.to_thread(parse_season, content, name)
        except InvalidInput as fault:
            raise FileRefused(str(fault)) from fault
        refused = [Refusal(each.what, each.why) for each in season.refused]
        written, now = 0, self._means.now()
        for past in season.games:
            wrong = _fault(past, sport, now)
            if wrong is not None:
                refused.append(Refusal(past.game.game_id, wrong))
                continue
            written += await self._game(past, now, refused)
            await self._means.sleep(0)
        return Collected(sport, len(season.games), written, tuple(refused))

    async def _game(self, past: PastGame, now: datetime, refused: list[Refusal]) -> bool:
        """Keep a game, its result last, so that one that is there whole is known by it."""
        game, store = past.game, self._means.store
        if await store(GameOutcome.first(game.sport, game.game_id)) is not None:
            return False
        note = note_of(game, game.commence_time - _OPENING)
        rows: list[GameOdds | PropOdds] = []
        for prices, at in (
            (past.opening, game.commence_time - _OPENING),
            (past.closing, game.commence_time - _CLOSING),
        ):
            rows += self._rows(past, prices, at, refused)
        last = {(row.bookmaker, row.market_key): row for row in rows}
        await store.write_many(
            [
                note.keep(),
                *(row.put() for row in rows),
                *(closing_of(row, note, now).put() for row in last.values()),
            ]
        )
        ended = game.commence_time + _GAME_LENGTH
        outcome = _outcome(past, ended)
        line = ResultLine(
            sport=game.sport,
            game_id=game.game_id,
            home_team=game.home_team,
            away_team=game.away_team,
            commence_time=game.commence_time,
            completed_at=ended,
            home_score=outcome.home_score,
            away_score=outcome.away_score,
            known_at=ended,
        )
        await self._means.wrote(outcome.record(), line.record(), *sides_of(outcome))
        return True

    def _rows(
        self,
        past: PastGame,
        prices: tuple[FedPrice, ...],
        at: datetime,
        refused: list[Refusal],
    ) -> list[GameOdds | PropOdds]:
        found: list[GameOdds | PropOdds] = []
        for price in prices:
            wrong = price_fault(price, past.game)
            if wrong is None:
                found.append(row_of(past.game, price, at).replace(latest=False))
            else:
                place = f"{past.game.game_id}/{price.bookmaker}/{price.market_key}"
                refused.append(Refusal(place, wrong))
        return found

    async def stat_file(self, sport: str, name: str, content: bytes) -> Collected:
        """Take in a documented file, told by its name; raise FileRefused, SportUnknown."""
        self._means.sport(sport)
        kind = name.rpartition("/")[2].partition(".")[0]
        try:
            told = await asyncio.to_thread(_parsed, kind, content, sport, name)
        except InvalidInput as fault:
            raise FileRefused(str(fault)) from fault
        return await self._stats.keep(sport, told)


def _parsed(kind: str, content: bytes, sport: str, name: str) -> FedStats:
    match kind:
        case "team_stats":
            teams, refused = stat_files.parse_team_stats(content, sport, name)
            return FedStats(teams=teams, refused=refused)
        case "player_stats":
            players, refused = stat_files.parse_player_stats(content, sport, name)
            return FedStats(players=players, refused=refused)
        case "injuries":
            injuries, refused = stat_files.parse_injuries(content, sport, name)
            return FedStats(injuries=injuries, refused=refused)
        case "schedule":
            meetings, refused = stat_files.parse_schedule(content, sport, name)
            return FedStats(meetings=meetings, refused=refused)
    message = f"{name} is not named team_stats, player_stats, schedule or injuries"
    raise FileRefused(message)


def _fault(past: PastGame, sport: str, now: datetime) -> str | None:
    if past.game.sport != sport:
        return f"it is of {past.game.sport}, not of {sport}"
    return score_fault(past.score, None, now)


def _outcome(past: PastGame, ended: datetime) -> GameOutcome:
    return outcome_of(past.score, ended).replace(completed_at=ended)
