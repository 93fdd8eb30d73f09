"""Kept here: leagues, teams and standings: what hardly changes, remembered for a while."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final, Generic, TypeVar

from grandstand.apps.cricket.service.means import Means
from grandstand.apps.cricket.service.refusals import LeagueUnknown, TeamUnknown
from grandstand.apps.cricket.store import League, Team, TeamSeason
from grandstand.base.clock import Clock
from grandstand.storage.tables.errors import ConditionFailed

T = TypeVar("T")

_REMEMBERED_SECONDS: Final = 60.0


class Remembered(Generic[T]):
    """A small table read as a whole, and remembered for a minute."""

    def __init__(self, clock: Clock, read: Callable[[], Awaitable[T]]) -> None:
        self._clock = clock
        self._read = read
        self._value: T | None = None
        self._good_until = float("-inf")

    async def get(self) -> T:
        """Answer it, read again when that was long ago."""
        if self._value is None or self._clock.monotonic() >= self._good_until:
            self._value = await self._read()
            self._good_until = self._clock.monotonic() + _REMEMBERED_SECONDS
        return self._value

    def clear(self) -> None:
        """Read it again the next time."""
        self._value = None


class Reference:
    """Leagues, teams and standings as they are stored."""

    def __init__(self, means: Means) -> None:
        self._means = means
        self._leagues = Remembered(means.clock, self._read_leagues)
        self._teams = Remembered(means.clock, self._read_teams)

    def clear(self) -> None:
        """Forget what is remembered."""
        self._leagues.clear()
        self._teams.clear()

    async def _read_leagues(self) -> dict[str, League]:
        found = await self._means.store(League.everyone())
        return {each.league_id: each for each in sorted(found, key=lambda each: each.name)}

    async def _read_teams(self) -> dict[str, Team]:
        found = await self._means.store(Team.everyone())
        return {each.team_id: each for each in sorted(found, key=lambda each: each.name)}

    async def leagues(self, *, active: bool | None = None) -> tuple[League, ...]:
        """Answer the leagues by name."""
        known = (await self._leagues.get()).values()
        return tuple(each for each in known if active in (None, each.active))

    async def find_league(self, named: str) -> League | None:
        """Answer a league by its id or its code."""
        known = await self._leagues.get()
        by_code = (each for each in known.values() if each.code.lower() == named.lower())
        return known.get(named) or next(by_code, None)

    async def league(self, named: str) -> League:
        """Answer a league by its id or its code; raise LeagueUnknown."""
        found = await self.find_league(named)
        if found is None:
            raise _no_league(named)
        return found

    async def is_followed(self, league_id: str) -> bool:
        """Tell whether matches of a league are polled; one that is not known yet is."""
        found = (await self._leagues.get()).get(league_id)
        return found is None or found.active

    async def amend_league(
        self, league_id: str, *, name: str | None, code: str | None, active: bool | None
    ) -> League:
        """Change what is given of a league; raise LeagueUnknown."""
        if (name, code, active) == (None, None, None):
            return await self.league(league_id)
        change = League.amend(league_id, name=name, code=code, active=active)
        try:
            changed = await self._means.store(change)
        except ConditionFailed as refused:
            raise _no_league(league_id) from refused
        self._leagues.clear()
        return changed

    async def remove_league(self, league_id: str) -> None:
        """Remove a league; raise LeagueUnknown."""
        if await self._means.store(League.remove(league_id)) is None:
            raise _no_league(league_id)
        self._leagues.clear()

    async def teams(self) -> tuple[Team, ...]:
        """Answer all teams by name."""
        return tuple((await self._teams.get()).values())

    async def find_team(self, team_id: str | None) -> Team | None:
        """Answer a team, if it is known."""
        return (await self._teams.get()).get(team_id or "")

    async def team(self, team_id: str) -> Team:
        """Answer a team; raise TeamUnknown."""
        found = await self._means.store(Team.by_id(team_id))
        if found is None:
            raise _no_team(team_id)
        return found

    async def amend_team(
        self, team_id: str, *, name: str | None, code: str | None, image_path: str | None
    ) -> Team:
        """Change what is given of a team; raise TeamUnknown."""
        if (name, code, image_path) == (None, None, None):
            return await self.team(team_id)
        change = Team.amend(team_id, name=name, code=code, image_path=image_path)
        try:
            changed = await self._means.store(change)
        except ConditionFailed as refused:
            raise _no_team(team_id) from refused
        self._teams.clear()
        return changed

    async def season_teams(self, season_id: str) -> tuple[TeamSeason, ...]:
        """Answer how teams stand in a season, the first at the front."""
        found = await self._means.store(TeamSeason.of_season(season_id))
        return tuple(sorted(found, key=lambda each: (each.position or 999, each.team_id)))


def _no_league(named: str) -> LeagueUnknown:
    return LeagueUnknown(f"There is no league {named[:40]!r}: `GET /leagues` lists those there are")


def _no_team(team_id: str) -> TeamUnknown:
    return TeamUnknown(f"There is no team {team_id[:40]!r}: `GET /teams` lists those there are")
