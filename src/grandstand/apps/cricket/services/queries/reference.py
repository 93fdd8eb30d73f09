"""Leagues, teams and season tables."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from grandstand.apps.cricket.domain.errors import LeagueNotFound
from grandstand.apps.cricket.domain.matches import LeagueRecord, StandingRecord, TeamRecord
from grandstand.apps.cricket.services.interfaces import Database, copy_fields
from grandstand.apps.cricket.store.fixtures import League, Team, TeamSeason
from grandstand.core.clock import Clock
from grandstand.core.errors import NotFound
from grandstand.storage.tables.errors import ConditionFailed

T = TypeVar("T")

_CACHE_SECONDS: Final = 60.0


class TimedCache(Generic[T]):
    """A small table that is read as a whole and cached for a minute."""

    def __init__(self, clock: Clock, read: Callable[[], Awaitable[T]]) -> None:
        self._clock = clock
        self._read = read
        self._value: T | None = None
        self._expires_at = float("-inf")

    async def get(self) -> T:
        if self._value is None or self._clock.monotonic() >= self._expires_at:
            self._value = await self._read()
            self._expires_at = self._clock.monotonic() + _CACHE_SECONDS
        return self._value

    def clear(self) -> None:
        self._value = None


class LeagueService:
    """Leagues; only active ones are synced and polled."""

    def __init__(self, *, store: Database) -> None:
        self._store = store
        self.cache = TimedCache(store.clock, self._read)

    async def _read(self) -> dict[str, LeagueRecord]:
        leagues = await self._store(League.all_items())
        ordered = sorted(leagues, key=lambda league: league.name)
        return {league.league_id: copy_fields(LeagueRecord, league) for league in ordered}

    async def all(self, *, active: bool | None = None) -> tuple[LeagueRecord, ...]:
        """Return the leagues by name, all of them or by whether they are active."""
        leagues = (await self.cache.get()).values()
        return tuple(league for league in leagues if active in (None, league.active))

    async def find(self, id_or_code: str) -> LeagueRecord | None:
        leagues = await self.cache.get()
        code = id_or_code.lower()
        by_code = (league for league in leagues.values() if league.code.lower() == code)
        return leagues.get(id_or_code) or next(by_code, None)

    async def get(self, id_or_code: str) -> LeagueRecord:
        """Return a league. Raises LeagueNotFound."""
        league = await self.find(id_or_code)
        if league is None:
            raise _league_not_found(id_or_code)
        return league

    async def is_active(self, league_id: str) -> bool:
        """Return whether matches of a league are polled; an unknown one counts as active."""
        league = (await self.cache.get()).get(league_id)
        return league is None or league.active

    async def update(
        self,
        league_id: str,
        *,
        name: str | None = None,
        code: str | None = None,
        active: bool | None = None,
    ) -> LeagueRecord:
        """Change the given fields. Raises LeagueNotFound."""
        if (name, code, active) == (None, None, None):
            return await self.get(league_id)
        change = League.update_fields(league_id, name=name, code=code, active=active)
        try:
            league = await self._store(change)
        except ConditionFailed as error:
            raise _league_not_found(league_id) from error
        self.cache.clear()
        return copy_fields(LeagueRecord, league)

    async def delete(self, league_id: str) -> None:
        """Delete a league; the next sync may restore it. Raises LeagueNotFound."""
        if await self._store(League.remove(league_id)) is None:
            raise _league_not_found(league_id)
        self.cache.clear()


class TeamService:
    """Teams."""

    def __init__(self, *, store: Database) -> None:
        self._store = store
        self.cache = TimedCache(store.clock, self._read)

    async def _read(self) -> dict[str, TeamRecord]:
        teams = await self._store(Team.all_items())
        ordered = sorted(teams, key=lambda team: team.name)
        return {team.team_id: copy_fields(TeamRecord, team) for team in ordered}

    async def all(self) -> tuple[TeamRecord, ...]:
        """Return all teams by name."""
        return tuple((await self.cache.get()).values())

    async def find(self, team_id: str | None) -> TeamRecord | None:
        return (await self.cache.get()).get(team_id or "")

    async def get(self, team_id: str) -> TeamRecord:
        """Return a team. Raises NotFound."""
        team = await self._store(Team.by_id(team_id))
        if team is None:
            raise _team_not_found(team_id)
        return copy_fields(TeamRecord, team)

    async def update(
        self,
        team_id: str,
        *,
        name: str | None = None,
        code: str | None = None,
        image_path: str | None = None,
    ) -> TeamRecord:
        """Change the given fields. Raises NotFound."""
        if (name, code, image_path) == (None, None, None):
            return await self.get(team_id)
        change = Team.update_fields(team_id, name=name, code=code, image_path=image_path)
        try:
            team = await self._store(change)
        except ConditionFailed as error:
            raise _team_not_found(team_id) from error
        self.cache.clear()
        return copy_fields(TeamRecord, team)


@dataclass(kw_only=True, eq=False)
class TeamSeasonService:
    """Season tables."""

    store: Database

    async def of_season(self, season_id: str) -> tuple[StandingRecord, ...]:
        """Return the table of a season by position; empty if it is unknown."""
        rows = await self.store(TeamSeason.of_season(season_id))
        ordered = sorted(rows, key=lambda row: (row.position or 999, row.team_id))
        return tuple(copy_fields(StandingRecord, row) for row in ordered)


def _league_not_found(id_or_code: str) -> LeagueNotFound:
    return LeagueNotFound(f"No league {id_or_code[:40]!r}. List leagues with GET /leagues.")


def _team_not_found(team_id: str) -> NotFound:
    return NotFound(f"No team {team_id[:40]!r}. List teams with GET /teams.")
