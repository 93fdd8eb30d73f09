"""Kept here: what lock screens show, from the cache or made anew."""

from __future__ import annotations

from datetime import datetime

from grandstand.apps.cricket.model import NEUTRAL_TEAM
from grandstand.apps.cricket.model.display import Moment
from grandstand.apps.cricket.service.kept import shown_to
from grandstand.apps.cricket.service.looking.matches import Matches
from grandstand.apps.cricket.service.means import Means
from grandstand.apps.cricket.service.refusals import TeamNotPlaying
from grandstand.apps.cricket.service.values import DisplayView
from grandstand.apps.cricket.store import ActiveMatch, DisplayState


class Displays:
    """Display states per match and team; what has expired is missing."""

    def __init__(self, means: Means, matches: Matches) -> None:
        self._means = means
        self._matches = matches

    async def find(self, match_id: str, team_id: str) -> DisplayView | None:
        """Answer the state that is kept; None when there is none that is fresh."""
        kept = await self._means.store(DisplayState.cached(match_id, team_id))
        return None if kept is None else _view(kept, kept.computed_at)

    async def read(self, match_id: str, team_id: str) -> DisplayView:
        """Answer a state, made anew if need be; raise MatchUnknown and TeamNotPlaying."""
        kept = await self.find(match_id, team_id)
        if kept is not None:
            return kept
        match = await self._matches.read(match_id)
        if team_id not in (NEUTRAL_TEAM, match.home.team_id, match.away.team_id):
            message = f"Team {team_id[:40]!r} does not play in match {match_id}"
            raise TeamNotPlaying(message)
        scores = await self._matches.known_scores(match_id)
        active = await self._means.store(ActiveMatch.by_id(match_id))
        now = self._means.now()
        seq = active.seq if active else 0
        made = shown_to(scores, team_id, Moment(now, seq), now)
        await self._means.store(made.keep())
        return _view(made, now)


def _view(kept: DisplayState, at: datetime) -> DisplayView:
    return DisplayView(kept.match_id, kept.team_id, kept.state, at)
