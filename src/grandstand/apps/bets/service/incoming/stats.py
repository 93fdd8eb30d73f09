"""Kept here: figures, schedules and injuries as they come in, from whichever feed tells them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import Final, TypeAlias

from grandstand.apps.bets.model import slug
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
from grandstand.apps.bets.store import (
    Awaited,
    Injury,
    Meeting,
    PlayerStats,
    ResultLine,
    TeamStats,
)
from grandstand.base.errors import GrandstandError
from grandstand.storage.tables import Put

_ONE_DAY: Final = timedelta(days=1)
_ASK = Callable[[StatsFeed, str, date], Awaitable[FedStats]]
# The games of two teams: when each begins, and its id.
_Games: TypeAlias = Mapping[frozenset[str], Sequence[tuple[datetime, str]]]


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
            *(player_row(each, sport).keep() for each in await self._joined(sport, told.players)),
            *(injury_row(each, sport).keep() for each in told.injuries),
            *(meeting_row(each, sport).keep() for each in told.meetings),
        ]
        await self._means.store.write_many(writes)
        return Collected(sport, len(writes) + len(told.refused), len(writes), tuple(refused))

    async def _joined(
        self, sport: str, told: Sequence[FedPlayerFigures]
    ) -> Sequence[FedPlayerFigures]:
        """Answer players' figures under the ids games have here, found by teams and day."""
        moments = [each.starts_at for each in told if each.starts_at is not None]
        if not moments:
            return told
        games = await self._games(sport, min(moments) - _ONE_DAY, max(moments) + _ONE_DAY)
        return [replace(each, game_id=game_id_of(each, games)) for each in told]

    async def _games(self, sport: str, start: datetime, end: datetime) -> _Games:
        """Answer the games that begin within a span, those that have ended included."""
        found: dict[frozenset[str], set[tuple[datetime, str]]] = defaultdict(set)
        async for each in self._means.each(Awaited.between(sport, start, end)):
            found[_pair(each.home_team, each.away_team)].add((each.commence_time, each.game_id))
        async for line in self._means.each(ResultLine.within(sport, start, end + _ONE_DAY)):
            found[_pair(line.home_team, line.away_team)].add((line.commence_time, line.game_id))
        return {teams: sorted(games) for teams, games in found.items()}


def game_id_of(told: FedPlayerFigures, games: _Games) -> str:
    """Answer the id a game has here: that of the same teams' game nearest in time, within a day.

    The feed's own id stands when there is none.
    """
    if told.starts_at is None or told.opponent is None:
        return told.game_id
    starts = told.starts_at
    near = [
        (abs(begins - starts), game_id)
        for begins, game_id in games.get(_pair(told.team, told.opponent), ())
        if abs(begins - starts) <= _ONE_DAY
    ]
    return min(near)[1] if near else told.game_id


def _pair(team: str, other: str) -> frozenset[str]:
    return frozenset({slug(team), slug(other)})


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
