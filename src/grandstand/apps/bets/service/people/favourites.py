"""Kept here: the teams people like."""

from __future__ import annotations

from typing import Final

from grandstand.apps.bets.model import slug
from grandstand.apps.bets.service.means import Means
from grandstand.apps.bets.service.money_values import Favourite
from grandstand.apps.bets.service.refusals import TeamRefused
from grandstand.apps.bets.store import FavouriteTeam
from grandstand.kit.who.caller import Caller

_MOST: Final = 50
_LONGEST: Final = 80


class Favourites:
    """Keeps the teams a person likes."""

    def __init__(self, means: Means) -> None:
        self._means = means

    async def of(self, caller: Caller) -> tuple[Favourite, ...]:
        """Answer the teams a person likes, by sport and name."""
        liked = self._means.each(FavouriteTeam.of_user(caller.user_id))
        return tuple([Favourite(each.sport, each.team, each.since) async for each in liked])

    async def like(self, caller: Caller, sport: str, team: str) -> Favourite:
        """Like a team; raise SportUnknown, TeamRefused."""
        if not slug(team) or len(team) > _LONGEST:
            message = f"A team's name has 1 to {_LONGEST} letters"
            raise TeamRefused(message)
        known = await self.of(caller)
        if len(known) >= _MOST:
            message = f"There is room for {_MOST} teams: leave one first"
            raise TeamRefused(message)
        row = FavouriteTeam(
            user_id=caller.user_id,
            sport=self._means.sport(sport),
            team=" ".join(team.split()),
            since=self._means.now(),
        )
        await self._means.store(row.like())
        return Favourite(row.sport, row.team, row.since)

    async def unlike(self, caller: Caller, sport: str, team: str) -> bool:
        """Like a team no longer; False when it was not liked."""
        if not slug(team) or "#" in sport:
            return False
        gone = await self._means.store(FavouriteTeam.unlike(caller.user_id, sport, team))
        return gone is not None
