"""Kept here: asking ESPN's public site for results, box scores, schedules and injuries.

Unverified: ESPN documents none of it and may change it any day. What is read is what others have
seen it answer; what is not as expected is refused with the reason, never guessed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date, datetime, timedelta
from typing import Final

from grandstand.apps.bets.model.feeds import (
    FedMeeting,
    FedPlayerFigures,
    FedScore,
    FedScores,
    FedStats,
    FedTeamFigures,
)
from grandstand.apps.bets.sources.answers import json_of
from grandstand.apps.bets.sources.errors import FiguresUnknown, FiguresUnreadable
from grandstand.apps.bets.sources.espn_words import (
    Event,
    parse_events,
    parse_injuries,
    parse_people,
    parse_teams,
)
from grandstand.apps.bets.sources.reading import Refusals, Row, Unfit, rows_of
from grandstand.base.clock import Clock
from grandstand.base.log import log
from grandstand.wire.web import Rate, Retries, Web

_BASE: Final = "/apis/site/v2/sports"
_PATHS: Final = {
    "basketball_nba": "basketball/nba",
    "basketball_wnba": "basketball/wnba",
    "basketball_ncaab": "basketball/mens-college-basketball",
    "basketball_wncaab": "basketball/womens-college-basketball",
    "americanfootball_nfl": "football/nfl",
    "americanfootball_ncaaf": "football/college-football",
    "baseball_mlb": "baseball/mlb",
    "icehockey_nhl": "hockey/nhl",
    "soccer_epl": "soccer/eng.1",
    "soccer_usa_mls": "soccer/usa.1",
}
_AROUND_DAYS: Final = 7
_MOST_DAYS: Final = 31
_MOST_GAMES: Final = 100


class Espn:
    """The site; a StatsFeed. Games have ids of its own, `espn-401…`, joined by teams and day.

    Asking raises what `wire.errors` lists, FiguresUnknown for a sport it does not have, and
    FiguresUnreadable when an answer is none of the site's.
    """

    def __init__(self, web: Web, clock: Clock, *, url: str, timeout_seconds: float = 15.0) -> None:
        self._clock = clock
        self._log = log("bets", source="espn")
        self._source = web.source(
            "espn",
            base_url=url,
            rate=Rate(per_second=3, burst=3),
            timeout_seconds=timeout_seconds,
            retries=Retries(tries=3, within_seconds=2 * timeout_seconds),
        )

    @property
    def name(self) -> str:
        """Who it is, for reports."""
        return "espn"

    async def fetch_results(self, sport: str, first: date, last: date) -> FedScores:
        """Fetch how the games from a day to another ended or stand, at most 31 days of them."""
        refusals = Refusals()
        events = await self._events(sport, first, last, refusals)
        self._complain(refusals)
        return FedScores(tuple(_score(sport, each) for each in events), refusals.all)

    async def fetch_stats(self, sport: str, on: date) -> FedStats:
        """Fetch the box scores of games that ended on a day or the day before."""
        refusals = Refusals()
        events = await self._events(sport, on - timedelta(days=1), on, refusals)
        teams: list[FedTeamFigures] = []
        players: list[FedPlayerFigures] = []
        for event in [each for each in events if each.completed][:_MOST_GAMES]:
            summary = await self._get(f"{_path(sport)}/summary", {"event": event.number})
            now = self._clock.now()
            teams += parse_teams(summary, sport, event, refusals, known_at=now)
            players += parse_people(summary, sport, event, refusals, known_at=now)
        self._complain(refusals)
        return FedStats(tuple(teams), tuple(players), refused=refusals.all)

    async def fetch_injuries(self, sport: str, on: date) -> FedStats:
        """Fetch who is injured now; the site does not tell of other days."""
        del on
        refusals = Refusals()
        told = await self._get(f"{_path(sport)}/injuries", {})
        found = tuple(parse_injuries(told, sport, refusals, known_at=self._clock.now()))
        self._complain(refusals)
        return FedStats(injuries=found, refused=refusals.all)

    async def fetch_schedules(self, sport: str, on: date) -> FedStats:
        """Fetch the games of all teams from a week before a day to a week after it."""
        around, refusals = timedelta(days=_AROUND_DAYS), Refusals()
        events = await self._events(sport, on - around, on + around, refusals)
        self._complain(refusals)
        meetings = tuple(_meetings(sport, events, self._clock.now()))
        return FedStats(meetings=meetings, refused=refusals.all)

    async def _events(
        self, sport: str, first: date, last: date, refusals: Refusals
    ) -> tuple[Event, ...]:
        last = min(last, first + timedelta(days=_MOST_DAYS - 1))
        days = f"{first:%Y%m%d}-{last:%Y%m%d}" if last > first else f"{first:%Y%m%d}"
        told = await self._get(f"{_path(sport)}/scoreboard", {"dates": days, "limit": "500"})
        return _parsed(told, refusals)

    async def _get(self, path: str, params: dict[str, str]) -> Row:
        answer = await self._source.get(path, params=params)
        told = json_of(answer)
        if not isinstance(told, dict):
            raise FiguresUnreadable(path, "it is no object")
        return told

    def _complain(self, refusals: Refusals) -> None:
        if refusals.all:
            self._log.warning("site read in part", refused=len(refusals.all), first=refusals.all[0])


def _path(sport: str) -> str:
    if sport not in _PATHS:
        raise FiguresUnknown(sport)
    return f"{_BASE}/{_PATHS[sport]}"


def _parsed(told: Row, refusals: Refusals) -> tuple[Event, ...]:
    try:
        rows = rows_of(told.get("events"), "events")
    except Unfit as why:
        raise FiguresUnreadable("scoreboard", str(why)) from None
    return parse_events(rows, refusals)


def _score(sport: str, event: Event) -> FedScore:
    return FedScore(
        event.game_id,
        sport,
        event.home,
        event.away,
        event.starts_at,
        event.completed,
        event.home_score if event.completed else None,
        event.away_score if event.completed else None,
    )


def _meetings(sport: str, events: Iterable[Event], now: datetime) -> Iterator[FedMeeting]:
    for event in events:
        if not event.postponed:
            yield FedMeeting(sport, event.home, event.away, event.starts_at, True, now)
            yield FedMeeting(sport, event.away, event.home, event.starts_at, False, now)
